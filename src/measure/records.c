/* SPDX-License-Identifier: Apache-2.0 */
#include "measure/records.h"

#include "base/file.h"
#include "measure/gaps.h"
#include "measure/journal.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define READ_BYTES ((size_t)1024 * 1024)

/* A record that a ring still holds. */
struct left {
    int64_t seq;
    uint32_t ring;
    bool is_seen; /* a line has it too */
    struct journal_place place;
};

struct reading {
    const char *path;
    const struct record_consumer *consumer;
    struct records_found *found;
    struct as_error *err;
    struct arena arena;
    struct record_reader reader;
    struct journal *journal;
    struct left *left;
    size_t left_count, left_capacity;
};

/* ---- the journal ---- */

static int compare_left(const void *a, const void *b)
{
    const struct left *x = a, *y = b;
    return (x->seq > y->seq) - (x->seq < y->seq);
}

static as_status add_left(struct reading *reading, const struct left *left)
{
    if (reading->left_count == reading->left_capacity) {
        size_t capacity = reading->left_capacity ? reading->left_capacity * 2 : 256;
        struct left *grown = realloc(reading->left, capacity * sizeof *grown);
        if (!grown)
            return error_set(reading->err, AS_E_NOMEM, "no memory for the records of the journal");
        reading->left = grown;
        reading->left_capacity = capacity;
    }
    reading->left[reading->left_count++] = *left;
    return AS_OK;
}

static as_status list_ring(struct reading *reading, uint32_t ring)
{
    struct journal_place place = journal_tail(reading->journal, ring);
    struct request_record record;
    for (;;) {
        struct left left = {.ring = ring, .place = place};
        if (!journal_next(reading->journal, ring, &place, &record))
            return AS_OK;
        left.seq = record.seq;
        as_status status = add_left(reading, &left);
        if (status != AS_OK)
            return status;
    }
}

static as_status open_journal(struct reading *reading)
{
    char folder[PATH_MAX];
    struct as_error err;
    if (!path_dir(folder, sizeof folder, reading->path))
        return error_set(reading->err, AS_E_LIMIT, "the path '%.200s' is too long", reading->path);
    as_status status = journal_open_left(folder, &reading->journal, &err);
    if (status == AS_E_NOTFOUND)
        return AS_OK;
    if (status != AS_OK) {
        if (reading->err)
            *reading->err = err;
        return status;
    }
    reading->found->has_journal = true;
    for (uint32_t i = 0; status == AS_OK && i < journal_rings(reading->journal); i++)
        status = list_ring(reading, i);
    if (reading->left_count > 0)
        qsort(reading->left, reading->left_count, sizeof *reading->left, compare_left);
    return status;
}

static void mark_seen(struct reading *reading, int64_t seq)
{
    struct left key = {.seq = seq};
    struct left *left = NULL;
    if (reading->left_count > 0)
        left = bsearch(&key, reading->left, reading->left_count, sizeof *left, compare_left);
    if (left)
        left->is_seen = true;
}

static as_status take_left(struct reading *reading)
{
    struct gap_counter gaps;
    struct request_record record;
    as_status status = AS_OK;
    if (!reading->journal)
        return AS_OK;
    if (gap_counter_init(&gaps) != AS_OK)
        return error_set(reading->err, AS_E_NOMEM, "no memory for the records of the journal");
    for (size_t i = 0; status == AS_OK && i < reading->left_count; i++) {
        struct left *left = &reading->left[i];
        if (left->is_seen || !journal_next(reading->journal, left->ring, &left->place, &record))
            continue;
        record.gap_stats = gap_counter_count(&gaps, &record.gaps);
        reading->found->record_run_id = reading->reader.context.run_id ? reading->reader.context.run_id : "";
        reading->found->recovered++;
        status = reading->consumer->take(reading->consumer->context, &record);
    }
    gap_counter_done(&gaps);
    reading->found->damaged_rings = journal_damaged(reading->journal);
    (void)journal_damage(reading->journal, &reading->found->damage);
    return status;
}

/* ---- the lines ---- */

static as_status take_line(struct reading *reading, const char *line, size_t len)
{
    struct request_record record;
    arena_reset(&reading->arena);
    as_status status = record_reader_line(&reading->reader, line, len, &record, reading->err);
    reading->found->lines++;
    if (status != AS_OK) {
        if (reading->err)
            reading->err->line = reading->found->lines;
        error_prefix(reading->err, "%.300s line %lld", reading->path, (long long)reading->found->lines);
        return status;
    }
    if (reading->found->lines == 1)
        memcpy(reading->found->run_id, reading->reader.run_id, sizeof reading->found->run_id);
    reading->found->record_run_id = reading->reader.run_id;
    mark_seen(reading, record.seq);
    return reading->consumer->take(reading->consumer->context, &record);
}

