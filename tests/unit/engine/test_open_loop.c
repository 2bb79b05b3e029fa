/* SPDX-License-Identifier: Apache-2.0 */
#include "fake_net.h"

#include "base/rng.h"

static int64_t due[2000];
static int64_t service_ns;

static const struct fake_step *serve(struct net_exchange *x)
{
    static struct fake_step steps[FAKE_RUNNING_MAX][3];
    static size_t next;
    struct fake_step *s = steps[next++ % FAKE_RUNNING_MAX];
    (void)x;
    s[0] = (struct fake_step){.after_ns = service_ns, .kind = FAKE_HEAD, .head = FAKE_JSON_HEAD(2)};
    s[1] = (struct fake_step){.kind = FAKE_DATA, .data = "ok"};
    s[2] = (struct fake_step){.kind = FAKE_END, .end = NET_END_COMPLETE};
    return s;
}

static const struct fake_step *serve_unavailable(struct net_exchange *x)
{
    static const struct fake_step steps[] = {
        {.after_ns = MS, .kind = FAKE_HEAD, .head = FAKE_ERROR_HEAD(503, -1)},
        {.kind = FAKE_END, .end = NET_END_COMPLETE},
    };
    (void)x;
    return steps;
}

static void settings(int64_t count, int64_t gap_ns, const struct fake_step *(*with)(struct net_exchange *))
{
    fake_settings(with);
    for (int64_t i = 0; i < count; i++)
        due[i] = i * gap_ns;
    run.plan.concurrency = 0;
    run.plan.due_ns = due;
    run.plan.request_count = count;
}

static const struct request_record *record_of(int64_t seq)
{
    for (size_t i = 0; i < run.record_count; i++) {
        if (run.records[i].seq == seq)
            return &run.records[i];
    }
    fail_msg("no record of %lld", (long long)seq);
    return NULL;
}

/* Whatever the server does, each request is sent when it is due. */
static void test_schedule_is_kept(void **state)
{
    (void)state;
    for (int failing = 0; failing < 2; failing++) {
        settings(400, 5 * MS, failing ? serve_unavailable : serve);
        service_ns = 777 * MS;
        fake_engine_run();
        for (int64_t seq = 0; seq < 400; seq++) {
            const struct request_record *record = record_of(seq);
            assert_int_equal(record->due_ns, due[seq]);
            assert_int_equal(record->sent_ns, due[seq]);
            assert_int_equal(record->queue_delay_ns, 0);
            assert_int_equal(record->response_latency_ns, failing ? MS : service_ns);
        }
        assert_int_equal(run.result.late_sends, 0);
        if (!failing)
            assert_int_equal(fake.peak, 156);
    }
}

/* Rate 10/s, 500 ms of service, one at a time: the delay grows by 400 ms a request, service latency stays. */
static void test_cap_shows_as_queue_delay(void **state)
{
    (void)state;
    settings(20, 100 * MS, serve);
    service_ns = 500 * MS;
    run.plan.max_concurrency = 1;
    fake_engine_run();
    assert_int_equal(fake.peak, 1);
    for (int64_t seq = 0; seq < 20; seq++) {
        const struct request_record *record = record_of(seq);
        assert_int_equal(record->queue_delay_ns, 400 * MS * seq);
        assert_int_equal(record->response_time_ns, 500 * MS);
        assert_int_equal(record->flags, 0);
    }
    assert_int_equal(run.result.late_sends, 0);
}

static int64_t stalled_at_ns, stalled_for_ns;

/* The client itself stands still once. */
static void stall(void)
{
    if (stalled_for_ns && fake_now() >= stalled_at_ns) {
        fake.now_ns += stalled_for_ns;
        stalled_for_ns = 0;
    }
}

