/* SPDX-License-Identifier: Apache-2.0 */
#include "stats/percentile.h"

#include "stats/wide.h"

#include <math.h>

#define WHOLE INT64_C(100000) /* 100 % in thousandths of a percent */

int64_t percentile_index(int64_t n, int64_t milli_percent)
{
    return (int64_t)(((wide_int)n * milli_percent + WHOLE - 1) / WHOLE) - 1;
}

int64_t percentile_nearest_rank(const int64_t *sorted, int64_t n, int64_t milli_percent)
{
    return sorted[percentile_index(n, milli_percent)];
}

double percentile_linear(const int64_t *sorted, int64_t n, int64_t milli_percent)
{
    wide_int position = (wide_int)(n - 1) * milli_percent;
    int64_t index = (int64_t)(position / WHOLE);
    int64_t rest = (int64_t)(position % WHOLE);
    double low = (double)sorted[index];
    if (rest == 0)
        return low;
    double gap = (double)((wide_int)sorted[index + 1] - sorted[index]);
    return low + gap * ((double)rest / (double)WHOLE);
}

int64_t percentile_min_samples(int64_t milli_percent)
{
    int64_t beyond = WHOLE - milli_percent;
    return beyond <= 0 ? INT64_MAX : (WHOLE + beyond - 1) / beyond;
}

/* ln x!, without lgamma's global sign. */
static double log_factorial(int64_t x)
{
    int sign;
    return lgamma_r((double)x + 1, &sign);
}

/* ln P(X = k). */
static double binomial_log_mass(int64_t k, int64_t n, double p)
{
    return log_factorial(n) - log_factorial(k) - log_factorial(n - k) + (double)k * log(p) +
           (double)(n - k) * log1p(-p);
}

/*
 * Sums the mass outward from k towards the tail, where terms fall geometrically, until they no longer matter: the cost
 * is a few standard deviations of terms, whatever n is.
 */
double binomial_cdf(int64_t k, int64_t n, double p)
{
    if (k < 0)
        return 0.0;
    if (k >= n)
        return 1.0;
    if (p <= 0.0)
        return 1.0;
    if (p >= 1.0)
        return 0.0;
    if ((double)k <= (double)n * p) {
        double term = exp(binomial_log_mass(k, n, p)), sum = term;
        for (int64_t i = k; i > 0 && term > sum * 1e-17; i--) {
            term *= (double)i / (double)(n - i + 1) * ((1 - p) / p);
            sum += term;
        }
        return sum > 1.0 ? 1.0 : sum;
    }
    double term = exp(binomial_log_mass(k + 1, n, p)), sum = term;
    for (int64_t i = k + 1; i < n && term > sum * 1e-17; i++) {
        term *= (double)(n - i) / (double)(i + 1) * (p / (1 - p));
        sum += term;
    }
    return sum > 1.0 ? 0.0 : 1.0 - sum;
}

/* The largest k in [-1, n] with P(X ≤ k) ≤ tail. */
static int64_t lower_tail(int64_t n, double p, double tail)
{
    int64_t low = -1, high = n;
    while (low < high) {
        int64_t middle = low + (high - low + 1) / 2;
        if (binomial_cdf(middle, n, p) <= tail)
            low = middle;
        else
            high = middle - 1;
    }
    return low;
}

bool percentile_interval(int64_t n, int64_t milli_percent, double confidence, int64_t *ret_low, int64_t *ret_high)
{
    if (n < 1 || milli_percent <= 0 || milli_percent >= WHOLE)
        return false;
    double p = (double)milli_percent / (double)WHOLE, tail = (1 - confidence) / 2;
    /*
     * X values lie below the quantile. It is above x_(l), 1-based, unless X < l, and below x_(u) unless X ≥ u.
     * l = largest with P(X ≤ l − 1) ≤ tail, u = smallest with P(X ≤ u − 1) ≥ 1 − tail.
     */
    int64_t low_rank = lower_tail(n, p, tail) + 1;
    int64_t high_rank = lower_tail(n, p, 1 - tail) + 1;
    if (binomial_cdf(high_rank - 1, n, p) < 1 - tail)
        high_rank++;
    if (low_rank < 1 || high_rank > n)
        return false;
    *ret_low = low_rank - 1;
    *ret_high = high_rank - 1;
    return true;
}
