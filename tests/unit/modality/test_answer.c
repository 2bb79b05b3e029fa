/* SPDX-License-Identifier: Apache-2.0 */
#include "modality/chat_answer.h"
#include "support/check.h"

#include <stdio.h>
#include <string.h>

#define DELTA(members) "{\"id\":\"1\",\"choices\":[{\"index\":0,\"delta\":{" members "},\"finish_reason\":null}]}"
#define CONTENT(text)  DELTA("\"content\":\"" text "\"")
#define FINISH         "{\"id\":\"1\",\"choices\":[{\"index\":0,\"delta\":{},\"finish_reason\":\"stop\"}]}"
#define USAGE(p, c)    "{\"choices\":[],\"usage\":{\"prompt_tokens\":" #p ",\"completion_tokens\":" #c "}}"

static struct chat_wish wish;
static struct chat_answer answer;
static struct request_record record;
static int64_t clock_ns; /* of the next event */

static void begin(bool expects_stream, bool is_stream)
{
    struct http_response_head head = {.status = 200};
    chat_answer_prepare(&answer, expects_stream, 7, 100);
    chat_answer_begin(&wish, &answer, &head, is_stream);
    clock_ns = 1000;
}

static int setup(void **state)
{
    (void)state;
    wish = (struct chat_wish){.choices = 1, .save_texts = true};
    begin(true, true);
    return 0;
}

static int teardown(void **state)
{
    (void)state;
    chat_answer_done(&answer);
    answer = (struct chat_answer){0};
    return 0;
}

static bool give_named(const char *data, const char *name)
{
    struct sse_event event = {.data = data, .len = strlen(data), .name = name};
    struct arrival arrival = {.ns = clock_ns, .user_ns = clock_ns + 5, .is_kernel = true};
    clock_ns += 1000;
    return chat_answer_event(&wish, &answer, &event, &arrival);
}

static bool give(const char *data)
{
    return give_named(data, "");
}

static void give_body(const char *data)
{
    struct arrival arrival = {.ns = clock_ns, .user_ns = clock_ns + 5, .is_kernel = true};
    chat_answer_body(&wish, &answer, data, strlen(data), &arrival);
}

static void end_with(struct answer_close close, const struct sse_reader *sse)
{
    record_init(&record);
    chat_answer_end(&wish, &answer, &close, sse, &record);
}

static void end_well(void)
{
    end_with((struct answer_close){.body_complete = true, .reason = ""}, NULL);
}

static void expect_failure(enum error_type type, const char *words)
{
    assert_int_equal(record.outcome, OUTCOME_FAILED);
    assert_string_equal(error_type_name(record.error_type), error_type_name(type));
    assert_non_null(record.error_message.at);
    if (!memmem(record.error_message.at, record.error_message.len, words, strlen(words)))
        fail_msg("\"%s\" is not in \"%.*s\"", words, (int)record.error_message.len, record.error_message.at);
}

static void expect_saved(struct record_text text, const char *expected)
{
    if (!expected) {
        assert_null(text.at);
        return;
    }
    assert_non_null(text.at);
    assert_int_equal(text.len, strlen(expected));
    assert_memory_equal(text.at, expected, text.len);
}

static void test_a_whole_stream(void **state)
{
    (void)state;
    give(DELTA("\"role\":\"assistant\",\"content\":\"\""));
    give(CONTENT("One"));
    give(CONTENT(" two"));
    give(CONTENT("-and \\u0041"));
    give(FINISH);
    give(USAGE(11, 5));
    assert_true(give("[DONE]"));
    end_well();
    assert_int_equal(record.outcome, OUTCOME_OK);
    assert_int_equal(record.flags, RECORD_FLAG_SHARED_READ); /* no read_end was told */
    assert_int_equal(record.events, 6);
    assert_int_equal(record.content_chunks, 3);
    assert_int_equal(record.completion_words, 3);
    assert_int_equal(record.prompt_words, 7);
    assert_int_equal(record.max_tokens, 100);
    assert_int_equal(record.prompt_tokens, 11);
    assert_int_equal(record.completion_tokens, 5);
    assert_int_equal(record.total_tokens, 16);
    assert_int_equal(record.reasoning_tokens, -1);
    assert_false(record.usage_missing);
    assert_true(record.done_seen);
    assert_string_equal(record.finish_reason, "stop");
    assert_int_equal(record.first_event_ns, 1000);
    assert_int_equal(record.role_ns, 1000);
    assert_int_equal(record.first_content_ns, 2000);
    assert_int_equal(record.last_content_ns, 4000);
    assert_int_equal(record.usage_ns, 6000);
    assert_int_equal(record.done_mark_ns, 7000);
    assert_int_equal(record.first_reasoning_ns, -1);
    assert_int_equal(record.client_lag_ns, 5);
    expect_saved(record.content, "\"One two-and \\u0041\"");
    expect_saved(record.reasoning, NULL);
    expect_saved(record.tool_arguments, NULL);
}

