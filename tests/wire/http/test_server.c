/* SPDX-License-Identifier: Apache-2.0 */
#include "fixture.h"

/* What the handler saw, for tests to wait for. */
struct seen {
    struct http_exchange *held; /* of /hold */
    struct http_timer timer;
    sem_t requests, aborts, dones, writables;
    int pieces;
    bool is_answered;
};

static struct seen seen;

static const struct http_answer PLAIN = {.status = 200, .content_type = "text/plain"};

static bool is_path(const struct http_exchange *x, const char *path)
{
    return x->request->path.len == strlen(path) && memcmp(x->request->path.at, path, x->request->path.len) == 0;
}

static void on_head(void *context, struct http_exchange *x)
{
    (void)context;
    if (is_path(x, "/refuse"))
        MUST(http_answer_text(x, 401, "no\n") == AS_OK);
    else if (is_path(x, "/upload"))
        x->stream_body = true;
    else if (is_path(x, "/small"))
        x->max_body_bytes = 4;
}

static void on_body(void *context, struct http_exchange *x, const char *data, size_t len)
{
    (void)context;
    MUST(is_path(x, "/upload"));
    MUST(len > 0);
    if (memchr(data, '!', len))
        MUST(http_answer_text(x, 422, "no exclamation marks\n") == AS_OK);
}

static void on_timer(struct http_timer *timer, struct mono now)
{
    struct http_exchange *x = seen.held;
    char piece[16];
    MUST(now.ns >= timer->due.ns);
    if (seen.pieces-- > 0) {
        snprintf(piece, sizeof piece, "p%d", seen.pieces);
        MUST(http_answer_event(x, NULL, piece, strlen(piece)) == AS_OK);
        MUST(http_timer_set(x->loop, timer, mono_add_ns(now, NS_PER_MS)) == AS_OK);
    } else {
        MUST(http_answer_end(x) == AS_OK);
    }
}

static void start_stream(struct http_exchange *x)
{
    static const struct http_answer answer = {.status = 200, .content_type = "text/event-stream"};
    seen.held = x;
    seen.pieces = 3;
    seen.timer = (struct http_timer){.on_fire = on_timer};
    MUST(http_answer_begin(x, &answer) == AS_OK);
    MUST(http_timer_set(x->loop, &seen.timer, mono_now()) == AS_OK);
}

/* Fills the output until the server takes no more. */
static void pour(struct http_exchange *x)
{
    static char block[65536];
    as_status status = AS_OK;
    memset(block, 'z', sizeof block);
    while (seen.pieces > 0 && status == AS_OK) {
        status = http_answer_piece(x, block, sizeof block);
        if (status == AS_OK)
            seen.pieces--;
    }
    if (seen.pieces == 0)
        MUST(http_answer_end(x) == AS_OK);
    else
        MUST(status == AS_E_LIMIT);
}

static void start_pour(struct http_exchange *x)
{
    seen.pieces = 400;
    MUST(http_answer_begin(x, &PLAIN) == AS_OK);
    pour(x);
}

static void send_raw(struct http_exchange *x)
{
    static const char head[] = "HTTP/1.1 200 Raw\r\nContent-Length: 4\r\n\r\n";
    struct iovec parts[] = {{(void *)(uintptr_t)head, sizeof head - 1}, {(void *)(uintptr_t) "ab", 2}};
    struct iovec rest = {(void *)(uintptr_t) "cd", 2};
    MUST(http_raw_send(x, parts, 2) == AS_OK);
    MUST(http_answer_end(x) == AS_E_STATE);
    MUST(http_raw_send(x, &rest, 1) == AS_OK);
    MUST(http_raw_end(x, true) == AS_OK);
    MUST(http_raw_send(x, &rest, 1) == AS_E_STATE);
}

