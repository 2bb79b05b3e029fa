/* SPDX-License-Identifier: Apache-2.0 */
#include "wire/net/peer.h"

#define OK_HEAD     "HTTP/1.1 200 OK\r\nContent-Type: text/plain\r\n"
#define OK_RESPONSE OK_HEAD "Content-Length: 5\r\n\r\nhello"
#define CHUNKED     OK_HEAD "Transfer-Encoding: chunked\r\n\r\n"

/* One request of one client against one script. */
struct single {
    struct peer *peer;
    struct client client;
    struct call call;
};

static void single_run(struct single *s, const struct step *script)
{
    struct net_options options = default_options();
    s->peer = peer_with(script);
    client_init(&s->client, s->peer->url, &options);
    call_init(&s->call, s->client.loop, PEER_GET);
    net_exchange_start(s->client.loop, &s->call.x);
    assert_int_equal(s->call.ends, 0);
    call_wait(&s->call, 1);
}

static void single_done(struct single *s)
{
    client_done(&s->client);
    peer_free(s->peer);
}

static void test_one_exchange(void **state)
{
    (void)state;
    static const struct step script[] = {
        {STEP_REQUEST, 0, 0}, {STEP_SEND, OK_RESPONSE, 0}, {STEP_HOLD, 0, 0}, {STEP_END, 0, 0}};
    struct single s;
    single_run(&s, script);
    const struct net_exchange *x = &s.call.x;
    assert_int_equal(s.call.end, NET_END_COMPLETE);
    assert_int_equal(s.call.status, 200);
    assert_int_equal(s.call.heads, 1);
    assert_string_equal(s.call.body, "hello");
    assert_int_equal(s.call.read_ends, 1);
    assert_true(s.call.last_between);
    assert_int_equal(x->bytes_sent, strlen(PEER_GET));
    assert_int_equal(x->bytes_received, strlen(OK_RESPONSE));
    assert_true(x->connect_start_ns > 0 && x->connected_ns >= x->connect_start_ns && x->written_ns >= x->connected_ns);
    assert_int_equal(x->tls_done_ns, -1);
    assert_true(x->first_byte_ns >= x->connected_ns && x->first_byte_ns <= s.call.stamp.user_ns);
    assert_int_equal(s.call.stamp.previous_ns, x->written_ns);
    assert_false(x->reused || x->reconnected || x->unclean || x->local_limit);
    struct net_counters counters = client_counters(&s.client);
    assert_int_equal(counters.connects, 1);
    assert_int_equal(counters.requests, 1);
    assert_int_equal(counters.open_now, 1);
    assert_int_equal(counters.idle_now, 1);
    assert_int_equal(counters.connecting_now, 0);
    single_done(&s);
}

static void test_reuse_from_on_end(void **state)
{
    (void)state;
    static const struct step script[] = {{STEP_REQUEST, 0, 0}, {STEP_SEND, OK_RESPONSE, 0}, {STEP_REPEAT, 0, 0}};
    struct net_options options = default_options();
    struct peer *peer = peer_with(script);
    struct client client;
    struct call call;
    client_init(&client, peer->url, &options);
    call_init(&call, client.loop, PEER_GET);
    call.restarts_left = 99;
    net_exchange_start(client.loop, &call.x);
    call_wait(&call, 100);
    assert_int_equal(call.end, NET_END_COMPLETE);
    assert_true(call.x.reused);
    assert_int_equal(call.x.connect_start_ns, -1);
    assert_int_equal(call.heads, 100);
    assert_int_equal(atomic_load(&peer->accepted), 1);
    assert_int_equal(atomic_load(&peer->requests), 100);
    struct net_counters counters = client_counters(&client);
    assert_int_equal(counters.connects, 1);
    assert_int_equal(counters.reads, 100);
    assert_int_equal(counters.stamped_reads, 100);
    client_done(&client);
    peer_free(peer);
}