static void test_reads_decide_what_is_exact(void **state)
{
    (void)state;
    give(CONTENT("a"));
    chat_answer_read_end(&answer, true);
    give(CONTENT("b"));
    give(CONTENT("c"));
    chat_answer_read_end(&answer, true);
    give(CONTENT("d"));
    give(FINISH);
    chat_answer_read_end(&answer, true);
    give(CONTENT("e"));
    chat_answer_read_end(&answer, false);
    give("[DONE]");
    chat_answer_read_end(&answer, true);
    end_well();
    assert_int_equal(record.stamp, RECORD_STAMP_KERNEL);
    assert_int_equal(record.flags & RECORD_FLAG_SHARED_READ, 0);
    assert_int_equal(record.content_chunks, 5);
    assert_int_equal(record.censored_chunks, 3); /* b; d; e */
}

static void test_a_shared_first_read_is_censored(void **state)
{
    (void)state;
    static const char *const after[] = {CONTENT("b"), FINISH, "[DONE]"};
    for (size_t i = 0; i < ARRAY_COUNT(after); i++) {
        begin(true, true);
        give(CONTENT("a"));
        give(after[i]);
        chat_answer_read_end(&answer, true);
        give("[DONE]");
        end_well();
        assert_int_equal(record.stamp, RECORD_STAMP_CENSORED);
        assert_true(record.flags & RECORD_FLAG_SHARED_READ);
    }
    begin(true, true);
    give(DELTA("\"role\":\"assistant\""));
    give(CONTENT("a")); /* last of its read: exact whatever came before */
    chat_answer_read_end(&answer, true);
    end_well();
    assert_int_equal(record.stamp, RECORD_STAMP_KERNEL);
}

static void test_a_user_stamp_is_told(void **state)
{
    (void)state;
    struct sse_event event = {.data = CONTENT("a"), .len = sizeof CONTENT("a") - 1, .name = ""};
    struct arrival arrival = {.ns = 500, .user_ns = 500};
    chat_answer_event(&wish, &answer, &event, &arrival);
    chat_answer_read_end(&answer, true);
    give("[DONE]");
    end_well();
    assert_int_equal(record.stamp, RECORD_STAMP_USER);
    assert_int_equal(record.client_lag_ns, -1);
}

static void test_gaps(void **state)
{
    (void)state;
    static const int64_t times[] = {100, 100, 227, 355, 16739, 10, 1000000010};
    static const uint8_t expected[] = {0, 127, 128, 1, 128, 128, 1, 0, 128, 148, 235, 220, 3};
    for (size_t i = 0; i < ARRAY_COUNT(times); i++) {
        clock_ns = times[i];
        give(CONTENT("x"));
    }
    end_well();
    assert_int_equal(record.gaps.len, sizeof expected);
    assert_memory_equal(record.gaps.at, expected, sizeof expected);
    begin(true, true);
    give(CONTENT("x"));
    give("[DONE]");
    end_well();
    assert_null(record.gaps.at);
}

static void test_many_gaps_grow_and_are_kept(void **state)
{
    (void)state;
    for (int i = 0; i < 1000; i++) {
        give(CONTENT("x"));
        clock_ns += 1000000000;
    }
    end_well();
    assert_int_equal(record.gaps.len, 999 * 5);
    const uint8_t *kept = answer.gaps.bytes;
    begin(true, true);
    give(CONTENT("x"));
    give(CONTENT("x"));
    assert_ptr_equal(answer.gaps.bytes, kept);
}

