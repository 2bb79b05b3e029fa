/* SPDX-License-Identifier: Apache-2.0 */
#ifndef ASSAY_MODALITY_ERROR_TEXT_H
#define ASSAY_MODALITY_ERROR_TEXT_H

/*
 * What a server says about its failure: a sentence for the record out of whatever it sent (JSON of many shapes, HTML of
 * a proxy, plain text), and whether that is about memory. Only error texts are given to these functions, never
 * generated text. Nothing allocates; any thread.
 */

#include <stdbool.h>
#include <stddef.h>

#define ERROR_TEXT_BYTES 1024

/* Texts that must not appear in any output (API keys); each is replaced by "***" where it appears. */
struct error_secrets {
    const char *const *items;
    size_t count;
};

/*
 * Writes one line of at most ERROR_TEXT_BYTES − 1 bytes of valid UTF-8 and a NUL: of JSON the first of error.message,
 * error, message, detail (also its list of {msg}), msg, error_description that is a text, else the JSON itself; of HTML
 * the title, else the text without tags; else the text itself. Control characters and runs of white space become one
 * space. Secrets and what follows "Bearer " are replaced. `secrets` may be NULL. Returns the length, 0 when there is
 * nothing to say.
 */
size_t error_text_extract(const char *body, size_t len, const struct error_secrets *secrets,
                          char ret[ERROR_TEXT_BYTES]);

/*
 * True when the text reports that memory ran out, by whole words and known names, in any case: "out of memory", "OOM",
 * "OutOfMemoryError", "cudaErrorMemoryAllocation", "CUBLAS_STATUS_ALLOC_FAILED", "bad_alloc" and the like. "bloom",
 * "zoom" and "layout of memory" do not. Looks at the first 64 KiB.
 */
bool error_text_is_oom(const char *text, size_t len);

#endif
