/* SPDX-License-Identifier: Apache-2.0 */
/* Parts of runs and jobs as JSON. */
#include "plane/runs.h"

/* SELECT of a shape's columns from a table, of the rows that hang on `id`. */
struct part_query {
    const struct shape *shape;
    const char *table;
    const char *column;
    const char *order;
};

static void put_members(struct plane_call *call, const struct shape *shape, const struct store_rows *rows)
{
    json_open_object(&call->json);
    for (size_t i = 0; i < shape->count; i++) {
        json_key(&call->json, shape->fields[i].name);
        resource_put_value(&call->json, &shape->fields[i], rows, (uint32_t)i);
    }
    json_close_object(&call->json);
}

static as_status read_parts(struct plane_call *call, const struct part_query *query, int64_t id,
                            struct store_rows **ret)
{
    struct sql sql AS_AUTO_SQL = {.count = 0};
    sql_begin(&sql, call);
    sql_add(&sql, "SELECT ");
    for (size_t i = 0; i < query->shape->count; i++)
        sql_add(&sql, "%st.%s", i ? ", " : "", field_column(&query->shape->fields[i]));
    sql_add(&sql, " FROM %s t WHERE t.%s = ", query->table, query->column);
    sql_of_row(&sql, id);
    sql_add(&sql, " ORDER BY %s", query->order);
    return sql_query(&sql, call, ret);
}

static as_status put_list(struct plane_call *call, const char *member, const struct part_query *query, int64_t id)
{
    struct store_rows *rows AS_AUTO_ROWS = NULL;
    as_status status = read_parts(call, query, id, &rows);
    json_key(&call->json, member);
    json_open_array(&call->json);
    while (status == AS_OK && store_next(rows))
        put_members(call, query->shape, rows);
    json_close_array(&call->json);
    return status == AS_OK ? rows_end(rows, call) : status;
}

static as_status put_plan(struct plane_call *call, int64_t id)
{
    static const struct part_query query = {&shape_plan, "job_plans", "job_id", "t.job_id"};
    struct store_rows *rows AS_AUTO_ROWS = NULL;
    as_status status = read_parts(call, &query, id, &rows);
    json_key(&call->json, "plan");
    if (status == AS_OK && store_next(rows))
        put_members(call, &shape_plan, rows);
    else
        json_put_null(&call->json);
    return status == AS_OK ? rows_end(rows, call) : status;
}

as_status runs_put_job(struct plane_call *call, int64_t job_id)
{
    static const struct part_query commands = {&shape_command, "job_commands", "job_id", "t.kind, t.ordinal"};
    static const struct part_query transitions = {&shape_transition, "job_transitions", "job_id", "t.ordinal"};
    as_status status = put_plan(call, job_id);
    if (status == AS_OK)
        status = put_list(call, "commands", &commands, job_id);
    return status == AS_OK ? put_list(call, "transitions", &transitions, job_id) : status;
}

as_status runs_put_checks(struct plane_call *call, int64_t run_id)
{
    struct store_rows *rows AS_AUTO_ROWS = NULL;
    struct sql sql AS_AUTO_SQL = {.count = 0};
    sql_begin(&sql, call);
    sql_add(&sql,
            "SELECT t.check_code, t.subject, t.verdict, t.can_override, t.compared, t.message, t.remedy, u.user_name, "
            "t.override_reason FROM run_checks t LEFT JOIN users u ON u.id = t.overridden_by_user_id WHERE "
            "t.run_id = ");
    sql_of_row(&sql, run_id);
    sql_add(&sql, " ORDER BY t.id");
    as_status status = sql_query(&sql, call, &rows);
    json_key(&call->json, "checks");
    json_open_array(&call->json);
    while (status == AS_OK && store_next(rows))
        put_members(call, &shape_check_result, rows);
    json_close_array(&call->json);
    return status == AS_OK ? rows_end(rows, call) : status;
}
