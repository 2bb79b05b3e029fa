/* SPDX-License-Identifier: Apache-2.0 */
#include "stats/distribution.h"

#include "stats/percentile.h"

#include <math.h>
#include <string.h>

#define UNDEFINED  ((double)NAN)
#define CONFIDENCE 0.95

static const struct {
    const char *name;
    int64_t milli;
} percentiles[DISTRIBUTION_PERCENTILES] = {
#define DISTRIBUTION_PERCENTILE_ROW(name, text, milli) {text, milli},
    DISTRIBUTION_PERCENTILE_MAP(DISTRIBUTION_PERCENTILE_ROW)
#undef DISTRIBUTION_PERCENTILE_ROW
};

const char *percentile_method_name(enum percentile_method method)
{
    switch (method) {
    case PERCENTILE_LINEAR:
        return PERCENTILE_METHOD_LINEAR;
    case PERCENTILE_FROM_HISTOGRAM:
        return PERCENTILE_METHOD_HISTOGRAM;
    default:
        return PERCENTILE_METHOD_NEAREST_RANK;
    }
}

bool percentile_method_parse(const char *name, enum percentile_method *ret)
{
    bool is_linear = strcmp(name, PERCENTILE_METHOD_LINEAR) == 0;
    if (!is_linear && strcmp(name, PERCENTILE_METHOD_NEAREST_RANK) != 0)
        return false;
    *ret = is_linear ? PERCENTILE_LINEAR : PERCENTILE_NEAREST_RANK;
    return true;
}

const char *distribution_percentile_name(enum distribution_percentile which)
{
    return percentiles[which].name;
}

bool distribution_is_thin(const struct distribution *d, enum distribution_percentile which)
{
    return d->n < percentile_min_samples(percentiles[which].milli);
}

struct distribution distribution_empty(enum percentile_method method)
{
    struct distribution d = {.min = UNDEFINED, .max = UNDEFINED, .mean = UNDEFINED, .std = UNDEFINED, .method = method};
    for (int i = 0; i < DISTRIBUTION_PERCENTILES; i++)
        d.percentile[i] = d.ci95_low[i] = d.ci95_high[i] = UNDEFINED;
    return d;
}

static void set_moments(struct distribution *d, const struct moments *m)
{
    d->n = m->n;
    if (m->n == 0)
        return;
    d->min = (double)m->min;
    d->max = (double)m->max;
    d->mean = moments_mean(m);
    d->std = moments_std(m);
}

/* p99.9 of fewer than a thousand values would be their maximum under another name. */
static bool is_published(int64_t n, int which)
{
    return n > 0 && (which != DISTRIBUTION_P99_9 || n >= percentile_min_samples(percentiles[which].milli));
}

struct distribution distribution_of_sorted(const int64_t *sorted, int64_t n, enum percentile_method method)
{
    struct distribution d = distribution_empty(method);
    struct moments moments = {0};
    for (int64_t i = 0; i < n; i++)
        moments_add(&moments, sorted[i]);
    set_moments(&d, &moments);
    for (int i = 0; i < DISTRIBUTION_PERCENTILES; i++) {
        if (!is_published(n, i))
            continue;
        int64_t milli = percentiles[i].milli, low, high;
        d.percentile[i] = method == PERCENTILE_LINEAR ? percentile_linear(sorted, n, milli)
                                                      : (double)percentile_nearest_rank(sorted, n, milli);
        if (!percentile_interval(n, milli, CONFIDENCE, &low, &high))
            continue;
        d.ci95_low[i] = (double)sorted[low];
        d.ci95_high[i] = (double)sorted[high];
    }
    return d;
}

struct distribution distribution_of_histogram(const struct histogram *h)
{
    struct distribution d = distribution_empty(PERCENTILE_FROM_HISTOGRAM);
    set_moments(&d, &h->moments);
    for (int i = 0; i < DISTRIBUTION_PERCENTILES; i++) {
        if (is_published(d.n, i))
            d.percentile[i] = (double)histogram_percentile_ns(h, percentiles[i].milli);
    }
    return d;
}
