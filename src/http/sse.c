/* SPDX-License-Identifier: Apache-2.0 */
#include "http/sse.h"

#include <stdlib.h>
#include <string.h>

/* Bits of sse_reader.state; 0 with BOM_DONE alone: between events, nothing held. */
#define BOM_MASK   3u  /* bytes of a BOM matched so far, or */
#define BOM_DONE   3u  /* the start of the stream is past */
#define SKIP_LF    4u  /* a CR ended the last line: a LF that follows belongs to it */
#define IN_COMMENT 8u  /* inside a comment line: bytes up to its end are dropped */
#define DELIVERED  16u /* the last call gave an event; what it pointed to is dropped at the next */
#define PENDING    32u /* an unfinished line, data or a name is held */
#define FAILED     64u

/* A line may be longer than the data in it by its field name. */
#define LINE_SLACK ((size_t)8)
/* The quick path looks for the end of a line so far ahead. */
#define QUICK_BYTES ((ptrdiff_t)4096)

static const unsigned char BOM[3] = {0xEF, 0xBB, 0xBF};

/* A range of bytes. at == NULL: none. */
struct piece {
    const char *at;
    size_t len;
};

void sse_reader_init(struct sse_reader *reader, size_t max_event_bytes)
{
    *reader = (struct sse_reader){.max_event_bytes = max_event_bytes};
}

static void drop_kept(struct sse_reader *reader)
{
    free(reader->kept);
    reader->kept = NULL;
    reader->kept_len = reader->kept_capacity = reader->line_start = 0;
}

void sse_reader_done(struct sse_reader *reader)
{
    drop_kept(reader);
}

static bool reserve(struct sse_reader *reader, size_t bytes)
{
    if (reader->kept_capacity - reader->kept_len >= bytes)
        return true;
    size_t capacity = reader->kept_capacity ? reader->kept_capacity : 256;
    while (capacity < reader->kept_len + bytes)
        capacity *= 2;
    char *grown = realloc(reader->kept, capacity);
    if (!grown)
        return false;
    reader->kept = grown;
    reader->kept_capacity = capacity;
    return true;
}

static bool append(struct sse_reader *reader, const char *at, size_t len)
{
    if (!reserve(reader, len))
        return false;
    if (len)
        memcpy(reader->kept + reader->kept_len, at, len);
    reader->kept_len += len;
    return true;
}

/* Moves the data that lies in the caller's bytes into `kept`: it must outlive this call. Nothing else is held there. */
static bool keep_data(struct sse_reader *reader, struct piece *data)
{
    if (!data->at)
        return true;
    struct piece taken = *data;
    *data = (struct piece){0};
    if (!append(reader, taken.at, taken.len))
        return false;
    reader->line_start = reader->kept_len;
    return true;
}

/* The CR or LF that ends the line at `at`, NULL when it was not fed; in steps, so that CR lines cost no more than LF
 * lines. */
static const char *line_end(const char *at, const char *end)
{
    while (at < end) {
        size_t len = end - at < 1024 ? (size_t)(end - at) : 1024;
        const char *lf = memchr(at, '\n', len);
        const char *cr = memchr(at, '\r', lf ? (size_t)(lf - at) : len);
        if (cr || lf)
            return cr ? cr : lf;
        at += len;
    }
    return NULL;
}

static bool starts_with(struct piece line, const char *text, size_t len)
{
    return line.len >= len && memcmp(line.at, text, len) == 0;
}

/* True when the line is the field `name` (of `len` bytes); *ret is its value. */
static bool is_field(struct piece line, const char *name, size_t len, struct piece *ret)
{
    if (!starts_with(line, name, len))
        return false;
    if (line.len == len) {
        *ret = (struct piece){line.at + len, 0};
        return true;
    }
    if (line.at[len] != ':')
        return false;
    size_t skip = len + 1;
    if (line.len > skip && line.at[skip] == ' ')
        skip++;
    *ret = (struct piece){line.at + skip, line.len - skip};
    return true;
}

static void take_name(struct sse_reader *reader, struct piece value)
{
    size_t len = value.len < sizeof reader->name ? value.len : sizeof reader->name - 1;
    memcpy(reader->name, value.at, len);
    reader->name[len] = '\0';
}

static void take_stray(struct sse_reader *reader, struct piece line)
{
    if (reader->stray_lines++ == 0) {
        size_t len = line.len < sizeof reader->stray ? line.len : sizeof reader->stray - 1;
        memcpy(reader->stray, line.at, len);
        reader->stray[len] = '\0';
    }
}

/*
 * Adds a data line's value. `in_kept`: it lies in reader->kept, behind the data collected so far and at least four
 * bytes
 * ("data") behind line_start. False: too large, or no memory.
 */
