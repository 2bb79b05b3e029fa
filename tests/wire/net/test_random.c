/* SPDX-License-Identifier: Apache-2.0 */
#include "wire/net/peer.h"

#include "base/rng.h"

/*
 * Random servers against random use. Whatever happens: each start has exactly one end; nothing is told before the start
 * or after the end; a complete body is byte for byte what was sent; when all has ended only pooled connections are
 * open.
 */

#define SLOTS    24
#define ACTIONS  1500
#define BODY_MAX 200000

/* ---- server: what it does is decided by the seed, the connection's number and the request's ---- */

struct chaos {
    int listen_fd;
    uint16_t port;
    SSL_CTX *tls;
    uint64_t seed;
    pthread_t acceptor;
    pthread_t threads[PEER_CONNECTIONS_MAX];
    int accepted;
};

struct chaos_connection {
    struct chaos *chaos;
    struct peer_connection io; /* peer unused but for TLS */
    struct peer peer;
    struct rng rng;
};

/* In pieces of random size. */
static void chaos_write(struct chaos_connection *c, const char *data, size_t len)
{
    while (len > 0) {
        size_t piece = rng_below(&c->rng, 3) ? len : 1 + rng_below(&c->rng, len);
        peer_write(&c->io, data, piece);
        data += piece;
        len -= piece;
    }
}

/* A body that tells its own length: 8 digits, then one letter. */
static size_t make_body(struct rng *rng, char *body)
{
    size_t len = 9 + rng_below(rng, rng_below(rng, 8) ? 300 : BODY_MAX - 10);
    snprintf(body, 9, "%08zu", len);
    memset(body + 8, 'a' + (int)(len % 26), len - 8);
    return len;
}

static size_t put_text(char *out, const char *text)
{
    memcpy(out, text, strlen(text));
    return strlen(text);
}

static size_t put_chunks(struct rng *rng, char *out, const char *body, size_t len)
{
    size_t at = 0;
    while (len > 0) {
        size_t chunk = 1 + rng_below(rng, len);
        at += (size_t)snprintf(out + at, 24, "%zx\r\n", chunk);
        memcpy(out + at, body, chunk);
        at += chunk;
        memcpy(out + at, "\r\n", 2);
        at += 2;
        body += chunk;
        len -= chunk;
    }
    memcpy(out + at, "0\r\n\r\n", 5);
    return at + 5;
}

/* One whole response; returns its length. */
static size_t make_response(struct rng *rng, char *out, char *body)
{
    size_t len = make_body(rng, body);
    size_t at = 0;
    if (!rng_below(rng, 6))
        at = put_text(out, "HTTP/1.1 100 Continue\r\n\r\n");
    at += put_text(out + at, rng_below(rng, 5) ? "HTTP/1.1 200 OK\r\n" : "HTTP/1.1 503 Busy\r\n");
    if (!rng_below(rng, 12))
        at += put_text(out + at, "Connection: close\r\n");
    if (rng_below(rng, 2)) {
        at += put_text(out + at, "Transfer-Encoding: chunked\r\n\r\n");
        return at + put_chunks(rng, out + at, body, len);
    }
    at += (size_t)snprintf(out + at, 64, "Content-Length: %zu\r\n\r\n", len);
    memcpy(out + at, body, len);
    return at + len;
}

/* False ends the connection. */
static bool chaos_answer(struct chaos_connection *c, char *out, char *body)
{
    struct linger hard = {1, 0};
    size_t len = make_response(&c->rng, out, body);
    switch (rng_below(&c->rng, 16)) {
    case 0: /* cut off somewhere */
        chaos_write(c, out, rng_below(&c->rng, len));
        return false;
    case 1: /* reset somewhere */
        chaos_write(c, out, rng_below(&c->rng, len));
        setsockopt(c->io.fd, SOL_SOCKET, SO_LINGER, &hard, sizeof hard);
        return false;
    case 2: /* more than one answer */
        chaos_write(c, out, len);
        chaos_write(c, "surplus", 7);
        return true;
    case 3:
        chaos_write(c, "no HTTP at all\r\n\r\n", 18);
        return true;
    case 4: /* close after a whole answer, unannounced */
        chaos_write(c, out, len);
        return false;
    case 5: /* silence until the client gives up */
        peer_hold(&c->io);
        return false;
    default:
        chaos_write(c, out, len);
        return true;
    }
}

