/* SPDX-License-Identifier: Apache-2.0 */
#ifndef ASSAY_SIM_WORKER_H
#define ASSAY_SIM_WORKER_H

/*
 * One serving thread: routes requests, runs answers by its loop's timers, keeps the batch, counts, and reports to the
 * truth log. Nothing is allocated for a request once the thread has seen its busiest moment.
 */

#include "http/server.h"
#include "sim/answer.h"
#include "sim/batch.h"
#include "sim/metrics.h"
#include "sim/truth.h"

#include <stdatomic.h>

struct sim_stream;
struct sim_worker;

/* What all threads share; read-only but for the atomics. */
struct sim_shared {
    struct sim_profile profile;
    struct sim_vocab *vocab;
    struct sim_truth *truth; /* NULL = no truth log */
    const char *api_key;     /* NULL = none is asked for */
    struct sim_worker **workers;
    uint32_t worker_count;
    int first_cpu;            /* -1 = not pinned */
    int64_t wall_offset_ns;   /* wall − mono at the start */
    _Atomic int64_t arrivals; /* requests numbered so far */
    _Atomic int64_t epoch_ns; /* of the first request, 0 = none yet */
};

struct sim_worker {
    struct sim_shared *shared;
    struct http_loop *loop;
    uint32_t index;
    struct sim_batch batch;
    struct sim_metrics metrics;
    struct sim_moment moment;
    struct strbuf out; /* what the current step renders */
    struct sim_stream *free_list;
};

as_status sim_worker_new(struct sim_shared *shared, uint32_t index, struct sim_worker **ret) AS_NODISCARD;
/* After its loop has ended. NULL is fine. */
void sim_worker_free(struct sim_worker *worker);

/* For http_server_options; the context is the struct sim_shared. */
extern const struct http_handler sim_handler;

#endif
