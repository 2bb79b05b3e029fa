/* SPDX-License-Identifier: Apache-2.0 */
#include "engine/schedule.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>

#define MS NS_PER_MS

static void expect_begin(struct schedule *schedule, int64_t now_ns, int64_t seq, int64_t due_ns)
{
    struct schedule_request request;
    assert_int_equal(schedule_take(schedule, now_ns, &request), SCHEDULE_BEGIN);
    assert_int_equal(request.seq, seq);
    assert_int_equal(request.due_ns, due_ns);
}

static void expect_wait(struct schedule *schedule, int64_t now_ns, int64_t until_ns)
{
    struct schedule_request request;
    assert_int_equal(schedule_take(schedule, now_ns, &request), SCHEDULE_WAIT);
    assert_int_equal(request.due_ns, until_ns);
}

static void expect_over(struct schedule *schedule, int64_t now_ns)
{
    struct schedule_request request;
    assert_int_equal(schedule_take(schedule, now_ns, &request), SCHEDULE_OVER);
}

static void test_closed_loop_in_order(void **state)
{
    (void)state;
    struct schedule schedule;
    const struct engine_plan plan = {.request_count = 3, .warmup_count = 1, .concurrency = 2};
    schedule_init(&schedule, &plan);
    for (int64_t seq = 0; seq < 3; seq++)
        expect_begin(&schedule, seq, seq, -1);
    expect_over(&schedule, 9);
    assert_int_equal(schedule_planned(&schedule), 3);
    assert_int_equal(schedule_skipped(&schedule), 0);
    assert_int_equal(schedule_phase(&schedule, 0, 0, 5), PHASE_WARMUP);
    assert_int_equal(schedule_phase(&schedule, 1, 0, 5), PHASE_MEASURED);
}

/* n shards together send exactly the plan. */
static void test_shards(void **state)
{
    (void)state;
    for (uint32_t shards = 1; shards <= 7; shards++) {
        int seen[23] = {0};
        int64_t planned = 0, warmup = 0;
        for (uint32_t shard = 0; shard < shards; shard++) {
            struct schedule schedule;
            struct schedule_request request;
            const struct engine_plan plan = {
                .request_count = 23, .warmup_count = 5, .concurrency = 1, .shard = shard, .shard_count = shards};
            schedule_init(&schedule, &plan);
            planned += schedule_planned(&schedule);
            warmup += schedule.warmup_count;
            while (schedule_take(&schedule, 0, &request) == SCHEDULE_BEGIN) {
                assert_int_equal(request.seq % shards, shard);
                seen[request.seq]++;
            }
        }
        assert_int_equal(planned, 23);
        assert_int_equal(warmup, 5);
        for (int i = 0; i < 23; i++)
            assert_int_equal(seen[i], 1);
    }
}

static void test_duration_counts_from_the_first_measured_send(void **state)
{
    (void)state;
    struct schedule schedule;
    const struct engine_plan plan = {
        .request_count = INT64_MAX, .warmup_count = 2, .concurrency = 1, .duration_ns = 100};
    schedule_init(&schedule, &plan);
    expect_begin(&schedule, 0, 0, -1);
    schedule_sent(&schedule, 0, 1);
    expect_begin(&schedule, 500, 1, -1);
    schedule_sent(&schedule, 1, 500);
    expect_begin(&schedule, 700, 2, -1);
    schedule_sent(&schedule, 2, 701);
    expect_begin(&schedule, 800, 3, -1);
    schedule_sent(&schedule, 3, 800);
    expect_over(&schedule, 801);
    assert_int_equal(atomic_load(&schedule.measured_start_ns), 701);
    assert_int_equal(schedule_planned(&schedule), 4);
    assert_int_equal(schedule_skipped(&schedule), 0);
}

static void test_duration_counts_from_the_end_of_the_ramp(void **state)
{
    (void)state;
    struct schedule schedule;
    const struct engine_plan plan = {.request_count = 1000, .concurrency = 4, .ramp_up_ns = 50, .duration_ns = 100};
    schedule_init(&schedule, &plan);
    expect_begin(&schedule, 0, 0, -1);
    schedule_sent(&schedule, 0, 3);
    assert_int_equal(atomic_load(&schedule.measured_start_ns), 50);
    expect_begin(&schedule, 149, 1, -1);
    expect_over(&schedule, 150);
    assert_int_equal(schedule_skipped(&schedule), 998);
}

static void test_stop_after_and_stop(void **state)
{
    (void)state;
    struct schedule schedule;
    const struct engine_plan plan = {
        .request_count = 10, .concurrency = 1, .duration_ns = INT64_MAX, .stop_after_ns = 40};
    schedule_init(&schedule, &plan);
    expect_begin(&schedule, 39, 0, -1);
    schedule_sent(&schedule, 0, 39);
    expect_over(&schedule, 40);
    schedule_init(&schedule, &plan);
    schedule_stop(&schedule);
    expect_over(&schedule, 0);
}

