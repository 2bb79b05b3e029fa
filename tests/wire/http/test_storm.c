/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Many clients that send pieces of good and bad requests, read or do not, and vanish at random places, against handlers
 * of every kind. Whatever happens: what the handler was shown it is told the end of, once, and nothing is left.
 */
#include "fixture.h"

#include "base/rng.h"

#include <fcntl.h>
#include <stdatomic.h>

#define CLIENTS 24
#define STEPS   8000

struct task {
    struct http_timer timer; /* first: the callback finds the task by it */
    struct http_exchange *x;
    int pieces;
    bool is_told_of_abort;
};

static _Atomic int shown, ended, answered;

static void free_task(struct http_exchange *x)
{
    struct task *task = x->user;
    if (task && task->timer.place)
        http_timer_cancel(x->loop, &task->timer);
    free(task);
    x->user = NULL;
}

static struct task *task_of(struct http_exchange *x)
{
    if (!x->user) {
        struct task *task = calloc(1, sizeof *task);
        MUST(task);
        task->x = x;
        x->user = task;
        atomic_fetch_add(&shown, 1);
    }
    return x->user;
}

static void on_timer(struct http_timer *timer, struct mono now)
{
    struct task *task = (struct task *)timer;
    as_status status;
    MUST(!task->is_told_of_abort);
    if (task->pieces-- > 0)
        status = http_answer_event(task->x, "tick", "data\nmore", 9);
    else
        status = http_answer_end(task->x);
    MUST(status == AS_OK || status == AS_E_NETWORK || status == AS_E_LIMIT);
    if (status == AS_OK && task->pieces >= 0)
        MUST(http_timer_set(task->x->loop, timer, mono_add_ns(now, 50 * NS_PER_US)) == AS_OK);
    if (status == AS_E_LIMIT)
        http_drop(task->x, true);
}

static char kind_of(const struct http_exchange *x)
{
    return x->request->path.len > 1 ? x->request->path.at[1] : 'a';
}

static void on_head(void *context, struct http_exchange *x)
{
    (void)context;
    (void)task_of(x);
    x->stream_body = kind_of(x) == 'u';
    if (kind_of(x) == 'r') {
        as_status status = http_answer_text(x, 403, "refused");
        MUST(status == AS_OK || status == AS_E_NETWORK);
    }
}

static void on_body(void *context, struct http_exchange *x, const char *data, size_t len)
{
    (void)context;
    MUST(len > 0 && x->user);
    if (memchr(data, '7', len))
        http_drop(x, false);
}

static void on_request(void *context, struct http_exchange *x)
{
    static const struct http_answer answer = {.status = 200, .content_type = "text/plain"};
    struct task *task = task_of(x);
    as_status status = AS_OK;
    (void)context;
    switch (kind_of(x)) {
    case 'h':
        break; /* never answered */
    case 'd':
        http_drop(x, true);
        break;
    case 's':
        task->timer.on_fire = on_timer;
        task->pieces = 5;
        status = http_answer_begin(x, &answer);
        if (status == AS_OK)
            status = http_timer_set(x->loop, &task->timer, mono_add_ns(mono_now(), 20 * NS_PER_US));
        break;
    case 'b':
        for (int i = 0; i < 20 && status == AS_OK; i++) {
            static const char block[50000];
            status = i ? http_answer_piece(x, block, sizeof block) : http_answer_begin(x, &answer);
        }
        http_drop(x, false);
        break;
    default:
        status = http_answer(x, &answer, x->body, x->body ? x->body_len : 0);
        atomic_fetch_add(&answered, status == AS_OK);
    }
    MUST(status == AS_OK || status == AS_E_NETWORK || status == AS_E_LIMIT);
}

static void on_abort(void *context, struct http_exchange *x)
{
    struct task *task = x->user;
    (void)context;
    MUST(task && !task->is_told_of_abort);
    task->is_told_of_abort = true;
    http_timer_cancel(x->loop, &task->timer);
}

static void on_done(void *context, struct http_exchange *x)
{
    (void)context;
    MUST(x->user);
    free_task(x);
    atomic_fetch_add(&ended, 1);
}

static const struct http_handler HANDLER = {
    .on_head = on_head, .on_body = on_body, .on_request = on_request, .on_abort = on_abort, .on_done = on_done};

#define HOST " HTTP/1.1\r\nHost: a\r\n"