static void on_request(void *context, struct http_exchange *x)
{
    (void)context;
    char text[64];
    if (is_path(x, "/hold")) {
        seen.held = x;
    } else if (is_path(x, "/stream")) {
        start_stream(x);
    } else if (is_path(x, "/pour")) {
        start_pour(x);
    } else if (is_path(x, "/raw")) {
        send_raw(x);
    } else if (is_path(x, "/reset") || is_path(x, "/fin")) {
        MUST(http_answer_begin(x, &PLAIN) == AS_OK);
        MUST(http_answer_piece(x, "part", 4) == AS_OK);
        http_drop(x, is_path(x, "/reset"));
    } else if (is_path(x, "/upload")) {
        snprintf(text, sizeof text, "%zu bytes\n", x->body_len);
        MUST(http_answer_text(x, 200, text) == AS_OK);
    } else if (is_path(x, "/peer")) {
        http_peer(x, text);
        MUST(http_answer_text(x, 200, text) == AS_OK);
    } else {
        MUST(http_answer(x, &PLAIN, x->body, x->body_len) == AS_OK);
        MUST(http_answer(x, &PLAIN, "twice", 5) == AS_E_STATE);
    }
    sem_post(&seen.requests);
}

static void on_writable(void *context, struct http_exchange *x)
{
    (void)context;
    MUST(http_queued_bytes(x) == 0);
    pour(x);
    sem_post(&seen.writables);
}

static void on_abort(void *context, struct http_exchange *x)
{
    (void)context;
    MUST(x->is_aborted);
    MUST(http_answer_text(x, 200, "too late") != AS_OK);
    if (seen.timer.place)
        http_timer_cancel(x->loop, &seen.timer);
    sem_post(&seen.aborts);
}

static void on_done(void *context, struct http_exchange *x)
{
    (void)context;
    (void)x;
    sem_post(&seen.dones);
}

static const struct http_handler HANDLER = {.on_head = on_head,
                                            .on_body = on_body,
                                            .on_request = on_request,
                                            .on_writable = on_writable,
                                            .on_abort = on_abort,
                                            .on_done = on_done};

static void start(struct fixture *fixture, struct http_server_options options)
{
    memset(&seen, 0, sizeof seen);
    sem_init(&seen.requests, 0, 0);
    sem_init(&seen.aborts, 0, 0);
    sem_init(&seen.dones, 0, 0);
    sem_init(&seen.writables, 0, 0);
    options.handler = &HANDLER;
    fixture_start(fixture, &options, NULL);
}

static int value_of(sem_t *semaphore)
{
    int value;
    sem_getvalue(semaphore, &value);
    return value;
}

/* Sends `request` on a fresh connection and reads to the end of the stream; what came is in `text`. */
static void exchange(const struct fixture *fixture, const char *request, struct strbuf *text)
{
    int fd = client_connect(fixture);
    client_send(fd, request);
    client_read_all(fd, text);
    close(fd);
}

static bool begins_with(const struct strbuf *text, const char *start)
{
    return strncmp(strbuf_text(text), start, strlen(start)) == 0;
}

static bool ends_with(const struct strbuf *text, const char *end)
{
    return text->len >= strlen(end) && strcmp(strbuf_text(text) + text->len - strlen(end), end) == 0;
}

#define HOST " HTTP/1.1\r\nHost: a\r\n"

struct simple_case {
    const char *request, *start, *end;
};

