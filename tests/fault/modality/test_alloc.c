/* SPDX-License-Identifier: Apache-2.0 */
/* Every allocation fails once: requests are refused, answers lose what they wanted to keep and say so. */
#include "modality/llm.h"
#include "support/check.h"
#include "support/faults.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

static as_status use_llm(void *context)
{
    const struct prompts *prompts = context;
    struct llm_config config = {.model = "m", .temperature = NAN, .extra_body = "{\"a\":[1,2]}"};
    struct llm *llm;
    struct as_error err;
    as_status status = llm_new(&config, prompts, &llm, &err);
    if (status == AS_OK)
        llm_free(llm);
    return status;
}

static void test_requests(void **state)
{
    (void)state;
    static const char text[] = "{\"prompt\":\"a\"}\n{\"prompt\":\"b\"}\n";
    struct prompts prompts;
    struct as_error err;
    assert_int_equal(prompts_parse(text, sizeof text - 1, NULL, &prompts, &err), AS_OK);
    assert_true(fault_each(FAULT_ALLOC, AS_E_NOMEM, use_llm, &prompts) >= 3);
    prompts_done(&prompts);
}

/* One stream, taken in with the n-th allocation failing. */
static void take_stream(struct chat_answer *answer, const struct chat_wish *wish, struct request_record *record)
{
    static const char data[] = "{\"choices\":[{\"index\":0,\"delta\":{\"content\":\"word \"}}]}";
    const struct http_response_head head = {.status = 200};
    const struct answer_close close = {.body_complete = true, .reason = ""};
    chat_answer_prepare(answer, true, 1, -1);
    chat_answer_begin(wish, answer, &head, true);
    for (int64_t i = 0; i < 200; i++) {
        struct sse_event event = {.data = data, .len = sizeof data - 1, .name = ""};
        struct arrival arrival = {.ns = i * 1000000, .user_ns = i * 1000000};
        chat_answer_event(wish, answer, &event, &arrival);
    }
    struct sse_event done = {.data = "[DONE]", .len = 6, .name = ""};
    struct arrival last = {.ns = 200000000, .user_ns = 200000000};
    chat_answer_event(wish, answer, &done, &last);
    record_init(record);
    chat_answer_end(wish, answer, &close, NULL, record);
}

static void test_answers(void **state)
{
    (void)state;
    const struct chat_wish wish = {.choices = 1, .save_texts = true};
    struct request_record record;
    size_t nth = 1, calls = 1;
    for (; calls >= nth; nth++) {
        struct chat_answer answer = {0};
        fault_blocks_watch();
        fault_arm(FAULT_ALLOC, nth);
        take_stream(&answer, &wish, &record);
        calls = fault_calls(FAULT_ALLOC);
        fault_disarm();
        assert_int_equal(record.outcome, OUTCOME_OK);
        assert_int_equal(record.content_chunks, 200);
        assert_int_equal(record.completion_words, 200);
        bool is_whole = record.content.len == 200 * 5 + 2;
        assert_int_equal((record.flags & RECORD_FLAG_CONTENT_CUT) == 0, is_whole);
        assert_true(!record.gaps.at || record.gaps.len == 199 * 3);
        if (calls < nth)
            assert_true(is_whole && record.gaps.at && record.shared_chunks.at);
        else
            assert_false(is_whole && record.gaps.at && record.shared_chunks.at);
        chat_answer_done(&answer);
        assert_int_equal(fault_blocks_left(), 0);
    }
    assert_true(nth > 5);
}

/* The second request of a slot allocates nothing. */
static void test_a_steady_slot_allocates_nothing(void **state)
{
    (void)state;
    const struct chat_wish wish = {.choices = 1, .save_texts = true};
    struct chat_answer answer = {0};
    struct request_record record;
    take_stream(&answer, &wish, &record);
    fault_arm(FAULT_ALLOC, 0);
    take_stream(&answer, &wish, &record);
    assert_int_equal(fault_calls(FAULT_ALLOC), 0);
    chat_answer_done(&answer);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_requests),
        cmocka_unit_test(test_answers),
        cmocka_unit_test(test_a_steady_slot_allocates_nothing),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
