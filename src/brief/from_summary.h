/* SPDX-License-Identifier: Apache-2.0 */
#ifndef ASSAY_BRIEF_FROM_SUMMARY_H
#define ASSAY_BRIEF_FROM_SUMMARY_H

/* The two halves of the converter for our own summaries. Not for use outside from_summary*.c. */

#include "brief/converter.h"

/* A member of the summary, else of run.json beside it, else (sut, telemetry) a file of that name beside it; or NULL. */
const struct value *summary_fact(struct converter *converter, const char *name);

/*
 * results: request_performance of the figures, with the media that were sent (for image generation: that came back),
 * observability and component_health of the telemetry where there is some:
 *
 *     telemetry.components[] {label, replica_id, raw_data_path, healthy, restarts, logs, and distributions: power_w,
 *     gpu_utilization_ratio, gpu_memory_bytes, cpu_utilization_ratio, cpu_memory_bytes, storage_bytes,
 *     kv_cache_usage_ratio, cache_hit_ratio, gpu_cache_usage_ratio, cpu_cache_usage_ratio, running_requests,
 *     waiting_requests, swapped_requests, preemptions}
 *
 * One entry a GPU or replica; `label` is that of the endpoint and may be missing when there is only one.
 */
void put_summary_results(struct converter *converter, struct value *report);

#endif
