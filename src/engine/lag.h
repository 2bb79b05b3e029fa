/* SPDX-License-Identifier: Apache-2.0 */
#ifndef ASSAY_ENGINE_LAG_H
#define ASSAY_ENGINE_LAG_H

/*
 * How late the client read what had arrived: user stamp − kernel stamp of every stamped read, counted in buckets 1/32
 * of their value wide. Fixed size, no allocation; one thread at a time.
 */

#include <stdint.h>

#define LAG_SUB_BITS 5
#define LAG_BUCKETS  ((64 - LAG_SUB_BITS) << LAG_SUB_BITS)

/* All zero = empty. */
struct lag {
    int64_t reads;
    int64_t max_ns;
    uint64_t buckets[LAG_BUCKETS];
};

/* Negative lags (the kernel's stamp is converted from the wall clock) count as 0. */
static inline void lag_add(struct lag *lag, int64_t ns)
{
    uint64_t value = ns > 0 ? (uint64_t)ns : 0;
    uint32_t index = (uint32_t)value;
    if (value >> LAG_SUB_BITS) {
        uint32_t shift = 63 - (uint32_t)__builtin_clzll(value) - LAG_SUB_BITS;
        index = (shift << LAG_SUB_BITS) + (uint32_t)(value >> shift);
    }
    lag->buckets[index]++;
    lag->reads++;
    if ((int64_t)value > lag->max_ns)
        lag->max_ns = (int64_t)value;
}

void lag_merge(struct lag *lag, const struct lag *other);
/* The nearest-rank percentile in ns, 0 < percent ≤ 100: the upper end of its bucket, at most max_ns; -1 when empty. */
int64_t lag_percentile_ns(const struct lag *lag, int percent);

#endif
