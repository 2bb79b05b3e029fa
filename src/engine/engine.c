/* SPDX-License-Identifier: Apache-2.0 */
#include "engine/internal.h"

#include <stdlib.h>
#include <string.h>

#define STAMPS_WAIT_NS (10 * NS_PER_MS)
#define OFFSET_ROUNDS 16
/* What the clock discipline may move the wall clock against the monotonic one without a step: 1000 ppm. */
#define SLEW_DIVISOR 1000

static as_status check_plan(const struct engine_plan *plan, const struct engine_options *options, struct as_error *err)
{
    if (plan->concurrency == 0 && !plan->due_ns)
        return error_set(err, AS_E_INVALID, "a plan needs a concurrency or due times");
    if (plan->request_count < 0 || plan->warmup_count < 0 || plan->ramp_up_ns < 0)
        return error_set(err, AS_E_INVALID, "a plan's counts and times must not be negative");
    if (plan->concurrency == 0 && plan->request_count == INT64_MAX)
        return error_set(err, AS_E_INVALID, "an open loop needs a number of requests");
    if (plan->shard_count > 0 && plan->shard >= plan->shard_count)
        return error_set(err, AS_E_INVALID, "shard %u of %u does not exist", plan->shard, plan->shard_count);
    if (options->retries >= RECORD_ATTEMPTS_MAX)
        return error_set(err, AS_E_INVALID, "at most %d retries", RECORD_ATTEMPTS_MAX - 1);
    return AS_OK;
}

/* Threads that would have nothing to do are not made. */
static uint32_t useful_threads(const struct engine_plan *plan, uint32_t threads)
{
    uint32_t most = plan->concurrency ? plan->concurrency : plan->max_concurrency;
    if (most > 0 && threads > most)
        threads = most;
    return threads > 0 ? threads : 1;
}

static as_status copy_endpoints(struct engine *engine, const struct engine_endpoint *endpoints, uint32_t count,
                                struct as_error *err)
{
    engine->net_endpoints = calloc(count, sizeof *engine->net_endpoints);
    engine->heads = calloc(count, sizeof *engine->heads);
    engine->weights = calloc(count, sizeof *engine->weights);
    if (!engine->net_endpoints || !engine->heads || !engine->weights)
        return error_set(err, AS_E_NOMEM, "no memory for %u endpoints", count);
    engine->endpoint_count = count;
    for (uint32_t i = 0; i < count; i++) {
        engine->net_endpoints[i] = endpoints[i].net;
        engine->weights[i] = endpoints[i].weight ? endpoints[i].weight : 1;
        engine->weight_sum += engine->weights[i];
        as_status status = request_head_init(&engine->heads[i], &endpoints[i], &engine->options, err);
        if (status != AS_OK)
            return status;
    }
    return balance_init(&engine->balance, &engine->options, engine->weights, count, err);
}

static as_status make_threads(struct engine *engine, struct as_error *err)
{
    uint32_t count = useful_threads(&engine->plan, engine->options.threads);
    engine->threads = calloc(count, sizeof *engine->threads);
    if (!engine->threads)
        return error_set(err, AS_E_NOMEM, "no memory for %u threads", count);
    engine->thread_count = count;
    for (uint32_t i = 0; i < count; i++) {
        as_status status = thread_init(&engine->threads[i], engine, i, err);
        if (status != AS_OK)
            return status;
    }
    return AS_OK;
}

