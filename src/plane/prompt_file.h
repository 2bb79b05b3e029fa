/* SPDX-License-Identifier: Apache-2.0 */
#ifndef ASSAY_PLANE_PROMPT_FILE_H
#define ASSAY_PLANE_PROMPT_FILE_H

/*
 * The file of a prompt source on its way into the store: looked at first (checked line by line, counted, digested),
 * outside of any transaction that writes, then written in one transaction. Memory: one line, a few rows, and 4 bytes a
 * row for the word statistics.
 */

#include "plane/prompt_lines.h"
#include "plane/upload.h"
#include "workload/digest.h"

#define PROMPT_CHUNK_BYTES ((size_t)256 * 1024)

struct prompt_file {
    enum prompt_kind kind;
    int fd; /* the caller's */
    int64_t bytes, rows, local_places, with_expected_tokens;
    int64_t words_total, words_min, words_p50, words_p95, words_max; /* of prompts; 0 for audio */
    char digest[DIGEST_TEXT_BYTES];                                  /* SHA-256 of the bytes */
    /* SHA-256 over the rows: of a library as prompts_sample_digest makes it of all prompts in order (each one's length,
     * text and expected tokens), of snapshots each line's length and bytes. */
    char content_digest[DIGEST_TEXT_BYTES];
};

/* Fills what `kind` and `fd` do not say. Errors of prompt_lines_read, AS_E_IO. */
as_status prompt_file_look(struct prompt_file *file, struct as_error *err) AS_NODISCARD;
/* Replaces rows and file of a source that the caller may write; call->tx writes. A refusal is in the problem. */
as_status prompt_file_store(struct plane_call *call, int64_t source_id, const struct prompt_file *file) AS_NODISCARD;

#endif
