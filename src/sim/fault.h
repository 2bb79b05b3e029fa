/* SPDX-License-Identifier: Apache-2.0 */
#ifndef ASSAY_SIM_FAULT_H
#define ASSAY_SIM_FAULT_H

/*
 * What goes wrong with which request, written "KIND[:ARG]@WHEN":
 *
 *   429:2@0.1               one request in ten, at random by the seed, gets 429 with Retry-After: 2
 *   503@every=10            every tenth request
 *   reset:3@first=5         the first five are reset after three chunks of text
 *   stall:0@at=7            the seventh request gets no answer
 *   truncate:5@at=10-20     requests 10 to 20
 *
 * Requests are numbered from 1 in the order of their arrival, over all connections and threads. The first fault of
 * the list that applies to a request is its fate.
 */

#include "base/status.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum fault_argument { FAULT_ARG_NONE, FAULT_ARG_RETRY_AFTER, FAULT_ARG_CHUNKS, FAULT_ARG_DURATION };

/* kind, name, meaning of the argument, its value when not given, what happens */
#define FAULT_KIND_MAP(X)                                                                                              \
    X(STATUS, "400..599", RETRY_AFTER, -1, "an error answer with this status; ARG: seconds of Retry-After")            \
    X(OOM, "oom", NONE, 0, "500 whose message reports CUDA out of memory")                                             \
    X(HTML, "html", NONE, 0, "502 with a proxy's HTML page")                                                           \
    X(RESET, "reset", CHUNKS, 0, "a TCP reset after ARG chunks (0: before any byte)")                                  \
    X(CLOSE, "close", CHUNKS, 0, "the connection is closed after ARG chunks (0: before any byte)")                     \
    X(TRUNCATE, "truncate", CHUNKS, 1, "the connection is closed inside the chunk after ARG whole ones")               \
    X(STALL, "stall", CHUNKS, 0, "nothing more after ARG chunks, the connection stays open (0: no byte at all)")       \
    X(SLOW_HEADERS, "slow-headers", DURATION, 1000000000, "the response head comes ARG late")                          \
    X(STREAM_ERROR, "error-in-stream", CHUNKS, 1, "an error object as an event after ARG chunks, then [DONE]")         \
    X(BAD_EVENT, "bad-event", CHUNKS, 1, "an event with cut JSON after ARG chunks, the rest is fine")                  \
    X(UNFINISHED, "unfinished", CHUNKS, 1, "the body ends well after ARG chunks: no finish reason, usage, [DONE]")     \
    X(NO_DONE, "no-done", NONE, 0, "the stream ends without [DONE]")                                                   \
    X(NO_LAST_CHUNK, "no-last-chunk", NONE, 0, "the connection is closed after [DONE], without the last HTTP chunk")

enum fault_kind {
#define FAULT_ENUM(kind, name, argument, initial, meaning) FAULT_##kind,
    FAULT_KIND_MAP(FAULT_ENUM)
#undef FAULT_ENUM
        FAULT_KIND_COUNT
};

enum fault_when { FAULT_PROBABILITY, FAULT_EVERY, FAULT_FIRST, FAULT_AT };

struct fault {
    enum fault_kind kind;
    int status;       /* FAULT_STATUS: 400–599 */
    int64_t argument; /* chunks, ns, or seconds of Retry-After (-1 = no such field) */
    enum fault_when when;
    double probability; /* FAULT_PROBABILITY: 0–1 */
    int64_t from, to;   /* numbers of requests, inclusive; FAULT_EVERY and FAULT_FIRST use `from` */
};

/* AS_E_USAGE with a sentence that says what is allowed. */
as_status fault_parse(const char *text, struct fault *ret, struct as_error *err) AS_NODISCARD;

/* The fate of request `number` (from 1): the first fault that applies, NULL = none. Depends on its arguments alone. */
const struct fault *fault_choose(const struct fault *faults, size_t count, uint64_t seed, int64_t number);

const char *fault_name(enum fault_kind kind);

/* True when the kind needs a stream to show itself; other requests of that fate are answered normally. */
bool fault_needs_stream(enum fault_kind kind);

#endif
