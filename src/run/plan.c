/* SPDX-License-Identifier: Apache-2.0 */
#include "run/plan.h"

#include "workload/arrival.h"

#include <inttypes.h>
#include <stdlib.h>

static struct arrival_spec arrival_of(const struct load_config *load)
{
    static const enum arrival_process processes[] = {ARRIVAL_CONSTANT, ARRIVAL_POISSON, ARRIVAL_GAMMA};
    return (struct arrival_spec){
        .process = processes[load->arrival],
        .rate_per_s = load->rate_per_s,
        .burstiness = load->burstiness,
        .seed = (uint64_t)load->seed,
    };
}

/* When the first measured request is due. */
static as_status warmup_end(const struct arrival_spec *spec, int64_t warmup, int64_t *ret_ns, struct as_error *err)
{
    int64_t *due_ns = calloc((size_t)warmup + 1, sizeof *due_ns);
    if (!due_ns)
        return error_set(err, AS_E_NOMEM, "no memory for the plan");
    as_status status = arrival_plan(spec, warmup + 1, due_ns, err);
    if (status == AS_OK)
        *ret_ns = due_ns[warmup];
    free(due_ns);
    return status;
}

static as_status limit_by_time(const struct arrival_spec *spec, int64_t until_ns, int64_t *count, struct as_error *err)
{
    int64_t most = *count < PLAN_DUE_MAX + 1 ? *count : PLAN_DUE_MAX + 1;
    return arrival_count(spec, until_ns, most, count, err);
}

/* Requests of an open loop: by number, and by what is due within the time limits. */
static as_status open_count(const struct load_config *load, const struct run_shape *shape, const struct arrival_spec *spec, int64_t *ret,
                            struct as_error *err)
{
    int64_t count = shape->is_bounded_by_count ? load->warmup_requests + load->num_requests : INT64_MAX;
    as_status status = AS_OK;
    if (load->duration_ns != OPT_ABSENT) {
        int64_t start_ns = 0;
        status = warmup_end(spec, load->warmup_requests, &start_ns, err);
        if (status == AS_OK)
            status = limit_by_time(spec, start_ns + load->duration_ns, &count, err);
    }
    if (status == AS_OK && load->stop_after_ns != OPT_ABSENT)
        status = limit_by_time(spec, load->stop_after_ns, &count, err);
    if (status == AS_OK && count > PLAN_DUE_MAX)
        status = error_set(err, AS_E_USAGE, "the plan has more than %" PRId64 " send times; lower --request-rate, --num-requests or the time", PLAN_DUE_MAX);
    if (status == AS_OK)
        *ret = count;
    return status;
}

static as_status make_due_times(const struct load_config *load, const struct run_shape *shape, struct run_plan *plan, struct as_error *err)
{
    struct arrival_spec spec = arrival_of(load);
    as_status status = open_count(load, shape, &spec, &plan->engine.request_count, err);
    if (status != AS_OK)
        return status;
    if (plan->engine.request_count <= load->warmup_requests)
        return error_set(err, AS_E_USAGE, "no request to measure: all %" PRId64 " that are due in time are warm-up", plan->engine.request_count);
    plan->due_ns = calloc((size_t)plan->engine.request_count, sizeof *plan->due_ns);
    if (!plan->due_ns)
        return error_set(err, AS_E_NOMEM, "no memory for %" PRId64 " send times", plan->engine.request_count);
    status = arrival_plan(&spec, plan->engine.request_count, plan->due_ns, err);
    plan->engine.due_ns = plan->due_ns;
    return status;
}

static int64_t zero_if_absent(int64_t value)
{
    return value == OPT_ABSENT ? 0 : value;
}

as_status plan_make(const struct run_config *config, const struct run_shape *shape, struct run_plan *ret, struct as_error *err)
{
    const struct load_config *load = &config->load;
    struct run_plan plan = {.engine = {
        .request_count = shape->is_bounded_by_count ? load->warmup_requests + load->num_requests : INT64_MAX,
        .warmup_count = load->warmup_requests,
        .warmup_barrier = load->warmup_barrier,
        .concurrency = shape->concurrency,
        .max_concurrency = shape->max_concurrency,
        .ramp_up_ns = load->ramp_up_ns,
        .duration_ns = zero_if_absent(load->duration_ns),
        .stop_after_ns = zero_if_absent(load->stop_after_ns),
        .shard = (uint32_t)shape->shard,
        .shard_count = (uint32_t)shape->shard_count,
    }};
    as_status status = shape->is_open_loop ? make_due_times(load, shape, &plan, err) : AS_OK;
    if (status == AS_OK && shape->shard >= plan.engine.request_count)
        status = error_set(err, AS_E_USAGE, "--shard: the plan has %" PRId64 " requests, none of them in this shard", plan.engine.request_count);
    if (status != AS_OK) {
        plan_done(&plan);
        return status;
    }
    plan.planned_requests = plan.engine.request_count == INT64_MAX
                                ? -1
                                : (plan.engine.request_count - shape->shard + shape->shard_count - 1) / shape->shard_count;
    *ret = plan;
    return AS_OK;
}

void plan_done(struct run_plan *plan)
{
    free(plan->due_ns);
    plan->due_ns = NULL;
}
