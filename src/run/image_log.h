/* SPDX-License-Identifier: Apache-2.0 */
#ifndef ASSAY_RUN_IMAGE_LOG_H
#define ASSAY_RUN_IMAGE_LOG_H

/*
 * The images that the records of an `assay imagegen` run name, and what can be done with them: hash them again, compare
 * them with those of another run. Nothing on disk is changed. Single thread.
 */

#include "base/arena.h"
#include "base/status.h"
#include "workload/digest.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct image_entry {
    int64_t seq, index, bytes; /* -1 = not said */
    const char *path;          /* as recorded; NULL = not saved */
    const char *sha256;        /* NULL = not said */
    const char *request;       /* the body that was sent, as text */
};

struct image_log {
    struct arena arena;
    const char *folder; /* relative paths are meant from here */
    const char *moved;  /* the caller may set it: all files are in this folder now; NULL = where the records say */
    struct image_entry *entries;
    size_t count, capacity;
    int64_t records;
};

/*
 * Reads the records of a result folder (with what a killed run left in its journal), or of one file of records.
 * AS_E_NOTFOUND, AS_E_INVALID (file and line), AS_E_IO, AS_E_NOMEM. *ret needs image_log_done.
 */
as_status image_log_read(const char *place, struct image_log *ret, struct as_error *err) AS_NODISCARD;
void image_log_done(struct image_log *log);

enum image_state { IMAGE_SAME, IMAGE_MISSING, IMAGE_DIFFERS, IMAGE_UNREADABLE, IMAGE_NOT_SAVED };
/* Hashes the entry's file; `ret_digest` is what was found, "" = nothing. */
enum image_state image_log_check(const struct image_log *log, const struct image_entry *entry,
                                 char ret_digest[DIGEST_TEXT_BYTES]);

/*
 * Files that no record names, in the folders in which named ones lie; those of saved answers are left out. `found` is
 * called for each. AS_E_NOMEM.
 */
as_status image_log_find_unnamed(const struct image_log *log, void (*found)(void *context, const char *path),
                                 void *context) AS_NODISCARD;

struct image_comparison {
    int64_t images[2];   /* with a digest */
    int64_t distinct[2]; /* different digests */
    int64_t shared;      /* digests that both have */
    int64_t pairs; /* images that both got as answer to the same body, the n-th time it was sent, at the same place */
    int64_t equal; /* of them with the same digest */
};

/* `pair` (may be NULL) is called for each pair, in the order of the first log. AS_E_NOMEM. */
as_status image_log_compare(const struct image_log *a, const struct image_log *b,
                            void (*pair)(void *context, const struct image_entry *a, const struct image_entry *b),
                            void *context, struct image_comparison *ret) AS_NODISCARD;

#endif
