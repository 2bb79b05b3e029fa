/* SPDX-License-Identifier: Apache-2.0 */
#include "base/json_stream.h"

#include "json_cases.h"
#include "support/check.h"
#include "token_trace.h"

#include <string.h>

static void check_trace(const struct trace_input *input, const char *expected)
{
    AS_AUTO_STRBUF struct strbuf out;
    strbuf_init(&out, 0);
    trace(input, &out);
    assert_string_equal(strbuf_text(&out), expected);
}

static void gives_tokens_with_their_places(void **state)
{
    (void)state;
    const char *text = " {\"a\\n\":[1,-2.5e3,\"x\"],\"\":{},\"b\":[true,false,null]} ";
    struct trace_input input = {.text = text, .len = strlen(text), .skip_after = SIZE_MAX};
    check_trace(&input, "{ 1\n"
                        "k 2 2 a\n\n"
                        "[ 8\n"
                        "N 9 1 1\n"
                        "N 11 6 -2.5e3\n"
                        "S 18 1 x\n"
                        "] 21\n"
                        "k 23 0 \n"
                        "{ 26\n"
                        "} 27\n"
                        "k 29 1 b\n"
                        "[ 33\n"
                        "B 34 true\n"
                        "B 39 false\n"
                        "Z 45\n"
                        "] 49\n"
                        "} 50\n"
                        "end\n");
}

/* The trace does not depend on where the text is cut. */
static void check_all_splits(struct trace_input input)
{
    AS_AUTO_STRBUF struct strbuf whole;
    AS_AUTO_STRBUF struct strbuf cut;
    strbuf_init(&whole, 0);
    strbuf_init(&cut, 0);
    input.cuts[0] = input.len;
    trace(&input, &whole);
    for (size_t first = 0; first <= input.len; first++) {
        size_t last = input.len > 60 ? first : input.len;
        for (size_t second = first; second <= last; second++) {
            input.cuts[0] = first;
            input.cuts[1] = second;
            strbuf_reset(&cut);
            trace(&input, &cut);
            if (whole.len != cut.len || memcmp(whole.data, cut.data, whole.len) != 0)
                fail_msg("cut at %zu and %zu:\n%s\ninstead of\n%s", first, second, cut.data, whole.data);
        }
    }
    input.step = 1;
    strbuf_reset(&cut);
    trace(&input, &cut);
    assert_string_equal(strbuf_text(&whole), strbuf_text(&cut));
}

static void valid_texts_at_every_split(void **state)
{
    (void)state;
    for (size_t i = 0; i < ARRAY_COUNT(JSON_VALID); i++) {
        struct trace_input input = {.text = JSON_VALID[i].text, .len = JSON_VALID[i].len, .skip_after = SIZE_MAX};
        check_all_splits(input);
        AS_AUTO_STRBUF struct strbuf out;
        strbuf_init(&out, 0);
        input.step = input.len;
        trace(&input, &out);
        assert_string_equal(out.data + out.len - 4, "end\n");
        input.skip_after = 0;
        check_trace(&input, "end\n");
    }
}

static void invalid_texts_at_every_split(void **state)
{
    (void)state;
    for (size_t i = 0; i < ARRAY_COUNT(JSON_INVALID); i++) {
        struct trace_input input = {.text = JSON_INVALID[i].text, .len = JSON_INVALID[i].len, .skip_after = SIZE_MAX};
        check_all_splits(input);
        AS_AUTO_STRBUF struct strbuf read;
        AS_AUTO_STRBUF struct strbuf skipped;
        strbuf_init(&read, 0);
        strbuf_init(&skipped, 0);
        trace(&input, &read);
        const char *error = strstr(strbuf_text(&read), "E_INVALID");
        assert_non_null(error);
        input.skip_after = 0;
        trace(&input, &skipped);
        assert_string_equal(strbuf_text(&skipped), error);
    }
}

