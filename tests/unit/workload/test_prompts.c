/* SPDX-License-Identifier: Apache-2.0 */
#include "support/check.h"
#include "workload/prompts.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static struct prompts prompts;
static struct as_error err;

static as_status parse(const char *text, bool skip_bad_lines)
{
    struct prompts_options options = {.name = "file.jsonl", .skip_bad_lines = skip_bad_lines};
    return prompts_parse(text, strlen(text), &options, &prompts, &err);
}

static void expect_parsed(const char *text)
{
    if (parse(text, false) != AS_OK)
        fail_msg("%s", err.message);
}

static void test_lines_become_prompts(void **state)
{
    (void)state;
    expect_parsed(
        "\xEF\xBB\xBF{\"prompt\":\"One \\u00e9\",\"expected_output_tokens\":12}\r\n\r\n  \t\n"
        "{\"id\":\"p-4\",\"prompt\":\" two words "
        "\",\"expected_output_tokens\":null,\"category\":\"x\",\"other\":1}\n{\"id\":77,\"prompt\":\"a\\u0000b\"}");
    assert_int_equal(prompts.count, 3);
    assert_string_equal(prompts.items[0].text, "One \xC3\xA9");
    assert_int_equal(prompts.items[0].len, 6);
    assert_int_equal(prompts.items[0].words, 2);
    assert_int_equal(prompts.items[0].expected_output_tokens, 12);
    assert_string_equal(prompts.items[0].id, "1");
    assert_string_equal(prompts.items[1].text, " two words ");
    assert_int_equal(prompts.items[1].expected_output_tokens, -1);
    assert_string_equal(prompts.items[1].id, "p-4");
    assert_int_equal(prompts.items[2].len, 3);
    assert_string_equal(prompts.items[2].id, "77");
    assert_int_equal(prompts.lines, 5);
    assert_int_equal(prompts.blank_lines, 2);
    assert_int_equal(prompts.bad_lines, 0);
    assert_int_equal(prompts.with_expected_tokens, 1);
    assert_string_equal(prompts.unknown_member, "category");
    assert_int_equal(strlen(prompts.digest), 64);
    prompts_done(&prompts);
}

static void test_bad_lines_are_errors_with_their_place(void **state)
{
    (void)state;
    static const struct {
        const char *line, *words;
    } cases[] = {
        {"{\"prompt\":\"cut", "line 2: column 15: "},
        {"not json", "line 2: column 2: "},
        {"[\"prompt\"]", "JSON array"},
        {"\"prompt\"", "JSON string"},
        {"{}", "\"prompt\" is missing"},
        {"{\"prompt\":5}", "must be a string"},
        {"{\"prompt\":null}", "must be a string"},
        {"{\"prompt\":\"\"}", "is empty"},
        {"{\"prompt\":\" \\n\\u3000 \"}", "is empty"},
        {"{\"prompt\":\"x\",\"expected_output_tokens\":0}", "at least 1"},
        {"{\"prompt\":\"x\",\"expected_output_tokens\":1.5}", "at least 1"},
        {"{\"prompt\":\"x\",\"expected_output_tokens\":\"9\"}", "at least 1"},
        {"{\"prompt\":\"x\",\"id\":[]}", "\"id\""},
        {"{\"prompt\":\"x\",\"prompt\":\"y\"}", "the member \"prompt\" is there twice"},
        {"{\"prompt\":\"x\",\"id\":1,\"\\u0069d\":1}", "the member \"id\" is there twice"},
        {"{\"prompt\":\"x\",\"id\":\"\"}", "\"id\""},
        {"{\"prompt\":\"x\xE6\xAD\"}", "line 2"},
        {"{\"prompt\":\"x\"} {}", "line 2"},
    };
    for (size_t i = 0; i < ARRAY_COUNT(cases); i++) {
        char text[256];
        snprintf(text, sizeof text, "{\"prompt\":\"good\"}\n%s\n{\"prompt\":\"last\"}\n", cases[i].line);
        assert_int_equal(parse(text, false), AS_E_INVALID);
        assert_int_equal(err.line, 2);
        assert_non_null(strstr(err.message, "file.jsonl, line 2"));
        assert_non_null(strstr(err.message, "--skip-bad-lines"));
        if (!strstr(err.message, cases[i].words))
            fail_msg("\"%s\" is not in \"%s\"", cases[i].words, err.message);
        assert_int_equal(parse(text, true), AS_OK);
        assert_int_equal(prompts.count, 2);
        assert_int_equal(prompts.bad_lines, 1);
        assert_int_equal(prompts.first_bad.line, 2);
        assert_string_equal(prompts.items[1].id, "3");
        prompts_done(&prompts);
    }
}

static void test_no_prompt_is_an_error(void **state)
{
    (void)state;
    static const char *const texts[] = {"", "\n \n\r\n", "\xEF\xBB\xBF"};
    for (size_t i = 0; i < ARRAY_COUNT(texts); i++) {
        assert_int_equal(parse(texts[i], true), AS_E_INVALID);
        assert_non_null(strstr(err.message, "holds no prompt"));
    }
    assert_int_equal(parse("{}\nx\n", true), AS_E_INVALID);
    assert_non_null(strstr(err.message, "none of its 2 lines"));
}

