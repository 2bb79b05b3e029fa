/* SPDX-License-Identifier: Apache-2.0 */
#ifndef ASSAY_WORKLOAD_ARRIVAL_H
#define ASSAY_WORKLOAD_ARRIVAL_H

/*
 * When the requests of an open loop are due: instants from the start of the run, planned before it. Depends on the
 * numbers below alone; a shorter plan is a prefix of a longer one. The first request is due at 0. Pure functions; any
 * thread.
 */

#include "base/status.h"

#include <stdint.h>

enum arrival_process {
    ARRIVAL_CONSTANT, /* equal gaps: request i at i / rate, rounded to a ns, without accumulated error */
    ARRIVAL_POISSON,  /* exponential gaps: coefficient of variation 1 */
    ARRIVAL_GAMMA     /* gamma gaps of shape `burstiness`: coefficient of variation 1/√burstiness */
};

struct arrival_spec {
    enum arrival_process process;
    double rate_per_s; /* > 0; INFINITY: all are due at 0 */
    double burstiness; /* ARRIVAL_GAMMA: > 0; 1 = Poisson, less is burstier, more is smoother */
    uint64_t seed;
};

/*
 * Fills due_ns[0 … count − 1], ascending. AS_E_INVALID for numbers outside their range, or when an instant would lie
 * beyond 292 years.
 */
as_status arrival_plan(const struct arrival_spec *spec, int64_t count, int64_t *ret_due_ns,
                       struct as_error *err) AS_NODISCARD;
/* How many requests are due before `duration_ns`, at most `max_count`. With an infinite rate that is max_count. */
as_status arrival_count(const struct arrival_spec *spec, int64_t duration_ns, int64_t max_count, int64_t *ret,
                        struct as_error *err) AS_NODISCARD;

#endif