static bool take_data(struct sse_reader *reader, struct piece *data, struct piece value, bool in_kept)
{
    size_t joined = data->at ? data->len : reader->line_start;
    if (reader->has_data)
        joined++;
    if (value.len > reader->max_event_bytes || joined > reader->max_event_bytes - value.len)
        return false;
    if (!in_kept && !reader->has_data) {
        *data = value;
        reader->has_data = true;
        return true;
    }
    if (!in_kept) {
        if (!keep_data(reader, data) || !append(reader, "\n", 1) || !append(reader, value.at, value.len))
            return false;
    } else {
        if (reader->has_data)
            reader->kept[reader->line_start] = '\n';
        memmove(reader->kept + joined, value.at, value.len);
        reader->kept_len = joined + value.len;
    }
    reader->line_start = reader->kept_len;
    reader->has_data = true;
    return true;
}

/* A whole line that is not blank and no comment. False: as take_data. */
static bool take_line(struct sse_reader *reader, struct piece *data, struct piece line, bool in_kept)
{
    struct piece value;
    if (line.len > reader->max_event_bytes && line.len - reader->max_event_bytes > LINE_SLACK)
        return false;
    if (is_field(line, "data", 4, &value))
        return take_data(reader, data, value, in_kept);
    if (is_field(line, "event", 5, &value))
        take_name(reader, value);
    else if (!is_field(line, "id", 2, &value) && !is_field(line, "retry", 5, &value))
        take_stray(reader, line);
    reader->kept_len = reader->line_start;
    return true;
}

/* Gives what is collected: from `data` when it lies in the caller's bytes, else from `kept`. */
static enum sse_result deliver(struct sse_reader *reader, struct piece data, struct sse_event *ret)
{
    ret->data = data.at ? data.at : reader->kept ? reader->kept : "";
    ret->len = data.at ? data.len : reader->line_start;
    ret->name = reader->name;
    reader->state = (uint8_t)((reader->state & ~PENDING) | DELIVERED);
    return SSE_EVENT;
}

static enum sse_result fail(struct sse_reader *reader)
{
    drop_kept(reader);
    reader->has_data = false;
    reader->name[0] = '\0';
    reader->state = FAILED;
    return SSE_BAD;
}

static void forget_delivered(struct sse_reader *reader)
{
    drop_kept(reader);
    reader->has_data = false;
    reader->name[0] = '\0';
    reader->state = (uint8_t)(reader->state & ~DELIVERED);
}

/* Skips a BOM at the start of the stream; bytes that began like one and are none become the start of a line. */
static bool skip_bom(struct sse_reader *reader, const char **at, const char *end)
{
    unsigned matched = reader->state & BOM_MASK;
    while (matched < BOM_DONE && *at < end && (unsigned char)**at == BOM[matched]) {
        ++*at;
        matched++;
    }
    bool is_whole = matched == BOM_DONE;
    if (!is_whole && *at == end) {
        reader->state = (uint8_t)((reader->state & ~BOM_MASK) | matched);
        return true;
    }
    reader->state |= BOM_DONE;
    return is_whole || append(reader, (const char *)BOM, matched);
}

/*
 * What precedes a line: the LF of a CR LF, the rest of a comment, a comment's start. True: look again (or the bytes are
 * used up); false: a line, or the rest of one, is at *at.
 */
static bool skip_before_line(struct sse_reader *reader, const char **at, const char *end)
{
    if (reader->state & SKIP_LF) {
        reader->state = (uint8_t)(reader->state & ~SKIP_LF);
        if (**at == '\n') {
            ++*at;
            return true;
        }
    }
    if (!(reader->state & IN_COMMENT) && **at == ':' && reader->kept_len == reader->line_start) {
        reader->comments++;
        reader->state |= IN_COMMENT;
    }
    if (!(reader->state & IN_COMMENT))
        return false;
    const char *eol = line_end(*at, end);
    *at = eol ? eol + 1 : end;
    if (eol)
        reader->state = (uint8_t)((reader->state & ~IN_COMMENT) | (*eol == '\r' ? SKIP_LF : 0));
    return true;
}

/* All bytes are used up: what is unfinished goes into `kept`. */
static enum sse_result more(struct sse_reader *reader, struct piece *data)
{
    if (!keep_data(reader, data))
        return fail(reader);
    if (!reader->kept_len)
        drop_kept(reader);
    bool is_pending = reader->kept_len || reader->has_data || reader->name[0];
    reader->state = (uint8_t)((reader->state & ~PENDING) | (is_pending ? PENDING : 0));
    return SSE_MORE;
}

/* The line at *at goes on in the next read. */
static enum sse_result keep_rest(struct sse_reader *reader, const char **at, const char *end, struct piece *data)
{
    if (!keep_data(reader, data) || !append(reader, *at, (size_t)(end - *at)))
        return fail(reader);
    *at = end;
    size_t len = reader->kept_len - reader->line_start;
    if (len > reader->max_event_bytes && len - reader->max_event_bytes > LINE_SLACK)
        return fail(reader);
    return more(reader, data);
}

