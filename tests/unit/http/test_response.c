/* SPDX-License-Identifier: Apache-2.0 */
#include "http/response.h"

#include "splits.h"

#include <stdio.h>

/* Reports "[status body]" per response, "k" after it when the connection may be kept, "BAD: why" and what was unread.
 */
struct run {
    struct http_response parser;
    bool in_body, is_over;
};

static bool head_request;

static void *begin(void)
{
    struct run *run = calloc(1, sizeof *run);
    assert_non_null(run);
    http_response_init(&run->parser);
    run->parser.head_request = head_request;
    return run;
}

static void put_result(struct run *run, enum http_result result, const char *span, size_t len, struct strbuf *out)
{
    if (result == HTTP_HEAD) {
        strbuf_addf(out, "[%d ", run->parser.head.status);
    } else if (result == HTTP_SPAN) {
        assert_true(len > 0);
        strbuf_add(out, span, len);
    } else if (result == HTTP_BAD) {
        strbuf_addf(out, "BAD: %s", run->parser.error);
        run->is_over = true;
    } else if (result == HTTP_END) {
        assert_true(http_response_is_between(&run->parser));
        assert_null(run->parser.kept);
        strbuf_addf(out, "]%s", run->parser.head.keep_alive ? "k" : "");
        http_response_init(&run->parser);
        run->parser.head_request = head_request;
    }
}

static void feed(void *state, const char *at, size_t len, struct strbuf *out)
{
    struct run *run = state;
    const char *end = at + len;
    const char *span = NULL;
    size_t span_len = 0;
    while (!run->is_over) {
        const char *before = at;
        enum http_result result = http_response_next(&run->parser, &at, end, &span, &span_len);
        assert_true(at >= before && at <= end);
        if (result == HTTP_SPAN)
            assert_true(span >= before && span + span_len <= at);
        if (result == HTTP_MORE) {
            assert_ptr_equal(at, end);
            return;
        }
        put_result(run, result, span, span_len, out);
    }
}

static void finish(void *state, struct strbuf *out)
{
    struct run *run = state;
    if (!run->is_over && !http_response_is_untouched(&run->parser))
        put_result(run, http_response_eof(&run->parser), NULL, 0, out);
    http_response_done(&run->parser);
    free(run);
}

static const struct subject RESPONSE = {begin, feed, finish};

struct wire {
    const char *input, *expected;
};

#define OK       "HTTP/1.1 200 OK\r\n"
#define TE       "Transfer-Encoding: chunked\r\n"
#define CHUNKED  OK TE "\r\n"
#define NOT_HTTP "BAD: the answer does not begin with an HTTP/1 status line"