static void lossy_texts_at_every_split(void **state)
{
    (void)state;
    static const char text[] =
        "[\"\\ud800\",\"a\\ud800\\ud83d\\ude00\\udc00b\",\"\xE2\x82\",\"\xF0\x9F\x98x\xFF\xC3\xA9\xC3\"]";
    struct trace_input input = {
        .text = text, .len = sizeof text - 1, .limits = {.lossy = true}, .skip_after = SIZE_MAX};
    check_all_splits(input);
    check_trace(&input, "[ 0\n"
                        "S 1 3 \xEF\xBF\xBD\n"
                        "S 10 12 a\xEF\xBF\xBD\xF0\x9F\x98\x80\xEF\xBF\xBD"
                        "b\n"
                        "S 39 3 \xEF\xBF\xBD\n"
                        "S 44 12 \xEF\xBF\xBDx\xEF\xBF\xBD\xC3\xA9\xEF\xBF\xBD\n"
                        "] 54\n"
                        "end\n");
}

/* What skipping after token `index` of the trace `whole` has to leave: the model that json_stream_skip is held against.
 */
static void expect_skipped(const char *whole, size_t index, struct strbuf *out)
{
    int depth = 0, until = -1;
    bool is_skipping = false;
    size_t count = 0;
    for (const char *line = whole; *line;) {
        size_t len = strcspn(line, "\n") + 1;
        if (*line == '{' || *line == '[')
            depth++;
        if (*line == '}' || *line == ']')
            depth--;
        if (!is_skipping)
            strbuf_add(out, line, len);
        if (is_skipping && depth == until && *line != 'k')
            is_skipping = false;
        else if (++count == index && depth > 0) {
            is_skipping = true;
            until = *line == 'k' ? depth : depth - 1;
        }
        line += len;
    }
}

static void skips_after_any_token(void **state)
{
    (void)state;
    const char *text =
        "{\"a\":[1,[2,{\"x\":3}],4],\"b\":{\"c\":{\"d\":[]},\"e\":\"s\"},\"f\":true,\"g\":\"\\u00e9\",\"h\":[[]]}";
    struct trace_input input = {.text = text, .len = strlen(text), .skip_after = SIZE_MAX};
    AS_AUTO_STRBUF struct strbuf whole;
    AS_AUTO_STRBUF struct strbuf expected;
    AS_AUTO_STRBUF struct strbuf skipped;
    strbuf_init(&whole, 0);
    strbuf_init(&expected, 0);
    strbuf_init(&skipped, 0);
    trace(&input, &whole);
    size_t lines = 0;
    for (const char *at = whole.data; *at; at++)
        lines += *at == '\n';
    assert_int_equal(lines, 35);
    for (size_t i = 1; i < lines; i++) {
        input.skip_after = i;
        strbuf_reset(&expected);
        strbuf_reset(&skipped);
        expect_skipped(whole.data, i, &expected);
        trace(&input, &skipped);
        assert_string_equal(strbuf_text(&skipped), strbuf_text(&expected));
        check_all_splits(input);
    }
}

static void sequences_need_space_between(void **state)
{
    (void)state;
    struct trace_input input = {.text = "", .is_sequence = true, .skip_after = SIZE_MAX};
    check_trace(&input, "end\n");
    input.text = "\n{\"a\":1}\n\n2 \"x\"\n";
    input.len = strlen(input.text);
    check_trace(&input, "{ 1\nk 2 1 a\nN 6 1 1\n} 7\nN 10 1 2\nS 12 1 x\nend\n");
    check_all_splits(input);
    input.text = "1\n22";
    input.len = 4;
    check_trace(&input, "N 0 1 1\nN 2 2 22\nend\n");
    input.text = "{}{}";
    check_trace(&input,
                "{ 0\n} 1\nE_INVALID line 1, column 3: expected white space between two values, found \"{\" at 2\n");
    input.text = "1\n[2";
    check_trace(&input,
                "N 0 1 1\n[ 2\nE_INVALID line 2, column 3: expected the \"]\" of an array, found the end at 4\n");
}

