/* SPDX-License-Identifier: Apache-2.0 */
#ifndef ASSAY_ENGINE_ENGINE_H
#define ASSAY_ENGINE_ENGINE_H

/*
 * Runs a plan of requests: threads, permits, send times, tries, deadlines, drain. Closed loop: `concurrency` permits,
 * the next request of the plan starts when one is free. Open loop: request i is due at epoch + due_ns[i], whatever the
 * server does; `max_concurrency` caps what is in flight, waiting shows as queue_delay. engine_run returns when every
 * request has its record.
 */

#include "base/clock.h"
#include "base/status.h"
#include "engine/modality.h"
#include "engine/record.h"
#include "net/net.h"

#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

enum engine_balance { BALANCE_WEIGHTED_ROUND_ROBIN, BALANCE_ROUND_ROBIN, BALANCE_LEAST_INFLIGHT, BALANCE_RANDOM };

/* An endpoint with what the engine adds to its requests. */
struct engine_endpoint {
    struct net_endpoint *net;
    uint32_t weight;     /* ≥ 1 */
    const char *headers; /* extra header lines, each ending in CR LF, Authorization among them; never logged */
};

struct engine_plan {
    int64_t request_count;       /* of the whole plan, warm-up included; INT64_MAX = bounded by time */
    int64_t warmup_count;        /* the first so many are warm-up */
    bool warmup_barrier;         /* the first measured send waits for the last warm-up completion */
    uint32_t concurrency;        /* closed loop permits; 0 = open loop */
    const int64_t *due_ns;       /* open loop: due time of each of request_count requests, ascending, from the epoch */
    uint32_t max_concurrency;    /* open loop cap, 0 = none */
    int64_t ramp_up_ns;          /* closed loop: permits grow linearly from 1 to concurrency in this time; 0 = none */
    int64_t duration_ns;         /* no new request after this much of the measured part; 0 = no limit */
    int64_t stop_after_ns;       /* the same from the start of the run; 0 = no limit */
    uint32_t shard, shard_count; /* this process sends requests seq % shard_count == shard; 0, 1 = all */
};

/* The first request as it goes out, head and body. */
struct request_echo {
    char *bytes;
    size_t capacity, len;
    int64_t whole_bytes; /* of the request */
    atomic_bool is_taken;
};

struct engine_options {
    uint32_t threads;
    enum engine_balance balance;
    uint64_t seed;
    uint32_t retries;           /* further tries of a failed request */
    int64_t retry_backoff_ns;   /* first wait, doubled each time, Retry-After honoured, capped at 30 s */
    uint32_t eject_after;       /* consecutive failures that take an endpoint out for 5 s; 0 = never */
    int64_t request_timeout_ns; /* per request, tries included; from sent_ns */
    int64_t drain_ns;           /* how long requests in flight may go on after a stop */
    bool save_content, save_gaps;
    bool prewarm;
    const char *run_id; /* in the x-assay-id header */
    const char *user_agent;
    const char *const
        *secrets; /* ends with NULL; texts of 4 bytes and more that no record may hold (API keys); NULL = none */
    struct net_options net;
    /* Whether a thread, which calls, may begin another request: false holds it back for some ms. NULL = always. */
    bool (*may_begin)(void *context, uint32_t thread);
    void *may_begin_context;
    struct request_echo *echo; /* to be filled by whichever thread begins first; NULL = none */
};

/* Seen live by the progress line and used by the stop logic; atomics, any thread may read. */
struct engine_progress {
    _Atomic int64_t sent, ok, failed, timed_out, cancelled, refused, in_flight, peak_in_flight;
    _Atomic int64_t completion_tokens, warmup_done;
    /* Ring of the latest TTFTs (or response times without a stream) of successes, ns. */
    _Atomic int64_t recent_ns[512];
    _Atomic uint64_t recent_count;
};

/* What a run leaves beside its records. */
struct engine_result {
    struct mono epoch;                /* start of the run: record instants count from here */
    struct clock_offset epoch_offset; /* wall − mono at the epoch */
    int64_t measured_start_ns;        /* instant at which measuring began (ramp end, first measured send) */
    int64_t ended_ns;                 /* last completion of any outcome */
    int64_t planned, skipped;         /* planned − begun */
    int64_t late_unsent;              /* open loop: skipped though due before sending ended; -1 in a closed loop */
    int64_t late_unsent_wait_ns;      /* the longest time one of them had waited by then; -1 = none */
    bool stopped_by_signal, drain_expired;
    int64_t cpu_ns;                                        /* this process, from epoch to end, all threads */
    int64_t late_sends;                                    /* sent > 1 ms after due */
    int64_t clock_step_ns;                                 /* largest change of wall − mono seen during the run */
    int64_t lag_p50_ns, lag_p99_ns, lag_max_ns, lag_reads; /* client_lag over all stamped reads; -1 = none */
    int64_t ejections;
    struct net_counters net; /* summed over loops; peaks are sums of peaks */
};

struct engine;

/* What an engine is made from; copied, but what it points to must outlive the engine. */
struct engine_setup {
    const struct engine_plan *plan;
    const struct engine_options *options;
    const struct engine_endpoint *endpoints;
    uint32_t endpoint_count;
    const struct modality *modality;
    void *modality_context;
    struct record_sink sink;
};

/*
 * Checks the plan, makes threads' loops and slots; connects to nothing. AS_E_INVALID: the plan or options make no
 * sense; AS_E_LIMIT: weights; AS_E_IO: no descriptors; AS_E_NOMEM.
 */
as_status engine_prepare(const struct engine_setup *setup, struct engine **ret, struct as_error *err) AS_NODISCARD;
/* Takes NULL. Not while engine_run is running. */
void engine_free(struct engine *engine);
/*
 * Runs the plan, once, in this thread and options.threads − 1 others; returns when every request that was begun has its
 * record. *ret is filled also when memory ran out (AS_E_NOMEM: the run was stopped early). AS_E_STATE: it ran already.
 */
as_status engine_run(struct engine *engine, struct engine_result *ret, struct as_error *err) AS_NODISCARD;
/* Async-signal-safe. First call: no new requests, drain. Second: cancel at once. */
void engine_stop(struct engine *engine);
/* Any thread, as long as the engine lives. */
const struct engine_progress *engine_progress(const struct engine *engine);

#endif
