/* SPDX-License-Identifier: Apache-2.0 */
#ifndef ASSAY_HTTP_CHUNKED_H
#define ASSAY_HTTP_CHUNKED_H

/*
 * Incremental reader of the chunked transfer coding (RFC 9112 7.1), for responses and requests alike: gives spans of
 * the caller's bytes, copies nothing. Chunk extensions are skipped, trailers are checked and dropped. CR LF is required
 * around chunks; trailer lines may end in a bare LF or be folded unless `strict`. Sizes from 2^60 on are an error. One
 * thread.
 */

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define HTTP_TRAILER_MAX    ((size_t)16 * 1024) /* all trailer lines */
#define HTTP_CHUNK_LINE_MAX ((size_t)4096)      /* a chunk size with its extensions */

/* What a reader has found; HTTP_HEAD comes from http/response.h only. */
enum http_result {
    HTTP_MORE, /* all bytes consumed, more needed */
    HTTP_HEAD, /* head complete */
    HTTP_SPAN, /* *ret_span / *ret_span_len is a piece of the body, in the caller's bytes */
    HTTP_END,  /* the message is complete; unread bytes may follow in the buffer */
    HTTP_BAD   /* malformed: the reader's `error` says why */
};

struct http_chunked {
    uint64_t left;       /* of the current chunk, or its size as far as it was read */
    uint32_t line_bytes; /* of the chunk-size line or the trailers being read */
    uint8_t state;
    bool strict;
    const char *error; /* static sentence, after HTTP_BAD */
};

void http_chunked_init(struct http_chunked *chunked, bool strict);
/* Consumes from [*at, end) and moves *at; call again until HTTP_MORE, HTTP_END or HTTP_BAD. */
enum http_result http_chunked_next(struct http_chunked *chunked, const char **at, const char *end,
                                   const char **ret_span, size_t *ret_span_len);
/* Why the end of the input here is too early, a static sentence. */
const char *http_chunked_missing(const struct http_chunked *chunked);
/* True after a whole chunk and its CR LF, before the first one, and at the start of a trailer line. */
bool http_chunked_is_between(const struct http_chunked *chunked);

#endif