as_status engine_prepare(const struct engine_setup *setup, struct engine **ret, struct as_error *err)
{
    as_status status = check_plan(setup->plan, setup->options, err);
    if (status != AS_OK)
        return status;
    if (setup->endpoint_count == 0 || setup->endpoint_count > UINT16_MAX)
        return error_set(err, AS_E_INVALID, "a run needs 1 to %d endpoints", UINT16_MAX);
    struct engine *engine = calloc(1, sizeof *engine);
    if (!engine)
        return error_set(err, AS_E_NOMEM, "no memory for the engine");
    engine->plan = *setup->plan;
    engine->options = *setup->options;
    engine->modality = setup->modality;
    engine->modality_context = setup->modality_context;
    engine->sink = setup->sink;
    engine->answer_stride = (setup->modality->answer_bytes + 63) / 64 * 64;
    engine->tries_max = setup->options->retries + 1;
    atomic_init(&engine->drain_until_ns, -1);
    atomic_init(&engine->waiter, -1);
    pthread_mutex_init(&engine->gate_mutex, NULL);
    pthread_cond_init(&engine->gate_moved, NULL);
    schedule_init(&engine->schedule, &engine->plan);
    status = copy_endpoints(engine, setup->endpoints, setup->endpoint_count, err);
    if (status == AS_OK)
        status = make_threads(engine, err);
    if (status != AS_OK) {
        engine_free(engine);
        return status;
    }
    *ret = engine;
    return AS_OK;
}

void engine_free(struct engine *engine)
{
    if (!engine)
        return;
    for (uint32_t i = 0; i < engine->thread_count; i++)
        thread_done(&engine->threads[i]);
    free(engine->threads);
    balance_done(&engine->balance);
    for (uint32_t i = 0; i < engine->endpoint_count; i++)
        request_head_done(&engine->heads[i]);
    free(engine->heads);
    free(engine->weights);
    free(engine->net_endpoints);
    pthread_cond_destroy(&engine->gate_moved);
    pthread_mutex_destroy(&engine->gate_mutex);
    free(engine);
}

void engine_wake_all(struct engine *engine)
{
    for (uint32_t i = 0; i < engine->thread_count; i++)
        net_loop_wake(engine->threads[i].loop);
}

void engine_stop(struct engine *engine)
{
    atomic_fetch_add_explicit(&engine->stops, 1, memory_order_relaxed);
    engine_wake_all(engine);
}

const struct engine_progress *engine_progress(const struct engine *engine)
{
    return &engine->progress;
}

/* ---- run ---- */

static void move_gate(struct engine *engine, enum gate gate)
{
    pthread_mutex_lock(&engine->gate_mutex);
    engine->gate = gate;
    pthread_cond_broadcast(&engine->gate_moved);
    pthread_mutex_unlock(&engine->gate_mutex);
}

bool engine_open_gate(struct engine *engine)
{
    pthread_mutex_lock(&engine->gate_mutex);
    while (engine->gate_ready + 1 < engine->thread_count)
        pthread_cond_wait(&engine->gate_moved, &engine->gate_mutex);
    pthread_mutex_unlock(&engine->gate_mutex);
    /* The kernel takes a while to begin with stamping; without stamps by then the first reads have the client's own. */
    if (!engine->options.net.no_kernel_stamps)
        (void)net_loop_await_stamps(engine->threads[0].loop, STAMPS_WAIT_NS);
    engine->epoch_offset = clock_offset_measure(OFFSET_ROUNDS);
    engine->cpu_start_ns = cpu_process_ns();
    engine->epoch = mono_now();
    if (engine->sink.start)
        engine->sink.start(engine->sink.context, engine->epoch, &engine->epoch_offset);
    move_gate(engine, GATE_OPEN);
    return true;
}

static void *thread_main(void *argument)
{
    thread_run(argument);
    return NULL;
}

static as_status start_threads(struct engine *engine, struct as_error *err)
{
    for (uint32_t i = 1; i < engine->thread_count; i++) {
        int errnum = pthread_create(&engine->threads[i].handle, NULL, thread_main, &engine->threads[i]);
        if (errnum == 0)
            continue;
        move_gate(engine, GATE_ABANDONED);
        while (--i > 0)
            pthread_join(engine->threads[i].handle, NULL);
        return error_set_errno(err, errnum, "cannot start %u threads", engine->thread_count);
    }
    return AS_OK;
}

