/* SPDX-License-Identifier: Apache-2.0 */
/* Engine-argument sets and command templates of the store as the structs of recipe/. */
#include "plane/facts.h"

#include <string.h>

static void put_raw(struct json_writer *writer, const char *name, const char *json)
{
    json_key(writer, name);
    json_put_raw(writer, json, strlen(json));
}

static void put_text(struct json_writer *writer, const char *name, const char *text)
{
    if (text)
        json_member_string(writer, name, text);
}

const char *facts_flag(const struct recipe_flag *flag, const struct json_value *value)
{
    if (flag->type != RECIPE_BOOL || !value || value->type != JSON_BOOL || value->boolean)
        return flag->flag;
    return flag->false_flag ? flag->false_flag : "";
}

static as_status put_args(struct plane_call *call, struct json_writer *writer, int64_t revision_id)
{
    struct store_rows *rows AS_AUTO_ROWS = NULL;
    struct sql sql AS_AUTO_SQL = {.count = 0};
    sql_begin(&sql, call);
    sql_add(&sql, "SELECT v.arg_key, v.value, NULLIF(v.flag, ''), v.joiner, v.raw_value, v.origin FROM "
                  "framework_engine_args_values v "
                  "WHERE v.set_revision_id = ");
    sql_of_row(&sql, revision_id);
    sql_add(&sql, " ORDER BY v.ordinal");
    as_status status = sql_query(&sql, call, &rows);
    json_key(writer, "args");
    json_open_array(writer);
    while (status == AS_OK && store_next(rows)) {
        json_open_object(writer);
        json_member_string(writer, "key", store_get_text(rows, 0, NULL));
        put_raw(writer, "value", store_is_null(rows, 1) ? "null" : store_get_text(rows, 1, NULL));
        put_text(writer, "flag", store_get_text(rows, 2, NULL));
        put_text(writer, "join", store_get_text(rows, 3, NULL));
        put_text(writer, "raw", store_get_text(rows, 4, NULL));
        put_text(writer, "origin", store_get_text(rows, 5, NULL));
        json_close_object(writer);
    }
    json_close_array(writer);
    return status == AS_OK ? rows_end(rows, call) : status;
}

static as_status put_gpu_classes(struct plane_call *call, struct json_writer *writer, int64_t set_id)
{
    struct store_rows *rows AS_AUTO_ROWS = NULL;
    struct sql sql AS_AUTO_SQL = {.count = 0};
    sql_begin(&sql, call);
    sql_add(&sql, "SELECT g.gpu_class_code FROM framework_engine_args_set_gpu_classes c JOIN gpu_classes g ON g.id = "
                  "c.gpu_class_id WHERE c.set_id = ");
    sql_of_row(&sql, set_id);
    sql_add(&sql, " ORDER BY c.id");
    as_status status = sql_query(&sql, call, &rows);
    json_key(writer, "gpu_classes");
    json_open_array(writer);
    while (status == AS_OK && store_next(rows))
        json_put_string(writer, store_get_text(rows, 0, NULL));
    json_close_array(writer);
    return status == AS_OK ? rows_end(rows, call) : status;
}

static void put_sizes(struct json_writer *writer, const struct store_rows *rows, uint32_t first)
{
    static const char *const names[] = {"tensor_parallel_size", "pipeline_parallel_size",
                                        "data_parallel_size",   "expert_parallel_size",
                                        "node_count",           "gpus_per_replica"};
    for (uint32_t i = 0; i < sizeof names / sizeof names[0]; i++)
        if (!store_is_null(rows, first + i))
            json_member_int(writer, names[i], store_get_int(rows, first + i));
}

/* Columns: code, framework, minimum, scope, model, precision, floor, six sizes, then the revision's. */
static void put_set_members(struct json_writer *writer, const struct store_rows *rows)
{
    const char *scope = store_get_text(rows, 3, NULL);
    json_member_string(writer, "set_code", store_get_text(rows, 0, NULL));
    json_member_string(writer, "framework_code", store_get_text(rows, 1, NULL));
    put_text(writer, "framework_version_min", store_get_text(rows, 2, NULL));
    if (strcmp(scope, "imagegen") == 0)
        json_member_string(writer, "tool", "metrumbench-imagegen");
    put_text(writer, "model_code", store_get_text(rows, 4, NULL));
    put_text(writer, "precision", store_get_text(rows, 5, NULL));
    if (!store_is_null(rows, 6))
        json_member_double(writer, "memory_floor_gb", store_get_real(rows, 6));
    put_sizes(writer, rows, 7);
    put_raw(writer, "env", store_get_text(rows, 13, NULL));
    put_raw(writer, "images", store_get_text(rows, 14, NULL));
}

