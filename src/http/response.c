/* SPDX-License-Identifier: Apache-2.0 */
#include "http/response.h"

#include "base/clock.h"
#include "http/date.h"
#include "http/field.h"

#include <stddef.h>
#include <stdlib.h>
#include <string.h>

enum state {
    STATE_HEAD,    /* reading a head */
    STATE_CLOSE,   /* body up to the close */
    STATE_LENGTH,  /* body of `left` more bytes */
    STATE_CHUNKED, /* body in chunks */
    STATE_END,
    STATE_BAD
};

#define NOT_HTTP      "the answer does not begin with an HTTP/1 status line"
#define HEAD_TOO_LONG "the response head passes 64 KiB"

/* What the framing of a body depends on and the caller need not see. */
struct framing {
    bool has_coding;                /* Transfer-Encoding was there */
    bool is_identity;               /* and said "identity" */
    bool is_unknown;                /* and said something other than chunked, once */
    bool has_close, has_keep_alive; /* in Connection */
};

void http_response_init(struct http_response *parser)
{
    /* All but the rest of head.location, which is a string. */
    parser->head.location[0] = '\0';
    memset(&parser->head, 0, offsetof(struct http_response_head, location));
    memset(&parser->memo, 0, sizeof *parser - offsetof(struct http_response, memo));
    parser->head.content_length = -1;
    parser->head.retry_after_s = -1;
}

static void forget_kept(struct http_response *parser)
{
    free(parser->kept);
    parser->kept = NULL;
    parser->kept_len = parser->kept_capacity = 0;
}

void http_response_done(struct http_response *parser)
{
    forget_kept(parser);
}

static enum http_result fail(struct http_response *parser, const char *sentence)
{
    forget_kept(parser);
    parser->state = STATE_BAD;
    parser->error = sentence;
    return HTTP_BAD;
}

/* ---- head ---- */

static void take_transfer_encoding(struct http_response_head *head, struct framing *framing, struct http_text value)
{
    struct http_text item;
    framing->has_coding = true;
    while (http_list_next(&value, &item)) {
        if (http_text_equals(item, "identity") && !head->chunked)
            framing->is_identity = true;
        else if (http_text_equals(item, "chunked") && !head->chunked && !framing->is_identity)
            head->chunked = true;
        else
            framing->is_unknown = true;
    }
}

static void take_connection(struct framing *framing, struct http_text value)
{
    struct http_text item;
    while (http_list_next(&value, &item)) {
        if (http_text_equals(item, "close"))
            framing->has_close = true;
        else if (http_text_equals(item, "keep-alive"))
            framing->has_keep_alive = true;
    }
}

static enum http_media media_of(struct http_text value)
{
    struct http_text type = http_without_parameters(value);
    if (http_text_equals(type, "text/event-stream"))
        return HTTP_MEDIA_EVENT_STREAM;
    if (http_text_equals(type, "application/json"))
        return HTTP_MEDIA_JSON;
    if (http_text_equals(type, "text/html"))
        return HTTP_MEDIA_HTML;
    if (type.len > 5 && http_text_equals((struct http_text){type.at, 5}, "text/"))
        return HTTP_MEDIA_TEXT;
    if (type.len > 5 && http_text_equals((struct http_text){type.at + type.len - 5, 5}, "+json"))
        return HTTP_MEDIA_JSON;
    return HTTP_MEDIA_OTHER;
}

static enum http_coding coding_of(struct http_text value)
{
    if (!value.len || http_text_equals(value, "identity"))
        return HTTP_CODING_IDENTITY;
    if (http_text_equals(value, "gzip") || http_text_equals(value, "x-gzip"))
        return HTTP_CODING_GZIP;
    return HTTP_CODING_OTHER;
}

static void take_location(struct http_response_head *head, struct http_text value)
{
    size_t len = value.len < sizeof head->location ? value.len : sizeof head->location - 1;
    memcpy(head->location, value.at, len);
    head->location[len] = '\0';
}