static enum sse_result next_slow(struct sse_reader *reader, const char **at, const char *end, struct sse_event *ret)
{
    struct piece data = {0};
    if (reader->state & FAILED)
        return SSE_BAD;
    if ((reader->state & BOM_MASK) != BOM_DONE && !skip_bom(reader, at, end))
        return fail(reader);
    while (*at < end) {
        if (skip_before_line(reader, at, end))
            continue;
        const char *eol = line_end(*at, end);
        if (!eol)
            return keep_rest(reader, at, end, &data);
        struct piece line = {*at, (size_t)(eol - *at)};
        bool in_kept = reader->kept_len > reader->line_start;
        if (in_kept) {
            if (!append(reader, line.at, line.len))
                return fail(reader);
            line = (struct piece){reader->kept + reader->line_start, reader->kept_len - reader->line_start};
        }
        *at = eol + 1;
        if (*eol == '\r')
            reader->state |= SKIP_LF;
        if (line.len && !take_line(reader, &data, line, in_kept))
            return fail(reader);
        if (!line.len && reader->has_data)
            return deliver(reader, data, ret);
        if (!line.len)
            reader->name[0] = '\0';
    }
    return more(reader, &data);
}

/* One data line and its blank line, whole in the fed bytes, with LF or CR LF; SSE_MORE when it is not that. */
static inline enum sse_result next_quick(const struct sse_reader *reader, const char **at, const char *end,
                                         struct sse_event *ret)
{
    const char *p = *at;
    if (end - p < 8 || memcmp(p, "data:", 5) != 0)
        return SSE_MORE;
    const char *value = p + 5 + (p[5] == ' ');
    size_t seen = (size_t)(end - value < QUICK_BYTES ? end - value : QUICK_BYTES);
    const char *lf = memchr(value, '\n', seen);
    if (!lf || lf + 1 == end)
        return SSE_MORE;
    const char *cr = memchr(value, '\r', (size_t)(lf - value));
    const char *stop = cr ? cr : lf;
    size_t len = (size_t)(stop - value);
    if (len > reader->max_event_bytes)
        return SSE_MORE;
    if (!cr && lf[1] == '\n')
        *at = lf + 2;
    else if (cr && cr + 1 == lf && end - lf > 2 && lf[1] == '\r' && lf[2] == '\n')
        *at = lf + 3;
    else
        return SSE_MORE;
    *ret = (struct sse_event){value, len, ""};
    return SSE_EVENT;
}

/* What must happen before the next event and would keep it from the quick path. */
static void settle(struct sse_reader *reader, const char **at, const char *end)
{
    if (reader->state & DELIVERED)
        forget_delivered(reader);
    if (*at == end)
        return;
    if (reader->state == 0 && (unsigned char)**at != BOM[0])
        reader->state = BOM_DONE;
    if (reader->state == (BOM_DONE | SKIP_LF)) {
        reader->state = BOM_DONE;
        *at += **at == '\n';
    }
}

enum sse_result sse_next(struct sse_reader *reader, const char **at, const char *end, struct sse_event *ret)
{
    if (reader->state != BOM_DONE)
        settle(reader, at, end);
    if (reader->state == BOM_DONE) {
        if (*at == end)
            return SSE_MORE;
        if (next_quick(reader, at, end, ret) == SSE_EVENT)
            return SSE_EVENT;
    }
    return next_slow(reader, at, end, ret);
}

/* True when `line`, cut off by the end of the stream, could have become a field of the standard. */
static bool may_be_field(struct piece line)
{
    static const char *const NAMES[] = {"data", "event", "id", "retry"};
    struct piece value;
    for (size_t i = 0; i < sizeof NAMES / sizeof NAMES[0]; i++) {
        size_t len = strlen(NAMES[i]);
        if (is_field(line, NAMES[i], len, &value) || (line.len < len && memcmp(NAMES[i], line.at, line.len) == 0))
            return true;
    }
    return false;
}

enum sse_result sse_finish(struct sse_reader *reader, struct sse_event *ret)
{
    if (reader->state & FAILED)
        return SSE_BAD;
    if (reader->state & DELIVERED)
        forget_delivered(reader);
    struct piece data = {0};
    size_t len = reader->kept_len - reader->line_start;
    struct piece line = {len ? reader->kept + reader->line_start : "", len};
    struct piece value;
    bool is_done_mark = is_field(line, "data", 4, &value) && value.len == 6 && memcmp(value.at, "[DONE]", 6) == 0;
    if (len && !may_be_field(line))
        take_stray(reader, line);
    if (is_done_mark && !take_data(reader, &data, value, true))
        return fail(reader);
    reader->kept_len = reader->line_start;
    if (reader->has_data)
        return deliver(reader, data, ret);
    forget_delivered(reader);
    reader->state = (uint8_t)(reader->state & ~PENDING);
    return SSE_MORE;
}

bool sse_is_between(const struct sse_reader *reader)
{
    return !(reader->state & PENDING);
}
