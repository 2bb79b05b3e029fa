/* SPDX-License-Identifier: Apache-2.0 */
#ifndef ASSAY_SUMMARY_OWN_H
#define ASSAY_SUMMARY_OWN_H

/*
 * A tool's own figures: what the own blocks of its records (request_record.modality_json) add up to, shown as the
 * member named after the tool, in all and for each endpoint. One constant table a tool in summary/own_<tool>.c; the
 * tool's name finds it. Internal to summary.
 */

#include "base/json.h"
#include "base/json_write.h"
#include "stats/column.h"
#include "summary/figures.h"
#include "summary/run_facts.h"

/* What is kept of one endpoint's measured records; each implementation has its own. */
struct own_tally;

/* Tallies whose figures are wanted together, and what is known of the same requests already. */
struct own_group {
    struct own_tally *const *tallies;
    size_t count;
    const struct run_rules *rules;
    const struct summary_window *window;
    const struct summary_block *block;
    bool is_total; /* of all requests, not of one endpoint */
};

struct own_figures {
    const char *tool;
    struct own_tally *(*make)(struct column_store *store); /* NULL = no memory */
    void (*drop)(struct own_tally *tally);
    /* A measured record of any outcome; `own` is its block, NULL = it has none. AS_E_NOMEM. Columns keep their failures
     * for `write`. */
    as_status (*take)(struct own_tally *tally, const struct request_record *record, const struct json_value *own);
    /* Writes the members of the open object. */
    as_status (*write)(const struct own_group *group, struct json_writer *writer);
};

extern const struct own_figures OWN_VLM, OWN_ASR, OWN_IMAGEGEN;

/* NULL when the tool has none. */
const struct own_figures *own_figures_find(const char *tool);

/* ---- for implementations ---- */

/*
 * Writes a distribution of the columns at `offset` bytes into each tally, values divided by `scale`. Also gives their
 * number and exact sum when the pointers are not NULL.
 */
struct own_column {
    const char *name;
    size_t offset; /* of a struct column in the tally */
    double scale;
};
struct own_sum {
    int64_t n;
    double sum; /* of the values as kept; NAN when n is 0 */
};
as_status own_write_column(const struct own_group *group, const struct own_column *column, struct json_writer *writer,
                           struct own_sum *ret);
/* value / (ns / 1e9); NAN when the duration is not positive. */
double own_per_second(double value, int64_t duration_ns);

#endif
