/* SPDX-License-Identifier: Apache-2.0 */
#ifndef ASSAY_SIM_SIM_H
#define ASSAY_SIM_SIM_H

/*
 * A model server with known timing: chat and completions, streaming or not, /v1/models, /health, /metrics. What it does
 * is decided by its options (sim/sim_options.h) and a seed; what it did, and when, is in the truth log (sim/truth.h).
 *
 * How a request runs: it is read whole, takes a batch slot or waits for one, works for its TTFT, then emits a chunk
 * each ITL. Due times follow each other exactly: a late emission does not delay the next one. Each chunk is one write.
 * With --itl 0 chunks that are due together share writes.
 *
 * sim_new, sim_run and sim_close in one thread; sim_stop from anywhere, also from a signal handler.
 */

#include "base/status.h"
#include "sim/sim_options.h"

struct sim;

/* Listens; clients may connect from now on. `settings` and its texts outlive the sim. */
as_status sim_new(const struct sim_settings *settings, struct sim **ret, struct as_error *err) AS_NODISCARD;
/* "http://127.0.0.1:41234", "https://…" or "unix:/path"; lives as long as the sim. */
const char *sim_url(const struct sim *sim);
/* Serves until sim_stop. */
as_status sim_run(struct sim *sim, struct as_error *err) AS_NODISCARD;
/* Requests in progress are aborted. */
void sim_stop(struct sim *sim);
/* Frees; tells what became of the truth log (AS_E_IO, AS_E_LIMIT when records were lost). NULL is fine. */
as_status sim_close(struct sim *sim, struct as_error *err) AS_NODISCARD;

#endif