static void test_ramp_phases(void **state)
{
    (void)state;
    struct schedule schedule;
    const struct engine_plan plan = {.request_count = 10, .warmup_count = 1, .concurrency = 4, .ramp_up_ns = 100};
    schedule_init(&schedule, &plan);
    assert_int_equal(schedule_phase(&schedule, 0, 200, 300), PHASE_WARMUP);
    assert_int_equal(schedule_phase(&schedule, 1, 0, 99), PHASE_RAMP_UP);
    assert_int_equal(schedule_phase(&schedule, 1, 99, 100), PHASE_BOUNDARY);
    assert_int_equal(schedule_phase(&schedule, 1, 100, 101), PHASE_MEASURED);
}

static void test_ramp_permits_are_linear(void **state)
{
    (void)state;
    const struct engine_plan plan = {.concurrency = 11, .ramp_up_ns = 1000};
    for (uint32_t i = 0; i < 11; i++)
        assert_int_equal(schedule_permit_opens_ns(&plan, i), 100 * i);
    const struct engine_plan odd = {.concurrency = 4, .ramp_up_ns = 100};
    assert_int_equal(schedule_permit_opens_ns(&odd, 1), 34);
    assert_int_equal(schedule_permit_opens_ns(&odd, 2), 67);
    assert_int_equal(schedule_permit_opens_ns(&odd, 3), 100);
    const struct engine_plan huge = {.concurrency = 1000000, .ramp_up_ns = INT64_MAX / 2};
    assert_int_equal(schedule_permit_opens_ns(&huge, 999999), INT64_MAX / 2);
    const struct engine_plan one = {.concurrency = 1, .ramp_up_ns = 100}, none = {.concurrency = 9};
    assert_int_equal(schedule_permit_opens_ns(&one, 0), 0);
    assert_int_equal(schedule_permit_opens_ns(&none, 8), 0);
}

static void test_open_loop_waits_for_due_times(void **state)
{
    (void)state;
    struct schedule schedule;
    const int64_t due[] = {0, 10, 10, 30};
    const struct engine_plan plan = {.request_count = 4, .due_ns = due};
    schedule_init(&schedule, &plan);
    expect_begin(&schedule, 0, 0, 0);
    expect_wait(&schedule, 0, 10);
    expect_wait(&schedule, 9, 10);
    expect_begin(&schedule, 12, 1, 10);
    expect_begin(&schedule, 12, 2, 10);
    expect_wait(&schedule, 12, 30);
    expect_begin(&schedule, 90, 3, 30);
    expect_over(&schedule, 90);
}

static void test_open_loop_limits_go_by_due_time(void **state)
{
    (void)state;
    struct schedule schedule;
    const int64_t due[] = {0, 10, 20, 30};
    const struct engine_plan plan = {.request_count = 4, .due_ns = due, .duration_ns = 20};
    schedule_init(&schedule, &plan);
    expect_begin(&schedule, 1, 0, 0);
    schedule_sent(&schedule, 0, 1);
    expect_begin(&schedule, 11, 1, 10);
    expect_begin(&schedule, 20, 2, 20);
    /* Known at once, not only at the limit. */
    expect_over(&schedule, 20);
    assert_int_equal(schedule_skipped(&schedule), 1);
}

static void test_cap(void **state)
{
    (void)state;
    struct schedule schedule;
    const int64_t due[] = {0, 0, 0, 5 * MS, 20 * MS};
    const struct engine_plan plan = {.request_count = 5, .due_ns = due, .max_concurrency = 2};
    schedule_init(&schedule, &plan);
    expect_begin(&schedule, 0, 0, 0);
    expect_begin(&schedule, 0, 1, 0);
    expect_wait(&schedule, 1, SCHEDULE_FOREVER);
    assert_false(schedule_ended(&schedule, 0, 10 * MS));
    expect_begin(&schedule, 10 * MS, 2, 0);
    /* It waited for the cap, so it is not late; a client that then dawdles is. */
    assert_false(schedule_is_late(&schedule, 0, 10 * MS));
    assert_false(schedule_is_late(&schedule, 0, 11 * MS));
    assert_true(schedule_is_late(&schedule, 0, 11 * MS + 1));
    expect_wait(&schedule, 10 * MS, SCHEDULE_FOREVER);
    assert_false(schedule_ended(&schedule, 1, 12 * MS));
    expect_begin(&schedule, 12 * MS, 3, 5 * MS);
    assert_false(schedule_ended(&schedule, 2, 13 * MS));
    assert_false(schedule_ended(&schedule, 3, 14 * MS));
    expect_wait(&schedule, 14 * MS, 20 * MS);
    expect_begin(&schedule, 22 * MS, 4, 20 * MS);
    assert_true(schedule_is_late(&schedule, 20 * MS, 22 * MS));
    assert_false(schedule_is_late(&schedule, -1, 22 * MS));
}

