/* SPDX-License-Identifier: Apache-2.0 */
/* Each reason of the verdict is there when its cause is, and not when it is not. */
#include "summary/validity.h"

#include "made_run.h"

#include <math.h>

#define N 120

static struct request_record records[N];

/* A clean run of 120 requests in two lanes, distinct prompts. */
static struct run_facts clean_run(void)
{
    struct run_facts facts = made_facts(N);
    for (int64_t i = 0; i < N; i++)
        records[i] = made_ok(i, i / 2 * 101 + i % 2 * 50, 100);
    return facts;
}

static struct summary judged(const struct run_facts *facts)
{
    struct summary s = made_summary(facts, records, N);
    assert_sound(&s);
    return s;
}

static void assert_only(const struct run_facts *facts, const char *code, enum severity severity)
{
    struct summary s = judged(facts);
    assert_int_equal(s.validity.count, 1);
    assert_string_equal(s.validity.reasons[0].code, code);
    assert_int_equal(s.validity.reasons[0].severity, severity);
    assert_int_equal(s.validity.is_valid, severity == SEVERITY_WARNING);
    summary_done(&s);
}

static void test_a_clean_run_has_no_reason(void **state)
{
    (void)state;
    struct run_facts facts = clean_run();
    struct summary s = judged(&facts);
    assert_true(s.validity.is_valid);
    if (s.validity.count > 0)
        fail_msg("%s", s.validity.reasons[0].message);
    summary_done(&s);
}

static void test_client_lag(void **state)
{
    (void)state;
    struct run_facts facts = clean_run();
    /* TTFT is 10 ms: p99 of the lag at 1 ms is just allowed. */
    for (int i = 0; i < N; i++)
        records[i].client_lag_ns = MS;
    struct summary s = judged(&facts);
    assert_true(s.validity.is_valid);
    assert_true(s.client.budget_ttft == 0.1);
    summary_done(&s);
    /* A little more: seen, but kernel stamps do not contain it. */
    for (int i = 0; i < 3; i++)
        records[i].client_lag_ns = MS + 1000;
    assert_only(&facts, "client_lag", SEVERITY_WARNING);
    /* A tenth of the response time: the next request waits for it. */
    for (int i = 0; i < 3; i++)
        records[i].client_lag_ns = records[0].response_time_ns / 5;
    assert_only(&facts, "client_lag", SEVERITY_INVALID);
    facts.rules.lag_share = 3;
    s = judged(&facts);
    assert_true(s.validity.is_valid);
    summary_done(&s);
}

/* Where the stamps are the client's own, its lag is in the metric. */
static void test_client_lag_in_user_stamps(void **state)
{
    (void)state;
    struct run_facts facts = clean_run();
    for (int i = 0; i < N; i++) {
        records[i].client_lag_ns = i < 3 ? 2 * MS : MS / 10;
        if (i < N / 10)
            records[i].stamp = RECORD_STAMP_USER;
    }
    struct summary s = judged(&facts);
    assert_false(s.validity.is_valid);
    assert_false(lacks_reason(&s, "client_lag"));
    summary_done(&s);
}

static void test_client_lag_against_the_gaps(void **state)
{
    (void)state;
    struct run_facts facts = clean_run();
    struct record_bucket bucket = {histogram_index(500000), 9};
    struct record_gap_stats gaps = {
        .n = 9,
        .sum_ns = 4500000,
        .min_ns = 500000,
        .max_ns = 500000,
        .sum_squares = {UINT64_C(2250000000000), 0},
        .buckets = &bucket,
        .bucket_count = 1,
    };
    for (int i = 0; i < N; i++)
        records[i].gap_stats = &gaps;
    struct summary fine = judged(&facts);
    assert_int_equal(fine.validity.count, 0); /* 20 µs of 500 µs; the lag of all reads is not judged */
    summary_done(&fine);
    for (int i = 0; i < N; i++)
        records[i].client_lag_ns = 90000;
    assert_only(&facts, "client_lag", SEVERITY_WARNING); /* 90 µs of 500 µs */
    for (int i = 0; i < N; i++)
        records[i].censored_chunks = 6;
    struct summary s = judged(&facts);
    assert_true(lacks_reason(&s, "client_lag"));
    summary_done(&s);
}

