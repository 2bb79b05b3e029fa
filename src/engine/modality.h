/* SPDX-License-Identifier: Apache-2.0 */
#ifndef ASSAY_ENGINE_MODALITY_H
#define ASSAY_ENGINE_MODALITY_H

/*
 * The seam between the engine and what is measured: a modality builds the bytes of request number `seq` and reads the
 * answer. The engine owns slots, clocks, connections, tries and records; the modality owns meaning. One context for the
 * run, read-only after start except per-thread parts; one answer (answer_bytes, zeroed once) a slot, used by one
 * thread.
 */

#include "base/status.h"
#include "engine/record.h"
#include "http/response.h"
#include "http/sse.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/uio.h>

/* A nonce and eight media items between their JSON. */
#define PAYLOAD_PARTS_MAX 20

/* The body of a request, by reference; the bytes live until the request's end (in the context or in the answer). */
struct payload {
    const char *path;         /* under the endpoint's prefix: "/chat/completions" */
    const char *content_type; /* "application/json" */
    const char *accept;       /* "text/event-stream", "application/json", … */
    struct iovec parts[PAYLOAD_PARTS_MAX];
    uint32_t part_count;
    bool expects_stream;
    const char *prompt_id;            /* for the record */
    int64_t prompt_words, max_tokens; /* -1 = unknown / not asked */
};

/* When something of an answer arrived, ns since the run's epoch. */
struct arrival {
    int64_t ns; /* kernel stamp where there is one, else user stamp */
    int64_t user_ns;
    bool is_kernel;
};

/* How the transport ended, for answer_end. */
struct answer_close {
    bool body_complete; /* by HTTP framing */
    bool drained_early; /* given up after the end marker: unclean close */
    const char *reason; /* why not complete, "" */
};

/*
 * Per request: build once (a failure ends it: no other call but answer_done at the very end of the run), begin once at
 * each try, end once after the last try. Within a try that got a 2xx answer: event per event of a stream and read_end
 * after each of its reads, or body once with the whole decoded body ("" of 0 bytes when there was none). Nothing is
 * given of a body that was cut off, too large or coded. For statuses other than 2xx the engine classifies by status and
 * gives the body's first 64 KiB through body.
 *
 * begin: `head` is valid until end; a try without an answer has begin with a head that is all zero (status 0) and
 * is_stream false, so that begin always forgets the try before. is_stream tells which of event and body will come.
 *
 * end: `record` holds what the engine knows: numbers, instants of sending and of the end (done_ns is the end marker's
 * arrival where event returned true), stamp and client_lag_ns of the last read, and, when the transport, the deadline
 * or the status decided, outcome, error_type and error_message. An answer judged by the transport as cut off may be
 * given a more telling error here, never a success; the other verdicts stand. An outcome that is still ok is the
 * modality's to judge.
 */
struct modality {
    const char *tool; /* "llm" */
    size_t answer_bytes;
    size_t max_body_bytes; /* larger answers fail as body errors */
    /* A failure refuses the request: record with outcome refused and err's sentence. Called off the clock (before
     * sent_ns). */
    as_status (*build)(void *context, void *answer, int64_t seq, struct payload *ret, struct as_error *err);
    void (*begin)(void *context, void *answer, const struct http_response_head *head, bool is_stream);
    /* Returns true when the answer is complete (end marker): the engine takes done_ns from this arrival and drains. */
    bool (*event)(void *context, void *answer, const struct sse_event *event, const struct arrival *arrival);
    void (*body)(void *context, void *answer, const char *data, size_t len, const struct arrival *arrival);
    /*
     * A read ended: of the events in it only the last is exact, and only when `last_is_exact`; earlier ones are
     * censored. May be NULL.
     */
    void (*read_end)(void *context, void *answer, bool last_is_exact);
    /* Judges the answer and fills the record: outcome, error, flags, instants, counts, texts (living in the answer). */
    void (*end)(void *context, void *answer, const struct answer_close *close, const struct sse_reader *sse,
                struct request_record *record);
    /* Frees what an answer holds. May be NULL. */
    void (*answer_done)(void *context, void *answer);
};

#endif