static const char *take_field(struct http_response_head *head, struct framing *framing, struct http_text name,
                              struct http_text value)
{
    switch (name.len) {
    case 8:
        if (http_text_equals(name, "location"))
            take_location(head, value);
        break;
    case 10:
        if (http_text_equals(name, "connection"))
            take_connection(framing, value);
        break;
    case 11:
        if (http_text_equals(name, "retry-after"))
            head->retry_after_s = http_retry_after_s(value, wall_now().ns / NS_PER_S);
        break;
    case 12:
        if (http_text_equals(name, "content-type"))
            head->media = media_of(value);
        break;
    case 14:
        if (http_text_equals(name, "content-length"))
            return http_merge_length(value, &head->content_length);
        break;
    case 16:
        if (http_text_equals(name, "content-encoding"))
            head->coding = coding_of(value);
        break;
    case 17:
        if (http_text_equals(name, "transfer-encoding"))
            take_transfer_encoding(head, framing, value);
        break;
    default:
        break;
    }
    return NULL;
}

/* "HTTP/1.1 200 OK", the phrase and the space before it optional. */
static const char *take_status_line(struct http_response_head *head, struct http_text line)
{
    const char *at = line.at;
    if (line.len < 12 || memcmp(at, "HTTP/1.", 7) != 0 || at[7] < '0' || at[7] > '9' || at[8] != ' ')
        return NOT_HTTP;
    int status = 0;
    for (int i = 9; i < 12; i++) {
        if (at[i] < '0' || at[i] > '9')
            return "the status in the status line is no number";
        status = status * 10 + (at[i] - '0');
    }
    if (status < 100 || (line.len > 12 && at[12] != ' '))
        return "the status in the status line is not of three digits from 100 on";
    if (memchr(at, '\0', line.len) || memchr(at, '\r', line.len))
        return "the status line holds a NUL or a bare CR";
    head->minor = at[7] - '0';
    head->status = status;
    return NULL;
}

/* The line at *at without its line end; moves *at behind it. A LF is known to follow. */
static struct http_text take_line(const char **at, const char *end)
{
    const char *start = *at;
    const char *lf = memchr(start, '\n', (size_t)(end - start));
    *at = lf + 1;
    size_t len = (size_t)(lf - start);
    if (len && start[len - 1] == '\r')
        len--;
    return (struct http_text){start, len};
}

/* RFC 9112 6.3. */
static const char *choose_framing(struct http_response *parser, const struct framing *framing)
{
    struct http_response_head *head = &parser->head;
    head->keep_alive = !framing->has_close && (head->minor >= 1 || framing->has_keep_alive);
    if (head->status == 101)
        return "the server switched protocols without being asked";
    if (parser->head_request || head->status == 204 || head->status == 304) {
        if (head->status == 204 && (framing->has_coding || head->content_length > 0))
            head->keep_alive = false;
        head->chunked = false;
        parser->state = STATE_LENGTH;
        return NULL;
    }
    if (framing->is_unknown)
        return "the transfer coding is not supported";
    if (framing->has_coding && (head->content_length >= 0 || head->minor == 0))
        head->keep_alive = false;
    if (framing->has_coding)
        head->content_length = -1;
    if (head->chunked) {
        parser->state = STATE_CHUNKED;
    } else if (head->content_length >= 0) {
        parser->left = (uint64_t)head->content_length;
        parser->state = STATE_LENGTH;
    } else {
        head->keep_alive = false;
        parser->state = STATE_CLOSE;
    }
    return NULL;
}

static void copy_head(struct http_response_head *to, const struct http_response_head *from)
{
    memcpy(to, from, from->location[0] ? sizeof *to : offsetof(struct http_response_head, location) + 1);
}

static void memo_store(struct http_response *parser, const struct framing *framing, const char *at, size_t len)
{
    struct http_head_memo *memo = parser->memo;
    _Static_assert(sizeof *framing <= sizeof memo->framing, "the framing fits");
    if (!memo || len > HTTP_HEAD_MEMO_BYTES || parser->head.retry_after_s >= 0)
        return;
    memcpy(memo->bytes, at, len);
    memo->len = len;
    copy_head(&memo->head, &parser->head);
    memcpy(memo->framing, framing, sizeof *framing);
}

