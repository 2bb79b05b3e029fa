/* SPDX-License-Identifier: Apache-2.0 */
#ifndef ASSAY_SUMMARY_SUMMARY_H
#define ASSAY_SUMMARY_SUMMARY_H

/*
 * Records → one versioned value. A builder takes the records of a run (or of several shards of one plan) in any order
 * and from one thread; summary_finish turns them and the run facts into a struct summary, which summary/summary_json.h
 * writes. The same records and facts give the same summary to the last digit, whatever the order: `assay summarize`
 * uses this code and no other.
 *
 * Memory does not grow with the run (columns are spilled to an unnamed file) but for one bit a request, and 8 bytes a
 * measured success while one metric is sorted at the end.
 *
 * Identities, checked by summary_check before anything is written, in requests:
 *   planned = sent + refused + skipped + lost (lost: known to have begun but without a record; 0 in a sound run)
 *   (skipped is unknown in a run that was killed: some of what has no record was in flight)
 *   late_unsent ≤ skipped (open loop: due before sending ended, but never begun)
 *   sent = ok + failed + timed_out + cancelled;  warmup + ramp_up + measured records = sent + refused
 *   errors.count = failed + timed_out + refused of the measured = Σ errors.by_type;  Σ endpoints
 *   (and unassigned) = total
 *
 * Durations are ns, counts as named, -1 = unknown; doubles are NAN when undefined. Everything undefined is written as
 * null.
 */

#include "base/arena.h"
#include "base/json.h"
#include "base/status.h"
#include "engine/record.h"
#include "summary/figures.h"
#include "summary/run_facts.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct summary {
    struct arena arena;              /* owns texts and lists below */
    const struct run_facts *facts;   /* the first shard's */
    const struct json_value *config; /* of several runs what they have in common; NULL = unknown */
    int64_t shards;                  /* records of how many runs are in it */
    bool is_partial;                 /* stopped before its plan was done, or never ended */
    struct summary_window window;
    struct plan_counts counts;
    struct summary_block total;
    struct summary_block *endpoints; /* by endpoint index */
    size_t endpoint_count;
    struct request_counts unassigned; /* measured requests that belong to no endpoint (refused before one was chosen) */
    struct steady_figures steady;
    struct client_figures client;
    struct prompt_figures prompts;
    struct validity validity;
};

struct summary_builder;

/*
 * `shards` are the facts of each run whose records come (one for a live run); the pointers are kept: their rules,
 * endpoints and epochs must be set now, the rest when summary_finish is called. `spill_folder` is where columns go;
 * NULL = memory. AS_E_INVALID without a shard, AS_E_NOMEM.
 */
as_status summary_builder_new(const struct run_facts *const *shards, size_t shard_count, const char *spill_folder,
                              struct summary_builder **ret) AS_NODISCARD;
void summary_builder_free(struct summary_builder *builder);
/* Takes a record of run `shard`; keeps no pointer into it. A failure of memory is told by summary_finish. */
void summary_add(struct summary_builder *builder, size_t shard, const struct request_record *record);
/* The same for a record that bears a run id of its own. A further record of the same id and seq is counted and left out. */
void summary_add_of(struct summary_builder *builder, size_t shard, const char *run_id,
                    const struct request_record *record);
/*
 * Makes the summary; the facts must outlive it. The builder can only be freed afterwards. AS_E_INVALID when a config is
 * no JSON, AS_E_NOMEM, AS_E_IO. *ret needs summary_done.
 */
as_status summary_finish(struct summary_builder *builder, struct summary *ret, struct as_error *err) AS_NODISCARD;
void summary_done(struct summary *summary);

/* Checks the identities above; AS_E_INTERNAL and the broken one in *err. */
as_status summary_check(const struct summary *summary, struct as_error *err) AS_NODISCARD;

/* Nearest-rank distribution of a few values in ns, which it reorders: for the progress line. */
struct distribution summary_quick_distribution(int64_t *values_ns, size_t count);

#endif