static void test_barrier_closed_loop(void **state)
{
    (void)state;
    struct schedule schedule;
    const struct engine_plan plan = {.request_count = 4, .warmup_count = 2, .warmup_barrier = true, .concurrency = 4};
    schedule_init(&schedule, &plan);
    expect_begin(&schedule, 0, 0, -1);
    expect_begin(&schedule, 0, 1, -1);
    expect_wait(&schedule, 1, SCHEDULE_FOREVER);
    assert_false(schedule_ended(&schedule, 1, 5));
    expect_wait(&schedule, 5, SCHEDULE_FOREVER);
    assert_true(schedule_ended(&schedule, 0, 9));
    expect_begin(&schedule, 9, 2, -1);
    assert_false(schedule_ended(&schedule, 2, 9));
}

/* The measured part's due times move together: no burst, no delay that the warm-up caused. */
static void test_barrier_shifts_the_open_loop(void **state)
{
    (void)state;
    struct schedule schedule;
    const int64_t due[] = {0, 10, 20, 30};
    const struct engine_plan plan = {.request_count = 4, .warmup_count = 1, .warmup_barrier = true, .due_ns = due};
    schedule_init(&schedule, &plan);
    expect_begin(&schedule, 0, 0, 0);
    expect_wait(&schedule, 50, SCHEDULE_FOREVER);
    assert_true(schedule_ended(&schedule, 0, 100));
    expect_begin(&schedule, 100, 1, 100);
    expect_wait(&schedule, 100, 110);
    expect_begin(&schedule, 110, 2, 110);
    expect_begin(&schedule, 121, 3, 120);
    /* A warm-up that ends in time moves nothing. */
    schedule_init(&schedule, &plan);
    expect_begin(&schedule, 0, 0, 0);
    assert_true(schedule_ended(&schedule, 0, 4));
    expect_wait(&schedule, 5, 10);
}

/* What was due before the end and got no place is counted, with how long the first of it had waited. */
static void test_unsent(void **state)
{
    (void)state;
    static const int64_t due_ns[] = {0, 10, 20, 30, 40, 50};
    struct schedule schedule;
    struct engine_plan plan = {.request_count = 6, .warmup_count = 1, .due_ns = due_ns, .max_concurrency = 1, .stop_after_ns = 45};
    schedule_init(&schedule, &plan);
    expect_begin(&schedule, 0, 0, 0);
    expect_wait(&schedule, 12, SCHEDULE_FOREVER);
    expect_over(&schedule, 45);
    struct schedule_unsent unsent = schedule_unsent(&schedule, -1);
    assert_int_equal(unsent.count, 4);
    assert_int_equal(unsent.longest_wait_ns, 35);
    unsent = schedule_unsent(&schedule, 30); /* stopped by hand: request 3 was not due yet */
    assert_int_equal(unsent.count, 2);
    assert_int_equal(unsent.longest_wait_ns, 20);
    plan.shard_count = 2;
    plan.shard = 1;
    schedule_init(&schedule, &plan);
    unsent = schedule_unsent(&schedule, -1);
    assert_int_equal(unsent.count, 2);
    assert_int_equal(unsent.longest_wait_ns, 35);
    plan.stop_after_ns = 0;
    schedule_init(&schedule, &plan);
    unsent = schedule_unsent(&schedule, -1); /* no end: nothing is skipped */
    assert_int_equal(unsent.count, 0);
    assert_int_equal(unsent.longest_wait_ns, -1);
    plan.concurrency = 1;
    schedule_init(&schedule, &plan);
    assert_int_equal(schedule_unsent(&schedule, 30).count, -1);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_closed_loop_in_order),
        cmocka_unit_test(test_shards),
        cmocka_unit_test(test_duration_counts_from_the_first_measured_send),
        cmocka_unit_test(test_duration_counts_from_the_end_of_the_ramp),
        cmocka_unit_test(test_stop_after_and_stop),
        cmocka_unit_test(test_ramp_phases),
        cmocka_unit_test(test_ramp_permits_are_linear),
        cmocka_unit_test(test_open_loop_waits_for_due_times),
        cmocka_unit_test(test_open_loop_limits_go_by_due_time),
        cmocka_unit_test(test_cap),
        cmocka_unit_test(test_barrier_closed_loop),
        cmocka_unit_test(test_barrier_shifts_the_open_loop),
        cmocka_unit_test(test_unsent),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
