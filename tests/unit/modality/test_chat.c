/* SPDX-License-Identifier: Apache-2.0 */
#include "modality/chat.h"
#include "support/check.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static struct chat_reading read_as(const char *text, enum chat_form form)
{
    struct chat_reading reading;
    if (!chat_read(text, strlen(text), form, &reading))
        fail_msg("not read: %s", text);
    return reading;
}

static void expect_text(const struct json_raw *raw, const char *expected)
{
    if (!expected) {
        assert_null(raw->at);
        return;
    }
    assert_non_null(raw->at);
    assert_int_equal(raw->len, strlen(expected));
    assert_memory_equal(raw->at, expected, raw->len);
}

static void test_a_delta(void **state)
{
    (void)state;
    struct chat_reading reading = read_as("{\"id\":\"x\",\"choices\":[{\"index\":3,\"delta\":{\"role\":\"assistant\","
                                          "\"content\":\"Hi \\\"you\\\"\"},\"finish_reason\":null}],\"usage\":null}",
                                          CHAT_EVENT);
    assert_true(reading.has_choices);
    assert_false(reading.has_usage);
    assert_int_equal(reading.choice_count, 1);
    assert_int_equal(reading.first.index, 3);
    expect_text(&reading.first.role, "assistant");
    expect_text(&reading.first.content, "Hi \\\"you\\\"");
    expect_text(&reading.first.reasoning, NULL);
    expect_text(&reading.first.finish_reason, NULL);
    assert_null(reading.first.tools);
    assert_null(reading.error.at);
}

static void test_forms_read_their_own_member(void **state)
{
    (void)state;
    static const char text[] = "{\"choices\":[{\"delta\":{\"content\":\"d\"},\"message\":{\"content\":\"m\"}}]}";
    struct chat_reading event = read_as(text, CHAT_EVENT), body = read_as(text, CHAT_BODY);
    expect_text(&event.first.content, "d");
    expect_text(&body.first.content, "m");
}

static void test_completions_text(void **state)
{
    (void)state;
    struct chat_reading reading =
        read_as("{\"choices\":[{\"text\":\"abc\",\"index\":0,\"finish_reason\":\"length\"}]}", CHAT_EVENT);
    expect_text(&reading.first.content, "abc");
    expect_text(&reading.first.finish_reason, "length");
    reading = read_as("{\"choices\":[{\"text\":\"t\",\"delta\":{\"content\":\"\"}}]}", CHAT_EVENT);
    expect_text(&reading.first.content, "t");
    reading = read_as("{\"choices\":[{\"text\":\"t\",\"delta\":{\"content\":\"c\"}}]}", CHAT_EVENT);
    expect_text(&reading.first.content, "c");
}

/* All texts of a content, each behind a bar. */
static void expect_parts(const char *content, const char *expected)
{
    char text[512], got[256] = "";
    snprintf(text, sizeof text, "{\"choices\":[{\"message\":{\"content\":%s}}]}", content);
    struct chat_reading reading = read_as(text, CHAT_BODY);
    struct json_raw part = reading.first.content;
    bool has_more = part.len > 0;
    for (size_t used = 0; has_more; has_more = chat_next_part(&reading.first, reading.end, &part))
        used += (size_t)snprintf(got + used, sizeof got - used, "|%.*s", (int)part.len, part.at);
    if (strcmp(got, expected) != 0)
        fail_msg("%s gives %s, not %s", content, got, expected);
    assert_false(chat_next_part(&reading.first, reading.end, &part));
}

