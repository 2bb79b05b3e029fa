/* SPDX-License-Identifier: Apache-2.0 */
#ifndef ASSAY_ENGINE_INTERNAL_H
#define ASSAY_ENGINE_INTERNAL_H

/*
 * What the files of this module share. engine.c makes and runs threads; thread.c is a thread's loop: permits, timers,
 * stop; request.c is a request from its permit to its record, tries inside; answer.c hears the transport and feeds the
 * modality.
 *
 * A slot is a permit with everything its request needs. FREE → ACTIVE (a try runs) ⇄ BACKOFF (waits for the next try) →
 * FREE. From the answer's end marker to the end of the HTTP body it is ACTIVE with is_answered: nothing counts any
 * more, the connection is only drained.
 */

#include "base/strbuf.h"
#include "engine/balance.h"
#include "engine/engine.h"
#include "engine/error_text.h"
#include "engine/lag.h"
#include "engine/request_head.h"
#include "engine/schedule.h"
#include "engine/timer_list.h"

#include <pthread.h>
#include <stdatomic.h>

#define DRAIN_NS          (INT64_C(250) * NS_PER_MS)
#define DRAIN_BYTES       ((uint64_t)64 * 1024)
#define ERROR_BODY_BYTES  ((size_t)64 * 1024)
#define RETRY_WAIT_MAX_NS (INT64_C(30) * NS_PER_S)
#define SLOT_BLOCK        64

enum slot_state { SLOT_FREE, SLOT_ACTIVE, SLOT_BACKOFF };

/* Why a running exchange was cancelled by us. */
enum slot_abort { ABORT_NONE, ABORT_TIMEOUT, ABORT_STOP, ABORT_TOO_LARGE, ABORT_DRAINED };

/* What is done with the body of the try's answer. */
enum reading {
    READING_NOTHING, /* no head yet */
    READING_SNIFF,   /* stream or not: undecided, its first bytes are in body */
    READING_EVENTS,
    READING_BODY,  /* collected in body, unless it came whole in one span */
    READING_ERROR, /* the same, of a status other than 2xx, as far as ERROR_BODY_BYTES */
    READING_OVER   /* given to the modality, or not wanted */
};

/* What became of a try, before the modality has its say. */
struct verdict {
    enum outcome outcome;
    enum error_type error_type;
    bool is_final;       /* the modality may not replace it */
    const char *message; /* plain text, or NULL: made from the body */
};

struct slot {
    struct net_exchange x;
    struct engine_thread *thread;
    struct slot *next_free, *next_all;
    void *answer;
    struct head_buffer head_bytes;
    struct strbuf body;
    struct record_attempt *attempts; /* one per try that is allowed */
    struct timer deadline;           /* of the whole request */
    struct timer wait;               /* end of a backoff, or of draining */
    uint8_t state, abort, reading;
    /* the request */
    struct payload payload;
    int64_t seq, due_ns, start_ns; /* start: permit held; sent_ns of the record is the first try's start */
    uint32_t endpoint, tries, flags;
    uint64_t bytes_sent, bytes_received; /* of tries that ended */
    /* the try */
    int64_t try_start_ns, answered_ns, last_ns, last_lag_ns; /* since the epoch; last: the newest read */
    bool last_is_kernel;
    bool has_head, has_begun, is_stream, is_answered;
    bool is_read_open;   /* events were read since the last read_end */
    bool is_event_last;  /* the newest span ended with an event, not with a comment or a part of one */
    bool is_at_endpoint; /* counted in flight there */
    uint64_t drained_bytes;
    struct sse_reader sse;
    struct http_response_head head;
};

/* Threads wait here until all are ready and the epoch is set. */
enum gate { GATE_SHUT, GATE_OPEN, GATE_ABANDONED };

struct engine_thread {
    struct engine *engine;
    struct net_loop *loop;
    uint32_t index;
    uint32_t permits, opened;        /* closed loop: slots in all; those given out (open loop: ever needed) */
    uint32_t busy;                   /* slots not FREE */
    struct slot *free, *spare, *all; /* spare: made, but its permit is not open yet */
    struct slot_block *blocks;
    struct timer_list deadlines, waits;
    bool is_stop_seen, is_over; /* is_over: the schedule will give nothing more */
    int64_t wake_ns;  /* when the schedule is worth asking again */
    as_status status; /* AS_E_NOMEM ends the run */
    int64_t last_done_ns, late_sends;
    bool has_drain_expired;
    pthread_t handle;
    struct lag lag;
    struct request_record record; /* the one being made */
    struct error_text error_text;
};

struct engine {
    struct engine_plan plan;
    struct engine_options options;
    const struct modality *modality;
    void *modality_context;
    struct record_sink sink;
    uint32_t endpoint_count;
    struct net_endpoint **net_endpoints;
    struct request_head *heads;
    uint32_t *weights;
    uint64_t weight_sum;
    struct balance balance;
    struct schedule schedule;
    uint32_t thread_count;
    struct engine_thread *threads;
    pthread_mutex_t gate_mutex; /* guards the next two; used only at the start */
    pthread_cond_t gate_moved;
    uint32_t gate_ready;
    enum gate gate;
    bool has_run;
    size_t answer_stride;
    uint32_t tries_max;
    struct mono epoch;
    struct clock_offset epoch_offset;
    _Atomic int stops;              /* calls of engine_stop */
    _Atomic int64_t drain_until_ns; /* -1 = no stop yet */
    _Atomic int32_t waiter;         /* open loop: the thread that wakes at the next due time, -1 = none */
    int64_t cpu_start_ns;
    struct lag lag_sum;
    struct engine_progress progress;
};

static inline int64_t engine_now_ns(const struct engine *engine)
{
    return mono_diff_ns(mono_now(), engine->epoch);
}

/* An instant of the transport as ns since the epoch; -1 stays -1. */
static inline int64_t engine_since_epoch(const struct engine *engine, int64_t mono_ns)
{
    return mono_ns < 0 ? -1 : mono_ns - engine->epoch.ns;
}

/* engine.c */
void engine_wake_all(struct engine *engine);
/* Thread 0: waits until the others are ready, sets the epoch and lets all go. */
bool engine_open_gate(struct engine *engine);

/* thread.c */
as_status thread_init(struct engine_thread *thread, struct engine *engine, uint32_t index,
                      struct as_error *err) AS_NODISCARD;
void thread_done(struct engine_thread *thread);
void thread_run(struct engine_thread *thread);

/* request.c */
/*
 * Builds and sends; a refusal makes its record at once. The slot is FREE before, and FREE or ACTIVE after. Returns the
 * time it has become.
 */
int64_t request_begin(struct slot *slot, const struct schedule_request *request, int64_t now_ns);
/* Its backoff is over. */
void request_retry(struct slot *slot);
/* The deadline passed, or (ABORT_STOP) the run ends: whatever it is doing, it ends now. */
void request_abort(struct slot *slot, enum slot_abort why);
/* The try ended: another one, or the record. */
void request_try_ended(struct slot *slot, enum net_end end, int64_t now_ns);

/* answer.c */
extern const struct net_exchange_ops answer_ops;
/* Forgets the try before. */
void answer_reset(struct slot *slot);
/* The transport ended: gives what is still held to the modality. `is_whole`: the body ended as its framing says. */
void answer_finish(struct slot *slot, bool is_whole);

#endif
