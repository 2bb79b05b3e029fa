/* SPDX-License-Identifier: Apache-2.0 */
#ifndef ASSAY_RUN_PLAN_H
#define ASSAY_RUN_PLAN_H

/* The engine's plan from the options: how many requests, when each is due. Depends on options alone, so that shards agree. */

#include "engine/engine.h"
#include "run/config.h"
#include "run/resolve.h"

/* Most requests of a plan with send times: 8 bytes each. */
#define PLAN_DUE_MAX INT64_C(100000000)

struct run_plan {
    struct engine_plan engine;
    int64_t *due_ns;          /* owned; NULL in a closed loop */
    int64_t planned_requests; /* of this shard, warm-up included; -1 = bounded by time alone */
};

/* AS_E_USAGE when the plan is too large or empty. *ret needs plan_done. */
as_status plan_make(const struct run_config *config, const struct run_shape *shape, struct run_plan *ret, struct as_error *err) AS_NODISCARD;
void plan_done(struct run_plan *plan);

#endif