static void test_content_may_be_parts(void **state)
{
    (void)state;
    expect_parts("\"s\"", "|s");
    expect_parts("[]", "");
    expect_parts("[{\"type\":\"text\",\"text\":\"a\"}]", "|a");
    expect_parts("[{\"text\":\"a \",\"type\":\"text\"} , {\"type\":\"text\",\"text\":\"b\"}]", "|a |b");
    expect_parts("[{\"text\":\"a\"},\"b\",{\"type\":\"output_text\",\"text\":\"c\\n\"},{}]", "|a|b|c\\n");
    expect_parts("[{\"type\":\"text\",\"text\":\"\"},{\"type\":\"text\",\"text\":\"b\"},\"\",null,1,[\"x\"]]", "|b");
    expect_parts("[{\"type\":\"thinking\",\"thinking\":[{\"type\":\"text\",\"text\":\"t\"}]},\"a\"]", "|a");
    expect_parts("[{\"type\":\"image_url\",\"image_url\":{\"url\":\"u\"},\"text\":\"no\"}]", "");
    expect_parts("[{\"type\":\"text\",\"text\":{\"value\":\"no\"}}]", "");
    expect_parts("[\"no\"],\"content\":\"last\"", "|last");
    expect_parts("[\"a\",\"no\"],\"content\":[\"b\",\"c\",\"d\"]", "|b|c|d");
    expect_parts("[\"a\",\"no\"],\"content\":null", "");
    struct chat_reading reading = read_as(
        "{\"choices\":[{\"text\":\"t\",\"delta\":{\"content\":[{\"text\":\"\"},{\"text\":\"\"}]}}]}", CHAT_EVENT);
    expect_text(&reading.first.content, "t");
    assert_null(reading.first.more_content);
    static const char cut[] = "{\"choices\":[{\"delta\":{\"content\":[{\"type\":\"text\",\"text\":\"a\"},\"b\"]}}]}";
    for (size_t len = 0; len < sizeof cut - 1; len++)
        assert_false(chat_read(cut, len, CHAT_EVENT, &reading));
    assert_false(chat_read("{\"choices\":[{\"delta\":{\"content\":[\"a\",]}}]}", 42, CHAT_EVENT, &reading));
}

static void test_reasoning_has_two_names(void **state)
{
    (void)state;
    static const struct {
        const char *delta, *reasoning;
    } cases[] = {
        {"\"reasoning_content\":\"a\"", "a"},
        {"\"reasoning\":\"b\"", "b"},
        {"\"reasoning\":\"same\",\"reasoning_content\":\"same\"", "same"},
        {"\"reasoning\":\"b\",\"reasoning_content\":\"\"", "b"},
        {"\"reasoning\":\"b\",\"reasoning_content\":null", "b"},
        {"\"reasoning\":{\"effort\":\"low\"}", NULL},
    };
    for (size_t i = 0; i < ARRAY_COUNT(cases); i++) {
        char text[256];
        snprintf(text, sizeof text, "{\"choices\":[{\"delta\":{\"content\":null,%s}}]}", cases[i].delta);
        struct chat_reading reading = read_as(text, CHAT_EVENT);
        expect_text(&reading.first.reasoning, cases[i].reasoning);
        expect_text(&reading.first.content, NULL);
    }
}

static void test_usage(void **state)
{
    (void)state;
    struct chat_reading reading = read_as(
        "{\"choices\":[],\"usage\":{\"prompt_tokens\":12,\"completion_tokens\":3.0,\"total_tokens\":15,\"x\":[1],"
        "\"completion_tokens_details\":{\"reasoning_tokens\":2},\"prompt_tokens_details\":{\"cached_tokens\":8,\"audio_"
        "tokens\":0}}}",
        CHAT_EVENT);
    assert_true(reading.has_usage);
    assert_int_equal(reading.choice_count, 0);
    assert_int_equal(reading.usage.prompt_tokens, 12);
    assert_int_equal(reading.usage.completion_tokens, 3);
    assert_int_equal(reading.usage.total_tokens, 15);
    assert_int_equal(reading.usage.reasoning_tokens, 2);
    assert_int_equal(reading.usage.cached_tokens, 8);
    reading = read_as("{\"usage\":{\"prompt_tokens\":-1,\"completion_tokens\":\"3\",\"total_tokens\":1.5,\"completion_"
                      "tokens_details\":null,"
                      "\"prompt_tokens_details\":{\"cached_tokens\":null}}}",
                      CHAT_EVENT);
    assert_int_equal(reading.usage.prompt_tokens, -1);
    assert_int_equal(reading.usage.completion_tokens, -1);
    assert_int_equal(reading.usage.total_tokens, -1);
    assert_int_equal(reading.usage.reasoning_tokens, -1);
    assert_int_equal(reading.usage.cached_tokens, -1);
}

