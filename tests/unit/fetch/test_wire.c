/* SPDX-License-Identifier: Apache-2.0 */
#include "base/arena.h"
#include "fetch/wire.h"
#include "support/check.h"

#include <string.h>

static struct fetch_request read_back(const struct fetch_request *request, struct arena *arena)
{
    struct strbuf line;
    struct fetch_request got;
    struct as_error err;
    strbuf_init(&line, 0);
    assert_int_equal(fetch_write_request(request, &line), AS_OK);
    assert_int_equal(line.data[line.len - 1], '\n');
    assert_ptr_equal(memchr(line.data, '\n', line.len), line.data + line.len - 1);
    assert_int_equal(fetch_read_request(line.data, line.len - 1, arena, &got, &err), AS_OK);
    strbuf_done(&line);
    return got;
}

static void test_a_request_survives(void **state)
{
    (void)state;
    const char *headers[] = {"X-One: a \"quoted\" value", "Accept: */*"};
    struct fetch_request request = {
        .url = "https://host.invalid/path?q=1",
        .method = "PUT",
        .headers = headers,
        .header_count = 2,
        .bearer = "key",
        .body = "any\nbytes",
        .body_len = 9,
        .timeout_ns = 5,
        .connect_timeout_ns = 6,
        .max_bytes = 7,
        .max_redirects = -1,
        .ca_cert = "/ca",
        .insecure = true,
        .proxy = "http://proxy.invalid:1",
        .unix_socket = "/run/socket",
    };
    struct arena arena;
    arena_init(&arena, 0, 0);
    struct fetch_request got = read_back(&request, &arena);
    assert_string_equal(got.url, request.url);
    assert_string_equal(got.method, "PUT");
    assert_int_equal(got.header_count, 2);
    assert_string_equal(got.headers[0], headers[0]);
    assert_string_equal(got.headers[1], headers[1]);
    assert_string_equal(got.bearer, "key");
    assert_non_null(got.body);
    assert_int_equal(got.body_len, 9);
    assert_int_equal(got.timeout_ns, 5);
    assert_int_equal(got.connect_timeout_ns, 6);
    assert_int_equal(got.max_bytes, 7);
    assert_int_equal(got.max_redirects, -1);
    assert_string_equal(got.ca_cert, "/ca");
    assert_true(got.insecure);
    assert_string_equal(got.proxy, "http://proxy.invalid:1");
    assert_string_equal(got.unix_socket, "/run/socket");
    arena_done(&arena);
}

static void test_absent_members_stay_absent(void **state)
{
    (void)state;
    struct fetch_request request = {.url = "http://host.invalid"};
    struct arena arena;
    arena_init(&arena, 0, 0);
    struct fetch_request got = read_back(&request, &arena);
    assert_null(got.method);
    assert_null(got.bearer);
    assert_null(got.body);
    assert_null(got.proxy);
    assert_int_equal(got.header_count, 0);
    assert_int_equal(got.body_len, 0);
    arena_done(&arena);
}

static void test_a_result_survives(void **state)
{
    (void)state;
    struct fetch_result result = {.status_code = AS_E_LIMIT,
                                  .message = "too \"large\"",
                                  .reply = {.status = 404,
                                            .content_type = "text/plain",
                                            .url = "http://host.invalid/",
                                            .redirects = 2,
                                            .body_bytes = 77,
                                            .duration_ns = 99}};
    struct fetch_result got;
    struct strbuf text;
    strbuf_init(&text, 0);
    assert_int_equal(fetch_write_result(&result, &text), AS_OK);
    assert_int_equal(fetch_read_result(text.data, text.len, &got), AS_OK);
    strbuf_done(&text);
    assert_int_equal(got.status_code, AS_E_LIMIT);
    assert_string_equal(got.message, "too \"large\"");
    assert_int_equal(got.reply.status, 404);
    assert_string_equal(got.reply.content_type, "text/plain");
    assert_string_equal(got.reply.url, "http://host.invalid/");
    assert_int_equal(got.reply.redirects, 2);
    assert_int_equal(got.reply.body_bytes, 77);
    assert_int_equal(got.reply.duration_ns, 99);
}

static void test_bad_lines_are_refused(void **state)
{
    (void)state;
    static const char *const requests[] = {"",   "{",           "[]",
                                           "{}", "{\"url\":1}", "{\"url\":\"http://x\",\"headers\":[1]}"};
    static const char *const results[] = {"", "{}x", "{\"status_code\":-1}", "{\"status_code\":99}"};
    struct arena arena;
    struct as_error err;
    struct fetch_request request;
    struct fetch_result result;
    arena_init(&arena, 0, 0);
    for (size_t i = 0; i < ARRAY_COUNT(requests); i++)
        assert_int_equal(fetch_read_request(requests[i], strlen(requests[i]), &arena, &request, &err), AS_E_INVALID);
    for (size_t i = 0; i < ARRAY_COUNT(results); i++)
        assert_int_equal(fetch_read_result(results[i], strlen(results[i]), &result), AS_E_INVALID);
    arena_done(&arena);
}

static void test_urls(void **state)
{
    (void)state;
    assert_true(fetch_is_url("http://x"));
    assert_true(fetch_is_url("HTTPS://x"));
    assert_false(fetch_is_url("file:///etc/passwd"));
    assert_false(fetch_is_url("prompts.jsonl"));
    assert_false(fetch_is_url("http:/x"));
}

static void test_requests_that_cannot_be(void **state)
{
    (void)state;
    static const char *const line_break[] = {"X: a\r\nY: b"};
    static const char *const no_colon[] = {"Xa"};
    const struct fetch_request requests[] = {
        {.url = "file:///etc/passwd"},
        {.url = "http://x/\r\nHost: y"},
        {.url = "http://x", .bearer = "a\nb"},
        {.url = "http://x", .method = "GET /\r\n"},
        {.url = "http://x", .headers = line_break, .header_count = 1},
        {.url = "http://x", .headers = no_colon, .header_count = 1},
        {.url = NULL},
    };
    struct as_error err;
    struct fetch_reply reply;
    for (size_t i = 0; i < ARRAY_COUNT(requests); i++)
        assert_int_equal(fetch_run(&requests[i], &reply, &err), AS_E_INVALID);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_a_request_survives),
        cmocka_unit_test(test_absent_members_stay_absent),
        cmocka_unit_test(test_a_result_survives),
        cmocka_unit_test(test_bad_lines_are_refused),
        cmocka_unit_test(test_urls),
        cmocka_unit_test(test_requests_that_cannot_be),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
