/* SPDX-License-Identifier: Apache-2.0 */
#include "prompts/import_text.h"

#include "workload/prompts.h"

#include <string.h>

void text_lines_init(struct text_lines *lines, bool by_paragraph, const struct text_sink *sink)
{
    *lines = (struct text_lines){.sink = *sink, .by_paragraph = by_paragraph};
    strbuf_init(&lines->line, PROMPTS_LINE_MAX_BYTES);
    strbuf_init(&lines->paragraph, PROMPTS_LINE_MAX_BYTES);
}

void text_lines_done(struct text_lines *lines)
{
    strbuf_done(&lines->line);
    strbuf_done(&lines->paragraph);
}

static bool is_space(char c)
{
    return c == ' ' || (c >= '\t' && c <= '\r');
}

/* Gives what is in the buffer without white space at its ends, unless that is nothing, and empties it. */
static as_status give(struct text_lines *lines, struct strbuf *buf)
{
    const char *text = strbuf_text(buf);
    size_t start = 0, len = buf->len;
    as_status status = strbuf_status(buf);
    while (len > 0 && is_space(text[len - 1]))
        len--;
    while (start < len && is_space(text[start]))
        start++;
    if (status == AS_OK && len > start)
        status = lines->sink.take(lines->sink.context, text + start, len - start);
    strbuf_reset(buf);
    return status;
}

static bool is_blank(const struct strbuf *buf)
{
    for (size_t i = 0; i < buf->len; i++)
        if (!is_space(buf->data[i]))
            return false;
    return true;
}

static as_status end_line(struct text_lines *lines)
{
    if (!lines->by_paragraph)
        return give(lines, &lines->line);
    if (strbuf_status(&lines->line) != AS_OK)
        return strbuf_status(&lines->line);
    if (is_blank(&lines->line)) {
        strbuf_reset(&lines->line);
        return give(lines, &lines->paragraph);
    }
    while (lines->line.len > 0 && is_space(lines->line.data[lines->line.len - 1]))
        lines->line.len--;
    strbuf_add(&lines->paragraph, lines->line.data, lines->line.len);
    strbuf_addc(&lines->paragraph, '\n');
    strbuf_reset(&lines->line);
    return strbuf_status(&lines->paragraph);
}

as_status text_lines_feed(struct text_lines *lines, const char *data, size_t len)
{
    const char *at = data, *end = data + len;
    while (at < end) {
        const char *stop = memchr(at, '\n', (size_t)(end - at));
        strbuf_add(&lines->line, at, (size_t)((stop ? stop : end) - at));
        if (!stop)
            return strbuf_status(&lines->line);
        as_status status = end_line(lines);
        if (status != AS_OK)
            return status;
        at = stop + 1;
    }
    return AS_OK;
}

as_status text_lines_finish(struct text_lines *lines)
{
    as_status status = end_line(lines);
    return status == AS_OK ? give(lines, &lines->paragraph) : status;
}
