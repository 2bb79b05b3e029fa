/* SPDX-License-Identifier: Apache-2.0 */
#include "http/sse.h"

#include "splits.h"

/* Reports events as "<name|data>", a refusal as "BAD", then counters when they are not 0. */
static size_t limit_bytes = SSE_EVENT_MAX_DEFAULT;

static void *begin(void)
{
    struct sse_reader *reader = malloc(sizeof *reader);
    assert_non_null(reader);
    sse_reader_init(reader, limit_bytes);
    return reader;
}

static void put_event(struct strbuf *out, const struct sse_event *event)
{
    strbuf_addf(out, "<%s|", event->name);
    strbuf_add(out, event->data, event->len);
    strbuf_adds(out, ">");
}

static void feed(void *state, const char *at, size_t len, struct strbuf *out)
{
    struct sse_reader *reader = state;
    struct sse_event event;
    const char *end = at + len;
    bool was_bad = out->len >= 3 && memcmp(out->data + out->len - 3, "BAD", 3) == 0;
    for (;;) {
        enum sse_result result = sse_next(reader, &at, end, &event);
        if (result == SSE_EVENT)
            put_event(out, &event);
        if (result == SSE_BAD && !was_bad)
            strbuf_adds(out, "BAD");
        if (result == SSE_MORE)
            assert_ptr_equal(at, end);
        if (result != SSE_EVENT)
            return;
    }
}

static void finish(void *state, struct strbuf *out)
{
    struct sse_reader *reader = state;
    struct sse_event event;
    if (sse_finish(reader, &event) == SSE_EVENT) {
        strbuf_adds(out, "end");
        put_event(out, &event);
        assert_int_not_equal(sse_finish(reader, &event), SSE_EVENT);
    }
    assert_true(sse_is_between(reader));
    if (reader->comments)
        strbuf_addf(out, " comments=%u", reader->comments);
    if (reader->stray_lines)
        strbuf_addf(out, " stray=%u:%s", reader->stray_lines, reader->stray);
    sse_reader_done(reader);
    free(reader);
}

static const struct subject SSE = {begin, feed, finish};

struct sse_case {
    const char *input, *expected;
};

#define JSON1 "{\"choices\":[{\"delta\":{\"content\":\"Hi\"}}]}"

