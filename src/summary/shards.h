/* SPDX-License-Identifier: Apache-2.0 */
#ifndef ASSAY_SUMMARY_SHARDS_H
#define ASSAY_SUMMARY_SHARDS_H

/* Do several runs belong together? Internal to summary. */

#include "base/arena.h"
#include "base/json.h"
#include "summary/run_facts.h"

/*
 * Sets *ret to a sentence that names the first thing in which the runs differ and should not (tool, endpoints, a member
 * of the configuration other than shard and file names), a shard that was given twice or, of several, one that is
 * missing; NULL when there is none. Texts live in the arena.
 */
as_status shards_difference(const struct run_facts *const *shards, size_t count, struct arena *arena,
                            const char **ret) AS_NODISCARD;

/*
 * What the configurations of several runs have in common: members that are not the same in all are null, and `inputs`
 * lists the runs with path, run_id, shard and result_dir. AS_E_INVALID when one is no JSON object, AS_E_NOMEM.
 */
as_status shards_config(const struct run_facts *const *shards, size_t count, struct arena *arena,
                        const struct json_value **ret) AS_NODISCARD;

#endif