static const struct wire CASES[] = {
    {"", ""},
    /* Content-Length */
    {OK "Content-Length: 5\r\n\r\nhello", "[200 hello]k"},
    {OK "Content-Length: 0\r\n\r\n", "[200 ]k"},
    {OK "content-LENGTH:3 \t\r\n\r\nabc", "[200 abc]k"},
    {OK "Content-Length: 2\r\n\r\nab" OK "Content-Length: 1\r\n\r\nc", "[200 ab]k[200 c]k"},
    {OK "Content-Length: 5\r\nContent-Length: 5\r\n\r\nhello", "[200 hello]k"},
    {OK "Content-Length: 5, 5\r\n\r\nhello", "[200 hello]k"},
    {OK "Content-Length: 5\r\nContent-Length: 6\r\n\r\nhello",
     "BAD: Content-Length is given twice with different values"},
    {OK "Content-Length: 5, 6\r\n\r\nhello", "BAD: Content-Length is given twice with different values"},
    {OK "Content-Length: +5\r\n\r\nhello", "BAD: Content-Length is no decimal number within 63 bits"},
    {OK "Content-Length: -5\r\n\r\nhello", "BAD: Content-Length is no decimal number within 63 bits"},
    {OK "Content-Length: 0x5\r\n\r\nhello", "BAD: Content-Length is no decimal number within 63 bits"},
    {OK "Content-Length: 9223372036854775808\r\n\r\n", "BAD: Content-Length is no decimal number within 63 bits"},
    {OK "Content-Length:\r\n\r\n", "BAD: Content-Length is empty"},
    {OK "Content-Length: 9223372036854775807\r\n\r\nab",
     "[200 abBAD: the connection was closed before Content-Length bytes had come"},
    {OK "Content-Length: 5\r\n\r\nhell",
     "[200 hellBAD: the connection was closed before Content-Length bytes had come"},
    /* close-delimited, HTTP/1.0, Connection */
    {OK "\r\nto the end", "[200 to the end]"},
    {"HTTP/1.0 200 OK\r\n\r\n", "[200 ]"},
    {"HTTP/1.0 200 OK\r\nContent-Length: 2\r\n\r\nab", "[200 ab]"},
    {"HTTP/1.0 200 OK\r\nContent-Length: 2\r\nConnection: Keep-Alive\r\n\r\nab", "[200 ab]k"},
    {"HTTP/1.0 200 OK\r\nTransfer-Encoding: chunked\r\nConnection: keep-alive\r\n\r\n0\r\n\r\n", "[200 ]"},
    {OK "Content-Length: 2\r\nConnection: close\r\n\r\nab", "[200 ab]"},
    {OK "Content-Length: 2\r\nConnection: x, CLOSE ,y\r\n\r\nab", "[200 ab]"},
    {OK "Content-Length: 2\r\nConnection: closed\r\n\r\nab", "[200 ab]k"},
    {"HTTP/1.7 200 OK\r\nContent-Length: 0\r\n\r\n", "[200 ]k"},
    /* chunked */
    {CHUNKED "5\r\nhello\r\n0\r\n\r\n", "[200 hello]k"},
    {CHUNKED "1\r\na\r\n0002\r\nbc\r\nA\r\n0123456789\r\n0\r\n\r\n", "[200 abc0123456789]k"},
    {CHUNKED "a\r\n0123456789\r\n000\r\n\r\n", "[200 0123456789]k"},
    {CHUNKED "2\r\n\r\n\r\n0\r\n\r\n", "[200 \r\n]k"},
    {CHUNKED "0000000000000000000000000000001\r\na\r\n0\r\n\r\n", "[200 a]k"},
    {CHUNKED "1;a\r\na\r\n1 ;b=\"c;\\d\"\r\nb\r\n1\t\r\nc\r\n0;end\r\n\r\n", "[200 abc]k"},
    {CHUNKED "0\r\nTrailer: x\r\nOther:\r\n\r\n" OK "Content-Length: 0\r\n\r\n", "[200 ]k[200 ]k"},
    {CHUNKED "0\r\nTrailer: x\n folded\r\n\n", "[200 ]k"},
    {CHUNKED "0\r\n no name\r\n\r\n", "[200 BAD: a trailer line is malformed"},
    {CHUNKED "0\r\nno colon\r\n\r\n", "[200 BAD: a trailer line is malformed"},
    {CHUNKED "0\r\na: b\rc\r\n\r\n", "[200 BAD: a trailer line is malformed"},
    {CHUNKED "0\r\n\rx", "[200 BAD: a trailer line is malformed"},
    {OK "Transfer-Encoding:\tChunked\r\n\r\n1\r\na\r\n0\r\n\r\n", "[200 a]k"},
    {CHUNKED "FFFFFFFFFFFFFFFFFF\r\nx", "[200 BAD: a chunk size is too large"},
    {CHUNKED "1000000000000000\r\nx", "[200 BAD: a chunk size is too large"},
    {CHUNKED "0fffffffffffffff\r\nx", "[200 xBAD: the connection was closed inside a chunk"},
    {CHUNKED "\r\n", "[200 BAD: a chunk size is malformed"},
    {CHUNKED ";x\r\n", "[200 BAD: a chunk size is malformed"},
    {CHUNKED " 1\r\na\r\n", "[200 BAD: a chunk size is malformed"},
    {CHUNKED "-1\r\na\r\n", "[200 BAD: a chunk size is malformed"},
    {CHUNKED "0x1\r\na\r\n", "[200 BAD: a chunk size is malformed"},
    {CHUNKED "1 1\r\na\r\n", "[200 BAD: a chunk size is malformed"},
    {CHUNKED "1\na\r\n", "[200 BAD: a chunk size is malformed"},
    {CHUNKED "1\r\rna\r\n", "[200 BAD: a chunk size is malformed"},
    {CHUNKED "1;\x01\r\na\r\n", "[200 BAD: a chunk size is malformed"},
    {CHUNKED "1\r\nab\r\n", "[200 aBAD: a chunk is not followed by CR LF"},
    {CHUNKED "1\r\na\n1\r\n", "[200 aBAD: a chunk is not followed by CR LF"},
    {CHUNKED "1\r\na\r1\r\n", "[200 aBAD: a chunk is not followed by CR LF"},
    {CHUNKED "5\r\nhel", "[200 helBAD: the connection was closed inside a chunk"},
    {CHUNKED "5\r\nhello\r\n", "[200 helloBAD: the connection was closed before the last chunk"},
    {CHUNKED "5\r\nhello\r\n0\r\n", "[200 helloBAD: the connection was closed before the end of the trailers"},
    /* other codings, and both framings */
    {OK TE "Content-Length: 9\r\n\r\n1\r\na\r\n0\r\n\r\n", "[200 a]"},
    {OK "Content-Length: 9\r\n" TE "\r\n1\r\na\r\n0\r\n\r\n", "[200 a]"},
    {OK "Transfer-Encoding: gzip, chunked\r\n\r\n", "BAD: the transfer coding is not supported"},
    {OK "Transfer-Encoding: gzip\r\n\r\n", "BAD: the transfer coding is not supported"},
    {OK TE TE "\r\n0\r\n\r\n", "BAD: the transfer coding is not supported"},
    {OK "Transfer-Encoding: chunked, identity\r\n\r\n", "BAD: the transfer coding is not supported"},
    {OK "Transfer-Encoding: identity\r\nContent-Length: 1\r\n\r\nab", "[200 ab]"},
    /* answers without a body */
    {"HTTP/1.1 204 No Content\r\n\r\n" OK "Content-Length: 1\r\n\r\na", "[204 ]k[200 a]k"},
    {"HTTP/1.1 304 Not Modified\r\nContent-Length: 10\r\n\r\n", "[304 ]k"},
    {"HTTP/1.1 204 No Content\r\n" TE "\r\n", "[204 ]"},
    {"HTTP/1.1 204 No Content\r\nContent-Length: 3\r\n\r\n", "[204 ]"},
    /* interim answers */
    {"HTTP/1.1 100 Continue\r\n\r\n" OK "Content-Length: 1\r\n\r\na", "[200 a]k"},
    {"HTTP/1.1 102 \r\nX: y\r\n\r\nHTTP/1.1 103 Early\r\nLink: z\r\n\r\nHTTP/1.1 500\r\nContent-Length: 0\r\n\r\n",
     "[500 ]k"},
    {"HTTP/1.1 100 Continue\r\nContent-Length: 5\r\nConnection: close\r\n\r\n" OK "Content-Length: 1\r\n\r\na",
     "[200 a]k"},
    {"HTTP/1.1 101 Switching\r\n\r\n", "BAD: the server switched protocols without being asked"},
    {"HTTP/1.1 100 Continue\r\n\r\n", "BAD: the connection was closed inside the response head"},
    /* lenient heads */
    {"HTTP/1.1 200 OK\nContent-Type: application/json\nContent-Length: 2\nContent-Length: 2\n\n{}", "[200 {}]k"},
    {"HTTP/1.1 200\r\nContent-Length: 0\r\n\r\n", "[200 ]k"},
    {"HTTP/1.1 200 \r\nContent-Length: 0\n\r\n", "[200 ]k"},
    {"HTTP/1.1 200 caf\xE9 \x01\r\nContent-Length: 0\r\n\n", "[200 ]k"},
    {OK "X:\r\n folded\r\n\tmore\r\nContent-Length:\r\n 2\r\n\r\nab", "[200 ab]k"},
    {"HTTP/1.1 200 OK\nTransfer-Encoding:\n chunked\n\n1\r\na\r\n0\r\n\r\n", "[200 a]k"},
    /* not HTTP */
    {"SSH-2.0-ExampleServer_1.0\r\n", NOT_HTTP},
    {"\r\nHTTP/1.1 200 OK\r\n\r\n", NOT_HTTP},
    {"http/1.1 200 OK\r\n\r\n", NOT_HTTP},
    {"HTTP/2.0 200 OK\r\n\r\n", NOT_HTTP},
    {"HTTP/1.11 200 OK\r\n\r\n", NOT_HTTP},
    {"HTTP/1.1  200 OK\r\n\r\n", "BAD: the status in the status line is no number"},
    {"HTTP/1.1 20x OK\r\n\r\n", "BAD: the status in the status line is no number"},
    {"HTTP/1.1 2000 OK\r\n\r\n", "BAD: the status in the status line is not of three digits from 100 on"},
    {"HTTP/1.1 099 OK\r\n\r\n", "BAD: the status in the status line is not of three digits from 100 on"},
    {"HTTP/1.1 20\r\n\r\n", NOT_HTTP},
    {"HTTP/1.1 200 O\rK\r\n\r\n", "BAD: the status line holds a NUL or a bare CR"},
    {"HTT", "BAD: the connection was closed inside the response head"},
    {"\x15\x03\x01", NOT_HTTP},
    /* malformed field lines */
    {OK "no colon\r\n\r\n", "BAD: a header line has no colon"},
    {OK "Content-Length : 2\r\n\r\nab", "BAD: a header name is empty or holds white space or other forbidden bytes"},
    {OK ": x\r\n\r\n", "BAD: a header name is empty or holds white space or other forbidden bytes"},
    {OK "a\x80: x\r\n\r\n", "BAD: a header name is empty or holds white space or other forbidden bytes"},
    {OK "a: x\ry\r\n\r\n", "BAD: a header value holds a NUL or a bare CR"},
    {OK "a: x\r\r\n\r\n", "BAD: a header value holds a NUL or a bare CR"},
};

