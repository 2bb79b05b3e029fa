/* SPDX-License-Identifier: Apache-2.0 */
#include "workload/arrival.h"
#include "base/rng.h"

#include <math.h>

#define ARRIVAL_STREAM UINT64_C(0x6172726976616c73) /* "arrivals" */
#define DUE_MAX_NS     9.2e18

/* The plan in the making: due times one after the other. */
struct planner {
    const struct arrival_spec *spec;
    struct rng rng;
    int64_t index;
    double gap_mean_ns;
    double due_ns; /* of `index`, random processes */
};

static as_status check(const struct arrival_spec *spec, struct as_error *err)
{
    if (!(spec->rate_per_s > 0))
        return error_set(err, AS_E_INVALID, "the request rate must be more than 0 requests per second, or inf");
    if (spec->process == ARRIVAL_GAMMA && !(spec->burstiness > 0 && isfinite(spec->burstiness)))
        return error_set(err, AS_E_INVALID, "the burstiness must be a number more than 0 (1 = Poisson)");
    return AS_OK;
}

static void planner_init(struct planner *planner, const struct arrival_spec *spec)
{
    *planner = (struct planner){.spec = spec, .gap_mean_ns = isinf(spec->rate_per_s) ? 0 : 1e9 / spec->rate_per_s};
    rng_init(&planner->rng, spec->seed, ARRIVAL_STREAM);
}

/* The next due time in ns; sums of up to 10^9 gaps keep their ns in a double for a run of 100 days. */
static double planner_next(struct planner *planner)
{
    double due = planner->due_ns;
    int64_t index = planner->index++;
    if (isinf(planner->spec->rate_per_s))
        return 0;
    switch (planner->spec->process) {
    case ARRIVAL_CONSTANT:
        return (double)((long double)index * 1e9L / (long double)planner->spec->rate_per_s);
    case ARRIVAL_POISSON:
        planner->due_ns += planner->gap_mean_ns * rng_exponential(&planner->rng);
        break;
    case ARRIVAL_GAMMA:
        planner->due_ns += planner->gap_mean_ns * rng_gamma(&planner->rng, planner->spec->burstiness);
        break;
    }
    return due;
}

as_status arrival_plan(const struct arrival_spec *spec, int64_t count, int64_t *ret_due_ns, struct as_error *err)
{
    as_status status = check(spec, err);
    if (status != AS_OK)
        return status;
    struct planner planner;
    planner_init(&planner, spec);
    for (int64_t i = 0; i < count; i++) {
        double due_ns = planner_next(&planner);
        if (!(due_ns < DUE_MAX_NS))
            return error_set(err, AS_E_INVALID, "%lld requests at this rate take longer than 292 years",
                             (long long)count);
        ret_due_ns[i] = llround(due_ns);
    }
    return AS_OK;
}

as_status arrival_count(const struct arrival_spec *spec, int64_t duration_ns, int64_t max_count, int64_t *ret,
                        struct as_error *err)
{
    as_status status = check(spec, err);
    if (status != AS_OK)
        return status;
    struct planner planner;
    planner_init(&planner, spec);
    int64_t count = 0;
    while (count < max_count) {
        double due_ns = planner_next(&planner);
        if (!(due_ns < DUE_MAX_NS) || llround(due_ns) >= duration_ns)
            break;
        count++;
    }
    *ret = count;
    return AS_OK;
}
