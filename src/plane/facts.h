/* SPDX-License-Identifier: Apache-2.0 */
#ifndef ASSAY_PLANE_FACTS_H
#define ASSAY_PLANE_FACTS_H

/*
 * Rows of the catalogue as the structs of recipe/, in the call's arena. A shipped thing keeps its original JSON in
 * `facts`; one that a tenant made is put together from its columns. All functions read in the call's transaction; ids
 * come from scoped statements. Failures are told in the call's problem.
 */

#include "plane/call.h"
#include "recipe/command.h"
#include "recipe/engine_args.h"

as_status facts_model(struct plane_call *call, int64_t id, const struct recipe_model **ret) AS_NODISCARD;
as_status facts_gpu(struct plane_call *call, int64_t id, const struct recipe_gpu **ret) AS_NODISCARD;
/* With the flags of a version: the framework's own, those of the version's templates added. `version_id` 0 = any
 * version. */
as_status facts_framework(struct plane_call *call, int64_t id, int64_t version_id,
                          const struct recipe_framework **ret) AS_NODISCARD;

struct facts_set {
    const struct recipe_set *set;
    int64_t revision;
    const char *digest;
};
/* `revision` 0 = the newest. AS_E_NOTFOUND, without a problem, when there is no such revision. */
as_status facts_set(struct plane_call *call, int64_t id, int64_t revision, struct facts_set *ret) AS_NODISCARD;

/* The spelling that is kept with a value: a flag that says false by being left out is "". */
const char *facts_flag(const struct recipe_flag *flag, const struct json_value *value);

struct facts_template {
    const struct recipe_template *item;
    int64_t revision;
};
as_status facts_template(struct plane_call *call, int64_t id, struct facts_template *ret) AS_NODISCARD;
/* All templates that the caller sees, its own last. */
as_status facts_templates(struct plane_call *call, struct recipe_templates *ret,
                          const int64_t **ret_revisions) AS_NODISCARD;
/* The JSON object that recipe_read_template reads, of a template's members. */
as_status facts_template_json(struct plane_call *call, const struct store_rows *rows,
                              struct json_writer *writer) AS_NODISCARD;

#endif
