/* SPDX-License-Identifier: Apache-2.0 */
#include "plane/facts.h"

#include <string.h>

#define SCHEMA_MODELS     "assay.recipe-models.v1"
#define SCHEMA_GPUS       "assay.recipe-gpus.v1"
#define SCHEMA_FRAMEWORKS "assay.recipe-frameworks.v1"
#define SCHEMA_SETS       "assay.recipe-sets.v1"

/* A document of one of recipe's files with one object in it. */
struct document {
    struct strbuf text;
    struct json_writer json;
};

static void document_begin(struct document *document, const char *schema, const char *array, bool has_sources)
{
    strbuf_init(&document->text, 0);
    json_writer_init(&document->json, &document->text, 0);
    json_open_object(&document->json);
    json_member_string(&document->json, "schema", schema);
    if (has_sources) {
        json_key(&document->json, "sources");
        json_open_array(&document->json);
        json_close_array(&document->json);
    }
    json_key(&document->json, array);
    json_open_array(&document->json);
}

static as_status document_end(struct plane_call *call, struct document *document, struct recipe_text *ret)
{
    json_close_array(&document->json);
    json_close_object(&document->json);
    as_status status = json_writer_status(&document->json);
    char *copy = status == AS_OK ? arena_strndup(&call->arena, document->text.data, document->text.len) : NULL;
    *ret = (struct recipe_text){"catalogue", copy, document->text.len};
    strbuf_done(&document->text);
    return copy ? AS_OK : call_store_failed(call, status == AS_OK ? AS_E_NOMEM : status);
}

/* The catalogue holds something that recipe does not read: it was not checked when it was written. */
static as_status unread(struct plane_call *call, as_status status, const struct as_error *err)
{
    if (status == AS_OK)
        return AS_OK;
    if (status == AS_E_NOMEM)
        return call_store_failed(call, status);
    return call_refuse(call, PROBLEM_STATE, "the catalogue cannot be used: %.300s", err->message);
}

/* Adds the members of a JSON object but those named in `without` (words) and those that are null. */
static void put_members(struct json_writer *writer, const struct json_value *object, const char *const *without)
{
    for (const struct json_value *member = object->first; member; member = member->next) {
        bool is_left_out = member->type == JSON_NULL;
        for (const char *const *name = without; *name; name++)
            is_left_out = is_left_out || strcmp(*name, member->key) == 0;
        if (is_left_out)
            continue;
        json_key(writer, member->key);
        json_put_value(writer, member);
    }
}

static as_status parse(struct plane_call *call, const char *text, const struct json_value **ret)
{
    as_status status = json_parse(text, strlen(text), NULL, &call->arena, ret, NULL);
    return status == AS_OK ? AS_OK : call_store_failed(call, status);
}

static void put_text(struct json_writer *writer, const char *name, const char *text)
{
    if (text)
        json_member_string(writer, name, text);
}

static void put_int(struct json_writer *writer, const char *name, const struct store_rows *rows, uint32_t column)
{
    if (!store_is_null(rows, column))
        json_member_int(writer, name, store_get_int(rows, column));
}

static void put_real(struct json_writer *writer, const char *name, const struct store_rows *rows, uint32_t column)
{
    if (!store_is_null(rows, column))
        json_member_double(writer, name, store_get_real(rows, column));
}

static as_status one_row(struct plane_call *call, struct sql *sql, struct store_rows **ret)
{
    as_status status = sql_query(sql, call, ret);
    if (status != AS_OK || store_next(*ret))
        return status;
    status = rows_end(*ret, call);
    return status == AS_OK ? AS_E_NOTFOUND : status;
}

/* ---- models ---- */

static as_status put_precisions(struct plane_call *call, struct json_writer *writer, int64_t id)
{
    struct store_rows *rows AS_AUTO_ROWS = NULL;
    struct sql sql AS_AUTO_SQL = {.count = 0};
    sql_begin(&sql, call);
    sql_add(&sql,
            "SELECT p.precision_code, p.vram_minimum_gb FROM model_precisions p WHERE p.vram_minimum_gb IS NOT NULL "
            "AND p.model_id = ");
    sql_of_row(&sql, id);
    as_status status = sql_query(&sql, call, &rows);
    json_key(writer, "memory_floor_gb");
    json_open_object(writer);
    while (status == AS_OK && store_next(rows))
        json_member_double(writer, store_get_text(rows, 0, NULL), store_get_real(rows, 1));
    json_close_object(writer);
    return status == AS_OK ? rows_end(rows, call) : status;
}

