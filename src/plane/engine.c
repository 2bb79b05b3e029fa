/* SPDX-License-Identifier: Apache-2.0 */
#include "plane/engine.h"

#include "plane/facts.h"
#include "plane/values.h"

#include <string.h>

/* A revision being written. */
struct revision {
    int64_t set_id, framework_id, version_id;
    int64_t before; /* newest so far, 0 = none */
    const char *tool;
    const char *version;
    const char *environment, *images; /* of the one before, as JSON */
    const char *digest;               /* of the one before */
    int64_t before_id;
};

static const char *text_of(const struct json_value *object, const char *name)
{
    const char *text = NULL;
    return json_string(json_get(object, name), &text) ? text : NULL;
}

static as_status find_before(struct plane_call *call, int64_t id, struct revision *ret)
{
    struct store_rows *rows AS_AUTO_ROWS = NULL;
    struct sql sql AS_AUTO_SQL = {.count = 0};
    sql_begin(&sql, call);
    sql_add(&sql, "SELECT s.framework_id, s.framework_version_id, s.tool_scope, v.version, r.revision, r.environment, "
                  "r.images, r.digest, r.id FROM framework_engine_args_sets s LEFT JOIN framework_versions v ON v.id = "
                  "s.framework_version_id LEFT JOIN framework_engine_args_set_revisions r ON r.set_id = s.id AND "
                  "r.revision = s.current_revision WHERE s.id = ");
    sql_of_row(&sql, id);
    as_status status = sql_query(&sql, call, &rows);
    if (status != AS_OK || !store_next(rows))
        return status != AS_OK ? status : call_store_failed(call, AS_E_INTERNAL);
    *ret = (struct revision){
        .set_id = id,
        .framework_id = store_get_int(rows, 0),
        .version_id = store_get_int(rows, 1),
        .tool = strcmp(store_get_text(rows, 2, NULL), "imagegen") == 0 ? "metrumbench-imagegen" : NULL,
        .version = rows_copy(call, rows, 3),
        .before = store_get_int(rows, 4),
        .environment = store_is_null(rows, 5) ? "{}" : rows_copy(call, rows, 5),
        .images = store_is_null(rows, 6) ? "{}" : rows_copy(call, rows, 6),
        .digest = rows_copy(call, rows, 7),
        .before_id = store_get_int(rows, 8),
    };
    return AS_OK;
}

static as_status add_revision(struct plane_call *call, const struct revision *revision, int64_t *ret_id)
{
    const struct json_value *environment = json_get(call->input, "environment"),
                            *images = json_get(call->input, "images");
    struct sql sql AS_AUTO_SQL = {.count = 0};
    const struct store_value values[] = {
        store_int(revision->before + 1),
        store_text(""),
        store_text(environment ? values_json(call, environment) : revision->environment),
        store_text(images ? values_json(call, images) : revision->images),
        store_text(text_of(call->input, "revision_note")),
        store_text(call->who.user_name),
        store_int(call->now_ns),
    };
    sql_begin(&sql, call);
    sql_add(&sql,
            "INSERT INTO framework_engine_args_set_revisions (set_id, revision, digest, environment, images, note, "
            "created_by, created_ns) VALUES (");
    sql_of_row(&sql, revision->set_id);
    for (size_t i = 0; i < sizeof values / sizeof values[0]; i++) {
        sql_add(&sql, ", ");
        sql_value(&sql, values[i]);
    }
    sql_add(&sql, ") RETURNING id");
    return sql_one_int(&sql, call, ret_id);
}

/* Values that a PATCH of the environment alone keeps. */
static as_status copy_values(struct plane_call *call, const struct revision *revision, int64_t revision_id)
{
    struct sql sql AS_AUTO_SQL = {.count = 0};
    if (!revision->before)
        return AS_OK;
    sql_begin(&sql, call);
    sql_add(&sql,
            "INSERT INTO framework_engine_args_values (set_revision_id, ordinal, arg_key, value, value_type, flag, "
            "joiner, raw_value, origin) SELECT ");
    sql_of_row(&sql, revision_id);
    sql_add(&sql, ", v.ordinal, v.arg_key, v.value, v.value_type, v.flag, v.joiner, v.raw_value, v.origin FROM "
                  "framework_engine_args_values v WHERE v.set_revision_id = ");
    sql_of_row(&sql, revision->before_id);
    return sql_exec(&sql, call, NULL);
}

