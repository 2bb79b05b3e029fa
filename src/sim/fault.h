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

enum sim_fault_argument { SIM_FAULT_ARG_NONE, SIM_FAULT_ARG_RETRY_AFTER, SIM_FAULT_ARG_CHUNKS, SIM_FAULT_ARG_DURATION };

/* kind, name, meaning of the argument, its value when not given, what happens */
#define SIM_FAULT_KIND_MAP(X)                                                                                          \
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
    X(NO_LAST_CHUNK, "no-last-chunk", NONE, 0, "the connection is closed after [DONE], without the last HTTP chunk")   \
    X(BAD_BASE64, "bad-base64", NONE, 0, "images: a character outside the alphabet")                                   \
    X(CUT_IMAGE, "cut-image", NONE, 0, "images: base64 of half an image")                                              \
    X(FEWER_IMAGES, "fewer-images", NONE, 0, "images: one less than asked for")                                        \
    X(NO_DATA, "no-data", NONE, 0, "images: an answer without data")

enum sim_fault_kind {
#define SIM_FAULT_ENUM(kind, name, argument, initial, meaning) SIM_FAULT_##kind,
    SIM_FAULT_KIND_MAP(SIM_FAULT_ENUM)
#undef SIM_FAULT_ENUM
        SIM_FAULT_KIND_COUNT
};

enum sim_fault_when { SIM_FAULT_PROBABILITY, SIM_FAULT_EVERY, SIM_FAULT_FIRST, SIM_FAULT_AT };

struct sim_fault {
    enum sim_fault_kind kind;
    int status;       /* of an error answer: 400–599; else 0 */
    int64_t argument; /* chunks, ns, or seconds of Retry-After (-1 = no such field) */
    enum sim_fault_when when;
    double probability; /* SIM_FAULT_PROBABILITY: 0–1 */
    int64_t from, to;   /* numbers of requests, inclusive; SIM_FAULT_EVERY and SIM_FAULT_FIRST use `from` */
};

/* AS_E_USAGE with a sentence that says what is allowed. */
as_status sim_fault_parse(const char *text, struct sim_fault *ret, struct as_error *err) AS_NODISCARD;

/* The fate of request `number` (from 1): the first fault that applies, NULL = none. Depends on its arguments alone. */
const struct sim_fault *sim_fault_choose(const struct sim_fault *faults, size_t count, uint64_t seed, int64_t number);

const char *sim_fault_name(enum sim_fault_kind kind);

/* True when the kind needs a stream to show itself; other requests of that fate are answered normally. */
bool sim_fault_needs_stream(enum sim_fault_kind kind);
/* The same for image generation. */
bool sim_fault_needs_images(enum sim_fault_kind kind);

#endif
