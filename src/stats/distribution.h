/* SPDX-License-Identifier: Apache-2.0 */
#ifndef ASSAY_STATS_DISTRIBUTION_H
#define ASSAY_STATS_DISTRIBUTION_H

/*
 * What is published of a set of numbers. All figures are in the unit of the values; an undefined one is NAN (written as
 * null), never 0. Equal sets give equal figures whatever their order: sums are exact integers. Pure functions, any
 * thread.
 */

#include "stats/histogram.h"

#include <stdbool.h>
#include <stdint.h>

enum percentile_method { PERCENTILE_NEAREST_RANK, PERCENTILE_LINEAR, PERCENTILE_FROM_HISTOGRAM };

/* "nearest_rank", "linear" (numpy's, type 7), "histogram_1_256" (nearest rank, at most 1/256 above the value). */
const char *percentile_method_name(enum percentile_method method);
/* False when `name` is none of the first two. */
bool percentile_method_parse(const char *name, enum percentile_method *ret);

/* The percentiles of every distribution: index, member name, 1000 × percent. */
/* clang-format off */
#define DISTRIBUTION_PERCENTILE_MAP(X) \
    X(P50, "p50", 50000)               \
    X(P75, "p75", 75000)               \
    X(P90, "p90", 90000)               \
    X(P95, "p95", 95000)               \
    X(P99, "p99", 99000)               \
    X(P99_9, "p99_9", 99900)
enum distribution_percentile {
#define DISTRIBUTION_PERCENTILE_ENUM(name, text, milli) DISTRIBUTION_##name,
    DISTRIBUTION_PERCENTILE_MAP(DISTRIBUTION_PERCENTILE_ENUM)
#undef DISTRIBUTION_PERCENTILE_ENUM
    DISTRIBUTION_PERCENTILES
};
/* clang-format on */

struct distribution {
    int64_t n;
    double min, max, mean;
    double std;                                  /* population deviation (numpy's); NAN for n < 2 */
    double percentile[DISTRIBUTION_PERCENTILES]; /* p99_9 is NAN for n < 1000, the others for n = 0 */
    /* 95 % confidence interval of each percentile by order statistics, whatever the distribution; NAN where n does not
     * allow one. */
    double ci95_low[DISTRIBUTION_PERCENTILES], ci95_high[DISTRIBUTION_PERCENTILES];
    enum percentile_method method;
};

const char *distribution_percentile_name(enum distribution_percentile which);
/* True when so few values are behind this percentile that it is just the largest one (n < percentile_min_samples). */
bool distribution_is_thin(const struct distribution *d, enum distribution_percentile which);

/* Of `n` values sorted ascending; `sorted` may be NULL when n is 0. `method` is one of the first two. */
struct distribution distribution_of_sorted(const int64_t *sorted, int64_t n, enum percentile_method method);
/* Extremes, mean and deviation exact, percentiles to within a bucket; no intervals. */
struct distribution distribution_of_histogram(const struct histogram *h);
/* All undefined, n = 0. */
struct distribution distribution_empty(enum percentile_method method);

#endif