static void test_without_kernel_stamps(void **state)
{
    (void)state;
    static const struct step script[] = {{STEP_REQUEST, 0, 0}, {STEP_SEND, OK_RESPONSE, 0}, {STEP_REPEAT, 0, 0}};
    struct net_options options = default_options();
    options.no_kernel_stamps = true;
    struct peer *peer = peer_with(script);
    struct client client;
    struct call call;
    client_init(&client, peer->url, &options);
    assert_false(net_loop_await_stamps(client.loop, NS_PER_S));
    call_init(&call, client.loop, PEER_GET);
    net_exchange_start(client.loop, &call.x);
    call_wait(&call, 1);
    assert_int_equal(call.stamp.kernel_ns, -1);
    assert_int_equal(call.x.first_byte_ns, call.stamp.user_ns);
    assert_int_equal(client_counters(&client).stamped_reads, 0);
    client_done(&client);
    peer_free(peer);
}

static void test_no_reuse(void **state)
{
    (void)state;
    static const struct step script[] = {
        {STEP_REQUEST, 0, 0}, {STEP_SEND, OK_RESPONSE, 0}, {STEP_HOLD, 0, 0}, {STEP_END, 0, 0}};
    struct net_options options = default_options();
    options.no_reuse = true;
    struct peer *peer = peer_with(script);
    struct client client;
    struct call call;
    client_init(&client, peer->url, &options);
    call_init(&call, client.loop, PEER_GET);
    call.restarts_left = 9;
    net_exchange_start(client.loop, &call.x);
    call_wait(&call, 10);
    assert_int_equal(client_counters(&client).connects, 10);
    assert_int_equal(client_counters(&client).open_now, 0);
    assert_int_equal(client_counters(&client).open_peak, 1);
    client_done(&client);
    assert_int_equal(atomic_load(&peer->accepted), 10);
    peer_free(peer);
}

struct ending {
    const char *response; /* "" = none */
    enum step_kind last;
    enum net_end end;
    bool unclean, reusable;
    const char *body, *error_part;
};

static const struct ending endings[] = {
    {OK_RESPONSE, STEP_HOLD, NET_END_COMPLETE, false, true, "hello", ""},
    {OK_RESPONSE "x", STEP_HOLD, NET_END_COMPLETE, true, false, "hello", ""},
    {OK_HEAD "Connection: close\r\nContent-Length: 5\r\n\r\nhello", STEP_HOLD, NET_END_COMPLETE, false, false, "hello",
     ""},
    {CHUNKED "5\r\nhello\r\n0\r\n\r\n", STEP_HOLD, NET_END_COMPLETE, false, true, "hello", ""},
    {CHUNKED "5\r\nhello\r\n0\r\nT: v\r\n\r\n", STEP_HOLD, NET_END_COMPLETE, false, true, "hello", ""},
    {CHUNKED "5\r\nhello\r\n0\r\n\r\nHTTP/1.1 200 OK\r\n", STEP_HOLD, NET_END_COMPLETE, true, false, "hello", ""},
    {"HTTP/1.1 100 Continue\r\n\r\n" OK_RESPONSE, STEP_HOLD, NET_END_COMPLETE, false, true, "hello", ""},
    {"HTTP/1.0 200 OK\r\n\r\nhello", STEP_FIN, NET_END_COMPLETE, false, false, "hello", ""},
    {OK_HEAD "\r\nhello", STEP_FIN, NET_END_COMPLETE, false, false, "hello", ""},
    {"HTTP/1.1 204 No Content\r\n\r\n", STEP_HOLD, NET_END_COMPLETE, false, true, "", ""},
    {"", STEP_FIN, NET_END_CLOSED, false, false, "", "before the response began"},
    {"", STEP_RESET, NET_END_CLOSED, false, false, "", "reset"},
    {"HTTP/1.1 2", STEP_FIN, NET_END_TRUNCATED, false, false, "", "inside the response"},
    {"HTTP/1.1 100 Continue\r\n\r\n", STEP_FIN, NET_END_TRUNCATED, false, false, "", ""},
    {OK_HEAD "Content-Length: 50\r\n\r\nhello", STEP_FIN, NET_END_TRUNCATED, false, false, "hello",
     "inside the response"},
    {CHUNKED "5\r\nhello\r\n", STEP_FIN, NET_END_TRUNCATED, false, false, "hello", ""},
    {CHUNKED "500\r\nhello", STEP_FIN, NET_END_TRUNCATED, false, false, "hello", ""},
    {"SSH-2.0-OpenSSH_9.2\r\n", STEP_HOLD, NET_END_MALFORMED, false, false, "", "malformed"},
    {"\x15\x03\x01\x00\x02\x02\x46", STEP_HOLD, NET_END_MALFORMED, false, false, "", "https://"},
    {CHUNKED "zz\r\n", STEP_HOLD, NET_END_MALFORMED, false, false, "", "malformed"},
    {CHUNKED "5\r\nhello\r\nfffffffffffffffff\r\n", STEP_HOLD, NET_END_MALFORMED, false, false, "hello", "malformed"},
};

