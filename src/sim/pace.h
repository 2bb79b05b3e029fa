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
struct freeze {
    int64_t start_ns;
    int64_t length_ns;
};

struct pace {
    const struct freeze *freezes; /* ascending, not overlapping */
    size_t freeze_count;
    int64_t grid_ns; /* 0 = no grid */
};

/* "START+LENGTH" ("5s+1.4s"); AS_E_USAGE with a sentence. */
as_status freeze_parse(const char *text, struct freeze *ret, struct as_error *err) AS_NODISCARD;

/* Sorts; AS_E_USAGE when two overlap. */
as_status freeze_order(struct freeze *freezes, size_t count, struct as_error *err) AS_NODISCARD;

/*
 * The instant at which work of `work_ns` that begins at `from_ns` is done and shows. Instants in ns on one clock;
 * `epoch_ns` is that of the first request. Never before from_ns.
 */
int64_t pace_advance(const struct pace *pace, int64_t epoch_ns, int64_t from_ns, int64_t work_ns);

#endif