static void add_counters(struct net_counters *sum, const struct net_counters *one)
{
    sum->connects += one->connects;
    sum->connect_failures += one->connect_failures;
    sum->reconnects += one->reconnects;
    sum->requests += one->requests;
    sum->reads += one->reads;
    sum->stamped_reads += one->stamped_reads;
    sum->unclean_closes += one->unclean_closes;
    sum->open_now += one->open_now;
    sum->open_peak += one->open_peak;
    sum->connecting_now += one->connecting_now;
    sum->idle_now += one->idle_now;
    sum->wakeups += one->wakeups;
    if (one->max_loop_lag_ns > sum->max_loop_lag_ns)
        sum->max_loop_lag_ns = one->max_loop_lag_ns;
    if (one->clock_step_ns > sum->clock_step_ns)
        sum->clock_step_ns = one->clock_step_ns;
}

/* How far wall − mono moved over the whole run beyond what slewing and the two measurements explain. */
static int64_t clock_moved_ns(const struct engine *engine)
{
    struct clock_offset now = clock_offset_measure(OFFSET_ROUNDS);
    int64_t moved_ns = now.offset_ns - engine->epoch_offset.offset_ns;
    int64_t allowed_ns = mono_diff_ns(now.measured_at, engine->epoch_offset.measured_at) / SLEW_DIVISOR + now.error_ns +
                         engine->epoch_offset.error_ns;
    moved_ns = moved_ns < 0 ? -moved_ns : moved_ns;
    return moved_ns > allowed_ns ? moved_ns - allowed_ns : 0;
}

static void collect_lag(const struct engine *engine, struct engine_result *result, struct lag *sum)
{
    memset(sum, 0, sizeof *sum);
    for (uint32_t i = 0; i < engine->thread_count; i++)
        lag_merge(sum, &engine->threads[i].lag);
    result->lag_reads = sum->reads;
    result->lag_p50_ns = lag_percentile_ns(sum, 50);
    result->lag_p99_ns = lag_percentile_ns(sum, 99);
    result->lag_max_ns = sum->reads ? sum->max_ns : -1;
}

static void collect(struct engine *engine, struct engine_result *result)
{
    *result = (struct engine_result){
        .epoch = engine->epoch,
        .epoch_offset = engine->epoch_offset,
        .measured_start_ns = atomic_load(&engine->schedule.measured_start_ns),
        .ended_ns = -1,
        .planned = schedule_planned(&engine->schedule),
        .skipped = schedule_skipped(&engine->schedule),
        .stopped_by_signal = atomic_load(&engine->stops) > 0,
        .cpu_ns = cpu_process_ns() - engine->cpu_start_ns,
        .clock_step_ns = clock_moved_ns(engine),
        .ejections = atomic_load(&engine->balance.ejections),
    };
    int64_t drain_until_ns = atomic_load(&engine->drain_until_ns);
    struct schedule_unsent unsent =
        schedule_unsent(&engine->schedule, drain_until_ns < 0 ? -1 : drain_until_ns - engine->options.drain_ns);
    result->late_unsent = unsent.count;
    result->late_unsent_wait_ns = unsent.longest_wait_ns;
    for (uint32_t i = 0; i < engine->thread_count; i++) {
        const struct engine_thread *thread = &engine->threads[i];
        struct net_counters counters;
        net_loop_counters(thread->loop, &counters);
        add_counters(&result->net, &counters);
        result->late_sends += thread->late_sends;
        result->drain_expired |= thread->has_drain_expired;
        if (thread->last_done_ns > result->ended_ns)
            result->ended_ns = thread->last_done_ns;
    }
    if (result->net.clock_step_ns > result->clock_step_ns)
        result->clock_step_ns = result->net.clock_step_ns;
    collect_lag(engine, result, &engine->lag_sum);
}

as_status engine_run(struct engine *engine, struct engine_result *ret, struct as_error *err)
{
    if (engine->has_run)
        return error_set(err, AS_E_STATE, "an engine runs once");
    engine->has_run = true;
    as_status status = start_threads(engine, err);
    if (status != AS_OK)
        return status;
    thread_run(&engine->threads[0]);
    for (uint32_t i = 1; i < engine->thread_count; i++)
        pthread_join(engine->threads[i].handle, NULL);
    for (uint32_t i = 0; i < engine->thread_count; i++) {
        if (engine->threads[i].status != AS_OK)
            status =
                error_set(err, engine->threads[i].status, "no memory for more requests in flight; the run was ended");
    }
    collect(engine, ret);
    return status;
}
