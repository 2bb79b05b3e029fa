/* SPDX-License-Identifier: Apache-2.0 */
#ifndef ASSAY_BASE_ARENA_H
#define ASSAY_BASE_ARENA_H

/*
 * Memory with one lifetime: allocate many, free all at once. Not for use by several threads at
 * a time. Pointers are aligned to 16 bytes and stay valid until arena_reset or arena_done.
 */

#include "base/status.h"

#include <stddef.h>

struct arena_chunk;

struct arena {
    struct arena_chunk *chunks; /* newest first */
    size_t chunk_bytes;         /* size of a usual chunk */
    size_t used_bytes;          /* handed out so far */
    size_t max_bytes;           /* what it may hand out in all, 0 = no limit */
};

/* `chunk_bytes` 0 means 64 KiB. Allocates nothing yet. */
void arena_init(struct arena *arena, size_t chunk_bytes, size_t max_bytes);
/* Frees all but one chunk and starts over. */
void arena_reset(struct arena *arena);
/* Frees all. The arena may be initialised again. */
void arena_done(struct arena *arena);

/* NULL when memory or the arena's limit is exhausted. Not zeroed. */
void *arena_alloc(struct arena *arena, size_t bytes) AS_NODISCARD;
/* Zeroed; NULL also when count × bytes overflows. */
void *arena_calloc(struct arena *arena, size_t count, size_t bytes) AS_NODISCARD;
/* A NUL-terminated copy of `len` bytes. */
char *arena_strndup(struct arena *arena, const char *text, size_t len) AS_NODISCARD;
char *arena_strdup(struct arena *arena, const char *text) AS_NODISCARD;
char *arena_printf(struct arena *arena, const char *fmt, ...) AS_NODISCARD AS_PRINTF(2, 3);

#endif
