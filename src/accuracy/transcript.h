/* SPDX-License-Identifier: Apache-2.0 */
#ifndef ASSAY_ACCURACY_TRANSCRIPT_H
#define ASSAY_ACCURACY_TRANSCRIPT_H

/*
 * Word and character error counts of a transcript against its reference, both normalised the same way first. Characters are Unicode
 * code points, the single spaces between words among them; graphemes are extended grapheme clusters (UAX #29).
 * Rate = (substitutions + deletions + insertions) / reference; see error_rate for an empty reference. Any thread.
 */

#include "accuracy/edit_distance.h"
#include "accuracy/normalize.h"

struct transcript_errors {
    struct edit_counts words, characters, graphemes;
};

as_status transcript_compare(const char *reference, size_t reference_len, const char *hypothesis, size_t hypothesis_len,
                             enum normalizer normalizer, struct transcript_errors *ret) AS_NODISCARD;

/* As a fraction; may exceed 1. Both empty: 0. Empty reference and n insertions: n (each insertion counts as one whole reference). */
double error_rate(const struct edit_counts *counts);

#endif
