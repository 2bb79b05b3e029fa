/* SPDX-License-Identifier: Apache-2.0 */
#include "prompts/import.h"
#include "support/check.h"

#include <string.h>

/* Imports `text` in pieces of `piece` bytes. */
static as_status import_pieces(const struct import_options *options, const char *text, size_t piece,
                               struct import **ret, struct as_error *err)
{
    size_t len = strlen(text);
    as_status status = import_new(options, ret);
    for (size_t at = 0; status == AS_OK && at < len; at += piece)
        status = import_feed(*ret, text + at, len - at < piece ? len - at : piece, err);
    return status == AS_OK ? import_finish(*ret, err) : status;
}

static const char CONVERSATIONS[] =
    "[{\"id\":\"a\",\"x\":{\"conversations\":[1]},\"conversations\":[{\"from\":\"system\",\"value\":\"be kind\"},"
    "{\"from\":\"human\",\"value\":\"first \\u00e4 turn\"},{\"value\":\"four words of it\",\"from\":\"gpt\"},"
    "{\"from\":\"human\",\"value\":\"second\"}]},"
    "{\"id\":7,\"messages\":[{\"role\":\"user\",\"content\":\"asks\"}]},"
    "{\"id\":\"b\"},{\"id\":\"c\",\"conversations\":[{\"from\":\"gpt\",\"value\":\"alone\"}]},"
    "{\"conversations\":[{\"from\":\"human\",\"value\":\" \\n\"}]},null,[[2]],"
    "{\"conversations\":[3,[],{\"from\":\"human\",\"value\":[\"no text\"]},{\"from\":\"human\",\"value\":\"late\"},"
    "{\"from\":\"human\",\"value\":\"again\"}]}]";

static void test_sharegpt_at_every_split(void **state)
{
    (void)state;
    static const char expected[] = "{\"id\":\"a\",\"prompt\":\"first ä turn\",\"expected_output_tokens\":8}\n"
                                   "{\"id\":\"7\",\"prompt\":\"asks\"}\n"
                                   "{\"prompt\":\"late\"}\n";
    const struct import_options options = {.format = IMPORT_SHAREGPT, .tokens_per_word = 2};
    for (size_t piece = 1; piece <= sizeof CONVERSATIONS; piece++) {
        struct import *import = NULL;
        struct as_error err = {0};
        assert_int_equal(import_pieces(&options, CONVERSATIONS, piece, &import, &err), AS_OK);
        const struct import_counts *counts = import_counts(import);
        assert_string_equal(strbuf_text(&import_library(import)->lines), expected);
        assert_int_equal(counts->records, 8);
        assert_int_equal(counts->skipped[IMPORT_SKIP_NO_TURNS], 3);
        assert_int_equal(counts->skipped[IMPORT_SKIP_NO_HUMAN], 1);
        assert_int_equal(counts->skipped[IMPORT_SKIP_BLANK], 1);
        assert_int_equal(counts->without_answer, 2);
        assert_int_equal(import_library(import)->with_expected_tokens, 1);
        import_free(import);
    }
}

static void test_sharegpt_one_object_after_the_other(void **state)
{
    (void)state;
    const struct import_options options = {.format = IMPORT_SHAREGPT};
    static const char text[] = "\xEF\xBB\xBF{\"conversations\":[{\"from\":\"human\",\"value\":\"one\"},"
                               "{\"from\":\"gpt\",\"value\":\"a b c d e f g h i j\"}]}\n"
                               "{\"conversations\":[{\"from\":\"human\",\"value\":\"two\"},{\"from\":\"gpt\",\"value\":\"\"}]}\n";
    struct import *import = NULL;
    struct as_error err = {0};
    assert_int_equal(import_pieces(&options, text, 1000, &import, &err), AS_OK);
    assert_string_equal(strbuf_text(&import_library(import)->lines),
                        "{\"prompt\":\"one\",\"expected_output_tokens\":13}\n{\"prompt\":\"two\"}\n");
    import_free(import);
}

static void test_bad_json_is_placed(void **state)
{
    (void)state;
    static const char *const bad[] = {"[{\"id\": \"a\"},\n{]", "[{}", "{\"conversations\": [}", "nonsense", "[{}]]"};
    const struct import_options options = {.format = IMPORT_SHAREGPT, .name = "it.json"};
    for (size_t i = 0; i < ARRAY_COUNT(bad); i++) {
        struct import *import = NULL;
        struct as_error err = {0};
        assert_int_equal(import_pieces(&options, bad[i], 3, &import, &err), AS_E_INVALID);
        assert_non_null(strstr(err.message, "it.json is no ShareGPT file: "));
        assert_non_null(strstr(err.message, "line "));
        import_free(import);
    }
}

