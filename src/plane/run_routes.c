/* SPDX-License-Identifier: Apache-2.0 */
/* Routes of runs: start, cancel, retry, clone; and of workloads: check, resolve. */
#include "plane/audit.h"
#include "plane/resources.h"
#include "plane/route.h"
#include "plane/run_start.h"
#include "plane/runs.h"

#include <string.h>

static const struct field OVERRIDE_FIELDS[] = {
    {.name = "check_code", .type = FIELD_KEY, .flags = FIELD_REQUIRED, .about = "The check that stops."},
    {.name = "reason",
     .type = FIELD_TEXT,
     .flags = FIELD_REQUIRED,
     .max = 500,
     .about = "Why it is done all the same."},
};
static const struct shape OVERRIDE = {
    .name = "Override", .about = "A check that a named user sets aside.", SHAPE_FIELDS(OVERRIDE_FIELDS)};

#define SCENARIO_CODES                                                                                                 \
    {                                                                                                                  \
        .name = "scenario_codes", .type = FIELD_LIST, .item = FIELD_CODE, .max = 80,                                   \
        .about = "Scenarios of the workload; none: all in use."                                                        \
    }
#define SETTINGS                                                                                                       \
    {                                                                                                                  \
        .name = "settings", .type = FIELD_JSON, .about = "Placeholders set for this run."                              \
    }

static const struct field START_FIELDS[] = {
    {.name = "workload_code", .type = FIELD_CODE, .flags = FIELD_REQUIRED, .about = "What to run."},
    SCENARIO_CODES,
    SETTINGS,
    {.name = "note", .type = FIELD_PROSE, .max = 4000, .about = "A remark."},
    {.name = "overrides", .type = FIELD_LIST, .shape = &OVERRIDE, .max = 40, .about = "Checks set aside."},
};
static const struct shape START = {.name = "RunStart", .about = "A run to be started.", SHAPE_FIELDS(START_FIELDS)};

static const struct field TRY_FIELDS[] = {SCENARIO_CODES, SETTINGS};
static const struct shape TRY = {.name = "RunTry", .about = "What would be run.", SHAPE_FIELDS(TRY_FIELDS)};

static const struct field AGAIN_FIELDS[] = {
    {.name = "note", .type = FIELD_PROSE, .max = 4000, .about = "A remark."},
    {.name = "overrides", .type = FIELD_LIST, .shape = &OVERRIDE, .max = 40, .about = "Checks set aside."},
};
static const struct shape AGAIN = {
    .name = "RunAgain", .about = "A run to be started again.", SHAPE_FIELDS(AGAIN_FIELDS)};

static const struct field CANCEL_FIELDS[] = {{.name = "reason", .type = FIELD_TEXT, .max = 500, .about = "Why."}};
static const struct shape CANCEL = {
    .name = "RunCancel", .about = "A run to be cancelled.", SHAPE_FIELDS(CANCEL_FIELDS)};

static const struct field READINESS_FIELDS[] = {
    {.name = "is_ready", .type = FIELD_BOOL, .flags = FIELD_GIVEN, .about = "Whether a run would start."},
    {.name = "checks", .type = FIELD_LIST, .shape = &shape_check_result, .flags = FIELD_GIVEN, .about = "All checks."},
};
static const struct shape READINESS = {
    .name = "Readiness", .about = "Whether a workload can be run now.", SHAPE_FIELDS(READINESS_FIELDS)};

static const struct field RESOLVED_FIELDS[] = {
    {.name = "scenario_code", .type = FIELD_CODE, .flags = FIELD_GIVEN, .about = "The scenario."},
    {.name = "replicas", .type = FIELD_INT, .flags = FIELD_GIVEN, .about = "Servers that would be started."},
    {.name = "gpus_idle", .type = FIELD_INT, .flags = FIELD_GIVEN, .about = "GPUs that none of them uses."},
    {.name = "urls", .type = FIELD_LIST, .item = FIELD_TEXT, .flags = FIELD_GIVEN, .about = "Their endpoints."},
    {.name = "servers",
     .type = FIELD_LIST,
     .item = FIELD_PROSE,
     .flags = FIELD_GIVEN,
     .about = "Their commands, quoted for a shell."},
    {.name = "tool",
     .type = FIELD_PROSE,
     .flags = FIELD_GIVEN | FIELD_NULLABLE,
     .about = "The tool's command; null: not resolved."},
    {.name = "trouble", .type = FIELD_TEXT, .flags = FIELD_GIVEN | FIELD_NULLABLE, .about = "Why there is none."},
};
static const struct shape RESOLVED = {
    .name = "ResolvedScenario", .about = "Commands of one scenario.", SHAPE_FIELDS(RESOLVED_FIELDS)};
