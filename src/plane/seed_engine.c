/* SPDX-License-Identifier: Apache-2.0 */
/* Engine-argument sets and command templates of the shipped catalogue. */
#include "plane/facts.h"
#include "plane/seed_rows.h"

#include "recipe/engine_args.h"

#include <string.h>
#include <strings.h>

#define COLUMNS(...) ((const char *const[]){__VA_ARGS__, NULL})
#define SEEDED_BY    "seeding"

/* Ids of what sets refer to, by code; read once. */
struct id_list {
    const char **codes;
    int64_t *ids;
    size_t count;
};

/* What all sets share: whom they refer to, and the parts of theirs that are not written yet. */
struct sets {
    struct id_list models, gpu_classes, frameworks;
    struct seed_batch values, set_gpu_classes;
};

#define IDS_MAX 10000

static as_status read_ids(struct plane_call *call, const char *table, const char *column, struct id_list *ret)
{
    struct store_rows *rows AS_AUTO_ROWS = NULL;
    struct sql sql AS_AUTO_SQL = {.count = 0};
    *ret = (struct id_list){arena_calloc(&call->arena, IDS_MAX, sizeof *ret->codes),
                            arena_calloc(&call->arena, IDS_MAX, sizeof *ret->ids), 0};
    if (!ret->codes || !ret->ids)
        return call_store_failed(call, AS_E_NOMEM);
    sql_begin(&sql, call);
    sql_add(&sql, "SELECT t.id, t.%s FROM %s t WHERE ", column, table);
    sql_own(&sql, "t");
    sql_add(&sql, " LIMIT %d", IDS_MAX);
    as_status status = sql_query(&sql, call, &rows);
    for (; status == AS_OK && store_next(rows); ret->count++) {
        ret->ids[ret->count] = store_get_int(rows, 0);
        ret->codes[ret->count] = rows_copy(call, rows, 1);
        if (!ret->codes[ret->count])
            return call_store_failed(call, AS_E_NOMEM);
    }
    return status == AS_OK ? rows_end(rows, call) : status;
}

static as_status find_id(struct plane_call *call, const struct id_list *list, const char *code, int64_t *ret)
{
    for (size_t i = 0; i < list->count; i++) {
        if (strcasecmp(list->codes[i], code) != 0)
            continue;
        *ret = list->ids[i];
        return AS_OK;
    }
    return call_refuse(call, PROBLEM_INTERNAL, "a set names %.100s, which is not there", code);
}

static struct store_value count_value(int64_t value)
{
    return value > 0 ? store_int(value) : store_null();
}

static int64_t at_least_one(int64_t value)
{
    return value > 0 ? value : 1;
}

/* A value as JSON of its type; a text that is none (a placeholder) is a string. */
static const char *value_json(struct plane_call *call, const struct recipe_flag *flag, const char *text)
{
    struct strbuf quoted AS_AUTO_STRBUF = {.len = 0};
    const struct json_value *tree;
    if (flag->type != RECIPE_STRING && json_parse(text, strlen(text), NULL, &call->arena, &tree, NULL) == AS_OK)
        return text;
    strbuf_init(&quoted, 0);
    strbuf_addc(&quoted, '"');
    json_escape(&quoted, text, strlen(text));
    strbuf_addc(&quoted, '"');
    return strbuf_status(&quoted) == AS_OK ? arena_strdup(&call->arena, quoted.data) : NULL;
}

static const struct json_value *parse_value(struct plane_call *call, const char *text)
{
    const struct json_value *tree = NULL;
    return json_parse(text, strlen(text), NULL, &call->arena, &tree, NULL) == AS_OK ? tree : NULL;
}

static as_status seed_values(struct seed_batch *batch, const struct recipe_framework *framework,
                             const struct recipe_set *set, int64_t revision_id)
{
    struct plane_call *call = batch->call;
    as_status status = AS_OK;
    for (size_t i = 0; status == AS_OK && i < set->args.count; i++) {
        const struct recipe_arg *arg = &set->args.items[i];
        const struct recipe_flag_query query = {arg->key, NULL, set->tool};
        const struct recipe_flag *flag = recipe_flag(framework, &query);
        if (!flag)
            return call_refuse(call, PROBLEM_INTERNAL, "the set %.100s has an unknown argument %.60s", set->code,
                               arg->key);
        const struct store_value values[] = {
            store_int(revision_id),
            store_int((int64_t)i),
            store_text(arg->key),
            store_text(value_json(call, flag, arg->text)),
            store_text(recipe_type_name(flag->type)),
            store_text(arg->flag ? arg->flag : facts_flag(flag, parse_value(call, arg->text))),
            store_text(arg->join),
            store_text(arg->raw),
            store_text(arg->origin),
        };
        status = seed_batch_add(batch, values);
    }
    return status;
}

