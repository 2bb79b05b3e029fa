/* SPDX-License-Identifier: Apache-2.0 */
#ifndef ASSAY_SUMMARY_FIGURES_H
#define ASSAY_SUMMARY_FIGURES_H

/*
 * The parts of a struct summary (summary/summary.h, where their identities are). Durations are ns, counts as named,
 * -1 = unknown; doubles are NAN when undefined. Everything undefined is written as null.
 */

#include "base/json.h"
#include "engine/record.h"
#include "stats/distribution.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Latency distributions: name, JSON member. Of measured successes, see docs/measurement.md. */
/* clang-format off */
#define LATENCY_MAP(X)                            \
    X(RESPONSE_TIME, "response_time_ms")          \
    X(RESPONSE_LATENCY, "response_latency_ms")    \
    X(QUEUE_DELAY, "queue_delay_ms")              \
    X(TTFT, "ttft_ms")                            \
    X(TTFT_SPEC, "ttft_spec_ms")                  \
    X(TTFR, "ttfr_ms")                            \
    X(TPOT, "tpot_ms")                            \
    X(TPOT_SPEC, "tpot_spec_ms")                  \
    X(ITL, "itl_ms")                              \
    X(DNS, "dns_ms")                              \
    X(CONNECT, "connect_ms")                      \
    X(TLS, "tls_ms")                              \
    X(FIRST_BYTE, "first_byte_ms")
enum latency_metric {
#define LATENCY_ENUM(name, text) LATENCY_##name,
    LATENCY_MAP(LATENCY_ENUM)
#undef LATENCY_ENUM
    LATENCY_COUNT
};

#define TOKEN_KIND_MAP(X) X(PROMPT, "prompt") X(COMPLETION, "completion") X(REASONING, "reasoning") X(TOTAL, "total")
enum token_kind {
#define TOKEN_KIND_ENUM(name, text) TOKENS_##name,
    TOKEN_KIND_MAP(TOKEN_KIND_ENUM)
#undef TOKEN_KIND_ENUM
    TOKENS_COUNT
};
/* clang-format on */

enum word_kind { WORDS_PROMPT, WORDS_COMPLETION, WORDS_COUNT };

const char *latency_member(enum latency_metric metric);
const char *token_kind_name(enum token_kind kind);

/* Tokens or words over the measured successes that have them. */
struct amount {
    int64_t n;     /* successes with a count */
    int64_t total; /* -1 when n is 0 */
    double min, max, mean, p50, p95;
    double per_second; /* total / window */
};

struct request_counts {
    int64_t sent, refused, ok, failed, timed_out, cancelled;
    int64_t attempts; /* tries of those sent */
    int64_t failed_attempts;
};

struct rates {
    double requests_per_second, prompt_tokens_per_second, completion_tokens_per_second, total_tokens_per_second;
};

/* Against the bounds of struct run_slo. A success whose metric is unknown is not good: it is undecided. */
struct goodput {
    bool has_slo;
    int64_t good, undecided;
    double requests_per_second; /* good / window */
    double ratio;               /* good / (ok + failed + timed_out + refused) */
};

#define ERROR_EXAMPLES_MAX 16

/* The first (lowest seq) request of a kind of error: type and status. */
struct error_example {
    int64_t seq;
    enum error_type type;
    int32_t http_status; /* -1 = none */
    uint32_t endpoint;
    const char *message; /* NULL = none */
};

struct status_count {
    int32_t http_status;
    int64_t count;
};

struct error_figures {
    int64_t count;       /* failed + timed out + refused, measured */
    double rate;         /* count / (count + ok) */
    double attempt_rate; /* failed tries / tries */
    int64_t by_type[ERROR_TYPE_COUNT];
    const struct status_count *by_status; /* ascending; requests in error that had a status */
    size_t status_count;
    bool oom_detected;
    const char *oom_message;                           /* of the first such request */
    struct error_example examples[ERROR_EXAMPLES_MAX]; /* by seq */
    size_t example_count;
};

/* The first measured success of the plan, which met a cold server and connection. seq -1 = none. */
struct first_request {
    int64_t seq, response_time_ns, ttft_ns, dns_ns, connect_ns, tls_ns;
};

/* How answers were cut into chunks, over measured successes. */
struct chunk_figures {
    int64_t content_chunks, censored_chunks;
    double censored_ratio;   /* censored / content chunks */
    double tokens_per_chunk; /* completion tokens / content chunks, pooled over answers that have both */
};

/* Asked for against delivered, over measured successes with max_tokens and usage. */
struct length_figures {
    int64_t n, shorter, longer; /* fewer or more completion tokens than max_tokens */
    int64_t requested_tokens, completion_tokens;
    struct distribution ratio_ppm; /* completion_tokens / max_tokens in millionths */
};

