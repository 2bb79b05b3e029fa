/* SPDX-License-Identifier: Apache-2.0 */
#include "busy_server.h"

#include "base/rng.h"

struct bench {
    struct engine_plan plan;
    struct engine_options options;
    struct net_endpoint net;
    bool expects_stream;
    struct engine *engine;
    struct engine_result result;
};

static void prepare(struct bench *bench, uint32_t threads, uint32_t concurrency, int64_t requests)
{
    memset(bench, 0, sizeof *bench);
    memset(kept, 0, sizeof kept);
    memset(kept_times, 0, sizeof kept_times);
    memset(kept_threads, 0, sizeof kept_threads);
    bench->plan.concurrency = concurrency;
    bench->plan.request_count = requests;
    bench->options.threads = threads;
    bench->options.run_id = "run";
    bench->options.request_timeout_ns = 60 * NS_PER_S;
    bench->options.drain_ns = 60 * NS_PER_S;
    bench->options.net.connect_timeout_ns = 60 * NS_PER_S;
    bench->options.net.max_idle = concurrency ? concurrency : 64;
    struct as_error err = {.message = ""};
    if (net_endpoint_parse(busy.url, &bench->net, &err) != AS_OK ||
        net_endpoint_resolve(&bench->net, 10 * NS_PER_S, &err) != AS_OK)
        fail_msg("%s", err.message);
}

static void make_engine(struct bench *bench)
{
    const struct engine_endpoint endpoint = {.net = &bench->net, .weight = 1, .headers = ""};
    const struct record_sink sink = {NULL, NULL, keep};
    struct as_error err = {.message = ""};
    const struct engine_setup setup = {&bench->plan,  &bench->options,        &endpoint, 1,
                                       &any_modality, &bench->expects_stream, sink};
    if (engine_prepare(&setup, &bench->engine, &err) != AS_OK)
        fail_msg("%s", err.message);
}

static void run_engine(struct bench *bench)
{
    struct as_error err = {.message = ""};
    if (engine_run(bench->engine, &bench->result, &err) != AS_OK)
        fail_msg("%s", err.message);
    const struct engine_progress *p = engine_progress(bench->engine);
    assert_int_equal(p->in_flight, 0);
    assert_int_equal(p->sent, p->ok + p->failed + p->timed_out + p->cancelled);
    assert_int_equal(bench->result.planned, p->sent + p->refused + bench->result.skipped);
    if (bench->plan.concurrency)
        assert_true(p->peak_in_flight <= bench->plan.concurrency);
}

static void finish(struct bench *bench)
{
    engine_free(bench->engine);
    net_endpoint_done(&bench->net);
    busy_stop();
}

static enum busy_answer always_json(int64_t seq, int try)
{
    (void)seq, (void)try;
    return BUSY_JSON;
}

static enum busy_answer always_stream(int64_t seq, int try)
{
    (void)seq, (void)try;
    return BUSY_STREAM;
}

/* Four threads share 32 permits: the server never sees more, each request comes once, connections are kept. */
static void test_permits_over_threads(void **state)
{
    (void)state;
    struct bench bench;
    busy_start(always_json, 300);
    prepare(&bench, 4, 32, 4000);
    make_engine(&bench);
    run_engine(&bench);
    const struct engine_progress *progress = engine_progress(bench.engine);
    assert_int_equal(progress->ok, 4000);
    assert_int_equal(progress->peak_in_flight, 32);
    assert_true(busy.peak <= 32);
    for (int i = 0; i < 4000; i++) {
        assert_int_equal(busy.arrived[i], 1);
        assert_int_equal(kept_times[i], 1);
        assert_int_equal(kept[i].outcome, OUTCOME_OK);
        assert_true(kept[i].sent_ns >= 0 && kept[i].written_ns >= kept[i].sent_ns && kept[i].done_ns > kept[i].sent_ns);
    }
    for (int i = 0; i < 4; i++)
        assert_true(kept_threads[i] > 0);
    assert_int_equal(bench.result.net.connects, 32);
    assert_int_equal(bench.result.net.requests, 4000);
    assert_true(bench.result.cpu_ns > 0);
    finish(&bench);
}

