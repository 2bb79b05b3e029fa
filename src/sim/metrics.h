/* SPDX-License-Identifier: Apache-2.0 */
#ifndef ASSAY_SIM_METRICS_H
#define ASSAY_SIM_METRICS_H

/*
 * What GET /metrics tells, under the names that vLLM uses. Each serving thread counts in a struct of its own (one
 * writer, relaxed atomics, no read-modify-write); a scrape in any thread adds them up.
 */

#include "base/strbuf.h"

#include <stdatomic.h>
#include <stddef.h>
#include <stdint.h>

#define SIM_BUCKETS_MAX 20

enum sim_duration { SIM_DURATION_TTFT, SIM_DURATION_ITL, SIM_DURATION_E2E, SIM_DURATION_QUEUE, SIM_DURATION_COUNT };
enum sim_finish { SIM_FINISH_STOP, SIM_FINISH_LENGTH, SIM_FINISH_ABORT, SIM_FINISH_COUNT };

struct sim_metrics {
    _Atomic int64_t running, waiting; /* requests now */
    _Atomic int64_t prompt_tokens, generation_tokens;
    _Atomic int64_t finished[SIM_FINISH_COUNT];
    _Atomic int64_t http_errors; /* answers with 4xx or 5xx */
    struct {
        _Atomic int64_t buckets[SIM_BUCKETS_MAX + 1]; /* not cumulative; the last one is +Inf */
        _Atomic int64_t sum_ns, count;
    } durations[SIM_DURATION_COUNT];
};

/* By the owning thread. */
static inline void sim_metrics_add(_Atomic int64_t *value, int64_t by)
{
    atomic_store_explicit(value, atomic_load_explicit(value, memory_order_relaxed) + by, memory_order_relaxed);
}
void sim_metrics_observe(struct sim_metrics *metrics, enum sim_duration which, int64_t ns);

/* The Prometheus text of all threads together. */
void sim_metrics_render(const struct sim_metrics *const *threads, size_t count, const char *model, uint32_t slots,
                        struct strbuf *out);

#endif
