/* SPDX-License-Identifier: Apache-2.0 */
#ifndef ASSAY_SUMMARY_SEQ_SET_H
#define ASSAY_SUMMARY_SEQ_SET_H

/*
 * Which requests of a plan have been seen: one bit each, in pages of 64 Ki requests made when needed. Numbers from
 * SEQ_SET_MAX on, which no plan has, are kept one by one. Negative ones are no number: never "seen". Internal to
 * summary; one thread.
 */

#include "base/status.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define SEQ_SET_PAGE_BITS 16
#define SEQ_SET_MAX       (INT64_C(1) << 34)

struct seq_set {
    uint64_t **pages;
    size_t page_count;
    int64_t *far; /* open hash table of numbers ≥ SEQ_SET_MAX, 0 = free */
    size_t far_count, far_capacity;
};

/* All zero = empty. Sets *ret_seen to whether `seq` was in it, and puts it in. */
as_status seq_set_take(struct seq_set *set, int64_t seq, bool *ret_seen) AS_NODISCARD;
void seq_set_done(struct seq_set *set);

#endif
