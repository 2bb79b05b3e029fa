/* SPDX-License-Identifier: Apache-2.0 */
#ifndef ASSAY_RUN_FOLDER_H
#define ASSAY_RUN_FOLDER_H

/* The result folder of one run. */

#include "base/status.h"
#include "base/strbuf.h"

#include <limits.h>

#define FOLDER_DEFAULT_PARENT "assay-results"

struct folder {
    char path[PATH_MAX - 64]; /* without a slash at the end; room for a file's name behind it */
};

/*
 * Makes the folder: `wanted`, or assay-results/`human_id` when that is NULL. AS_E_EXISTS when it holds a run already (run.json,
 * requests.jsonl or summary.json), AS_E_IO, AS_E_DENIED. What a run left that never began (it was refused, or stopped before its
 * first request) is removed.
 */
as_status folder_open(const char *wanted, const char *human_id, struct folder *ret, struct as_error *err) AS_NODISCARD;
/*
 * Writes a file of the folder whole (a new file renamed over the old one), but does not wait for the disk: a killed process leaves
 * the old or the new one. For what is written before the first request; AS_E_IO, AS_E_DENIED.
 */
as_status folder_write(const struct folder *folder, const char *name, const struct strbuf *text, struct as_error *err) AS_NODISCARD;
/* "folder/name" */
void folder_file(const struct folder *folder, const char *name, char ret[PATH_MAX]);

#endif