static void test_late_sends_are_counted(void **state)
{
    (void)state;
    settings(100, 2 * MS, serve);
    service_ns = MS;
    stalled_at_ns = 100 * MS;
    stalled_for_ns = 21 * MS;
    fake.at_poll = stall;
    run.plan.warmup_count = 52;
    fake_engine_run();
    int64_t late = 0, flagged = 0;
    for (size_t i = 0; i < run.record_count; i++) {
        const struct request_record *record = &run.records[i];
        bool is_late = record->queue_delay_ns > MS;
        late += is_late && record->phase == PHASE_MEASURED;
        flagged += (record->flags & RECORD_FLAG_LATE_SEND) != 0;
        assert_int_equal(is_late, (record->flags & RECORD_FLAG_LATE_SEND) != 0);
    }
    /* Due at 102 … 118 ms, sent at 121 ms; that of 120 ms is 1 ms late, which is still in time. */
    assert_int_equal(flagged, 9);
    assert_int_equal(late, 8);
    assert_int_equal(run.result.late_sends, late);
}

static void test_random_caps_and_services(void **state)
{
    (void)state;
    struct rng rng;
    for (uint64_t seed = 0; seed < 60; seed++) {
        rng_init(&rng, seed, 0);
        settings(1 + (int64_t)rng_below(&rng, 500), 0, serve);
        int64_t at = 0;
        for (int64_t i = 0; i < run.plan.request_count; i++)
            due[i] = at += (int64_t)(rng_exponential(&rng) * 3e6);
        service_ns = 1 + (int64_t)rng_below(&rng, 50 * MS);
        run.plan.max_concurrency = (uint32_t)rng_below(&rng, 12);
        run.plan.shard_count = 1 + (uint32_t)rng_below(&rng, 3);
        run.plan.shard = (uint32_t)rng_below(&rng, run.plan.shard_count);
        fake_engine_run();
        int64_t expected = (run.plan.request_count - run.plan.shard + run.plan.shard_count - 1) / run.plan.shard_count;
        assert_int_equal(run.record_count, expected > 0 ? expected : 0);
        if (run.plan.max_concurrency)
            assert_true(fake.peak <= run.plan.max_concurrency);
        for (size_t i = 0; i < run.record_count; i++) {
            const struct request_record *record = &run.records[i];
            assert_int_equal(record->due_ns, due[record->seq]);
            assert_true(record->queue_delay_ns >= 0);
            if (run.plan.max_concurrency == 0)
                assert_int_equal(record->queue_delay_ns, 0);
        }
        assert_int_equal(run.result.late_sends, 0);
    }
}

static void test_duration_cuts_the_plan(void **state)
{
    (void)state;
    settings(100, 10 * MS, serve);
    service_ns = 35 * MS;
    run.plan.duration_ns = 200 * MS;
    fake_engine_run();
    assert_int_equal(run.record_count, 20);
    assert_int_equal(run.result.skipped, 80);
    assert_int_equal(run.result.planned, 100);
    assert_int_equal(run.result.ended_ns, 225 * MS);
}

/* After the barrier the schedule is moved as a whole: no burst, no queue delay from the warm-up. */
static void test_barrier(void **state)
{
    (void)state;
    settings(50, 10 * MS, serve);
    service_ns = 300 * MS;
    run.plan.warmup_count = 5;
    run.plan.warmup_barrier = true;
    fake_engine_run();
    for (int64_t seq = 0; seq < 50; seq++) {
        const struct request_record *record = record_of(seq);
        assert_int_equal(record->queue_delay_ns, 0);
        assert_int_equal(record->sent_ns, seq < 5 ? 10 * MS * seq : 340 * MS + 10 * MS * (seq - 5));
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_schedule_is_kept),       cmocka_unit_test(test_cap_shows_as_queue_delay),
        cmocka_unit_test(test_late_sends_are_counted), cmocka_unit_test(test_random_caps_and_services),
        cmocka_unit_test(test_duration_cuts_the_plan), cmocka_unit_test(test_barrier),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