static void test_usage_rules(void **state)
{
    (void)state;
    static const struct {
        const char *events[3];
        int64_t prompt, completion;
        uint32_t flags;
    } cases[] = {
        {{USAGE(5, 1), USAGE(5, 2), USAGE(5, 3)}, 5, 3, 0},
        {{USAGE(0, 0), USAGE(5, 3), NULL}, 5, 3, 0},
        {{USAGE(5, 3), USAGE(0, 0), NULL}, 5, 3, 0},
        {{USAGE(5, 3), "{\"choices\":[],\"usage\":null}", NULL}, 5, 3, 0},
        {{USAGE(5, 3), USAGE(5, 2), NULL}, 5, 2, RECORD_FLAG_USAGE_SHRANK},
        {{USAGE(5, 3), USAGE(5, 0), NULL}, 5, 3, 0},
        {{USAGE(5, 0), NULL, NULL}, 5, 0, RECORD_FLAG_ZERO_TOKENS},
        {{USAGE(0, 0), NULL, NULL}, -1, -1, 0},
        {{"{\"choices\":[],\"usage\":{}}", NULL, NULL}, -1, -1, 0},
        {{USAGE(null, null), NULL, NULL}, -1, -1, 0},
        {{USAGE(5, 101), NULL, NULL}, 5, 101, RECORD_FLAG_LENGTH_IGNORED},
    };
    for (size_t i = 0; i < ARRAY_COUNT(cases); i++) {
        begin(true, true);
        give(CONTENT("x"));
        chat_answer_read_end(&answer, true);
        for (size_t j = 0; j < 3 && cases[i].events[j]; j++)
            give(cases[i].events[j]);
        give("[DONE]");
        end_well();
        assert_int_equal(record.prompt_tokens, cases[i].prompt);
        assert_int_equal(record.completion_tokens, cases[i].completion);
        assert_int_equal(record.flags, cases[i].flags);
        assert_int_equal(record.usage_missing, cases[i].completion < 0);
    }
}

static void test_reasoning_tokens(void **state)
{
    (void)state;
    static const struct {
        const char *details;
        int64_t expected;
    } cases[] = {{"{\"reasoning_tokens\":3}", 3},
                 {"{\"reasoning_tokens\":0}", 0},
                 {"{\"reasoning_tokens\":6}", -1},
                 {"{\"reasoning_tokens\":null}", -1},
                 {"null", -1},
                 {"{\"reasoning_tokens\":-2}", -1},
                 {"{\"reasoning_tokens\":1.5}", -1}};
    for (size_t i = 0; i < ARRAY_COUNT(cases); i++) {
        char text[256];
        begin(true, true);
        snprintf(
            text, sizeof text,
            "{\"choices\":[],\"usage\":{\"prompt_tokens\":1,\"completion_tokens\":5,\"completion_tokens_details\":%s}}",
            cases[i].details);
        give(text);
        give("[DONE]");
        end_well();
        assert_int_equal(record.reasoning_tokens, cases[i].expected);
    }
}

static void test_reasoning_is_its_own_channel(void **state)
{
    (void)state;
    give(DELTA("\"content\":null,\"reasoning_content\":\"think \""));
    give(DELTA("\"content\":null,\"reasoning_content\":\"hard\""));
    give(DELTA("\"reasoning\":\"!\",\"reasoning_content\":\"!\""));
    give(CONTENT("answer"));
    give(FINISH);
    end_well();
    assert_int_equal(record.first_reasoning_ns, 1000);
    assert_int_equal(record.first_content_ns, 4000);
    assert_int_equal(record.content_chunks, 1);
    assert_int_equal(record.completion_words, 1);
    expect_saved(record.reasoning, "\"think hard!\"");
    expect_saved(record.content, "\"answer\"");
    assert_true(record.flags & RECORD_FLAG_NO_DONE);
}

