/* SPDX-License-Identifier: Apache-2.0 */
#include "base/json.h"
#include "modality/llm.h"
#include "support/check.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

static struct prompts prompts;
static struct llm_config config;

static int setup(void **state)
{
    (void)state;
    static const char text[] = "{\"prompt\":\"Say \\\"hi\\\"\\n\\u00e9\",\"id\":\"first\"}\n"
                               "{\"prompt\":\"Two words\",\"expected_output_tokens\":9}\n";
    struct as_error err;
    config = (struct llm_config){
        .model = "m", .temperature = NAN, .min_tokens = -1, .max_tokens = 64, .run_id = "run-1", .run_seed = 42};
    return prompts_parse(text, sizeof text - 1, NULL, &prompts, &err) == AS_OK ? 0 : -1;
}

static int teardown(void **state)
{
    (void)state;
    prompts_done(&prompts);
    return 0;
}

static struct llm *make(void)
{
    struct llm *llm;
    struct as_error err;
    if (llm_new(&config, &prompts, &llm, &err) != AS_OK)
        fail_msg("%s", err.message);
    return llm;
}

static void expect_body(int64_t seq, const char *expected)
{
    struct llm *llm = make();
    struct strbuf body;
    strbuf_init(&body, 0);
    assert_int_equal(llm_body(llm, seq, &body), AS_OK);
    assert_string_equal(strbuf_text(&body), expected);
    assert_true(json_cursor_validate(body.data, body.len, NULL));
    strbuf_done(&body);
    llm_free(llm);
}

#define SYSTEM "{\"role\":\"system\",\"content\":\"You are a helpful assistant.\"},"
#define FIRST  "{\"role\":\"user\",\"content\":\"Say \\\"hi\\\"\\n\xC3\xA9\"}"

static void test_the_plainest_chat(void **state)
{
    (void)state;
    expect_body(0, "{\"model\":\"m\",\"messages\":[" SYSTEM FIRST "],\"max_tokens\":64}");
    config.system_prompt = "";
    expect_body(0, "{\"model\":\"m\",\"messages\":[" FIRST "],\"max_tokens\":64}");
    config.system_prompt = "Be brief.";
    config.max_tokens = 0;
    expect_body(0, "{\"model\":\"m\",\"messages\":[{\"role\":\"system\",\"content\":\"Be brief.\"}," FIRST "]}");
}

static void test_a_prompts_own_limit(void **state)
{
    (void)state;
    config.system_prompt = "";
    config.max_tokens_field = "max_completion_tokens";
    expect_body(
        1,
        "{\"model\":\"m\",\"messages\":[{\"role\":\"user\",\"content\":\"Two words\"}],\"max_completion_tokens\":9}");
}

static void test_everything(void **state)
{
    (void)state;
    config.api = LLM_COMPLETION;
    config.streaming = true;
    config.min_tokens = 0;
    config.ignore_eos = true;
    config.temperature = 0.7;
    config.has_seed = true;
    config.seed = -3;
    config.choices = 2;
    expect_body(1, "{\"model\":\"m\",\"prompt\":\"Two "
                   "words\",\"max_tokens\":9,\"min_tokens\":0,\"ignore_eos\":true,\"temperature\":0.7,"
                   "\"seed\":-3,\"n\":2,\"stream\":true,\"stream_options\":{\"include_usage\":true}}");
}

static void test_extra_members_replace_ours(void **state)
{
    (void)state;
    config.api = LLM_COMPLETION;
    config.streaming = true;
    config.temperature = 0;
    config.extra_body = "{\"top_k\":1e2,\"temperature\":1.50,\"model\":\"other\",\"stream_options\":null,\"top_k\":5,"
                        "\"a\":{\"b\":[1,\"\\u00e9\"]}}";
    expect_body(1,
                "{\"prompt\":\"Two words\",\"max_tokens\":9,\"stream\":true,\"temperature\":1.50,\"model\":\"other\","
                "\"stream_options\":null,\"top_k\":5,\"a\":{\"b\":[1,\"\xC3\xA9\"]}}");
}

/* The number of choices may come from the extra body: the record then has as many texts. */
static void test_choices_from_the_extra_body(void **state)
{
    (void)state;
    static const char event_text[] =
        "{\"choices\":[{\"index\":1,\"delta\":{\"content\":\"b\"}},{\"index\":0,\"delta\":{\"content\":\"a\"}}]}";
    const struct modality *modality = llm_modality();
    const struct http_response_head head = {.status = 200};
    const struct sse_event events[] = {{event_text, sizeof event_text - 1, ""}, {"[DONE]", 6, ""}};
    const struct answer_close close = {.body_complete = true, .reason = ""};
    struct arrival arrival = {.ns = 1, .user_ns = 1};
    struct request_record record;
    struct payload payload;
    struct as_error err;
    config.api = LLM_COMPLETION;
    config.save_content = true;
    config.extra_body = "{\"n\":2}";
    expect_body(1, "{\"model\":\"m\",\"prompt\":\"Two words\",\"max_tokens\":9,\"n\":2}");
    struct llm *llm = make();
    void *answer = calloc(1, modality->answer_bytes);
    assert_non_null(answer);
    assert_int_equal(modality->build(llm, answer, 0, &payload, &err), AS_OK);
    modality->begin(llm, answer, &head, true);
    for (size_t i = 0; i < ARRAY_COUNT(events); i++)
        modality->event(llm, answer, &events[i], &arrival);
    record_init(&record);
    modality->end(llm, answer, &close, NULL, &record);
    assert_int_equal(record.content.len, strlen("[\"a\",\"b\"]"));
    assert_memory_equal(record.content.at, "[\"a\",\"b\"]", record.content.len);
    assert_int_equal(record.flags & RECORD_FLAG_COUNT_MISMATCH, 0);
    modality->answer_done(llm, answer);
    free(answer);
    llm_free(llm);
}

