/* SPDX-License-Identifier: Apache-2.0 */
#ifndef ASSAY_PLANE_PROBLEM_H
#define ASSAY_PLANE_PROBLEM_H

/*
 * Why a call was refused, as application/problem+json (RFC 9457): a kind from a closed list, one sentence, and for
 * input the members that are wrong, each with its JSON pointer (RFC 6901). One call's; no locks.
 */

#include "base/json_write.h"
#include "base/status.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* name (in `type`, after "urn:assay:problem:"), HTTP status, title */
#define PROBLEM_MAP(X)                                                                                                 \
    X(MALFORMED, "malformed", 400, "The request cannot be read")                                                       \
    X(UNAUTHENTICATED, "unauthenticated", 401, "Who asks is not known")                                                \
    X(FORBIDDEN, "forbidden", 403, "Not allowed for this role or token")                                               \
    X(ORIGIN, "foreign-origin", 403, "The request comes from another site")                                            \
    X(NOTFOUND, "not-found", 404, "There is no such thing")                                                            \
    X(METHOD, "method-not-allowed", 405, "Not by this method")                                                         \
    X(EXISTS, "exists", 409, "The natural key is taken")                                                               \
    X(STATE, "state", 409, "Not possible in this state")                                                               \
    X(READINESS, "not-ready", 409, "A readiness check stops this")                                                     \
    X(REVISION, "revision", 412, "It was changed by somebody else")                                                    \
    X(TOO_LARGE, "too-large", 413, "Larger than allowed")                                                              \
    X(MEDIA, "media-type", 415, "The body is of another type")                                                         \
    X(INVALID, "invalid", 422, "Members are wrong")                                                                    \
    X(UPGRADE, "upgrade-required", 426, "The agent and the server are too far apart")                                  \
    X(KEY_REUSED, "idempotency-key-reused", 422, "The Idempotency-Key was used for another request")                   \
    X(TOO_MANY, "too-many", 429, "Too many tries")                                                                     \
    X(INTERNAL, "internal", 500, "The server failed")                                                                  \
    X(UNSUPPORTED, "unsupported", 501, "Not supported")                                                                \
    X(BUSY, "busy", 503, "The server is busy")

enum problem_kind {
#define PROBLEM_ENUM(name, text, status, title) PROBLEM_##name,
    PROBLEM_MAP(PROBLEM_ENUM)
#undef PROBLEM_ENUM
        PROBLEM_KINDS
};

int problem_status(enum problem_kind kind);
const char *problem_name(enum problem_kind kind);
const char *problem_title(enum problem_kind kind);

#define PROBLEM_ERRORS_MAX 16

/* One wrong member. */
struct problem_error {
    char pointer[160]; /* "/concurrency", "/values/3/key", "" = the whole body; of a query: "?limit" */
    const char *code;  /* "unknown", "required", "type", "range", "length", "spelling", "choice", "reference", … */
    char detail[240];
};

struct problem {
    bool is_set;
    enum problem_kind kind;
    char detail[400];
    uint32_t error_count;
    struct problem_error errors[PROBLEM_ERRORS_MAX]; /* more than these are not kept */
    int retry_after_s;                               /* 0 = none */
};

/* Sets kind and sentence (the first one stays). Returns the as_status that stands for it, never AS_OK. */
as_status problem_set(struct problem *problem, enum problem_kind kind, const char *fmt, ...) AS_PRINTF(3, 4);
/* Adds a wrong member; the kind becomes PROBLEM_INVALID when none was set. `code` is static. */
as_status problem_add(struct problem *problem, const char *pointer, const char *code, const char *fmt, ...)
    AS_PRINTF(4, 5);
/* The problem that a status stands for when nothing was said. */
void problem_from_status(struct problem *problem, as_status status, const struct as_error *err);

void problem_write(const struct problem *problem, struct json_writer *writer);

#endif
