/* SPDX-License-Identifier: Apache-2.0 */
#include "fake_net.h"

/* One script a try, in order; the last one repeats. */
static const struct fake_step *const *scripts;
static size_t script_at;

static const struct fake_step *serve(struct net_exchange *x)
{
    (void)x;
    const struct fake_step *steps = scripts[script_at];
    if (scripts[script_at + 1])
        script_at++;
    return steps;
}

static const struct fake_step ok[] = {
    {.after_ns = 10 * MS, .kind = FAKE_HEAD, .head = FAKE_JSON_HEAD(2)},
    {.kind = FAKE_DATA, .data = "ok"},
    {.kind = FAKE_END, .end = NET_END_COMPLETE},
};
static const struct fake_step busy[] = {
    {.after_ns = 2 * MS, .kind = FAKE_HEAD, .head = FAKE_ERROR_HEAD(503, -1)},
    {.kind = FAKE_DATA, .data = "{\"error\":{\"message\":\"CUDA out of memory\"}}"},
    {.kind = FAKE_END, .end = NET_END_COMPLETE},
};
static const struct fake_step limited[] = {
    {.after_ns = 2 * MS, .kind = FAKE_HEAD, .head = FAKE_ERROR_HEAD(429, 1.5)},
    {.kind = FAKE_END, .end = NET_END_COMPLETE},
};
static const struct fake_step limited_for_a_day[] = {
    {.after_ns = 2 * MS, .kind = FAKE_HEAD, .head = FAKE_ERROR_HEAD(429, 86400)},
    {.kind = FAKE_END, .end = NET_END_COMPLETE},
};
static const struct fake_step refused[] = {
    {.after_ns = MS, .kind = FAKE_END, .end = NET_END_CONNECT, .data = "connection refused"}};
static const struct fake_step not_found[] = {
    {.after_ns = MS, .kind = FAKE_HEAD, .head = FAKE_ERROR_HEAD(404, -1)},
    {.kind = FAKE_END, .end = NET_END_COMPLETE},
};
static const struct fake_step silent[] = {{.after_ns = 100 * S, .kind = FAKE_END, .end = NET_END_CLOSED}};
static const struct fake_step cut[] = {
    {.after_ns = MS, .kind = FAKE_HEAD, .head = FAKE_JSON_HEAD(9)},
    {.kind = FAKE_DATA, .data = "ok"},
    {.after_ns = MS, .kind = FAKE_END, .end = NET_END_TRUNCATED, .data = "cut"},
};

static void run_one(const struct fake_step *const *with, uint32_t retries)
{
    fake_settings(serve);
    scripts = with;
    script_at = 0;
    run.options.retries = retries;
    run.options.retry_backoff_ns = 100 * MS;
    run.options.request_timeout_ns = 20 * S;
}

static void test_no_retry_unless_asked(void **state)
{
    (void)state;
    run_one((const struct fake_step *[]){busy, ok, NULL}, 0);
    fake_engine_run();
    const struct request_record *record = &run.records[0];
    assert_int_equal(fake.started, 1);
    assert_int_equal(record->outcome, OUTCOME_FAILED);
    assert_int_equal(record->error_type, ERROR_TYPE_SERVER_ERROR);
    assert_int_equal(record->http_status, 503);
    assert_int_equal(record->attempt_count, 1);
    assert_true(record->oom);
    assert_string_equal(run.messages[0], "CUDA out of memory");
    assert_int_equal(record->response_time_ns, 2 * MS);
}

static void test_retry_then_success(void **state)
{
    (void)state;
    run_one((const struct fake_step *[]){busy, refused, busy, ok, NULL}, 5);
    fake_engine_run();
    const struct request_record *record = &run.records[0];
    assert_int_equal(record->outcome, OUTCOME_OK);
    assert_int_equal(record->error_type, ERROR_TYPE_NONE);
    assert_false(record->oom);
    assert_null(record->error_message.at);
    assert_int_equal(record->attempt_count, 4);
    /* The wait doubles: 100, 200, 400 ms. */
    const int64_t starts[] = {0, 102 * MS, 303 * MS, 705 * MS};
    const int64_t ends[] = {2 * MS, 103 * MS, 305 * MS, 715 * MS};
    const uint8_t types[] = {ERROR_TYPE_SERVER_ERROR, ERROR_TYPE_CONNECTION, ERROR_TYPE_SERVER_ERROR, ERROR_TYPE_NONE};
    const int32_t statuses[] = {503, -1, 503, 200};
    for (int i = 0; i < 4; i++) {
        assert_int_equal(record->attempts[i].start_ns, starts[i]);
        assert_int_equal(record->attempts[i].done_ns, ends[i]);
        assert_int_equal(record->attempts[i].error_type, types[i]);
        assert_int_equal(record->attempts[i].http_status, statuses[i]);
    }
    /* From the first try's start to the last one's end. */
    assert_int_equal(record->sent_ns, 0);
    assert_int_equal(record->response_time_ns, 715 * MS);
    assert_string_equal(run.answers[0].text, "ok");
    assert_int_equal(run.ended, 1);
}

static void test_retries_used_up(void **state)
{
    (void)state;
    run_one((const struct fake_step *[]){refused, NULL}, 2);
    fake_engine_run();
    const struct request_record *record = &run.records[0];
    assert_int_equal(record->outcome, OUTCOME_FAILED);
    assert_int_equal(record->error_type, ERROR_TYPE_CONNECTION);
    assert_int_equal(record->attempt_count, 3);
    assert_int_equal(record->http_status, -1);
    assert_string_equal(run.messages[0], "connection refused");
    assert_int_equal(run.begun, 3);
}

