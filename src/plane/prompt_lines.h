/* SPDX-License-Identifier: Apache-2.0 */
#ifndef ASSAY_PLANE_PROMPT_LINES_H
#define ASSAY_PLANE_PROMPT_LINES_H

/*
 * The file of a prompt source: JSONL, one object a line, read in bounded memory and checked line by line.
 *
 *   prompt_library                  `prompt`, optional `expected_output_tokens` (whole number from 1)
 *   metrumbench_vlm_snapshot        `prompt`, `image_urls` (list of texts) or `image_url`, optional `image_digests`
 *   metrumbench_asr_snapshot        `id`, `path` or `url`, optional `format` (else the ending of the name decides),
 *                                   `duration` (seconds), `transcript`, `digest`
 *   metrumbench_imagegen_snapshot   `prompt`, optional `negative_prompt`, `size`
 *
 * A prompt has at least one word (workload/words.h) and no NUL. Digests are SHA-256 as lower-case hexadecimal text.
 * Other members are kept in the file and not looked at; a known one given twice makes a bad line. A byte order mark at
 * the start, CR LF and lines of white space are accepted. A reference is local unless it begins with http:// or
 * https://: its bytes must be stored elsewhere.
 *
 * Errors: AS_E_INVALID with the line and what to do; AS_E_LIMIT: a line or their number; AS_E_NOMEM; what the reader or
 * the visitor gave. Pure but for the reader; any thread.
 */

#include "base/json.h"
#include "base/status.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define PROMPT_LINE_BYTES_MAX ((size_t)16 * 1024 * 1024)
#define PROMPT_ROWS_MAX       INT64_C(2000000)

enum prompt_kind { PROMPT_LIBRARY, PROMPT_VLM, PROMPT_ASR, PROMPT_IMAGEGEN };
/* By the source_type of the API. */
bool prompt_kind_from(const char *source_type, enum prompt_kind *ret);

/* One line; all of it is gone after the visit. */
struct prompt_row {
    int64_t line;                   /* from 1 */
    int64_t ordinal;                /* from 0, blank lines do not count */
    const struct json_value *tree;  /* the object */
    const char *raw;                /* the line without its end */
    size_t raw_bytes;               /* of raw */
    const char *prompt;             /* NUL-terminated UTF-8; of audio NULL */
    size_t prompt_bytes;            /* of prompt */
    const char *format;             /* of audio: "flac" */
    int64_t words;                  /* of prompt */
    int64_t expected_output_tokens; /* -1 = not given */
    int64_t local_places;           /* references whose bytes are not at a web address */
};

struct prompt_visitor {
    void *context;
    as_status (*take)(void *context, const struct prompt_row *row, struct as_error *err);
};

/* Gives up to `size` bytes; 0 at the end. */
struct prompt_input {
    void *context;
    as_status (*read)(void *context, char *buffer, size_t size, size_t *ret, struct as_error *err);
};

as_status prompt_lines_read(enum prompt_kind kind, const struct prompt_input *input,
                            const struct prompt_visitor *visitor, struct as_error *err) AS_NODISCARD;

#endif