/* Names that mean something at their place mean nothing elsewhere. */
static void test_only_the_place_counts(void **state)
{
    (void)state;
    struct chat_reading reading =
        read_as("{\"meta\":{\"error\":{\"message\":\"no\"},\"usage\":{\"completion_tokens\":7},\"choices\":[{\"delta\":"
                "{\"content\":\"no\"}}]},"
                "\"error\":null,\"choices\":[{\"logprobs\":{\"content\":[{\"token\":\"content\"}]},\"delta\":{\"tool\":"
                "{\"content\":\"no\"},\"content\":\"yes\"}}]}",
                CHAT_EVENT);
    expect_text(&reading.first.content, "yes");
    assert_false(reading.has_usage);
    assert_null(reading.error.at);
}

static void test_keys_may_be_escaped(void **state)
{
    (void)state;
    struct chat_reading reading =
        read_as("{\"ch\\u006fices\":[{\"d\\u0065lta\":{\"c\\u006fntent\":\"x\"}}]}", CHAT_EVENT);
    expect_text(&reading.first.content, "x");
}

static void test_the_last_duplicate_counts(void **state)
{
    (void)state;
    struct chat_reading reading = read_as("{\"error\":{\"m\":1},\"choices\":[{\"delta\":{\"content\":\"1\"}},{}],"
                                          "\"choices\":[{\"delta\":{\"content\":\"2\",\"content\":\"3\"}}],"
                                          "\"usage\":{\"prompt_tokens\":1},\"usage\":null,\"error\":null}",
                                          CHAT_EVENT);
    assert_int_equal(reading.choice_count, 1);
    expect_text(&reading.first.content, "3");
    assert_false(reading.has_usage);
    assert_null(reading.error.at);
    reading = read_as("{\"choices\":[{\"delta\":{\"content\":\"1\"},\"delta\":{}}]}", CHAT_EVENT);
    expect_text(&reading.first.content, NULL);
}

static void test_error_is_kept_whole(void **state)
{
    (void)state;
    struct chat_reading reading = read_as("{\"error\":{\"message\":\"no\", \"code\":5} }", CHAT_EVENT);
    expect_text(&reading.error, "{\"message\":\"no\", \"code\":5}");
    reading = read_as("{\"error\":\"text\"}", CHAT_EVENT);
    expect_text(&reading.error, "\"text\"");
}

static void test_choices_are_walked(void **state)
{
    (void)state;
    static const char text[] = "{\"choices\":[{\"index\":1,\"delta\":{\"content\":\"b\"}},{\"index\":0,\"delta\":{"
                               "\"content\":\"a\"}},null,{\"index\":4000000000000}]}";
    struct chat_reading reading = read_as(text, CHAT_EVENT);
    struct chat_walk walk;
    struct chat_choice choice;
    assert_int_equal(reading.choice_count, 4);
    chat_walk_init(&walk, &reading);
    assert_true(chat_walk_next(&walk, &choice));
    assert_int_equal(choice.index, 1);
    expect_text(&choice.content, "b");
    assert_true(chat_walk_next(&walk, &choice));
    assert_int_equal(choice.index, 0);
    assert_true(chat_walk_next(&walk, &choice));
    assert_int_equal(choice.index, 2); /* its place */
    assert_true(chat_walk_next(&walk, &choice));
    assert_int_equal(choice.index, CHAT_CHOICES_MAX - 1);
    assert_false(chat_walk_next(&walk, &choice));
}

static void expect_arguments(const char *delta, const char *expected)
{
    char text[512];
    struct strbuf out;
    snprintf(text, sizeof text, "{\"choices\":[{\"delta\":{%s}}]}", delta);
    struct chat_reading reading = read_as(text, CHAT_EVENT);
    assert_int_equal(reading.first.tools != NULL, expected != NULL);
    strbuf_init(&out, 0);
    assert_true(chat_append_arguments(&reading.first, text + strlen(text), 100, &out));
    assert_string_equal(strbuf_text(&out), expected ? expected : "");
    strbuf_done(&out);
}