static void check_ending(const struct ending *want, const struct step *script)
{
    struct single s;
    single_run(&s, script);
    if (s.call.end != want->end)
        fail_msg("%s: ended as %d (%s)", want->response, (int)s.call.end, s.call.x.error);
    assert_int_equal(s.call.ends, 1);
    assert_string_equal(s.call.body, want->body);
    assert_int_equal(s.call.x.unclean, want->unclean);
    assert_int_equal(client_counters(&s.client).idle_now, want->reusable);
    assert_int_equal(client_counters(&s.client).unclean_closes, want->unclean);
    if (!strstr(s.call.x.error, want->error_part))
        fail_msg("%s: no \"%s\" in \"%s\"", want->response, want->error_part, s.call.x.error);
    assert_int_equal(s.call.x.error[0] != '\0', want->end != NET_END_COMPLETE);
    single_done(&s);
}

static void test_endings(void **state)
{
    (void)state;
    for (size_t i = 0; i < sizeof endings / sizeof *endings; i++) {
        const struct ending *want = &endings[i];
        size_t len = want->response[0] == 0x15 ? 7 : strlen(want->response);
        struct step script[] = {{STEP_REQUEST, 0, 0},
                                {STEP_SEND, want->response, len},
                                {want->last, 0, 0},
                                {STEP_HOLD, 0, 0},
                                {STEP_END, 0, 0}};
        if (len == 0)
            script[1] = script[2];
        check_ending(want, script);
    }
}

/* Bytes first, then a reset: what came before it is given. */
static void test_reset_in_the_middle(void **state)
{
    (void)state;
    static const struct step script[] = {
        {STEP_REQUEST, 0, 0}, {STEP_SEND, CHUNKED "5\r\nhello\r\n", 0}, {STEP_WAIT, 0, 0}, {STEP_RESET, 0, 0}};
    struct net_options options = default_options();
    struct peer *peer = peer_with(script);
    struct client client;
    struct call call;
    client_init(&client, peer->url, &options);
    call_init(&call, client.loop, PEER_GET);
    net_exchange_start(client.loop, &call.x);
    while (call.body_len < 5)
        net_loop_poll(client.loop, mono_add_ns(mono_now(), NS_PER_S));
    peer_release(peer, 0);
    call_wait(&call, 1);
    assert_int_equal(call.end, NET_END_TRUNCATED);
    assert_int_equal(call.x.error_number, ECONNRESET);
    assert_string_equal(call.body, "hello");
    client_done(&client);
    peer_free(peer);
}

/* The server answered once, then closed the idle connection: noticed while idle, no reconnect. */
static void test_idle_close_is_noticed(void **state)
{
    (void)state;
    static const struct step script[] = {
        {STEP_REQUEST, 0, 0}, {STEP_SEND, OK_RESPONSE, 0}, {STEP_WAIT, 0, 0}, {STEP_END, 0, 0}};
    struct single s;
    single_run(&s, script);
    assert_int_equal(client_counters(&s.client).idle_now, 1);
    peer_release(s.peer, 0);
    wait_counter(s.client.loop, offsetof(struct net_counters, idle_now), 0);
    assert_int_equal(client_counters(&s.client).open_now, 0);
    net_exchange_start(s.client.loop, &s.call.x);
    call_wait(&s.call, 2);
    assert_int_equal(s.call.end, NET_END_COMPLETE);
    assert_false(s.call.x.reused || s.call.x.reconnected);
    single_done(&s);
}

static void test_unsolicited_bytes_on_idle(void **state)
{
    (void)state;
    static const struct step script[] = {
        {STEP_REQUEST, 0, 0}, {STEP_SEND, OK_RESPONSE, 0},
        {STEP_WAIT, 0, 0},    {STEP_SEND, "HTTP/1.1 408 Request Timeout\r\nContent-Length: 0\r\n\r\n", 0},
        {STEP_HOLD, 0, 0},    {STEP_END, 0, 0}};
    struct single s;
    single_run(&s, script);
    peer_release(s.peer, 0);
    wait_counter(s.client.loop, offsetof(struct net_counters, idle_now), 0);
    assert_int_equal(s.call.ends, 1);
    assert_int_equal(s.call.status, 200);
    single_done(&s);
}

