/* SPDX-License-Identifier: Apache-2.0 */
#ifndef ASSAY_STATS_COLUMN_H
#define ASSAY_STATS_COLUMN_H

/*
 * Columns of integers of any length in bounded memory: values are packed (1 to 10 bytes each), and every 4 KiB goes to
 * one temporary file that has no name. A column can be read back in the order of appending, or whole and sorted; only
 * the latter takes memory, 8 bytes a value, until its array is freed. When the file cannot be made or written the
 * blocks stay in memory: a full disk costs memory, never a result.
 *
 * A store and its columns belong to one thread. Errors: AS_E_NOMEM; AS_E_IO when a block cannot be read back.
 */

#include "base/status.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

/* Stands for "no value" in a column whose rows correspond to those of others. */
#define COLUMN_MISSING     INT64_MIN
#define COLUMN_BLOCK_BYTES 4096

struct column_store {
    int fd;             /* the unnamed file, -1 = none: blocks stay in memory */
    int64_t file_bytes; /* written so far */
};

struct column_block;

struct column {
    struct column_store *store;
    uint8_t *buffer;             /* the block being filled */
    uint32_t used, capacity;     /* bytes */
    struct column_block *blocks; /* full ones, in order */
    uint32_t block_count, block_capacity;
    int64_t rows; /* appended, missing ones included */
    int64_t missing;
    as_status status; /* the first failure to append; sticks */
};

/* `folder` is where the unnamed file is made; NULL keeps everything in memory. Cannot fail (see above). */
void column_store_open(struct column_store *store, const char *folder);
/* Closes the file; columns of it must be done before. */
void column_store_close(struct column_store *store);

void column_init(struct column *column, struct column_store *store);
void column_done(struct column *column);

/* Makes room in the buffer: flushes or grows it. */
as_status column_make_room(struct column *column);

/* Appends a value or COLUMN_MISSING. A failure is kept in column->status. */
static inline void column_append(struct column *column, int64_t value)
{
    if (column->capacity - column->used < 10 && column_make_room(column) != AS_OK)
        return;
    column->rows++;
    if (value == COLUMN_MISSING) {
        column->missing++;
        column->buffer[column->used++] = 0;
        return;
    }
    /* Zigzag plus one, base 128. The one value whose zigzag form is 2^64 − 1 is COLUMN_MISSING. */
    uint64_t rest = (((uint64_t)value << 1) ^ (uint64_t)(value >> 63)) + 1;
    while (rest >= 0x80) {
        column->buffer[column->used++] = (uint8_t)(rest | 0x80);
        rest >>= 7;
    }
    column->buffer[column->used++] = (uint8_t)rest;
}

/* Reads a column from its first row on; the column must not change meanwhile. */
struct column_cursor {
    const struct column *column;
    uint32_t block;   /* next one to load */
    uint32_t at, len; /* bytes */
    as_status status; /* AS_E_IO when a block could not be read */
    const uint8_t *bytes;
    uint8_t loaded[COLUMN_BLOCK_BYTES];
};

void column_cursor_init(struct column_cursor *cursor, const struct column *column);
/* Moves to the next block, the unfinished one last; false at the end or on a failure. */
bool column_cursor_load(struct column_cursor *cursor);
/* The number at the cursor, cut at the end of the block. */
uint64_t column_cursor_number(struct column_cursor *cursor);

/* The same where at least 8 bytes follow and the number has at most 8: all seven-bit groups at once. */
static inline bool column_cursor_short_number(struct column_cursor *cursor, uint64_t *ret)
{
    uint64_t word;
    memcpy(&word, cursor->bytes + cursor->at, sizeof word);
    uint64_t ends = ~word & UINT64_C(0x8080808080808080);
    if (ends == 0)
        return false;
    word &= ends ^ (ends - 1); /* the number and its end */
    word = (word & UINT64_C(0x007f007f007f007f)) | (word & UINT64_C(0x7f007f007f007f00)) >> 1;
    word = (word & UINT64_C(0x00003fff00003fff)) | (word & UINT64_C(0x3fff00003fff0000)) >> 2;
    *ret = (word & UINT64_C(0x000000000fffffff)) | (word & UINT64_C(0x0fffffff00000000)) >> 4;
    cursor->at += ((unsigned)__builtin_ctzll(ends) + 1) / 8;
    return true;
}

/* The next row's value (or COLUMN_MISSING) in *ret; false at the end or on a failure. */
static inline bool column_next(struct column_cursor *cursor, int64_t *ret)
{
    if (cursor->at == cursor->len && !column_cursor_load(cursor))
        return false;
    uint64_t raw;
    if (cursor->len - cursor->at < 8 || !column_cursor_short_number(cursor, &raw))
        raw = column_cursor_number(cursor);
    if (raw == 0) {
        *ret = COLUMN_MISSING;
        return true;
    }
    raw -= 1;
    *ret = (int64_t)((raw >> 1) ^ (~(raw & 1) + 1));
    return true;
}

/* Sorted values, missing ones left out. Free with values_done. */
struct values {
    int64_t *at;
    int64_t count;
};

void values_done(struct values *values);
#define AS_AUTO_VALUES __attribute__((cleanup(values_done)))

/* All values of `count` columns together, sorted ascending. */
as_status column_load_sorted(const struct column *const *columns, size_t count, struct values *ret) AS_NODISCARD;
/* Replaces the column by its values in ascending order, missing ones left out. */
as_status column_sort(struct column *column) AS_NODISCARD;

#endif