static void skipping_at_the_top_takes_one_value(void **state)
{
    (void)state;
    struct trace_input input = {.text = "{\"a\":[1]}\n2\n3", .len = 13, .is_sequence = true, .skip_after = 0};
    check_trace(&input, "N 10 1 2\nN 12 1 3\nend\n");
    check_all_splits(input);
}

static void limits_hold_in_skipped_parts_too(void **state)
{
    (void)state;
    struct json_limits limits = {.max_depth = 2, .max_string_bytes = 5};
    struct trace_input input = {.text = "[[[1]]]", .len = 7, .limits = limits, .skip_after = 0};
    check_trace(&input, "E_LIMIT line 1, column 3: arrays and objects are nested too deep at 2\n");
    input.text = "[\"abc\\ndef\"]";
    input.len = strlen(input.text);
    check_trace(&input, "E_LIMIT line 1, column 2: a string is too long at 1\n");
    check_all_splits(input);
    input.skip_after = SIZE_MAX;
    check_all_splits(input);
    input.text = "[123456]";
    input.len = 8;
    check_trace(&input, "[ 0\nE_LIMIT line 1, column 2: a number is too long at 1\n");
    check_all_splits(input);
    input.text = "[123456.]";
    input.len = 9;
    check_trace(&input, "[ 0\nE_LIMIT line 1, column 2: a number is too long at 1\n");
    check_all_splits(input);
}

static void stays_bad_and_may_be_initialised_again(void **state)
{
    (void)state;
    struct json_stream stream;
    struct json_span span;
    json_stream_init(&stream, NULL, false);
    assert_int_equal(json_stream_error(&stream, NULL), AS_E_INTERNAL);
    const char *at = "]1";
    assert_int_equal(json_stream_next(&stream, &at, at + 2, &span), JSON_TOKEN_BAD);
    const char *good = "1";
    assert_int_equal(json_stream_next(&stream, &good, good + 1, &span), JSON_TOKEN_BAD);
    assert_int_equal(json_stream_finish(&stream, &span), JSON_TOKEN_BAD);
    json_stream_skip(&stream);
    assert_int_equal(json_stream_error(&stream, NULL), AS_E_INVALID);
    json_stream_done(&stream);
    json_stream_init(&stream, NULL, false);
    assert_int_equal(json_stream_next(&stream, &good, good + 1, &span), JSON_TOKEN_MORE);
    assert_int_equal(json_stream_finish(&stream, &span), JSON_TOKEN_NUMBER);
    assert_int_equal(json_stream_finish(&stream, &span), JSON_TOKEN_END);
    assert_int_equal(json_stream_finish(&stream, &span), JSON_TOKEN_END);
    json_stream_done(&stream);
}

static void counts_lines_over_pieces(void **state)
{
    (void)state;
    struct trace_input input = {.text = "[1,\n\n  2,\r\n 3,x]", .len = 16, .step = 1, .skip_after = 0};
    check_trace(&input, "E_INVALID line 4, column 4: expected a value, found \"x\" at 14\n");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(gives_tokens_with_their_places),
        cmocka_unit_test(valid_texts_at_every_split),
        cmocka_unit_test(invalid_texts_at_every_split),
        cmocka_unit_test(lossy_texts_at_every_split),
        cmocka_unit_test(skips_after_any_token),
        cmocka_unit_test(sequences_need_space_between),
        cmocka_unit_test(skipping_at_the_top_takes_one_value),
        cmocka_unit_test(limits_hold_in_skipped_parts_too),
        cmocka_unit_test(stays_bad_and_may_be_initialised_again),
        cmocka_unit_test(counts_lines_over_pieces),
    };
    return cmocka_run_group_tests_name("json_stream", tests, NULL, NULL);
}