/* Fills head and framing when the bytes are those of the memo. */
static bool memo_find(struct http_response *parser, struct framing *framing, const char *at, size_t len)
{
    const struct http_head_memo *memo = parser->memo;
    if (!memo || memo->len != len || memcmp(memo->bytes, at, len) != 0)
        return false;
    copy_head(&parser->head, &memo->head);
    memcpy(framing, memo->framing, sizeof *framing);
    return true;
}

/* A whole, unfolded head, blank line included. NULL or the error. */
static const char *parse_head(struct http_response *parser, const char *at, const char *end)
{
    struct framing framing = {0};
    const char *start = at;
    if (memo_find(parser, &framing, at, (size_t)(end - at)))
        return choose_framing(parser, &framing);
    parser->head = (struct http_response_head){.content_length = -1, .retry_after_s = -1};
    const char *error = take_status_line(&parser->head, take_line(&at, end));
    while (!error) {
        struct http_text line = take_line(&at, end);
        struct http_text name, value;
        if (!line.len)
            break;
        error = http_field_split(line, &name, &value);
        if (!error)
            error = take_field(&parser->head, &framing, name, value);
    }
    if (error || (parser->head.status < 200 && parser->head.status != 101))
        return error;
    memo_store(parser, &framing, start, (size_t)(end - start));
    return choose_framing(parser, &framing);
}

/* The byte after the blank line that ends a head, NULL while it is not there. Looks for line ends from `from` on. */
static const char *head_end(const char *from, const char *end, bool *ret_folded)
{
    *ret_folded = false;
    for (;;) {
        const char *lf = from < end ? memchr(from, '\n', (size_t)(end - from)) : NULL;
        if (!lf || lf + 1 == end)
            return NULL;
        if (lf[1] == '\n')
            return lf + 2;
        if (lf[1] == '\r' && lf + 2 < end && lf[2] == '\n')
            return lf + 3;
        if (lf[1] == ' ' || lf[1] == '\t')
            *ret_folded = true;
        from = lf + 1;
    }
}

/* Turns the line ends before continuation lines into spaces. */
static void unfold(char *at, const char *end)
{
    for (char *lf = memchr(at, '\n', (size_t)(end - at)); lf && lf + 1 < end;
         lf = memchr(lf + 1, '\n', (size_t)(end - lf - 1))) {
        if (lf[1] != ' ' && lf[1] != '\t')
            continue;
        *lf = ' ';
        if (lf > at && lf[-1] == '\r')
            lf[-1] = ' ';
    }
}

static bool keep(struct http_response *parser, const char *at, size_t len)
{
    if (parser->kept_capacity - parser->kept_len < len) {
        size_t capacity = 512;
        while (capacity < parser->kept_len + len)
            capacity *= 2;
        char *grown = realloc(parser->kept, capacity);
        if (!grown)
            return false;
        parser->kept = grown;
        parser->kept_capacity = (uint32_t)capacity;
    }
    memcpy(parser->kept + parser->kept_len, at, len);
    parser->kept_len += (uint32_t)len;
    return true;
}

/* Parses the complete head in [head, stop); `folded` ones are copied first. */
static enum http_result finish_head(struct http_response *parser, const char *head, const char *stop, bool folded)
{
    size_t len = (size_t)(stop - head);
    parser->head_bytes += (uint32_t)len;
    if (folded && head != parser->kept) {
        if (!keep(parser, head, len))
            return fail(parser, "out of memory");
        head = parser->kept;
    }
    if (folded)
        unfold(parser->kept, parser->kept + len);
    const char *error = parse_head(parser, head, head + len);
    if (error)
        return fail(parser, error);
    forget_kept(parser);
    return parser->state == STATE_HEAD ? HTTP_MORE : HTTP_HEAD; /* MORE: a 1xx was skipped */
}

static bool may_be_http(const char *at, size_t len)
{
    return memcmp(at, "HTTP/", len < 5 ? len : 5) == 0;
}

