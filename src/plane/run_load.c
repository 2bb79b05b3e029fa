/* SPDX-License-Identifier: Apache-2.0 */
#include "plane/run_plan.h"

#include "plane/values.h"

#include <stdio.h>
#include <string.h>

#define VALUES_MAX 96

static const char *text_at(struct plane_call *call, const struct store_rows *rows, uint32_t column)
{
    return rows_copy(call, rows, column);
}

/* ---- the workload ---- */

static as_status read_workload(struct plane_call *call, int64_t id, struct store_rows **ret)
{
    struct sql sql AS_AUTO_SQL = {.count = 0};
    sql_begin(&sql, call);
    sql_add(&sql, "SELECT w.workload_code, w.tool, m.model_code, f.framework_code, fv.version, fv.build, fv.image, "
                  "w.quantization, w.settings, w.engine_args_set_revision, w.gpus, m.id, f.id, fv.id, "
                  "w.engine_args_set_id, w.server_template_id, w.tool_template_id, p.source_code, p.state, "
                  "p.content_digest, p.import_command, w.server_id, w.server_config_id ");
    sql_add(&sql,
            "FROM workloads w JOIN models m ON m.id = w.model_id JOIN framework_versions fv ON fv.id = "
            "w.framework_version_id JOIN frameworks f ON f.id = fv.framework_id LEFT JOIN prompt_sources p ON p.id "
            "= w.prompt_source_id WHERE ");
    sql_own(&sql, "w");
    sql_add(&sql, " AND w.id = ");
    sql_value(&sql, store_int(id));
    as_status status = sql_query(&sql, call, ret);
    if (status == AS_OK && !store_next(*ret))
        return call_store_failed(call, AS_E_NOTFOUND);
    return status;
}

/* The server that is named, else of the hardware that is named the one that was heard last. */
static as_status find_server(struct plane_call *call, int64_t server_id, int64_t config_id, struct run_workload *ret)
{
    struct store_rows *rows AS_AUTO_ROWS = NULL;
    struct sql sql AS_AUTO_SQL = {.count = 0};
    sql_begin(&sql, call);
    sql_add(&sql,
            "SELECT s.id, s.hostname, s.state, s.labels, s.secrets_present, s.last_seen_ns, s.disk_free_bytes FROM "
            "servers s WHERE ");
    sql_own(&sql, "s");
    sql_add(&sql, " AND s.retired_ns IS NULL AND s.%s = ", server_id ? "id" : "server_config_id");
    sql_value(&sql, store_int(server_id ? server_id : config_id));
    sql_add(&sql,
            " ORDER BY CASE s.state WHEN 'online' THEN 0 ELSE 1 END, COALESCE(s.last_seen_ns, 0) DESC, s.id LIMIT 1");
    as_status status = sql_query(&sql, call, &rows);
    if (status != AS_OK || !store_next(rows))
        return status != AS_OK ? status : rows_end(rows, call);
    ret->server_id = store_get_int(rows, 0);
    ret->hostname = text_at(call, rows, 1);
    ret->server_state = text_at(call, rows, 2);
    ret->labels = text_at(call, rows, 3);
    ret->secrets_present = text_at(call, rows, 4);
    ret->last_seen_ns = store_is_null(rows, 5) ? -1 : store_get_int(rows, 5);
    ret->disk_free_bytes = store_is_null(rows, 6) ? -1 : store_get_int(rows, 6);
    return AS_OK;
}

