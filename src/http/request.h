/* SPDX-License-Identifier: Apache-2.0 */
#ifndef ASSAY_HTTP_REQUEST_H
#define ASSAY_HTTP_REQUEST_H

/*
 * Strict reader of HTTP/1.x request heads (RFC 9112) for servers. Works on a whole head in memory, copies nothing: all
 * texts point into it. What the RFC lets a server refuse because two readers could understand it differently is
 * refused: Transfer-Encoding with Content-Length, more than one Content-Length, bare LF and CR, folded lines, white
 * space before a colon, control characters, more than one Host. Bytes from 0x80 on (obs-text) are allowed in field
 * values only. Pure functions; any thread.
 */

#include "base/status.h"
#include "http/field.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define HTTP_REQUEST_FIELDS_MAX 100

enum http_method {
    HTTP_GET,
    HTTP_HEAD_METHOD,
    HTTP_POST,
    HTTP_PUT,
    HTTP_PATCH,
    HTTP_DELETE,
    HTTP_OPTIONS,
    HTTP_OTHER_METHOD /* any other token: see method_name */
};

struct http_field {
    struct http_text name, value; /* value without white space around it */
};

struct http_request {
    enum http_method method;
    struct http_text method_name;
    struct http_text target; /* as sent */
    struct http_text path;   /* still percent-encoded; begins with '/' (or is "*" for OPTIONS) */
    struct http_text query;  /* without '?', len 0 = none */
    struct http_text host;   /* of an absolute target, else of Host; len 0 = none (HTTP/1.0) */
    int minor;               /* 0 or 1; later minor versions count as 1 */
    bool keep_alive;         /* what version and Connection say */
    bool chunked;
    bool expects_continue;  /* Expect: 100-continue, from HTTP/1.1 on */
    int64_t content_length; /* bytes, -1 = none given */
    uint32_t field_count;
    struct http_field fields[HTTP_REQUEST_FIELDS_MAX];
};

/* Why a head was refused. */
struct http_refusal {
    int status;           /* 400, 414, 417, 431, 501 or 505 */
    const char *sentence; /* static, without a final newline */
};

/*
 * The length of the head at `at` (up to and with its blank line), 0 while it is not complete. `from`: bytes known not
 * to complete it, from an earlier call (0 is always right). Bare line feeds end lines here, so that a head with them is
 * found and refused.
 */
size_t http_request_head_length(const char *at, size_t len, size_t from);

/* Reads a head of exactly `len` bytes. False: *ret_refusal says what to answer, *ret is undefined. */
bool http_request_parse(const char *head, size_t len, struct http_request *ret, struct http_refusal *ret_refusal);

/* The first field with this name (given in lower case), len 0 and at NULL when there is none. */
struct http_text http_request_field(const struct http_request *request, const char *name);

/*
 * Percent-decodes `text` into `ret` with a NUL behind it ('+' becomes a space when `is_query`). AS_E_INVALID for a
 * malformed escape or one that gives NUL, AS_E_LIMIT when `size` is too small.
 */
as_status http_percent_decode(struct http_text text, bool is_query, char *ret, size_t size) AS_NODISCARD;

/* The decoded value of the first query parameter `name`; AS_E_NOTFOUND when there is none; else as http_percent_decode.
 */
as_status http_query_get(const struct http_request *request, const char *name, char *ret, size_t size) AS_NODISCARD;

#endif