/* HTTP_MORE also after a 1xx with bytes left. */
static enum http_result read_head(struct http_response *parser, const char **at, const char *end)
{
    size_t fed = (size_t)(end - *at);
    size_t room = HTTP_RESPONSE_HEAD_MAX - parser->head_bytes - parser->kept_len;
    size_t before = parser->kept_len;
    bool folded = false;
    if (!fed)
        return HTTP_MORE;
    if (!room)
        return fail(parser, HEAD_TOO_LONG);
    size_t seen = fed < room ? fed : room;
    const char *head = *at;
    if (!before) {
        const char *stop = head_end(head, head + seen, &folded);
        if (!may_be_http(head, fed))
            return fail(parser, NOT_HTTP);
        if (stop) {
            *at = stop;
            return finish_head(parser, head, stop, folded);
        }
    }
    if (!keep(parser, head, seen))
        return fail(parser, "out of memory");
    if (!may_be_http(parser->kept, parser->kept_len))
        return fail(parser, NOT_HTTP);
    const char *kept_end = parser->kept + parser->kept_len;
    const char *stop = head_end(parser->kept + (before > 2 ? before - 2 : 0), kept_end, &folded);
    if (stop) {
        *at += (size_t)(stop - parser->kept) - before;
        stop = head_end(parser->kept, stop, &folded);
        return finish_head(parser, parser->kept, stop, folded);
    }
    if (fed >= room)
        return fail(parser, HEAD_TOO_LONG);
    *at = end;
    return HTTP_MORE;
}

/* ---- body ---- */

static inline enum http_result give_span(struct http_response *parser, const char **at, size_t len,
                                         const char **ret_span, size_t *ret_span_len)
{
    *ret_span = *at;
    *ret_span_len = len;
    *at += len;
    parser->body_bytes += len;
    return HTTP_SPAN;
}

static enum http_result read_chunked(struct http_response *parser, const char **at, const char *end,
                                     const char **ret_span, size_t *ret_span_len)
{
    enum http_result result = http_chunked_next(&parser->chunks, at, end, ret_span, ret_span_len);
    if (result == HTTP_SPAN)
        parser->body_bytes += *ret_span_len;
    else if (result == HTTP_END)
        parser->state = STATE_END;
    else if (result == HTTP_BAD)
        return fail(parser, parser->chunks.error);
    return result;
}

static enum http_result read_length(struct http_response *parser, const char **at, const char *end,
                                    const char **ret_span, size_t *ret_span_len)
{
    size_t fed = (size_t)(end - *at);
    size_t len = fed < parser->left ? fed : (size_t)parser->left;
    parser->left -= len;
    if (len)
        return give_span(parser, at, len, ret_span, ret_span_len);
    if (parser->left)
        return HTTP_MORE;
    parser->state = STATE_END;
    return HTTP_END;
}

enum http_result http_response_next(struct http_response *parser, const char **at, const char *end,
                                    const char **ret_span, size_t *ret_span_len)
{
    enum http_result result = HTTP_MORE;
    switch (parser->state) {
    case STATE_CHUNKED:
        return read_chunked(parser, at, end, ret_span, ret_span_len);
    case STATE_LENGTH:
        return read_length(parser, at, end, ret_span, ret_span_len);
    case STATE_CLOSE:
        return *at < end ? give_span(parser, at, (size_t)(end - *at), ret_span, ret_span_len) : HTTP_MORE;
    case STATE_END:
        return HTTP_END;
    case STATE_BAD:
        return HTTP_BAD;
    default:
        while (result == HTTP_MORE && *at < end)
            result = read_head(parser, at, end);
        return result;
    }
}

enum http_result http_response_eof(struct http_response *parser)
{
    switch (parser->state) {
    case STATE_END:
        return HTTP_END;
    case STATE_BAD:
        return HTTP_BAD;
    case STATE_CHUNKED:
        return fail(parser, http_chunked_missing(&parser->chunks));
    case STATE_HEAD:
        if (http_response_is_untouched(parser))
            return fail(parser, "the connection was closed before the first byte of an answer");
        return fail(parser, "the connection was closed inside the response head");
    default:
        if (parser->left)
            return fail(parser, "the connection was closed before Content-Length bytes had come");
        parser->state = STATE_END;
        return HTTP_END;
    }
}

bool http_response_is_untouched(const struct http_response *parser)
{
    return parser->state == STATE_HEAD && !parser->head_bytes && !parser->kept_len;
}

bool http_response_is_between(const struct http_response *parser)
{
    return !parser->kept_len && (parser->state != STATE_CHUNKED || http_chunked_is_between(&parser->chunks));
}
