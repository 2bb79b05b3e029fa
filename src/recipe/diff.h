/* SPDX-License-Identifier: Apache-2.0 */
#ifndef ASSAY_RECIPE_DIFF_H
#define ASSAY_RECIPE_DIFF_H

/*
 * What a newer file of engine-argument sets would change: sets added, removed and changed, and of a changed one every
 * member and value. Order of the sets is of no account; order of a set's arguments is told, because argv follows it.
 * Pure; memory in the arena.
 */

#include "base/json_write.h"
#include "recipe/data.h"

enum recipe_change_kind { RECIPE_ADDED, RECIPE_REMOVED, RECIPE_CHANGED };

/* One member of a changed set. */
struct recipe_change {
    const char *member; /* "args.max_num_seqs", "env.VLLM_USE_V1", "framework_version_min", "args (order)" */
    enum recipe_change_kind kind;
    const char *before; /* NULL when added */
    const char *after;  /* NULL when removed */
};

struct recipe_set_change {
    const char *set_code;
    enum recipe_change_kind kind;
    const struct recipe_change *changes; /* only of changed sets */
    size_t change_count;
    bool is_launch_changed; /* args, env or images: the command differs, a used set needs a revision */
};

struct recipe_diff {
    const struct recipe_set_change *sets; /* by code */
    size_t set_count;
    size_t added, removed, changed, same;
};

as_status recipe_diff_sets(const struct recipe_data *before, const struct recipe_data *after, struct arena *arena,
                           struct recipe_diff *ret) AS_NODISCARD;
/* One line a set, one indented line a value, a count at the end. */
void recipe_diff_text(const struct recipe_diff *diff, struct strbuf *out);
/* {added, removed, changed, same, sets: [{set_code, change, launch_changed, values: [{member, before, after}]}]} */
void recipe_diff_json(const struct recipe_diff *diff, struct json_writer *writer);

#endif
