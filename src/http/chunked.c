/* SPDX-License-Identifier: Apache-2.0 */
#include "http/chunked.h"

#include "http/field.h"

enum state {
    STATE_SIZE_START, /* at the first digit of a chunk size */
    STATE_SIZE,       /* inside the digits */
    STATE_SIZE_BLANK, /* white space after the digits */
    STATE_EXTENSION,  /* after ';' in a chunk-size line */
    STATE_SIZE_LF,    /* LF of a chunk-size line is next */
    STATE_CHUNK,      /* chunk data, `left` more bytes */
    STATE_CHUNK_CR,   /* CR LF after chunk data is next */
    STATE_CHUNK_LF,
    STATE_TRAILER,      /* at the start of a trailer line */
    STATE_TRAILER_NAME, /* before its colon */
    STATE_TRAILER_VALUE,
    STATE_TRAILER_LF, /* LF of a trailer line is next */
    STATE_FINAL_LF,   /* LF of the blank line after the trailers is next */
    STATE_END,
    STATE_BAD
};

void http_chunked_init(struct http_chunked *chunked, bool strict)
{
    *chunked = (struct http_chunked){.strict = strict};
}

static enum http_result fail(struct http_chunked *chunked, const char *sentence)
{
    chunked->state = STATE_BAD;
    chunked->error = sentence;
    return HTTP_BAD;
}

/* A chunk-size line of up to 8 digits and nothing else, whole in the fed bytes: the byte after it; else NULL. */
static inline const char *quick_size(const char *at, const char *end, uint64_t *ret)
{
    const char *stop = end - at > 10 ? at + 8 : at;
    uint64_t size = 0;
    const char *p = at;
    for (; p < stop; p++) {
        int digit = http_hex_value((unsigned char)*p);
        if (digit < 0)
            break;
        size = size << 4 | (unsigned)digit;
    }
    if (p == at || p[0] != '\r' || p[1] != '\n')
        return NULL;
    *ret = size;
    return p + 2;
}

static void start_chunk(struct http_chunked *chunked)
{
    chunked->line_bytes = 0;
    chunked->state = chunked->left ? STATE_CHUNK : STATE_TRAILER;
}

/* The state after byte `c` of a chunk-size line; STATE_BAD when it has no place there. */
static int size_line_step(struct http_chunked *chunked, unsigned char c)
{
    int digit = http_hex_value(c);
    switch (chunked->state) {
    case STATE_SIZE_START:
    case STATE_SIZE:
        if (digit >= 0 && chunked->left >> 56)
            return STATE_BAD;
        if (digit >= 0) {
            chunked->left = chunked->left << 4 | (unsigned)digit;
            return STATE_SIZE;
        }
        if (chunked->state == STATE_SIZE_START)
            return STATE_BAD;
        break;
    case STATE_SIZE_LF:
        return c == '\n' ? STATE_CHUNK : STATE_BAD;
    case STATE_EXTENSION:
        if (c == '\t' || (c >= ' ' && c != 0x7f))
            return STATE_EXTENSION;
        break;
    default:
        break;
    }
    if (c == '\r')
        return STATE_SIZE_LF;
    if (c == ';')
        return STATE_EXTENSION;
    return c == ' ' || c == '\t' ? STATE_SIZE_BLANK : STATE_BAD;
}

/* HTTP_MORE also when the line is complete: the state has changed then. */
static enum http_result read_size_line(struct http_chunked *chunked, const char **at, const char *end)
{
    if (chunked->state == STATE_SIZE_START) {
        const char *after = quick_size(*at, end, &chunked->left);
        if (after) {
            *at = after;
            start_chunk(chunked);
            return HTTP_MORE;
        }
    }
    for (const char *p = *at; p < end; p++) {
        int next = size_line_step(chunked, (unsigned char)*p);
        if (next == STATE_BAD || ++chunked->line_bytes > HTTP_CHUNK_LINE_MAX)
            return fail(chunked, chunked->left >> 56 ? "a chunk size is too large" : "a chunk size is malformed");
        chunked->state = (uint8_t)next;
        if (next == STATE_CHUNK) {
            start_chunk(chunked);
            *at = p + 1;
            return HTTP_MORE;
        }
    }
    *at = end;
    return HTTP_MORE;
}

