/* SPDX-License-Identifier: Apache-2.0 */
/* The chain behind a job in one answer, and a run as a definition that another deployment can be given. */
#include "plane/resources.h"
#include "plane/route.h"
#include "plane/runs.h"
#include "plane/yaml.h"

#include <string.h>

/* ---- trace ---- */

static const struct field INVOCATION_FIELDS[] = {
    {.name = "attempt", .type = FIELD_INT, .flags = FIELD_GIVEN, .about = "Attempt of the job."},
    {.name = "tool", .type = FIELD_TEXT, .flags = FIELD_GIVEN, .about = "Which tool."},
    {.name = "tool_version", .type = FIELD_TEXT, .flags = FIELD_GIVEN | FIELD_NULLABLE, .about = "Its version."},
    {.name = "argv",
     .type = FIELD_LIST,
     .item = FIELD_TEXT,
     .flags = FIELD_GIVEN,
     .about = "Exactly what was executed."},
    {.name = "command_text", .type = FIELD_PROSE, .flags = FIELD_GIVEN, .about = "The same for people."},
    {.name = "digest", .type = FIELD_TEXT, .flags = FIELD_GIVEN, .about = "SHA-256 of argv."},
    {.name = "started_at", .type = FIELD_TIME, .flags = FIELD_GIVEN | FIELD_NULLABLE, .about = "When it began."},
    {.name = "finished_at", .type = FIELD_TIME, .flags = FIELD_GIVEN | FIELD_NULLABLE, .about = "When it ended."},
    {.name = "exit_code", .type = FIELD_INT, .flags = FIELD_GIVEN | FIELD_NULLABLE, .about = "Its exit status."},
    {.name = "summary_schema",
     .type = FIELD_TEXT,
     .flags = FIELD_GIVEN | FIELD_NULLABLE,
     .about = "Schema of its summary."},
    {.name = "summary_digest",
     .type = FIELD_TEXT,
     .flags = FIELD_GIVEN | FIELD_NULLABLE,
     .about = "SHA-256 of its summary, byte for byte."},
};
static const struct shape INVOCATION = {
    .name = "Invocation", .about = "A tool as it was executed.", SHAPE_FIELDS(INVOCATION_FIELDS)};

static const struct field ATTEMPT_FIELDS[] = {
    {.name = "attempt", .type = FIELD_INT, .flags = FIELD_GIVEN, .about = "Number of the attempt."},
    {.name = "state", .type = FIELD_TEXT, .flags = FIELD_GIVEN, .about = "What became of it."},
    {.name = "result", .type = FIELD_TEXT, .flags = FIELD_GIVEN, .about = "none, accepted or superseded."},
    {.name = "hostname", .type = FIELD_TEXT, .flags = FIELD_GIVEN | FIELD_NULLABLE, .about = "Where it ran."},
    {.name = "agent_version", .type = FIELD_TEXT, .flags = FIELD_GIVEN | FIELD_NULLABLE, .about = "Of the agent."},
    {.name = "gpu_class_code", .type = FIELD_TEXT, .flags = FIELD_GIVEN | FIELD_NULLABLE, .about = "GPUs it ran on."},
    {.name = "gpu_count", .type = FIELD_INT, .flags = FIELD_GIVEN | FIELD_NULLABLE, .about = "How many."},
    {.name = "environment_digest",
     .type = FIELD_TEXT,
     .flags = FIELD_GIVEN | FIELD_NULLABLE,
     .about = "SHA-256 of the environment found."},
    {.name = "environment",
     .type = FIELD_JSON,
     .flags = FIELD_GIVEN | FIELD_NULLABLE,
     .about = "Engine, driver, GPU, host."},
};
static const struct shape ATTEMPT = {
    .name = "Attempt", .about = "A try of a job on a server.", SHAPE_FIELDS(ATTEMPT_FIELDS)};

#define PART_OF_CHAIN(member, of)                                                                                      \
    {                                                                                                                  \
        .name = (member), .type = FIELD_OBJECT, .shape = (of), .flags = FIELD_GIVEN, .about = "Link of the chain."     \
    }