static const struct field PREVIEW_FIELDS[] = {
    {.name = "scenarios", .type = FIELD_LIST, .shape = &RESOLVED, .flags = FIELD_GIVEN, .about = "By scenario."}};
static const struct shape PREVIEW = {
    .name = "Preview", .about = "The commands that a run would execute.", SHAPE_FIELDS(PREVIEW_FIELDS)};

/* ---- start ---- */

static const char *text_of(const struct json_value *object, const char *name)
{
    const char *text = NULL;
    return json_string(json_get(object, name), &text) ? text : NULL;
}

static as_status start(struct plane_call *call)
{
    struct run_order order = {
        .request = {.settings = json_get(call->input, "settings"),
                    .scenarios = json_get(call->input, "scenario_codes")},
        .overrides = json_get(call->input, "overrides"),
        .note = text_of(call->input, "note"),
    };
    const char *key[RESOURCE_KEY_MAX] = {text_of(call->input, "workload_code")};
    struct sql sql AS_AUTO_SQL = {.count = 0};
    int64_t run_id = 0;
    sql_begin(&sql, call);
    sql_add(&sql, "SELECT w.id FROM workloads w WHERE w.retired_ns IS NULL AND w.id = ");
    sql_row_by_key(&sql, &resource_workloads, key);
    as_status status = sql_one_int(&sql, call, &order.workload_id);
    if (status == AS_E_NOTFOUND)
        return problem_add(&call->problem, "/workload_code", "reference", "there is no workload \"%.100s\" in use",
                           key[0]);
    if (status == AS_OK)
        status = run_start(call, &order, &run_id);
    return status == AS_OK ? resource_put(call, &resource_runs, run_id) : status;
}

/* ---- again ---- */

static as_status read_run(struct plane_call *call, struct run_order *order, int64_t *ret_id)
{
    struct store_rows *rows AS_AUTO_ROWS = NULL;
    struct sql sql AS_AUTO_SQL = {.count = 0};
    as_status status = resource_row(call, &resource_runs, call->params, ret_id);
    if (status != AS_OK)
        return status;
    sql_begin(&sql, call);
    sql_add(&sql, "SELECT r.workload_id, r.settings FROM runs r WHERE r.id = ");
    sql_of_row(&sql, *ret_id);
    status = sql_query(&sql, call, &rows);
    if (status == AS_OK && !store_next(rows))
        status = call_store_failed(call, AS_E_INTERNAL);
    if (status != AS_OK)
        return status;
    const char *settings = store_get_text(rows, 1, NULL);
    order->workload_id = store_get_int(rows, 0);
    order->cloned_from = *ret_id;
    status = json_parse(settings, strlen(settings), NULL, &call->arena, &order->request.settings, NULL);
    return status == AS_OK ? AS_OK : call_store_failed(call, status);
}

/* The run's scenarios as a list of codes; only those with jobs that did not succeed when `failed`. */
static as_status read_codes(struct plane_call *call, int64_t run_id, bool failed, const struct json_value **ret)
{
    struct store_rows *rows AS_AUTO_ROWS = NULL;
    struct strbuf text AS_AUTO_STRBUF = {.len = 0};
    struct sql sql AS_AUTO_SQL = {.count = 0};
    struct json_writer writer;
    sql_begin(&sql, call);
    sql_add(&sql,
            "SELECT DISTINCT s.scenario_code FROM jobs j JOIN scenarios s ON s.id = j.scenario_id WHERE j.run_id = ");
    sql_of_row(&sql, run_id);
    if (failed)
        sql_add(&sql, " AND j.state IN ('failed', 'lost', 'cancelled')");
    as_status status = sql_query(&sql, call, &rows);
    strbuf_init(&text, 0);
    json_writer_init(&writer, &text, 0);
    json_open_array(&writer);
    while (status == AS_OK && store_next(rows))
        json_put_string(&writer, store_get_text(rows, 0, NULL));
    json_close_array(&writer);
    if (status == AS_OK)
        status = json_writer_status(&writer);
    const char *copy = status == AS_OK ? arena_strndup(&call->arena, text.data, text.len) : NULL;
    if (!copy)
        return call_store_failed(call, status == AS_OK ? AS_E_NOMEM : status);
    status = json_parse(copy, text.len, NULL, &call->arena, ret, NULL);
    return status == AS_OK ? AS_OK : call_store_failed(call, status);
}

