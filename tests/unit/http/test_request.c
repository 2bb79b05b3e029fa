/* SPDX-License-Identifier: Apache-2.0 */
#include "http/request.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

/* Parses a copy of exactly its size, so that the address sanitizer sees a byte read too far. Texts point into
 * *ret_copy. */
static bool parse(const char *head, size_t len, struct http_request *request, struct http_refusal *refusal,
                  char **ret_copy)
{
    *ret_copy = malloc(len);
    assert_non_null(*ret_copy);
    memcpy(*ret_copy, head, len);
    memset(request, 0xAA, sizeof *request);
    return http_request_parse(*ret_copy, len, request, refusal);
}

static void assert_text(struct http_text text, const char *expected)
{
    assert_int_equal(text.len, strlen(expected));
    assert_memory_equal(text.at, expected, text.len);
}

struct bad_case {
    const char *head;
    int status;
    const char *sentence;
};

#define LINE        "GET / HTTP/1.1\r\n"
#define HOST        LINE "Host: a\r\n"
#define POST        "POST / HTTP/1.1\r\nHost: a\r\n"
#define NO_CRLF     "a line does not end in CR LF"
#define BAD_NAME    "a header name is empty or holds white space or other forbidden bytes"
#define BAD_VALUE   "a header value holds a control character"
#define BAD_TARGET  "the request target holds bytes that must be percent-encoded"
#define NO_TARGET   "the request target is neither a path nor an http URL"
#define BAD_LINE    "the request line is not a method, a target and a version"
#define BAD_VERSION "the request line does not end in an HTTP version"
#define BAD_LENGTH  "Content-Length is no decimal number within 63 bits"

