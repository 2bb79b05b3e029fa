/* SPDX-License-Identifier: Apache-2.0 */
#include "run/echo.h"

#include "base/url.h"

#include <string.h>
#include <strings.h>

void echo_init(struct request_echo *echo, struct arena *arena)
{
    echo->bytes = arena_alloc(arena, ECHO_BYTES_MAX);
    echo->capacity = echo->bytes ? ECHO_BYTES_MAX : 0;
    echo->len = 0;
    echo->whole_bytes = 0;
    atomic_init(&echo->is_taken, false);
}

/* Values of other headers may be keys. */
static bool is_shown(const char *line, size_t len)
{
    static const char *const names[] = {"host",       "accept",          "content-type", "content-length",
                                        "user-agent", "accept-encoding", "connection",   "x-assay-id"};
    for (size_t i = 0; i < sizeof names / sizeof names[0]; i++) {
        size_t name_len = strlen(names[i]);
        if (len > name_len && line[name_len] == ':' && strncasecmp(line, names[i], name_len) == 0)
            return true;
    }
    return false;
}

/* "POST /path?query HTTP/1.1" */
static void put_request_line(const char *line, size_t len, struct strbuf *out)
{
    struct strbuf text AS_AUTO_STRBUF;
    strbuf_init(&text, 0);
    strbuf_add(&text, line, len);
    url_add_query_shown(out, strbuf_text(&text));
}

static void put_header(const char *line, size_t len, struct strbuf *out)
{
    const char *colon = memchr(line, ':', len);
    if (!colon || is_shown(line, len))
        strbuf_add(out, line, len);
    else
        strbuf_addf(out, "%.*s: ***", (int)(colon - line), line);
}

void echo_format(const struct request_echo *echo, struct strbuf *out)
{
    const char *at = echo->bytes, *end = at + echo->len;
    bool is_first = true;
    while (at < end) {
        const char *line_end = memmem(at, (size_t)(end - at), "\r\n", 2);
        size_t len = line_end ? (size_t)(line_end - at) : (size_t)(end - at);
        if (is_first)
            put_request_line(at, len, out);
        else
            put_header(at, len, out);
        is_first = false;
        strbuf_adds(out, "\r\n");
        at += line_end ? len + 2 : len;
        if (len == 0)
            break;
    }
    strbuf_add(out, at, (size_t)(end - at));
}

as_status echo_write(const struct request_echo *echo, const struct folder *folder, struct as_error *err)
{
    struct strbuf text AS_AUTO_STRBUF;
    strbuf_init(&text, 0);
    if (echo->len == 0)
        return AS_OK;
    echo_format(echo, &text);
    return folder_write(folder, ECHO_FILE_NAME, &text, err);
}
