/* SPDX-License-Identifier: Apache-2.0 */
#include "modality/text.h"
#include "support/check.h"
#include "workload/words.h"

#include <string.h>

/* Scans `body` with a closing quote behind it; fails unless the quote is found there. */
static struct text_state scan(struct text_state state, const char *body)
{
    char text[512];
    size_t len = strlen(body);
    memcpy(text, body, len);
    memcpy(text + len, "\"}", 2);
    assert_ptr_equal(text_scan(text, text + len + 2, &state), text + len);
    return state;
}

static void test_words_are_counted(void **state)
{
    (void)state;
    static const struct {
        const char *body;
        int64_t words;
    } cases[] = {
        {"", 0},
        {" ", 0},
        {"one", 1},
        {" one  two ", 2},
        {"one\\ntwo\\tthree", 3},
        {"a\\u0020b", 2},
        {"a\\u000bb\\u001cc", 3},
        {"a\\u0000b", 1},
        {"a\xC2\xA0"
         "b\xC2\x85"
         "c",
         3},
        {"a\xE2\x80\xA8"
         "b\xE2\x80\xA9"
         "c\xE3\x80\x80"
         "d",
         4},
        {"a\\u2028b\\u3000c", 3},
        {"caf\xC3\xA9 na\xC3\xAFve", 2},
        {"\\ud83e\\udd89 \xF0\x9F\xAA\x81", 2},
        {"say \\\"hi\\\"", 2},
        {"\\\\ \\/", 2},
        {"a\xE2\x80\x8B"
         "b",
         1} /* U+200B is no white space */,
        {"a\x7F"
         "b",
         1},
        {"\xE6\xAD x", 2},
        {"a\xE1\x9A\x80"
         "b\xE2\x80\xAF"
         "c\xE2\x81\x9F"
         "d\xE2\x80\x80"
         "e\xE2\x80\x8A"
         "f",
         6},
    };
    for (size_t i = 0; i < ARRAY_COUNT(cases); i++) {
        struct text_state got = scan((struct text_state){0}, cases[i].body);
        if (got.words != cases[i].words)
            fail_msg("\"%s\": %lld words", cases[i].body, (long long)got.words);
    }
}

/* A text in two pieces has the words of the whole, wherever it is cut between characters. */
static void test_a_word_may_be_cut(void **state)
{
    (void)state;
    static const char text[] = " The quick  brown fox ";
    for (size_t cut = 0; cut < sizeof text; cut++) {
        char first[sizeof text] = {0};
        memcpy(first, text, cut);
        struct text_state got = scan((struct text_state){0}, first);
        got = scan(got, text + cut);
        assert_int_equal(got.words, 4);
        assert_false(got.in_word);
    }
}

static void test_soundness(void **state)
{
    (void)state;
    static const char *const sound[] = {"plain", "\\ud83e\\udd89", "\xF4\x8F\xBF\xBF", "\\ufffd", "\xEF\xBF\xBD"};
    static const char *const unsound[] = {"\\ud83e",  "\\udd89",  "\\ud83e\\u0041", "\\ud83e\\ud83e",
                                          "\xE6\xAD", "\xC0\x80", "\xED\xA0\x80",   "\xF4\x90\x80\x80",
                                          "\xFF",     "\x80",     "\xF0\x9F\x98"};
    for (size_t i = 0; i < ARRAY_COUNT(sound); i++)
        assert_false(scan((struct text_state){0}, sound[i]).is_unsound);
    for (size_t i = 0; i < ARRAY_COUNT(unsound); i++)
        assert_true(scan((struct text_state){0}, unsound[i]).is_unsound);
}

static void test_no_string_body(void **state)
{
    (void)state;
    static const char *const bodies[] = {"no end",    "a\nb\"", "a\x01\"", "\\x\"", "\\u12\"",
                                         "\\u12g4\"", "\\",     "\\u",     "\\\""};
    for (size_t i = 0; i < ARRAY_COUNT(bodies); i++) {
        struct text_state got = {0};
        assert_null(text_scan(bodies[i], bodies[i] + strlen(bodies[i]), &got));
    }
}

static void expect_appended(const char *body, size_t max_bytes, const char *expected, bool fits)
{
    struct strbuf out;
    strbuf_init(&out, 0);
    assert_int_equal(text_append(body, strlen(body), max_bytes, &out), fits);
    assert_string_equal(strbuf_text(&out), expected);
    strbuf_done(&out);
}

static void test_saved_text_is_cut_between_characters(void **state)
{
    (void)state;
    expect_appended("abc", 3, "abc", true);
    expect_appended("abc", 2, "ab", false);
    expect_appended("a\\nb", 2, "a", false);
    expect_appended("a\xC3\xA9", 2, "a", false);
    expect_appended("\\ud83e\\udd89", 11, "", false);
    expect_appended("\\ud83e\\udd89", 12, "\\ud83e\\udd89", true);
    expect_appended("x\\ud83ey", 100, "x\xEF\xBF\xBDy", true);
    expect_appended("x\xE6\xADy", 100, "x\xEF\xBF\xBDy", true);
    expect_appended("", 0, "", true);
}

static void expect_line(const char *body, bool is_json, size_t size, const char *expected)
{
    char line[64];
    assert_int_equal(text_to_line(body, strlen(body), is_json, line, size), strlen(expected));
    assert_string_equal(line, expected);
}

static void test_lines(void **state)
{
    (void)state;
    expect_line(" a \n\t b\x01"
                "c ",
                false, 64, "a b c");
    expect_line("a\\nb\\u0041", true, 64, "a bA");
    expect_line("a\\nb", false, 64, "a\\nb");
    expect_line("abcdef", false, 4, "abc");
    expect_line("ab\xC3\xA9", false, 4, "ab");
    expect_line("ab cd", false, 4, "ab");
    expect_line("\xFFz", false, 64, "\xEF\xBF\xBDz");
    expect_line("", false, 64, "");
    expect_line("ok\\", true, 64, "ok");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_words_are_counted),
        cmocka_unit_test(test_a_word_may_be_cut),
        cmocka_unit_test(test_soundness),
        cmocka_unit_test(test_no_string_body),
        cmocka_unit_test(test_saved_text_is_cut_between_characters),
        cmocka_unit_test(test_lines),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