static void test_tools_and_refusals_are_output(void **state)
{
    (void)state;
    static const char *const deltas[] = {DELTA("\"tool_calls\":[{\"function\":{\"name\":\"f\",\"arguments\":\"{}\"}}]"),
                                         DELTA("\"refusal\":\"No.\""), DELTA("\"reasoning\":\"hm\"")};
    for (size_t i = 0; i < ARRAY_COUNT(deltas); i++) {
        begin(true, true);
        give(deltas[i]);
        give(FINISH);
        give("[DONE]");
        end_well();
        assert_int_equal(record.outcome, OUTCOME_OK);
        assert_int_equal(record.flags, 0);
        assert_int_equal(record.first_content_ns, -1);
        assert_int_equal(record.first_tool_ns, i == 0 ? 1000 : -1);
        expect_saved(record.tool_arguments, i == 0 ? "\"{}\"" : NULL);
        expect_saved(record.content, "\"\"");
    }
}

static void test_no_output_is_flagged(void **state)
{
    (void)state;
    give(DELTA("\"role\":\"assistant\",\"content\":\"\""));
    give(FINISH);
    give("[DONE]");
    end_well();
    assert_int_equal(record.outcome, OUTCOME_OK);
    assert_int_equal(record.flags, RECORD_FLAG_NO_OUTPUT);
    begin(true, true);
    give("[DONE]");
    end_well();
    assert_int_equal(record.outcome, OUTCOME_OK);
    assert_int_equal(record.flags, RECORD_FLAG_NO_OUTPUT);
}

static void test_a_stream_without_an_end(void **state)
{
    (void)state;
    end_well();
    expect_failure(ERROR_TYPE_BODY, "without a finish reason");
    begin(true, true);
    give(CONTENT("x"));
    give(DELTA("\"content\":\"\"")); /* finish_reason null */
    give("{\"choices\":[{\"delta\":{},\"finish_reason\":\"\"}]}");
    end_well();
    expect_failure(ERROR_TYPE_BODY, "without a finish reason");
    assert_string_equal(record.finish_reason, "");
    begin(true, true);
    give(CONTENT("x"));
    give(FINISH);
    end_with((struct answer_close){.reason = "the connection was reset"}, NULL);
    expect_failure(ERROR_TYPE_BODY, "reset");
    begin(true, true);
    give(CONTENT("x"));
    give("[DONE]");
    end_with((struct answer_close){.drained_early = true, .reason = "the connection was reset"}, NULL);
    assert_int_equal(record.outcome, OUTCOME_OK);
    assert_true(record.flags & RECORD_FLAG_UNCLEAN_CLOSE);
}

static void test_every_choice_has_to_finish(void **state)
{
    (void)state;
    static const char second[] = "{\"choices\":[{\"index\":1,\"delta\":{\"content\":\"y z\"},\"finish_reason\":null}]}";
    wish.choices = 2;
    chat_answer_done(&answer);
    begin(true, true);
    give(CONTENT("x "));
    give(second);
    give(FINISH);
    end_well();
    expect_failure(ERROR_TYPE_BODY, "without a finish reason");
    begin(true, true);
    give(CONTENT("x "));
    give(second);
    give(CONTENT("x"));
    give(FINISH);
    give("{\"choices\":[{\"index\":1,\"delta\":{},\"finish_reason\":\"length\"}]}");
    end_well();
    assert_int_equal(record.outcome, OUTCOME_OK);
    assert_string_equal(record.finish_reason, "length");
    assert_int_equal(record.completion_words, 4); /* a word does not go on in another choice */
    expect_saved(record.content, "[\"x x\",\"y z\"]");
    assert_int_equal(record.flags & RECORD_FLAG_COUNT_MISMATCH, 0);
    begin(true, true);
    give(CONTENT("x"));
    give(FINISH);
    end_well();
    assert_true(record.flags & RECORD_FLAG_COUNT_MISMATCH);
}

static void test_one_event_with_two_choices(void **state)
{
    (void)state;
    wish.choices = 2;
    chat_answer_done(&answer);
    begin(true, true);
    give("{\"choices\":[{\"index\":1,\"delta\":{\"content\":\"b\"}},{\"index\":0,\"delta\":{\"content\":\"a\"}}]}");
    give("[DONE]");
    end_well();
    assert_int_equal(record.content_chunks, 1);
    assert_int_equal(record.completion_words, 2);
    expect_saved(record.content, "[\"a\",\"b\"]");
}