static void test_cases(void **state)
{
    (void)state;
    for (size_t i = 0; i < sizeof CASES / sizeof CASES[0]; i++)
        splits_expect(&RESPONSE, CASES[i].input, strlen(CASES[i].input), CASES[i].expected);
}

static void test_head_request(void **state)
{
    (void)state;
    static const char input[] = OK "Content-Length: 9\r\n\r\n" CHUNKED OK "Content-Length: 1\r\n\r\n";
    head_request = true;
    splits_expect(&RESPONSE, input, sizeof input - 1, "[200 ]k[200 ]k[200 ]k");
    head_request = false;
}

static void test_nul_bytes(void **state)
{
    (void)state;
    static const char in_value[] = OK "a: \0\r\n\r\n";
    splits_expect(&RESPONSE, in_value, sizeof in_value - 1, "BAD: a header value holds a NUL or a bare CR");
    static const char in_name[] = OK "a\0: \r\n\r\n";
    splits_expect(&RESPONSE, in_name, sizeof in_name - 1,
                  "BAD: a header name is empty or holds white space or other forbidden bytes");
    static const char in_phrase[] = "HTTP/1.1 200 O\0K\r\n\r\n";
    splits_expect(&RESPONSE, in_phrase, sizeof in_phrase - 1, "BAD: the status line holds a NUL or a bare CR");
    static const char in_trailer[] = CHUNKED "0\r\na: \0\r\n\r\n";
    splits_expect(&RESPONSE, in_trailer, sizeof in_trailer - 1, "[200 BAD: a trailer line is malformed");
}

