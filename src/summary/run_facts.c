/* SPDX-License-Identifier: Apache-2.0 */
#include "summary/run_facts.h"

#include <math.h>

void run_facts_init(struct run_facts *facts)
{
    *facts = (struct run_facts){
        .shard_count = 1,
        .rules =
            {
                .planned_requests = -1,
                .concurrency = -1,
                .request_rate_per_s = (double)NAN,
                .request_timeout_ns = -1,
                .prompt_count = -1,
                .slo = {-1, -1, -1, -1},
                .percentile_method = PERCENTILE_NEAREST_RANK,
                .lag_share = 0.10,
                .late_share = 0.01,
                .delivered_share = 0.95,
                .error_share = 0.10,
            },
        .environment = {.cpu_count = -1, .memory_bytes = -1, .fd_limit = -1, .port_low = -1, .port_high = -1},
        .journal_full_waits = -1,
        .records_left = -1,
        .records_lost = -1,
    };
}

void run_facts_set_result(struct run_facts *facts, const struct engine_result *result)
{
    facts->has_epoch = true;
    facts->epoch_monotonic_ns = result->epoch.ns;
    facts->epoch_utc_ns = result->epoch.ns + result->epoch_offset.offset_ns;
    facts->has_result = true;
    facts->result = *result;
}