static void *chaos_connection_main(void *argument)
{
    struct chaos_connection *c = argument;
    char *out = malloc(3 * BODY_MAX + 4096), *body = malloc(BODY_MAX);
    bool is_going = rng_below(&c->rng, 20) != 0 && (!c->peer.tls || peer_start_tls(&c->io));
    while (is_going && peer_read_request(&c->io, rng_below(&c->rng, 8) != 0))
        is_going = chaos_answer(c, out, body);
    if (c->io.tls) {
        SSL_set_quiet_shutdown(c->io.tls, rng_below(&c->rng, 2) == 0);
        SSL_shutdown(c->io.tls);
        SSL_free(c->io.tls);
    }
    close(c->io.fd);
    free(out);
    free(body);
    free(c);
    return NULL;
}

static void *chaos_acceptor_main(void *argument)
{
    struct chaos *chaos = argument;
    int fd;
    while ((fd = accept(chaos->listen_fd, NULL, NULL)) >= 0) {
        struct chaos_connection *c = calloc(1, sizeof *c);
        assert_true(c && chaos->accepted < PEER_CONNECTIONS_MAX);
        c->chaos = chaos;
        c->peer.tls = chaos->tls;
        c->io.peer = &c->peer;
        c->io.fd = fd;
        rng_init(&c->rng, chaos->seed, (uint64_t)chaos->accepted);
        pthread_create(&chaos->threads[chaos->accepted++], NULL, chaos_connection_main, c);
    }
    return NULL;
}

static struct chaos *chaos_new(uint64_t seed, const struct identity *id)
{
    struct chaos *chaos = calloc(1, sizeof *chaos);
    struct peer *listener = peer_new(NULL, NULL);
    assert_non_null(chaos);
    chaos->listen_fd = dup(listener->listen_fd);
    chaos->port = listener->port;
    chaos->seed = seed;
    if (id) {
        chaos->tls = SSL_CTX_new(TLS_server_method());
        SSL_CTX_use_certificate(chaos->tls, id->certificate);
        SSL_CTX_use_PrivateKey(chaos->tls, id->key);
    }
    close(listener->listen_fd);
    sem_destroy(&listener->released[0]);
    sem_destroy(&listener->released[1]);
    sem_destroy(&listener->told);
    free(listener);
    pthread_create(&chaos->acceptor, NULL, chaos_acceptor_main, chaos);
    return chaos;
}

static void chaos_free(struct chaos *chaos)
{
    shutdown(chaos->listen_fd, SHUT_RDWR);
    pthread_join(chaos->acceptor, NULL);
    for (int i = 0; i < chaos->accepted; i++)
        pthread_join(chaos->threads[i], NULL);
    close(chaos->listen_fd);
    SSL_CTX_free(chaos->tls);
    free(chaos);
}

/* ---- client ---- */

enum whim { WHIM_NONE, WHIM_CANCEL_SELF, WHIM_CANCEL_OTHER, WHIM_START_OTHER, WHIM_COUNT };

struct slot {
    struct net_exchange x;
    struct play *play;
    bool is_running, has_head;
    int starts, ends;
    uint64_t body_len, told_len;
    char letter;
    struct net_stamp last;
};

struct play {
    struct net_loop *loop;
    struct rng rng;
    struct slot slots[SLOTS];
    char *upload;
    int ends[NET_END_CANCELLED + 1];
    int depth;
};

static const struct net_exchange_ops slot_ops;

static void slot_start(struct slot *slot)
{
    struct play *play = slot->play;
    static const char get[] = PEER_GET;
    static char post[] = "POST / HTTP/1.1\r\nContent-Length: 300000\r\n\r\n";
    bool is_upload = rng_below(&play->rng, 6) == 0;
    assert_false(slot->is_running);
    slot->is_running = true;
    slot->has_head = false;
    slot->body_len = slot->told_len = 0;
    slot->starts++;
    slot->x.ops = &slot_ops;
    slot->x.endpoint = (uint32_t)rng_below(&play->rng, 2);
    slot->x.part_count = is_upload ? 2 : 1;
    slot->x.parts[0] =
        is_upload ? (struct iovec){post, sizeof post - 1} : (struct iovec){(void *)(uintptr_t)get, sizeof get - 1};
    slot->x.parts[1] = (struct iovec){play->upload, 300000};
    net_exchange_start(play->loop, &slot->x);
    assert_true(slot->is_running);
}