/* Reads `input` whole up to its head. */
static enum http_result read_head(const char *input, size_t len, struct http_response *parser)
{
    const char *span;
    size_t span_len;
    http_response_init(parser);
    return http_response_next(parser, &input, input + len, &span, &span_len);
}

struct head_case {
    const char *lines;
    enum http_media media;
    enum http_coding coding;
    double retry_after_s;
    const char *location;
};

static const struct head_case HEADS[] = {
    {"", HTTP_MEDIA_OTHER, HTTP_CODING_IDENTITY, -1, ""},
    {"cOnTeNt-TyPe:TEXT/Event-Stream;charset=x\r\n", HTTP_MEDIA_EVENT_STREAM, HTTP_CODING_IDENTITY, -1, ""},
    {"Content-Type: application/json\r\n", HTTP_MEDIA_JSON, HTTP_CODING_IDENTITY, -1, ""},
    {"Content-Type: application/problem+json ; x=y\r\n", HTTP_MEDIA_JSON, HTTP_CODING_IDENTITY, -1, ""},
    {"Content-Type: text/html\r\n", HTTP_MEDIA_HTML, HTTP_CODING_IDENTITY, -1, ""},
    {"Content-Type: text/plain\r\n", HTTP_MEDIA_TEXT, HTTP_CODING_IDENTITY, -1, ""},
    {"Content-Type: application/octet-stream\r\n", HTTP_MEDIA_OTHER, HTTP_CODING_IDENTITY, -1, ""},
    {"Content-Encoding: GZIP\r\n", HTTP_MEDIA_OTHER, HTTP_CODING_GZIP, -1, ""},
    {"Content-Encoding: identity\r\n", HTTP_MEDIA_OTHER, HTTP_CODING_IDENTITY, -1, ""},
    {"Content-Encoding: br\r\n", HTTP_MEDIA_OTHER, HTTP_CODING_OTHER, -1, ""},
    {"Retry-After: 2\r\n", HTTP_MEDIA_OTHER, HTTP_CODING_IDENTITY, 2, ""},
    {"Retry-After: 1.5\r\n", HTTP_MEDIA_OTHER, HTTP_CODING_IDENTITY, -1, ""},
    {"Retry-After: Sun, 06 Nov 1994 08:49:37 GMT\r\n", HTTP_MEDIA_OTHER, HTTP_CODING_IDENTITY, 0, ""},
    {"Location: /v1/x?y\r\n", HTTP_MEDIA_OTHER, HTTP_CODING_IDENTITY, -1, "/v1/x?y"},
};

