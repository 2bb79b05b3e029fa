/* SPDX-License-Identifier: Apache-2.0 */
#ifndef ASSAY_PLANE_RUN_START_H
#define ASSAY_PLANE_RUN_START_H

/* Rows of a new run: its checks, and unless one of them stops it its jobs with plans, commands and first transitions.
 */

#include "plane/run_plan.h"

/* What is asked for besides the scenarios. */
struct run_order {
    int64_t workload_id;
    struct run_request request;
    const struct json_value *overrides; /* list of {check_code, reason}, NULL = none */
    const char *note;
    int64_t cloned_from; /* run's id, 0 = none */
};

/* In the call's transaction; *ret_id is the run. A run that a check stops is kept, in the state stopped. */
as_status run_start(struct plane_call *call, struct run_order *order, int64_t *ret_id) AS_NODISCARD;
/* "stop", "warn", … of a check's state. */
const char *run_verdict(enum recipe_check_state state);
/* An event about a run. */
as_status run_event(struct plane_call *call, const char *name, const char *run_code, const char *state) AS_NODISCARD;

#endif
