/* SPDX-License-Identifier: Apache-2.0 */
#ifndef ASSAY_SUMMARY_BUILDER_H
#define ASSAY_SUMMARY_BUILDER_H

/* The state between the first record and the summary. Internal to summary. */

#include "summary/prompt_set.h"
#include "summary/seq_set.h"
#include "summary/summary.h"
#include "summary/tally.h"

/* Records name endpoints by number; one beyond this belongs to none. */
#define BUILDER_ENDPOINTS_MAX 4096

/* Smallest and largest of some instants. */
struct span {
    int64_t first_ns, last_ns; /* meaningless while n is 0 */
    int64_t n;
};

static inline void span_take(struct span *span, int64_t at_ns)
{
    if (span->n == 0 || at_ns < span->first_ns)
        span->first_ns = at_ns;
    if (span->n == 0 || at_ns > span->last_ns)
        span->last_ns = at_ns;
    span->n++;
}

/* One run whose records come. Inputs with the same run id are the same run. */
struct builder_run {
    const struct run_facts *facts;
    int64_t records; /* taken */
};

/* The requests seen of one run, by the id that its records bear. */
struct builder_seen {
    char run_id[RECORD_ID_BYTES];
    struct seq_set set;
};

struct builder_shard {
    size_t run;       /* index into runs */
    int64_t shift_ns; /* this run's epoch − the earliest epoch */
};

struct summary_builder {
    struct builder_shard *shards;
    size_t shard_count;
    struct builder_run *runs;
    size_t run_count;
    struct builder_seen *seen;
    size_t seen_count, seen_last; /* last: the one asked last */
    struct column_store store;
    const struct own_figures *figures; /* the first shard's tool's, NULL = none */
    struct tally **tallies; /* by endpoint index; the last one is for those without */
    size_t tally_count, tally_capacity;
    struct tally *unassigned;
    struct column sent, done; /* instants of all that were sent */
    struct request_counts all;
    int64_t warmup, ramp_up, boundary, duplicates;
    struct span measured_sent, measured_ok_done, measured_done;
    struct span open_sent, open_due; /* measured sends with a due time */
    int64_t late_sends, local_limits;
    struct prompt_set prompts;
    as_status status; /* first failure */
};

/* The earliest epoch among runs that know theirs; false when not all do. */
bool builder_epoch(const struct summary_builder *builder, int64_t *ret_monotonic_ns, int64_t *ret_utc_ns);

/* In flight over time, the steady window in it, and the figures inside that window. Sorts builder->done. */
as_status builder_steady(struct summary_builder *builder, struct summary *summary) AS_NODISCARD;

#endif