static void test_requests_are_cycled(void **state)
{
    (void)state;
    config.system_prompt = "";
    config.max_tokens = 0;
    expect_body(2, "{\"model\":\"m\",\"messages\":[" FIRST "]}");
    assert_int_equal(prompts_shuffle(&prompts, 1), AS_OK);
    struct llm *llm = make();
    struct strbuf body;
    for (int64_t seq = 0; seq < 5; seq++) {
        strbuf_init(&body, 0);
        assert_int_equal(llm_body(llm, seq, &body), AS_OK);
        bool is_first = prompts_index(&prompts, seq) == 0;
        assert_int_equal(strstr(body.data, "Two words") == NULL, is_first);
        strbuf_done(&body);
    }
    llm_free(llm);
}

static void test_unique_prompts(void **state)
{
    (void)state;
    config.system_prompt = "{\"role\":\"user\",\"content\":\"";
    config.unique_prompts = true;
    config.max_tokens = 0;
    config.model = "\"prompt\":\"";
    expect_body(4, "{\"model\":\"\\\"prompt\\\":\\\"\",\"messages\":[{\"role\":\"system\",\"content\":\"{\\\"role\\\":"
                   "\\\"user\\\",\\\"content\\\":\\\"\"},"
                   "{\"role\":\"user\",\"content\":\"[run-1/42/4] Say \\\"hi\\\"\\n\xC3\xA9\"}]}");
    config.api = LLM_COMPLETION;
    expect_body(5, "{\"model\":\"\\\"prompt\\\":\\\"\",\"prompt\":\"[run-1/42/5] Two words\",\"max_tokens\":9}");
}

static void test_the_payload(void **state)
{
    (void)state;
    const struct modality *modality = llm_modality();
    struct payload payload = {0};
    struct as_error err;
    config.streaming = true;
    config.unique_prompts = true;
    struct llm *llm = make();
    void *answer = calloc(1, modality->answer_bytes);
    assert_non_null(answer);
    assert_int_equal(modality->build(llm, answer, 1, &payload, &err), AS_OK);
    assert_string_equal(payload.path, "/chat/completions");
    assert_string_equal(payload.content_type, "application/json");
    assert_string_equal(payload.accept, "text/event-stream");
    assert_true(payload.expects_stream);
    assert_string_equal(payload.prompt_id, "2");
    assert_int_equal(payload.prompt_words, 2);
    assert_int_equal(payload.max_tokens, 9);
    assert_int_equal(payload.part_count, 3);
    assert_int_equal(payload.parts[1].iov_len, strlen("[run-1/42/1] "));
    assert_memory_equal(payload.parts[1].iov_base, "[run-1/42/1] ", payload.parts[1].iov_len);
    assert_int_equal(modality->build(llm, answer, 0, &payload, &err), AS_OK);
    assert_string_equal(payload.prompt_id, "first");
    assert_int_equal(payload.max_tokens, 64);
    modality->answer_done(llm, answer);
    free(answer);
    llm_free(llm);
}

static void expect_refused(const char *words)
{
    struct llm *llm;
    struct as_error err;
    assert_int_equal(llm_new(&config, &prompts, &llm, &err), AS_E_USAGE);
    if (!strstr(err.message, words))
        fail_msg("\"%s\" is not in \"%s\"", words, err.message);
}

static void test_what_cannot_be(void **state)
{
    (void)state;
    static const char *const extras[] = {
        "{\"messages\":[]}", "{\"prompt\":1}", "{\"stream\":true}", "{\"n\":0}", "[]", "5", "{", "{} x"};
    for (size_t i = 0; i < ARRAY_COUNT(extras); i++) {
        config.extra_body = extras[i];
        expect_refused("--extra-body");
    }
    config.extra_body = NULL;
    config.model = "";
    expect_refused("--model");
    config.model = "m";
    config.choices = CHAT_CHOICES_MAX + 1;
    expect_refused("choices");
    config.choices = 1;
    config.run_id = "a\"b";
    expect_refused("run id");
}

#define TEST(function) cmocka_unit_test_setup_teardown(function, setup, teardown)

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(test_the_plainest_chat),
        TEST(test_a_prompts_own_limit),
        TEST(test_everything),
        TEST(test_extra_members_replace_ours),
        TEST(test_choices_from_the_extra_body),
        TEST(test_requests_are_cycled),
        TEST(test_unique_prompts),
        TEST(test_the_payload),
        TEST(test_what_cannot_be),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
