/* SPDX-License-Identifier: Apache-2.0 */
#ifndef ASSAY_TEST_HTTP_SSE_REFERENCE_H
#define ASSAY_TEST_HTTP_SSE_REFERENCE_H

/*
 * The event stream of the standard read the plain way, from the whole text at once: an oracle for http/sse.h. Both
 * report as text: "<name|data>" per event, then counters.
 */

#include "base/strbuf.h"
#include "http/sse.h"

#include <stdlib.h>
#include <string.h>

/* The line at *at; moves it behind the line's end. False at the end of the text; an unfinished line does not count. */
static inline bool reference_line(const char **at, const char *end, const char **ret, size_t *ret_len)
{
    for (const char *p = *at; p < end; p++) {
        if (*p != '\r' && *p != '\n')
            continue;
        *ret = *at;
        *ret_len = (size_t)(p - *at);
        *at = p + 1;
        if (*p == '\r' && *at < end && **at == '\n')
            ++*at;
        return true;
    }
    return false;
}

static inline bool reference_is(const char *name, size_t len, const char *wanted)
{
    return len == strlen(wanted) && memcmp(name, wanted, len) == 0;
}

static inline void reference_cut(char *ret, size_t size, const char *text, size_t len)
{
    size_t kept = len < size ? len : size - 1;
    memcpy(ret, text, kept);
    ret[kept] = '\0';
}

/* Reports all complete events of `text`. No limit of size. */
static inline void reference_report(const char *text, size_t size, struct strbuf *out)
{
    const char *at = text, *end = text + size, *line;
    size_t len;
    char name[32] = "", stray[160] = "";
    unsigned comments = 0, strays = 0;
    bool has_data = false;
    AS_AUTO_STRBUF struct strbuf data;
    strbuf_init(&data, 0);
    if (size >= 3 && memcmp(text, "\xEF\xBB\xBF", 3) == 0)
        at += 3;
    while (reference_line(&at, end, &line, &len)) {
        if (len == 0) {
            if (has_data) {
                strbuf_addf(out, "<%s|", name);
                strbuf_add(out, strbuf_text(&data), data.len ? data.len - 1 : 0);
                strbuf_adds(out, ">");
            }
            strbuf_reset(&data);
            has_data = false;
            name[0] = '\0';
            continue;
        }
        const char *colon = memchr(line, ':', len);
        size_t name_len = colon ? (size_t)(colon - line) : len;
        const char *value = colon ? colon + 1 : line + len;
        if (colon && value < line + len && *value == ' ')
            value++;
        size_t value_len = (size_t)(line + len - value);
        if (name_len == 0) {
            comments++;
        } else if (reference_is(line, name_len, "data")) {
            strbuf_add(&data, value, value_len);
            strbuf_addc(&data, '\n');
            has_data = true;
        } else if (reference_is(line, name_len, "event")) {
            reference_cut(name, sizeof name, value, value_len);
        } else if (!reference_is(line, name_len, "id") && !reference_is(line, name_len, "retry")) {
            if (strays++ == 0)
                reference_cut(stray, sizeof stray, line, len);
        }
    }
    if (at < end && *at == ':')
        comments++; /* an unfinished line, but a comment for sure */
    strbuf_addf(out, " comments=%u stray=%u:%s", comments, strays, stray);
}

/* The same from the reader, fed in pieces: after each piece `next_piece(context)` says how long the next one is. */
static inline void reader_report(const char *text, size_t size, size_t (*next_piece)(void *context), void *context,
                                 struct strbuf *out)
{
    struct sse_reader reader;
    struct sse_event event;
    sse_reader_init(&reader, SSE_EVENT_MAX_DEFAULT);
    for (size_t from = 0; from < size;) {
        size_t len = next_piece(context);
        if (len > size - from)
            len = size - from;
        char *piece = malloc(len ? len : 1);
        if (!piece)
            abort();
        memcpy(piece, text + from, len);
        from += len;
        const char *at = piece;
        while (sse_next(&reader, &at, piece + len, &event) == SSE_EVENT) {
            strbuf_addf(out, "<%s|", event.name);
            strbuf_add(out, event.data, event.len);
            strbuf_adds(out, ">");
        }
        free(piece);
    }
    strbuf_addf(out, " comments=%u stray=%u:%s", reader.comments, reader.stray_lines, reader.stray);
    (void)!sse_finish(&reader, &event);
    sse_reader_done(&reader);
}

#endif