static const struct bad_case BAD[] = {
    /* line ends */
    {"GET / HTTP/1.1\nHost: a\n\n", 400, NO_CRLF},
    {"GET / HTTP/1.1\r\nHost: a\n\r\n", 400, NO_CRLF},
    {"GET / HTTP/1.1\nHost: a\r\n\r\n", 400, NO_CRLF},
    {HOST "\n", 400, NO_CRLF},
    {HOST "X: a\rb\r\n\r\n", 400, NO_CRLF},
    {HOST "X: a\r\r\n\r\n", 400, NO_CRLF},
    {"GET / HTTP/1.1\r\r\nHost: a\r\n\r\n", 400, NO_CRLF},
    {"\r\n\r\n", 400, BAD_LINE},
    /* request line */
    {"GET /\r\nHost: a\r\n\r\n", 400, BAD_LINE},
    {"GET\r\n\r\n", 400, BAD_LINE},
    {" GET / HTTP/1.1\r\nHost: a\r\n\r\n", 400, "the method is no token"},
    {"GE T / HTTP/1.1\r\nHost: a\r\n\r\n", 400, BAD_VERSION},
    {"G(T / HTTP/1.1\r\nHost: a\r\n\r\n", 400, "the method is no token"},
    {"G\xC9T / HTTP/1.1\r\nHost: a\r\n\r\n", 400, "the method is no token"},
    {"GET  / HTTP/1.1\r\nHost: a\r\n\r\n", 400, BAD_VERSION},
    {"GET /  HTTP/1.1\r\nHost: a\r\n\r\n", 400, BAD_VERSION},
    {"GET\t/ HTTP/1.1\r\nHost: a\r\n\r\n", 400, BAD_LINE},
    {"GET / HTTP/1.1 \r\nHost: a\r\n\r\n", 400, BAD_VERSION},
    {"GET / http/1.1\r\nHost: a\r\n\r\n", 400, BAD_VERSION},
    {"GET / HTTP/1\r\nHost: a\r\n\r\n", 400, BAD_VERSION},
    {"GET / HTTP/1.10\r\nHost: a\r\n\r\n", 400, BAD_VERSION},
    {"GET / HTTP/11\r\nHost: a\r\n\r\n", 400, BAD_VERSION},
    {"GET / HTTP/2.0\r\nHost: a\r\n\r\n", 505, "only HTTP/1.0 and HTTP/1.1 are spoken here"},
    {"GET / HTTP/0.9\r\nHost: a\r\n\r\n", 505, "only HTTP/1.0 and HTTP/1.1 are spoken here"},
    {"PRI * HTTP/2.0\r\n\r\n", 505, "only HTTP/1.0 and HTTP/1.1 are spoken here"},
    /* target */
    {"GET /a\"b HTTP/1.1\r\nHost: a\r\n\r\n", 400, BAD_TARGET},
    {"GET /<x> HTTP/1.1\r\nHost: a\r\n\r\n", 400, BAD_TARGET},
    {"GET /a\\b HTTP/1.1\r\nHost: a\r\n\r\n", 400, BAD_TARGET},
    {"GET /a#b HTTP/1.1\r\nHost: a\r\n\r\n", 400, BAD_TARGET},
    {"GET /{a}|^` HTTP/1.1\r\nHost: a\r\n\r\n", 400, BAD_TARGET},
    {"GET /caf\xC3\xA9 HTTP/1.1\r\nHost: a\r\n\r\n", 400, BAD_TARGET},
    {"GET /a\x7f HTTP/1.1\r\nHost: a\r\n\r\n", 400, BAD_TARGET},
    {"GET /a\x01 HTTP/1.1\r\nHost: a\r\n\r\n", 400, BAD_TARGET},
    {"GET /%zz HTTP/1.1\r\nHost: a\r\n\r\n", 400, BAD_TARGET},
    {"GET /%4 HTTP/1.1\r\nHost: a\r\n\r\n", 400, BAD_TARGET},
    {"GET /% HTTP/1.1\r\nHost: a\r\n\r\n", 400, BAD_TARGET},
    {"GET a HTTP/1.1\r\nHost: a\r\n\r\n", 400, NO_TARGET},
    {"GET * HTTP/1.1\r\nHost: a\r\n\r\n", 400, NO_TARGET},
    {"GET ?a HTTP/1.1\r\nHost: a\r\n\r\n", 400, NO_TARGET},
    {"GET ftp://a/ HTTP/1.1\r\nHost: a\r\n\r\n", 400, NO_TARGET},
    {"GET http:///x HTTP/1.1\r\nHost: a\r\n\r\n", 400, "the host in the request target is malformed"},
    {"GET http://u@a/x HTTP/1.1\r\nHost: a\r\n\r\n", 400, "the host in the request target is malformed"},
    {"CONNECT a:443 HTTP/1.1\r\nHost: a\r\n\r\n", 501, "this server is no proxy"},
    /* field lines */
    {HOST "X : a\r\n\r\n", 400, BAD_NAME},
    {HOST "X\t: a\r\n\r\n", 400, BAD_NAME},
    {HOST " X: a\r\n\r\n", 400, BAD_NAME},
    {HOST "X: a\r\n folded: b\r\n\r\n", 400, BAD_NAME},
    {HOST "X: a\r\n folded\r\n\r\n", 400, "a header line has no colon"},
    {HOST "X: a\r\n\tfolded\r\n\r\n", 400, "a header line has no colon"},
    {LINE " Host: a\r\n\r\n", 400, BAD_NAME},
    {HOST "X\r\n\r\n", 400, "a header line has no colon"},
    {HOST ": a\r\n\r\n", 400, BAD_NAME},
    {HOST "X\xC3: a\r\n\r\n", 400, BAD_NAME},
    {HOST "X(: a\r\n\r\n", 400, BAD_NAME},
    {HOST "X: a\x01\r\n\r\n", 400, BAD_VALUE},
    {HOST "X: \x7f\r\n\r\n", 400, BAD_VALUE},
    {HOST "X: a\x1b[0m\r\n\r\n", 400, BAD_VALUE},
    /* Host */
    {LINE "\r\n", 400, "Host is missing"},
    {HOST "Host: a\r\n\r\n", 400, "Host is given twice"},
    {HOST "hOsT: b\r\n\r\n", 400, "Host is given twice"},
    {LINE "Host: a b\r\n\r\n", 400, "Host is malformed"},
    {LINE "Host: a, b\r\n\r\n", 400, "Host is malformed"},
    {LINE "Host: a/b\r\n\r\n", 400, "Host is malformed"},
    {LINE "Host: u@a\r\n\r\n", 400, "Host is malformed"},
    {LINE "Host: a:x\r\n\r\n", 400, "Host is malformed"},
    {LINE "Host: a:1234567\r\n\r\n", 400, "Host is malformed"},
    {LINE "Host: :80\r\n\r\n", 400, "Host is malformed"},
    {LINE "Host: [::1\r\n\r\n", 400, "Host is malformed"},
    {LINE "Host: []\r\n\r\n", 400, "Host is malformed"},
    {LINE "Host: [::1]x\r\n\r\n", 400, "Host is malformed"},
    /* Content-Length */
    {POST "Content-Length: 1\r\nContent-Length: 1\r\n\r\n", 400, "Content-Length is given twice"},
    {POST "Content-Length: 1\r\ncontent-length: 2\r\n\r\n", 400, "Content-Length is given twice"},
    {POST "Content-Length: 1, 1\r\n\r\n", 400, BAD_LENGTH},
    {POST "Content-Length: +1\r\n\r\n", 400, BAD_LENGTH},
    {POST "Content-Length: -1\r\n\r\n", 400, BAD_LENGTH},
    {POST "Content-Length: 0x1\r\n\r\n", 400, BAD_LENGTH},
    {POST "Content-Length: 1 1\r\n\r\n", 400, BAD_LENGTH},
    {POST "Content-Length: 1.0\r\n\r\n", 400, BAD_LENGTH},
    {POST "Content-Length:\r\n\r\n", 400, BAD_LENGTH},
    {POST "Content-Length: 9223372036854775808\r\n\r\n", 400, BAD_LENGTH},
    {POST "Content-Length: 18446744073709551617\r\n\r\n", 400, BAD_LENGTH},
    /* Transfer-Encoding */
    {POST "Transfer-Encoding: chunked\r\nContent-Length: 1\r\n\r\n", 400,
     "Transfer-Encoding and Content-Length are both given"},
    {POST "Content-Length: 1\r\nTransfer-Encoding: chunked\r\n\r\n", 400,
     "Transfer-Encoding and Content-Length are both given"},
    {POST "Content-Length: 1\r\nTransfer-Encoding: x\r\n\r\n", 400,
     "Transfer-Encoding and Content-Length are both given"},
    {POST "Transfer-Encoding: chunked, chunked\r\n\r\n", 400, "a transfer coding follows chunked"},
    {POST "Transfer-Encoding: chunked\r\nTransfer-Encoding: chunked\r\n\r\n", 400, "a transfer coding follows chunked"},
    {POST "Transfer-Encoding: chunked\r\nTransfer-Encoding: identity\r\n\r\n", 400,
     "a transfer coding follows chunked"},
    {POST "Transfer-Encoding: gzip, chunked\r\n\r\n", 501, "only the transfer coding chunked is known"},
    {POST "Transfer-Encoding: identity\r\n\r\n", 501, "only the transfer coding chunked is known"},
    {POST "Transfer-Encoding: xchunked\r\n\r\n", 501, "only the transfer coding chunked is known"},
    {POST "Transfer-Encoding: \"chunked\"\r\n\r\n", 501, "only the transfer coding chunked is known"},
    {POST "Transfer-Encoding:\r\n\r\n", 400, "Transfer-Encoding is empty"},
    {POST "Transfer-Encoding: \x0b"
          "chunked\r\n\r\n",
     400, BAD_VALUE},
    {"POST / HTTP/1.0\r\nTransfer-Encoding: chunked\r\n\r\n", 400, "Transfer-Encoding is given in HTTP/1.0"},
    /* Expect */
    {POST "Expect: 200-ok\r\n\r\n", 417, "only Expect: 100-continue is known"},
};

