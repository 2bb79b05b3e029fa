/* SPDX-License-Identifier: Apache-2.0 */
#ifndef ASSAY_SIM_TRUTH_H
#define ASSAY_SIM_TRUTH_H

/*
 * The truth log: what the simulator did when. One JSON line a request, written when it has ended; instants in ns on
 * CLOCK_MONOTONIC, taken just before the bytes were given to the kernel; null = it did not happen.
 *
 *   id            x-assay-id of the request, null without
 *   number        place in the order of arrival, from 1
 *   received_ns   the whole request had been read
 *   begun_ns      a batch slot was held (≥ received_ns)
 *   head_ns       the response head was sent
 *   chunks_ns     each content chunk, or each chunk of tool arguments
 *   reasoning_ns  each reasoning chunk
 *   end_ns        the last byte of the response was sent
 *   status, tokens, reasoning_tokens (done, a choice), prompt_tokens, choices, stream
 *   fault         kind of the fault that was this request's fate, null = none
 *   end           complete | closed | reset | aborted (the peer went away) | refused (the queue was full)
 *
 * Each serving thread puts into a ring of its own, without a lock; one writer thread at idle priority makes the text.
 * When a ring is full the record is lost and counted: sim_truth_close tells.
 */

#include "base/status.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* name in the log */
#define SIM_END_MAP(X)                                                                                                 \
    X(COMPLETE, "complete") X(CLOSED, "closed") X(RESET, "reset") X(ABORTED, "aborted") X(REFUSED, "refused")
enum sim_end {
#define SIM_END_ENUM(name, text) SIM_END_##name,
    SIM_END_MAP(SIM_END_ENUM)
#undef SIM_END_ENUM
};

/* Instants ns, -1 = did not happen. Pointers are valid during the call only. */
struct sim_truth_record {
    const char *id; /* at most 255 bytes are kept */
    size_t id_len;
    int64_t number;
    int64_t received_ns, begun_ns, head_ns, end_ns;
    const int64_t *chunks_ns; /* reasoning chunks first */
    uint32_t chunk_count, reasoning_chunk_count;
    int64_t tokens, reasoning_tokens, prompt_tokens;
    int32_t status, choices;
    int32_t fault; /* enum sim_fault_kind, -1 = none */
    enum sim_end end;
    bool stream;
};

struct sim_truth;

/* Truncates the file. `ring_bytes` a thread, a power of two; 0 = 64 MiB, touched as needed. */
as_status sim_truth_open(const char *path, uint32_t threads, size_t ring_bytes, struct sim_truth **ret,
                         struct as_error *err) AS_NODISCARD;
/* From thread `thread` only. Never blocks; false when the ring was full and the record is lost. */
bool sim_truth_put(struct sim_truth *truth, uint32_t thread, const struct sim_truth_record *record);
/*
 * Writes what is left, frees. AS_E_IO when writing failed, AS_E_LIMIT when records were lost. After the last put; NULL
 * is fine.
 */
as_status sim_truth_close(struct sim_truth *truth, struct as_error *err) AS_NODISCARD;

#endif