static void test_streams_keep_their_connections(void **state)
{
    (void)state;
    struct bench bench;
    busy_start(always_stream, 0);
    prepare(&bench, 2, 16, 1000);
    bench.expects_stream = true;
    bench.options.prewarm = true;
    make_engine(&bench);
    run_engine(&bench);
    int64_t stamped = 0;
    for (int i = 0; i < 1000; i++) {
        assert_int_equal(kept[i].outcome, OUTCOME_OK);
        assert_int_equal(kept[i].events, 3);
        assert_true(kept[i].done_seen);
        assert_int_equal(kept[i].flags, 0);
        /* All connections were there before the first request. */
        assert_true(kept[i].reused);
        assert_int_equal(kept[i].connect_duration_ns, -1);
        stamped += kept[i].stamp == RECORD_STAMP_KERNEL;
    }
    /* The kernel begins to stamp a moment after the first socket asks for it. */
    assert_in_range(stamped, 500, 1000);
    assert_true(bench.result.net.connects <= 16);
    assert_in_range(bench.result.lag_reads, stamped, INT64_MAX);
    assert_true(bench.result.lag_p50_ns >= 0 && bench.result.lag_p50_ns <= bench.result.lag_p99_ns);
    finish(&bench);
}

static enum busy_answer faulty(int64_t seq, int try)
{
    uint64_t hash = rng_mix((uint64_t)seq, (uint64_t)try);
    return hash % 3 ? BUSY_STREAM : (enum busy_answer)(hash / 3 % BUSY_SILENT);
}

/* Everything goes wrong somewhere, with retries: one record each, its tries as the server saw them. */
static void test_random_faults(void **state)
{
    (void)state;
    struct bench bench;
    busy_start(faulty, 0);
    prepare(&bench, 3, 24, 1200);
    bench.expects_stream = true;
    bench.options.retries = 2;
    bench.options.retry_backoff_ns = NS_PER_MS;
    make_engine(&bench);
    run_engine(&bench);
    int64_t ok = 0;
    for (int i = 0; i < 1200; i++) {
        const struct request_record *record = &kept[i];
        assert_int_equal(kept_times[i], 1);
        ok += record->outcome == OUTCOME_OK;
        /* The server may have seen more: a dead kept-alive connection is replaced within a try. */
        assert_in_range(record->attempt_count, 1, 3);
        assert_true(busy.arrived[i] >= (int)record->attempt_count);
        assert_true(busy.arrived[i] == (int)record->attempt_count || (record->flags & RECORD_FLAG_RECONNECTED));
        for (uint32_t try = 0; try + 1 < record->attempt_count; try++) {
            assert_true(record->attempts[try].error_type == ERROR_TYPE_SERVER_ERROR ||
                        record->attempts[try].error_type == ERROR_TYPE_CONNECTION);
            assert_true(record->attempts[try + 1].start_ns >= record->attempts[try].done_ns);
        }
        if (record->outcome == OUTCOME_FAILED)
            assert_true(record->error_type == ERROR_TYPE_BODY || record->error_type == ERROR_TYPE_SERVER_ERROR ||
                        record->error_type == ERROR_TYPE_CONNECTION);
    }
    assert_in_range(ok, 700, 1199);
    finish(&bench);
}

static enum busy_answer sometimes_silent(int64_t seq, int try)
{
    (void)try;
    return seq % 10 == 3 ? BUSY_SILENT : BUSY_JSON;
}

static void test_timeouts(void **state)
{
    (void)state;
    struct bench bench;
    busy_start(sometimes_silent, 0);
    prepare(&bench, 2, 8, 100);
    bench.options.request_timeout_ns = 250 * NS_PER_MS;
    make_engine(&bench);
    run_engine(&bench);
    for (int i = 0; i < 100; i++) {
        if (i % 10 != 3)
            continue;
        assert_int_equal(kept[i].outcome, OUTCOME_TIMED_OUT);
        assert_true(kept[i].response_time_ns >= 250 * NS_PER_MS);
    }
    finish(&bench);
}