/* The figures of all requests, or of one endpoint. */
struct summary_block {
    struct request_counts counts; /* measured requests only */
    struct distribution latency[LATENCY_COUNT];
    struct amount tokens[TOKENS_COUNT], words[WORDS_COUNT];
    int64_t usage_missing;              /* measured successes without usage */
    int64_t cached_tokens;              /* of the prompts, as the server says; -1 = never said */
    int64_t bytes_sent, bytes_received; /* all measured requests */
    int64_t zero_token_successes, damaged_events;
    int64_t flags[32];                     /* measured requests with each bit of enum record_flag */
    struct rates window_rates, spec_rates; /* over window.duration and window.elapsed */
    struct goodput goodput;
    struct error_figures errors;
    struct first_request first;
    struct chunk_figures chunks;
    struct length_figures lengths;
    const struct json_value *own; /* the tool's own figures, an object; NULL = it has none */
};

/* Instants are ns since the (earliest) epoch; -1 = unknown. */
struct summary_window {
    int64_t start_ns;    /* first measured send, or the ramp's end */
    int64_t duration_ns; /* to the last measured success; -1 without one */
    int64_t elapsed_ns;  /* to the last measured completion of any outcome */
    bool has_epoch;
    int64_t epoch_monotonic_ns, epoch_utc_ns;
};

/* Requests of the whole plan. */
struct plan_counts {
    int64_t planned, skipped; /* -1 = unknown */
    int64_t unrecorded;       /* of runs that were killed: planned, without a record; begun or not is unknown */
    int64_t cut_off;          /* of the unrecorded: at most so many were in flight; -1 = unknown (an open loop) */
    int64_t late_unsent;      /* of the skipped: due before sending ended; -1 = unknown, or a closed loop */
    int64_t late_unsent_wait_ns; /* the longest that one of them had waited by then; -1 = none */
    int64_t lost;             /* begun by the engine's account, without a record */
    int64_t surplus;          /* records beyond what the engine began: the facts are not of these records */
    int64_t duplicates;       /* further records of a seq, left out */
    int64_t warmup, ramp_up, boundary;
    struct request_counts all;
};

/* The longest time with ≥ 95 % of the target in flight (stats/steady.h). */
struct steady_figures {
    bool is_found;
    int64_t target, start_ns, duration_ns;
    double share;                                  /* of the window */
    int64_t ok;                                    /* measured successes that ended inside */
    struct rates rates;                            /* theirs / duration */
    struct distribution response_time, ttft, tpot; /* of those that also began inside */
    double response_time_drift, ttft_drift;        /* fitted change over the window / mean, of the same */
    bool has_verdict, is_stationary;               /* no drift of either; needs 10 of them */
};

struct client_figures {
    double cpu_ratio; /* CPU time / wall time, 1 = one core */
    double cpu_s;
    struct distribution lag; /* client_lag, ns: of each measured success' decisive read */
    int64_t reads, read_lag_p50_ns, read_lag_p99_ns, read_lag_max_ns; /* the same of all stamped reads of the run, not
                                                                         judged; -1 = unknown */
    int64_t max_loop_lag_ns;
    int64_t late_sends;     /* measured requests sent > 1 ms after due */
    double late_send_ratio; /* of those sent; NAN in a closed loop */
    double send_rate_ratio; /* achieved / planned send rate; NAN in a closed loop and where all were due at once */
    int64_t peak_in_flight;
    double mean_in_flight; /* from the first to the last measured send */
    int64_t local_limit_failures;
    int64_t connects, connect_failures, reconnects, unclean_closes, open_peak, ejections; /* -1 = unknown */
    int64_t stamps[RECORD_STAMP_COUNT];                   /* measured successes by how their decisive time was taken */
    int64_t clock_step_ns, journal_full_waits;            /* -1 = unknown */
    double budget_ttft, budget_itl, budget_response_time; /* client lag p99 / the metric's median */
};

struct prompt_figures {
    int64_t distinct;  /* prompt ids seen; -1 = more than were counted */
    int64_t max_reuse; /* requests of the most used one; -1 likewise */
    int64_t repeated;  /* requests whose prompt id was used before; -1 likewise */
};

enum severity { SEVERITY_WARNING, SEVERITY_INVALID };

struct validity_reason {
    enum severity severity;
    const char *code; /* closed list, see summary/validity.h */
    const char *message;
    double value, limit; /* what was found, what is allowed; NAN where there is none */
};

#define VALIDITY_REASONS_MAX 32

struct validity {
    bool is_valid; /* no reason of SEVERITY_INVALID */
    struct validity_reason reasons[VALIDITY_REASONS_MAX];
    size_t count;
};

#endif