static as_status add_value(struct plane_call *call, int64_t revision_id, const struct json_value *arg, size_t ordinal,
                           const struct recipe_flag *flag)
{
    struct sql sql AS_AUTO_SQL = {.count = 0};
    const char *origin = text_of(arg, "origin"), *spelled = text_of(arg, "flag");
    const struct store_value values[] = {
        store_int((int64_t)ordinal),
        store_text(text_of(arg, "arg_key")),
        store_text(values_json(call, json_get(arg, "value"))),
        store_text(recipe_type_name(flag->type)),
        store_text(spelled ? spelled : facts_flag(flag, json_get(arg, "value"))),
        store_text(text_of(arg, "joiner")),
        store_text(text_of(arg, "raw_value")),
        store_text(origin && strcmp(origin, "user") != 0 ? origin : NULL),
    };
    sql_begin(&sql, call);
    sql_add(&sql,
            "INSERT INTO framework_engine_args_values (set_revision_id, ordinal, arg_key, value, value_type, flag, "
            "joiner, raw_value, origin) VALUES (");
    sql_of_row(&sql, revision_id);
    for (size_t i = 0; i < sizeof values / sizeof values[0]; i++) {
        sql_add(&sql, ", ");
        sql_value(&sql, values[i]);
    }
    sql_add(&sql, ")");
    as_status status = sql_exec(&sql, call, NULL);
    if (status != AS_E_EXISTS)
        return status;
    call->problem = (struct problem){.is_set = false};
    return problem_add(&call->problem, call_printf(call, "/args/%zu/arg_key", ordinal), "twice", "is given twice");
}

static as_status add_values(struct plane_call *call, const struct revision *revision,
                            const struct recipe_framework *framework, int64_t revision_id)
{
    const struct json_value *args = json_get(call->input, "args");
    as_status status = AS_OK;
    size_t ordinal = 0;
    if (!args)
        return copy_values(call, revision, revision_id);
    for (const struct json_value *arg = args->first; status == AS_OK && arg; arg = arg->next, ordinal++) {
        const struct recipe_flag_query query = {text_of(arg, "arg_key"), revision->version, revision->tool};
        const struct recipe_flag *flag = recipe_flag(framework, &query);
        const char *nearest = flag ? NULL : recipe_flag_nearest(framework, query.key);
        if (flag)
            status = add_value(call, revision_id, arg, ordinal, flag);
        else
            status = problem_add(&call->problem, call_printf(call, "/args/%zu/arg_key", ordinal), "unknown",
                                 "%s%s has no such argument%s%s", framework->code,
                                 revision->version ? " of that version" : "", nearest ? "; nearest is " : "",
                                 nearest ? nearest : "");
    }
    return status;
}

static as_status set_revision(struct plane_call *call, int64_t set_id, int64_t number, int64_t revision_id,
                              const char *digest)
{
    struct sql sql AS_AUTO_SQL = {.count = 0}, other AS_AUTO_SQL = {.count = 0};
    sql_begin(&sql, call);
    sql_begin(&other, call);
    sql_add(&sql, "UPDATE framework_engine_args_set_revisions SET digest = ");
    sql_value(&sql, store_text(digest));
    sql_add(&sql, " WHERE id = ");
    sql_of_row(&sql, revision_id);
    sql_add(&other, "UPDATE framework_engine_args_sets SET current_revision = ");
    sql_value(&other, store_int(number));
    sql_add(&other, " WHERE id = ");
    sql_of_row(&other, set_id);
    as_status status = sql_exec(&sql, call, NULL);
    return status == AS_OK ? sql_exec(&other, call, NULL) : status;
}

static as_status drop_revision(struct plane_call *call, int64_t revision_id)
{
    struct sql sql AS_AUTO_SQL = {.count = 0};
    sql_begin(&sql, call);
    sql_add(&sql, "DELETE FROM framework_engine_args_set_revisions WHERE id = ");
    sql_of_row(&sql, revision_id);
    return sql_exec(&sql, call, NULL);
}

/* Reads back what was written, holds it against the framework, and pins its digest. */
static as_status close_revision(struct plane_call *call, const struct revision *revision,
                                const struct recipe_framework *framework, int64_t revision_id)
{
    char digest[RECIPE_DIGEST_BYTES];
    struct facts_set facts = {0};
    struct as_error err = {0};
    as_status status = facts_set(call, revision->set_id, revision->before + 1, &facts);
    if (status == AS_E_NOTFOUND)
        return call_store_failed(call, AS_E_INTERNAL);
    if (status != AS_OK)
        return status;
    status = recipe_set_check(framework, revision->version, facts.set, &err);
    if (status == AS_E_INVALID)
        return problem_add(&call->problem, "/args", "value", "%.230s", err.message);
    if (status == AS_OK)
        status = recipe_set_digest(framework, facts.set, digest, &err);
    if (status != AS_OK)
        return call_store_failed(call, status);
    if (revision->digest && strcmp(revision->digest, digest) == 0)
        return drop_revision(call, revision_id);
    return set_revision(call, revision->set_id, revision->before + 1, revision_id, digest);
}

