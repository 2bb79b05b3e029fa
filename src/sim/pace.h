/* SPDX-License-Identifier: Apache-2.0 */
#ifndef ASSAY_SIM_PACE_H
#define ASSAY_SIM_PACE_H

/*
 * When the simulated engine gets a piece of work done. Its time stands still in freezes (the whole server pauses:
 * nothing is emitted, work resumes where it was) and, with a grid, its results come out only at multiples of the grid
 * on the monotonic clock, as a real engine emits one token of every running request a step. Pure functions; any thread.
 */

#include "base/status.h"

#include <stddef.h>
#include <stdint.h>

/* A pause of the whole server, counted from its first request. */
struct sim_freeze {
    int64_t start_ns;
    int64_t length_ns;
};

struct sim_pace {
    const struct sim_freeze *freezes; /* ascending, not overlapping */
    size_t freeze_count;
    int64_t grid_ns; /* 0 = no grid */
};

/* "START+LENGTH" ("5s+1.4s"); AS_E_USAGE with a sentence. */
as_status sim_freeze_parse(const char *text, struct sim_freeze *ret, struct as_error *err) AS_NODISCARD;

/* Sorts; AS_E_USAGE when two overlap. */
as_status sim_freeze_order(struct sim_freeze *freezes, size_t count, struct as_error *err) AS_NODISCARD;

/*
 * The instant at which work of `work_ns` that begins at `from_ns` is done and shows. Instants in ns on one clock;
 * `epoch_ns` is that of the first request. Never before from_ns.
 */
int64_t sim_pace_advance(const struct sim_pace *pace, int64_t epoch_ns, int64_t from_ns, int64_t work_ns);

#endif