/* Reasoning tokens are in the divisor of TPOT, their time is not in its dividend. */
static void test_reasoning_tokens(void **state)
{
    (void)state;
    struct run_facts facts = clean_run();
    for (int i = 0; i < N; i++)
        records[i].reasoning_tokens = 4;
    assert_only(&facts, "reasoning_in_tpot", SEVERITY_WARNING);
}

static struct run_facts open_run(int64_t late_ms)
{
    struct run_facts facts = clean_run();
    facts.rules.is_open_loop = true;
    facts.rules.concurrency = -1;
    for (int64_t i = 0; i < N; i++) {
        records[i] = made_ok(i, i * (10 + late_ms), 100);
        records[i].due_ns = i * 10 * MS;
        record_derive(&records[i], true);
    }
    return facts;
}

static void test_late_sends_and_load_of_an_open_loop(void **state)
{
    (void)state;
    struct run_facts facts = open_run(0);
    struct summary s = judged(&facts);
    assert_true(s.validity.is_valid);
    assert_true(s.client.send_rate_ratio == 1.0);
    assert_true(s.client.late_send_ratio == 0.0);
    summary_done(&s);
    records[5].flags = records[9].flags = RECORD_FLAG_LATE_SEND;
    assert_only(&facts, "late_sends", SEVERITY_INVALID);
    facts = open_run(1);
    s = judged(&facts);
    assert_true(has_reason(&s, "load_not_delivered", SEVERITY_INVALID));
    assert_int_equal(s.total.latency[LATENCY_QUEUE_DELAY].n, N);
    summary_done(&s);
}

/* Requests that never got a place are told, and too many of them spoil the run. */
static void test_requests_due_and_never_sent(void **state)
{
    (void)state;
    struct run_facts facts = open_run(0);
    facts.result.planned = N + 30;
    facts.result.skipped = 30;
    facts.result.late_unsent = 5;
    facts.result.late_unsent_wait_ns = 1500 * MS;
    assert_only(&facts, "late_unsent", SEVERITY_WARNING);
    facts.result.late_unsent = 7;
    assert_only(&facts, "late_unsent", SEVERITY_INVALID);
    struct summary s = judged(&facts);
    assert_int_equal(s.counts.late_unsent, 7);
    assert_int_equal(s.counts.late_unsent_wait_ns, 1500 * MS);
    assert_non_null(strstr(s.validity.reasons[0].message, "waited 1.500 s"));
    summary_done(&s);
    facts.has_result = false;
    s = judged(&facts);
    assert_int_equal(s.counts.late_unsent, -1);
    summary_done(&s);
    facts = clean_run();
    s = judged(&facts);
    assert_int_equal(s.counts.late_unsent, -1);
    assert_int_equal(s.counts.late_unsent_wait_ns, -1);
    summary_done(&s);
}

/* --request-rate inf: no rate was planned, so none was missed, and a later send in the burst is not a late one. */
static void test_an_open_loop_with_all_due_at_once(void **state)
{
    (void)state;
    struct run_facts facts = open_run(0);
    for (int64_t i = 0; i < N; i++) {
        records[i] = made_ok(i, i * 2, 100);
        records[i].due_ns = 0;
        records[i].flags = i ? RECORD_FLAG_LATE_SEND : 0;
        record_derive(&records[i], true);
    }
    struct summary s = judged(&facts);
    assert_true(s.validity.is_valid);
    assert_true(isnan(s.client.send_rate_ratio));
    assert_int_equal(s.client.late_sends, N - 1);
    summary_done(&s);
}

static void test_concurrency_that_was_not_reached(void **state)
{
    (void)state;
    struct run_facts facts = clean_run();
    facts.rules.concurrency = 3;
    assert_only(&facts, "load_not_delivered", SEVERITY_INVALID);
    /* Reached, but with long pauses. */
    facts.rules.concurrency = 2;
    for (int64_t i = 0; i < N; i++)
        records[i] = made_ok(i, i / 2 * 200 + i % 2 * 50, 100);
    assert_only(&facts, "in_flight_below_target", SEVERITY_WARNING);
}

