/* SPDX-License-Identifier: Apache-2.0 */
#ifndef ASSAY_ENGINE_RECORD_H
#define ASSAY_ENGINE_RECORD_H

/*
 * What is known of one request when it has ended. The engine fills one per request, its tries inside, and hands it to
 * the sink; pointers in it are valid during that call only. Instants are ns since the run's monotonic epoch, durations
 * ns, counts as named; -1 = unknown or not reached, written as null.
 *
 * Identity: every request that was sent or refused has exactly one record.
 */

#include "base/clock.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* clang-format off */
/* name in the output */
#define OUTCOME_MAP(X)                                                                                                 \
    X(OK, "ok") X(FAILED, "failed") X(TIMED_OUT, "timed_out") X(CANCELLED, "cancelled") X(REFUSED, "refused")
enum outcome {
#define OUTCOME_ENUM(name, text) OUTCOME_##name,
    OUTCOME_MAP(OUTCOME_ENUM)
#undef OUTCOME_ENUM
    OUTCOME_COUNT
};

/* Measured unless warm-up or completed inside the ramp. BOUNDARY: measured, but begun inside the ramp. */
#define PHASE_MAP(X) X(WARMUP, "warmup") X(RAMP_UP, "ramp_up") X(BOUNDARY, "boundary") X(MEASURED, "measured")
enum phase {
#define PHASE_ENUM(name, text) PHASE_##name,
    PHASE_MAP(PHASE_ENUM)
#undef PHASE_ENUM
    PHASE_COUNT
};

/* The closed list of errors: the spec's, then ours, then those of image generation. */
#define ERROR_TYPE_MAP(X)                                                                                              \
    X(NONE, "")                                                                                                        \
    X(RATE_LIMIT, "rate_limit") X(AUTH, "auth") X(BAD_REQUEST, "bad_request") X(SERVER_ERROR, "server_error")          \
    X(TIMEOUT, "timeout") X(CONNECTION, "connection") X(BODY, "body") X(DECODE, "decode") X(REDIRECT, "redirect")      \
    X(HTTP_OTHER, "http_other") X(SERVER_REPORTED, "server_reported") X(SCHEMA, "schema")                              \
    X(IMG_HTTP, "http_error") X(IMG_SCHEMA, "schema_error") X(IMG_DECODE, "decode_error")                              \
    X(IMG_ARTIFACT, "artifact_error") X(IMG_CONNECTION, "connection_error") X(IMG_REQUEST, "request_error")
enum error_type {
#define ERROR_TYPE_ENUM(name, text) ERROR_TYPE_##name,
    ERROR_TYPE_MAP(ERROR_TYPE_ENUM)
#undef ERROR_TYPE_ENUM
    ERROR_TYPE_COUNT
};

/* Things a reader should see on a record that is not (only) failed: bit, name, meaning. */
#define RECORD_FLAG_MAP(X)                                                                                             \
    X(0, NO_OUTPUT, "no_output", "a success without any output text, reasoning or tool call")                          \
    X(1, UNCLEAN_CLOSE, "unclean_close", "the answer was complete but the HTTP body never ended")                      \
    X(2, DAMAGED_EVENT, "damaged_event", "a data event was not JSON")                                                  \
    X(3, STRAY_LINE, "stray_line", "lines in the stream that belong to no event")                                      \
    X(4, JSON_FOR_STREAM, "json_for_stream", "a stream was asked for, one JSON body came")                             \
    X(5, STREAM_FOR_JSON, "stream_for_json", "one body was asked for, a stream came")                                  \
    X(6, RECONNECTED, "reconnected", "a kept-alive connection was dead; sent again on a fresh one")                    \
    X(7, SHARED_READ, "shared_read", "the first content event shared a read: its time is an upper bound")              \
    X(8, USAGE_SHRANK, "usage_shrank", "a later usage object was smaller than an earlier one")                         \
    X(9, NO_DONE, "no_done", "the stream finished without its [DONE] marker")                                          \
    X(10, ZERO_TOKENS, "zero_tokens", "a success with completion_tokens 0")                                            \
    X(11, LATE_SEND, "late_send", "sent more than 1 ms after it was due")                                              \
    X(12, LOCAL_LIMIT, "local_limit", "failed at a limit of this machine (descriptors, ports)")                        \
    X(13, INVALID_UTF8, "invalid_utf8", "the text held invalid UTF-8, replaced by U+FFFD")                             \
    X(14, LENGTH_IGNORED, "length_ignored", "more completion tokens than were allowed")                                \
    X(15, CONTENT_CUT, "content_cut", "saved content was cut at its limit")                                            \
    X(16, FORMAT_MISMATCH, "format_mismatch", "the answer has another format than was asked for")                      \
    X(17, COUNT_MISMATCH, "count_mismatch", "the answer has another number of items than was asked for")               \
    X(18, EJECTED, "ejected", "the last of the failures that took its endpoint out for a while")
enum record_flag {
#define RECORD_FLAG_ENUM(bit, name, text, meaning) RECORD_FLAG_##name = 1u << (bit),
    RECORD_FLAG_MAP(RECORD_FLAG_ENUM)
#undef RECORD_FLAG_ENUM
};

/* How the first-content (or, without a stream, the end) instant was taken. */
#define RECORD_STAMP_MAP(X) X(NONE, "") X(KERNEL, "kernel") X(USER, "user") X(CENSORED, "censored")
enum record_stamp {
#define RECORD_STAMP_ENUM(name, text) RECORD_STAMP_##name,
    RECORD_STAMP_MAP(RECORD_STAMP_ENUM)
#undef RECORD_STAMP_ENUM
    RECORD_STAMP_COUNT
};

