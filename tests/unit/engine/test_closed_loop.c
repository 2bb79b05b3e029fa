/* SPDX-License-Identifier: Apache-2.0 */
#include "fake_net.h"

#include "base/rng.h"

static struct rng rng;
static int64_t fixed_ns; /* service time; 0 = random */

/* Answers in one read after a service time, in one of several ways. */
static const struct fake_step *serve(struct net_exchange *x)
{
    static struct fake_step steps[FAKE_RUNNING_MAX][3];
    static size_t next;
    struct fake_step *s = steps[next++ % FAKE_RUNNING_MAX];
    int64_t service_ns = fixed_ns ? fixed_ns : 1 + (int64_t)rng_below(&rng, 20 * MS);
    (void)x;
    s[0] = (struct fake_step){.after_ns = service_ns, .kind = FAKE_HEAD, .head = FAKE_JSON_HEAD(2)};
    s[1] = (struct fake_step){.kind = FAKE_DATA, .data = "ok"};
    s[2] = (struct fake_step){.kind = FAKE_END, .end = NET_END_COMPLETE};
    switch (fixed_ns ? 9 : rng_below(&rng, 10)) {
    case 0:
        s[0] = (struct fake_step){.after_ns = service_ns, .kind = FAKE_END, .end = NET_END_CONNECT, .data = "refused"};
        break;
    case 1:
        s[2] = (struct fake_step){.after_ns = service_ns, .kind = FAKE_END, .end = NET_END_TRUNCATED, .data = "cut"};
        break;
    case 2:
        s[0].after_ns = 200 * MS; /* beyond the deadline */
        break;
    case 3:
        s[0].head = (struct http_response_head)FAKE_ERROR_HEAD(503, -1);
        break;
    default:
        break;
    }
    return s;
}

/* Permits that are open at `now_ns`, straight from the definition: linear from 1 to all. */
static int64_t permits_open(int64_t now_ns)
{
    if (now_ns >= run.plan.ramp_up_ns || run.plan.concurrency < 2)
        return run.plan.concurrency;
    return 1 + now_ns * (run.plan.concurrency - 1) / run.plan.ramp_up_ns;
}

/* Before each wait all permits that are open are in use, as long as there are requests: reached and never exceeded. */
static void check_permits(void)
{
    const struct engine_progress *progress = engine_progress(run.engine);
    int64_t open = permits_open(fake_now());
    int64_t left = run.plan.request_count - run.built;
    assert_true(progress->in_flight <= open);
    if (left > 0)
        assert_int_equal(progress->in_flight, open);
}

static void test_permits_with_random_scripts(void **state)
{
    (void)state;
    for (uint64_t seed = 0; seed < 60; seed++) {
        fake_settings(serve);
        rng_init(&rng, seed, 0);
        fixed_ns = 0;
        fake.at_poll = check_permits;
        run.plan.concurrency = 1 + (uint32_t)rng_below(&rng, seed % 3 ? 8 : 300);
        run.plan.request_count = (int64_t)rng_below(&rng, 700);
        run.plan.warmup_count = (int64_t)rng_below(&rng, 20);
        run.plan.ramp_up_ns = rng_below(&rng, 2) ? (int64_t)rng_below(&rng, 200 * MS) : 0;
        run.options.retries = (uint32_t)rng_below(&rng, 3);
        run.options.retry_backoff_ns = MS;
        run.options.request_timeout_ns = 100 * MS;
        fake_engine_run();
        assert_int_equal(run.record_count, run.plan.request_count);
        assert_true(fake.peak <= run.plan.concurrency);
        bool seen[700] = {false};
        for (size_t i = 0; i < run.record_count; i++) {
            const struct request_record *record = &run.records[i];
            assert_false(seen[record->seq]);
            seen[record->seq] = true;
            assert_true(record->done_ns >= record->sent_ns && record->sent_ns >= 0);
            assert_true(record->done_ns <= record->sent_ns + 100 * MS);
            assert_int_equal(record->phase == PHASE_WARMUP, record->seq < run.plan.warmup_count);
            assert_int_equal(record->outcome == OUTCOME_OK, record->error_type == ERROR_TYPE_NONE);
        }
    }
}

static void test_numbers_are_the_order_of_sending(void **state)
{
    (void)state;
    fake_settings(serve);
    rng_init(&rng, 4, 0);
    fixed_ns = 0;
    run.plan.concurrency = 16;
    run.plan.request_count = 400;
    fake_engine_run();
    int64_t sent[400];
    for (size_t i = 0; i < 400; i++)
        sent[run.records[i].seq] = run.records[i].sent_ns;
    for (size_t i = 1; i < 400; i++)
        assert_true(sent[i] >= sent[i - 1]);
}

static void test_ramp_phases(void **state)
{
    (void)state;
    fake_settings(serve);
    fixed_ns = 30 * MS;
    fake.at_poll = check_permits;
    run.plan.concurrency = 5;
    run.plan.request_count = 60;
    run.plan.ramp_up_ns = 100 * MS;
    fake_engine_run();
    int64_t counts[PHASE_COUNT] = {0};
    for (size_t i = 0; i < run.record_count; i++) {
        const struct request_record *record = &run.records[i];
        counts[record->phase]++;
        enum phase expected = record->done_ns < 100 * MS   ? PHASE_RAMP_UP
                              : record->sent_ns < 100 * MS ? PHASE_BOUNDARY
                                                           : PHASE_MEASURED;
        assert_int_equal(record->phase, expected);
    }
    /* Permits at 0, 25, 50, 75, 100 ms, 30 ms a request: 3 + 2 + 1 + 0 done before the end, one a permit across it. */
    assert_int_equal(counts[PHASE_RAMP_UP], 6);
    assert_int_equal(counts[PHASE_BOUNDARY], 4);
    assert_int_equal(run.result.measured_start_ns, 100 * MS);
}

