/* SPDX-License-Identifier: Apache-2.0 */
#include "fake_net.h"

static const struct fake_step slow[] = {
    {.after_ns = 700 * MS, .kind = FAKE_HEAD, .head = FAKE_JSON_HEAD(2)},
    {.kind = FAKE_DATA, .data = "ok"},
    {.kind = FAKE_END, .end = NET_END_COMPLETE},
};
static const struct fake_step silent[] = {{.after_ns = 1000 * S, .kind = FAKE_END, .end = NET_END_CLOSED}};
static const struct fake_step busy[] = {
    {.after_ns = 10 * MS, .kind = FAKE_HEAD, .head = FAKE_ERROR_HEAD(429, 25)},
    {.kind = FAKE_END, .end = NET_END_COMPLETE},
};

static const struct fake_step *serve(struct net_exchange *x)
{
    return x->endpoint == 0 ? slow : x->endpoint == 1 ? silent : busy;
}

static int64_t stops_ns[2]; /* when engine_stop is called, 0 = never */

static void stop_at(void)
{
    for (int i = 0; i < 2; i++) {
        if (stops_ns[i] && fake_now() >= stops_ns[i]) {
            engine_stop(run.engine);
            stops_ns[i] = 0;
            fake.alarm_ns = stops_ns[1];
        }
    }
}

static void settings(int64_t first_stop_ns, int64_t second_stop_ns)
{
    fake_settings(serve);
    fake.at_poll = stop_at;
    fake.alarm_ns = stops_ns[0] = first_stop_ns;
    stops_ns[1] = second_stop_ns;
    run.plan.concurrency = 3;
    run.plan.request_count = 3000;
    run.endpoint_count = 3;
    run.options.retries = 2;
    run.options.drain_ns = 5 * S;
    run.options.request_timeout_ns = 100 * S;
}

static int64_t count_outcome(enum outcome outcome)
{
    int64_t n = 0;
    for (size_t i = 0; i < run.record_count; i++)
        n += run.records[i].outcome == outcome;
    return n;
}

/* After the first stop nothing begins; what is in flight may end until the drain is over, then it is cancelled. */
static void test_drain(void **state)
{
    (void)state;
    settings(500 * MS, 0);
    fake_engine_run();
    assert_true(run.result.stopped_by_signal);
    assert_true(run.result.drain_expired);
    assert_int_equal(run.record_count, 3);
    assert_int_equal(run.result.skipped, 2997);
    assert_int_equal(count_outcome(OUTCOME_OK), 1);
    assert_int_equal(count_outcome(OUTCOME_CANCELLED), 2);
    for (size_t i = 0; i < 3; i++) {
        if (run.records[i].outcome == OUTCOME_CANCELLED) {
            assert_int_equal(run.records[i].done_ns, 5500 * MS);
            assert_int_equal(run.records[i].error_type, ERROR_TYPE_NONE);
        }
    }
}

static void test_second_stop_cancels_at_once(void **state)
{
    (void)state;
    settings(300 * MS, 400 * MS);
    fake_engine_run();
    assert_int_equal(count_outcome(OUTCOME_CANCELLED), 3);
    assert_false(run.result.drain_expired);
    assert_int_equal(run.result.ended_ns, 400 * MS);
    for (size_t i = 0; i < 3; i++) {
        /* The one that waits for its next try had one. */
        assert_int_equal(run.records[i].attempt_count, 1);
        assert_int_equal(run.records[i].http_status, run.records[i].endpoint == 2 ? 429 : -1);
    }
}

static void test_all_done_before_the_drain_ends(void **state)
{
    (void)state;
    settings(500 * MS, 0);
    run.endpoint_count = 1;
    fake_engine_run();
    assert_int_equal(count_outcome(OUTCOME_OK), 3);
    assert_false(run.result.drain_expired);
    assert_int_equal(run.result.ended_ns, 700 * MS);
}

