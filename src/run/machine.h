/* SPDX-License-Identifier: Apache-2.0 */
#ifndef ASSAY_RUN_MACHINE_H
#define ASSAY_RUN_MACHINE_H

/* The machine a run is made on: what it is, and whether its limits let the run happen. Main thread. */

#include "base/arena.h"
#include "base/status.h"
#include "summary/run_facts.h"

#include <stdbool.h>
#include <stdint.h>

/* Fills what can be found out; the rest is NULL or -1. Texts live in `arena`. */
void machine_describe(struct arena *arena, struct run_environment *ret);

/* What a run will need at once. */
struct machine_needs {
    int64_t connections;      /* open at the same time, 0 = unknown */
    int64_t threads;
    bool is_tcp;              /* any server is reached over TCP */
};

/*
 * Raises the limit on descriptors as far as needed. AS_E_LIMIT when the hard limit, or the range of local ports, is too small: the
 * sentence says what to set.
 */
as_status machine_prepare(const struct machine_needs *needs, const struct run_environment *environment, struct as_error *err) AS_NODISCARD;

#endif
