/* SPDX-License-Identifier: Apache-2.0 */
#include "base/arena.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define ARENA_ALIGN 16u
#define ARENA_CHUNK_DEFAULT ((size_t)64 * 1024)

struct arena_chunk {
    struct arena_chunk *older;
    size_t capacity; /* bytes of data */
    size_t used;
    _Alignas(ARENA_ALIGN) unsigned char data[];
};

void arena_init(struct arena *arena, size_t chunk_bytes, size_t max_bytes)
{
    *arena = (struct arena){.chunk_bytes = chunk_bytes ? chunk_bytes : ARENA_CHUNK_DEFAULT, .max_bytes = max_bytes};
}

static void chunks_free(struct arena_chunk *chunk)
{
    while (chunk) {
        struct arena_chunk *older = chunk->older;
        free(chunk);
        chunk = older;
    }
}

void arena_reset(struct arena *arena)
{
    if (arena->chunks) {
        chunks_free(arena->chunks->older);
        arena->chunks->older = NULL;
        arena->chunks->used = 0;
    }
    arena->used_bytes = 0;
}

void arena_done(struct arena *arena)
{
    chunks_free(arena->chunks);
    arena->chunks = NULL;
    arena->used_bytes = 0;
}

static struct arena_chunk *chunk_for(struct arena *arena, size_t bytes)
{
    struct arena_chunk *chunk = arena->chunks;
    if (chunk && chunk->capacity - chunk->used >= bytes)
        return chunk;
    size_t capacity = bytes > arena->chunk_bytes ? bytes : arena->chunk_bytes;
    chunk = malloc(sizeof *chunk + capacity);
    if (!chunk)
        return NULL;
    *chunk = (struct arena_chunk){.older = arena->chunks, .capacity = capacity};
    arena->chunks = chunk;
    return chunk;
}

void *arena_alloc(struct arena *arena, size_t bytes)
{
    if (bytes > SIZE_MAX / 4)
        return NULL;
    bytes = (bytes + ARENA_ALIGN - 1) & ~(size_t)(ARENA_ALIGN - 1);
    if (bytes == 0)
        bytes = ARENA_ALIGN;
    if (arena->max_bytes && bytes > arena->max_bytes - arena->used_bytes)
        return NULL;
    struct arena_chunk *chunk = chunk_for(arena, bytes);
    if (!chunk)
        return NULL;
    void *at = chunk->data + chunk->used;
    chunk->used += bytes;
    arena->used_bytes += bytes;
    return at;
}

void *arena_calloc(struct arena *arena, size_t count, size_t bytes)
{
    size_t total;
    if (__builtin_mul_overflow(count, bytes, &total))
        return NULL;
    void *at = arena_alloc(arena, total);
    if (at)
        memset(at, 0, total);
    return at;
}

char *arena_strndup(struct arena *arena, const char *text, size_t len)
{
    char *copy = arena_alloc(arena, len + 1);
    if (copy) {
        memcpy(copy, text, len);
        copy[len] = '\0';
    }
    return copy;
}

char *arena_strdup(struct arena *arena, const char *text)
{
    return arena_strndup(arena, text, strlen(text));
}

char *arena_printf(struct arena *arena, const char *fmt, ...)
{
    va_list args;
    va_start(args, fmt);
    va_list again;
    va_copy(again, args);
    int len = vsnprintf(NULL, 0, fmt, args);
    va_end(args);
    char *text = len < 0 ? NULL : arena_alloc(arena, (size_t)len + 1);
    if (text)
        vsnprintf(text, (size_t)len + 1, fmt, again);
    va_end(again);
    return text;
}