static as_status put_model(struct plane_call *call, struct json_writer *writer, int64_t id)
{
    struct store_rows *rows AS_AUTO_ROWS = NULL;
    struct sql sql AS_AUTO_SQL = {.count = 0};
    const struct json_value *facts = NULL;
    sql_begin(&sql, call);
    sql_add(&sql,
            "SELECT m.facts, m.model_code, m.family, m.display_name, m.parameter_count, m.active_parameter_count, "
            "m.architecture, m.context_length_tokens, m.tasks, m.layers, m.attention_heads, m.kv_heads, m.head_dim "
            "FROM models m WHERE m.id = ");
    sql_of_row(&sql, id);
    as_status status = one_row(call, &sql, &rows);
    if (status == AS_OK)
        status = parse(call, store_get_text(rows, 0, NULL), &facts);
    if (status != AS_OK)
        return status;
    const char *architecture = store_get_text(rows, 6, NULL);
    json_open_object(writer);
    json_member_string(writer, "model_code", store_get_text(rows, 1, NULL));
    json_member_string(writer, "family", store_is_null(rows, 2) ? "other" : store_get_text(rows, 2, NULL));
    put_text(writer, "display_name", store_get_text(rows, 3, NULL));
    put_real(writer, "parameters", rows, 4);
    put_real(writer, "active_parameters", rows, 5);
    if (architecture && (strcmp(architecture, "dense") == 0 || strcmp(architecture, "moe") == 0))
        json_member_string(writer, "architecture", architecture);
    put_int(writer, "context_length_tokens", rows, 7);
    json_key(writer, "tasks");
    json_put_raw(writer, store_get_text(rows, 8, NULL), strlen(store_get_text(rows, 8, NULL)));
    json_key(writer, "config");
    json_open_object(writer);
    put_int(writer, "layers", rows, 9);
    put_int(writer, "attention_heads", rows, 10);
    put_int(writer, "kv_heads", rows, 11);
    put_int(writer, "head_dim", rows, 12);
    const struct json_value *config = json_get(facts, "config");
    static const char *const columns[] = {"layers", "attention_heads", "kv_heads", "head_dim", NULL};
    if (config && config->type == JSON_OBJECT)
        put_members(writer, config, columns);
    json_close_object(writer);
    json_member_string(writer, "config_source", "general knowledge");
    status = put_precisions(call, writer, id);
    json_close_object(writer);
    return status;
}

as_status facts_model(struct plane_call *call, int64_t id, const struct recipe_model **ret)
{
    struct document document;
    struct recipe_text text;
    struct recipe_data data = {0};
    struct as_error err = {0};
    document_begin(&document, SCHEMA_MODELS, "models", true);
    as_status status = put_model(call, &document.json, id), ended = document_end(call, &document, &text);
    status = status == AS_OK ? ended : status;
    if (status != AS_OK)
        return status;
    status = unread(call, recipe_read_models(&text, &call->arena, &data, &err), &err);
    if (status == AS_OK)
        *ret = data.models;
    return status;
}

/* ---- GPU classes ---- */

static as_status put_gpu(struct plane_call *call, struct json_writer *writer, int64_t id, bool *ret_is_known)
{
    struct store_rows *rows AS_AUTO_ROWS = NULL;
    struct sql sql AS_AUTO_SQL = {.count = 0};
    sql_begin(&sql, call);
    sql_add(&sql,
            "SELECT g.gpu_class_code, g.vendor, g.marketing_name, g.architecture, g.compute_capability, g.memory_gib, "
            "g.memory_bandwidth_gb_s, g.max_power_w, g.supported_precisions, g.typical_gpus_per_node, g.aliases "
            "FROM gpu_classes g WHERE g.id = ");
    sql_of_row(&sql, id);
    as_status status = one_row(call, &sql, &rows);
    if (status != AS_OK)
        return status;
    *ret_is_known = !store_is_null(rows, 1) && !store_is_null(rows, 5);
    json_open_object(writer);
    json_member_string(writer, "gpu_class", store_get_text(rows, 0, NULL));
    json_member_string(writer, "vendor", store_get_text(rows, 1, NULL));
    json_member_string(writer, "name", store_get_text(rows, store_is_null(rows, 2) ? 0 : 2, NULL));
    put_text(writer, "architecture", store_get_text(rows, 3, NULL));
    put_text(writer, "compute_capability", store_get_text(rows, 4, NULL));
    put_real(writer, "memory_gib", rows, 5);
    put_real(writer, "bandwidth_gb_per_s", rows, 6);
    put_real(writer, "max_power_w", rows, 7);
    json_key(writer, "precisions");
    json_put_raw(writer, store_get_text(rows, 8, NULL), strlen(store_get_text(rows, 8, NULL)));
    put_int(writer, "gpus_per_node", rows, 9);
    json_key(writer, "aliases");
    json_put_raw(writer, store_get_text(rows, 10, NULL), strlen(store_get_text(rows, 10, NULL)));
    json_close_object(writer);
    return AS_OK;
}