static void test_errors_in_the_stream(void **state)
{
    (void)state;
    static const struct {
        const char *name, *data, *words;
    } cases[] = {
        {"", "{\"error\":{\"message\":\"Engine stopped.\",\"code\":500}}", "Engine stopped."},
        {"", "{\"error\":\"queue dropped\"}", "queue dropped"},
        {"", "{\"error\":true}", ""},
        {"error", "{\"message\":\"Backend lost\"}", "Backend lost"},
        {"error", "plain words", "plain words"},
        {"error", "", "error"},
        {"", "{\"error\":{\"message\":\"late\"},\"choices\":[{\"index\":0,\"delta\":{},\"finish_reason\":\"stop\"}]}",
         "late"},
    };
    for (size_t i = 0; i < ARRAY_COUNT(cases); i++) {
        begin(true, true);
        give(CONTENT("x"));
        assert_false(give_named(cases[i].data, cases[i].name));
        give("[DONE]");
        end_well();
        expect_failure(ERROR_TYPE_SERVER_REPORTED, cases[i].words);
        assert_int_equal(record.content_chunks, 1);
    }
}

static void test_no_error_where_none_is_meant(void **state)
{
    (void)state;
    give_named(CONTENT("x"), "message");
    give_named("{\"error\":null,\"choices\":[]}", "chunk");
    give(DELTA("\"content\":\"{\\\"error\\\":1} data: [DONE]\""));
    give(FINISH);
    assert_true(give("  [DONE]\t"));
    assert_true(give("{\"error\":{\"message\":\"after the end\"}}"));
    end_well();
    assert_int_equal(record.outcome, OUTCOME_OK);
    assert_int_equal(record.events, 4);
    assert_false(record.oom);
}

static void test_out_of_memory_is_read_from_errors_only(void **state)
{
    (void)state;
    give(CONTENT("CUDA out of memory"));
    give("[DONE]");
    end_well();
    assert_false(record.oom);
    begin(true, true);
    give("{\"error\":{\"message\":\"CUDA out of memory\"}}");
    end_well();
    assert_true(record.oom);
    begin(true, true);
    give("{\"choices\":[{\"delta\":{\"content\":\"out of memory");
    end_well();
    expect_failure(ERROR_TYPE_DECODE, "not JSON");
    assert_false(record.oom);
}

static void test_damaged_events(void **state)
{
    (void)state;
    static const char *const harmless[] = {": waiting", "", "  ", "\"ping\"", "5", "null", "[]"};
    for (size_t i = 0; i < ARRAY_COUNT(harmless); i++) {
        begin(true, true);
        give(harmless[i]);
        give(CONTENT("x"));
        chat_answer_read_end(&answer, true);
        give("[DONE]");
        end_well();
        assert_int_equal(record.outcome, OUTCOME_OK);
        assert_int_equal(record.flags, RECORD_FLAG_DAMAGED_EVENT);
        assert_int_equal(record.damaged_events, 1);
        assert_int_equal(record.events, 2);
        assert_int_equal(record.first_content_ns, 2000);
    }
    begin(true, true);
    give("Internal Server Error");
    give("{\"choices\":[{\"ind");
    give("[DONE]");
    end_well();
    expect_failure(ERROR_TYPE_DECODE, "a data event is not JSON: Internal Server Error");
    assert_int_equal(record.damaged_events, 2);
}

static struct sse_reader stray_reader(const char *line)
{
    struct sse_reader sse = {.stray_lines = 1};
    snprintf(sse.stray, sizeof sse.stray, "%s", line);
    return sse;
}

