/* SPDX-License-Identifier: Apache-2.0 */
#ifndef ASSAY_SELFTEST_TIMING_H
#define ASSAY_SELFTEST_TIMING_H

/*
 * Joins what a client recorded (requests.jsonl with every gap) with what the simulator did (its truth log), by request
 * and chunk. Error = recorded instant − instant just before the send; both on CLOCK_MONOTONIC. Chunks that shared a
 * read with a later one have no time of their own: they are counted, not compared. One thread.
 */

#include "base/status.h"

#include <stdint.h>

struct timing {
    int64_t requests; /* compared */
    int64_t chunks;   /* of them, compared or shared */
    int64_t shared;
    double ttft_p50_us, ttft_p99_us; /* by the stamps of the record; NAN = none */
    double chunk_p50_us, chunk_p99_us, chunk_max_us;
    double user_ttft_p99_us; /* the same first chunks by the client's own clock reads */
    double sim_late_p99_us;  /* how late the simulator sent, against a steady step of itl_ns from its first chunk */
};

struct timing_input {
    const char *records_path, *truth_path;
    int64_t epoch_ns; /* of the run, CLOCK_MONOTONIC */
    int64_t itl_ns;
};

/* AS_E_INVALID when a measured request is not in the truth log, or has another number of chunks there. */
as_status timing_compare(const struct timing_input *input, struct timing *ret, struct as_error *err) AS_NODISCARD;

#endif