static const struct simple_case SIMPLE[] = {
    {"GET /" HOST "Connection: close\r\n\r\n",
     "HTTP/1.1 200 OK\r\nDate: ", "Content-Length: 0\r\nConnection: close\r\n\r\n"},
    {"POST /" HOST "Connection: close\r\nContent-Length: 5\r\n\r\nhello", "HTTP/1.1 200 OK\r\n", "\r\n\r\nhello"},
    {"POST /" HOST
     "Connection: close\r\nTransfer-Encoding: chunked\r\n\r\n3;x=y\r\nhel\r\n2\r\nlo\r\n0\r\nT: x\r\n\r\n",
     "HTTP/1.1 200 OK\r\n", "\r\n\r\nhello"},
    {"HEAD /" HOST "Content-Length: 5\r\nConnection: close\r\n\r\nhello", "HTTP/1.1 200 OK\r\n",
     "Content-Length: 5\r\nConnection: close\r\n\r\n"},
    {"GET / HTTP/1.0\r\n\r\n", "HTTP/1.1 200 OK\r\n", "Connection: close\r\n\r\n"},
    {"\r\nGET / HTTP/1.0\r\n\r\n", "HTTP/1.1 200 OK\r\n", "Connection: close\r\n\r\n"},
    {"GET /stream HTTP/1.0\r\n\r\n", "HTTP/1.1 200 OK\r\n",
     "Connection: close\r\n\r\ndata: p2\n\ndata: p1\n\ndata: p0\n\n"},
    {"GET /stream" HOST "Connection: close\r\n\r\n", "HTTP/1.1 200 OK\r\n",
     "Connection: close\r\n\r\na\r\ndata: p2\n\n\r\na\r\ndata: p1\n\n\r\na\r\ndata: p0\n\n\r\n0\r\n\r\n"},
    {"HEAD /stream" HOST "Connection: close\r\n\r\n", "HTTP/1.1 200 OK\r\n",
     "Transfer-Encoding: chunked\r\nConnection: close\r\n\r\n"},
    {"GET /raw" HOST "Connection: close\r\n\r\n", "HTTP/1.1 200 Raw\r\n", "\r\n\r\nabcd"},
    {"GET /fin" HOST "\r\n", "HTTP/1.1 200 OK\r\n", "\r\n\r\n4\r\npart\r\n"},
    {"POST /upload" HOST "Connection: close\r\nContent-Length: 5\r\n\r\nhello", "HTTP/1.1 200 OK\r\n",
     "\r\n\r\n5 bytes\n"},
    {"POST /upload" HOST "Connection: close\r\nTransfer-Encoding: chunked\r\n\r\n1\r\na\r\n2\r\nbc\r\n0\r\n\r\n",
     "HTTP/1.1 200 OK\r\n", "\r\n\r\n3 bytes\n"},
    /* early answers: the body that was not read closes the connection */
    {"POST /refuse" HOST "Content-Length: 500\r\n\r\n", "HTTP/1.1 401 Unauthorized\r\n",
     "Connection: close\r\n\r\nno\n"},
    {"POST /upload" HOST "Transfer-Encoding: chunked\r\n\r\n1\r\n!\r\n", "HTTP/1.1 422 Unprocessable Content\r\n",
     "Connection: close\r\n\r\nno exclamation marks\n"},
    /* refused by the server itself */
    {"GET / HTTP/1.1\r\n\r\n", "HTTP/1.1 400 Bad Request\r\n", "Connection: close\r\n\r\nHost is missing\n"},
    {"GET / HTTP/1.1\nHost: a\n\n", "HTTP/1.1 400 Bad Request\r\n", "a line does not end in CR LF\n"},
    {"\x16\x03\x01\x02", "HTTP/1.1 400 Bad Request\r\n", "this is no HTTP request\n"},
    {"\r\n\r\nGET / HTTP/1.0\r\n\r\n", "HTTP/1.1 400 Bad Request\r\n", "this is no HTTP request\n"},
    {"POST /" HOST "Content-Length: 1\r\nTransfer-Encoding: chunked\r\n\r\n", "HTTP/1.1 400 Bad Request\r\n",
     "Transfer-Encoding and Content-Length are both given\n"},
    {"POST /" HOST "Content-Length: 1048577\r\n\r\n", "HTTP/1.1 413 Content Too Large\r\n",
     "the request body is too large\n"},
    {"POST /small" HOST "Content-Length: 5\r\n\r\nhello", "HTTP/1.1 413 Content Too Large\r\n",
     "the request body is too large\n"},
    {"POST /small" HOST "Transfer-Encoding: chunked\r\n\r\n3\r\nabc\r\n2\r\nde\r\n",
     "HTTP/1.1 413 Content Too Large\r\n", "the request body is too large\n"},
    {"POST /" HOST "Transfer-Encoding: chunked\r\n\r\nx\r\n", "HTTP/1.1 400 Bad Request\r\n",
     "a chunk size is malformed\n"},
    {"POST /" HOST "Transfer-Encoding: chunked\r\n\r\n1\r\nab", "HTTP/1.1 400 Bad Request\r\n",
     "a chunk is not followed by CR LF\n"},
    {"POST /" HOST "Transfer-Encoding: chunked\r\n\r\n0\r\nT: x\n\r\n", "HTTP/1.1 400 Bad Request\r\n",
     "a trailer line is malformed\n"},
    {"POST /" HOST "Transfer-Encoding: gzip\r\n\r\n", "HTTP/1.1 501 Not Implemented\r\n",
     "only the transfer coding chunked is known\n"},
    {"POST /" HOST "Expect: x\r\n\r\n", "HTTP/1.1 417 Expectation Failed\r\n", "only Expect: 100-continue is known\n"},
    {"PRI * HTTP/2.0\r\n\r\n", "HTTP/1.1 505 HTTP Version Not Supported\r\n", "are spoken here\n"},
};

