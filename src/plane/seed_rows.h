/* SPDX-License-Identifier: Apache-2.0 */
#ifndef ASSAY_PLANE_SEED_ROWS_H
#define ASSAY_PLANE_SEED_ROWS_H

/* Rows of the shared catalogue, for seed*.c: the call's tenant is `shared`. */

#include "plane/call.h"
#include "recipe/command.h"
#include "recipe/data.h"

#include <stddef.h>

/* A row to be there: `key` columns of it name it. */
struct seed_row {
    const char *table;
    const char *const *columns; /* NULL-terminated; the first `keys` are the natural key */
    const struct store_value *values;
    size_t keys;
    bool has_tenant, has_life;
};

/* The row's id; *ret_is_new whether it was made now. What is there is left as it is. */
as_status seed_row(struct plane_call *call, const struct seed_row *row, int64_t *ret_id, bool *ret_is_new) AS_NODISCARD;
/*
 * Rows of one table whose ids nobody needs, many in one statement; what is there is left as it is. Texts of values live
 * until the end. Begun, filled, ended (whatever came before) in one function.
 */
struct seed_batch {
    struct sql sql;
    struct plane_call *call;
    const char *table;
    const char *const *columns; /* NULL-terminated */
    size_t width, rows;
};
void seed_batch_begin(struct seed_batch *batch, struct plane_call *call, const char *table, const char *const *columns);
as_status seed_batch_add(struct seed_batch *batch, const struct store_value *values) AS_NODISCARD;
/* Writes what is left when `status` is AS_OK; returns the first failure. */
as_status seed_batch_end(struct seed_batch *batch, as_status status) AS_NODISCARD;
/* A list of texts as a JSON array. */
const char *seed_list(struct plane_call *call, const struct recipe_list *list);
/* Pairs as a JSON object of texts. */
const char *seed_pairs(struct plane_call *call, const struct recipe_pairs *pairs);

as_status seed_models(struct plane_call *call, const struct recipe_data *data) AS_NODISCARD;
as_status seed_gpus(struct plane_call *call, const struct recipe_data *data) AS_NODISCARD;
/* `files`: frameworks.json, whose objects are kept as facts. */
as_status seed_frameworks(struct plane_call *call, const struct recipe_data *data,
                          const struct json_value *file) AS_NODISCARD;
as_status seed_sets(struct plane_call *call, const struct recipe_data *data) AS_NODISCARD;
as_status seed_templates(struct plane_call *call, const struct json_value *file) AS_NODISCARD;
as_status seed_prompt_sources(struct plane_call *call) AS_NODISCARD;

#endif