/* Something uncalled-for in the middle of a callback. */
static void have_a_whim(struct slot *slot)
{
    struct play *play = slot->play;
    struct slot *other = &play->slots[rng_below(&play->rng, SLOTS)];
    if (play->depth > 3 || rng_below(&play->rng, 6))
        return;
    play->depth++;
    switch ((enum whim)rng_below(&play->rng, WHIM_COUNT)) {
    case WHIM_CANCEL_SELF:
        net_exchange_cancel(play->loop, &slot->x);
        break;
    case WHIM_CANCEL_OTHER:
        net_exchange_cancel(play->loop, &other->x);
        break;
    case WHIM_START_OTHER:
        if (!other->is_running)
            slot_start(other);
        break;
    default:
        break;
    }
    play->depth--;
}

static void slot_on_head(struct net_exchange *x, const struct http_response_head *head, const struct net_stamp *stamp)
{
    struct slot *slot = (struct slot *)x;
    assert_true(slot->is_running && !slot->has_head);
    assert_true(head->status == 200 || head->status == 503);
    assert_true(stamp->kernel_ns <= stamp->user_ns && stamp->previous_ns <= stamp->user_ns);
    slot->has_head = true;
    have_a_whim(slot);
}

static void slot_on_span(struct net_exchange *x, const char *data, size_t len, const struct net_stamp *stamp)
{
    struct slot *slot = (struct slot *)x;
    assert_true(slot->is_running && slot->has_head && len > 0);
    for (size_t i = 0; i < len; i++, slot->body_len++) {
        if (slot->body_len < 8) {
            assert_in_range(data[i], '0', '9');
            slot->told_len = slot->told_len * 10 + (uint64_t)(data[i] - '0');
        } else if (data[i] != 'a' + (char)(slot->told_len % 26)) {
            fail_msg("byte %llu of a body of %llu is %d", (unsigned long long)slot->body_len,
                     (unsigned long long)slot->told_len, data[i]);
        }
    }
    slot->last = *stamp;
    have_a_whim(slot);
}

static void slot_on_read_end(struct net_exchange *x, const struct net_stamp *stamp, bool between)
{
    struct slot *slot = (struct slot *)x;
    (void)between;
    assert_true(slot->is_running && slot->has_head);
    assert_true(stamp->user_ns >= slot->last.user_ns || slot->last.user_ns == 0);
    have_a_whim(slot);
}

static void slot_on_end(struct net_exchange *x, enum net_end end)
{
    struct slot *slot = (struct slot *)x;
    assert_true(slot->is_running);
    assert_null(x->connection);
    slot->is_running = false;
    slot->ends++;
    slot->play->ends[end]++;
    if (end == NET_END_COMPLETE) {
        assert_true(slot->has_head);
        assert_int_equal(slot->body_len, slot->told_len);
        assert_true(x->first_byte_ns > 0);
    }
    if (end != NET_END_COMPLETE && end != NET_END_CANCELLED)
        assert_true(x->error[0] != '\0');
    have_a_whim(slot);
    if (!slot->is_running && rng_below(&slot->play->rng, 3) == 0)
        slot_start(slot);
}

static const struct net_exchange_ops slot_ops = {slot_on_head, slot_on_span, slot_on_read_end, slot_on_end};

static void act(struct play *play)
{
    struct slot *slot = &play->slots[rng_below(&play->rng, SLOTS)];
    switch (rng_below(&play->rng, 8)) {
    case 0:
        net_exchange_cancel(play->loop, &slot->x);
        break;
    case 1:
        net_loop_prewarm(play->loop, (uint32_t)rng_below(&play->rng, 2), (uint32_t)rng_below(&play->rng, 3));
        break;
    case 2:
    case 3:
    case 4:
        if (!slot->is_running)
            slot_start(slot);
        break;
    default:
        net_loop_poll(play->loop, mono_add_ns(mono_now(), (int64_t)rng_below(&play->rng, 400) * NS_PER_US));
        break;
    }
}

