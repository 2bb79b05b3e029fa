/* SPDX-License-Identifier: Apache-2.0 */
/* Every allocation of the readers and of the server fails once. */
#include "http/response.h"
#include "http/sse.h"
#include "support/faults.h"
#include "wire/http/fixture.h"

/* ---- readers ---- */

/* Three pieces of two events, of which one is joined from lines in different pieces. */
static as_status read_events(void *context)
{
    static const char *const pieces[] = {"data: a\nda", "ta: b", "\n\nevent: e\ndata: c\n\n"};
    struct sse_reader reader;
    struct sse_event event;
    size_t events = 0;
    as_status status = AS_OK;
    (void)context;
    sse_reader_init(&reader, SSE_EVENT_MAX_DEFAULT);
    for (size_t i = 0; i < 3 && status == AS_OK; i++) {
        const char *at = pieces[i], *end = at + strlen(at);
        enum sse_result result;
        while ((result = sse_next(&reader, &at, end, &event)) == SSE_EVENT)
            events++;
        if (result == SSE_BAD)
            status = AS_E_NOMEM;
    }
    sse_reader_done(&reader);
    MUST(status != AS_OK || events == 2);
    return status;
}

static as_status read_response(void *context)
{
    static const char *const pieces[] = {"HTTP/1.1 200 OK\r\nX:", "\r\n folded\r\nContent-Length: 0\r\n\r\n"};
    struct http_response response;
    enum http_result result = HTTP_MORE;
    const char *span;
    size_t len;
    (void)context;
    http_response_init(&response);
    for (size_t i = 0; i < 2 && result == HTTP_MORE; i++) {
        const char *at = pieces[i];
        result = http_response_next(&response, &at, at + strlen(at), &span, &len);
    }
    http_response_done(&response);
    MUST(result == HTTP_HEAD || result == HTTP_BAD);
    return result == HTTP_HEAD ? AS_OK : AS_E_NOMEM;
}

static void test_readers(void **state)
{
    (void)state;
    assert_true(fault_each(FAULT_ALLOC, AS_E_NOMEM, read_events, NULL) >= 1);
    assert_true(fault_each(FAULT_ALLOC, AS_E_NOMEM, read_response, NULL) >= 1);
}

/* ---- server ---- */

static void on_body(void *context, struct http_exchange *x, const char *data, size_t len)
{
    (void)context;
    (void)x;
    MUST(data && len);
}

static void on_head(void *context, struct http_exchange *x)
{
    (void)context;
    x->stream_body = x->request->path.len == 2;
}

static void on_request(void *context, struct http_exchange *x)
{
    static const struct http_answer answer = {.status = 200};
    static char block[300000];
    (void)context;
    as_status status = http_answer_begin(x, &answer);
    if (status == AS_OK)
        status = http_answer_event(x, "lines", "one\ntwo", 7);
    for (int i = 0; i < 4 && status == AS_OK; i++)
        status = http_answer_piece(x, block, sizeof block);
    if (status == AS_OK)
        status = http_answer_end(x);
    if (status != AS_OK)
        http_drop(x, true);
}

static const struct http_handler HANDLER = {.on_head = on_head, .on_body = on_body, .on_request = on_request};

static as_status make_server(void *context)
{
    struct http_server_options options = {.handler = &HANDLER, .loops = 2};
    struct http_listener listener = {.unix_path = context};
    struct http_server *server;
    struct as_error err;
    as_status status = http_server_new(&options, &server, &err);
    if (status != AS_OK)
        return status;
    status = http_server_listen(server, &listener, &err);
    http_server_free(server);
    return status;
}

static void test_making_a_server(void **state)
{
    (void)state;
    char folder[] = "/tmp/assay-fault-XXXXXX", path[64];
    assert_non_null(mkdtemp(folder));
    snprintf(path, sizeof path, "%s/socket", folder);
    assert_true(fault_each(FAULT_ALLOC, AS_E_NOMEM, make_server, path) >= 5);
    assert_int_equal(rmdir(folder), 0); /* no socket file was left */
}

/* Sends two requests in pieces and reads to the end of the stream or a reset; the bytes of the answers. Allocates
 * nothing. */
static size_t exchange(const struct fixture *fixture)
{
    static const char *const pieces[] = {
        "POST / HTTP/1.1\r\nHo", "st: a\r\nContent-Length: 4\r\n\r\nab", "cd",
        "POST /s HTTP/1.1\r\nHost: a\r\nConnection: close\r\nTransfer-Encoding: chunked\r\n\r\n",
        "2\r\nab\r\n0\r\n\r\n"};
    static char sink[65536];
    size_t total = 0;
    ssize_t got;
    struct http_server_counters counters;
    http_server_counters(fixture->server, &counters);
    uint64_t sent = counters.bytes_read;
    int fd = client_connect(fixture);
    for (size_t i = 0; i < 5; i++) {
        if (send(fd, pieces[i], strlen(pieces[i]), MSG_NOSIGNAL) < 0)
            break;
        sent += strlen(pieces[i]);
        struct pollfd poller = {.fd = fd, .events = POLLRDHUP};
        do { /* until the server has read it, so that pieces stay pieces, or hung up */
            http_server_counters(fixture->server, &counters);
        } while (counters.bytes_read < sent && poll(&poller, 1, 1) == 0);
    }
    do {
        wait_readable(fd);
        got = recv(fd, sink, sizeof sink, 0);
        total += got > 0 ? (size_t)got : 0;
    } while (got > 0);
    close(fd);
    return total;
}

static void test_serving(void **state)
{
    (void)state;
    struct fixture fixture;
    struct http_server_options options = {.handler = &HANDLER, .max_queue_bytes = (size_t)4 * 1024 * 1024};
    fixture_start(&fixture, &options, NULL);
    size_t whole = exchange(&fixture), failing = 0;
    assert_true(whole > 2400000);
    for (size_t nth = 1;; nth++) {
        fault_arm(FAULT_ALLOC, nth);
        (void)exchange(&fixture);
        bool has_failed = fault_calls(FAULT_ALLOC) >= nth;
        fault_disarm();
        assert_int_equal(exchange(&fixture), whole); /* the server lives and answers as before */
        if (!has_failed)
            break;
        failing++;
    }
    assert_true(failing >= 4);
    fixture_stop(&fixture);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_readers),
        cmocka_unit_test(test_making_a_server),
        cmocka_unit_test(test_serving),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
