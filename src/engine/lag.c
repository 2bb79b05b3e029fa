/* SPDX-License-Identifier: Apache-2.0 */
#include "engine/lag.h"

void lag_merge(struct lag *lag, const struct lag *other)
{
    for (uint32_t i = 0; i < LAG_BUCKETS; i++)
        lag->buckets[i] += other->buckets[i];
    lag->reads += other->reads;
    if (other->max_ns > lag->max_ns)
        lag->max_ns = other->max_ns;
}

static int64_t upper_ns(uint32_t index)
{
    uint32_t block = index >> LAG_SUB_BITS;
    if (block < 2)
        return index;
    uint32_t shift = block - 1;
    uint64_t mantissa = (index & ((1u << LAG_SUB_BITS) - 1)) | (1u << LAG_SUB_BITS);
    return (int64_t)(((mantissa + 1) << shift) - 1);
}

int64_t lag_percentile_ns(const struct lag *lag, int percent)
{
    if (lag->reads == 0)
        return -1;
    int64_t rank = (lag->reads * percent + 99) / 100;
    int64_t seen = 0;
    for (uint32_t i = 0; i < LAG_BUCKETS; i++) {
        seen += (int64_t)lag->buckets[i];
        if (seen >= rank) {
            int64_t upper = upper_ns(i);
            return upper < lag->max_ns ? upper : lag->max_ns;
        }
    }
    return lag->max_ns;
}