static as_status point_to(struct plane_call *call, int64_t set_id, int64_t revision)
{
    struct sql sql AS_AUTO_SQL = {.count = 0};
    sql_begin(&sql, call);
    sql_add(&sql, "UPDATE framework_engine_args_sets SET current_revision = ");
    sql_value(&sql, store_int(revision));
    sql_add(&sql, " WHERE id = ");
    sql_of_row(&sql, set_id);
    return sql_exec(&sql, call, NULL);
}

/* The newest revision and its digest; 0 and "" when there is none. */
static as_status newest(struct plane_call *call, int64_t set_id, int64_t *ret_revision, const char **ret_digest)
{
    struct store_rows *rows AS_AUTO_ROWS = NULL;
    struct sql sql AS_AUTO_SQL = {.count = 0};
    *ret_revision = 0;
    *ret_digest = "";
    sql_begin(&sql, call);
    sql_add(&sql, "SELECT r.revision, r.digest FROM framework_engine_args_set_revisions r WHERE r.set_id = ");
    sql_of_row(&sql, set_id);
    sql_add(&sql, " ORDER BY r.revision DESC LIMIT 1");
    as_status status = sql_query(&sql, call, &rows);
    if (status == AS_OK && store_next(rows)) {
        *ret_revision = store_get_int(rows, 0);
        *ret_digest = rows_copy(call, rows, 1);
    }
    return status;
}

struct seeded_set {
    int64_t id;
    bool is_new;
};

/* A launch that differs from the newest revision becomes the next one. */
static as_status seed_revision(struct sets *sets, const struct recipe_framework *framework,
                               const struct recipe_set *set, const struct seeded_set *seeded)
{
    struct plane_call *call = sets->values.call;
    char digest[RECIPE_DIGEST_BYTES];
    const char *before = "";
    struct as_error err = {0};
    int64_t revision = 0, id = 0;
    bool is_new = false;
    as_status status = recipe_set_digest(framework, set, digest, &err);
    if (status != AS_OK)
        return call_refuse(call, PROBLEM_INTERNAL, "%.300s", err.message);
    if (!seeded->is_new)
        status = newest(call, seeded->id, &revision, &before);
    if (status != AS_OK || strcmp(before, digest) == 0)
        return status;
    const struct store_value values[] = {store_int(seeded->id),
                                         store_int(revision + 1),
                                         store_text(digest),
                                         store_text(seed_pairs(call, &set->env)),
                                         store_text(seed_pairs(call, &set->images)),
                                         store_text(SEEDED_BY),
                                         store_int(call->now_ns)};
    const struct seed_row row = {
        .table = "framework_engine_args_set_revisions",
        .columns = COLUMNS("set_id", "revision", "digest", "environment", "images", "created_by", "created_ns"),
        .values = values,
        .keys = 2};
    status = seed_row(call, &row, &id, &is_new);
    if (status == AS_OK)
        status = seed_values(&sets->values, framework, set, id);
    /* A new set points to the first one by itself. */
    return status == AS_OK && !seeded->is_new ? point_to(call, seeded->id, revision + 1) : status;
}

static as_status seed_gpu_classes(struct plane_call *call, struct sets *sets, const struct recipe_set *set,
                                  int64_t set_id)
{
    as_status status = AS_OK;
    for (size_t i = 0; status == AS_OK && i < set->gpu_classes.count; i++) {
        const char *code = set->gpu_classes.items[i], *verified = recipe_pairs_get(&set->verified, code);
        int64_t gpu_id = 0;
        status = find_id(call, &sets->gpu_classes, code, &gpu_id);
        const struct store_value values[] = {store_int(set_id), store_int(gpu_id),
                                             store_text(verified ? verified : "not_listed")};
        if (status == AS_OK)
            status = seed_batch_add(&sets->set_gpu_classes, values);
    }
    return status;
}

static const char *scope_of(const struct recipe_set *set)
{
    if (set->tool && strcmp(set->tool, "metrumbench-imagegen") == 0)
        return "imagegen";
    return set->model_code && strstr(set->model_code, "whisper") ? "asr" : "llm";
}

static const char *set_facts(struct plane_call *call, const struct recipe_set *set)
{
    return set->tp_source ? call_printf(call, "{\"tp_source\":\"%s\"}", set->tp_source) : "{}";
}