/* clang-format on */

/* Names in the output; "" for a value outside the enum. */
const char *outcome_name(enum outcome outcome);
const char *phase_name(enum phase phase);
const char *error_type_name(enum error_type type);
const char *record_stamp_name(enum record_stamp stamp);

#define RECORD_ATTEMPTS_MAX 16
#define RECORD_ID_BYTES     64

/* One try. */
struct record_attempt {
    int64_t start_ns;    /* instant */
    int64_t done_ns;     /* instant */
    int32_t http_status; /* -1 = none */
    uint8_t error_type;  /* enum error_type, NONE = ok */
    uint8_t reused;      /* on a kept-alive connection */
    uint16_t endpoint;
};

/* A byte string of the record, valid while the record is handed over; at NULL = null. */
struct record_text {
    const char *at;
    size_t len;
};

/* A bucket of the log-linear histogram that measure keeps gaps in (stats/histogram.h), and how many gaps it holds. */
struct record_bucket {
    uint32_t index;
    uint32_t count;
};

/* Gaps between successive content chunks of one answer. */
struct record_gap_stats {
    int64_t n, sum_ns, min_ns, max_ns;   /* extremes -1 while n is 0 */
    uint64_t sum_squares[2];             /* ns², low and high 64 bits */
    const struct record_bucket *buckets; /* ascending, each count ≥ 1; Σ counts = n */
    uint32_t bucket_count;
};

struct request_record {
    int64_t seq;                               /* place in the plan, from 0; shards keep the plan's numbers */
    char prompt_id[RECORD_ID_BYTES];           /* id or line number of the prompt / sample, NUL-terminated */
    uint32_t endpoint;                         /* index of the last try's endpoint */
    uint8_t phase, outcome, error_type, stamp; /* enums above */
    uint32_t flags;                            /* enum record_flag */
    int32_t http_status;                       /* -1 = none; of the last try */
    bool usage_missing, done_seen, reused, oom;
    double retry_after_s; /* < 0 = none */
    /* instants */
    int64_t due_ns;     /* planned send time (open loop), -1 in a closed loop */
    int64_t sent_ns;    /* permit held, whole request in memory, before DNS, connect and TLS; first try's */
    int64_t written_ns; /* last byte handed to the kernel; last try's, as all below */
    int64_t first_byte_ns, first_event_ns, role_ns, first_reasoning_ns, first_content_ns, first_tool_ns;
    int64_t last_content_ns, usage_ns, done_mark_ns; /* done_mark: [DONE] */
    int64_t done_ns; /* end of the answer: [DONE] where there is one, else end of the body; or of the failure */
    /* durations; those of the metrics are derived by record_derive */
    int64_t dns_duration_ns, connect_duration_ns, tls_duration_ns; /* -1 on a reused connection */
    int64_t response_time_ns, response_latency_ns, ttft_ns, ttft_spec_ns, ttfr_ns, tpot_ns, tpot_spec_ns,
        queue_delay_ns;
    int64_t client_lag_ns; /* user − kernel stamp of the read that held the first content (else the end), -1 = no kernel
                              stamp */
    /* counts */
    int64_t events, content_chunks, censored_chunks; /* censored: content chunks that shared a read with a later one */
    int64_t prompt_tokens, completion_tokens, total_tokens, reasoning_tokens, cached_tokens;
    int64_t prompt_words, completion_words, max_tokens; /* max_tokens: asked for, -1 = not */
    int64_t bytes_sent, bytes_received;
    int64_t damaged_events;
    char finish_reason[32]; /* "" = none */
    /* texts */
    struct record_text error_message; /* one sentence, ≤ 1 KiB, valid UTF-8, secrets removed */
    struct record_text content, reasoning,
        tool_arguments;               /* JSON texts (string, or array by choice), only when saved */
    struct record_text modality_json; /* JSON object text of the modality's own block, at NULL = none */
    /* gaps between successive content chunks in ns, as LEB128 unsigned numbers; at NULL = none kept */
    struct record_text gaps;
    /* content chunks that shared a read with a later one, as runs of LEB128 pairs: chunks skipped, chunks that shared
     */
    struct record_text shared_chunks;
    /* the same gaps counted; NULL in the engine, set by whoever writes or reads records */
    const struct record_gap_stats *gap_stats;
    uint32_t attempt_count;
    struct record_attempt attempts[RECORD_ATTEMPTS_MAX]; /* last member: copies may stop after attempt_count of them */
};

/* All fields unknown, outcome ok; attempts are left alone beyond attempt_count = 0. */
void record_init(struct request_record *record);
/*
 * Sets the derived durations from instants and counts, the one place where they are defined:
 * response_time = done − sent; queue_delay = sent − due; response_latency = done − due; ttft = first_content − sent,
 * only with `streaming`; ttft_spec = ttft, or without a stream response_time of a success; ttfr = first_reasoning −
 * sent; tpot = (response_time − ttft) / (completion_tokens − 1) for ≥ 2; tpot_spec = (response_time − ttft) /
 * completion_tokens for ≥ 1. A duration whose ends are not both known is -1; integer division truncates.
 */
void record_derive(struct request_record *record, bool streaming);

/* Where records go. */
struct record_sink {
    void *context;
    /* Once, before the first request, from the thread in engine_run: what record instants count from. May be NULL. */
    void (*start)(void *context, struct mono epoch, const struct clock_offset *epoch_offset);
    /* `thread` is the engine thread's index; called from that thread only, must not block for long. */
    void (*put)(void *context, uint32_t thread, const struct request_record *record);
};

#endif
