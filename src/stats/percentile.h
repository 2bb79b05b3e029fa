/* SPDX-License-Identifier: Apache-2.0 */
#ifndef ASSAY_STATS_PERCENTILE_H
#define ASSAY_STATS_PERCENTILE_H

/*
 * Percentiles of sorted integers, by two methods that are always named. A percent is given as an integer, 1000 ×
 * percent (p99.9 = 99900), so that a rank never depends on how 0.07 × 100 rounds. Pure functions, any thread.
 */

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define PERCENTILE_METHOD_NEAREST_RANK "nearest_rank"
#define PERCENTILE_METHOD_LINEAR       "linear"
#define PERCENTILE_METHOD_HISTOGRAM    "histogram_1_256"

/*
 * The index of the nearest-rank percentile among n ≥ 1 sorted values: ceil(p·n) − 1, in integers
 * (n·P + 99999) / 100000 − 1. 0 < milli_percent ≤ 100000.
 */
int64_t percentile_index(int64_t n, int64_t milli_percent);

/* sorted[percentile_index]; n ≥ 1. */
int64_t percentile_nearest_rank(const int64_t *sorted, int64_t n, int64_t milli_percent);

/* Hyndman & Fan 1996 type 7, what numpy calls linear: between the values around (n − 1)·p. n ≥ 1, 0 ≤ milli_percent ≤
 * 100000. */
double percentile_linear(const int64_t *sorted, int64_t n, int64_t milli_percent);

/*
 * The smallest n at which the percentile is not simply the largest value: one observation is expected beyond it,
 * ceil(1 / (1 − p)). p50: 2, p90: 10, p95: 20, p99: 100, p99.9: 1000. Below it the figure is shown and marked.
 */
int64_t percentile_min_samples(int64_t milli_percent);

/*
 * Distribution-free confidence interval of a percentile: indexes low and high of sorted values between which the true
 * quantile lies with at least `confidence` (0 < … < 1), from the binomial distribution of the number of values below it
 * (order statistics; David & Nagaraja 2003, 7.1). False when no such pair exists for this n; then nothing is set.
 */
bool percentile_interval(int64_t n, int64_t milli_percent, double confidence, int64_t *ret_low, int64_t *ret_high);

/* P(X ≤ k) for X binomial(n, p). */
double binomial_cdf(int64_t k, int64_t n, double p);

#endif