static const struct field TRACE_FIELDS[] = {
    PART_OF_CHAIN("project", &resource_projects.shape),
    PART_OF_CHAIN("workload", &resource_workloads.shape),
    PART_OF_CHAIN("scenario", &resource_scenarios.shape),
    PART_OF_CHAIN("run", &resource_runs.shape),
    PART_OF_CHAIN("job", &resource_jobs.shape),
    {.name = "attempts", .type = FIELD_LIST, .shape = &ATTEMPT, .flags = FIELD_GIVEN, .about = "Tries of the job."},
    {.name = "invocations",
     .type = FIELD_LIST,
     .shape = &INVOCATION,
     .flags = FIELD_GIVEN,
     .about = "What was executed."},
};
static const struct shape TRACE = {
    .name = "Trace", .about = "From a job to all that made it.", SHAPE_FIELDS(TRACE_FIELDS)};

struct chain {
    int64_t project_id, workload_id, scenario_id, run_id, job_id;
};

static as_status find_chain(struct plane_call *call, struct chain *ret)
{
    struct store_rows *rows AS_AUTO_ROWS = NULL;
    struct sql sql AS_AUTO_SQL = {.count = 0};
    as_status status = resource_row(call, &resource_jobs, call->params, &ret->job_id);
    if (status != AS_OK)
        return status;
    sql_begin(&sql, call);
    sql_add(&sql, "SELECT w.project_id, j.workload_id, j.scenario_id, j.run_id FROM jobs j JOIN workloads w ON w.id = "
                  "j.workload_id WHERE j.id = ");
    sql_of_row(&sql, ret->job_id);
    status = sql_query(&sql, call, &rows);
    if (status == AS_OK && !store_next(rows))
        status = call_store_failed(call, AS_E_INTERNAL);
    if (status != AS_OK)
        return status;
    ret->project_id = store_get_int(rows, 0);
    ret->workload_id = store_get_int(rows, 1);
    ret->scenario_id = store_get_int(rows, 2);
    ret->run_id = store_get_int(rows, 3);
    return AS_OK;
}

static as_status put_rows(struct plane_call *call, const struct shape *shape, struct sql *sql)
{
    struct store_rows *rows AS_AUTO_ROWS = NULL;
    as_status status = sql_query(sql, call, &rows);
    json_open_array(&call->json);
    while (status == AS_OK && store_next(rows)) {
        json_open_object(&call->json);
        for (size_t i = 0; i < shape->count; i++) {
            json_key(&call->json, shape->fields[i].name);
            resource_put_value(&call->json, &shape->fields[i], rows, (uint32_t)i);
        }
        json_close_object(&call->json);
    }
    json_close_array(&call->json);
    return status == AS_OK ? rows_end(rows, call) : status;
}

static as_status put_attempts(struct plane_call *call, int64_t job_id)
{
    struct sql sql AS_AUTO_SQL = {.count = 0};
    sql_begin(&sql, call);
    sql_add(&sql, "SELECT a.attempt, a.state, a.result, s.hostname, a.agent_version, a.gpu_class_code, a.gpu_count, "
                  "a.environment_digest, a.environment FROM job_attempts a LEFT JOIN servers s ON s.id = a.server_id "
                  "WHERE a.job_id = ");
    sql_of_row(&sql, job_id);
    sql_add(&sql, " ORDER BY a.attempt");
    json_key(&call->json, "attempts");
    return put_rows(call, &ATTEMPT, &sql);
}

static as_status put_invocations(struct plane_call *call, int64_t job_id)
{
    struct sql sql AS_AUTO_SQL = {.count = 0};
    sql_begin(&sql, call);
    sql_add(&sql,
            "SELECT a.attempt, i.tool, i.tool_version, i.argv, i.command_text, i.digest, i.started_ns, i.finished_ns, "
            "i.exit_code, d.schema_name, d.digest FROM tool_invocations i JOIN job_attempts a ON a.id = "
            "i.job_attempt_id LEFT JOIN summary_documents d ON d.tool_invocation_id = i.id WHERE a.job_id = ");
    sql_of_row(&sql, job_id);
    sql_add(&sql, " ORDER BY a.attempt, i.ordinal, d.id");
    json_key(&call->json, "invocations");
    return put_rows(call, &INVOCATION, &sql);
}

static as_status put_link(struct plane_call *call, const char *member, const struct resource *resource, int64_t id)
{
    json_key(&call->json, member);
    as_status status = resource_put(call, resource, id);
    call->field_count = 0; /* the ETag is of a thing, not of the chain */
    return status;
}