/* What the second request meets on the kept-alive connection while the loop had no chance to look at it. */
static void check_reconnect(const struct step *first)
{
    static const struct step second[] = {{STEP_REQUEST, 0, 0},
                                         {STEP_SEND, OK_HEAD "Content-Length: 5\r\n\r\nagain", 0},
                                         {STEP_HOLD, 0, 0},
                                         {STEP_END, 0, 0}};
    struct net_options options = default_options();
    struct peer *peer = peer_new(NULL, NULL);
    struct client client;
    struct call call;
    peer_script(peer, first);
    peer_script(peer, second);
    peer_serve(peer);
    client_init(&client, peer->url, &options);
    call_init(&call, client.loop, PEER_GET);
    net_exchange_start(client.loop, &call.x);
    call_wait(&call, 1);
    assert_int_equal(call.end, NET_END_COMPLETE);
    peer_release(peer, 0);
    peer_await(peer);
    call.body_len = 0;
    net_exchange_start(client.loop, &call.x);
    assert_true(call.x.reused);
    call_wait(&call, 2);
    if (call.end != NET_END_COMPLETE)
        fail_msg("%s", call.x.error);
    assert_string_equal(call.body, "again");
    assert_int_equal(call.heads, 2);
    assert_true(call.x.reconnected);
    assert_false(call.x.reused);
    assert_true(call.x.connect_start_ns > 0 && call.x.written_ns > call.x.connect_start_ns);
    assert_int_equal(client_counters(&client).reconnects, 1);
    client_done(&client);
    peer_free(peer);
}

static void test_reconnect_after_fin(void **state)
{
    (void)state;
    static const struct step script[] = {{STEP_REQUEST, 0, 0}, {STEP_SEND, OK_RESPONSE, 0}, {STEP_WAIT, 0, 0},
                                         {STEP_FIN, 0, 0},     {STEP_TELL, 0, 0},           {STEP_HOLD, 0, 0},
                                         {STEP_END, 0, 0}};
    check_reconnect(script);
}

/* Closed wholly: the request itself draws a reset. */
static void test_reconnect_after_reset(void **state)
{
    (void)state;
    static const struct step script[] = {{STEP_REQUEST, 0, 0}, {STEP_SEND, OK_RESPONSE, 0}, {STEP_WAIT, 0, 0},
                                         {STEP_TELL, 0, 0},    {STEP_REQUEST, 0, 0},        {STEP_RESET, 0, 0}};
    check_reconnect(script);
}

/*
 * A farewell that arrived before the request was sent is not taken for its answer: connection 0 becomes readable, then
 * the idle connection 1 gets the farewell; reading 0 starts an exchange on 1 before the loop could look at it.
 */
static void test_reconnect_after_stale_bytes(void **state)
{
    (void)state;
    static const struct step scripts[3][8] = {
        {{STEP_REQUEST, 0, 0}, {STEP_WAIT, 0, 0}, {STEP_SEND, OK_RESPONSE, 0}, {STEP_TELL, 0, 0}, {STEP_HOLD, 0, 0}},
        {{STEP_REQUEST, 0, 0},
         {STEP_SEND, OK_RESPONSE, 0},
         {STEP_WAIT, 0, 1},
         {STEP_SEND, "HTTP/1.1 408 Request Timeout\r\nContent-Length: 0\r\n\r\n", 0},
         {STEP_TELL, 0, 0},
         {STEP_HOLD, 0, 0}},
        {{STEP_REQUEST, 0, 0}, {STEP_SEND, OK_RESPONSE, 0}, {STEP_HOLD, 0, 0}}};
    struct net_options options = default_options();
    struct peer *peer = peer_new(NULL, NULL);
    struct client client;
    struct call calls[3];
    for (int i = 0; i < 3; i++)
        peer_script(peer, scripts[i]);
    peer_serve(peer);
    client_init(&client, peer->url, &options);
    for (int i = 0; i < 3; i++)
        call_init(&calls[i], client.loop, PEER_GET);
    net_exchange_start(client.loop, &calls[0].x);
    while (atomic_load(&peer->requests) < 1)
        net_loop_poll(client.loop, mono_add_ns(mono_now(), NS_PER_MS));
    net_exchange_start(client.loop, &calls[1].x);
    call_wait(&calls[1], 1);
    calls[0].heir = &calls[2].x;
    net_loop_poll(client.loop, mono_now()); /* takes connection 1 off the kernel's ready list */
    for (int i = 0; i < 2; i++) {
        peer_release(peer, i);
        peer_await(peer);
    }
    struct mono later = mono_add_ns(mono_now(), NS_PER_MS);
    while (mono_diff_ns(mono_now(), later) < 0)
        continue;
    call_wait(&calls[2], 1);
    assert_int_equal(calls[2].end, NET_END_COMPLETE);
    assert_int_equal(calls[2].status, 200);
    assert_true(calls[2].x.reconnected);
    assert_int_equal(calls[0].end, NET_END_COMPLETE);
    client_done(&client);
    assert_int_equal(atomic_load(&peer->accepted), 3);
    peer_free(peer);
}

