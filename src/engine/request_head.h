/* SPDX-License-Identifier: Apache-2.0 */
#ifndef ASSAY_ENGINE_REQUEST_HEAD_H
#define ASSAY_ENGINE_REQUEST_HEAD_H

/*
 * The bytes of a request's head. What is the same for all requests of an endpoint is made once (request_head_init); the
 * rest is written for each request into a buffer that its slot keeps:
 *
 *   POST <prefix><path> HTTP/1.1 · Host · Accept · Content-Type · Content-Length · x-assay-id        per request
 *   User-Agent · Accept-Encoding: identity · [Connection: close] · extra header lines · empty line    per endpoint
 *
 * A header that the extra lines name replaces ours, except Content-Length. Read-only after init; any thread.
 */

#include "engine/engine.h"

#include <stddef.h>

struct request_head {
    char *line; /* "POST <prefix>" */
    size_t line_len;
    char *host; /* " HTTP/1.1\r\n" and the Host line */
    size_t host_len;
    char *fixed; /* per endpoint, ends the head */
    size_t fixed_len;
    char *id; /* "x-assay-id: <run>-", "" when replaced */
    size_t id_len;
    bool has_accept, has_content_type; /* ours are sent */
};

as_status request_head_init(struct request_head *head, const struct engine_endpoint *endpoint,
                            const struct engine_options *options, struct as_error *err) AS_NODISCARD;
void request_head_done(struct request_head *head);

/* A buffer that grows and is kept. All zero = empty. */
struct head_buffer {
    char *data;
    size_t capacity;
};
void head_buffer_done(struct head_buffer *buffer);

/* Writes the part of request `seq` into `buffer`; its length in *ret_len. AS_E_NOMEM. */
as_status request_head_write(const struct request_head *head, const struct payload *payload, int64_t seq,
                             struct head_buffer *buffer, size_t *ret_len) AS_NODISCARD;

#endif