static void test_bad_requests(void **state)
{
    (void)state;
    for (size_t i = 0; i < sizeof BAD / sizeof BAD[0]; i++) {
        size_t len = strlen(BAD[i].head);
        struct http_request request;
        struct http_refusal refusal = {0};
        char *copy;
        if (parse(BAD[i].head, len, &request, &refusal, &copy) || refusal.status != BAD[i].status ||
            strcmp(refusal.sentence, BAD[i].sentence) != 0)
            fail_msg("%s gave %d %s", BAD[i].head, refusal.status, refusal.sentence ? refusal.sentence : "");
        assert_int_equal(http_request_head_length(copy, len, 0), strncmp(copy, "\r\n", 2) == 0 ? 4 : len);
        free(copy);
    }
}

static void test_nul_bytes(void **state)
{
    (void)state;
    static const struct {
        const char *head;
        size_t len;
    } cases[] = {
#define BYTES(text) {text, sizeof(text) - 1}
        BYTES("G\0T / HTTP/1.1\r\nHost: a\r\n\r\n"),
        BYTES("GET /\0 HTTP/1.1\r\nHost: a\r\n\r\n"),
        BYTES("GET / HTTP/1.1\0\r\nHost: a\r\n\r\n"),
        BYTES(HOST "X\0: a\r\n\r\n"),
        BYTES(HOST "X: \0\r\n\r\n"),
        BYTES(HOST "X: a\0b\r\n\r\n"),
        BYTES(LINE "Host: a\0\r\n\r\n"),
        BYTES(POST "Content-Length: 1\0\r\n\r\n"),
        BYTES(POST "Transfer-Encoding: chunked\0\r\n\r\n"),
#undef BYTES
    };
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        struct http_request request;
        struct http_refusal refusal;
        char *copy;
        assert_false(parse(cases[i].head, cases[i].len, &request, &refusal, &copy));
        assert_int_equal(refusal.status, 400);
        free(copy);
    }
}

