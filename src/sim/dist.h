/* SPDX-License-Identifier: Apache-2.0 */
#ifndef ASSAY_SIM_DIST_H
#define ASSAY_SIM_DIST_H

/*
 * Distributions of delays and lengths, written "NAME:A,B" by their mean and standard deviation:
 *
 *   50ms                    always that (also constant:50ms)
 *   uniform:40ms,60ms       between the two
 *   normal:50ms,5ms         mean, deviation; below zero counts as zero
 *   exponential:50ms        mean
 *   gamma:50ms,20ms         mean, deviation
 *   lognormal:50ms,20ms     mean, deviation
 *
 * Durations end in ns, us, ms, s or m; counts are plain numbers. Values are immutable after parsing; any thread.
 */

#include "base/rng.h"
#include "base/status.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum sim_dist_kind {
    SIM_DIST_CONSTANT,
    SIM_DIST_UNIFORM,
    SIM_DIST_NORMAL,
    SIM_DIST_EXPONENTIAL,
    SIM_DIST_GAMMA,
    SIM_DIST_LOGNORMAL
};
enum sim_dist_unit { SIM_DIST_DURATION, SIM_DIST_COUNT };

struct sim_dist {
    enum sim_dist_kind kind;
    /* In ns or in counts: constant a; uniform a to b; normal mean a, deviation b; exponential mean a;
       gamma mean a, shape b; lognormal mean of the logarithm a, its deviation b. */
    double a, b;
};

/* AS_E_USAGE with a sentence that says what is allowed. */
as_status sim_dist_parse(const char *text, enum sim_dist_unit unit, struct sim_dist *ret,
                         struct as_error *err) AS_NODISCARD;

/* A duration text ("1.4s") in ns, ≥ 0; returns bytes read, 0 when it is none. */
size_t sim_duration_parse(const char *text, double *ret_ns);

/* One value, rounded, never negative. Draws nothing from `rng` when the value is constant. */
int64_t sim_dist_sample(const struct sim_dist *dist, struct rng *rng);

/* The mean of what is sampled, cuts at zero aside. */
double sim_dist_mean(const struct sim_dist *dist);

/* True when every sample is 0. */
bool sim_dist_is_zero(const struct sim_dist *dist);

#endif
