/* SPDX-License-Identifier: Apache-2.0 */
#include "stats/trend.h"

#include <math.h>

void trend_add(struct trend *trend, int64_t x, int64_t y)
{
    trend->n++;
    trend->sum_x += x;
    trend->sum_y += y;
    /* Unsigned, so that absurd values give an absurd trend and nothing worse. */
    trend->sum_xx += (wide_uint)((wide_int)x * x);
    trend->sum_xy += (wide_uint)((wide_int)x * y);
    trend->sum_yy += (wide_uint)((wide_int)y * y);
}

/* Σ(a − ā)(b − b̄): around the integer means in integers, which cancels nothing, then the fractions of the means. */
static double centred(const struct trend *t, wide_uint sum_ab, wide_int sum_a, wide_int sum_b)
{
    wide_int mean_a = sum_a / t->n, mean_b = sum_b / t->n;
    wide_int around = (wide_int)(sum_ab - (wide_uint)mean_a * (wide_uint)sum_b - (wide_uint)mean_b * (wide_uint)sum_a +
                                 (wide_uint)t->n * (wide_uint)mean_a * (wide_uint)mean_b);
    double rest_a = (double)(sum_a % t->n), rest_b = (double)(sum_b % t->n);
    return (double)around - rest_a * rest_b / (double)t->n;
}

struct trend_result trend_fit(const struct trend *t)
{
    struct trend_result result = {.n = t->n, .slope = (double)NAN, .slope_error = (double)NAN, .mean = (double)NAN};
    if (t->n == 0)
        return result;
    result.mean = (double)t->sum_y / (double)t->n;
    if (t->n < 3)
        return result;
    double xx = centred(t, t->sum_xx, t->sum_x, t->sum_x);
    if (!(xx > 0))
        return result;
    double xy = centred(t, t->sum_xy, t->sum_x, t->sum_y);
    double yy = centred(t, t->sum_yy, t->sum_y, t->sum_y);
    double residual = yy - xy * xy / xx;
    result.slope = xy / xx;
    result.slope_error = residual > 0 ? sqrt(residual / (double)(t->n - 2) / xx) : 0.0;
    return result;
}