static void test_stop_of_an_open_loop(void **state)
{
    (void)state;
    static int64_t due[100];
    settings(500 * MS, 0);
    for (int i = 0; i < 100; i++)
        due[i] = i * 100 * MS;
    run.endpoint_count = 1;
    run.plan.concurrency = 0;
    run.plan.due_ns = due;
    run.plan.request_count = 100;
    fake_engine_run();
    assert_in_range(run.record_count, 5, 7);
    assert_int_equal(count_outcome(OUTCOME_OK), run.record_count);
    assert_int_equal(run.result.skipped + (int64_t)run.record_count, 100);
}

static void test_nothing_planned(void **state)
{
    (void)state;
    fake_settings(serve);
    run.plan.request_count = 0;
    fake_engine_run();
    assert_int_equal(run.record_count, 0);
    assert_int_equal(run.result.ended_ns, -1);
    assert_int_equal(run.result.measured_start_ns, -1);
}

static void test_bad_plans(void **state)
{
    (void)state;
    static const struct modality modality = {.tool = "test", .answer_bytes = 8};
    static const int64_t due[1] = {0};
    const struct record_sink sink = {NULL, NULL, fake_put};
    struct net_endpoint net = {
        .name = (char *)(uintptr_t) "n", .host_header = (char *)(uintptr_t) "h", .path_prefix = (char *)(uintptr_t) ""};
    const struct engine_endpoint endpoint = {.net = &net, .weight = 1};
    const struct engine_plan plans[] = {
        {.request_count = 1},
        {.request_count = -1, .concurrency = 1},
        {.request_count = INT64_MAX, .due_ns = due},
        {.request_count = 1, .concurrency = 1, .shard = 2, .shard_count = 2},
        {.request_count = 1, .concurrency = 1},
        {.request_count = 1, .concurrency = 1},
    };
    for (size_t i = 0; i < sizeof plans / sizeof *plans; i++) {
        const struct engine_options options = {.retries = i == 4 ? RECORD_ATTEMPTS_MAX : 0};
        struct engine *engine = NULL;
        struct as_error err = {.message = ""};
        const struct engine_setup setup = {&plans[i], &options, &endpoint, i == 5 ? 0 : 1, &modality, NULL, sink};
        assert_int_equal(engine_prepare(&setup, &engine, &err), AS_E_INVALID);
        assert_null(engine);
        assert_true(err.message[0] != '\0');
    }
}

static bool begins_until_half_a_second(void *context, uint32_t thread)
{
    int64_t *asked = context;
    assert_int_equal(thread, 0);
    ++*asked;
    return fake_now() < 500 * MS || fake_now() >= 3 * S;
}

/* A thread that may not begin requests goes on with those in flight, and begins again when it may. */
static void test_requests_are_held_back(void **state)
{
    (void)state;
    int64_t asked = 0;
    settings(0, 0);
    run.endpoint_count = 1;
    run.plan.request_count = 9;
    run.options.may_begin = begins_until_half_a_second;
    run.options.may_begin_context = &asked;
    fake_engine_run();
    assert_int_equal(run.record_count, 9);
    assert_int_equal(count_outcome(OUTCOME_OK), 9);
    for (size_t i = 0; i < 9; i++) {
        int64_t sent_ns = run.records[i].sent_ns;
        assert_true(sent_ns < 500 * MS || sent_ns >= 3 * S);
        assert_int_equal(sent_ns < 500 * MS, i < 3);
    }
    assert_true(asked > 9 && asked < 3000);
}

/* A stop is noticed while requests are held back. */
static void test_stop_while_held_back(void **state)
{
    (void)state;
    int64_t asked = 0;
    settings(1000 * MS, 0);
    run.endpoint_count = 1;
    run.options.may_begin = begins_until_half_a_second;
    run.options.may_begin_context = &asked;
    fake_engine_run();
    assert_int_equal(run.record_count, 3);
    assert_true(run.result.stopped_by_signal);
    assert_int_equal(run.result.skipped, 2997);
    assert_true(fake_now() < 2 * S);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_drain),
        cmocka_unit_test(test_second_stop_cancels_at_once),
        cmocka_unit_test(test_all_done_before_the_drain_ends),
        cmocka_unit_test(test_stop_of_an_open_loop),
        cmocka_unit_test(test_nothing_planned),
        cmocka_unit_test(test_requests_are_held_back),
        cmocka_unit_test(test_stop_while_held_back),
        cmocka_unit_test(test_bad_plans),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
