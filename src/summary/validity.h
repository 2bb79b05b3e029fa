/* SPDX-License-Identifier: Apache-2.0 */
#ifndef ASSAY_SUMMARY_VALIDITY_H
#define ASSAY_SUMMARY_VALIDITY_H

/*
 * Can the numbers be trusted? Reasons of severity "invalid" make the verdict false (the client or its machine bent the
 * figures, the load was not the planned one, or records are missing); "warning" names what a reader should know of a
 * valid run.
 *
 * invalid: no_success, run_unfinished, records_lost, client_lag, late_sends, load_not_delivered, local_limit,
 * clock_step, journal_full, shards_differ, too_many_errors, late_unsent; warning: partial, few_samples, errors, timeouts_near_limit, usage_missing,
 * zero_tokens, damaged_events, proxy_buffering, reasoning_in_tpot, prompts_repeated, prompt_cache, short_outputs, long_outputs,
 * in_flight_below_target, user_stamps, duplicates, late_unsent, records_in_journal, images_ignored,
 * certificates_unchecked
 */

#include "summary/summary.h"

/* Thresholds that no option changes. */
#define VALIDITY_CLOCK_STEP_NS    INT64_C(1000000)
#define VALIDITY_NEAR_LIMIT_RATIO 0.95 /* a success that took this share of the time limit */
#define VALIDITY_NEAR_LIMIT_SHARE 0.01
#define VALIDITY_BUFFERED_RATIO   0.9 /* median TTFT / median response time */
#define VALIDITY_SHORT_SHARE      0.05
#define VALIDITY_IN_FLIGHT_SHARE  0.9
#define VALIDITY_USER_STAMP_SHARE 0.01
#define VALIDITY_MIN_SENDS        10 /* fewer do not show a rate */

/* What the verdict needs beside the summary itself. */
struct validity_inputs {
    const struct run_facts *const *shards;
    size_t shard_count;
    int64_t near_limit; /* measured successes and time-outs at or near the time limit */
};

/* Sets summary->validity from everything else in it; texts live in its arena. */
as_status validity_judge(struct summary *summary, const struct validity_inputs *inputs) AS_NODISCARD;

#endif