static as_status read_devices(struct plane_call *call, int64_t config_count, struct run_workload *ret)
{
    struct store_rows *rows AS_AUTO_ROWS = NULL;
    struct sql sql AS_AUTO_SQL = {.count = 0};
    int64_t *devices = arena_calloc(&call->arena, RECIPE_DEVICES_MAX, sizeof *devices);
    size_t count = 0;
    if (!devices)
        return call_store_failed(call, AS_E_NOMEM);
    sql_begin(&sql, call);
    sql_add(&sql, "SELECT g.gpu_index FROM server_gpus g WHERE g.server_id = ");
    sql_of_row(&sql, ret->server_id);
    sql_add(&sql, " ORDER BY g.gpu_index");
    as_status status = sql_query(&sql, call, &rows);
    while (status == AS_OK && count < RECIPE_DEVICES_MAX && store_next(rows))
        devices[count++] = store_get_int(rows, 0);
    /* GPUs that no agent has told of: those that the hardware has. */
    for (int64_t i = 0; count == 0 && config_count <= RECIPE_DEVICES_MAX && i < config_count; i++)
        devices[i] = i;
    if (count == 0 && config_count <= RECIPE_DEVICES_MAX)
        count = (size_t)config_count;
    if (ret->gpus > 0 && (size_t)ret->gpus < count)
        count = (size_t)ret->gpus;
    ret->devices = devices;
    ret->device_count = count;
    return status == AS_OK ? rows_end(rows, call) : status;
}

static as_status read_hardware(struct plane_call *call, int64_t config_id, struct run_workload *ret)
{
    struct store_rows *rows AS_AUTO_ROWS = NULL;
    struct sql sql AS_AUTO_SQL = {.count = 0};
    int64_t gpu_id = 0, gpus = 0;
    sql_begin(&sql, call);
    sql_add(&sql,
            "SELECT c.gpu_class_id, c.gpu_count, g.gpu_class_code FROM server_configs c LEFT JOIN gpu_classes g ON "
            "g.id = c.gpu_class_id WHERE ");
    sql_own(&sql, "c");
    sql_add(&sql, " AND c.id = ");
    sql_value(&sql, store_int(config_id));
    as_status status = sql_query(&sql, call, &rows);
    if (status == AS_OK && store_next(rows)) {
        gpu_id = store_get_int(rows, 0);
        gpus = store_get_int(rows, 1);
        ret->gpu_class = text_at(call, rows, 2);
    }
    if (status == AS_OK && gpu_id)
        status = facts_gpu(call, gpu_id, &ret->gpu);
    return status == AS_OK ? read_devices(call, gpus, ret) : status;
}

/* The template that is named, else the newest that fits. */
static as_status choose_template(struct plane_call *call, int64_t id, const struct recipe_template_query *query,
                                 struct facts_template *ret)
{
    struct recipe_templates all;
    const int64_t *revisions;
    if (id)
        return facts_template(call, id, ret);
    as_status status = facts_templates(call, &all, &revisions);
    if (status != AS_OK)
        return status;
    ret->item = recipe_template_for(&all, query);
    ret->revision = ret->item ? revisions[ret->item - all.items] : 0;
    return AS_OK;
}

static as_status read_set(struct plane_call *call, int64_t set_id, struct run_workload *ret)
{
    as_status status = facts_set(call, set_id, ret->set_revision, &ret->set);
    if (status == AS_E_NOTFOUND)
        return call_refuse(call, PROBLEM_STATE,
                           "the workload pins revision %lld of its engine-argument set, which there is not",
                           (long long)ret->set_revision);
    ret->has_set = status == AS_OK;
    return status;
}

static as_status read_parts(struct plane_call *call, const struct store_rows *rows, struct run_workload *ret)
{
    const int64_t set_id = store_get_int(rows, 14), config_id = store_get_int(rows, 22);
    as_status status = facts_model(call, store_get_int(rows, 11), &ret->model);
    if (status == AS_OK)
        status = facts_framework(call, store_get_int(rows, 12), store_get_int(rows, 13), &ret->framework);
    if (status == AS_OK && set_id)
        status = read_set(call, set_id, ret);
    if (status == AS_OK && config_id)
        status = find_server(call, store_get_int(rows, 21), config_id, ret);
    if (status == AS_OK && config_id)
        status = read_hardware(call, config_id, ret);
    const struct recipe_template_query server = {RECIPE_SERVER, ret->framework_code, ret->version, ret->tool, NULL};
    const struct recipe_template_query tool = {RECIPE_TOOL, NULL, NULL, ret->tool, NULL};
    if (status == AS_OK)
        status = choose_template(call, store_get_int(rows, 15), &server, &ret->server_template);
    return status == AS_OK ? choose_template(call, store_get_int(rows, 16), &tool, &ret->tool_template) : status;
}