static void test_stray_lines(void **state)
{
    (void)state;
    const struct answer_close complete = {.body_complete = true, .reason = ""};
    struct sse_reader sse = stray_reader("worker exited");
    give(CONTENT("x"));
    end_with(complete, &sse);
    expect_failure(ERROR_TYPE_SERVER_REPORTED, "worker exited");
    begin(true, true);
    give(CONTENT("x"));
    give("[DONE]");
    end_with(complete, &sse);
    assert_int_equal(record.outcome, OUTCOME_OK);
    assert_true(record.flags & RECORD_FLAG_STRAY_LINE);
    static const char *const errors[] = {"error: {\"code\":400,\"message\":\"prompt too long\"}",
                                         "{\"error\":{\"message\":\"prompt too long\"}}"};
    for (size_t i = 0; i < ARRAY_COUNT(errors); i++) {
        sse = stray_reader(errors[i]);
        begin(true, true);
        give("[DONE]");
        end_with(complete, &sse);
        expect_failure(ERROR_TYPE_SERVER_REPORTED, "prompt too long");
    }
}

static void test_bodies(void **state)
{
    (void)state;
    static const struct {
        const char *body;
        enum error_type error;
        const char *words;
    } cases[] = {
        {"", ERROR_TYPE_SCHEMA, "no body"},
        {"<html><title>Busy</title></html>", ERROR_TYPE_DECODE, "not JSON: Busy"},
        {"{\"choices\":[", ERROR_TYPE_DECODE, "not JSON"},
        {"{\"error\":{\"message\":\"Tenant paused.\"}}", ERROR_TYPE_SERVER_REPORTED, "Tenant paused."},
        {"{}", ERROR_TYPE_SCHEMA, "no choices"},
        {"{\"choices\":[]}", ERROR_TYPE_SCHEMA, "no choices"},
        {"{\"choices\":{}}", ERROR_TYPE_SCHEMA, "no choices"},
    };
    for (size_t i = 0; i < ARRAY_COUNT(cases); i++) {
        begin(false, false);
        give_body(cases[i].body);
        end_well();
        expect_failure(cases[i].error, cases[i].words);
    }
    begin(false, false);
    give_body("{\"choices\":[{\"index\":0,\"message\":{\"role\":\"assistant\",\"content\":\"One "
              "body\",\"reasoning_content\":\"r\"},\"finish_reason\":\"stop\"}],"
              "\"usage\":{\"prompt_tokens\":3,\"completion_tokens\":2,\"total_tokens\":5}}");
    end_well();
    assert_int_equal(record.outcome, OUTCOME_OK);
    assert_int_equal(record.flags, 0);
    assert_int_equal(record.events, -1);
    assert_int_equal(record.content_chunks, -1);
    assert_int_equal(record.first_content_ns, -1);
    assert_int_equal(record.first_reasoning_ns, -1);
    assert_int_equal(record.completion_words, 2);
    assert_int_equal(record.completion_tokens, 2);
    assert_string_equal(record.finish_reason, "stop");
    expect_saved(record.content, "\"One body\"");
    expect_saved(record.reasoning, "\"r\"");
}

static void test_another_format_than_asked(void **state)
{
    (void)state;
    begin(true, false);
    give_body("{\"choices\":[{\"message\":{\"content\":\"x\"},\"finish_reason\":\"stop\"}]}");
    end_well();
    assert_int_equal(record.flags, RECORD_FLAG_JSON_FOR_STREAM);
    begin(false, true);
    give(CONTENT("x"));
    chat_answer_read_end(&answer, true);
    give("[DONE]");
    end_well();
    assert_int_equal(record.flags, RECORD_FLAG_STREAM_FOR_JSON);
}

static void end_decided(enum outcome outcome, enum error_type type)
{
    struct answer_close close = {.reason = "x"};
    record_init(&record);
    record.outcome = (uint8_t)outcome;
    record.error_type = (uint8_t)type;
    chat_answer_end(&wish, &answer, &close, NULL, &record);
}