/* Only once: the fresh connection dies too. */
static void test_reconnect_only_once(void **state)
{
    (void)state;
    static const struct step first[] = {
        {STEP_REQUEST, 0, 0}, {STEP_SEND, OK_RESPONSE, 0}, {STEP_REQUEST, 0, 0}, {STEP_END, 0, 0}};
    static const struct step second[] = {{STEP_REQUEST, 0, 0}, {STEP_END, 0, 0}};
    struct net_options options = default_options();
    struct peer *peer = peer_new(NULL, NULL);
    struct client client;
    struct call call;
    peer_script(peer, first);
    peer_script(peer, second);
    peer_serve(peer);
    client_init(&client, peer->url, &options);
    call_init(&call, client.loop, PEER_GET);
    net_exchange_start(client.loop, &call.x);
    call_wait(&call, 1);
    net_exchange_start(client.loop, &call.x);
    call_wait(&call, 2);
    assert_int_equal(call.end, NET_END_CLOSED);
    assert_true(call.x.reconnected);
    assert_int_equal(atomic_load(&peer->accepted), 2);
    client_done(&client);
    peer_free(peer);
}

/* A response that had begun is never asked for again. */
static void test_no_reconnect_after_a_byte(void **state)
{
    (void)state;
    static const struct step script[] = {
        {STEP_REQUEST, 0, 0}, {STEP_SEND, OK_RESPONSE, 0}, {STEP_REQUEST, 0, 0}, {STEP_SEND, "H", 0}, {STEP_END, 0, 0}};
    struct single s;
    single_run(&s, script);
    net_exchange_start(s.client.loop, &s.call.x);
    call_wait(&s.call, 2);
    assert_int_equal(s.call.end, NET_END_TRUNCATED);
    assert_false(s.call.x.reconnected);
    assert_int_equal(atomic_load(&s.peer->accepted), 1);
    single_done(&s);
}

/* ---- uploads ---- */

#define UPLOAD_BYTES ((size_t)8 * 1024 * 1024)

static void upload_init(struct call *call, struct net_loop *loop, char *upload)
{
    static char head[128];
    snprintf(head, sizeof head, "POST /v1/x HTTP/1.1\r\nHost: t\r\nContent-Length: %zu\r\n\r\n", UPLOAD_BYTES);
    call_init(call, loop, head);
    call->x.parts[1] = (struct iovec){upload, UPLOAD_BYTES - 10};
    call->x.parts[2] = (struct iovec){upload, 0};
    call->x.parts[3] = (struct iovec){upload, 10};
    call->x.part_count = 4;
}

static void run_upload(const struct step *script, struct call *call, struct net_counters *ret)
{
    struct net_options options = default_options();
    struct peer *peer = peer_with(script);
    struct client client;
    char *upload = calloc(1, UPLOAD_BYTES);
    client_init(&client, peer->url, &options);
    upload_init(call, client.loop, upload);
    net_exchange_start(client.loop, &call->x);
    call_wait(call, 1);
    *ret = client_counters(&client);
    client_done(&client);
    peer_free(peer);
    free(upload);
}

