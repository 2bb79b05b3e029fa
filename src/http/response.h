/* SPDX-License-Identifier: Apache-2.0 */
#ifndef ASSAY_HTTP_RESPONSE_H
#define ASSAY_HTTP_RESPONSE_H

/*
 * Incremental reader of HTTP/1.x responses (RFC 9112) for the measuring client: fed with whatever
 * a read returned, it gives spans of the caller's buffer; nothing is copied except a head that
 * arrives in several pieces. Reads chunked (trailers, extensions), Content-Length and
 * close-delimited bodies; skips 1xx responses. Lenient where RFC 9112 2.2 allows it to a client
 * (bare LF line ends, no reason phrase, equal duplicate Content-Length); everything else that
 * is malformed is an error. One per connection; one thread.
 */

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define HTTP_RESPONSE_HEAD_MAX ((size_t)64 * 1024)

enum http_media { HTTP_MEDIA_OTHER, HTTP_MEDIA_JSON, HTTP_MEDIA_EVENT_STREAM, HTTP_MEDIA_TEXT, HTTP_MEDIA_HTML };
enum http_coding { HTTP_CODING_IDENTITY, HTTP_CODING_GZIP, HTTP_CODING_OTHER };

/* What a response head says, as far as a client needs it. */
struct http_response_head {
    int status;                 /* 100–999 */
    int minor;                  /* HTTP/1.minor */
    bool chunked;
    bool keep_alive;            /* what the head allows, before the body ended well */
    int64_t content_length;     /* bytes, -1 = none */
    enum http_media media;      /* of Content-Type, any case, parameters ignored */
    enum http_coding coding;    /* of Content-Encoding */
    double retry_after_s;       /* Retry-After in seconds (delta or date); < 0 = absent or unreadable */
    char location[512];         /* Location, cut to fit; "" = none */
};

enum http_result {
    HTTP_MORE,  /* all bytes consumed, more needed */
    HTTP_HEAD,  /* head complete: parser->head is filled */
    HTTP_SPAN,  /* *ret_span / *ret_span_len is a piece of the body, in the caller's bytes */
    HTTP_END,   /* the response is complete; unread bytes may follow in the buffer */
    HTTP_BAD    /* malformed: parser->error says why */
};

struct http_response {
    struct http_response_head head;
    int state;
    uint64_t left;          /* bytes of the current chunk or body still to come */
    uint32_t head_bytes;    /* bytes of heads read so far, 1xx included */
    bool head_request;      /* the request was HEAD: no body */
    char *kept;             /* head or chunk-size line collected over several reads; malloc'ed lazily, freed after */
    uint32_t kept_len, kept_capacity;
    const char *error;      /* static sentence, after HTTP_BAD */
    uint64_t body_bytes;    /* decoded so far */
};

/* Ready for a new response; keeps nothing of the old one. */
void http_response_init(struct http_response *parser);
void http_response_done(struct http_response *parser);
/*
 * Consumes from [*at, end) and moves *at. Call again until HTTP_MORE, HTTP_END or HTTP_BAD. After HTTP_END call
 * http_response_init before the next response.
 */
enum http_result http_response_next(struct http_response *parser, const char **at, const char *end, const char **ret_span,
                                    size_t *ret_span_len);
/* The peer closed: HTTP_END when that ends a close-delimited body, else HTTP_BAD (error says what was missing). */
enum http_result http_response_eof(struct http_response *parser);
/* True while no byte of a response was read: a reused connection that ends here may be replaced. */
bool http_response_is_untouched(const struct http_response *parser);
/* True between parts (after a whole chunk, at a line start): nothing half-read is held. */
bool http_response_is_between(const struct http_response *parser);

#endif