as_status engine_set_finish(struct plane_call *call, int64_t id, const struct row_values *row)
{
    const struct recipe_framework *framework = NULL;
    struct revision revision = {.set_id = id};
    int64_t revision_id = 0;
    (void)row;
    as_status status = parts_write(call, engine_set_parts, 1, id);
    if (status == AS_OK)
        status = find_before(call, id, &revision);
    if (status != AS_OK)
        return status;
    if (revision.before && !json_get(call->input, "args") && !json_get(call->input, "environment") &&
        !json_get(call->input, "images"))
        return AS_OK;
    status = facts_framework(call, revision.framework_id, revision.version_id, &framework);
    if (status == AS_OK)
        status = add_revision(call, &revision, &revision_id);
    if (status == AS_OK)
        status = add_values(call, &revision, framework, revision_id);
    return status == AS_OK ? close_revision(call, &revision, framework, revision_id) : status;
}

static as_status put_args(struct plane_call *call, int64_t revision_id)
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
    json_key(&call->json, "args");
    json_open_array(&call->json);
    while (status == AS_OK && store_next(rows)) {
        json_open_object(&call->json);
        for (uint32_t i = 0; i < shape_engine_arg.count; i++) {
            json_key(&call->json, shape_engine_arg.fields[i].name);
            resource_put_value(&call->json, &shape_engine_arg.fields[i], rows, i);
        }
        json_close_object(&call->json);
    }
    json_close_array(&call->json);
    return status == AS_OK ? rows_end(rows, call) : status;
}

as_status engine_set_put(struct plane_call *call, int64_t id)
{
    static const struct field FIELDS[] = {{.name = "environment", .type = FIELD_JSON},
                                          {.name = "images", .type = FIELD_JSON},
                                          {.name = "revision_note", .type = FIELD_TEXT},
                                          {.name = "digest", .type = FIELD_TEXT}};
    struct store_rows *rows AS_AUTO_ROWS = NULL;
    struct sql sql AS_AUTO_SQL = {.count = 0};
    int64_t revision_id = 0;
    sql_begin(&sql, call);
    sql_add(&sql, "SELECT r.environment, r.images, r.note, r.digest, r.id FROM framework_engine_args_sets s JOIN "
                  "framework_engine_args_set_revisions r ON r.set_id = s.id AND r.revision = s.current_revision WHERE "
                  "s.id = ");
    sql_of_row(&sql, id);
    as_status status = sql_query(&sql, call, &rows);
    if (status == AS_OK && !store_next(rows))
        status = call_store_failed(call, AS_E_INTERNAL);
    if (status != AS_OK)
        return status;
    for (uint32_t i = 0; i < sizeof FIELDS / sizeof FIELDS[0]; i++) {
        json_key(&call->json, FIELDS[i].name);
        resource_put_value(&call->json, &FIELDS[i], rows, i);
    }
    revision_id = store_get_int(rows, 4);
    rows_done(&rows);
    status = put_args(call, revision_id);
    return status == AS_OK ? parts_put(call, engine_set_parts, 1, id) : status;
}

/* ---- command templates ---- */

/* Members of the template that settings may hold. */
static const char *const SETTINGS[] = {"since", "until", "results", "files", "secrets", "defaults", "tool"};

as_status engine_template_prepare(struct plane_call *call, int64_t id, struct row_values *row)
{
    const struct json_value *settings = json_get(call->input, "settings");
    const struct store_value *kind = row_values_get(row, "kind"), *tool = row_values_get(row, "tool");
    const bool has_tool = tool && tool->type == STORE_TEXT;
    for (const struct json_value *member = settings ? settings->first : NULL; member; member = member->next) {
        bool is_known = false;
        for (size_t i = 0; i < sizeof SETTINGS / sizeof SETTINGS[0]; i++)
            is_known = is_known || strcmp(SETTINGS[i], member->key) == 0;
        if (!is_known)
            return problem_add(&call->problem, call_printf(call, "/settings/%.60s", member->key), "unknown",
                               "there is no such member");
    }
    if (!id && (strcmp(kind->text, "tool") == 0) != has_tool)
        return problem_add(&call->problem, "/tool", has_tool ? "conflict" : "required",
                           has_tool ? "is a tool template's; a server's is given in settings" : "is needed for a tool");
    return AS_OK;
}