static void test_upload(void **state)
{
    (void)state;
    static const struct step script[] = {
        {STEP_REQUEST, 0, 0}, {STEP_SEND, OK_RESPONSE, 0}, {STEP_HOLD, 0, 0}, {STEP_END, 0, 0}};
    struct call call;
    struct net_counters counters;
    run_upload(script, &call, &counters);
    assert_int_equal(call.end, NET_END_COMPLETE);
    assert_true(call.x.bytes_sent > UPLOAD_BYTES);
    assert_true(call.x.written_ns > 0 && call.x.written_ns <= call.stamp.user_ns);
    assert_int_equal(counters.idle_now, 1);
}

#define TOO_LARGE "HTTP/1.1 413 Content Too Large\r\nContent-Length: 7\r\n\r\ntoo big"

/* The server answers after the head and reads no more, open: the answer must arrive while the upload hangs. */
static void test_early_answer_while_writing(void **state)
{
    (void)state;
    static const struct step script[] = {
        {STEP_HEAD, 0, 0}, {STEP_SEND, TOO_LARGE, 0}, {STEP_WAIT, 0, 0}, {STEP_END, 0, 0}};
    struct call call;
    struct net_counters counters;
    run_upload(script, &call, &counters);
    assert_int_equal(call.end, NET_END_COMPLETE);
    assert_int_equal(call.status, 413);
    assert_string_equal(call.body, "too big");
    assert_int_equal(call.x.written_ns, -1);
    assert_true(call.x.bytes_sent < UPLOAD_BYTES);
    assert_int_equal(counters.open_now, 0);
}

/* … and closes at once with the upload unread, which resets the connection: the answer must survive it or the end says
 * so. */
static void test_early_answer_and_reset(void **state)
{
    (void)state;
    static const struct step script[] = {{STEP_HEAD, 0, 0}, {STEP_SEND, TOO_LARGE, 0}, {STEP_END, 0, 0}};
    int answered = 0;
    for (int i = 0; i < 20; i++) {
        struct call call;
        struct net_counters counters;
        run_upload(script, &call, &counters);
        assert_int_equal(call.ends, 1);
        answered += call.end == NET_END_COMPLETE && call.status == 413;
        if (call.end != NET_END_COMPLETE)
            assert_in_range(call.end, NET_END_CLOSED, NET_END_TRUNCATED);
    }
    assert_true(answered >= 18);
}

/* The server goes away while the upload is being written, without an answer: an end, no signal. */
static void test_upload_cut_off(void **state)
{
    (void)state;
    static const struct step script[] = {{STEP_HEAD, 0, 0}, {STEP_RESET, 0, 0}};
    struct call call;
    struct net_counters counters;
    run_upload(script, &call, &counters);
    assert_int_equal(call.end, NET_END_CLOSED);
    assert_true(call.x.error_number == ECONNRESET || call.x.error_number == EPIPE);
    assert_int_equal(call.x.written_ns, -1);
}

/* ---- cancel ---- */

static void test_cancel_waiting(void **state)
{
    (void)state;
    static const struct step script[] = {{STEP_REQUEST, 0, 0}, {STEP_HOLD, 0, 0}, {STEP_END, 0, 0}};
    struct net_options options = default_options();
    struct peer *peer = peer_with(script);
    struct client client;
    struct call call;
    client_init(&client, peer->url, &options);
    call_init(&call, client.loop, PEER_GET);
    net_exchange_cancel(client.loop, &call.x);
    assert_int_equal(call.ends, 0);
    net_exchange_start(client.loop, &call.x);
    net_loop_poll(client.loop, mono_now());
    net_exchange_cancel(client.loop, &call.x);
    assert_int_equal(call.ends, 1);
    assert_int_equal(call.end, NET_END_CANCELLED);
    net_exchange_cancel(client.loop, &call.x);
    assert_int_equal(call.ends, 1);
    assert_int_equal(client_counters(&client).open_now, 0);
    client_done(&client);
    peer_free(peer);
}

