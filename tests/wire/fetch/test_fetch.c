/* SPDX-License-Identifier: Apache-2.0 */
/* assay-fetch against servers on loopback that answer with fixed bytes and keep what they were sent. */
#include "base/file.h"
#include "fetch/fetch.h"
#include "support/check.h"
#include "support/temp_dir.h"
#include "wire/fetch/server.h"

static struct server server, other;
static char url[256], other_url[512];

static void test_a_plain_get(void **state)
{
    (void)state;
    struct fetch_reply reply;
    struct as_error err;
    server_listen(&server);
    add_answer(&server, ANSWER_OK);
    server_start(&server);
    struct fetch_request request = {.url = url_of(&server, "/prompts?token=hidden", url)};
    assert_int_equal(fetch_run(&request, &reply, &err), AS_OK);
    server_stop(&server);
    assert_int_equal(reply.status, 200);
    assert_string_equal(reply.content_type, "text/plain");
    assert_string_equal(strbuf_text(&reply.body), "hello");
    assert_int_equal(reply.body_bytes, 5);
    assert_int_equal(reply.redirects, 0);
    assert_null(strstr(reply.url, "hidden"));
    assert_int_equal(memcmp(server.seen[0], "GET /prompts?token=hidden HTTP/1.1\r\n", 36), 0);
    assert_null(strcasestr(server.seen[0], "authorization"));
    fetch_reply_done(&reply);
}

static void test_a_post_with_key_and_body(void **state)
{
    (void)state;
    static const char *const headers[] = {"Content-Type: application/json", "X-Extra: one"};
    struct fetch_reply reply;
    struct as_error err;
    char *body = malloc(40000);
    assert_non_null(body);
    memset(body, 'b', 40000);
    server_listen(&server);
    add_answer(&server, "HTTP/1.1 503 Busy\r\nContent-Length: 4\r\nConnection: close\r\n\r\nbusy");
    server_start(&server);
    struct fetch_request request = {.url = url_of(&server, "/v1/x", url),
                                    .headers = headers,
                                    .header_count = 2,
                                    .bearer = "sk-secret",
                                    .body = body,
                                    .body_len = 40000};
    assert_int_equal(fetch_run(&request, &reply, &err), AS_OK);
    server_stop(&server);
    free(body);
    assert_int_equal(reply.status, 503);
    assert_string_equal(strbuf_text(&reply.body), "busy");
    assert_non_null(strstr(server.seen[0], "POST /v1/x HTTP/1.1\r\n"));
    assert_non_null(strstr(server.seen[0], "Authorization: Bearer sk-secret\r\n"));
    assert_non_null(strstr(server.seen[0], "Content-Type: application/json\r\n"));
    assert_non_null(strstr(server.seen[0], "X-Extra: one\r\n"));
    assert_null(strcasestr(server.seen[0], "expect:"));
    assert_int_equal(strlen(strstr(server.seen[0], "\r\n\r\n") + 4), 40000);
    fetch_reply_done(&reply);
}

/* The environment's proxy leads nowhere. */
static void test_no_proxy_from_the_environment(void **state)
{
    (void)state;
    struct fetch_reply reply;
    struct as_error err;
    server_listen(&server);
    add_answer(&server, ANSWER_OK);
    server_start(&server);
    setenv("http_proxy", "http://127.0.0.1:1", 1);
    struct fetch_request request = {.url = url_of(&server, "/", url)};
    as_status status = fetch_run(&request, &reply, &err);
    unsetenv("http_proxy");
    server_stop(&server);
    assert_int_equal(status, AS_OK);
    fetch_reply_done(&reply);
}

static void test_the_key_stays_with_its_host(void **state)
{
    (void)state;
    static const char *const headers[] = {"X-Api-Key: other-secret"};
    char redirect[1024];
    struct fetch_reply reply;
    struct as_error err;
    server_listen(&server);
    server_listen(&other);
    snprintf(redirect, sizeof redirect,
             "HTTP/1.1 307 Moved\r\nLocation: %s\r\nContent-Length: 7\r\nConnection: close\r\n\r\nignored",
             url_of(&other, "/there", other_url));
    add_answer(&server, "HTTP/1.1 302 Found\r\nLocation: /second\r\nContent-Length: 0\r\nConnection: close\r\n\r\n");
    add_answer(&server, redirect);
    add_answer(&other, ANSWER_OK);
    server_start(&server);
    server_start(&other);
    struct fetch_request request = {
        .url = url_of(&server, "/first", url), .headers = headers, .header_count = 1, .bearer = "sk-secret"};
    assert_int_equal(fetch_run(&request, &reply, &err), AS_OK);
    server_stop(&server);
    server_stop(&other);
    assert_int_equal(reply.redirects, 2);
    assert_string_equal(strbuf_text(&reply.body), "hello");
    assert_non_null(strstr(server.seen[1], "GET /second "));
    assert_non_null(strstr(server.seen[1], "sk-secret"));
    assert_non_null(strstr(server.seen[1], "other-secret"));
    assert_non_null(strstr(other.seen[0], "GET /there "));
    assert_null(strstr(other.seen[0], "secret"));
    fetch_reply_done(&reply);
}