static void test_nothing_found_says_why(void **state)
{
    (void)state;
    const struct import_options options = {.format = IMPORT_SHAREGPT, .name = "it.json"};
    struct import *import = NULL;
    struct as_error err = {0};
    assert_int_equal(import_pieces(&options, "[1, {\"conversations\": []}]", 99, &import, &err), AS_E_INVALID);
    assert_non_null(strstr(err.message, "it.json gives no prompt: 2 records; 1 are no conversations"));
    assert_non_null(strstr(err.message, "1 have no turn of a human"));
    import_free(import);
}

static void test_text(void **state)
{
    (void)state;
    static const struct {
        enum import_format format;
        const char *text, *lines;
    } cases[] = {
        {IMPORT_TEXT, "one\r\n\n  two words \nlast", "{\"prompt\":\"one\"}\n{\"prompt\":\"two words\"}\n{\"prompt\":\"last\"}\n"},
        {IMPORT_PARAGRAPHS, "\n a\r\nb \n \t\nc\n\n\n", "{\"prompt\":\"a\\nb\"}\n{\"prompt\":\"c\"}\n"},
        {IMPORT_PARAGRAPHS, "a\n\nb", "{\"prompt\":\"a\"}\n{\"prompt\":\"b\"}\n"},
    };
    for (size_t i = 0; i < ARRAY_COUNT(cases); i++) {
        for (size_t piece = 1; piece <= strlen(cases[i].text); piece++) {
            const struct import_options options = {.format = cases[i].format};
            struct import *import = NULL;
            struct as_error err = {0};
            assert_int_equal(import_pieces(&options, cases[i].text, piece, &import, &err), AS_OK);
            assert_string_equal(strbuf_text(&import_library(import)->lines), cases[i].lines);
            import_free(import);
        }
    }
}

static void test_limits_are_counted(void **state)
{
    (void)state;
    const struct import_options options = {.format = IMPORT_TEXT, .min_words = 2, .max_words = 3, .max_prompts = 2};
    struct import *import = NULL;
    struct as_error err = {0};
    assert_int_equal(import_pieces(&options, "a\na b\n\xFF x\na b c d\na b c\nb c\n", 99, &import, &err), AS_OK);
    const struct import_counts *counts = import_counts(import);
    assert_int_equal(import_library(import)->count, 2);
    assert_int_equal(counts->records, 6);
    assert_int_equal(counts->skipped[IMPORT_SKIP_SHORT], 1);
    assert_int_equal(counts->skipped[IMPORT_SKIP_DAMAGED], 1);
    assert_int_equal(counts->skipped[IMPORT_SKIP_LONG], 1);
    assert_int_equal(counts->skipped[IMPORT_SKIP_BEYOND], 1);
    import_free(import);
}

static void test_jsonl(void **state)
{
    (void)state;
    static const char text[] = "{\"prompt\":\"a\",\"other\":1}\nbad\n\n{\"expected_output_tokens\":9,\"id\":\"k\",\"prompt\":\"b\"}\n";
    struct import_options options = {.format = IMPORT_JSONL, .name = "x.jsonl"};
    struct import *import = NULL;
    struct as_error err = {0};
    assert_int_equal(import_pieces(&options, text, 5, &import, &err), AS_E_INVALID);
    assert_non_null(strstr(err.message, "x.jsonl, line 2: "));
    import_free(import);
    options.skip_bad_lines = true;
    assert_int_equal(import_pieces(&options, text, 5, &import, &err), AS_OK);
    assert_string_equal(strbuf_text(&import_library(import)->lines),
                        "{\"id\":\"1\",\"prompt\":\"a\"}\n{\"id\":\"k\",\"prompt\":\"b\",\"expected_output_tokens\":9}\n");
    assert_int_equal(import_counts(import)->skipped[IMPORT_SKIP_BAD_LINE], 1);
    assert_int_equal(import_counts(import)->records, 3);
    import_free(import);
}

static void test_digests(void **state)
{
    (void)state;
    const struct import_options options = {.format = IMPORT_TEXT};
    struct import *import = NULL;
    struct prompts prompts;
    struct as_error err = {0};
    char digest[DIGEST_TEXT_BYTES];
    assert_int_equal(import_pieces(&options, "abc\nd e\n", 2, &import, &err), AS_OK);
    const struct library *library = import_library(import);
    assert_int_equal(digest_bytes("abc\nd e\n", 8, digest), AS_OK);
    assert_string_equal(import_source_digest(import), digest);
    assert_int_equal(prompts_parse(strbuf_text(&library->lines), library->lines.len, NULL, &prompts, &err), AS_OK);
    assert_int_equal(prompts_sample_digest(&prompts, 2, digest), AS_OK);
    assert_string_equal(library->content_digest, digest);
    prompts_done(&prompts);
    import_free(import);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_sharegpt_at_every_split),
        cmocka_unit_test(test_sharegpt_one_object_after_the_other),
        cmocka_unit_test(test_bad_json_is_placed),
        cmocka_unit_test(test_nothing_found_says_why),
        cmocka_unit_test(test_text),
        cmocka_unit_test(test_limits_are_counted),
        cmocka_unit_test(test_jsonl),
        cmocka_unit_test(test_digests),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
