/* SPDX-License-Identifier: Apache-2.0 */
#ifndef ASSAY_WORKLOAD_AUDIO_TRUTH_H
#define ASSAY_WORKLOAD_AUDIO_TRUTH_H

/*
 * The reference transcripts of audio samples: JSONL with `id` (string or number, unique) and `transcript` (string, may
 * be empty: silence). Other members are noted. Bad lines as in workload/audio_jsonl.h. Read-only once loaded; then any
 * thread.
 */

#include "base/arena.h"
#include "base/status.h"
#include "workload/audio_jsonl.h"
#include "workload/digest.h"

#include <stddef.h>

#define AUDIO_TRUTH_MAX_BYTES    ((size_t)1024 * 1024 * 1024)
#define AUDIO_TRUTH_ID_MAX_BYTES ((size_t)1024)

struct audio_reference {
    const char *id;
    const char *text; /* UTF-8, `len` bytes */
    size_t len;
    int64_t line;
};

struct audio_truth {
    struct arena arena;
    struct audio_reference *items; /* by id */
    size_t count;
    struct audio_lines lines;
    char digest[DIGEST_TEXT_BYTES]; /* SHA-256 of the file */
};

/* From a file or "-". AS_E_NOTFOUND, AS_E_IO, AS_E_LIMIT, AS_E_NOMEM; AS_E_INVALID: a bad line, a second line of one
 * id, no line. */
as_status audio_truth_load(const char *source, bool skip_bad_lines, struct audio_truth *ret,
                           struct as_error *err) AS_NODISCARD;
as_status audio_truth_parse(const struct audio_text *text, struct audio_truth *ret, struct as_error *err) AS_NODISCARD;
/* Takes one that is all zero too. */
void audio_truth_done(struct audio_truth *truth);

/* NULL when there is none. */
const struct audio_reference *audio_truth_find(const struct audio_truth *truth, const char *id);

#endif