static void test_good_request(void **state)
{
    (void)state;
    static const char head[] = "POST /v1/chat%2fx?a=1&b=%41+c HTTP/1.1\r\nhost: [::1]:8080\r\nContent-Length:  12\t\r\n"
                               "Expect: 100-Continue\r\nX-Empty:\r\nX-Text: caf\xC3\xA9, \"q\"\ty\r\nX-Text: 2\r\n\r\n";
    struct http_request request;
    struct http_refusal refusal;
    char *copy;
    assert_true(parse(head, sizeof head - 1, &request, &refusal, &copy));
    assert_int_equal(request.method, HTTP_POST);
    assert_text(request.method_name, "POST");
    assert_text(request.target, "/v1/chat%2fx?a=1&b=%41+c");
    assert_text(request.path, "/v1/chat%2fx");
    assert_text(request.query, "a=1&b=%41+c");
    assert_text(request.host, "[::1]:8080");
    assert_int_equal(request.minor, 1);
    assert_true(request.keep_alive);
    assert_false(request.chunked);
    assert_true(request.expects_continue);
    assert_int_equal(request.content_length, 12);
    assert_int_equal(request.field_count, 6);
    assert_text(http_request_field(&request, "x-text"), "caf\xC3\xA9, \"q\"\ty");
    assert_non_null(http_request_field(&request, "x-empty").at);
    assert_null(http_request_field(&request, "x-absent").at);
    char value[8];
    assert_int_equal(http_query_get(&request, "b", value, sizeof value), AS_OK);
    assert_string_equal(value, "A c");
    assert_int_equal(http_query_get(&request, "c", value, sizeof value), AS_E_NOTFOUND);
    assert_int_equal(http_query_get(&request, "b", value, 3), AS_E_LIMIT);
    free(copy);
}

struct good_case {
    const char *head;
    enum http_method method;
    const char *path, *host;
    bool keep_alive, chunked;
    int64_t content_length;
};

static const struct good_case GOOD[] = {
    {HOST "\r\n", HTTP_GET, "/", "a", true, false, -1},
    {LINE "Host:\r\n\r\n", HTTP_GET, "/", "", true, false, -1},
    {HOST "Connection: close\r\n\r\n", HTTP_GET, "/", "a", false, false, -1},
    {HOST "Connection: x ,Close\r\n\r\n", HTTP_GET, "/", "a", false, false, -1},
    {"HEAD / HTTP/1.0\r\n\r\n", HTTP_HEAD_METHOD, "/", "", false, false, -1},
    {"GET / HTTP/1.0\r\nConnection: keep-alive\r\n\r\n", HTTP_GET, "/", "", true, false, -1},
    {"GET / HTTP/1.7\r\nHost: a\r\n\r\n", HTTP_GET, "/", "a", true, false, -1},
    {"PUT /x HTTP/1.1\r\nHost: a:80\r\nTransfer-Encoding: Chunked\r\n\r\n", HTTP_PUT, "/x", "a:80", true, true, -1},
    {"DELETE /x HTTP/1.1\r\nHost: a\r\nContent-Length: 0\r\n\r\n", HTTP_DELETE, "/x", "a", true, false, 0},
    {"OPTIONS * HTTP/1.1\r\nHost: a\r\n\r\n", HTTP_OPTIONS, "*", "a", true, false, -1},
    {"PATCH //x HTTP/1.1\r\nHost: a\r\n\r\n", HTTP_PATCH, "//x", "a", true, false, -1},
    {"BREW /pot HTTP/1.1\r\nHost: a\r\n\r\n", HTTP_OTHER_METHOD, "/pot", "a", true, false, -1},
    {"get / HTTP/1.1\r\nHost: a\r\n\r\n", HTTP_OTHER_METHOD, "/", "a", true, false, -1},
    {"GET http://b:1/x?y HTTP/1.1\r\nHost: a\r\n\r\n", HTTP_GET, "/x", "b:1", true, false, -1},
    {"GET HTTPS://b?y HTTP/1.1\r\nHost: a\r\n\r\n", HTTP_GET, "/", "b", true, false, -1},
    {"GET /a-._~!$&'()*+,;=:@%7E/? HTTP/1.1\r\nHost: a\r\n\r\n", HTTP_GET, "/a-._~!$&'()*+,;=:@%7E/", "a", true, false,
     -1},
};

