/* SPDX-License-Identifier: Apache-2.0 */
#ifndef ASSAY_SUMMARY_TALLY_H
#define ASSAY_SUMMARY_TALLY_H

/*
 * What is kept of the measured requests of one endpoint while records come: counters, packed columns and one histogram.
 * Internal to summary.
 */

#include "stats/column.h"
#include "stats/histogram.h"
#include "summary/own.h"
#include "summary/summary.h"

#define HTTP_STATUS_SLOTS 1000
#define PPM               INT64_C(1000000)

/* Columns of measured successes, row by row. */
enum tally_column {
    COLUMN_DONE, /* instant */
    COLUMN_RESPONSE_TIME,
    COLUMN_RESPONSE_LATENCY,
    COLUMN_QUEUE_DELAY,
    COLUMN_TTFT,
    COLUMN_TTFT_SPEC,
    COLUMN_TTFR,
    COLUMN_TPOT,
    COLUMN_TPOT_SPEC,
    COLUMN_DNS,
    COLUMN_CONNECT,
    COLUMN_TLS,
    COLUMN_FIRST_BYTE,
    COLUMN_LAG,
    COLUMN_PROMPT_TOKENS,
    COLUMN_COMPLETION_TOKENS,
    COLUMN_REASONING_TOKENS,
    COLUMN_TOTAL_TOKENS,
    COLUMN_PROMPT_WORDS,
    COLUMN_COMPLETION_WORDS,
    COLUMN_LENGTH_PPM,
    TALLY_COLUMNS
};

/* Which errors came first; message is owned. */
struct tally_example {
    int64_t seq;
    uint8_t type;
    int32_t http_status;
    uint32_t endpoint;
    char *message;
};

struct tally {
    struct request_counts counts;
    struct column columns[TALLY_COLUMNS];
    struct histogram *gaps;               /* NULL = none seen */
    int64_t usage_missing, cached_tokens; /* cached: -1 = never said */
    int64_t bytes_sent, bytes_received;
    int64_t zero_tokens, damaged_events;
    int64_t flags[32];
    int64_t stamps[RECORD_STAMP_COUNT];
    int64_t good, undecided, near_limit;
    int64_t content_chunks, censored_chunks, chunks_with_tokens, tokens_with_chunks;
    int64_t longer, shorter, requested_tokens, delivered_tokens;
    int64_t by_type[ERROR_TYPE_COUNT];
    int64_t by_status[HTTP_STATUS_SLOTS];
    int64_t oom_seq; /* INT64_MAX = none */
    char *oom_message;
    struct tally_example examples[ERROR_EXAMPLES_MAX];
    size_t example_count;
    struct first_request first; /* seq INT64_MAX = none */
    const struct own_figures *figures; /* the tool's own, NULL = none; `own` is its tally */
    struct own_tally *own;
    struct arena scratch; /* the own block of one record */
    as_status status;     /* first failure */
};

void tally_init(struct tally *tally, struct column_store *store);
/* For tools with figures of their own; NULL is fine. AS_E_NOMEM. */
as_status tally_set_figures(struct tally *tally, const struct own_figures *figures, struct column_store *store) AS_NODISCARD;
void tally_done(struct tally *tally);
/* Takes a measured record; instants are moved by shift_ns. */
void tally_add(struct tally *tally, const struct run_rules *rules, const struct request_record *record,
               int64_t shift_ns);
/* Tallies whose figures are wanted together. */
struct tally_group {
    struct tally *const *tallies;
    size_t count;
    const struct run_rules *rules;
    bool is_total;
};

/* The figures of a group; texts and lists go to the arena. `window` is known. */
as_status tally_block(const struct tally_group *group, const struct summary_window *window, struct arena *arena,
                      struct summary_block *ret) AS_NODISCARD;
/* Client lag of a group, in ns. */
as_status tally_lag(const struct tally_group *group, struct distribution *ret) AS_NODISCARD;

/* Adds a count of a record; what is unknown (negative) adds nothing, and a file of nonsense does not overflow. */
static inline void sum_up(int64_t *sum, int64_t value)
{
    if (value > 0 && __builtin_add_overflow(*sum, value, sum))
        *sum = INT64_MAX;
}

/* a + b for b ≥ 0, INT64_MAX when that is too much. */
static inline int64_t plus(int64_t a, int64_t b)
{
    sum_up(&a, b);
    return a;
}

/* Adds each counter of `from`. */
void request_counts_add(struct request_counts *to, const struct request_counts *from);
/* Counts one record. */
void request_counts_take(struct request_counts *counts, const struct request_record *record);
/* Outcomes that were sent. */
static inline bool record_was_sent(const struct request_record *record)
{
    return record->outcome != OUTCOME_REFUSED;
}

#endif