static void test_tool_calls(void **state)
{
    (void)state;
    expect_arguments("\"tool_calls\":[{\"index\":0,\"function\":{\"name\":\"f\",\"arguments\":\"\"}}]", "");
    expect_arguments(
        "\"tool_calls\":[{\"function\":{\"arguments\":\"{\\\"a\\\":\"}},{\"function\":{\"arguments\":\"1}\"}}]",
        "{\\\"a\\\":1}");
    expect_arguments("\"function_call\":{\"name\":\"f\",\"arguments\":\"{}\"}", "{}");
    expect_arguments("\"tool_calls\":[]", NULL);
    expect_arguments("\"tool_calls\":null", NULL);
    expect_arguments("\"tool_calls\":[{\"function\":{\"arguments\":\"\"}},5,{\"function\":null}]", NULL);
}

static void test_what_is_refused(void **state)
{
    (void)state;
    static const char *const texts[] = {"",
                                        " ",
                                        "null",
                                        "[]",
                                        "\"x\"",
                                        "5",
                                        "{",
                                        "{}x",
                                        "{} {}",
                                        "{\"choices\":[{\"ind",
                                        "{\"choices\":[{\"delta\":{\"content\":\"a\" \"b\"}}]}",
                                        "{\"choices\":[{]}",
                                        "{\"a\":1,}",
                                        "{\"a\"}",
                                        ": waiting",
                                        "[DONE]",
                                        "{\"x\":[[}]}",
                                        "{\"choices\":[{\"delta\":{\"content\":\"a\nb\"}}]}"};
    struct chat_reading reading;
    for (size_t i = 0; i < ARRAY_COUNT(texts); i++)
        if (chat_read(texts[i], strlen(texts[i]), CHAT_EVENT, &reading))
            fail_msg("read: %s", texts[i]);
}

static void test_depth(void **state)
{
    (void)state;
    static const size_t depths[] = {10, 1000, 1025, 3000, 60000};
    struct chat_reading reading;
    size_t size = 2 * 70000 + 100;
    char *text = malloc(size);
    assert_non_null(text);
    for (size_t i = 0; i <= ARRAY_COUNT(depths); i++) {
        size_t depth = i < ARRAY_COUNT(depths) ? depths[i] : 66000;
        char *at = text + snprintf(text, size, "{\"x\":");
        for (size_t level = 0; level < depth; level++)
            *at++ = '[';
        for (size_t level = 0; level < depth; level++)
            *at++ = ']';
        at += snprintf(at, 50, ",\"choices\":[{\"delta\":{\"content\":\"d\"}}]}");
        assert_int_equal(chat_read(text, (size_t)(at - text), CHAT_EVENT, &reading), depth <= CHAT_DEPTH_MAX);
        if (depth > 1) /* one bracket of another kind */
            text[5 + depth] = '}';
        assert_false(chat_read(text, (size_t)(at - text), CHAT_EVENT, &reading));
    }
    free(text);
}

static void test_errors_are_found_in_bare_text(void **state)
{
    (void)state;
    static const char *const with[] = {"{\"error\":{\"message\":\"x\"}}", "{\"a\":1,\"error\":\"cut of",
                                       "{\"error\":{"};
    static const char *const without[] = {"", "text", "{\"error\":null}", "{\"a\":{\"error\":1}}", "{\"err"};
    struct json_raw error;
    for (size_t i = 0; i < ARRAY_COUNT(with); i++)
        assert_true(chat_find_error(with[i], strlen(with[i]), &error));
    for (size_t i = 0; i < ARRAY_COUNT(without); i++)
        assert_false(chat_find_error(without[i], strlen(without[i]), &error));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_a_delta),
        cmocka_unit_test(test_forms_read_their_own_member),
        cmocka_unit_test(test_completions_text),
        cmocka_unit_test(test_content_may_be_parts),
        cmocka_unit_test(test_reasoning_has_two_names),
        cmocka_unit_test(test_usage),
        cmocka_unit_test(test_only_the_place_counts),
        cmocka_unit_test(test_keys_may_be_escaped),
        cmocka_unit_test(test_the_last_duplicate_counts),
        cmocka_unit_test(test_error_is_kept_whole),
        cmocka_unit_test(test_choices_are_walked),
        cmocka_unit_test(test_tool_calls),
        cmocka_unit_test(test_what_is_refused),
        cmocka_unit_test(test_depth),
        cmocka_unit_test(test_errors_are_found_in_bare_text),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