static void test_simple_exchanges(void **state)
{
    (void)state;
    struct fixture fixture;
    start(&fixture, (struct http_server_options){0});
    for (size_t i = 0; i < sizeof SIMPLE / sizeof SIMPLE[0]; i++) {
        AS_AUTO_STRBUF struct strbuf text;
        strbuf_init(&text, 0);
        exchange(&fixture, SIMPLE[i].request, &text);
        if (!begins_with(&text, SIMPLE[i].start) || !ends_with(&text, SIMPLE[i].end))
            fail_msg("%s gave %s", SIMPLE[i].request, strbuf_text(&text));
    }
    fixture_stop(&fixture);
}

/* The same answers when each byte comes by itself. */
static void test_byte_by_byte(void **state)
{
    (void)state;
    struct fixture fixture;
    start(&fixture, (struct http_server_options){0});
    for (size_t i = 0; i < sizeof SIMPLE / sizeof SIMPLE[0]; i++) {
        AS_AUTO_STRBUF struct strbuf text;
        strbuf_init(&text, 0);
        int fd = client_connect(&fixture);
        for (const char *at = SIMPLE[i].request; *at; at++)
            (void)!send(fd, at, 1, MSG_NOSIGNAL); /* the server may have refused and closed already */
        while (client_read(fd, &text) > 0)
            ;
        close(fd);
        if (!begins_with(&text, SIMPLE[i].start) || !ends_with(&text, SIMPLE[i].end))
            fail_msg("%s gave %s", SIMPLE[i].request, strbuf_text(&text));
    }
    fixture_stop(&fixture);
}

static void test_keep_alive_and_pipelining(void **state)
{
    (void)state;
    struct fixture fixture;
    AS_AUTO_STRBUF struct strbuf text;
    strbuf_init(&text, 0);
    start(&fixture, (struct http_server_options){0});
    int fd = client_connect(&fixture);
    client_send(fd, "POST /" HOST "Content-Length: 3\r\n\r\none"
                    "GET /stream" HOST "\r\n"
                    "POST /" HOST "Transfer-Encoding: chunked\r\n\r\n3\r\ntwo\r\n0\r\n\r\nGET /raw" HOST
                    "\r\nPOST /" HOST "Content-Le");
    client_expect(fd, &text, "\r\n\r\none");
    client_expect(fd, &text, "data: p0\n\n\r\n0\r\n\r\n");
    client_expect(fd, &text, "\r\n\r\ntwo");
    client_expect(fd, &text, "\r\n\r\nabcd");
    assert_int_equal(text.len, 0);
    client_send(fd, "ngth: 5\r\n\r\nth");
    client_send(fd, "reeGET / HTTP/1.0\r\nConnection: keep-alive\r\n\r\n");
    client_expect(fd, &text, "\r\n\r\nthree");
    client_expect(fd, &text, "Connection: keep-alive\r\n\r\n");
    close(fd);
    fixture_stop(&fixture);
    assert_int_equal(value_of(&seen.dones), 6);
    assert_int_equal(value_of(&seen.aborts), 0);
}

/* Requests that came before the client closed its side are still answered. */
static void test_pipelining_before_fin(void **state)
{
    (void)state;
    struct fixture fixture;
    AS_AUTO_STRBUF struct strbuf text;
    strbuf_init(&text, 0);
    start(&fixture, (struct http_server_options){0});
    int fd = client_connect(&fixture);
    client_send(fd, "POST /" HOST "Content-Length: 3\r\n\r\nonePOST /" HOST "Content-Length: 3\r\n\r\ntwo");
    shutdown(fd, SHUT_WR);
    client_read_all(fd, &text);
    assert_true(ends_with(&text, "\r\n\r\ntwo"));
    close(fd);
    fixture_stop(&fixture);
    assert_int_equal(value_of(&seen.dones), 2);
}