as_status facts_gpu(struct plane_call *call, int64_t id, const struct recipe_gpu **ret)
{
    struct document document;
    struct recipe_text text;
    struct recipe_data data = {0};
    struct as_error err = {0};
    bool is_known = false;
    document_begin(&document, SCHEMA_GPUS, "gpus", false);
    as_status status = put_gpu(call, &document.json, id, &is_known), ended = document_end(call, &document, &text);
    *ret = NULL;
    status = status == AS_OK ? ended : status;
    if (status != AS_OK || !is_known)
        return status;
    status = unread(call, recipe_read_gpus(&text, &call->arena, &data, &err), &err);
    if (status == AS_OK)
        *ret = data.gpus;
    return status;
}

/* ---- frameworks ---- */

static bool has_flag(const struct json_value *flags, const char *key)
{
    for (const struct json_value *flag = flags ? flags->first : NULL; flag; flag = flag->next) {
        const char *name = "";
        if (json_string(json_get(flag, "key"), &name) && strcmp(name, key) == 0)
            return true;
    }
    return false;
}

static as_status put_flags(struct plane_call *call, struct json_writer *writer, const struct json_value *known,
                           int64_t version_id)
{
    struct store_rows *rows AS_AUTO_ROWS = NULL;
    struct sql sql AS_AUTO_SQL = {.count = 0};
    for (const struct json_value *flag = known ? known->first : NULL; flag; flag = flag->next)
        json_put_value(writer, flag);
    if (!version_id)
        return AS_OK;
    sql_begin(&sql, call);
    sql_add(&sql, "SELECT t.arg_key, t.value_type, t.flag, t.choices FROM framework_engine_args_templates t WHERE "
                  "t.framework_version_id = ");
    sql_of_row(&sql, version_id);
    as_status status = sql_query(&sql, call, &rows);
    while (status == AS_OK && store_next(rows)) {
        const char *choices = store_get_text(rows, 3, NULL);
        if (has_flag(known, store_get_text(rows, 0, NULL)))
            continue;
        json_open_object(writer);
        json_member_string(writer, "key", store_get_text(rows, 0, NULL));
        json_member_string(writer, "type", store_get_text(rows, 1, NULL));
        json_member_string(writer, "flag", store_get_text(rows, 2, NULL));
        if (choices) {
            json_key(writer, "choices");
            json_put_raw(writer, choices, strlen(choices));
        }
        json_close_object(writer);
    }
    return status == AS_OK ? rows_end(rows, call) : status;
}

/* What a framework of a tenant's own has when its facts do not say so. */
static void put_framework_defaults(struct json_writer *writer, const struct json_value *facts)
{
    if (!json_get(facts, "tools")) {
        json_key(writer, "tools");
        json_open_array(writer);
        json_put_string(writer, "metrumbench-llm");
        json_close_array(writer);
    }
    if (!json_get(facts, "parallel")) {
        json_key(writer, "parallel");
        json_open_object(writer);
        json_close_object(writer);
    }
}

static as_status put_framework(struct plane_call *call, struct json_writer *writer, int64_t id, int64_t version_id)
{
    static const char *const without[] = {"framework_code", "name", "flags", NULL};
    struct store_rows *rows AS_AUTO_ROWS = NULL;
    struct sql sql AS_AUTO_SQL = {.count = 0};
    const struct json_value *facts = NULL;
    sql_begin(&sql, call);
    sql_add(&sql, "SELECT f.facts, f.framework_code, f.display_name FROM frameworks f WHERE f.id = ");
    sql_of_row(&sql, id);
    as_status status = one_row(call, &sql, &rows);
    if (status == AS_OK)
        status = parse(call, store_get_text(rows, 0, NULL), &facts);
    if (status != AS_OK)
        return status;
    json_open_object(writer);
    json_member_string(writer, "framework_code", store_get_text(rows, 1, NULL));
    json_member_string(writer, "name", store_get_text(rows, 2, NULL));
    put_members(writer, facts, without);
    put_framework_defaults(writer, facts);
    json_key(writer, "flags");
    json_open_array(writer);
    status = put_flags(call, writer, json_get(facts, "flags"), version_id);
    json_close_array(writer);
    json_close_object(writer);
    return status;
}

as_status facts_framework(struct plane_call *call, int64_t id, int64_t version_id, const struct recipe_framework **ret)
{
    struct document document;
    struct recipe_text text;
    struct recipe_data data = {0};
    struct as_error err = {0};
    document_begin(&document, SCHEMA_FRAMEWORKS, "frameworks", false);
    as_status status = put_framework(call, &document.json, id, version_id);
    as_status ended = document_end(call, &document, &text);
    status = status == AS_OK ? ended : status;
    if (status != AS_OK)
        return status;
    status = unread(call, recipe_read_frameworks(&text, &call->arena, &data, &err), &err);
    if (status == AS_OK)
        *ret = data.frameworks;
    return status;
}
