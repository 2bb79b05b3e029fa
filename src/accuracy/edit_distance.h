/* SPDX-License-Identifier: Apache-2.0 */
#ifndef ASSAY_ACCURACY_EDIT_DISTANCE_H
#define ASSAY_ACCURACY_EDIT_DISTANCE_H

/*
 * Levenshtein distance of two sequences of symbols with the numbers of each kind of edit, exact. Bit-parallel (Myers 1999,
 * blocks after Hyyrö 2003), O(n·m/64) time, and O((n + m)·√m / 8) bytes: the columns of √m checkpoints are kept and the
 * path is found backwards from them. Among paths of equal cost, each step back from the end takes a match or substitution, then a
 * deletion, then an insertion.
 */

#include "base/status.h"

#include <stddef.h>
#include <stdint.h>

#define EDIT_SYMBOLS_MAX ((size_t)1 << 24)

/* reference = hits + substitutions + deletions; hypothesis = hits + substitutions + insertions. */
struct edit_counts {
    int64_t reference;  /* symbols of the reference */
    int64_t hypothesis; /* symbols of the hypothesis */
    int64_t hits;
    int64_t substitutions;
    int64_t deletions;  /* in the reference, not in the hypothesis */
    int64_t insertions; /* in the hypothesis, not in the reference */
};

/* Symbols are equal when their numbers are. AS_E_LIMIT above EDIT_SYMBOLS_MAX, AS_E_NOMEM. */
as_status edit_distance(const uint32_t *reference, size_t reference_count, const uint32_t *hypothesis, size_t hypothesis_count,
                        struct edit_counts *ret) AS_NODISCARD;

#endif