static void test_head_fields(void **state)
{
    (void)state;
    for (size_t i = 0; i < sizeof HEADS / sizeof HEADS[0]; i++) {
        struct http_response parser;
        char input[256];
        snprintf(input, sizeof input, "HTTP/1.1 307 X\r\n%s\r\n", HEADS[i].lines);
        assert_int_equal(read_head(input, strlen(input), &parser), HTTP_HEAD);
        assert_int_equal(parser.head.media, HEADS[i].media);
        assert_int_equal(parser.head.coding, HEADS[i].coding);
        assert_float_equal(parser.head.retry_after_s, HEADS[i].retry_after_s, 0);
        assert_string_equal(parser.head.location, HEADS[i].location);
        assert_int_equal(parser.head.status, 307);
        assert_int_equal(parser.head.content_length, -1);
    }
}

static void test_long_location_is_cut(void **state)
{
    (void)state;
    char input[2048];
    struct http_response parser;
    int len = snprintf(input, sizeof input, "HTTP/1.1 301 X\r\nLocation: %01000d\r\n\r\n", 7);
    assert_int_equal(read_head(input, (size_t)len, &parser), HTTP_HEAD);
    assert_int_equal(strlen(parser.head.location), sizeof parser.head.location - 1);
}

/* A response whose head is `len` bytes, in a buffer that the caller frees. */
static char *big_head(size_t len)
{
    static const char start[] = "HTTP/1.1 200 OK\r\nX: ", stop[] = "\r\nContent-Length: 0\r\n\r\n";
    char *text = malloc(len);
    assert_non_null(text);
    memset(text, 'v', len);
    memcpy(text, start, sizeof start - 1);
    memcpy(text + len - (sizeof stop - 1), stop, sizeof stop - 1);
    return text;
}

static enum http_result feed_in_pieces(const char *text, size_t len, size_t piece)
{
    struct http_response parser;
    enum http_result result = HTTP_MORE;
    const char *span;
    size_t span_len;
    http_response_init(&parser);
    for (size_t from = 0; from < len && result == HTTP_MORE; from += piece) {
        const char *at = text + from;
        result = http_response_next(&parser, &at, text + (from + piece < len ? from + piece : len), &span, &span_len);
    }
    http_response_done(&parser);
    return result;
}

static void test_limits(void **state)
{
    (void)state;
    for (size_t over = 0; over < 2; over++) {
        size_t len = HTTP_RESPONSE_HEAD_MAX + over;
        char *text = big_head(len);
        for (size_t piece = 97; piece < len * 8; piece *= 8)
            assert_int_equal(feed_in_pieces(text, len, piece), over ? HTTP_BAD : HTTP_HEAD);
        free(text);
    }
    static char text[HTTP_TRAILER_MAX + 200] = CHUNKED "0\r\nT: ";
    size_t head = strlen(text);
    memset(text + head, 't', sizeof text - head);
    struct http_response parser;
    const char *at = text, *span;
    size_t span_len;
    http_response_init(&parser);
    assert_int_equal(http_response_next(&parser, &at, text + sizeof text, &span, &span_len), HTTP_HEAD);
    assert_int_equal(http_response_next(&parser, &at, text + sizeof text, &span, &span_len), HTTP_BAD);
    assert_string_equal(parser.error, "the trailers pass 16 KiB");
    memcpy(text, CHUNKED "1;", sizeof CHUNKED "1;" - 1);
    memset(text + sizeof CHUNKED "1;" - 1, 'e', 64);
    at = text;
    http_response_init(&parser);
    assert_int_equal(http_response_next(&parser, &at, text + sizeof text, &span, &span_len), HTTP_HEAD);
    assert_int_equal(http_response_next(&parser, &at, text + sizeof text, &span, &span_len), HTTP_BAD);
    assert_string_equal(parser.error, "a chunk size is malformed");
}

