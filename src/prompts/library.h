/* SPDX-License-Identifier: Apache-2.0 */
#ifndef ASSAY_PROMPTS_LIBRARY_H
#define ASSAY_PROMPTS_LIBRARY_H

/*
 * A prompt library: JSONL as workload/prompts.h reads it (`id`, `prompt`, `expected_output_tokens`), one prompt a line,
 * and beside it `FILE.meta.json` with what it is: count, digests, lengths, where it came from. The content digest is
 * SHA-256 over each row's length, text and expected tokens in order (prompts_sample_digest of the whole library): it
 * does not depend on how the JSON is written. One thread a library.
 */

#include "base/json_write.h"
#include "base/status.h"
#include "base/strbuf.h"
#include "stats/distribution.h"
#include "workload/digest.h"
#include "workload/prompts.h"

#include <stddef.h>
#include <stdint.h>

#define LIBRARY_SCHEMA   "assay.prompt-library.v1"
#define LIBRARY_META_END ".meta.json"

/* A library being made. */
struct library {
    struct strbuf lines; /* JSONL, at most PROMPTS_FILE_MAX_BYTES */
    int64_t count, with_expected_tokens;
    struct digest digest;
    char content_digest[DIGEST_TEXT_BYTES]; /* "" before library_finish */
};

struct library_row {
    const char *text; /* UTF-8 */
    size_t len;
    const char *id; /* NULL = none; one of PROMPTS_ID_BYTES or more is left out */
    size_t id_len;
    int64_t expected_output_tokens; /* -1 = none */
};

/* AS_E_NOMEM. library_done must follow. */
as_status library_init(struct library *library) AS_NODISCARD;
/* Adds a row as it is: the text has at least one word. AS_E_LIMIT, AS_E_NOMEM. */
as_status library_add(struct library *library, const struct library_row *row) AS_NODISCARD;
/* No more rows; sets content_digest. AS_E_NOMEM. */
as_status library_finish(struct library *library) AS_NODISCARD;
void library_done(struct library *library);

/* Lengths of a library's rows; tokens are those expected of the answers. */
struct library_lengths {
    struct distribution words, output_tokens, bytes;
    int64_t distinct; /* different texts */
};
/* AS_E_NOMEM. */
as_status library_measure(const struct prompts *prompts, struct library_lengths *ret) AS_NODISCARD;
/* An object with n, min, mean, p50, p95 and max. */
void library_put_distribution(struct json_writer *writer, const char *key, const struct distribution *d);

/* What the sidecar says beside counts and digests. NULL = not said. */
struct library_origin {
    const char *source;  /* file, or "generated" */
    const char *format;  /* "sharegpt", or a kind */
    const char *licence;
    char source_digest[DIGEST_TEXT_BYTES]; /* SHA-256 of the file read; "" = none */
    const void *context;
    /* Adds members to the open object. */
    void (*describe)(struct json_writer *writer, const void *context);
};

/* Writes the finished library to `path`, then its sidecar, each atomically. AS_E_INVALID when it is empty; AS_E_IO,
 * AS_E_NOMEM. */
as_status library_write(const struct library *library, const char *path, const struct library_origin *origin,
                        struct as_error *err) AS_NODISCARD;
/*
 * Compares a library with its sidecar: file digest, content digest, count. AS_E_NOTFOUND: no sidecar; AS_E_INVALID: it
 * differs (the sentence says in what), or the library or the sidecar cannot be read as one.
 */
as_status library_verify(const char *path, int64_t *ret_count, struct as_error *err) AS_NODISCARD;

#endif