static as_status again(struct plane_call *call, bool failed_only)
{
    struct run_order order = {.overrides = json_get(call->input, "overrides"), .note = text_of(call->input, "note")};
    const struct json_value *codes = NULL;
    int64_t before = 0, run_id = 0;
    as_status status = read_run(call, &order, &before);
    if (status == AS_OK)
        status = read_codes(call, before, failed_only, &codes);
    if (status != AS_OK)
        return status;
    if (!codes || (failed_only && !codes->first))
        return call_refuse(call, PROBLEM_STATE, "no job of this run failed, was lost or was cancelled");
    order.request.scenarios = codes->first ? codes : NULL;
    status = run_start(call, &order, &run_id);
    return status == AS_OK ? resource_put(call, &resource_runs, run_id) : status;
}

static as_status retry(struct plane_call *call)
{
    return again(call, true);
}

static as_status run_again(struct plane_call *call)
{
    return again(call, false);
}

/* ---- cancel ---- */

/* Queued jobs end at once; those that a worker has are told to. */
static as_status cancel_jobs(struct plane_call *call, int64_t run_id, const char *reason)
{
    static const struct {
        const char *from, *to;
    } WAYS[] = {{"'queued'", "cancelled"}, {"'leased', 'starting', 'running', 'uploading'", "cancelling"}};
    as_status status = AS_OK;
    for (size_t i = 0; status == AS_OK && i < sizeof WAYS / sizeof WAYS[0]; i++) {
        struct sql told AS_AUTO_SQL = {.count = 0}, sql AS_AUTO_SQL = {.count = 0};
        sql_begin(&told, call);
        sql_begin(&sql, call);
        sql_add(&told,
                "INSERT INTO job_transitions (job_id, attempt, ordinal, from_state, to_state, reason, actor, at_ns) "
                "SELECT j.id, j.attempt, (SELECT COALESCE(MAX(x.ordinal), 0) + 1 FROM job_transitions x WHERE "
                "x.job_id = j.id), j.state, '%s', CAST(",
                WAYS[i].to);
        sql_value(&told, store_text(reason));
        sql_add(&told, " AS TEXT), CAST(");
        sql_value(&told, store_text(call->who.user_name));
        sql_add(&told, " AS TEXT), CAST(");
        sql_value(&told, store_int(call->now_ns));
        sql_add(&told, " AS BIGINT) FROM jobs j WHERE j.state IN (%s) AND j.run_id = ", WAYS[i].from);
        sql_of_row(&told, run_id);
        sql_add(&sql, "UPDATE jobs SET state = '%s', row_version = row_version + 1, reason = ", WAYS[i].to);
        sql_value(&sql, store_text(reason));
        sql_add(&sql, ", updated_ns = ");
        sql_value(&sql, store_int(call->now_ns));
        if (i == 0) {
            sql_add(&sql, ", finished_ns = ");
            sql_value(&sql, store_int(call->now_ns));
        }
        sql_add(&sql, " WHERE state IN (%s) AND run_id = ", WAYS[i].from);
        sql_of_row(&sql, run_id);
        status = sql_exec(&told, call, NULL);
        if (status == AS_OK)
            status = sql_exec(&sql, call, NULL);
    }
    return status;
}

static as_status count_open(struct plane_call *call, int64_t run_id, int64_t *ret)
{
    struct sql sql AS_AUTO_SQL = {.count = 0};
    sql_begin(&sql, call);
    sql_add(&sql, "SELECT COUNT(*) FROM jobs j WHERE j.state = 'cancelling' AND j.run_id = ");
    sql_of_row(&sql, run_id);
    return sql_one_int(&sql, call, ret);
}

static as_status close_run(struct plane_call *call, int64_t run_id, const char *reason, const char **ret_state)
{
    struct sql sql AS_AUTO_SQL = {.count = 0};
    int64_t open = 0, changed = 0;
    as_status status = count_open(call, run_id, &open);
    *ret_state = open ? "cancelling" : "cancelled";
    sql_begin(&sql, call);
    sql_add(&sql, "UPDATE runs SET row_version = row_version + 1, reason_code = 'cancelled', state = ");
    sql_value(&sql, store_text(*ret_state));
    sql_add(&sql, ", reason = ");
    sql_value(&sql, store_text(reason));
    sql_add(&sql, ", updated_ns = ");
    sql_value(&sql, store_int(call->now_ns));
    sql_add(&sql, ", finished_ns = ");
    sql_value(&sql, open ? store_null() : store_int(call->now_ns));
    sql_add(&sql, " WHERE state IN ('created', 'checking', 'queued', 'running', 'cancelling') AND id = ");
    sql_of_row(&sql, run_id);
    if (status == AS_OK)
        status = sql_exec(&sql, call, &changed);
    if (status == AS_OK && changed == 0)
        return call_refuse(call, PROBLEM_STATE, "the run has ended");
    return status;
}