static void test_good_requests(void **state)
{
    (void)state;
    for (size_t i = 0; i < sizeof GOOD / sizeof GOOD[0]; i++) {
        struct http_request request;
        struct http_refusal refusal = {0, "none"};
        char *copy;
        if (!parse(GOOD[i].head, strlen(GOOD[i].head), &request, &refusal, &copy))
            fail_msg("%s was refused: %d %s", GOOD[i].head, refusal.status, refusal.sentence);
        assert_int_equal(request.method, GOOD[i].method);
        assert_text(request.path, GOOD[i].path);
        assert_text(request.host, GOOD[i].host);
        assert_int_equal(request.keep_alive, GOOD[i].keep_alive);
        assert_int_equal(request.chunked, GOOD[i].chunked);
        assert_int_equal(request.content_length, GOOD[i].content_length);
        assert_false(request.expects_continue);
        free(copy);
    }
}

static void test_field_count(void **state)
{
    (void)state;
    for (size_t over = 0; over < 2; over++) {
        char head[4096] = HOST;
        for (size_t i = 1; i < HTTP_REQUEST_FIELDS_MAX + over; i++)
            memcpy(head + strlen(head), "X: y\r\n", 7);
        memcpy(head + strlen(head), "\r\n", 3);
        struct http_request request;
        struct http_refusal refusal = {0};
        char *copy;
        assert_int_equal(parse(head, strlen(head), &request, &refusal, &copy), !over);
        assert_int_equal(refusal.status, over ? 431 : 0);
        free(copy);
    }
}

/* Found at the same place from every earlier point, and never before it is complete. */
static void test_head_length(void **state)
{
    (void)state;
    static const char *const heads[] = {HOST "\r\n", "GET / HTTP/1.1\n\n", "GET / HTTP/1.1\n\r\n", "\r\n\r\n"};
    for (size_t i = 0; i < sizeof heads / sizeof heads[0]; i++) {
        char text[128];
        size_t len = strlen(heads[i]);
        snprintf(text, sizeof text, "%sbody\r\n\r\n", heads[i]);
        for (size_t fed = 0; fed < len; fed++) {
            char *copy = malloc(fed + 1);
            assert_non_null(copy);
            memcpy(copy, text, fed);
            char *exact = realloc(copy, fed ? fed : 1);
            assert_non_null(exact);
            assert_int_equal(http_request_head_length(exact, fed, fed ? fed - 1 : 0), 0);
            assert_int_equal(http_request_head_length(text, strlen(text), fed), len);
            free(exact);
        }
    }
}

static void test_percent_decode(void **state)
{
    (void)state;
    static const struct {
        const char *text, *decoded;
        bool is_query;
        as_status status;
    } cases[] = {
        {"", "", false, AS_OK},
        {"a%20b+c", "a b+c", false, AS_OK},
        {"a%20b+c", "a b c", true, AS_OK},
        {"%e2%82%AC", "\xE2\x82\xAC", false, AS_OK},
        {"%00", NULL, false, AS_E_INVALID},
        {"%4", NULL, false, AS_E_INVALID},
        {"%", NULL, false, AS_E_INVALID},
        {"%g0", NULL, false, AS_E_INVALID},
        {"123456789", NULL, false, AS_E_LIMIT},
        {"%2e%2E/", "../", false, AS_OK},
    };
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        char out[9] = "before";
        struct http_text text = {cases[i].text, strlen(cases[i].text)};
        assert_int_equal(http_percent_decode(text, cases[i].is_query, out, sizeof out), cases[i].status);
        assert_string_equal(out, cases[i].decoded ? cases[i].decoded : "before");
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_bad_requests),   cmocka_unit_test(test_nul_bytes),   cmocka_unit_test(test_good_request),
        cmocka_unit_test(test_good_requests),  cmocka_unit_test(test_field_count), cmocka_unit_test(test_head_length),
        cmocka_unit_test(test_percent_decode),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
