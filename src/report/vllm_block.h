/* SPDX-License-Identifier: Apache-2.0 */
#ifndef ASSAY_REPORT_VLLM_BLOCK_H
#define ASSAY_REPORT_VLLM_BLOCK_H

/*
 * The block that `vllm bench serve` prints, for scripts that parse it: 50 columns, its labels, its definitions
 * (durations and rates over the whole elapsed time, percentiles by our method). What it would show as 0.00 and is
 * unknown is "nan".
 */

#include "base/strbuf.h"
#include "summary/summary.h"

#include <stdbool.h>
#include <stddef.h>

enum vllm_metric { VLLM_TTFT, VLLM_TPOT, VLLM_ITL, VLLM_E2EL, VLLM_METRICS };

struct vllm_choice {
    bool metrics[VLLM_METRICS];
    enum distribution_percentile percentiles[DISTRIBUTION_PERCENTILES]; /* in the order asked for */
    size_t percentile_count;
};

/*
 * vLLM's --percentile-metrics ("ttft,tpot,itl,e2el") and --metric-percentiles ("50,99"); NULL = all four, and 99.
 * AS_E_USAGE names what is unknown: a percentile other than 50, 75, 90, 95, 99 and 99.9 cannot be given.
 */
as_status vllm_choice_read(const char *metrics, const char *percentiles, struct vllm_choice *ret,
                           struct as_error *err) AS_NODISCARD;
as_status vllm_block(const struct summary *summary, const struct vllm_choice *choice, struct strbuf *ret) AS_NODISCARD;

#endif
