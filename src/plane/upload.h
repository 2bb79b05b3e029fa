/* SPDX-License-Identifier: Apache-2.0 */
#ifndef ASSAY_PLANE_UPLOAD_H
#define ASSAY_PLANE_UPLOAD_H

/*
 * A body that is too long for memory: the loop writes it, as it arrives, to a file without a name beside the store
 * (with PostgreSQL in TMPDIR or /tmp), and the call that is made when it is whole reads it from there. When the client
 * goes away first there is no call, and the file is gone with its descriptor. At most UPLOADS_MAX at once; each is
 * limited by its route's body_bytes_max. The functions belong to the exchange's loop until upload_take; then to who has
 * the call.
 */

#include "plane/call.h"

#define UPLOADS_MAX 8

struct upload {
    const struct exchange_user *user; /* first: what x->user points to */
    struct plane *plane;
    int fd;           /* read and write; no name */
    int64_t bytes;    /* of the body so far */
    as_status status; /* of writing: AS_E_IO when there was no room */
    void *facts;      /* of the route that takes it; lives in the call's arena */
};

/* Sets x up for a streamed body. AS_E_LIMIT: too many at once; AS_E_IO, AS_E_NOMEM. */
as_status upload_begin(struct plane *plane, struct http_exchange *x) AS_NODISCARD;
void upload_add(struct http_exchange *x, const char *data, size_t len);
/* The upload of an exchange whose body is whole; NULL when there is none. */
struct upload *upload_take(struct http_exchange *x);
/* NULL does nothing. */
void upload_free(struct upload *upload);

#endif