static as_status find_set(struct plane_call *call, int64_t id, int64_t revision, struct store_rows **ret)
{
    struct sql sql AS_AUTO_SQL = {.count = 0};
    sql_begin(&sql, call);
    sql_add(
        &sql,
        "SELECT s.set_code, f.framework_code, s.framework_version_min, s.tool_scope, m.model_code, s.precision_code, "
        "s.vram_minimum_gb, s.tensor_parallel_size, s.pipeline_parallel_size, s.data_parallel_size, "
        "s.expert_parallel_size, s.node_count, s.gpus_per_replica, r.environment, r.images, r.id, r.revision, "
        "r.digest FROM framework_engine_args_sets s JOIN frameworks f ON f.id = s.framework_id JOIN "
        "framework_engine_args_set_revisions r ON r.set_id = s.id LEFT JOIN models m ON m.id = s.model_id "
        "WHERE s.id = ");
    sql_of_row(&sql, id);
    sql_add(&sql, " AND r.revision = ");
    if (revision)
        sql_value(&sql, store_int(revision));
    else
        sql_add(&sql, "s.current_revision");
    as_status status = sql_query(&sql, call, ret);
    if (status != AS_OK || store_next(*ret))
        return status;
    status = rows_end(*ret, call);
    return status == AS_OK ? AS_E_NOTFOUND : status;
}

static as_status read_set(struct plane_call *call, const struct strbuf *text, struct facts_set *ret)
{
    struct recipe_data data = {0};
    struct as_error err = {0};
    char *copy = arena_strndup(&call->arena, strbuf_text(text), text->len);
    if (!copy)
        return call_store_failed(call, AS_E_NOMEM);
    const struct recipe_text input = {"engine-argument set", copy, text->len};
    as_status status = recipe_read_sets(&input, &call->arena, &data, &err);
    if (status == AS_E_INVALID)
        return problem_add(&call->problem, "/args", "value", "%.230s", err.message);
    if (status != AS_OK)
        return call_store_failed(call, status);
    ret->set = data.sets;
    return AS_OK;
}

as_status facts_set(struct plane_call *call, int64_t id, int64_t revision, struct facts_set *ret)
{
    struct store_rows *rows AS_AUTO_ROWS = NULL;
    struct strbuf text AS_AUTO_STRBUF = {.len = 0};
    struct json_writer writer;
    as_status status = find_set(call, id, revision, &rows);
    strbuf_init(&text, 0);
    if (status != AS_OK)
        return status;
    ret->revision = store_get_int(rows, 16);
    ret->digest = rows_copy(call, rows, 17);
    json_writer_init(&writer, &text, 0);
    json_open_object(&writer);
    json_member_string(&writer, "schema", "assay.recipe-sets.v1");
    put_raw(&writer, "sources", "[]");
    json_key(&writer, "sets");
    json_open_array(&writer);
    json_open_object(&writer);
    put_set_members(&writer, rows);
    status = put_gpu_classes(call, &writer, id);
    if (status == AS_OK)
        status = put_args(call, &writer, store_get_int(rows, 15));
    json_close_object(&writer);
    json_close_array(&writer);
    json_close_object(&writer);
    if (status == AS_OK && json_writer_status(&writer) != AS_OK)
        status = call_store_failed(call, json_writer_status(&writer));
    return status == AS_OK ? read_set(call, &text, ret) : status;
}

/* ---- command templates ---- */

#define TEMPLATE_COLUMNS                                                                                               \
    "t.template_code, t.kind, f.framework_code, t.tool, t.launcher, t.description, r.argv, r.environment, "            \
    "r.settings, "                                                                                                     \
    "r.revision, t.id FROM command_templates t LEFT JOIN frameworks f ON f.id = t.framework_id JOIN "                  \
    "command_template_revisions r ON r.command_template_id = t.id AND r.revision = t.current_revision WHERE "