static void test_retry_after_is_heeded(void **state)
{
    (void)state;
    run_one((const struct fake_step *[]){limited, ok, NULL}, 1);
    fake_engine_run();
    assert_int_equal(run.records[0].outcome, OUTCOME_OK);
    assert_int_equal(run.records[0].attempts[1].start_ns, 2 * MS + 1500 * MS);
}

static void test_retry_after_is_capped(void **state)
{
    (void)state;
    run_one((const struct fake_step *[]){limited_for_a_day, ok, NULL}, 1);
    run.options.request_timeout_ns = 60 * S;
    fake_engine_run();
    assert_int_equal(run.records[0].outcome, OUTCOME_OK);
    assert_int_equal(run.records[0].attempts[1].start_ns, 30 * S + 2 * MS);
}

/* A wait that the deadline would cut is not begun: the error that there is, is told at once. */
static void test_no_wait_beyond_the_deadline(void **state)
{
    (void)state;
    run_one((const struct fake_step *[]){limited_for_a_day, ok, NULL}, 1);
    fake_engine_run();
    const struct request_record *record = &run.records[0];
    assert_int_equal(record->outcome, OUTCOME_FAILED);
    assert_int_equal(record->error_type, ERROR_TYPE_RATE_LIMIT);
    assert_true(record->retry_after_s == 86400);
    assert_int_equal(record->attempt_count, 1);
    assert_int_equal(record->response_time_ns, 2 * MS);
    assert_string_equal(run.messages[0], "HTTP 429 without a message");
}

static void test_what_is_not_retried(void **state)
{
    (void)state;
    const struct fake_step *const *const cases[] = {(const struct fake_step *[]){not_found, ok, NULL},
                                                    (const struct fake_step *[]){cut, ok, NULL},
                                                    (const struct fake_step *[]){silent, ok, NULL}};
    const enum error_type types[] = {ERROR_TYPE_HTTP_OTHER, ERROR_TYPE_BODY, ERROR_TYPE_TIMEOUT};
    for (int i = 0; i < 3; i++) {
        run_one(cases[i], 3);
        fake_engine_run();
        assert_int_equal(run.records[0].attempt_count, 1);
        assert_int_equal(run.records[0].error_type, types[i]);
    }
}

static void test_deadline_covers_all_tries(void **state)
{
    (void)state;
    run_one((const struct fake_step *[]){busy, silent, NULL}, 3);
    run.options.request_timeout_ns = 500 * MS;
    fake_engine_run();
    const struct request_record *record = &run.records[0];
    assert_int_equal(record->outcome, OUTCOME_TIMED_OUT);
    assert_int_equal(record->error_type, ERROR_TYPE_TIMEOUT);
    assert_int_equal(record->attempt_count, 2);
    assert_int_equal(record->response_time_ns, 500 * MS);
    assert_int_equal(fake.cancelled, 1);
    assert_non_null(strstr(run.messages[0], "0.5 s"));
}

/* A dead endpoint under least-in-flight gets no more than its turn, and keeps its errors. */
static const struct fake_step *serve_two_dead_one(struct net_exchange *x)
{
    return x->endpoint == 1 ? refused : ok;
}

static void test_dead_endpoint_least_in_flight(void **state)
{
    (void)state;
    fake_settings(serve_two_dead_one);
    run.endpoint_count = 3;
    run.options.balance = BALANCE_LEAST_INFLIGHT;
    run.plan.concurrency = 12;
    run.plan.request_count = 900;
    fake_engine_run();
    int64_t seen[3] = {0};
    for (size_t i = 0; i < run.record_count; i++) {
        seen[run.records[i].endpoint]++;
        assert_int_equal(run.records[i].outcome == OUTCOME_FAILED, run.records[i].endpoint == 1);
    }
    assert_true(seen[1] > 0 && seen[1] <= 302);
    assert_int_equal(run.result.ejections, 0);
}

static void test_ejection_is_counted(void **state)
{
    (void)state;
    fake_settings(serve_two_dead_one);
    run.endpoint_count = 3;
    run.options.eject_after = 3;
    run.plan.concurrency = 1;
    run.plan.request_count = 90;
    fake_engine_run();
    int64_t seen[3] = {0};
    int64_t flagged = 0;
    for (size_t i = 0; i < run.record_count; i++) {
        seen[run.records[i].endpoint]++;
        if (!(run.records[i].flags & RECORD_FLAG_EJECTED))
            continue;
        flagged++;
        assert_int_equal(run.records[i].endpoint, 1);
        assert_int_equal(seen[1], 3); /* the failure that did it */
    }
    assert_int_equal(seen[1], 3);
    assert_int_equal(flagged, 1);
    assert_int_equal(run.result.ejections, 1);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_no_retry_unless_asked),
        cmocka_unit_test(test_retry_then_success),
        cmocka_unit_test(test_retries_used_up),
        cmocka_unit_test(test_retry_after_is_heeded),
        cmocka_unit_test(test_retry_after_is_capped),
        cmocka_unit_test(test_no_wait_beyond_the_deadline),
        cmocka_unit_test(test_what_is_not_retried),
        cmocka_unit_test(test_deadline_covers_all_tries),
        cmocka_unit_test(test_dead_endpoint_least_in_flight),
        cmocka_unit_test(test_ejection_is_counted),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