static void test_expect_continue(void **state)
{
    (void)state;
    struct fixture fixture;
    AS_AUTO_STRBUF struct strbuf text;
    strbuf_init(&text, 0);
    start(&fixture, (struct http_server_options){0});
    int fd = client_connect(&fixture);
    client_send(fd, "POST /" HOST "Expect: 100-continue\r\nContent-Length: 2\r\n\r\n");
    client_expect(fd, &text, "HTTP/1.1 100 Continue\r\n\r\n");
    assert_int_equal(text.len, 0);
    client_send(fd, "ok");
    client_expect(fd, &text, "\r\n\r\nok");
    client_send(fd, "POST /refuse" HOST "Expect: 100-continue\r\nContent-Length: 2\r\n\r\n");
    client_read_all(fd, &text);
    assert_true(begins_with(&text, "HTTP/1.1 401 "));
    close(fd);
    fixture_stop(&fixture);
}

static void test_peer_that_goes_away(void **state)
{
    (void)state;
    struct fixture fixture;
    AS_AUTO_STRBUF struct strbuf text;
    strbuf_init(&text, 0);
    start(&fixture, (struct http_server_options){0});
    int fd = client_connect(&fixture);
    client_send(fd, "GET /hold" HOST "\r\n");
    wait_for(&seen.requests);
    close(fd); /* while waiting for the answer */
    wait_for(&seen.aborts);
    wait_for(&seen.dones);
    fd = client_connect(&fixture);
    client_send(fd, "POST /" HOST "Content-Length: 10\r\n\r\nhalf");
    shutdown(fd, SHUT_WR); /* inside its own body: on_head has seen it */
    wait_for(&seen.aborts);
    wait_for(&seen.dones);
    assert_true(client_read(fd, &text) <= 0);
    close(fd);
    fd = client_connect(&fixture);
    struct linger linger = {.l_onoff = 1};
    client_send(fd, "GET /hold" HOST "\r\n");
    wait_for(&seen.requests);
    setsockopt(fd, SOL_SOCKET, SO_LINGER, &linger, sizeof linger);
    close(fd); /* with a reset */
    wait_for(&seen.aborts);
    wait_for(&seen.dones);
    struct http_server_counters counters;
    http_server_counters(fixture.server, &counters);
    assert_int_equal(counters.aborted, 3);
    fixture_stop(&fixture);
}

static void test_reset_fault(void **state)
{
    (void)state;
    struct fixture fixture;
    AS_AUTO_STRBUF struct strbuf text;
    strbuf_init(&text, 0);
    start(&fixture, (struct http_server_options){0});
    int fd = client_connect(&fixture);
    client_send(fd, "GET /reset" HOST "\r\n");
    while (client_read(fd, &text) > 0)
        ;
    assert_int_equal(errno, ECONNRESET);
    close(fd);
    wait_for(&seen.dones);
    assert_int_equal(value_of(&seen.aborts), 0);
    fixture_stop(&fixture);
}

/* A client that does not read stops the answer at max_queue_bytes; reading makes it go on, to the last byte. */
static void test_backpressure(void **state)
{
    (void)state;
    struct fixture fixture;
    AS_AUTO_STRBUF struct strbuf text;
    strbuf_init(&text, 0);
    start(&fixture, (struct http_server_options){.max_queue_bytes = 200000});
    int fd = client_connect(&fixture);
    client_send(fd, "GET /pour" HOST "Connection: close\r\n\r\n");
    wait_for(&seen.requests);
    client_read_all(fd, &text);
    close(fd);
    fixture_stop(&fixture);
    size_t count = 0;
    for (size_t i = 0; i < text.len; i++)
        count += text.data[i] == 'z';
    assert_int_equal(count, (size_t)400 * 65536);
    assert_true(value_of(&seen.writables) > 0);
    assert_true(ends_with(&text, "\r\n0\r\n\r\n"));
}