static const struct sse_case CASES[] = {
    {"", ""},
    {"data: a\n\n", "<|a>"},
    {"data: a\n\ndata: b\n\n", "<|a><|b>"},
    {"data: " JSON1 "\n\ndata: [DONE]\n\n", "<|" JSON1 "><|[DONE]>"},
    {"data:a\n\ndata:  b\n\n", "<|a><| b>"},
    /* Line ends: CR LF, CR, mixed, a CR LF pair is one end. */
    {"data: a\r\n\r\ndata: b\r\n\r\n", "<|a><|b>"},
    {"data: a\r\rdata: b\r\r", "<|a><|b>"},
    {"data: a\n\r\ndata: b\r\n\ndata: c\r\n\r", "<|a><|b><|c>"},
    {"data: a\r\ndata: b\rdata: c\ndata: d\n\r\n", "<|a\nb\nc\nd>"},
    {"data: a\rdata: b\n\n", "<|a\nb>"},
    {"data: x\r\n\ndata: y\r\n\r\n", "<|x><|y>"},
    {"\r\n\r\n\n\n\r\rdata: a\n\n\n\n", "<|a>"},
    /* Several data lines, empty ones among them; no data, no event. */
    {"data: {\ndata: \"a\": 1\ndata: }\n\n", "<|{\n\"a\": 1\n}>"},
    {"data\n\n", "<|>"},
    {"data:\n\n", "<|>"},
    {"data: \n\n", "<|>"},
    {"data\ndata\n\n", "<|\n>"},
    {"data: a\ndata:\n\n", "<|a\n>"},
    {"event: x\n\ndata: a\n\n", "<|a>"},
    {"id: 1\n\nretry: 5\n\n", ""},
    /* Other fields, before and after. */
    {"event: error\nid: 7\nretry: 10\ndata: a\n\ndata: b\n\n", "<error|a><|b>"},
    {"data: a\nevent: late\nid\n\ndata: b\n\n", "<late|a><|b>"},
    {"event: one\nevent: two\ndata: a\n\n", "<two|a>"},
    {"event: x\nevent\ndata: a\n\n", "<|a>"},
    {"event: 0123456789012345678901234567890123456789\ndata: a\n\n", "<0123456789012345678901234567890|a>"},
    /* Comments. */
    {": ping\n\ndata: a\n\n:\n:x\ndata: b\n\n", "<|a><|b> comments=3"},
    {"data: a\n: between\ndata: b\n\n", "<|a\nb> comments=1"},
    {": c\r\rdata: a\r\r", "<|a> comments=1"},
    {": c\r\ndata: a\r\n\r\n", "<|a> comments=1"},
    {"data: : waiting\n\n", "<|: waiting>"},
    /* A byte order mark, only at the very start; what begins like one and is none. */
    {"\xEF\xBB\xBF"
     "data: a\n\n",
     "<|a>"},
    {"\xEF\xBB\xBF: c\n\ndata: a\n\n", "<|a> comments=1"},
    {"\xEF\xBB\xBF\xEF\xBB\xBF"
     "data: a\n\n",
     " stray=1:\xEF\xBB\xBF"
     "data: a"},
    {"data: a\n\n\xEF\xBB\xBF"
     "data: b\n\n",
     "<|a> stray=1:\xEF\xBB\xBF"
     "data: b"},
    {"\xEF\xBB"
     "data: a\n\ndata: b\n\n",
     "<|b> stray=1:\xEF\xBB"
     "data: a"},
    {"\xEF\n\ndata: b\n\n", "<|b> stray=1:\xEF"},
    {"\xEF\xBB\n\ndata: b\n\n", "<|b> stray=1:\xEF\xBB"},
    /* Text is bytes: separators of Unicode and broken UTF-8 pass. */
    {"data: \xE2\x80\xA8\xE2\x80\xA9\xC2\x85\n\n", "<|\xE2\x80\xA8\xE2\x80\xA9\xC2\x85>"},
    {"data: \xF0\x9F\x98\n\ndata: \x80\xFF\n\n", "<|\xF0\x9F\x98><|\x80\xFF>"},
    /* Lines that are nothing. */
    {"error: {\"code\":400}\n\ndata: [DONE]\n\n", "<|[DONE]> stray=1:error: {\"code\":400}"},
    {"data: a\n\nworker exited\n\n", "<|a> stray=1:worker exited"},
    {"{\"error\":\"x\"}\n", " stray=1:{\"error\":\"x\"}"},
    {"{\"error\":\"x\"}", " stray=1:{\"error\":\"x\"}"},
    {"one\ntwo\ndata: a\nthree\n\n", "<|a> stray=3:one"},
    {"Data: a\n\nDATA: b\n\n data: c\n\n", " stray=3:Data: a"},
    {"data : a\n\ndatas: b\n\n", " stray=2:data : a"},
    /* The end of the stream. */
    {"data: a", ""},
    {"data: a\n", "end<|a>"},
    {"data: [DONE]\n", "end<|[DONE]>"},
    {"data: [DONE]", "end<|[DONE]>"},
    {"data:[DONE]", "end<|[DONE]>"},
    {"data: [DON", ""},
    {"data: a\n\ndata: [DONE]\r", "<|a>end<|[DONE]>"},
    {"data: a\ndata: b", "end<|a>"},
    {"event: x\ndata: a\n", "end<x|a>"},
    {"data: a\n\nda", "<|a>"},
    {"data: a\n\nid: 4", "<|a>"},
    {"data: a\n\nidle", "<|a> stray=1:idle"},
    {"event: x\n", ""},
};

static void test_cases(void **state)
{
    (void)state;
    for (size_t i = 0; i < sizeof CASES / sizeof CASES[0]; i++)
        splits_expect(&SSE, CASES[i].input, strlen(CASES[i].input), CASES[i].expected);
}

static void test_nul_is_text(void **state)
{
    (void)state;
    static const char input[] = "data: a\0b\n\n\0\n";
    AS_AUTO_STRBUF struct strbuf out;
    strbuf_init(&out, 0);
    splits_check(&SSE, input, sizeof input - 1, 100, &out);
    static const char expected[] = "<|a\0b> stray=1:";
    assert_int_equal(out.len, sizeof expected - 1);
    assert_memory_equal(out.data, expected, out.len);
}

