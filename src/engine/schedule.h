/* SPDX-License-Identifier: Apache-2.0 */
#ifndef ASSAY_ENGINE_SCHEDULE_H
#define ASSAY_ENGINE_SCHEDULE_H

/*
 * Which request of the plan may begin when. One schedule for a run, shared by all threads without locks: a counter
 * gives out the plan in order, so the order of numbers is the order of sending. All times are ns since the run's epoch.
 *
 * Closed loop: the caller holds a permit (permits are slots of threads, see schedule_permit_opens_ns); a request may
 * begin at once. Open loop: it may begin when it is due and, with a cap, when fewer than max_concurrency are in flight.
 *
 * With warmup_barrier the first measured request waits until all warm-up requests have ended; in an open loop the due
 * times of the measured part then move together so that its first request is due at that moment.
 *
 * Limits: no request begins at or after stop_after_ns, nor duration_ns after the start of the measured part, which is
 * the first measured send or, with a ramp-up, its end if that is later. In an open loop a request due at or after a
 * limit is not sent.
 *
 * A measured request is late when it is sent more than SCHEDULE_LATE_NS after the moment at which it was due and a
 * place under the cap was free.
 */

#include "engine/engine.h"

#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

#define SCHEDULE_LATE_NS NS_PER_MS
#define SCHEDULE_FOREVER INT64_MAX

struct schedule {
    const struct engine_plan *plan;
    uint32_t shard, shard_count;
    int64_t count;        /* requests of this shard */
    int64_t warmup_count; /* of them warm-up */
    _Atomic int64_t next; /* how many were given out */
    _Atomic int64_t warmup_done;
    _Atomic int64_t shift_ns; /* of due times of the measured part; set before is_open */
    _Atomic bool is_open;     /* the measured part may begin */
    _Atomic bool is_stopped;
    _Atomic int64_t measured_start_ns; /* -1 before the first measured send */
    _Atomic uint32_t capped;           /* places under max_concurrency that are taken */
    _Atomic int64_t cap_full_until_ns; /* when the cap last stopped being full */
};

enum schedule_answer {
    SCHEDULE_BEGIN, /* *ret holds the request; it counts as begun */
    SCHEDULE_WAIT,  /* ask again at ret->due_ns, or (SCHEDULE_FOREVER) when a request ended or the barrier opened */
    SCHEDULE_OVER   /* nothing will begin any more */
};

struct schedule_request {
    int64_t seq;
    int64_t due_ns; /* -1 in a closed loop */
};

void schedule_init(struct schedule *schedule, const struct engine_plan *plan);
enum schedule_answer schedule_take(struct schedule *schedule, int64_t now_ns, struct schedule_request *ret);
bool schedule_is_warmup(const struct schedule *schedule, int64_t seq);
/* A request that was taken has been sent at `sent_ns`. */
void schedule_sent(struct schedule *schedule, int64_t seq, int64_t sent_ns);
/* True when a request due at due_ns and sent at sent_ns is late. */
bool schedule_is_late(const struct schedule *schedule, int64_t due_ns, int64_t sent_ns);
/* Gives back the place of a request that ended, whatever came of it. True when this opened the barrier: wake all
 * threads. */
bool schedule_ended(struct schedule *schedule, int64_t seq, int64_t now_ns);
/* Nothing begins any more. */
void schedule_stop(struct schedule *schedule);
/* When permit `index` of a closed loop opens: all at 0, or with a ramp-up one after the other, the last at its end. */
int64_t schedule_permit_opens_ns(const struct engine_plan *plan, uint32_t index);
/* The phase of a request begun at start_ns that ended at done_ns. */
enum phase schedule_phase(const struct schedule *schedule, int64_t seq, int64_t start_ns, int64_t done_ns);
/* Requests of this shard: planned, and never begun so far (0 for a plan bounded by time alone). */
int64_t schedule_planned(const struct schedule *schedule);
int64_t schedule_skipped(const struct schedule *schedule);
/* Requests of an open loop that were due before sending ended and were never begun: they waited for a place. */
struct schedule_unsent {
    int64_t count;           /* -1 in a closed loop */
    int64_t longest_wait_ns; /* from the due time to the end of sending; -1 = none */
};
/* Once nothing begins any more; `stopped_ns` is when the run was stopped, -1 = it was not. */
struct schedule_unsent schedule_unsent(const struct schedule *schedule, int64_t stopped_ns);

#endif