as_status run_load_workload(struct plane_call *call, int64_t id, struct run_workload *ret)
{
    struct store_rows *rows AS_AUTO_ROWS = NULL;
    as_status status = read_workload(call, id, &rows);
    if (status != AS_OK)
        return status;
    *ret = (struct run_workload){
        .id = id,
        .code = text_at(call, rows, 0),
        .tool = text_at(call, rows, 1),
        .model_code = text_at(call, rows, 2),
        .framework_code = text_at(call, rows, 3),
        .version = text_at(call, rows, 4),
        .build = text_at(call, rows, 5),
        .image = text_at(call, rows, 6),
        .quantization = text_at(call, rows, 7),
        .settings = text_at(call, rows, 8),
        .set_revision = store_get_int(rows, 9),
        .gpus = store_get_int(rows, 10),
        .source_code = text_at(call, rows, 17),
        .source_state = text_at(call, rows, 18),
        .source_digest = text_at(call, rows, 19),
        .source_command = text_at(call, rows, 20),
        .last_seen_ns = -1,
        .disk_free_bytes = -1,
    };
    return read_parts(call, rows, ret);
}

/* ---- scenarios and their values ---- */

struct value_list {
    struct recipe_value items[VALUES_MAX];
    size_t count;
};

static void add_text(struct value_list *list, const char *name, const char *text, enum recipe_layer layer,
                     const char *origin)
{
    const struct recipe_placeholder *known = recipe_placeholder(name);
    if (!text || list->count == VALUES_MAX)
        return;
    list->items[list->count++] = (struct recipe_value){
        .name = name, .kind = known ? known->kind : RECIPE_TEXT, .text = text, .layer = layer, .origin = origin};
}

/* A list of texts in settings. */
static void add_list(struct plane_call *call, struct value_list *list, const struct json_value *value,
                     struct recipe_value head)
{
    const char **items = arena_calloc(&call->arena, value->len + 1, sizeof *items);
    size_t count = 0;
    for (const struct json_value *item = value->first; items && item; item = item->next)
        items[count++] = item->type == JSON_STRING || item->type == JSON_NUMBER ? item->text : "";
    head.kind = RECIPE_LIST;
    head.list = (struct recipe_list){items, count};
    if (items && list->count < VALUES_MAX)
        list->items[list->count++] = head;
}

static void add_settings(struct plane_call *call, struct value_list *list, const struct json_value *settings,
                         enum recipe_layer layer, const char *origin)
{
    for (const struct json_value *member = settings ? settings->first : NULL; member; member = member->next) {
        switch (member->type) {
        case JSON_STRING:
        case JSON_NUMBER:
            add_text(list, member->key, member->text, layer, origin);
            break;
        case JSON_BOOL:
            add_text(list, member->key, member->boolean ? "true" : "false", layer, origin);
            break;
        case JSON_ARRAY:
            add_list(call, list, member, (struct recipe_value){.name = member->key, .layer = layer, .origin = origin});
            break;
        case JSON_OBJECT:
            add_text(list, member->key, values_json(call, member), layer, origin);
            break;
        default:
            break;
        }
    }
}

static const struct json_value *parse(struct plane_call *call, const char *text)
{
    const struct json_value *tree = NULL;
    if (!text || json_parse(text, strlen(text), NULL, &call->arena, &tree, NULL) != AS_OK)
        return NULL;
    return tree->type == JSON_OBJECT ? tree : NULL;
}

