/* SPDX-License-Identifier: Apache-2.0 */
#ifndef ASSAY_HTTP_RESPONSE_H
#define ASSAY_HTTP_RESPONSE_H

/*
 * Incremental reader of HTTP/1.x responses (RFC 9112) for the measuring client: fed with whatever
 * a read returned, it gives spans of the caller's buffer; nothing is copied except a head that
 * arrives in several pieces. Reads chunked (trailers, extensions), Content-Length and
 * close-delimited bodies; skips 1xx responses (101 is an error: nothing was asked to switch). Lenient where RFC 9112
 * allows or asks it of a client: bare LF ends the start line, header and trailer lines (2.2), no reason phrase, folded
 * lines (5.2), equal duplicate Content-Length. Everything else that is malformed is an error. One per connection; one
 * thread.
 *
 * Framing decisions (RFC 9112 6.3): Transfer-Encoding beside Content-Length wins and ends the connection's reuse, as it
 * does in HTTP/1.0; a transfer coding other than "chunked" is an error, but "identity" alone, which old servers send,
 * is read to the close; two different Content-Length values are an error; chunk sizes pass 2^60 only as an error.
 */

#include "http/chunked.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define HTTP_RESPONSE_HEAD_MAX ((size_t)64 * 1024) /* all heads of a response, 1xx included */

enum http_media { HTTP_MEDIA_OTHER, HTTP_MEDIA_JSON, HTTP_MEDIA_EVENT_STREAM, HTTP_MEDIA_TEXT, HTTP_MEDIA_HTML };
enum http_coding { HTTP_CODING_IDENTITY, HTTP_CODING_GZIP, HTTP_CODING_OTHER };

/* What a response head says, as far as a client needs it. */
struct http_response_head {
    int status; /* 100–999 */
    int minor;  /* HTTP/1.minor */
    bool chunked;
    bool keep_alive;        /* what the head allows, before the body ended well */
    int64_t content_length; /* bytes, -1 = none */
    enum http_media media; /* of Content-Type, any case, parameters ignored; "…+json" is JSON, other "text/…" TEXT */
    enum http_coding coding; /* of Content-Encoding */
    double retry_after_s;    /* Retry-After in seconds (delta or date); < 0 = absent or unreadable */
    char location[512];      /* Location, cut to fit; "" = none */
};

/*
 * The last response head that was parsed, for many connections of one thread: an equal head means the same. Most heads of a server differ
 * only when its Date does. Starts zeroed; a head with Retry-After is not kept, since a date in it is relative to now.
 */
#define HTTP_HEAD_MEMO_BYTES 1024
struct http_head_memo {
    size_t len; /* 0 = none */
    struct http_response_head head;
    uint8_t framing[8]; /* reader's */
    char bytes[HTTP_HEAD_MEMO_BYTES];
};

struct http_response {
    struct http_response_head head;
    struct http_head_memo *memo; /* set by the caller after http_response_init; NULL = none */
    struct http_chunked chunks;
    uint64_t left;       /* of Content-Length bytes still to come */
    uint64_t body_bytes; /* decoded so far */
    uint32_t head_bytes; /* bytes of heads read so far, 1xx included */
    int state;
    bool head_request; /* set it after init when the request was HEAD: no body */
    char *kept;        /* head collected over several reads; malloc'ed lazily, freed when it is complete */
    uint32_t kept_len, kept_capacity;
    const char *error; /* static sentence, after HTTP_BAD */
};

/* Ready for a new response; keeps nothing of the old one, frees nothing: only for a new struct or after HTTP_END. */
void http_response_init(struct http_response *parser);
/* Frees what an unfinished response holds. The struct may be initialised again. */
void http_response_done(struct http_response *parser);
/*
 * Consumes from [*at, end) and moves *at; HTTP_HEAD: parser->head is filled. Call again until HTTP_MORE, HTTP_END or
 * HTTP_BAD; also with *at == end, since the end of a response needs no byte of its own. After HTTP_END call
 * http_response_init before the next response. After HTTP_BAD every further call gives HTTP_BAD.
 */
enum http_result http_response_next(struct http_response *parser, const char **at, const char *end,
                                    const char **ret_span, size_t *ret_span_len);
/* The peer closed: HTTP_END when that ends a close-delimited body, else HTTP_BAD (error says what was missing). */
enum http_result http_response_eof(struct http_response *parser);
/* True while no byte of a response was read: a reused connection that ends here may be replaced. */
bool http_response_is_untouched(const struct http_response *parser);
/* True between parts (after a whole chunk, at a line start): nothing half-read is held. */
bool http_response_is_between(const struct http_response *parser);

#endif
