/* SPDX-License-Identifier: Apache-2.0 */
#include "plane/parts.h"

#include "plane/values.h"

#include <string.h>

/* The part as a resource, so that references are read and written in the same way. */
static struct resource as_resource(const struct part *part)
{
    return (struct resource){.shape = *part->shape,
                             .table = part->table,
                             .references = part->references,
                             .reference_count = part->reference_count};
}

static as_status insert(struct plane_call *call, const struct part *part, int64_t id, const struct json_value *item)
{
    const struct resource resource = as_resource(part);
    struct row_values row = {.count = 0};
    struct sql sql AS_AUTO_SQL = {.count = 0};
    as_status status = values_read(call, &resource, item, SHAPE_CREATE, &row);
    if (status != AS_OK)
        return status;
    sql_begin(&sql, call);
    sql_add(&sql, "INSERT INTO %s (%s", part->table, part->column);
    for (uint32_t i = 0; i < row.count; i++)
        sql_add(&sql, ", %s", row.columns[i]);
    sql_add(&sql, ") VALUES (");
    sql_of_row(&sql, id);
    for (uint32_t i = 0; i < row.count; i++) {
        sql_add(&sql, ", ");
        sql_value(&sql, row.values[i]);
    }
    sql_add(&sql, ")");
    status = sql_exec(&sql, call, NULL);
    if (status != AS_E_EXISTS)
        return status;
    call->problem = (struct problem){.is_set = false};
    return problem_add(&call->problem, call_printf(call, "/%s", part->member), "twice", "holds one thing twice");
}

as_status parts_write(struct plane_call *call, const struct part *parts, size_t count, int64_t id)
{
    for (size_t i = 0; i < count; i++) {
        const struct json_value *list = json_get(call->input, parts[i].member);
        struct sql sql AS_AUTO_SQL = {.count = 0};
        if (!list)
            continue;
        sql_begin(&sql, call);
        sql_add(&sql, "DELETE FROM %s WHERE %s = ", parts[i].table, parts[i].column);
        sql_of_row(&sql, id);
        as_status status = sql_exec(&sql, call, NULL);
        for (const struct json_value *item = list->first; status == AS_OK && item; item = item->next)
            status = insert(call, &parts[i], id, item);
        if (status != AS_OK)
            return status;
    }
    return AS_OK;
}

static as_status put(struct plane_call *call, const struct part *part, int64_t id)
{
    const struct resource resource = as_resource(part);
    struct store_rows *rows AS_AUTO_ROWS = NULL;
    struct sql sql AS_AUTO_SQL = {.count = 0};
    sql_begin(&sql, call);
    sql_add(&sql, "SELECT ");
    for (size_t i = 0; i < part->shape->count; i++) {
        sql_add(&sql, "%s", i ? ", " : "");
        sql_member(&sql, &resource, &part->shape->fields[i], "t");
    }
    sql_add(&sql, " FROM %s t", part->table);
    sql_joins(&sql, &resource, "t");
    sql_add(&sql, " WHERE t.%s = ", part->column);
    sql_of_row(&sql, id);
    sql_add(&sql, " ORDER BY t.%s", part->order);
    as_status status = sql_query(&sql, call, &rows);
    json_key(&call->json, part->member);
    json_open_array(&call->json);
    while (status == AS_OK && store_next(rows)) {
        json_open_object(&call->json);
        for (size_t i = 0; i < part->shape->count; i++) {
            json_key(&call->json, part->shape->fields[i].name);
            resource_put_value(&call->json, &part->shape->fields[i], rows, (uint32_t)i);
        }
        json_close_object(&call->json);
    }
    json_close_array(&call->json);
    return status == AS_OK ? rows_end(rows, call) : status;
}

as_status parts_put(struct plane_call *call, const struct part *parts, size_t count, int64_t id)
{
    as_status status = AS_OK;
    for (size_t i = 0; status == AS_OK && i < count; i++)
        status = put(call, &parts[i], id);
    return status;
}