static as_status seed_set(struct plane_call *call, struct sets *sets, const struct recipe_data *data,
                          const struct recipe_set *set)
{
    const struct recipe_source *source = set->source ? recipe_source(data, set->source) : NULL;
    const struct recipe_framework *framework = recipe_framework(data, set->framework_code);
    int64_t framework_id = 0, model_id = 0;
    struct seeded_set seeded = {0};
    as_status status = find_id(call, &sets->frameworks, set->framework_code, &framework_id);
    if (status == AS_OK && set->model_code)
        status = find_id(call, &sets->models, set->model_code, &model_id);
    if (status != AS_OK || !framework)
        return status;
    const struct store_value values[] = {
        store_text(set->code),
        store_int(framework_id),
        store_text(set->framework_version_min),
        store_text(scope_of(set)),
        count_value(model_id),
        store_text(set->precision),
        store_text(set->variant),
        store_int(at_least_one(set->tensor_parallel_size)),
        store_int(at_least_one(set->pipeline_parallel_size)),
        store_int(at_least_one(set->data_parallel_size)),
        count_value(set->expert_parallel_size),
        store_int(at_least_one(set->node_count)),
        store_int(at_least_one(set->gpus_per_replica)),
        set->memory_floor_gb > 0 ? store_real(set->memory_floor_gb) : store_null(),
        store_bool(set->is_recommended || set->is_default),
        store_text(set->strategy),
        store_text(set_facts(call, set)),
        store_text(source ? source->repository : NULL),
        store_text(source ? source->commit : NULL),
        store_text(set->path),
    };
    const struct seed_row row = {.table = "framework_engine_args_sets",
                                 .columns =
                                     COLUMNS("set_code", "framework_id", "framework_version_min", "tool_scope",
                                             "model_id", "precision_code", "model_variant", "tensor_parallel_size",
                                             "pipeline_parallel_size", "data_parallel_size", "expert_parallel_size",
                                             "node_count", "gpus_per_replica", "vram_minimum_gb", "is_recommended",
                                             "strategy", "facts", "source_repository", "source_commit", "source_path"),
                                 .values = values,
                                 .keys = 1,
                                 .has_tenant = true,
                                 .has_life = true};
    status = seed_row(call, &row, &seeded.id, &seeded.is_new);
    if (status == AS_OK)
        status = seed_gpu_classes(call, sets, set, seeded.id);
    return status == AS_OK ? seed_revision(sets, framework, set, &seeded) : status;
}

as_status seed_sets(struct plane_call *call, const struct recipe_data *data)
{
    struct sets sets;
    seed_batch_begin(&sets.values, call, "framework_engine_args_values",
                     COLUMNS("set_revision_id", "ordinal", "arg_key", "value", "value_type", "flag", "joiner",
                             "raw_value", "origin"));
    seed_batch_begin(&sets.set_gpu_classes, call, "framework_engine_args_set_gpu_classes",
                     COLUMNS("set_id", "gpu_class_id", "status"));
    as_status status = read_ids(call, "models", "model_code", &sets.models);
    if (status == AS_OK)
        status = read_ids(call, "gpu_classes", "gpu_class_code", &sets.gpu_classes);
    if (status == AS_OK)
        status = read_ids(call, "frameworks", "framework_code", &sets.frameworks);
    for (size_t i = 0; status == AS_OK && i < data->set_count; i++)
        status = seed_set(call, &sets, data, &data->sets[i]);
    status = seed_batch_end(&sets.set_gpu_classes, status);
    return seed_batch_end(&sets.values, status);
}

/* ---- command templates ---- */

static const char *text_of(const struct json_value *object, const char *name)
{
    const char *text = NULL;
    return json_string(json_get(object, name), &text) ? text : NULL;
}

static const char *json_of(struct plane_call *call, const struct json_value *value, const char *without)
{
    struct strbuf text AS_AUTO_STRBUF = {.len = 0};
    struct json_writer writer;
    strbuf_init(&text, 0);
    json_writer_init(&writer, &text, 0);
    json_put_value(&writer, value);
    if (!value)
        return without;
    return json_writer_status(&writer) == AS_OK ? arena_strdup(&call->arena, text.data) : NULL;
}

/* The members that have no column of their own. */
static const char *settings_of(struct plane_call *call, const struct json_value *item, bool is_tool)
{
    static const char *const names[] = {"since", "until", "results", "files", "secrets", "defaults"};
    struct strbuf text AS_AUTO_STRBUF = {.len = 0};
    struct json_writer writer;
    strbuf_init(&text, 0);
    json_writer_init(&writer, &text, 0);
    json_open_object(&writer);
    for (size_t i = 0; i < sizeof names / sizeof names[0]; i++) {
        if (!json_get(item, names[i]))
            continue;
        json_key(&writer, names[i]);
        json_put_value(&writer, json_get(item, names[i]));
    }
    if (!is_tool && text_of(item, "tool"))
        json_member_string(&writer, "tool", text_of(item, "tool"));
    json_close_object(&writer);
    return json_writer_status(&writer) == AS_OK ? arena_strdup(&call->arena, text.data) : NULL;
}