/* Lets everything end: silent servers by cancelling. */
static void finish(struct play *play)
{
    for (int round = 0; round < 50; round++)
        net_loop_poll(play->loop, mono_add_ns(mono_now(), NS_PER_MS));
    for (int pass = 0; pass < 1000; pass++) {
        bool is_any = false;
        for (int i = 0; i < SLOTS; i++)
            net_exchange_cancel(play->loop, &play->slots[i].x);
        for (int i = 0; i < SLOTS; i++)
            is_any = is_any || play->slots[i].is_running;
        if (!is_any)
            break;
    }
    wait_counter(play->loop, offsetof(struct net_counters, connecting_now), 0);
}

static void play_once(uint64_t seed, const struct identity *id)
{
    struct chaos *servers[2] = {chaos_new(seed, NULL), chaos_new(seed + 1, id)};
    struct net_endpoint made[2];
    struct net_endpoint *endpoints[2] = {&made[0], &made[1]};
    struct play *play = calloc(1, sizeof *play);
    struct net_options options = default_options();
    struct net_counters counters;
    char url[64];
    rng_init(&play->rng, seed, 77);
    play->upload = calloc(1, 300000);
    options.ca_cert = id->pem_path;
    options.max_idle = (uint32_t)rng_below(&play->rng, 12);
    options.no_reuse = rng_below(&play->rng, 6) == 0;
    options.idle_timeout_ns = rng_below(&play->rng, 2) ? 2 * NS_PER_MS : 60 * NS_PER_S;
    options.busy_poll_us = rng_below(&play->rng, 3) ? 0 : 50;
    for (int i = 0; i < 2; i++) {
        snprintf(url, sizeof url, "%s://127.0.0.1:%u", i ? "https" : "http", (unsigned)servers[i]->port);
        assert_int_equal(net_endpoint_parse(url, &made[i], NULL), AS_OK);
        assert_int_equal(net_endpoint_resolve(&made[i], NS_PER_S, NULL), AS_OK);
    }
    assert_int_equal(net_loop_new(&options, endpoints, 2, &play->loop, NULL), AS_OK);
    for (int i = 0; i < SLOTS; i++)
        play->slots[i].play = play;
    for (int i = 0; i < ACTIONS; i++)
        act(play);
    finish(play);
    net_loop_counters(play->loop, &counters);
    assert_int_equal(counters.open_now, counters.idle_now);
    assert_true(counters.idle_now <= 2 * options.max_idle);
    int starts = 0, ends = 0;
    for (int i = 0; i < SLOTS; i++) {
        starts += play->slots[i].starts;
        assert_int_equal(play->slots[i].starts, play->slots[i].ends);
    }
    for (int i = 0; i <= NET_END_CANCELLED; i++)
        ends += play->ends[i];
    assert_int_equal(starts, ends);
    assert_int_equal(counters.requests, starts);
    assert_true(play->ends[NET_END_COMPLETE] > 0);
    print_message("seed %llu: %d starts, %d complete, %d closed, %d cut, %d malformed, %d reconnects\n",
                  (unsigned long long)seed, starts, play->ends[NET_END_COMPLETE], play->ends[NET_END_CLOSED],
                  play->ends[NET_END_TRUNCATED], play->ends[NET_END_MALFORMED], (int)counters.reconnects);
    net_loop_free(play->loop);
    for (int i = 0; i < 2; i++) {
        net_endpoint_done(&made[i]);
        chaos_free(servers[i]);
    }
    free(play->upload);
    free(play);
}

static void test_random(void **state)
{
    (void)state;
    struct identity id;
    const char *first = getenv("ASSAY_TEST_SEED");
    uint64_t seed = first ? strtoull(first, NULL, 10) : 1;
    signal(SIGPIPE, SIG_IGN);
    identity_make(&id, "IP:127.0.0.1", 86400);
    for (uint64_t i = 0; i < 4; i++)
        play_once(seed + i * 100, &id);
    identity_done(&id);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_random)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
