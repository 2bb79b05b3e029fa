/* SPDX-License-Identifier: Apache-2.0 */
#include "stats/histogram.h"

#include "stats/percentile.h"

#include <string.h>

void histogram_reset(struct histogram *h)
{
    memset(h, 0, sizeof *h);
}

void histogram_merge(struct histogram *h, const struct histogram *other)
{
    moments_merge(&h->moments, &other->moments);
    h->clamped += other->clamped;
    for (size_t i = 0; i < HISTOGRAM_BUCKETS; i++)
        h->buckets[i] += other->buckets[i];
}

uint32_t histogram_next(const struct histogram *h, uint32_t index)
{
    while (index < HISTOGRAM_BUCKETS && h->buckets[index] == 0)
        index++;
    return index;
}

int64_t histogram_percentile_ns(const struct histogram *h, int64_t milli_percent)
{
    if (h->moments.n == 0)
        return -1;
    uint64_t rank = (uint64_t)percentile_index(h->moments.n, milli_percent);
    uint64_t below = 0;
    uint32_t index = histogram_next(h, 0);
    while (index < HISTOGRAM_BUCKETS && below + h->buckets[index] <= rank) {
        below += h->buckets[index];
        index = histogram_next(h, index + 1);
    }
    int64_t upper = index < HISTOGRAM_BUCKETS ? histogram_upper_ns(index) : h->moments.max;
    if (upper < h->moments.min)
        return h->moments.min;
    return upper > h->moments.max ? h->moments.max : upper;
}
