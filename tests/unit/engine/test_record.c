/* SPDX-License-Identifier: Apache-2.0 */
#include "engine/record.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <string.h>

#include <cmocka.h>

static struct request_record streamed(void)
{
    struct request_record record;
    record_init(&record);
    record.due_ns = 100;
    record.sent_ns = 150;
    record.first_reasoning_ns = 250;
    record.first_content_ns = 350;
    record.done_ns = 1350;
    record.completion_tokens = 11;
    return record;
}

static void test_unknown_is_minus_one(void **state)
{
    (void)state;
    struct request_record record;
    memset(&record, 0x55, sizeof record);
    record_init(&record);
    assert_int_equal(record.outcome, OUTCOME_OK);
    assert_int_equal(record.phase, PHASE_MEASURED);
    assert_int_equal(record.seq, -1);
    assert_int_equal(record.http_status, -1);
    assert_true(record.retry_after_s < 0);
    assert_int_equal(record.sent_ns, -1);
    assert_int_equal(record.usage_ns, -1);
    assert_int_equal(record.prompt_tokens, -1);
    assert_int_equal(record.damaged_events, -1);
    assert_int_equal(record.attempt_count, 0);
    assert_null(record.content.at);
    assert_null(record.gap_stats);
    assert_string_equal(record.prompt_id, "");
}

static void test_derive_stream(void **state)
{
    (void)state;
    struct request_record record = streamed();
    record_derive(&record, true);
    assert_int_equal(record.response_time_ns, 1200);
    assert_int_equal(record.queue_delay_ns, 50);
    assert_int_equal(record.response_latency_ns, 1250);
    assert_int_equal(record.ttft_ns, 200);
    assert_int_equal(record.ttft_spec_ns, 200);
    assert_int_equal(record.ttfr_ns, 100);
    assert_int_equal(record.tpot_ns, 100);
    assert_int_equal(record.tpot_spec_ns, 1000 / 11);
}

static void test_derive_closed_loop(void **state)
{
    (void)state;
    struct request_record record = streamed();
    record.due_ns = -1;
    record_derive(&record, true);
    assert_int_equal(record.queue_delay_ns, -1);
    assert_int_equal(record.response_latency_ns, -1);
    assert_int_equal(record.response_time_ns, 1200);
}

static void test_derive_without_stream(void **state)
{
    (void)state;
    struct request_record record = streamed();
    record_derive(&record, false);
    assert_int_equal(record.ttft_ns, -1);
    assert_int_equal(record.ttft_spec_ns, 1200);
    assert_int_equal(record.tpot_ns, -1);
    assert_int_equal(record.tpot_spec_ns, -1);
    record.outcome = OUTCOME_FAILED;
    record_derive(&record, false);
    assert_int_equal(record.ttft_spec_ns, -1);
}

static void test_derive_few_tokens(void **state)
{
    (void)state;
    struct request_record record = streamed();
    record.completion_tokens = 1;
    record_derive(&record, true);
    assert_int_equal(record.tpot_ns, -1);
    assert_int_equal(record.tpot_spec_ns, 1000);
    record.completion_tokens = 0;
    record_derive(&record, true);
    assert_int_equal(record.tpot_spec_ns, -1);
    record.completion_tokens = -1;
    record_derive(&record, true);
    assert_int_equal(record.tpot_spec_ns, -1);
    record.completion_tokens = 5;
    record.first_content_ns = -1;
    record_derive(&record, true);
    assert_int_equal(record.ttft_ns, -1);
    assert_int_equal(record.ttft_spec_ns, -1);
    assert_int_equal(record.tpot_ns, -1);
}

static void test_names(void **state)
{
    (void)state;
    assert_string_equal(outcome_name(OUTCOME_TIMED_OUT), "timed_out");
    assert_string_equal(phase_name(PHASE_RAMP_UP), "ramp_up");
    assert_string_equal(error_type_name(ERROR_TYPE_HTTP_OTHER), "http_other");
    assert_string_equal(error_type_name(ERROR_TYPE_NONE), "");
    assert_string_equal(record_stamp_name(RECORD_STAMP_CENSORED), "censored");
    assert_string_equal(outcome_name(OUTCOME_COUNT), "");
    assert_string_equal(error_type_name((enum error_type)200), "");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_unknown_is_minus_one), cmocka_unit_test(test_derive_stream),
        cmocka_unit_test(test_derive_closed_loop),   cmocka_unit_test(test_derive_without_stream),
        cmocka_unit_test(test_derive_few_tokens),    cmocka_unit_test(test_names),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