/* A request whose bytes stop: 408 inside a head or body, a plain close before the first byte. */
static void test_time_limits(void **state)
{
    (void)state;
    struct fixture fixture;
    start(&fixture, (struct http_server_options){.head_timeout_ns = 30 * NS_PER_MS,
                                                 .body_timeout_ns = 30 * NS_PER_MS,
                                                 .idle_timeout_ns = 30 * NS_PER_MS,
                                                 .write_timeout_ns = 30 * NS_PER_MS,
                                                 .max_queue_bytes = 200000});
    static const struct simple_case cases[] = {
        {"", "", ""},
        {"GET / HT", "HTTP/1.1 408 Request Timeout\r\n", "the request head took too long\n"},
        {"POST /" HOST "Content-Length: 3\r\n\r\nab", "HTTP/1.1 408 Request Timeout\r\n",
         "the request body took too long\n"},
        {"POST /" HOST "Content-Length: 3\r\n\r\nabc", "HTTP/1.1 200 OK\r\n", "\r\n\r\nabc"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        AS_AUTO_STRBUF struct strbuf text;
        strbuf_init(&text, 0);
        exchange(&fixture, cases[i].request, &text);
        if (!begins_with(&text, cases[i].start) || !ends_with(&text, cases[i].end))
            fail_msg("%s gave %s", cases[i].request, strbuf_text(&text));
    }
    wait_for(&seen.aborts); /* of the body that did not come */
    int fd = client_connect(&fixture);
    client_send(fd, "GET /pour" HOST "\r\n"); /* and reads nothing */
    wait_for(&seen.aborts);
    close(fd);
    fixture_stop(&fixture);
}

static void test_head_limits(void **state)
{
    (void)state;
    struct fixture fixture;
    start(&fixture, (struct http_server_options){.max_head_bytes = 512});
    static const struct {
        const char *format;
        int width;
        const char *start;
    } cases[] = {
        {"GET /%0*d HTTP/1.0\r\n\r\n", 400, "HTTP/1.1 200 OK\r\n"},
        {"GET /%0*d HTTP/1.0\r\n\r\n", 600, "HTTP/1.1 414 URI Too Long\r\n"},
        {"GET /%0*d", 600, "HTTP/1.1 414 URI Too Long\r\n"},
        {"GET / HTTP/1.0\r\nX: %0*d\r\n\r\n", 489, "HTTP/1.1 200 OK\r\n"},
        {"GET / HTTP/1.0\r\nX: %0*d\r\n\r\n", 490, "HTTP/1.1 431 Request Header Fields Too Large\r\n"},
        {"GET / HTTP/1.0\r\nX: %0*d", 600, "HTTP/1.1 431 Request Header Fields Too Large\r\n"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        AS_AUTO_STRBUF struct strbuf request, text;
        strbuf_init(&request, 0);
        strbuf_init(&text, 0);
        char line[1024];
        snprintf(line, sizeof line, cases[i].format, cases[i].width, 7);
        strbuf_adds(&request, line);
        exchange(&fixture, strbuf_text(&request), &text);
        if (!begins_with(&text, cases[i].start))
            fail_msg("case %zu gave %s", i, strbuf_text(&text));
    }
    fixture_stop(&fixture);
}

/* At the limit further clients wait until a connection is free. */
static void test_connection_limit(void **state)
{
    (void)state;
    struct fixture fixture;
    AS_AUTO_STRBUF struct strbuf text;
    strbuf_init(&text, 0);
    start(&fixture, (struct http_server_options){.max_connections = 1});
    int first = client_connect(&fixture);
    client_send(first, "GET /" HOST "\r\n");
    client_expect(first, &text, "\r\n\r\n");
    int second = client_connect(&fixture); /* in the backlog */
    client_send(second, "GET /" HOST "\r\n");
    struct pollfd poller = {.fd = second, .events = POLLIN};
    assert_int_equal(poll(&poller, 1, 20), 0);
    close(first);
    client_expect(second, &text, "\r\n\r\n");
    close(second);
    fixture_stop(&fixture);
}

/* A stop lets the exchange in hand end, closes idle connections and refuses new ones. */
static void test_graceful_stop(void **state)
{
    (void)state;
    struct fixture fixture;
    AS_AUTO_STRBUF struct strbuf text;
    strbuf_init(&text, 0);
    start(&fixture, (struct http_server_options){0});
    uint16_t port = http_server_port(fixture.server, 0);
    int idle = client_connect(&fixture);
    int busy = client_connect(&fixture);
    client_send(idle, "GET /" HOST "\r\n");
    client_expect(idle, &text, "\r\n\r\n");
    client_send(busy, "POST /" HOST "Expect: 100-continue\r\nContent-Length: 4\r\n\r\n");
    client_expect(busy, &text, "100 Continue\r\n\r\n");
    http_server_stop(fixture.server, 60 * NS_PER_S);
    client_read_all(idle, &text);
    assert_int_equal(text.len, 0);
    client_send(busy, "abcd");
    client_read_all(busy, &text);
    assert_true(ends_with(&text, "Connection: close\r\n\r\nabcd"));
    close(busy);
    close(idle);
    assert_int_equal(pthread_join(fixture.thread, NULL), 0);
    struct sockaddr_in address = {
        .sin_family = AF_INET, .sin_port = htons(port), .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
    int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
    assert_int_equal(connect(fd, (struct sockaddr *)&address, sizeof address), -1);
    assert_int_equal(errno, ECONNREFUSED);
    close(fd);
    http_server_free(fixture.server);
}

static void test_hard_stop_aborts(void **state)
{
    (void)state;
    struct fixture fixture;
    start(&fixture, (struct http_server_options){0});
    int fd = client_connect(&fixture);
    client_send(fd, "GET /hold" HOST "\r\n");
    wait_for(&seen.requests);
    http_server_stop(fixture.server, 60 * NS_PER_S);
    fixture_stop(&fixture);
    assert_int_equal(value_of(&seen.aborts), 1);
    assert_int_equal(value_of(&seen.dones), 1);
    close(fd);
}

/* An answer from another thread: held, posted back, released. */
struct job {
    struct http_message message;
    struct http_exchange *x;
    bool is_aborted;
};

static void finish_job(struct http_message *message, struct http_loop *loop)
{
    struct job *job = (struct job *)message; /* its first member */
    MUST(loop == job->x->loop);
    job->is_aborted = job->x->is_aborted;
    if (!job->is_aborted)
        MUST(http_answer_text(job->x, 200, "from elsewhere") == AS_OK);
    http_release(job->x);
}

static void start_job(struct http_message *message, struct http_loop *loop)
{
    (void)loop;
    http_hold(((struct job *)message)->x);
    sem_post(&seen.writables);
}

static void test_answer_from_another_thread(void **state)
{
    (void)state;
    struct fixture fixture;
    AS_AUTO_STRBUF struct strbuf text;
    strbuf_init(&text, 0);
    for (int aborted = 0; aborted < 2; aborted++) {
        start(&fixture, (struct http_server_options){0});
        int fd = client_connect(&fixture);
        client_send(fd, "GET /hold" HOST "\r\n");
        wait_for(&seen.requests);
        struct job hold = {.message = {.on_message = start_job}, .x = seen.held};
        struct job job = {.message = {.on_message = finish_job}, .x = seen.held};
        http_loop_post(http_server_loop(fixture.server, 0), &hold.message);
        wait_for(&seen.writables);
        if (aborted) {
            close(fd);
            wait_for(&seen.aborts);
            assert_int_equal(value_of(&seen.dones), 0);
        }
        http_loop_post(http_server_loop(fixture.server, 0), &job.message);
        if (!aborted) {
            client_expect(fd, &text, "from elsewhere");
            close(fd);
        }
        wait_for(&seen.dones);
        assert_int_equal(job.is_aborted, aborted);
        fixture_stop(&fixture);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_simple_exchanges),
        cmocka_unit_test(test_byte_by_byte),
        cmocka_unit_test(test_keep_alive_and_pipelining),
        cmocka_unit_test(test_pipelining_before_fin),
        cmocka_unit_test(test_expect_continue),
        cmocka_unit_test(test_peer_that_goes_away),
        cmocka_unit_test(test_reset_fault),
        cmocka_unit_test(test_backpressure),
        cmocka_unit_test(test_time_limits),
        cmocka_unit_test(test_head_limits),
        cmocka_unit_test(test_connection_limit),
        cmocka_unit_test(test_graceful_stop),
        cmocka_unit_test(test_hard_stop_aborts),
        cmocka_unit_test(test_answer_from_another_thread),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