static void test_cancel_from_callbacks(void **state)
{
    (void)state;
    static const struct step script[] = {{STEP_REQUEST, 0, 0},
                                         {STEP_SEND, CHUNKED "5\r\nhello\r\n5\r\nhello\r\n0\r\n\r\n", 0},
                                         {STEP_HOLD, 0, 0},
                                         {STEP_END, 0, 0}};
    for (int where = 0; where < 2; where++) {
        struct net_options options = default_options();
        struct peer *peer = peer_with(script);
        struct client client;
        struct call call;
        client_init(&client, peer->url, &options);
        call_init(&call, client.loop, PEER_GET);
        call.cancel_at_head = where == 0;
        call.cancel_at_span = where == 1;
        call.restarts_left = 3; /* on_end starts it anew inside the cancel */
        net_exchange_start(client.loop, &call.x);
        call_wait(&call, 4);
        assert_int_equal(call.end, NET_END_CANCELLED);
        assert_int_equal(call.spans, where == 0 ? 0 : 4);
        client_done(&client);
        peer_free(peer);
    }
}

/* A callback cancels another exchange whose event lies in the same round. */
static void test_cancel_a_neighbour(void **state)
{
    (void)state;
    static const struct step script[] = {{STEP_REQUEST, 0, 0}, {STEP_WAIT, 0, 0}, {STEP_SEND, OK_RESPONSE, 0},
                                         {STEP_TELL, 0, 0},    {STEP_HOLD, 0, 0}, {STEP_END, 0, 0}};
    struct net_options options = default_options();
    struct peer *peer = peer_with(script);
    struct client client;
    struct call calls[2];
    client_init(&client, peer->url, &options);
    for (int i = 0; i < 2; i++) {
        call_init(&calls[i], client.loop, PEER_GET);
        net_exchange_start(client.loop, &calls[i].x);
    }
    calls[0].victim = &calls[1].x;
    calls[1].victim = &calls[0].x;
    while (calls[0].x.written_ns < 0 || calls[1].x.written_ns < 0)
        net_loop_poll(client.loop, mono_add_ns(mono_now(), NS_PER_S));
    for (int i = 0; i < 2; i++)
        peer_release(peer, 0);
    for (int i = 0; i < 2; i++)
        peer_await(peer);
    call_wait(&calls[0], 1);
    call_wait(&calls[1], 1);
    assert_int_equal(calls[0].ends + calls[1].ends, 2);
    assert_true((calls[0].end == NET_END_COMPLETE && calls[1].end == NET_END_CANCELLED) ||
                (calls[1].end == NET_END_COMPLETE && calls[0].end == NET_END_CANCELLED));
    client_done(&client);
    peer_free(peer);
}

static void test_free_ends_everything(void **state)
{
    (void)state;
    static const struct step script[] = {{STEP_REQUEST, 0, 0}, {STEP_HOLD, 0, 0}, {STEP_END, 0, 0}};
    struct net_options options = default_options();
    struct peer *peer = peer_with(script);
    struct client client;
    struct call calls[5];
    client_init(&client, peer->url, &options);
    for (int i = 0; i < 5; i++) {
        call_init(&calls[i], client.loop, PEER_GET);
        calls[i].restarts_left = 2;
        net_exchange_start(client.loop, &calls[i].x);
        if (i == 2)
            net_loop_poll(client.loop, mono_now());
    }
    client_done(&client);
    for (int i = 0; i < 5; i++) {
        assert_int_equal(calls[i].ends, 1);
        assert_int_equal(calls[i].end, NET_END_CANCELLED);
    }
    peer_free(peer);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_one_exchange),
        cmocka_unit_test(test_reuse_from_on_end),
        cmocka_unit_test(test_without_kernel_stamps),
        cmocka_unit_test(test_no_reuse),
        cmocka_unit_test(test_endings),
        cmocka_unit_test(test_reset_in_the_middle),
        cmocka_unit_test(test_idle_close_is_noticed),
        cmocka_unit_test(test_unsolicited_bytes_on_idle),
        cmocka_unit_test(test_reconnect_after_fin),
        cmocka_unit_test(test_reconnect_after_reset),
        cmocka_unit_test(test_reconnect_after_stale_bytes),
        cmocka_unit_test(test_reconnect_only_once),
        cmocka_unit_test(test_no_reconnect_after_a_byte),
        cmocka_unit_test(test_upload),
        cmocka_unit_test(test_early_answer_while_writing),
        cmocka_unit_test(test_early_answer_and_reset),
        cmocka_unit_test(test_upload_cut_off),
        cmocka_unit_test(test_cancel_waiting),
        cmocka_unit_test(test_cancel_from_callbacks),
        cmocka_unit_test(test_cancel_a_neighbour),
        cmocka_unit_test(test_free_ends_everything),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