as_status facts_template_json(struct plane_call *call, const struct store_rows *rows, struct json_writer *writer)
{
    const struct json_value *settings = NULL;
    const char *text = store_get_text(rows, 8, NULL), *tool = store_get_text(rows, 3, NULL);
    as_status status = json_parse(text, strlen(text), NULL, &call->arena, &settings, NULL);
    if (status != AS_OK)
        return call_store_failed(call, status);
    json_open_object(writer);
    json_member_string(writer, "code", store_get_text(rows, 0, NULL));
    json_member_string(writer, "kind", store_get_text(rows, 1, NULL));
    put_text(writer, "framework_code", store_get_text(rows, 2, NULL));
    put_text(writer, "tool", tool);
    json_member_string(writer, "runtime", store_get_text(rows, 4, NULL));
    put_text(writer, "help", store_get_text(rows, 5, NULL));
    put_raw(writer, "argv", store_get_text(rows, 6, NULL));
    put_raw(writer, "env", store_get_text(rows, 7, NULL));
    for (const struct json_value *member = settings->first; member; member = member->next) {
        if (member->type == JSON_NULL || (tool && strcmp(member->key, "tool") == 0))
            continue;
        json_key(writer, member->key);
        json_put_value(writer, member);
    }
    json_close_object(writer);
    return AS_OK;
}

static as_status read_template(struct plane_call *call, const struct store_rows *rows, struct recipe_template *ret)
{
    struct strbuf text AS_AUTO_STRBUF = {.len = 0};
    struct json_writer writer;
    struct as_error err = {0};
    const struct json_value *object = NULL;
    strbuf_init(&text, 0);
    json_writer_init(&writer, &text, 0);
    as_status status = facts_template_json(call, rows, &writer);
    if (status != AS_OK)
        return status;
    status = json_writer_status(&writer);
    char *copy = status == AS_OK ? arena_strndup(&call->arena, text.data, text.len) : NULL;
    if (!copy)
        return call_store_failed(call, status == AS_OK ? AS_E_NOMEM : status);
    status = json_parse(copy, text.len, NULL, &call->arena, &object, &err);
    if (status == AS_OK)
        status = recipe_read_template(object, "command template", &call->arena, ret, &err);
    if (status == AS_E_INVALID)
        return problem_add(&call->problem, "/argv", "template", "%.230s", err.message);
    return status == AS_OK ? AS_OK : call_store_failed(call, status);
}

as_status facts_template(struct plane_call *call, int64_t id, struct facts_template *ret)
{
    struct store_rows *rows AS_AUTO_ROWS = NULL;
    struct sql sql AS_AUTO_SQL = {.count = 0};
    struct recipe_template *item = arena_calloc(&call->arena, 1, sizeof *item);
    if (!item)
        return call_store_failed(call, AS_E_NOMEM);
    sql_begin(&sql, call);
    sql_add(&sql, "SELECT " TEMPLATE_COLUMNS "t.id = ");
    sql_of_row(&sql, id);
    as_status status = sql_query(&sql, call, &rows);
    if (status == AS_OK && !store_next(rows))
        status = call_store_failed(call, AS_E_INTERNAL);
    if (status != AS_OK)
        return status;
    ret->revision = store_get_int(rows, 9);
    ret->item = item;
    return read_template(call, rows, item);
}

as_status facts_templates(struct plane_call *call, struct recipe_templates *ret, const int64_t **ret_revisions)
{
    enum { MOST = 500 };
    struct store_rows *rows AS_AUTO_ROWS = NULL;
    struct sql sql AS_AUTO_SQL = {.count = 0};
    struct recipe_template *items = arena_calloc(&call->arena, MOST, sizeof *items);
    int64_t *revisions = arena_calloc(&call->arena, MOST, sizeof *revisions);
    size_t count = 0;
    if (!items || !revisions)
        return call_store_failed(call, AS_E_NOMEM);
    sql_begin(&sql, call);
    sql_add(&sql, "SELECT " TEMPLATE_COLUMNS);
    sql_visible(&sql, "t");
    sql_add(&sql, " AND t.retired_ns IS NULL ORDER BY CASE WHEN ");
    sql_own(&sql, "t");
    sql_add(&sql, " THEN 1 ELSE 0 END, t.id LIMIT %d", MOST);
    as_status status = sql_query(&sql, call, &rows);
    while (status == AS_OK && store_next(rows)) {
        status = read_template(call, rows, &items[count]);
        revisions[count++] = store_get_int(rows, 9);
    }
    if (status == AS_OK)
        status = rows_end(rows, call);
    *ret = (struct recipe_templates){items, count};
    *ret_revisions = revisions;
    return status;
}