static void test_open_loop_over_threads(void **state)
{
    (void)state;
    static int64_t due[3000];
    struct bench bench;
    struct rng rng;
    int64_t at = 0;
    rng_init(&rng, 1, 0);
    for (int i = 0; i < 3000; i++)
        due[i] = at += (int64_t)(rng_exponential(&rng) * 200e3);
    busy_start(always_json, 0);
    prepare(&bench, 4, 0, 3000);
    bench.plan.due_ns = due;
    bench.plan.max_concurrency = 200;
    make_engine(&bench);
    run_engine(&bench);
    int64_t late = 0;
    for (int i = 0; i < 3000; i++) {
        assert_int_equal(kept_times[i], 1);
        assert_int_equal(kept[i].due_ns, due[i]);
        assert_true(kept[i].sent_ns >= due[i]);
        late += (kept[i].flags & RECORD_FLAG_LATE_SEND) != 0;
    }
    assert_int_equal(bench.result.late_sends, late);
    assert_true(busy.peak <= 200);
    finish(&bench);
}

static void *stop_twice(void *argument)
{
    struct bench *bench = argument;
    const struct engine_progress *progress = engine_progress(bench->engine);
    while (atomic_load(&progress->ok) < 200)
        sched_yield();
    engine_stop(bench->engine);
    while (atomic_load(&progress->in_flight) > atomic_load(&progress->sent) - atomic_load(&progress->ok))
        sched_yield();
    engine_stop(bench->engine);
    return NULL;
}

static void test_stop_from_another_thread(void **state)
{
    (void)state;
    struct bench bench;
    pthread_t stopper;
    busy_start(sometimes_silent, 0);
    prepare(&bench, 4, 64, INT64_MAX);
    make_engine(&bench);
    assert_int_equal(pthread_create(&stopper, NULL, stop_twice, &bench), 0);
    run_engine(&bench);
    pthread_join(stopper, NULL);
    assert_true(bench.result.stopped_by_signal);
    const struct engine_progress *progress = engine_progress(bench.engine);
    assert_true(progress->cancelled > 0);
    for (int64_t i = 0; i < bench.result.planned; i++)
        assert_int_equal(kept_times[i], 1);
    assert_int_equal(kept_times[bench.result.planned], 0);
    finish(&bench);
}

static void test_warmup_barrier_over_threads(void **state)
{
    (void)state;
    struct bench bench;
    busy_start(always_json, 2000);
    prepare(&bench, 4, 16, 200);
    bench.plan.warmup_count = 40;
    bench.plan.warmup_barrier = true;
    make_engine(&bench);
    run_engine(&bench);
    int64_t last_warmup = 0, first_measured = INT64_MAX;
    for (int i = 0; i < 200; i++) {
        assert_int_equal(kept[i].phase, i < 40 ? PHASE_WARMUP : PHASE_MEASURED);
        if (i < 40 && kept[i].done_ns > last_warmup)
            last_warmup = kept[i].done_ns;
        if (i >= 40 && kept[i].sent_ns < first_measured)
            first_measured = kept[i].sent_ns;
    }
    assert_true(first_measured >= last_warmup);
    finish(&bench);
}

static void test_nobody_listens(void **state)
{
    (void)state;
    struct bench bench;
    busy_start(always_json, 0);
    prepare(&bench, 2, 4, 50);
    busy_stop();
    make_engine(&bench);
    run_engine(&bench);
    for (int i = 0; i < 50; i++) {
        assert_int_equal(kept[i].outcome, OUTCOME_FAILED);
        assert_int_equal(kept[i].error_type, ERROR_TYPE_CONNECTION);
    }
    engine_free(bench.engine);
    net_endpoint_done(&bench.net);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_permits_over_threads),
        cmocka_unit_test(test_streams_keep_their_connections),
        cmocka_unit_test(test_random_faults),
        cmocka_unit_test(test_timeouts),
        cmocka_unit_test(test_open_loop_over_threads),
        cmocka_unit_test(test_stop_from_another_thread),
        cmocka_unit_test(test_warmup_barrier_over_threads),
        cmocka_unit_test(test_nobody_listens),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
