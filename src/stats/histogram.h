/* SPDX-License-Identifier: Apache-2.0 */
#ifndef ASSAY_STATS_HISTOGRAM_H
#define ASSAY_STATS_HISTOGRAM_H

/*
 * A log-linear histogram of durations in ns: each power of two is divided into 256 buckets, so a bucket is at most
 * 1/256 of its lower bound wide, and values below 512 have a bucket of their own. Fixed size (82 KiB), mergeable, no
 * allocation; recording takes a few ns. Values above HISTOGRAM_MAX_NS (78 hours) count as that, negative ones as 0, and
 * both are told by `clamped`. One thread at a time.
 *
 * Identity: Σ buckets = moments.n. Extremes, sum and squares are those of the recorded values, not of the buckets.
 */

#include "stats/wide.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define HISTOGRAM_SUB_BITS   8
#define HISTOGRAM_VALUE_BITS 48
#define HISTOGRAM_MAX_NS     ((INT64_C(1) << HISTOGRAM_VALUE_BITS) - 1)
#define HISTOGRAM_BUCKETS    ((HISTOGRAM_VALUE_BITS - HISTOGRAM_SUB_BITS + 1) << HISTOGRAM_SUB_BITS)

/* All zero = empty. */
struct histogram {
    struct moments moments;              /* of the recorded values */
    int64_t clamped;                     /* values outside 0..HISTOGRAM_MAX_NS */
    uint64_t buckets[HISTOGRAM_BUCKETS]; /* values in each bucket */
};

/* The bucket of `ns`, which must lie in 0..HISTOGRAM_MAX_NS. */
static inline uint32_t histogram_index(int64_t ns)
{
    uint64_t value = (uint64_t)ns;
    if (value < (UINT64_C(1) << HISTOGRAM_SUB_BITS))
        return (uint32_t)value;
    uint32_t shift = 63 - (uint32_t)__builtin_clzll(value) - HISTOGRAM_SUB_BITS;
    return (shift << HISTOGRAM_SUB_BITS) + (uint32_t)(value >> shift);
}

/* The smallest value of bucket `index` (< HISTOGRAM_BUCKETS). */
static inline int64_t histogram_lower_ns(uint32_t index)
{
    uint32_t block = index >> HISTOGRAM_SUB_BITS;
    if (block < 2)
        return index;
    return (int64_t)(index - ((block - 1) << HISTOGRAM_SUB_BITS)) << (block - 1);
}

/* The largest value of bucket `index`. */
static inline int64_t histogram_upper_ns(uint32_t index)
{
    uint32_t block = index >> HISTOGRAM_SUB_BITS;
    return histogram_lower_ns(index) + (block < 2 ? 0 : (INT64_C(1) << (block - 1)) - 1);
}

static inline void histogram_record_many(struct histogram *h, int64_t ns, int64_t count)
{
    if (count <= 0)
        return;
    if (ns < 0 || ns > HISTOGRAM_MAX_NS) {
        ns = ns < 0 ? 0 : HISTOGRAM_MAX_NS;
        h->clamped += count;
    }
    moments_add_many(&h->moments, ns, count);
    h->buckets[histogram_index(ns)] += (uint64_t)count;
}

static inline void histogram_record(struct histogram *h, int64_t ns)
{
    histogram_record_many(h, ns, 1);
}

void histogram_reset(struct histogram *h);
void histogram_merge(struct histogram *h, const struct histogram *other);

/* The first bucket that is not empty, from `index` on; HISTOGRAM_BUCKETS when there is none. Iterates sparsely:
   for (i = histogram_next(h, 0); i < HISTOGRAM_BUCKETS; i = histogram_next(h, i + 1)). */
uint32_t histogram_next(const struct histogram *h, uint32_t index);

/*
 * Puts `count` values into bucket `index` (< HISTOGRAM_BUCKETS) without touching the moments, which the caller merges
 * from where they were kept exactly. For reading a histogram back from a record.
 */
static inline void histogram_fill(struct histogram *h, uint32_t index, uint64_t count)
{
    h->buckets[index] += count;
}

/*
 * The nearest-rank percentile (see stats/percentile.h; `milli_percent` is 1000 × percent, 0 < … ≤ 100000): the upper
 * bound of the bucket that holds that rank, kept within min and max. At most 1/256 above the value. -1 when empty.
 */
int64_t histogram_percentile_ns(const struct histogram *h, int64_t milli_percent);

#endif
