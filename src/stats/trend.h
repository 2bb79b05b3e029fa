/* SPDX-License-Identifier: Apache-2.0 */
#ifndef ASSAY_STATS_TREND_H
#define ASSAY_STATS_TREND_H

/*
 * Does a latency drift over time? Ordinary least squares of y on x, both in ns, from exact integer sums: the result
 * does not depend on the order in which pairs were added. Values must lie within ±2^47 (39 hours).
 */

#include "stats/wide.h"

#include <stdbool.h>
#include <stdint.h>

/* All zero = empty. */
struct trend {
    int64_t n;
    wide_int sum_x, sum_y;
    wide_uint sum_xx, sum_xy, sum_yy; /* modulo 2^128 */
};

struct trend_result {
    int64_t n;
    double slope;       /* y per x; NAN when all x are equal or n < 3 */
    double slope_error; /* standard error of the slope; NAN with it */
    double mean;        /* of y; NAN when empty */
};

void trend_add(struct trend *trend, int64_t x, int64_t y);
struct trend_result trend_fit(const struct trend *trend);

#endif