/* Order is a permutation that seed and count decide, and requests walk it in cycles. */
static void test_shuffle_and_cycle(void **state)
{
    (void)state;
    static char text[40 * 64];
    size_t len = 0, first[40];
    bool seen[40] = {false}, differs = false;
    for (int i = 0; i < 40; i++)
        len += (size_t)snprintf(text + len, sizeof text - len, "{\"prompt\":\"p%d\"}\n", i);
    expect_parsed(text);
    assert_int_equal(prompts_index(&prompts, 41), 1);
    assert_int_equal(prompts_shuffle(&prompts, 7), AS_OK);
    for (int64_t i = 0; i < 40; i++) {
        first[i] = prompts_index(&prompts, i);
        assert_false(seen[first[i]]);
        seen[first[i]] = true;
        assert_int_equal(prompts_index(&prompts, i + 40), first[i]);
        assert_int_equal(prompts_index(&prompts, i + INT64_C(40000000000)), first[i]);
        differs |= first[i] != (size_t)i;
    }
    assert_true(differs);
    assert_int_equal(prompts_shuffle(&prompts, 8), AS_OK);
    differs = false;
    for (int64_t i = 0; i < 40; i++)
        differs |= prompts_index(&prompts, i) != first[i];
    assert_true(differs);
    assert_int_equal(prompts_shuffle(&prompts, 7), AS_OK);
    for (int64_t i = 0; i < 40; i++)
        assert_int_equal(prompts_index(&prompts, i), first[i]);
    prompts_done(&prompts);
}

/* The same on every machine and in every version: a plan can be repeated. */
static void test_the_order_is_fixed(void **state)
{
    (void)state;
    static const size_t expected[] = {2, 4, 1, 5, 3, 0};
    expect_parsed("{\"prompt\":\"a\"}\n{\"prompt\":\"b\"}\n{\"prompt\":\"c\"}\n{\"prompt\":\"d\"}\n{\"prompt\":\"e\"}"
                  "\n{\"prompt\":\"f\"}\n");
    assert_int_equal(prompts_shuffle(&prompts, 42), AS_OK);
    for (size_t i = 0; i < ARRAY_COUNT(expected); i++)
        assert_int_equal(prompts_index(&prompts, (int64_t)i), expected[i]);
    prompts_done(&prompts);
}

static void test_reuse(void **state)
{
    (void)state;
    expect_parsed("{\"prompt\":\"a\"}\n{\"prompt\":\"b\"}\n{\"prompt\":\"c\"}\n");
    assert_int_equal(prompts_reuse(&prompts, 0), 0);
    assert_int_equal(prompts_reuse(&prompts, 1), 1);
    assert_int_equal(prompts_reuse(&prompts, 3), 1);
    assert_int_equal(prompts_reuse(&prompts, 4), 2);
    assert_int_equal(prompts_reuse(&prompts, 300), 100);
    prompts_done(&prompts);
}

static void test_digests(void **state)
{
    (void)state;
    char all[DIGEST_TEXT_BYTES], two[DIGEST_TEXT_BYTES], more[DIGEST_TEXT_BYTES], other[DIGEST_TEXT_BYTES];
    expect_parsed("{\"prompt\":\"a\"}\n{\"prompt\":\"b\"}\n{\"prompt\":\"c\"}\n");
    assert_int_equal(prompts_sample_digest(&prompts, 3, all), AS_OK);
    assert_int_equal(prompts_sample_digest(&prompts, 2, two), AS_OK);
    assert_int_equal(prompts_sample_digest(&prompts, 1000, more), AS_OK);
    assert_string_not_equal(all, two);
    assert_string_equal(all, more);
    prompts_done(&prompts);
    /* Another file with the same prompts: another file digest, the same sample. */
    expect_parsed("{\"prompt\": \"a\"}\n\n{\"prompt\":\"b\"}\n{\"prompt\":\"c\",\"x\":1}\n");
    assert_int_equal(prompts_sample_digest(&prompts, 3, other), AS_OK);
    assert_string_equal(all, other);
    prompts_done(&prompts);
    expect_parsed("{\"prompt\":\"a\"}\n{\"prompt\":\"b\",\"expected_output_tokens\":5}\n{\"prompt\":\"c\"}\n");
    assert_int_equal(prompts_sample_digest(&prompts, 3, other), AS_OK);
    assert_string_not_equal(all, other);
    prompts_done(&prompts);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_lines_become_prompts),
        cmocka_unit_test(test_bad_lines_are_errors_with_their_place),
        cmocka_unit_test(test_no_prompt_is_an_error),
        cmocka_unit_test(test_shuffle_and_cycle),
        cmocka_unit_test(test_the_order_is_fixed),
        cmocka_unit_test(test_reuse),
        cmocka_unit_test(test_digests),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
