/* SPDX-License-Identifier: Apache-2.0 */
#ifndef ASSAY_FETCH_WIRE_H
#define ASSAY_FETCH_WIRE_H

/*
 * What fetch and assay-fetch say to each other. Standard input of assay-fetch: one JSON object on one line (names as in
 * struct fetch_request, durations in ns, body_len), then body_len bytes. Standard output: the body of the reply.
 * Descriptor FETCH_RESULT_FD: one JSON object, {"status_code": as_status, "message", "status", "content_type", "url",
 * "redirects", "duration_ns", "body_bytes"}. The exit status is 0 whenever the result was written.
 */

#include "fetch/fetch.h"

#define FETCH_RESULT_FD        3
#define FETCH_HEADER_MAX_BYTES ((size_t)1024 * 1024)
#define FETCH_BODY_MAX_BYTES   ((size_t)256 * 1024 * 1024)
#define FETCH_RESULT_MAX_BYTES ((size_t)16 * 1024)

/* What assay-fetch reports. */
struct fetch_result {
    as_status status_code;
    char message[512];
    struct fetch_reply reply; /* body unused */
};

/* Writes the request's line, without the body. */
as_status fetch_write_request(const struct fetch_request *request, struct strbuf *out) AS_NODISCARD;
/* Reads it back; strings live in `arena`. */
struct arena;
as_status fetch_read_request(const char *line, size_t len, struct arena *arena, struct fetch_request *ret,
                             struct as_error *err) AS_NODISCARD;
as_status fetch_write_result(const struct fetch_result *result, struct strbuf *out) AS_NODISCARD;
as_status fetch_read_result(const char *text, size_t len, struct fetch_result *ret) AS_NODISCARD;

#endif
