/* SPDX-License-Identifier: Apache-2.0 */
#ifndef ASSAY_RUN_SLO_H
#define ASSAY_RUN_SLO_H

/*
 * Objectives of goodput: "ttft:200", in ms. Names: ttft, tpot, itl, e2e (vLLM: ttft, tpot, e2el; AIPerf: time_to_first_token,
 * inter_token_latency (its formula is tpot's), time_per_output_token, request_latency). Several may stand in one text, separated by
 * spaces or commas.
 */

#include "base/status.h"
#include "options/options.h"
#include "summary/run_facts.h"

/* Adds the objectives of one text; err->message is only the reason ("has no number after ttft"). */
as_status slo_add(const char *text, struct run_slo *slo, struct as_error *err) AS_NODISCARD;
/* All of a list; an objective that stands twice with different bounds is refused. */
as_status slo_read(const struct opt_list *list, struct run_slo *ret, struct as_error *err) AS_NODISCARD;

#endif