static as_status current_template(struct plane_call *call, int64_t id, struct store_rows **ret)
{
    struct sql sql AS_AUTO_SQL = {.count = 0};
    sql_begin(&sql, call);
    sql_add(&sql,
            "SELECT r.argv, r.environment, r.settings, r.revision, r.digest, r.note FROM command_templates t LEFT JOIN "
            "command_template_revisions r ON r.command_template_id = t.id AND r.revision = t.current_revision WHERE "
            "t.id = ");
    sql_of_row(&sql, id);
    as_status status = sql_query(&sql, call, ret);
    if (status == AS_OK && !store_next(*ret))
        status = call_store_failed(call, AS_E_INTERNAL);
    return status;
}

static const char *content(struct plane_call *call, const char *member, const struct store_rows *rows, uint32_t column)
{
    const struct json_value *value = json_get(call->input, member);
    if (value)
        return values_json(call, value);
    return store_is_null(rows, column) ? "{}" : rows_copy(call, rows, column);
}

static as_status point_to(struct plane_call *call, int64_t id, int64_t revision)
{
    struct sql sql AS_AUTO_SQL = {.count = 0};
    sql_begin(&sql, call);
    sql_add(&sql, "UPDATE command_templates SET current_revision = ");
    sql_value(&sql, store_int(revision));
    sql_add(&sql, " WHERE id = ");
    sql_of_row(&sql, id);
    return sql_exec(&sql, call, NULL);
}

static as_status add_template_revision(struct plane_call *call, int64_t id, const struct store_rows *rows)
{
    char digest[RECIPE_DIGEST_BYTES];
    struct sql sql AS_AUTO_SQL = {.count = 0};
    const int64_t revision = store_get_int(rows, 3) + 1;
    const char *argv = content(call, "argv", rows, 0), *environment = content(call, "environment", rows, 1);
    const char *settings = content(call, "settings", rows, 2);
    const char *all = call_printf(call, "[%s,%s,%s]", argv, environment, settings);
    if (call->problem.is_set)
        return AS_E_NOMEM;
    as_status status = recipe_digest(all, strlen(all), digest);
    if (status != AS_OK)
        return call_store_failed(call, status);
    if (!store_is_null(rows, 4) && strcmp(store_get_text(rows, 4, NULL), digest) == 0)
        return AS_OK;
    const struct store_value values[] = {
        store_int(revision),
        store_text(digest),
        store_text(argv),
        store_text(environment),
        store_text(settings),
        store_text(text_of(call->input, "revision_note")),
        store_text(call->who.user_name),
        store_int(call->now_ns),
    };
    sql_begin(&sql, call);
    sql_add(
        &sql,
        "INSERT INTO command_template_revisions (command_template_id, revision, digest, argv, environment, settings, "
        "note, created_by, created_ns) VALUES (");
    sql_of_row(&sql, id);
    for (size_t i = 0; i < sizeof values / sizeof values[0]; i++) {
        sql_add(&sql, ", ");
        sql_value(&sql, values[i]);
    }
    sql_add(&sql, ")");
    status = sql_exec(&sql, call, NULL);
    return status == AS_OK ? point_to(call, id, revision) : status;
}

as_status engine_template_finish(struct plane_call *call, int64_t id, const struct row_values *row)
{
    struct store_rows *rows AS_AUTO_ROWS = NULL;
    struct facts_template facts;
    (void)row;
    as_status status = current_template(call, id, &rows);
    if (status == AS_OK)
        status = add_template_revision(call, id, rows);
    rows_done(&rows);
    /* Read back: what recipe refuses is not kept. */
    return status == AS_OK ? facts_template(call, id, &facts) : status;
}

as_status engine_template_put(struct plane_call *call, int64_t id)
{
    static const struct {
        struct field field;
        uint32_t column;
    } MEMBERS[] = {{{.name = "argv", .type = FIELD_JSON}, 0},
                   {{.name = "environment", .type = FIELD_JSON}, 1},
                   {{.name = "settings", .type = FIELD_JSON}, 2},
                   {{.name = "revision_note", .type = FIELD_TEXT}, 5},
                   {{.name = "digest", .type = FIELD_TEXT}, 4}};
    struct store_rows *rows AS_AUTO_ROWS = NULL;
    as_status status = current_template(call, id, &rows);
    for (size_t i = 0; status == AS_OK && i < sizeof MEMBERS / sizeof MEMBERS[0]; i++) {
        json_key(&call->json, MEMBERS[i].field.name);
        resource_put_value(&call->json, &MEMBERS[i].field, rows, MEMBERS[i].column);
    }
    return status;
}
