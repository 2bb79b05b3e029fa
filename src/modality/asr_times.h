/* SPDX-License-Identifier: Apache-2.0 */
#ifndef ASSAY_MODALITY_ASR_TIMES_H
#define ASSAY_MODALITY_ASR_TIMES_H

/*
 * The time stamps of a JSON answer, kept with --save-content in the record's block:
 *
 *   word_times, segment_times   [{text, start_s, end_s}] in the order of the answer, seconds of the audio, null where
 *                               the server gives no number (or the text of one); null in place of the list when the
 *                               answer has none; words that stand in their segments are taken from there
 *   times_cut                   true: later entries did not fit
 *
 * Pure; any thread.
 */

#include "base/strbuf.h"

#include <stdbool.h>
#include <stddef.h>

/* Of both lists together; a record has room for so much beside its transcript. */
#define ASR_TIMES_MAX_BYTES ((size_t)1024 * 1024)

/* A JSON value in place; at NULL = absent. */
struct asr_span {
    const char *at;
    size_t len;
};

struct asr_spans {
    struct asr_span words, segments;
};

/*
 * Appends the members, each with a comma before it, at most max_bytes (more only by what says that nothing is there).
 * Entries that are no objects are left out. Failures stick in `out`.
 */
void asr_times_add(const struct asr_spans *spans, size_t max_bytes, struct strbuf *out);

#endif