static as_status cancel(struct plane_call *call)
{
    const char *reason = text_of(call->input, "reason"), *state = "";
    int64_t run_id = 0;
    as_status status = resource_row(call, &resource_runs, call->params, &run_id);
    reason = reason ? reason : "cancelled by a user";
    if (status == AS_OK)
        status = cancel_jobs(call, run_id, reason);
    if (status == AS_OK)
        status = close_run(call, run_id, reason, &state);
    if (status == AS_OK)
        status = audit_add(call, "cancel", "run", call->params[0]);
    if (status == AS_OK)
        status = run_event(call, "run_cancelled", call->params[0], state);
    return status == AS_OK ? resource_put(call, &resource_runs, run_id) : status;
}

/* ---- check and resolve ---- */

struct trial {
    struct run_workload workload;
    struct run_planned *planned;
    size_t count;
};

static as_status try_workload(struct plane_call *call, struct trial *ret)
{
    const struct run_request request = {.run_code = call_printf(call, "%.70s-r0", call->params[0]),
                                        .settings = json_get(call->input, "settings"),
                                        .scenarios = json_get(call->input, "scenario_codes")};
    struct run_scenario *scenarios = NULL;
    int64_t id = 0;
    as_status status = resource_row(call, &resource_workloads, call->params, &id);
    if (status == AS_OK)
        status = run_load_workload(call, id, &ret->workload);
    if (status == AS_OK)
        status = run_load_scenarios(call, &ret->workload, &request, &scenarios, &ret->count);
    if (status != AS_OK)
        return status;
    ret->planned = arena_calloc(&call->arena, ret->count, sizeof *ret->planned);
    if (!ret->planned)
        return call_store_failed(call, AS_E_NOMEM);
    for (size_t i = 0; status == AS_OK && i < ret->count; i++)
        status = run_plan(call, &ret->workload, &scenarios[i], call_printf(call, "%s-j%zu", request.run_code, i + 1),
                          &ret->planned[i]);
    return status;
}

static void put_check(struct json_writer *json, const struct recipe_check *check, const char *subject)
{
    json_open_object(json);
    json_member_string(json, "check_code", recipe_check_name(check->code));
    json_member_string(json, "subject", subject);
    json_member_string(json, "verdict", run_verdict(check->state));
    json_member_bool(json, "can_override", check->is_overridable);
    json_key(json, "compared");
    json_open_object(json);
    json_member_string(json, "found", check->found);
    json_member_string(json, "needed", check->needed);
    json_close_object(json);
    json_member_string(json, "message", recipe_check_sentence(check->code));
    json_member_string(json, "remedy", check->remedy);
    json_member_null(json, "overridden_by");
    json_member_null(json, "override_reason");
    json_close_object(json);
}

static void put_trouble(struct json_writer *json, const struct run_planned *planned)
{
    json_open_object(json);
    json_member_string(json, "check_code", "plan");
    json_member_string(json, "subject", planned->scenario->code);
    json_member_string(json, "verdict", "stop");
    json_member_bool(json, "can_override", false);
    json_key(json, "compared");
    json_open_object(json);
    json_close_object(json);
    json_member_string(json, "message", planned->trouble);
    json_member_null(json, "remedy");
    json_member_null(json, "overridden_by");
    json_member_null(json, "override_reason");
    json_close_object(json);
}

static as_status check(struct plane_call *call)
{
    struct trial trial = {.count = 0};
    bool is_ready = true;
    as_status status = try_workload(call, &trial);
    if (status != AS_OK)
        return status;
    json_open_object(&call->json);
    json_key(&call->json, "checks");
    json_open_array(&call->json);
    for (size_t i = 0; i < trial.count; i++) {
        const struct run_planned *planned = &trial.planned[i];
        for (size_t k = 0; k < planned->checks.count; k++) {
            put_check(&call->json, &planned->checks.items[k], planned->scenario->code);
            is_ready = is_ready && planned->checks.items[k].state != RECIPE_FAIL;
        }
        if (planned->trouble)
            put_trouble(&call->json, planned);
        is_ready = is_ready && !planned->trouble && planned->tool;
    }
    json_close_array(&call->json);
    json_member_bool(&call->json, "is_ready", is_ready);
    json_close_object(&call->json);
    return AS_OK;
}

