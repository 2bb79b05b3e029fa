/* SPDX-License-Identifier: Apache-2.0 */
#ifndef ASSAY_MEASURE_GAPS_H
#define ASSAY_MEASURE_GAPS_H

/*
 * Counts the gaps of a record (LEB128 numbers, see request_record.gaps) into the sparse histogram that records are
 * written with: the buckets of stats/histogram.h. One counter a thread, kept for all records; what it gives is valid
 * until the next call.
 */

#include "base/status.h"
#include "engine/record.h"
#include "stats/histogram.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct gap_counter {
    uint32_t *counts;              /* HISTOGRAM_BUCKETS of them, all 0 between calls */
    uint64_t *touched;             /* one bit a bucket, all 0 between calls */
    struct record_bucket *buckets; /* the result */
    uint32_t capacity;             /* of buckets */
    struct record_gap_stats stats;
};

as_status gap_counter_init(struct gap_counter *counter) AS_NODISCARD;
void gap_counter_done(struct gap_counter *counter);
/*
 * NULL when the record holds no gaps (gaps.at NULL), or no memory is left. A number that is cut off at the end is not
 * counted. Gaps above HISTOGRAM_MAX_NS count as that.
 */
const struct record_gap_stats *gap_counter_count(struct gap_counter *counter, const struct record_text *gaps);

/* The next number of [*at, end), *at moved past it; false at the end. */
bool gaps_next(const char **at, const char *end, int64_t *ret);
/* Writes a number, ≤ 10 bytes; returns the end. */
#define GAP_BYTES_MAX 10
char *gaps_put(char *at, int64_t gap_ns);

#endif