static bool is_blank(const char *line, size_t len)
{
    for (size_t i = 0; i < len; i++) {
        if (line[i] != ' ' && line[i] != '\t' && line[i] != '\r' && line[i] != '\n')
            return false;
    }
    return true;
}

/* Takes the whole lines of the buffer and leaves what follows them at its start. */
static as_status take_lines(struct reading *reading, struct strbuf *buffer)
{
    char *at = buffer->data, *end = buffer->data + buffer->len;
    char *newline;
    as_status status = AS_OK;
    while (status == AS_OK && at < end && (newline = memchr(at, '\n', (size_t)(end - at))) != NULL) {
        if (!is_blank(at, (size_t)(newline - at)))
            status = take_line(reading, at, (size_t)(newline - at));
        at = newline + 1;
    }
    memmove(buffer->data, at, (size_t)(end - at));
    buffer->len = (size_t)(end - at);
    return status;
}

/* What follows the last newline: a record whose newline was lost, or a torn one, which is dropped and told. */
static as_status take_rest(struct reading *reading, const struct strbuf *buffer)
{
    struct request_record record;
    if (buffer->len == 0 || is_blank(buffer->data, buffer->len))
        return AS_OK;
    arena_reset(&reading->arena);
    if (record_reader_line(&reading->reader, buffer->data, buffer->len, &record, NULL) == AS_OK)
        return take_line(reading, buffer->data, buffer->len);
    reading->found->torn_bytes = (int64_t)buffer->len;
    return AS_OK;
}

static as_status read_more(struct reading *reading, int fd, struct strbuf *buffer, bool *ret_is_end)
{
    ssize_t got;
    if (!strbuf_reserve(buffer, READ_BYTES))
        return error_set(reading->err, strbuf_status(buffer), "%.300s: line %lld is too long", reading->path,
                         (long long)reading->found->lines + 1);
    do {
        got = read(fd, buffer->data + buffer->len, READ_BYTES);
    } while (got < 0 && errno == EINTR);
    if (got < 0)
        return error_set_errno(reading->err, errno, "cannot read '%.300s'", reading->path);
    buffer->len += (size_t)got;
    *ret_is_end = got == 0;
    return AS_OK;
}

static as_status read_file(struct reading *reading, int fd)
{
    AS_AUTO_STRBUF struct strbuf buffer;
    bool is_end = false;
    as_status status = AS_OK;
    strbuf_init(&buffer, RECORD_LINE_BYTES_MAX);
    while (status == AS_OK && !is_end) {
        status = read_more(reading, fd, &buffer, &is_end);
        if (status == AS_OK && !is_end)
            status = take_lines(reading, &buffer);
    }
    return status == AS_OK ? take_rest(reading, &buffer) : status;
}

static as_status read_all(struct reading *reading)
{
    bool is_stdin = strcmp(reading->path, "-") == 0;
    as_status status = is_stdin ? AS_OK : open_journal(reading);
    if (status != AS_OK)
        return status;
    int fd = is_stdin ? STDIN_FILENO : open(reading->path, O_RDONLY | O_CLOEXEC);
    if (fd < 0 && errno == ENOENT && reading->journal)
        return take_left(reading);
    if (fd < 0) {
        int errnum = errno;
        as_status opened = errnum == ENOENT ? AS_E_NOTFOUND : AS_E_IO;
        error_set_errno(reading->err, errnum, "cannot open '%.300s'", reading->path);
        if (reading->err)
            reading->err->status = opened;
        return opened;
    }
    status = read_file(reading, fd);
    if (!is_stdin)
        close(fd);
    return status == AS_OK ? take_left(reading) : status;
}

as_status records_read(const char *path, const struct record_context *context, const struct record_consumer *consumer,
                       struct records_found *ret, struct as_error *err)
{
    struct reading reading = {.path = path, .consumer = consumer, .found = ret, .err = err};
    memset(ret, 0, sizeof *ret);
    arena_init(&reading.arena, 0, 0);
    reading.reader = (struct record_reader){.context = *context, .arena = &reading.arena};
    as_status status = read_all(&reading);
    ret->record_run_id = "";
    journal_close(reading.journal, false);
    free(reading.left);
    arena_done(&reading.arena);
    return status;
}