static as_status trace(struct plane_call *call)
{
    struct chain chain;
    as_status status = find_chain(call, &chain);
    if (status != AS_OK)
        return status;
    json_open_object(&call->json);
    status = put_link(call, "project", &resource_projects, chain.project_id);
    if (status == AS_OK)
        status = put_link(call, "workload", &resource_workloads, chain.workload_id);
    if (status == AS_OK)
        status = put_link(call, "scenario", &resource_scenarios, chain.scenario_id);
    if (status == AS_OK)
        status = put_link(call, "run", &resource_runs, chain.run_id);
    if (status == AS_OK)
        status = put_link(call, "job", &resource_jobs, chain.job_id);
    if (status == AS_OK)
        status = put_attempts(call, chain.job_id);
    if (status == AS_OK)
        status = put_invocations(call, chain.job_id);
    json_close_object(&call->json);
    return status;
}

/* ---- export ---- */

/* One object as it would be sent: members that callers give, without those that are null. */
static as_status put_definition(struct plane_call *call, struct json_writer *out, const struct resource *resource,
                                int64_t id)
{
    const struct json_value *tree = NULL;
    strbuf_reset(&call->out);
    json_writer_init(&call->json, &call->out, 0);
    as_status status = resource_put(call, resource, id);
    call->field_count = 0;
    const char *copy = status == AS_OK ? arena_strndup(&call->arena, strbuf_text(&call->out), call->out.len) : NULL;
    if (status == AS_OK)
        status = copy ? json_parse(copy, call->out.len, NULL, &call->arena, &tree, NULL) : AS_E_NOMEM;
    if (status != AS_OK)
        return call_store_failed(call, status);
    json_open_object(out);
    for (const struct json_value *member = tree->first; member; member = member->next) {
        const struct field *field = shape_field(&resource->shape, member->key);
        if (!field || (field->flags & FIELD_GIVEN) || field->sql || member->type == JSON_NULL)
            continue;
        json_key(out, member->key);
        json_put_value(out, member);
    }
    json_close_object(out);
    return AS_OK;
}

/* Things of one kind that the run's workload names and that are the tenant's own: shipped ones are everywhere. */
struct exported {
    const char *member;
    const struct resource *resource;
    const char *from; /* gives ids, after "SELECT DISTINCT x.id FROM " */
};

#define OF_WORKLOAD " JOIN runs r ON r.workload_id = w.id WHERE r.id = "
static const struct exported EXPORTED[] = {
    {"projects", &resource_projects, "projects x JOIN workloads w ON w.project_id = x.id" OF_WORKLOAD},
    {"models", &resource_models, "models x JOIN workloads w ON w.model_id = x.id" OF_WORKLOAD},
    {"frameworks", &resource_frameworks,
     "frameworks x JOIN framework_versions v ON v.framework_id = x.id JOIN workloads w ON w.framework_version_id = "
     "v.id" OF_WORKLOAD},
    {"engine_args_sets", &resource_engine_args_sets,
     "framework_engine_args_sets x JOIN workloads w ON w.engine_args_set_id = x.id" OF_WORKLOAD},
    {"command_templates", &resource_command_templates,
     "command_templates x JOIN workloads w ON w.server_template_id = x.id OR w.tool_template_id = x.id" OF_WORKLOAD},
    {"gpu_classes", &resource_gpu_classes,
     "gpu_classes x JOIN server_configs c ON c.gpu_class_id = x.id JOIN workloads w ON w.server_config_id = "
     "c.id" OF_WORKLOAD},
    {"server_configs", &resource_server_configs,
     "server_configs x JOIN workloads w ON w.server_config_id = x.id" OF_WORKLOAD},
    {"servers", &resource_servers, "servers x JOIN workloads w ON w.server_id = x.id" OF_WORKLOAD},
    {"prompt_sources", &resource_prompt_sources,
     "prompt_sources x JOIN workloads w ON w.prompt_source_id = x.id" OF_WORKLOAD},
    {"workloads", &resource_workloads, "workloads x JOIN runs r ON r.workload_id = x.id WHERE r.id = "},
    {"scenarios", &resource_scenarios,
     "scenarios x JOIN runs r ON r.workload_id = x.workload_id WHERE x.retired_ns IS NULL AND r.id = "},
};