/* Columns of a scenario that are placeholders as they are. */
static const struct {
    const char *column, *name;
    enum field_kind { KIND_INT, KIND_REAL, KIND_BOOL, KIND_TEXT } kind;
} COLUMNS[] = {
    {"concurrency", "concurrency", KIND_INT},
    {"request_rate_per_s", "request_rate", KIND_REAL},
    {"isl_tokens", "isl", KIND_INT},
    {"osl_tokens", "osl", KIND_INT},
    {"request_count", "num_requests", KIND_INT},
    {"ramp_up_seconds", "ramp_up_seconds", KIND_REAL},
    {"warmup_requests", "warmup_requests", KIND_INT},
    {"timeout_s", "request_timeout_s", KIND_REAL},
    {"temperature", "temperature", KIND_REAL},
    {"seed", "seed", KIND_INT},
    {"is_streaming", "streaming", KIND_BOOL},
    {"num_images_batch", "num_images_batch", KIND_INT},
    {"image_detail", "image_detail", KIND_TEXT},
    {"size", "image_size", KIND_TEXT},
    {"language", "language", KIND_TEXT},
    {"response_format", "response_format", KIND_TEXT},
    {"num_inference_steps", "num_inference_steps", KIND_INT},
    {"guidance_scale", "guidance_scale", KIND_REAL},
};
enum { COLUMN_COUNT = sizeof COLUMNS / sizeof COLUMNS[0], COLUMN_FIRST = 4 };

static const char *column_text(struct plane_call *call, const struct store_rows *rows, uint32_t column,
                               enum field_kind kind)
{
    char number[DOUBLE_TEXT_BYTES];
    if (store_is_null(rows, column))
        return NULL;
    switch (kind) {
    case KIND_INT:
        return call_printf(call, "%lld", (long long)store_get_int(rows, column));
    case KIND_REAL:
        (void)double_format(store_get_real(rows, column), number);
        return arena_strdup(&call->arena, number);
    case KIND_BOOL:
        return store_get_bool(rows, column) ? "true" : "false";
    default:
        return rows_copy(call, rows, column);
    }
}

static int64_t whole(const struct store_rows *rows, size_t index)
{
    return store_get_int(rows, (uint32_t)index + COLUMN_FIRST);
}

static void add_workload_values(struct value_list *list, const struct run_workload *workload)
{
    const enum recipe_layer layer = RECIPE_FROM_WORKLOAD;
    add_text(list, "workload_code", workload->code, layer, NULL);
    add_text(list, "model", workload->model_code, layer, NULL);
    add_text(list, "quantization", workload->quantization, layer, NULL);
    add_text(list, "framework_code", workload->framework_code, layer, NULL);
    add_text(list, "framework_version", workload->version, layer, NULL);
    const char *pinned = workload->has_set && workload->gpu_class
                             ? recipe_pairs_get(&workload->set.set->images, workload->gpu_class)
                             : NULL;
    add_text(list, "image", pinned ? pinned : workload->image, layer, NULL);
    add_text(list, "hostname", workload->hostname, RECIPE_FROM_SERVER, NULL);
    add_text(list, "gpu_class", workload->gpu_class, RECIPE_FROM_SERVER, NULL);
}