static void test_limits_and_clock_of_this_machine(void **state)
{
    (void)state;
    struct run_facts facts = clean_run();
    records[7].flags = RECORD_FLAG_LOCAL_LIMIT;
    assert_only(&facts, "local_limit", SEVERITY_INVALID);
    records[7].flags = 0;
    facts.result.clock_step_ns = -2 * MS;
    assert_only(&facts, "clock_step", SEVERITY_INVALID);
    facts.result.clock_step_ns = MS;
    facts.journal_full_waits = 3;
    assert_only(&facts, "journal_full", SEVERITY_INVALID);
    facts.journal_full_waits = 0;
    records[3].stamp = records[4].stamp = RECORD_STAMP_USER;
    assert_only(&facts, "user_stamps", SEVERITY_WARNING);
}

static void test_few_samples_name_the_percentiles(void **state)
{
    (void)state;
    struct run_facts facts = made_facts(15);
    for (int64_t i = 0; i < 15; i++)
        records[i] = made_ok(i, i / 2 * 101 + i % 2 * 50, 100);
    struct summary s = made_summary(&facts, records, 15);
    assert_true(s.validity.is_valid);
    assert_int_equal(s.validity.count, 1);
    assert_string_equal(s.validity.reasons[0].code, "few_samples");
    assert_non_null(strstr(s.validity.reasons[0].message, "for p95, p99:"));
    summary_done(&s);
}

static void test_stopped_run_is_partial_and_valid(void **state)
{
    (void)state;
    struct run_facts facts = clean_run();
    facts.result.planned = N + 30;
    facts.result.skipped = 30;
    facts.result.stopped_by_signal = true;
    assert_only(&facts, "partial", SEVERITY_WARNING);
}

static void test_errors_and_time_limits(void **state)
{
    (void)state;
    struct run_facts facts = clean_run();
    records[N - 1] = made_error(N - 1, (N - 1) / 2 * 101 + 50, 100, OUTCOME_FAILED, ERROR_TYPE_SERVER_ERROR, 500);
    assert_only(&facts, "errors", SEVERITY_WARNING);
    facts = clean_run();
    facts.rules.request_timeout_ns = 105 * MS;
    assert_only(&facts, "timeouts_near_limit", SEVERITY_WARNING);
    facts.rules.request_timeout_ns = 106 * MS;
    struct summary s = judged(&facts);
    assert_int_equal(s.validity.count, 0);
    summary_done(&s);
}

/* Some lost connections are errors as others are; a server that was not there for a tenth of the run measures nothing.
 */
static void test_a_server_that_goes_away(void **state)
{
    (void)state;
    static const enum error_type types[] = {ERROR_TYPE_CONNECTION, ERROR_TYPE_BODY, ERROR_TYPE_IMG_CONNECTION};
    struct run_facts facts = clean_run();
    for (int64_t i = 0; i < N / 10; i++)
        records[N - 1 - i] =
            made_error(N - 1 - i, (N - 1 - i) / 2 * 101 + (N - 1 - i) % 2 * 50, 100, OUTCOME_FAILED, types[i % 3], -1);
    assert_only(&facts, "errors", SEVERITY_WARNING);
    records[0] = made_error(0, 0, 100, OUTCOME_FAILED, ERROR_TYPE_CONNECTION, -1);
    struct summary s = judged(&facts);
    assert_false(s.validity.is_valid);
    assert_true(has_reason(&s, "too_many_errors", SEVERITY_INVALID));
    summary_done(&s);
    facts.rules.error_share = 0.2;
    assert_only(&facts, "errors", SEVERITY_WARNING);
    facts.rules.error_share = 0.1;
    records[0] = made_error(0, 0, 100, OUTCOME_FAILED, ERROR_TYPE_SERVER_ERROR, 503);
    assert_only(&facts, "errors", SEVERITY_WARNING);
}