static void test_the_engines_verdict_stands(void **state)
{
    (void)state;
    give(CONTENT("x"));
    end_decided(OUTCOME_TIMED_OUT, ERROR_TYPE_TIMEOUT);
    assert_int_equal(record.outcome, OUTCOME_TIMED_OUT);
    assert_int_equal(record.error_type, ERROR_TYPE_TIMEOUT);
    assert_int_equal(record.content_chunks, 1);
    expect_saved(record.content, "\"x\"");
    begin(true, true);
    give(CONTENT("x"));
    end_decided(OUTCOME_FAILED, ERROR_TYPE_BODY);
    assert_int_equal(record.error_type, ERROR_TYPE_BODY);
    begin(true, true);
    give("{\"error\":\"the reason\"}");
    end_decided(OUTCOME_FAILED, ERROR_TYPE_BODY); /* cut off after saying why */
    expect_failure(ERROR_TYPE_SERVER_REPORTED, "the reason");
    begin(true, true);
    give("{\"error\":\"the reason\"}");
    end_decided(OUTCOME_CANCELLED, ERROR_TYPE_NONE);
    assert_int_equal(record.outcome, OUTCOME_CANCELLED);
}

static void test_a_try_without_an_answer(void **state)
{
    (void)state;
    struct http_response_head none = {0};
    give(CONTENT("of the try before"));
    chat_answer_begin(&wish, &answer, &none, false);
    end_decided(OUTCOME_FAILED, ERROR_TYPE_CONNECTION);
    assert_int_equal(record.error_type, ERROR_TYPE_CONNECTION);
    assert_int_equal(record.completion_words, -1);
    assert_null(record.content.at);
    assert_int_equal(record.first_content_ns, -1);
    assert_true(record.usage_missing);
    assert_int_equal(record.prompt_words, 7);
}

static void test_saved_texts_are_bounded_and_sound(void **state)
{
    (void)state;
    wish.save_limit_bytes = 5;
    give(CONTENT("abc"));
    give(CONTENT("def"));
    give("[DONE]");
    end_well();
    expect_saved(record.content, "\"abcde\"");
    assert_true(record.flags & RECORD_FLAG_CONTENT_CUT);
    assert_int_equal(record.content_chunks, 2);
    wish.save_limit_bytes = 0;
    begin(true, true);
    give(CONTENT("a\\ud83e"));
    give(CONTENT("\\udd89b\xFF"));
    give("[DONE]");
    end_well();
    expect_saved(record.content, "\"a\xEF\xBF\xBD\xEF\xBF\xBD"
                                 "b\xEF\xBF\xBD\"");
    assert_true(record.flags & RECORD_FLAG_INVALID_UTF8);
    assert_int_equal(record.flags & RECORD_FLAG_CONTENT_CUT, 0);
}

static void test_secrets_are_removed(void **state)
{
    (void)state;
    static const char *const secrets[] = {"sk-123456", NULL};
    wish.secrets = secrets;
    give("{\"error\":{\"message\":\"bad key sk-123456 given\"}}");
    end_well();
    expect_failure(ERROR_TYPE_SERVER_REPORTED, "bad key");
    assert_null(memmem(record.error_message.at, record.error_message.len, "sk-123456", 9));
}

static void test_the_answer_is_small(void **state)
{
    (void)state;
    assert_true(sizeof(struct chat_answer) <= 3072);
}

#define TEST(function) cmocka_unit_test_setup_teardown(function, setup, teardown)

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(test_a_whole_stream),
        TEST(test_reads_decide_what_is_exact),
        TEST(test_a_shared_first_read_is_censored),
        TEST(test_a_user_stamp_is_told),
        TEST(test_gaps),
        TEST(test_many_gaps_grow_and_are_kept),
        TEST(test_usage_rules),
        TEST(test_reasoning_tokens),
        TEST(test_reasoning_is_its_own_channel),
        TEST(test_tools_and_refusals_are_output),
        TEST(test_no_output_is_flagged),
        TEST(test_a_stream_without_an_end),
        TEST(test_every_choice_has_to_finish),
        TEST(test_one_event_with_two_choices),
        TEST(test_errors_in_the_stream),
        TEST(test_no_error_where_none_is_meant),
        TEST(test_out_of_memory_is_read_from_errors_only),
        TEST(test_damaged_events),
        TEST(test_stray_lines),
        TEST(test_bodies),
        TEST(test_another_format_than_asked),
        TEST(test_the_engines_verdict_stands),
        TEST(test_a_try_without_an_answer),
        TEST(test_saved_texts_are_bounded_and_sound),
        TEST(test_secrets_are_removed),
        TEST(test_the_answer_is_small),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