static as_status read_scenario(struct plane_call *call, const struct run_workload *workload,
                               const struct run_request *request, const struct store_rows *rows,
                               struct run_scenario *ret)
{
    struct value_list *list = arena_calloc(&call->arena, 1, sizeof *list);
    const char *origin = call_printf(call, "scenario %s", store_get_text(rows, 1, NULL));
    const bool is_images = strcmp(workload->tool, "metrumbench-imagegen") == 0;
    if (!list || !origin)
        return call_store_failed(call, AS_E_NOMEM);
    *ret = (struct run_scenario){
        .id = store_get_int(rows, 0),
        .code = rows_copy(call, rows, 1),
        .repetitions = store_get_int(rows, 2),
        .concurrency = whole(rows, 0),
        .isl = whole(rows, 2),
        .osl = whole(rows, 3),
        .num_requests = whole(rows, 4),
        .images = whole(rows, 11),
    };
    for (uint32_t i = 0; i < COLUMN_COUNT; i++)
        add_text(list, COLUMNS[i].name, column_text(call, rows, i + COLUMN_FIRST, COLUMNS[i].kind),
                 RECIPE_FROM_SCENARIO, origin);
    if (is_images) {
        ret->num_requests = recipe_imagegen_requests(ret->concurrency ? ret->concurrency : 1);
        add_text(list, "num_requests", call_printf(call, "%lld", (long long)ret->num_requests), RECIPE_FROM_SCENARIO,
                 origin);
    }
    add_text(list, "scenario_code", ret->code, RECIPE_FROM_SCENARIO, NULL);
    add_workload_values(list, workload);
    add_settings(call, list, parse(call, store_get_text(rows, 3, NULL)), RECIPE_FROM_SCENARIO, origin);
    add_settings(call, list, parse(call, workload->settings), RECIPE_FROM_WORKLOAD, "settings of the workload");
    add_settings(call, list, parse(call, workload->labels), RECIPE_FROM_SERVER, "labels of the server");
    add_settings(call, list, request->settings, RECIPE_FROM_RUN, "settings of the run");
    add_text(list, "run_code", request->run_code, RECIPE_FROM_RUN, NULL);
    ret->values = (struct recipe_values){list->items, list->count};
    return call->problem.is_set ? AS_E_NOMEM : AS_OK;
}

/* Every code that was asked for must be there. */
static as_status check_found(struct plane_call *call, const struct run_request *request,
                             const struct run_scenario *scenarios, size_t count)
{
    const struct json_value *list = request->scenarios;
    size_t index = 0;
    for (const struct json_value *item = list ? list->first : NULL; item; item = item->next, index++) {
        bool is_there = false;
        for (size_t i = 0; i < count && !is_there; i++)
            is_there = strcmp(scenarios[i].code, item->text) == 0;
        if (!is_there)
            return problem_add(&call->problem, call_printf(call, "/scenario_codes/%zu", index), "reference",
                               "the workload has no scenario \"%.100s\" in use", item->text);
    }
    if (count == 0)
        return call_refuse(call, PROBLEM_STATE, "the workload has no scenario in use");
    return AS_OK;
}

as_status run_load_scenarios(struct plane_call *call, const struct run_workload *workload,
                             const struct run_request *request, struct run_scenario **ret, size_t *ret_count)
{
    struct store_rows *rows AS_AUTO_ROWS = NULL;
    struct sql sql AS_AUTO_SQL = {.count = 0};
    struct run_scenario *scenarios = arena_calloc(&call->arena, RUN_SCENARIOS_MAX, sizeof *scenarios);
    size_t count = 0;
    if (!scenarios)
        return call_store_failed(call, AS_E_NOMEM);
    sql_begin(&sql, call);
    sql_add(&sql, "SELECT s.id, s.scenario_code, s.repetitions, s.settings");
    for (size_t i = 0; i < COLUMN_COUNT; i++)
        sql_add(&sql, ", s.%s", COLUMNS[i].column);
    sql_add(&sql, " FROM scenarios s WHERE ");
    sql_own(&sql, "s");
    sql_add(&sql, " AND s.retired_ns IS NULL AND s.workload_id = ");
    sql_value(&sql, store_int(workload->id));
    const char *separator = " AND s.scenario_code IN (";
    for (const struct json_value *item = request->scenarios ? request->scenarios->first : NULL; item;
         item = item->next) {
        sql_add(&sql, "%s", separator);
        sql_value(&sql, store_text(item->text));
        separator = ", ";
    }
    sql_add(&sql, "%s ORDER BY s.created_ns, s.id LIMIT %d", request->scenarios && request->scenarios->first ? ")" : "",
            RUN_SCENARIOS_MAX);
    as_status status = sql_query(&sql, call, &rows);
    while (status == AS_OK && count < RUN_SCENARIOS_MAX && store_next(rows))
        status = read_scenario(call, workload, request, rows, &scenarios[count++]);
    if (status == AS_OK)
        status = rows_end(rows, call);
    *ret = scenarios;
    *ret_count = count;
    return status == AS_OK ? check_found(call, request, scenarios, count) : status;
}