static const char *const TEXTS[] = {
    "GET /a" HOST "\r\n",
    "GET /s" HOST "\r\n",
    "GET /h" HOST "\r\n",
    "GET /d" HOST "\r\n",
    "GET /b" HOST "\r\n",
    "GET /r" HOST "\r\n",
    "GET /a HTTP/1.0\r\n\r\n",
    "HEAD /s" HOST "\r\n",
    "POST /a" HOST "Content-Length: 10\r\n\r\n0123456789",
    "POST /u" HOST "Content-Length: 10\r\n\r\n0123456689",
    "POST /u" HOST "Content-Length: 10\r\n\r\n0123456789",
    "POST /a" HOST "Transfer-Encoding: chunked\r\n\r\n3\r\nabc\r\n4;x\r\ndefg\r\n0\r\nT: u\r\n\r\n",
    "POST /u" HOST "Transfer-Encoding: chunked\r\n\r\n3\r\nabc\r\n0\r\n\r\n",
    "POST /r" HOST "Content-Length: 100000\r\n\r\nabc",
    "POST /a" HOST "Expect: 100-continue\r\nContent-Length: 3\r\n\r\nabc",
    "POST /a" HOST "Content-Length: 9999999\r\n\r\n",
    "GET / HTTP/1.1\r\n\r\n",
    "GET /a HTTP/1.1\nHost: a\n\n",
    "\x16\x03\x01",
    "POST /a" HOST "Transfer-Encoding: chunked\r\n\r\nzz\r\n",
    "\r\n",
    "GET /a" HOST "Connection: close\r\n\r\n",
    "GET /a" HOST "X: ",
};

struct client {
    int fd;         /* -1 = none */
    const char *at; /* what is still to be sent of a text */
};

static void drop_client(struct client *client, bool with_reset)
{
    struct linger linger = {.l_onoff = 1};
    if (client->fd < 0)
        return;
    if (with_reset)
        setsockopt(client->fd, SOL_SOCKET, SO_LINGER, &linger, sizeof linger);
    close(client->fd);
    client->fd = -1;
}

static void step_client(struct client *client, const struct fixture *fixture, struct rng *rng)
{
    static char sink[65536];
    if (client->fd < 0) {
        client->fd = client_connect(fixture);
        client->at = "";
        MUST(fcntl(client->fd, F_SETFL, O_NONBLOCK) == 0);
    }
    uint64_t action = rng_below(rng, 100);
    if (action < 70) {
        if (!*client->at)
            client->at = TEXTS[rng_below(rng, sizeof TEXTS / sizeof TEXTS[0])];
        size_t len = strlen(client->at);
        size_t piece = rng_below(rng, 3) ? len : 1 + (size_t)rng_below(rng, len);
        ssize_t sent = send(client->fd, client->at, piece, MSG_NOSIGNAL);
        client->at += sent > 0 ? sent : 0;
        if (sent < 0 && errno != EAGAIN)
            drop_client(client, false);
    } else if (action < 92) {
        struct pollfd poller = {.fd = client->fd, .events = POLLIN};
        (void)poll(&poller, 1, 1); /* gives the server a chance to answer */
        if (recv(client->fd, sink, sizeof sink, 0) == 0)
            drop_client(client, false);
    } else if (action < 94) {
        shutdown(client->fd, SHUT_WR);
    } else {
        drop_client(client, action >= 97);
    }
}

static void storm(uint64_t seed, uint32_t loops)
{
    struct fixture fixture;
    struct client clients[CLIENTS];
    struct rng rng;
    struct http_server_options options = {.handler = &HANDLER,
                                          .loops = loops,
                                          .max_queue_bytes = 300000,
                                          .max_connections = 40,
                                          .head_timeout_ns = 20 * NS_PER_MS,
                                          .body_timeout_ns = 20 * NS_PER_MS,
                                          .write_timeout_ns = 20 * NS_PER_MS,
                                          .idle_timeout_ns = 20 * NS_PER_MS};
    rng_init(&rng, seed, loops);
    atomic_store(&shown, 0);
    atomic_store(&ended, 0);
    atomic_store(&answered, 0);
    fixture_start(&fixture, &options, NULL);
    for (size_t i = 0; i < CLIENTS; i++)
        clients[i].fd = -1;
    for (size_t i = 0; i < STEPS; i++)
        step_client(&clients[rng_below(&rng, CLIENTS)], &fixture, &rng);
    if (seed % 2) {
        for (size_t i = 0; i < CLIENTS; i++)
            drop_client(&clients[i], false);
    }
    fixture_stop(&fixture);
    for (size_t i = 0; i < CLIENTS; i++)
        drop_client(&clients[i], false);
    assert_true(atomic_load(&shown) > 100);
    assert_true(atomic_load(&answered) > 10);
    assert_int_equal(atomic_load(&shown), atomic_load(&ended));
}

static void test_storms(void **state)
{
    (void)state;
    for (uint64_t seed = 1; seed <= 4; seed++)
        storm(seed, seed < 3 ? 1 : 3);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_storms)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