/* CR LF after chunk data, in two reads or after a quick path that saw something else. */
static enum http_result read_chunk_end(struct http_chunked *chunked, const char **at, const char *end)
{
    while (*at < end && chunked->state != STATE_SIZE_START) {
        if (**at != (chunked->state == STATE_CHUNK_CR ? '\r' : '\n'))
            return fail(chunked, "a chunk is not followed by CR LF");
        chunked->state = chunked->state == STATE_CHUNK_CR ? STATE_CHUNK_LF : STATE_SIZE_START;
        ++*at;
    }
    return HTTP_MORE;
}

static int trailer_step(const struct http_chunked *chunked, unsigned char c)
{
    switch (chunked->state) {
    case STATE_TRAILER:
        if (c == '\r')
            return STATE_FINAL_LF;
        if (c == '\n' && !chunked->strict)
            return STATE_END;
        if ((c == ' ' || c == '\t') && chunked->line_bytes && !chunked->strict)
            return STATE_TRAILER_VALUE; /* a folded line */
        return http_is_token_char(c) ? STATE_TRAILER_NAME : STATE_BAD;
    case STATE_TRAILER_NAME:
        if (c == ':')
            return STATE_TRAILER_VALUE;
        return http_is_token_char(c) ? STATE_TRAILER_NAME : STATE_BAD;
    case STATE_TRAILER_VALUE:
        if (c == '\n' && !chunked->strict)
            return STATE_TRAILER;
        if (c == '\r')
            return STATE_TRAILER_LF;
        if (chunked->strict)
            return http_is_value_char(c) ? STATE_TRAILER_VALUE : STATE_BAD;
        return c ? STATE_TRAILER_VALUE : STATE_BAD;
    case STATE_TRAILER_LF:
        return c == '\n' ? STATE_TRAILER : STATE_BAD;
    default:
        return c == '\n' ? STATE_END : STATE_BAD;
    }
}

static enum http_result read_trailers(struct http_chunked *chunked, const char **at, const char *end)
{
    const char *p = *at;
    while (p < end && chunked->state != STATE_END) {
        int next = trailer_step(chunked, (unsigned char)*p++);
        if (next == STATE_BAD)
            return fail(chunked, "a trailer line is malformed");
        if (++chunked->line_bytes > HTTP_TRAILER_MAX)
            return fail(chunked, "the trailers pass 16 KiB");
        chunked->state = (uint8_t)next;
    }
    *at = p;
    return HTTP_MORE;
}

/* A piece of a chunk; steps over the CR LF behind it when that was fed too. */
static inline enum http_result read_chunk(struct http_chunked *chunked, const char **at, const char *end,
                                          const char **ret_span, size_t *ret_span_len)
{
    size_t fed = (size_t)(end - *at);
    size_t len = fed < chunked->left ? fed : (size_t)chunked->left;
    *ret_span = *at;
    *ret_span_len = len;
    *at += len;
    chunked->left -= len;
    if (chunked->left)
        return len ? HTTP_SPAN : HTTP_MORE;
    chunked->state = STATE_CHUNK_CR;
    if (end - *at >= 2 && (*at)[0] == '\r' && (*at)[1] == '\n') {
        *at += 2;
        chunked->state = STATE_SIZE_START;
    }
    return HTTP_SPAN;
}

enum http_result http_chunked_next(struct http_chunked *chunked, const char **at, const char *end,
                                   const char **ret_span, size_t *ret_span_len)
{
    enum http_result result = HTTP_MORE;
    while (result == HTTP_MORE) {
        if (chunked->state == STATE_END)
            return HTTP_END;
        if (chunked->state == STATE_BAD)
            return HTTP_BAD;
        if (*at == end)
            return HTTP_MORE;
        if (chunked->state == STATE_CHUNK)
            result = read_chunk(chunked, at, end, ret_span, ret_span_len);
        else if (chunked->state < STATE_CHUNK)
            result = read_size_line(chunked, at, end);
        else if (chunked->state < STATE_TRAILER)
            result = read_chunk_end(chunked, at, end);
        else
            result = read_trailers(chunked, at, end);
    }
    return result;
}

const char *http_chunked_missing(const struct http_chunked *chunked)
{
    if (chunked->state == STATE_CHUNK)
        return "the connection was closed inside a chunk";
    if (chunked->state < STATE_TRAILER)
        return "the connection was closed before the last chunk";
    return "the connection was closed before the end of the trailers";
}

bool http_chunked_is_between(const struct http_chunked *chunked)
{
    return chunked->state == STATE_SIZE_START || chunked->state == STATE_TRAILER || chunked->state == STATE_END;
}
