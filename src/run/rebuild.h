/* SPDX-License-Identifier: Apache-2.0 */
#ifndef ASSAY_RUN_REBUILD_H
#define ASSAY_RUN_REBUILD_H

/*
 * A summary made again from what runs left behind: records, journals of killed runs, run.json. Several inputs are the shards of one
 * plan (or parts of one run). Nothing on disk is changed. Single thread.
 */

#include "base/arena.h"
#include "measure/records.h"
#include "summary/summary.h"

#include <stdbool.h>
#include <stddef.h>

struct rebuild_input {
    const char *file;           /* requests.jsonl, or "-" */
    struct run_facts facts;     /* unknown ones when there is no run.json */
    bool has_facts;
    const char **names;         /* of endpoints */
    struct records_found found;
};

struct rebuild {
    struct arena arena;
    struct rebuild_input *inputs;
    size_t count;
    struct summary summary;
    bool has_summary;
};

/*
 * Reads `count` ≥ 1 files or folders ("-": standard input) and makes the summary. AS_E_NOTFOUND, AS_E_INVALID (file and line named),
 * AS_E_IO, AS_E_NOMEM. Call rebuild_done whatever came of it.
 */
as_status rebuild_make(struct rebuild *ret, const char *const *paths, size_t count, struct as_error *err) AS_NODISCARD;
void rebuild_done(struct rebuild *rebuild);

#endif