static void expect_failure(const char *answer, struct fetch_request request, as_status expected, const char *words)
{
    struct fetch_reply reply;
    struct as_error err;
    server_listen(&server);
    for (int i = 0; i < 7; i++)
        add_answer(&server, answer);
    server_start(&server);
    request.url = url_of(&server, "/x?secret=1", url);
    as_status status = fetch_run(&request, &reply, &err);
    server_stop(&server);
    assert_int_equal(status, expected);
    if (!strstr(err.message, words))
        fail_msg("\"%s\" is not in \"%s\"", words, err.message);
    assert_null(strstr(err.message, "secret"));
}

static void test_redirects_that_are_refused(void **state)
{
    (void)state;
    struct fetch_request get = {0}, post = {.body = "x", .body_len = 1};
    expect_failure(
        "HTTP/1.1 302 Found\r\nLocation: file:///etc/passwd\r\nContent-Length: 0\r\nConnection: close\r\n\r\n", get,
        AS_E_NETWORK, "not followed");
    expect_failure("HTTP/1.1 302 Found\r\nLocation: /loop\r\nContent-Length: 0\r\nConnection: close\r\n\r\n", get,
                   AS_E_NETWORK, "too many");
    expect_failure("HTTP/1.1 302 Found\r\nContent-Length: 0\r\nConnection: close\r\n\r\n", get, AS_E_NETWORK,
                   "without a target");
    expect_failure("HTTP/1.1 302 Found\r\nLocation: /get\r\nContent-Length: 0\r\nConnection: close\r\n\r\n", post,
                   AS_E_NETWORK, "POST into a GET");
    assert_int_equal(server.connections, 1);
}

static void test_failures_have_their_status(void **state)
{
    (void)state;
    struct fetch_request small = {.max_bytes = 4}, hurried = {.timeout_ns = INT64_C(300) * 1000000}, plain = {0};
    expect_failure(ANSWER_OK, small, AS_E_LIMIT, "larger than allowed");
    expect_failure(NULL, hurried, AS_E_TIMEOUT, "");
    expect_failure("HTTP/1.1 200 OK\r\nContent-Length: 50\r\n\r\ncut", plain, AS_E_NETWORK, "");
    expect_failure("SSH-2.0-server\r\n", plain, AS_E_NETWORK, "");
}

static void test_nobody_listens(void **state)
{
    (void)state;
    struct fetch_reply reply;
    struct as_error err;
    server_listen(&server);
    struct fetch_request request = {.url = url_of(&server, "/", url)};
    close(server.listener);
    assert_int_equal(fetch_run(&request, &reply, &err), AS_E_NETWORK);
}

static void test_a_body_into_a_file(void **state)
{
    (void)state;
    TEMP_DIR_AUTO struct temp_dir dir = {0};
    char path[PATH_MAX];
    struct fetch_reply reply;
    struct as_error err;
    struct strbuf text;
    temp_dir_make(&dir);
    temp_dir_join(&dir, "body", path);
    server_listen(&server);
    add_answer(&server, ANSWER_OK);
    add_answer(&server, "HTTP/1.1 404 Not Found\r\nContent-Length: 4\r\nConnection: close\r\n\r\nnone");
    server_start(&server);
    struct fetch_request request = {.url = url_of(&server, "/", url), .output_path = path};
    assert_int_equal(fetch_run(&request, &reply, &err), AS_OK);
    assert_int_equal(reply.body.len, 0);
    fetch_reply_done(&reply);
    assert_int_equal(fetch_run(&request, &reply, &err), AS_OK);
    assert_int_equal(reply.status, 404);
    fetch_reply_done(&reply);
    server_stop(&server);
    strbuf_init(&text, 0);
    assert_int_equal(file_read(path, &text, &err), AS_OK);
    assert_string_equal(strbuf_text(&text), "hello");
    strbuf_done(&text);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_a_plain_get),
        cmocka_unit_test(test_a_post_with_key_and_body),
        cmocka_unit_test(test_no_proxy_from_the_environment),
        cmocka_unit_test(test_the_key_stays_with_its_host),
        cmocka_unit_test(test_redirects_that_are_refused),
        cmocka_unit_test(test_failures_have_their_status),
        cmocka_unit_test(test_nobody_listens),
        cmocka_unit_test(test_a_body_into_a_file),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
