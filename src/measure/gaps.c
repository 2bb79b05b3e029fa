/* SPDX-License-Identifier: Apache-2.0 */
#include "measure/gaps.h"

#include <stdlib.h>
#include <string.h>

#define TOUCHED_WORDS ((HISTOGRAM_BUCKETS + 63) / 64)

as_status gap_counter_init(struct gap_counter *counter)
{
    memset(counter, 0, sizeof *counter);
    counter->counts = calloc(HISTOGRAM_BUCKETS, sizeof *counter->counts);
    counter->touched = calloc(TOUCHED_WORDS, sizeof *counter->touched);
    if (!counter->counts || !counter->touched) {
        gap_counter_done(counter);
        return AS_E_NOMEM;
    }
    return AS_OK;
}

void gap_counter_done(struct gap_counter *counter)
{
    free(counter->counts);
    free(counter->touched);
    free(counter->buckets);
    memset(counter, 0, sizeof *counter);
}

static inline bool next_gap(const char **at, const char *end, int64_t *ret)
{
    uint64_t value = 0;
    const char *byte = *at;
    for (unsigned shift = 0; byte < end && shift < 64; shift += 7) {
        uint8_t bits = (uint8_t)*byte++;
        value |= (uint64_t)(bits & 0x7F) << shift;
        if (!(bits & 0x80)) {
            *at = byte;
            *ret = (int64_t)(value & INT64_MAX);
            return true;
        }
    }
    return false;
}

bool gaps_next(const char **at, const char *end, int64_t *ret)
{
    return next_gap(at, end, ret);
}

char *gaps_put(char *at, int64_t gap_ns)
{
    uint64_t value = (uint64_t)gap_ns;
    for (; value >= 0x80; value >>= 7)
        *at++ = (char)(uint8_t)(value | 0x80);
    *at++ = (char)(uint8_t)value;
    return at;
}

static bool reserve(struct gap_counter *counter, uint32_t buckets)
{
    if (buckets <= counter->capacity)
        return true;
    uint32_t capacity = buckets < 64 ? 64 : buckets * 2;
    struct record_bucket *grown = realloc(counter->buckets, capacity * sizeof *grown);
    if (!grown)
        return false;
    counter->buckets = grown;
    counter->capacity = capacity;
    return true;
}

/* Moves what was counted into the sparse list and leaves the table empty. */
static uint32_t collect(struct gap_counter *counter, bool is_kept)
{
    uint32_t used = 0;
    for (uint32_t word = 0; word < TOUCHED_WORDS; word++) {
        for (uint64_t bits = counter->touched[word]; bits; bits &= bits - 1) {
            uint32_t index = word * 64 + (uint32_t)__builtin_ctzll(bits);
            if (is_kept)
                counter->buckets[used++] = (struct record_bucket){index, counter->counts[index]};
            counter->counts[index] = 0;
        }
        counter->touched[word] = 0;
    }
    return used;
}

const struct record_gap_stats *gap_counter_count(struct gap_counter *counter, const struct record_text *gaps)
{
    if (!gaps->at)
        return NULL;
    struct record_gap_stats *stats = &counter->stats;
    const char *at = gaps->at, *end = at + gaps->len;
    wide_uint squares = 0;
    uint32_t distinct = 0;
    int64_t gap_ns;
    *stats = (struct record_gap_stats){.min_ns = -1, .max_ns = -1};
    while (next_gap(&at, end, &gap_ns)) {
        gap_ns = gap_ns > HISTOGRAM_MAX_NS ? HISTOGRAM_MAX_NS : gap_ns;
        uint32_t index = histogram_index(gap_ns);
        distinct += counter->counts[index]++ == 0;
        counter->touched[index / 64] |= UINT64_C(1) << index % 64;
        stats->n++;
        stats->sum_ns += gap_ns;
        squares += (wide_uint)gap_ns * (wide_uint)gap_ns;
        stats->min_ns = stats->n == 1 || gap_ns < stats->min_ns ? gap_ns : stats->min_ns;
        stats->max_ns = gap_ns > stats->max_ns ? gap_ns : stats->max_ns;
    }
    bool is_kept = reserve(counter, distinct);
    stats->bucket_count = collect(counter, is_kept);
    stats->buckets = counter->buckets;
    stats->sum_squares[0] = (uint64_t)squares;
    stats->sum_squares[1] = (uint64_t)(squares >> 64);
    return is_kept ? stats : NULL;
}
