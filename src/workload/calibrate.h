/* SPDX-License-Identifier: Apache-2.0 */
#ifndef ASSAY_WORKLOAD_CALIBRATE_H
#define ASSAY_WORKLOAD_CALIBRATE_H

/*
 * Who counts a prompt's tokens: a server asked through whatever transport the caller has. Shared by runs with synthetic
 * prompts and by the calibration of prompt libraries.
 */

#include "base/status.h"
#include "workload/synthetic.h"

#include <stddef.h>
#include <stdint.h>

#define CALIBRATE_PROBES 2

struct token_counter {
    void *context;
    /* The server's own count of the prompt `text` (NUL-terminated), all that goes with it included. */
    as_status (*count)(void *context, const char *text, int64_t *ret_tokens, struct as_error *err);
};

/*
 * Asks about two synthetic prompts of different lengths, the same for the same seed, and draws the line through them.
 * AS_E_NETWORK: the counts make no sense; what the counter returned. `ret_probes` holds what was counted.
 */
as_status calibrate_synthetic(uint64_t seed, const struct token_counter *counter,
                              struct token_probe ret_probes[CALIBRATE_PROBES], struct token_ratio *ret,
                              struct as_error *err) AS_NODISCARD;

#endif