/* An endless row of interim answers comes to an end. */
static void test_interim_answers_are_limited(void **state)
{
    (void)state;
    static const char interim[] = "HTTP/1.1 102 \r\n\r\n";
    struct http_response parser;
    enum http_result result = HTTP_MORE;
    http_response_init(&parser);
    size_t count = 0;
    for (; result == HTTP_MORE && count < 10000; count++) {
        const char *at = interim, *span;
        size_t span_len;
        result = http_response_next(&parser, &at, interim + sizeof interim - 1, &span, &span_len);
    }
    assert_int_equal(result, HTTP_BAD);
    assert_in_range(count, HTTP_RESPONSE_HEAD_MAX / sizeof interim, HTTP_RESPONSE_HEAD_MAX / 16);
    http_response_done(&parser);
}

static void test_untouched_and_between(void **state)
{
    (void)state;
    static const char input[] = CHUNKED "3\r\nabc\r\n3\r\nab";
    struct http_response parser;
    const char *at = input, *span;
    size_t span_len;
    http_response_init(&parser);
    assert_true(http_response_is_untouched(&parser));
    assert_true(http_response_is_between(&parser));
    assert_int_equal(http_response_next(&parser, &at, input + 1, &span, &span_len), HTTP_MORE);
    assert_false(http_response_is_untouched(&parser));
    assert_false(http_response_is_between(&parser));
    assert_int_equal(http_response_next(&parser, &at, input + sizeof input - 1, &span, &span_len), HTTP_HEAD);
    assert_null(parser.kept);
    assert_true(http_response_is_between(&parser));
    assert_int_equal(http_response_next(&parser, &at, input + sizeof input - 1, &span, &span_len), HTTP_SPAN);
    assert_true(http_response_is_between(&parser));
    assert_int_equal(http_response_next(&parser, &at, input + sizeof input - 1, &span, &span_len), HTTP_SPAN);
    assert_false(http_response_is_between(&parser));
    assert_int_equal(parser.body_bytes, 5);
    http_response_done(&parser);
}

/* A chunk and the line end behind it that came in one read are one call. */
static void test_spans_lie_in_place(void **state)
{
    (void)state;
    static const char input[] = CHUNKED "3\r\nabc\r\n2\r\nde\r\n0\r\n\r\nleft";
    struct http_response parser;
    const char *at = input, *end = input + sizeof input - 1, *span;
    size_t span_len;
    http_response_init(&parser);
    assert_int_equal(http_response_next(&parser, &at, end, &span, &span_len), HTTP_HEAD);
    assert_int_equal(http_response_next(&parser, &at, end, &span, &span_len), HTTP_SPAN);
    assert_ptr_equal(span, strstr(input, "abc"));
    assert_ptr_equal(at, strstr(input, "2\r\nde"));
    assert_int_equal(http_response_next(&parser, &at, end, &span, &span_len), HTTP_SPAN);
    assert_ptr_equal(span, strstr(input, "de"));
    assert_int_equal(span_len, 2);
    assert_int_equal(http_response_next(&parser, &at, end, &span, &span_len), HTTP_END);
    assert_string_equal(at, "left");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_cases),
        cmocka_unit_test(test_head_request),
        cmocka_unit_test(test_nul_bytes),
        cmocka_unit_test(test_head_fields),
        cmocka_unit_test(test_long_location_is_cut),
        cmocka_unit_test(test_limits),
        cmocka_unit_test(test_interim_answers_are_limited),
        cmocka_unit_test(test_untouched_and_between),
        cmocka_unit_test(test_spans_lie_in_place),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
