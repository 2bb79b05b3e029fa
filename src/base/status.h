/* SPDX-License-Identifier: Apache-2.0 */
#ifndef ASSAY_BASE_STATUS_H
#define ASSAY_BASE_STATUS_H

/*
 * The closed list of errors. Every fallible function returns as_status; out-parameters are
 * untouched on failure. What reads outside input also fills a struct as_error with the place
 * and a sentence. A request that failed against a server is never an as_status: it is an
 * outcome in its record.
 */

#include <stddef.h>
#include <stdint.h>

#define AS_NODISCARD __attribute__((warn_unused_result))
#define AS_PRINTF(fmt, args) __attribute__((format(printf, fmt, args)))

/* name, process exit code, HTTP status, sentence */
#define AS_STATUS_MAP(X)                                                                         \
    X(OK, 0, 200, "success")                                                                     \
    X(E_NOMEM, 70, 503, "out of memory")                                                         \
    X(E_USAGE, 2, 400, "the command line is wrong")                                              \
    X(E_INVALID, 65, 400, "the input is invalid")                                                \
    X(E_LIMIT, 65, 413, "a limit was exceeded")                                                  \
    X(E_NOTFOUND, 66, 404, "not found")                                                          \
    X(E_EXISTS, 73, 409, "it exists already")                                                    \
    X(E_IO, 74, 500, "reading or writing failed")                                                \
    X(E_NETWORK, 69, 502, "the network or the peer failed")                                      \
    X(E_TIMEOUT, 69, 504, "it took too long")                                                    \
    X(E_DENIED, 77, 403, "permission denied")                                                    \
    X(E_UNSUPPORTED, 64, 501, "not supported")                                                   \
    X(E_STATE, 70, 409, "not possible in this state")                                            \
    X(E_INTERRUPTED, 130, 503, "interrupted")                                                    \
    X(E_INTERNAL, 70, 500, "an internal identity does not hold")

typedef enum as_status {
#define AS_STATUS_ENUM(name, exit_code, http_status, sentence) AS_##name,
    AS_STATUS_MAP(AS_STATUS_ENUM)
#undef AS_STATUS_ENUM
} as_status;

/* The status' name ("E_INVALID"), sentence, process exit code and HTTP status. */
const char *status_name(as_status status);
const char *status_sentence(as_status status);
int status_exit_code(as_status status);
int status_http(as_status status);

/*
 * Where and why outside input was refused. `message` is one sentence that names the input, the
 * place and the remedy, without a trailing newline. line and column count from 1, 0 = unknown;
 * offset counts bytes from 0, -1 = unknown.
 */
struct as_error {
    as_status status;
    int64_t line;
    int64_t column;
    int64_t offset;
    char message[512];
};

/* Fills *err (may be NULL) with a formatted sentence and no place; returns `status`. */
as_status error_set(struct as_error *err, as_status status, const char *fmt, ...) AS_PRINTF(3, 4);

/* Same with a line (1-based, 0 = unknown) and a byte offset (-1 = unknown). */
as_status error_set_at(struct as_error *err, as_status status, int64_t line, int64_t offset, const char *fmt, ...)
    AS_PRINTF(5, 6);

/* Same, the system's text for `errnum` appended after ": ". */
as_status error_set_errno(struct as_error *err, int errnum, const char *fmt, ...) AS_PRINTF(3, 4);

/* Puts "prefix: " before the message already in *err; keeps status and place; returns the status. */
as_status error_prefix(struct as_error *err, const char *fmt, ...) AS_PRINTF(2, 3);

#endif
