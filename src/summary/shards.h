/* SPDX-License-Identifier: Apache-2.0 */
#ifndef ASSAY_SUMMARY_SHARDS_H
#define ASSAY_SUMMARY_SHARDS_H

/* Do several runs belong together? Internal to summary. */

#include "base/arena.h"
#include "summary/run_facts.h"

/*
 * Sets *ret to a sentence that names the first thing in which the runs differ and should not (tool, endpoints, a member
 * of the configuration other than shard and file names), a shard that was given twice or, of several, one that is
 * missing; NULL when there is none. Texts live in the arena.
 */
as_status shards_difference(const struct run_facts *const *shards, size_t count, struct arena *arena,
                            const char **ret) AS_NODISCARD;

#endif