/* The limit counts the joined data; what comes before the first event over it is given. */
static void test_limit(void **state)
{
    (void)state;
    limit_bytes = 8;
    splits_expect(&SSE, "data: 12345678\n\n", 16, "<|12345678>");
    splits_expect(&SSE, "data: 1\n\ndata: 123456789\n\ndata: 2\n\n", 34, "<|1>BAD");
    splits_expect(&SSE, "data: 1234\ndata: 567\n\n", 22, "<|1234\n567>");
    splits_expect(&SSE, "data: 1234\ndata: 5678\n\n", 23, "BAD");
    splits_expect(&SSE, "data: 1\n: a comment may be as long as it likes\n\n", 48, "<|1> comments=1");
    splits_expect(&SSE, "stray: of 17 byte\n", 18, "BAD");
    splits_expect(&SSE, "stray: of 17 byte", 17, "BAD");
    splits_expect(&SSE, "stray: of 16 byt\n", 17, " stray=1:stray: of 16 byt");
    limit_bytes = SSE_EVENT_MAX_DEFAULT;
}

static void test_long_lines(void **state)
{
    (void)state;
    size_t len = (size_t)1 << 20;
    char *input = malloc(len + 8);
    assert_non_null(input);
    memset(input, 'x', len + 8);
    memcpy(input, "data: ", 6);
    input[len + 6] = input[len + 7] = '\n';
    for (size_t piece = 700; piece <= len + 8; piece = piece * 5 + 1) {
        struct sse_reader reader;
        struct sse_event event;
        sse_reader_init(&reader, SSE_EVENT_MAX_DEFAULT);
        enum sse_result result = SSE_MORE;
        for (size_t from = 0; from < len + 8 && result == SSE_MORE; from += piece) {
            const char *at = input + from;
            const char *end = from + piece < len + 8 ? at + piece : input + len + 8;
            result = sse_next(&reader, &at, end, &event);
        }
        assert_int_equal(result, SSE_EVENT);
        assert_int_equal(event.len, len);
        assert_int_equal(event.data[0], 'x');
        assert_int_equal(event.data[len - 1], 'x');
        sse_reader_done(&reader);
    }
    free(input);
}

/* An event whole in the fed bytes is given in place and holds no memory, the first one and those after a slow one too.
 */
static void test_in_place(void **state)
{
    (void)state;
    static const char input[] = "data: a\n\ndata: b\r\n\r\nevent: e\ndata: c\n\ndata: d\n\n";
    struct sse_reader reader;
    struct sse_event event;
    sse_reader_init(&reader, SSE_EVENT_MAX_DEFAULT);
    const char *at = input, *end = input + sizeof input - 1;
    static const size_t offsets[] = {6, 15, 35, 44};
    for (size_t i = 0; i < 4; i++) {
        assert_int_equal(sse_next(&reader, &at, end, &event), SSE_EVENT);
        assert_ptr_equal(event.data, input + offsets[i]);
        assert_int_equal(event.len, 1);
        assert_null(reader.kept);
    }
    assert_int_equal(sse_next(&reader, &at, end, &event), SSE_MORE);
    sse_reader_done(&reader);
}

/* What was collected is freed once it was given. */
static void test_holds_nothing_between(void **state)
{
    (void)state;
    struct sse_reader reader;
    struct sse_event event;
    sse_reader_init(&reader, SSE_EVENT_MAX_DEFAULT);
    const char *at = "data: a", *end = at + 7;
    assert_int_equal(sse_next(&reader, &at, end, &event), SSE_MORE);
    assert_false(sse_is_between(&reader));
    assert_non_null(reader.kept);
    at = "bc\n\n";
    end = at + 4;
    assert_int_equal(sse_next(&reader, &at, end, &event), SSE_EVENT);
    assert_true(sse_is_between(&reader));
    assert_memory_equal(event.data, "abc", 3);
    assert_int_equal(sse_next(&reader, &at, end, &event), SSE_MORE);
    assert_null(reader.kept);
    at = ": comment without end";
    end = at + 21;
    assert_int_equal(sse_next(&reader, &at, end, &event), SSE_MORE);
    assert_true(sse_is_between(&reader));
    assert_null(reader.kept);
    sse_reader_done(&reader);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_cases),    cmocka_unit_test(test_nul_is_text),
        cmocka_unit_test(test_limit),    cmocka_unit_test(test_long_lines),
        cmocka_unit_test(test_in_place), cmocka_unit_test(test_holds_nothing_between),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
