/* SPDX-License-Identifier: Apache-2.0 */
#ifndef ASSAY_FETCH_FETCH_H
#define ASSAY_FETCH_FETCH_H

/*
 * HTTP requests that are not measured: prompt files, model lists, health checks, metrics. Each is made by the program
 * assay-fetch (libcurl), started for it, so that nothing else links libcurl. The request goes to its standard input, so
 * that no secret is in an argument list; the body comes back through a pipe or straight into a file.
 *
 * Only http and https, also for redirects. A redirect is followed at most `max_redirects` times; headers of the
 * request, the key among them, go to the scheme, host and port of the first URL only; https is never left for http; a
 * POST is repeated as a POST (307, 308) or the redirect is an error, never turned into a GET. No proxy but the one
 * given: the environment's are not looked at. No cookies, no user-info from .netrc. Compressed answers are unpacked,
 * and the limit counts unpacked bytes.
 *
 * A status other than 2xx is no error here: fetch_reply.status tells. Blocks until the reply, the deadline or a
 * failure; any thread.
 */

#include "base/status.h"
#include "base/strbuf.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define FETCH_TIMEOUT_DEFAULT_NS    (INT64_C(30) * 1000000000)
#define FETCH_MAX_BYTES_DEFAULT     ((size_t)64 * 1024 * 1024)
#define FETCH_MAX_REDIRECTS_DEFAULT 5
#define FETCH_URL_MAX_BYTES         ((size_t)8192)

/* Zeroed members mean the defaults. */
struct fetch_request {
    const char *url;            /* http:// or https:// */
    const char *method;         /* NULL = GET, or POST when there is a body */
    const char *const *headers; /* "Name: value" */
    size_t header_count;
    const char *bearer; /* sent as Authorization: Bearer; never shown */
    const char *body;   /* NULL = none */
    size_t body_len;
    int64_t timeout_ns;         /* of the whole, redirects included; 0 = 30 s */
    int64_t connect_timeout_ns; /* 0 = the timeout */
    size_t max_bytes;           /* of the body, 0 = 64 MiB */
    int max_redirects;          /* 0 = 5, < 0 = none: a redirect is then an ordinary reply */
    const char *ca_cert;        /* file or folder of PEM, NULL = the system's */
    bool insecure;              /* TLS without verification */
    const char *proxy;          /* http://host:port, NULL = none */
    const char *unix_socket;    /* path to connect to instead of the URL's host, NULL = none */
    const char *output_path;    /* where a 2xx body is put once it is complete; NULL = into the reply */
};

struct fetch_reply {
    int status;             /* of the last response */
    char content_type[128]; /* "" = none, cut to fit */
    char url[1024];         /* where the reply came from, without user-info and query, cut to fit */
    int redirects;
    uint64_t body_bytes;
    int64_t duration_ns; /* from the start of the request to its end, as libcurl saw it */
    struct strbuf body;  /* empty with output_path */
};

/*
 * AS_E_TIMEOUT, AS_E_NETWORK (no connection, TLS, broken off, refused redirect), AS_E_LIMIT (body larger than allowed),
 * AS_E_INVALID (URL, headers), AS_E_NOTFOUND (assay-fetch is not installed), AS_E_IO (output_path), AS_E_NOMEM;
 * err->message says what and never holds a secret. On success *ret is to be freed by fetch_reply_done.
 */
as_status fetch_run(const struct fetch_request *request, struct fetch_reply *ret, struct as_error *err) AS_NODISCARD;
void fetch_reply_done(struct fetch_reply *reply);

/* True when `source` begins with http:// or https:// in any case. */
bool fetch_is_url(const char *source);

#endif