static as_status put_command(struct plane_call *call, const struct recipe_command *command)
{
    struct strbuf text AS_AUTO_STRBUF = {.len = 0};
    strbuf_init(&text, 0);
    recipe_command_text(command, &text);
    json_put_stringn(&call->json, strbuf_text(&text), text.len);
    return strbuf_status(&text) == AS_OK ? AS_OK : call_store_failed(call, strbuf_status(&text));
}

static as_status put_resolved(struct plane_call *call, const struct run_planned *planned)
{
    struct json_writer *json = &call->json;
    as_status status = AS_OK;
    json_open_object(json);
    json_member_string(json, "scenario_code", planned->scenario->code);
    json_member_int(json, "replicas", planned->plan.replica_count);
    json_member_int(json, "gpus_idle", planned->plan.gpus_idle);
    json_key(json, "urls");
    json_open_array(json);
    for (size_t i = 0; i < planned->plan.urls.count; i++)
        json_put_string(json, planned->plan.urls.items[i]);
    json_close_array(json);
    json_key(json, "servers");
    json_open_array(json);
    for (size_t i = 0; status == AS_OK && planned->servers && i < planned->plan.instance_count; i++)
        status = put_command(call, &planned->servers[i]);
    json_close_array(json);
    json_key(json, "tool");
    if (planned->tool && status == AS_OK)
        status = put_command(call, planned->tool);
    else
        json_put_null(json);
    json_member_string(json, "trouble", planned->trouble);
    json_close_object(json);
    return status;
}

static as_status resolve(struct plane_call *call)
{
    struct trial trial = {.count = 0};
    as_status status = try_workload(call, &trial);
    if (status != AS_OK)
        return status;
    json_open_object(&call->json);
    json_key(&call->json, "scenarios");
    json_open_array(&call->json);
    for (size_t i = 0; status == AS_OK && i < trial.count; i++)
        status = put_resolved(call, &trial.planned[i]);
    json_close_array(&call->json);
    json_close_object(&call->json);
    return status;
}

#define RUN "/api/v1/runs/{run_code}"
static const struct route ROUTES[] = {
    {.method = HTTP_POST,
     .kind = ROUTE_WRITE,
     .right = RIGHT_WRITE,
     .path = "/api/v1/runs",
     .id = "start_run",
     .tag = "runs",
     .status = 201,
     .input = &START,
     .output = &resource_runs.shape,
     .handle = start,
     .resource = &resource_runs,
     .summary = "Start a run: readiness first, then its jobs; one that a check stops is kept as stopped"},
    {.method = HTTP_POST,
     .kind = ROUTE_WRITE,
     .right = RIGHT_WRITE,
     .path = RUN "/cancel",
     .id = "cancel_run",
     .tag = "runs",
     .input = &CANCEL,
     .output = &resource_runs.shape,
     .handle = cancel,
     .resource = &resource_runs,
     .summary = "Cancel a run and its jobs"},
    {.method = HTTP_POST,
     .kind = ROUTE_WRITE,
     .right = RIGHT_WRITE,
     .path = RUN "/retry",
     .id = "retry_run",
     .tag = "runs",
     .status = 201,
     .input = &AGAIN,
     .output = &resource_runs.shape,
     .handle = retry,
     .resource = &resource_runs,
     .summary = "Start a run of the scenarios that failed, were lost or were cancelled"},
    {.method = HTTP_POST,
     .kind = ROUTE_WRITE,
     .right = RIGHT_WRITE,
     .path = RUN "/clone",
     .id = "clone_run",
     .tag = "runs",
     .status = 201,
     .input = &AGAIN,
     .output = &resource_runs.shape,
     .handle = run_again,
     .resource = &resource_runs,
     .summary = "Start a run with the same scenarios and settings"},
    {.method = HTTP_POST,
     .kind = ROUTE_READ,
     .right = RIGHT_READ,
     .path = "/api/v1/workloads/{workload_code}/check",
     .id = "check_workload",
     .tag = "workloads",
     .input = &TRY,
     .output = &READINESS,
     .handle = check,
     .resource = &resource_workloads,
     .summary = "Check whether a workload can be run now; nothing is started"},
    {.method = HTTP_POST,
     .kind = ROUTE_READ,
     .right = RIGHT_READ,
     .path = "/api/v1/workloads/{workload_code}/resolve",
     .id = "resolve_workload",
     .tag = "workloads",
     .input = &TRY,
     .output = &PREVIEW,
     .handle = resolve,
     .resource = &resource_workloads,
     .summary = "Show the commands that a run would execute; nothing is started"},
};

const struct route_list routes_runs = {ROUTES, sizeof ROUTES / sizeof ROUTES[0]};