static void test_duration(void **state)
{
    (void)state;
    fake_settings(serve);
    fixed_ns = 10 * MS;
    run.plan.concurrency = 2;
    run.plan.request_count = INT64_MAX;
    run.plan.warmup_count = 4;
    run.plan.duration_ns = 35 * MS;
    fake_engine_run();
    /* Warm-up until 20 ms; measured sends at 20, 30, 40, 50 ms; the limit is at 55; those in flight drain. */
    assert_int_equal(run.record_count, 4 + 8);
    assert_int_equal(run.result.measured_start_ns, 20 * MS);
    assert_int_equal(run.result.ended_ns, 60 * MS);
    assert_int_equal(run.result.skipped, 0);
    assert_false(run.result.stopped_by_signal);
}

static void test_warmup_barrier(void **state)
{
    (void)state;
    fake_settings(serve);
    rng_init(&rng, 9, 0);
    fixed_ns = 0;
    run.plan.concurrency = 8;
    run.plan.request_count = 100;
    run.plan.warmup_count = 20;
    run.plan.warmup_barrier = true;
    run.options.request_timeout_ns = 100 * MS;
    fake_engine_run();
    int64_t last_warmup = -1, first_measured = INT64_MAX;
    for (size_t i = 0; i < run.record_count; i++) {
        const struct request_record *record = &run.records[i];
        if (record->phase == PHASE_WARMUP && record->done_ns > last_warmup)
            last_warmup = record->done_ns;
        if (record->phase == PHASE_MEASURED && record->sent_ns < first_measured)
            first_measured = record->sent_ns;
    }
    assert_int_equal(first_measured, last_warmup);
    assert_int_equal(run.result.measured_start_ns, last_warmup);
}

static bool refuses_some(int64_t seq)
{
    return seq % 3 == 1;
}

static void test_refused(void **state)
{
    (void)state;
    fake_settings(serve);
    fixed_ns = 5 * MS;
    run.plan.concurrency = 2;
    run.plan.request_count = 9;
    run.refuses = refuses_some;
    fake_engine_run();
    int64_t refused = 0;
    for (size_t i = 0; i < run.record_count; i++) {
        const struct request_record *record = &run.records[i];
        if (record->seq % 3 != 1) {
            assert_int_equal(record->outcome, OUTCOME_OK);
            continue;
        }
        refused++;
        assert_int_equal(record->outcome, OUTCOME_REFUSED);
        assert_int_equal(record->error_type, ERROR_TYPE_BAD_REQUEST);
        assert_int_equal(record->sent_ns, -1);
        assert_int_equal(record->response_time_ns, -1);
        assert_int_equal(record->attempt_count, 0);
        assert_non_null(strstr(run.messages[i], "cannot be read"));
        assert_string_equal(record->prompt_id, record->seq == 1 ? "p1" : record->seq == 4 ? "p4" : "p7");
    }
    assert_int_equal(refused, 3);
    assert_int_equal(fake.started, 6);
}

static bool refuses_all(int64_t seq)
{
    (void)seq;
    return true;
}

static void stop_soon(void)
{
    fake.now_ns += MS;
    if (fake.polls == 3)
        engine_stop(run.engine);
}

/* A run in which nothing can be sent still hears a stop. */
static void test_all_refused_and_stopped(void **state)
{
    (void)state;
    fake_settings(serve);
    run.plan.request_count = INT64_MAX;
    run.refuses = refuses_all;
    fake.at_poll = stop_soon;
    fake_engine_run();
    assert_true(run.result.stopped_by_signal);
    assert_int_equal(fake.started, 0);
}

static void test_building_is_off_the_clock(void **state)
{
    (void)state;
    fake_settings(serve);
    fixed_ns = 5 * MS;
    run.plan.request_count = 3;
    run.build_ns = 40 * MS;
    fake_engine_run();
    for (size_t i = 0; i < 3; i++) {
        assert_int_equal(run.records[i].sent_ns, 40 * MS * (int64_t)(i + 1) + 5 * MS * (int64_t)i);
        assert_int_equal(run.records[i].response_time_ns, 5 * MS);
    }
}

static void test_shares_by_weight(void **state)
{
    (void)state;
    fake_settings(serve);
    rng_init(&rng, 2, 0);
    fixed_ns = 0;
    run.endpoint_count = 2;
    run.endpoints[0].weight = 10;
    run.options.balance = BALANCE_WEIGHTED_ROUND_ROBIN;
    run.options.request_timeout_ns = 50 * MS;
    run.plan.concurrency = 4;
    run.plan.request_count = 11;
    fake_engine_run();
    int64_t seen[2] = {0};
    for (size_t i = 0; i < run.record_count; i++)
        seen[run.records[i].endpoint]++;
    assert_int_equal(seen[0], 10);
    assert_int_equal(seen[1], 1);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_permits_with_random_scripts),
        cmocka_unit_test(test_numbers_are_the_order_of_sending),
        cmocka_unit_test(test_ramp_phases),
        cmocka_unit_test(test_duration),
        cmocka_unit_test(test_warmup_barrier),
        cmocka_unit_test(test_refused),
        cmocka_unit_test(test_all_refused_and_stopped),
        cmocka_unit_test(test_building_is_off_the_clock),
        cmocka_unit_test(test_shares_by_weight),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
