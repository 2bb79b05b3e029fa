/* SPDX-License-Identifier: Apache-2.0 */
#include "stats/column.h"

#include "base/file.h"
#include "stats/sort.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define FIRST_BUFFER_BYTES 128

/* A full block: in the file, or in memory where there is none. */
struct column_block {
    uint8_t *memory; /* NULL = in the file */
    int64_t offset;
    uint32_t bytes;
};

void column_store_open(struct column_store *store, const char *folder)
{
    *store = (struct column_store){.fd = -1};
    if (!folder)
        return;
    store->fd = open(folder, O_TMPFILE | O_RDWR | O_CLOEXEC, 0600);
    if (store->fd >= 0)
        return;
    /* Some file systems have no O_TMPFILE. */
    char path[PATH_MAX];
    if (!path_join(path, sizeof path, folder, ".columns-XXXXXX"))
        return;
    store->fd = mkostemp(path, O_CLOEXEC);
    if (store->fd >= 0)
        (void)unlink(path);
}

void column_store_close(struct column_store *store)
{
    if (store->fd >= 0)
        close(store->fd);
    store->fd = -1;
}

void column_init(struct column *column, struct column_store *store)
{
    *column = (struct column){.store = store};
}

void column_done(struct column *column)
{
    for (uint32_t i = 0; i < column->block_count; i++)
        free(column->blocks[i].memory);
    free(column->blocks);
    free(column->buffer);
    *column = (struct column){.store = column->store};
}

/* Writes the buffer to the end of the file; false when it cannot. */
static bool spill(struct column_store *store, const uint8_t *bytes, uint32_t len)
{
    if (store->fd < 0)
        return false;
    uint32_t done = 0;
    while (done < len) {
        ssize_t n = pwrite(store->fd, bytes + done, len - done, (off_t)(store->file_bytes + done));
        if (n < 0 && errno == EINTR)
            continue;
        if (n <= 0)
            return false;
        done += (uint32_t)n;
    }
    store->file_bytes += len;
    return true;
}

static as_status add_block(struct column *column)
{
    if (column->block_count == column->block_capacity) {
        uint32_t capacity = column->block_capacity ? column->block_capacity * 2 : 8;
        struct column_block *blocks = realloc(column->blocks, capacity * sizeof *blocks);
        if (!blocks)
            return AS_E_NOMEM;
        column->blocks = blocks;
        column->block_capacity = capacity;
    }
    struct column_block block = {.offset = column->store->file_bytes, .bytes = column->used};
    if (!spill(column->store, column->buffer, column->used)) {
        uint8_t *fresh = malloc(COLUMN_BLOCK_BYTES);
        if (!fresh)
            return AS_E_NOMEM;
        block.memory = column->buffer;
        column->buffer = fresh;
    }
    column->blocks[column->block_count++] = block;
    column->used = 0;
    return AS_OK;
}

as_status column_make_room(struct column *column)
{
    if (column->status != AS_OK)
        return column->status;
    if (column->capacity == COLUMN_BLOCK_BYTES)
        return column->status = add_block(column);
    uint32_t capacity = column->capacity ? column->capacity * 2 : FIRST_BUFFER_BYTES;
    uint8_t *buffer = realloc(column->buffer, capacity);
    if (!buffer)
        return column->status = AS_E_NOMEM;
    column->buffer = buffer;
    column->capacity = capacity;
    return AS_OK;
}

void column_cursor_init(struct column_cursor *cursor, const struct column *column)
{
    cursor->column = column;
    cursor->block = 0;
    cursor->at = cursor->len = 0;
    cursor->status = AS_OK;
    cursor->bytes = NULL;
}

static as_status read_block(struct column_cursor *cursor, const struct column_block *block)
{
    uint32_t done = 0;
    while (done < block->bytes) {
        ssize_t n =
            pread(cursor->column->store->fd, cursor->loaded + done, block->bytes - done, (off_t)(block->offset + done));
        if (n < 0 && errno == EINTR)
            continue;
        if (n <= 0)
            return AS_E_IO;
        done += (uint32_t)n;
    }
    cursor->bytes = cursor->loaded;
    return AS_OK;
}

bool column_cursor_load(struct column_cursor *cursor)
{
    const struct column *column = cursor->column;
    if (cursor->status != AS_OK || cursor->block > column->block_count)
        return false;
    uint32_t index = cursor->block++;
    cursor->at = 0;
    if (index == column->block_count) {
        cursor->bytes = column->buffer;
        cursor->len = column->used;
        return cursor->len > 0;
    }
    const struct column_block *block = &column->blocks[index];
    cursor->len = block->bytes;
    if (block->memory)
        cursor->bytes = block->memory;
    else
        cursor->status = read_block(cursor, block);
    return cursor->status == AS_OK;
}

uint64_t column_cursor_number(struct column_cursor *cursor)
{
    uint64_t raw = 0;
    for (unsigned shift = 0; cursor->at < cursor->len && shift < 70; shift += 7) {
        uint8_t byte = cursor->bytes[cursor->at++];
        raw |= (uint64_t)(byte & 0x7f) << shift;
        if (byte < 0x80)
            break;
    }
    return raw;
}

void values_done(struct values *values)
{
    free(values->at);
    *values = (struct values){0};
}

/* AS_E_IO also when the blocks hold other than `room` values: the file was changed from outside. */
static as_status append_values(const struct column *column, int64_t room, struct values *values)
{
    struct column_cursor cursor;
    if (!values->at)
        return room == 0 ? AS_OK : AS_E_IO; /* nothing but missing values */
    column_cursor_init(&cursor, column);
    int64_t value;
    while (column_next(&cursor, &value)) {
        if (value == COLUMN_MISSING)
            continue;
        if (room-- == 0)
            return AS_E_IO;
        values->at[values->count++] = value;
    }
    return cursor.status == AS_OK && room != 0 ? AS_E_IO : cursor.status;
}

as_status column_load_sorted(const struct column *const *columns, size_t count, struct values *ret)
{
    int64_t total = 0;
    for (size_t i = 0; i < count; i++) {
        if (columns[i]->status != AS_OK)
            return columns[i]->status;
        total += columns[i]->rows - columns[i]->missing;
    }
    struct values values = {0};
    if (total > 0) {
        values.at = malloc((size_t)total * sizeof *values.at);
        if (!values.at)
            return AS_E_NOMEM;
    }
    for (size_t i = 0; i < count; i++) {
        as_status status = append_values(columns[i], columns[i]->rows - columns[i]->missing, &values);
        if (status == AS_OK)
            continue;
        values_done(&values);
        return status;
    }
    if (values.count > 0)
        sort_int64(values.at, (size_t)values.count);
    *ret = values;
    return AS_OK;
}

as_status column_sort(struct column *column)
{
    AS_AUTO_VALUES struct values values = {0};
    const struct column *columns[] = {column};
    as_status status = column_load_sorted(columns, 1, &values);
    if (status != AS_OK)
        return status;
    struct column sorted;
    column_init(&sorted, column->store);
    for (int64_t i = 0; i < values.count; i++)
        column_append(&sorted, values.at[i]);
    if (sorted.status != AS_OK) {
        status = sorted.status;
        column_done(&sorted);
        return status;
    }
    column_done(column);
    *column = sorted;
    return AS_OK;
}
