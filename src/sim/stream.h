/* SPDX-License-Identifier: Apache-2.0 */
#ifndef ASSAY_SIM_STREAM_H
#define ASSAY_SIM_STREAM_H

/*
 * One answer on its way: joins the plan (sim/answer.h) to an exchange, a timer and a batch slot. Its life:
 * sim_stream_begin, then timers, then sim_stream_done when the exchange is done. In its worker's thread only.
 */

#include "sim/worker.h"

/* Takes the exchange over. Anything that fails ends the connection. */
void sim_stream_begin(struct sim_worker *worker, struct http_exchange *x, const struct sim_ask *ask);
/* The exchange's on_writable, on_abort and on_done. */
void sim_stream_writable(struct sim_stream *stream);
void sim_stream_abort(struct sim_stream *stream);
void sim_stream_done(struct sim_stream *stream);
/* Frees a worker's list of streams that are not in use. */
void sim_stream_free_list(struct sim_stream *first);

#endif