static as_status newest_template(struct plane_call *call, int64_t id, int64_t *ret_revision, const char **ret_digest)
{
    struct store_rows *rows AS_AUTO_ROWS = NULL;
    struct sql sql AS_AUTO_SQL = {.count = 0};
    *ret_revision = 0;
    *ret_digest = "";
    sql_begin(&sql, call);
    sql_add(&sql, "SELECT r.revision, r.digest FROM command_template_revisions r WHERE r.command_template_id = ");
    sql_of_row(&sql, id);
    sql_add(&sql, " ORDER BY r.revision DESC LIMIT 1");
    as_status status = sql_query(&sql, call, &rows);
    if (status == AS_OK && store_next(rows)) {
        *ret_revision = store_get_int(rows, 0);
        *ret_digest = rows_copy(call, rows, 1);
    }
    return status;
}

static as_status seed_template_revision(struct plane_call *call, const struct json_value *item, int64_t id)
{
    char digest[RECIPE_DIGEST_BYTES];
    const char *before, *kind = text_of(item, "kind");
    int64_t revision = 0, revision_id = 0;
    bool is_new = false;
    const char *argv = json_of(call, json_get(item, "argv"), "[]"), *env = json_of(call, json_get(item, "env"), "{}");
    const char *settings = settings_of(call, item, kind && strcmp(kind, "tool") == 0);
    const char *all = call_printf(call, "[%s,%s,%s]", argv, env, settings);
    as_status status = newest_template(call, id, &revision, &before);
    if (status == AS_OK)
        status = recipe_digest(all ? all : "", all ? strlen(all) : 0, digest);
    if (status != AS_OK || strcmp(before, digest) == 0)
        return status;
    const struct store_value values[] = {store_int(id),         store_int(revision + 1), store_text(digest),
                                         store_text(argv),      store_text(env),         store_text(settings),
                                         store_text(SEEDED_BY), store_int(call->now_ns)};
    const struct seed_row row = {.table = "command_template_revisions",
                                 .columns = COLUMNS("command_template_id", "revision", "digest", "argv", "environment",
                                                    "settings", "created_by", "created_ns"),
                                 .values = values,
                                 .keys = 2};
    status = seed_row(call, &row, &revision_id, &is_new);
    if (status != AS_OK || revision == 0)
        return status;
    struct sql sql AS_AUTO_SQL = {.count = 0};
    sql_begin(&sql, call);
    sql_add(&sql, "UPDATE command_templates SET current_revision = ");
    sql_value(&sql, store_int(revision + 1));
    sql_add(&sql, " WHERE id = ");
    sql_of_row(&sql, id);
    return sql_exec(&sql, call, NULL);
}

static as_status seed_template(struct plane_call *call, const struct id_list *frameworks, const struct json_value *item)
{
    const char *framework = text_of(item, "framework_code"), *kind = text_of(item, "kind");
    const char *runtime = text_of(item, "runtime");
    int64_t framework_id = 0, id = 0;
    bool is_new = false;
    as_status status = AS_OK;
    if (framework)
        status = find_id(call, frameworks, framework, &framework_id);
    if (status != AS_OK)
        return status;
    const struct store_value values[] = {
        store_text(text_of(item, "code")),
        store_text(kind),
        count_value(framework_id),
        kind && strcmp(kind, "tool") == 0 ? store_text(text_of(item, "tool")) : store_null(),
        store_text(runtime ? runtime : "process"),
        store_text(text_of(item, "help")),
    };
    const struct seed_row row = {
        .table = "command_templates",
        .columns = COLUMNS("template_code", "kind", "framework_id", "tool", "launcher", "description"),
        .values = values,
        .keys = 1,
        .has_tenant = true,
        .has_life = true};
    status = seed_row(call, &row, &id, &is_new);
    return status == AS_OK ? seed_template_revision(call, item, id) : status;
}

as_status seed_templates(struct plane_call *call, const struct json_value *file)
{
    const struct json_value *list = json_get(file, "templates");
    struct id_list frameworks;
    as_status status = read_ids(call, "frameworks", "framework_code", &frameworks);
    for (const struct json_value *item = list ? list->first : NULL; status == AS_OK && item; item = item->next)
        status = seed_template(call, &frameworks, item);
    return status;
}
