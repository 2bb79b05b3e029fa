/* SPDX-License-Identifier: Apache-2.0 */
#ifndef ASSAY_PLANE_RUNS_H
#define ASSAY_PLANE_RUNS_H

/* What runs and jobs have beyond their rows: checks, plans, commands, transitions; and what is done with them. */

#include "plane/resource.h"

extern const struct shape shape_check_result, shape_command, shape_plan, shape_transition;

/* Hooks: add the virtual members of a run and of a job. */
as_status runs_put_checks(struct plane_call *call, int64_t run_id) AS_NODISCARD;
as_status runs_put_job(struct plane_call *call, int64_t job_id) AS_NODISCARD;

#endif
