/* SPDX-License-Identifier: Apache-2.0 */
#ifndef ASSAY_RUN_LIVE_H
#define ASSAY_RUN_LIVE_H

/*
 * Runs the engine in a thread of its own while the caller's thread shows progress on stderr: on a terminal one line that is
 * drawn anew, else a line from time to time, or nothing.
 */

#include "engine/engine.h"

#include <stdbool.h>
#include <stdint.h>

struct live_options {
    bool is_quiet;
    int64_t interval_ns;      /* between lines where stderr is no terminal */
    int64_t planned;          /* -1 = bounded by time */
    int64_t warmup;
    int64_t duration_ns;      /* planned length of the run, 0 = bounded by number */
    bool is_streaming;
};

/* engine_run's result. */
as_status live_run(struct engine *engine, const struct live_options *options, struct engine_result *ret, struct as_error *err) AS_NODISCARD;

#endif