static as_status put_exported(struct plane_call *call, struct json_writer *out, const struct exported *exported,
                              int64_t run_id)
{
    enum { MOST = 500 };
    struct store_rows *rows AS_AUTO_ROWS = NULL;
    struct sql sql AS_AUTO_SQL = {.count = 0};
    int64_t *ids = arena_calloc(&call->arena, MOST, sizeof *ids);
    size_t count = 0;
    if (!ids)
        return call_store_failed(call, AS_E_NOMEM);
    sql_begin(&sql, call);
    sql_add(&sql, "SELECT DISTINCT x.id FROM %s", exported->from);
    sql_of_row(&sql, run_id);
    sql_add(&sql, " AND ");
    sql_own(&sql, "x");
    sql_add(&sql, " ORDER BY x.id LIMIT %d", MOST);
    as_status status = sql_query(&sql, call, &rows);
    while (status == AS_OK && store_next(rows))
        ids[count++] = store_get_int(rows, 0);
    if (status == AS_OK)
        status = rows_end(rows, call);
    rows_done(&rows);
    if (status != AS_OK || count == 0)
        return status;
    json_key(out, exported->member);
    json_open_array(out);
    for (size_t i = 0; status == AS_OK && i < count; i++)
        status = put_definition(call, out, exported->resource, ids[i]);
    json_close_array(out);
    return status;
}

/* "run": what POST /runs takes to start it again. */
static as_status put_run(struct plane_call *call, struct json_writer *out, int64_t run_id)
{
    struct store_rows *rows AS_AUTO_ROWS = NULL;
    struct sql sql AS_AUTO_SQL = {.count = 0};
    sql_begin(&sql, call);
    sql_add(&sql,
            "SELECT w.workload_code, r.settings, r.note FROM runs r JOIN workloads w ON w.id = r.workload_id WHERE "
            "r.id = ");
    sql_of_row(&sql, run_id);
    as_status status = sql_query(&sql, call, &rows);
    if (status == AS_OK && !store_next(rows))
        status = call_store_failed(call, AS_E_INTERNAL);
    if (status != AS_OK)
        return status;
    json_key(out, "run");
    json_open_object(out);
    json_member_string(out, "workload_code", store_get_text(rows, 0, NULL));
    json_key(out, "settings");
    json_put_raw(out, store_get_text(rows, 1, NULL), strlen(store_get_text(rows, 1, NULL)));
    if (!store_is_null(rows, 2))
        json_member_string(out, "note", store_get_text(rows, 2, NULL));
    json_close_object(out);
    return AS_OK;
}

static as_status export_run(struct plane_call *call)
{
    struct strbuf text AS_AUTO_STRBUF = {.len = 0};
    const struct json_value *tree = NULL;
    struct json_writer out;
    int64_t run_id = 0;
    as_status status = resource_row(call, &resource_runs, call->params, &run_id);
    if (status != AS_OK)
        return status;
    strbuf_init(&text, 0);
    json_writer_init(&out, &text, 0);
    json_open_object(&out);
    json_member_string(&out, "schema", "assay.definition.v1");
    for (size_t i = 0; status == AS_OK && i < sizeof EXPORTED / sizeof EXPORTED[0]; i++)
        status = put_exported(call, &out, &EXPORTED[i], run_id);
    if (status == AS_OK)
        status = put_run(call, &out, run_id);
    json_close_object(&out);
    if (status != AS_OK)
        return status;
    status = json_writer_status(&out);
    if (status == AS_OK)
        status = json_parse(text.data, text.len, NULL, &call->arena, &tree, NULL);
    if (status != AS_OK)
        return call_store_failed(call, status);
    strbuf_reset(&call->out);
    strbuf_addf(&call->out, "# Run %s of Assay: what another deployment needs to do the same.\n", call->params[0]);
    yaml_write(&call->out, tree);
    call->content_type = "application/yaml";
    return AS_OK;
}

static const struct route ROUTES[] = {
    {.method = HTTP_GET,
     .kind = ROUTE_READ,
     .right = RIGHT_READ,
     .path = "/api/v1/jobs/{job_code}/trace",
     .id = "trace_job",
     .tag = "jobs",
     .output = &TRACE,
     .handle = trace,
     .resource = &resource_jobs,
     .summary = "The chain behind a job: project, workload, scenario, run, commands, attempts"},
    {.method = HTTP_GET,
     .kind = ROUTE_READ,
     .right = RIGHT_READ,
     .path = "/api/v1/runs/{run_code}/export",
     .id = "export_run",
     .tag = "runs",
     .media = "application/yaml",
     .handle = export_run,
     .resource = &resource_runs,
     .summary = "The definitions behind a run as YAML, for another deployment"},
};

const struct route_list routes_catalogue = {ROUTES, sizeof ROUTES / sizeof ROUTES[0]};