static void test_records_that_are_missing(void **state)
{
    (void)state;
    struct run_facts facts = clean_run();
    facts.damaged_rings = 1; /* which held nothing that the file lacks */
    struct summary s = judged(&facts);
    assert_int_equal(s.validity.count, 0);
    summary_done(&s);
    facts.has_result = false;
    facts.rules.planned_requests = -1;
    s = judged(&facts);
    assert_true(has_reason(&s, "run_unfinished", SEVERITY_INVALID));
    assert_true(has_reason(&s, "records_lost", SEVERITY_INVALID));
    summary_done(&s);
    facts = clean_run();
    facts.records_left = 3;
    assert_only(&facts, "records_in_journal", SEVERITY_WARNING);
    facts.records_left = 0;
    facts.records_lost = 2;
    assert_only(&facts, "records_lost", SEVERITY_INVALID);
}

static void test_answers(void **state)
{
    (void)state;
    struct run_facts facts = clean_run();
    records[0].usage_missing = true;
    records[0].prompt_tokens = records[0].completion_tokens = records[0].total_tokens = -1;
    assert_only(&facts, "usage_missing", SEVERITY_WARNING);
    facts = clean_run();
    records[0].completion_tokens = 0;
    assert_only(&facts, "zero_tokens", SEVERITY_WARNING);
    facts = clean_run();
    records[0].flags = RECORD_FLAG_NO_OUTPUT;
    assert_only(&facts, "zero_tokens", SEVERITY_WARNING);
    facts = clean_run();
    records[0].damaged_events = 2;
    assert_only(&facts, "damaged_events", SEVERITY_WARNING);
    facts = clean_run();
    for (int i = 0; i < 7; i++)
        records[i].max_tokens = 20;
    struct summary s = judged(&facts);
    assert_int_equal(s.validity.count, 0); /* a limit is no length */
    summary_done(&s);
    facts.rules.expects_full_length = true;
    assert_only(&facts, "short_outputs", SEVERITY_WARNING);
    facts = clean_run();
    for (int i = 0; i < 7; i++) {
        records[i].max_tokens = records[i].completion_tokens - 1;
        records[i].flags = RECORD_FLAG_LENGTH_IGNORED;
    }
    assert_only(&facts, "long_outputs", SEVERITY_WARNING);
}

static void test_buffered_stream(void **state)
{
    (void)state;
    struct run_facts facts = clean_run();
    for (int i = 0; i < N; i++) {
        records[i].first_content_ns = records[i].sent_ns + 95 * MS;
        record_derive(&records[i], true);
    }
    assert_only(&facts, "proxy_buffering", SEVERITY_WARNING);
    for (int i = 0; i < N; i++)
        records[i].completion_tokens = 1;
    struct summary s = judged(&facts);
    assert_int_equal(s.validity.count, 0);
    summary_done(&s);
}

static void test_prompts_and_their_cache(void **state)
{
    (void)state;
    struct run_facts facts = clean_run();
    memcpy(records[1].prompt_id, records[0].prompt_id, sizeof records[0].prompt_id);
    assert_only(&facts, "prompts_repeated", SEVERITY_WARNING);
    facts.rules.has_unique_prompts = true;
    struct summary s = judged(&facts);
    assert_int_equal(s.validity.count, 0);
    summary_done(&s);
    records[2].cached_tokens = 0;
    records[3].cached_tokens = 6;
    assert_only(&facts, "prompt_cache", SEVERITY_WARNING);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_a_clean_run_has_no_reason),
        cmocka_unit_test(test_client_lag),
        cmocka_unit_test(test_client_lag_in_user_stamps),
        cmocka_unit_test(test_reasoning_tokens),
        cmocka_unit_test(test_client_lag_against_the_gaps),
        cmocka_unit_test(test_late_sends_and_load_of_an_open_loop),
        cmocka_unit_test(test_requests_due_and_never_sent),
        cmocka_unit_test(test_an_open_loop_with_all_due_at_once),
        cmocka_unit_test(test_concurrency_that_was_not_reached),
        cmocka_unit_test(test_limits_and_clock_of_this_machine),
        cmocka_unit_test(test_few_samples_name_the_percentiles),
        cmocka_unit_test(test_stopped_run_is_partial_and_valid),
        cmocka_unit_test(test_errors_and_time_limits),
        cmocka_unit_test(test_a_server_that_goes_away),
        cmocka_unit_test(test_records_that_are_missing),
        cmocka_unit_test(test_answers),
        cmocka_unit_test(test_buffered_stream),
        cmocka_unit_test(test_prompts_and_their_cache),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
