/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A job's result as a benchmark report: the summary byte for byte as it was stored, and, where it does not say so
 * itself, what the chain knows of the system under test and its telemetry.
 */
#include "plane/query.h"
#include "plane/report_text.h"
#include "plane/resources.h"
#include "plane/route.h"

#include <stdio.h>
#include <string.h>

#define ATTEMPT_MAX INT64_C(1000000)

enum column {
    BYTES,
    SCHEMA,
    HARNESS,
    ATTEMPT_ID,
    FRAMEWORK,
    VERSION,
    GPU_CLASS,
    REPLICAS,
    GPUS,
    SET,
    SET_REVISION,
    SET_DIGEST,
    COMMAND,
    TOOL_COMMAND
};

static const char DOCUMENT_SQL[] =
    "SELECT d.bytes, d.schema_name, x.harness, a.id, f.framework_code, fv.version, COALESCE(a.gpu_class_code, "
    "g.gpu_class_code), k.replicas, k.gpus_per_replica, k.set_code, k.set_revision, k.set_digest, (SELECT "
    "c.command_text FROM "
    "job_commands c WHERE c.job_id = j.id AND c.kind = 'server' ORDER BY c.ordinal LIMIT 1), i.command_text FROM jobs "
    "j JOIN "
    "job_attempts a ON a.job_id = j.id JOIN tool_invocations i ON i.job_attempt_id = a.id JOIN summary_documents d ON "
    "d.tool_invocation_id = i.id JOIN workloads w ON w.id = j.workload_id JOIN framework_versions fv ON fv.id = "
    "w.framework_version_id JOIN frameworks f ON f.id = fv.framework_id LEFT JOIN job_plans k ON k.job_id = j.id LEFT "
    "JOIN "
    "external_outputs x ON x.tool_invocation_id = i.id LEFT JOIN servers s ON s.id = a.server_id LEFT JOIN "
    "server_configs v ON "
    "v.id = s.server_config_id LEFT JOIN gpu_classes g ON g.id = v.gpu_class_id WHERE j.id = ";

/* The document of the attempt that is asked for, else of the accepted one. */
static as_status read_document(struct plane_call *call, struct store_rows **ret)
{
    static const char *const names[] = {"attempt"};
    struct sql sql AS_AUTO_SQL = {.count = 0};
    int64_t job_id = 0, attempt = 0;
    as_status status = call_query_check(call, names, 1);
    if (status == AS_OK)
        status = call_query_int(call, "attempt", ATTEMPT_MAX, &attempt);
    if (status == AS_OK)
        status = resource_row(call, &resource_jobs, call->params, &job_id);
    if (status != AS_OK)
        return status;
    sql_begin(&sql, call);
    sql_add(&sql, "%s", DOCUMENT_SQL);
    sql_of_row(&sql, job_id);
    if (attempt) {
        sql_add(&sql, " AND a.attempt = ");
        sql_value(&sql, store_int(attempt));
    } else {
        sql_add(&sql, " AND a.result = 'accepted'");
    }
    sql_add(&sql, " ORDER BY a.attempt DESC, i.ordinal DESC, d.received_ns DESC, d.id DESC LIMIT 1");
    status = sql_query(&sql, call, ret);
    if (status != AS_OK || store_next(*ret))
        return status;
    status = rows_end(*ret, call);
    return status == AS_OK ? call_refuse(call, PROBLEM_NOTFOUND, "the job has no result") : status;
}

static void put_text(struct json_writer *json, const char *member, const struct store_rows *rows, uint32_t column)
{
    if (!store_is_null(rows, column))
        json_member_string(json, member, store_get_text(rows, column, NULL));
}

static void put_count(struct json_writer *json, const char *member, const struct store_rows *rows, uint32_t column)
{
    if (!store_is_null(rows, column))
        json_member_int(json, member, store_get_int(rows, column));
}

static void put_sut(struct json_writer *json, const struct plane_call *call, const struct store_rows *rows)
{
    json_key(json, "sut");
    json_open_object(json);
    put_text(json, "engine", rows, FRAMEWORK);
    put_text(json, "engine_version", rows, VERSION);
    put_count(json, "replicas", rows, REPLICAS);
    json_key(json, "accelerator");
    json_open_object(json);
    put_text(json, "model", rows, GPU_CLASS);
    put_count(json, "count", rows, GPUS);
    json_close_object(json);
    json_key(json, "config");
    json_open_object(json);
    json_member_string(json, "job", call->params[0]);
    put_text(json, "server_command", rows, COMMAND);
    put_text(json, "tool_command", rows, TOOL_COMMAND);
    put_text(json, "engine_args_set", rows, SET);
    put_count(json, "engine_args_set_revision", rows, SET_REVISION);
    put_text(json, "engine_args_set_digest", rows, SET_DIGEST);
    json_close_object(json);
    json_close_object(json);
}

/* {"mean", "min", "max"} of a roll-up's n, sum, min, max; nothing when there was no sample. */
static void put_roll(struct json_writer *json, const char *member, const struct store_rows *rows, uint32_t column)
{
    const int64_t n = store_get_int(rows, column);
    if (n <= 0)
        return;
    json_key(json, member);
    json_open_object(json);
    json_member_int(json, "n", n);
    json_member_double(json, "mean", store_get_real(rows, column + 1) / (double)n);
    json_member_double(json, "min", store_get_real(rows, column + 2));
    json_member_double(json, "max", store_get_real(rows, column + 3));
    json_close_object(json);
}

/* The replica that has a GPU, by its commands' device lists; 0 when none is known. */
static size_t replica_of(const struct json_value *devices, int64_t gpu_index)
{
    size_t replica = 0;
    for (const struct json_value *list = devices ? devices->first : NULL; list; list = list->next, replica++)
        for (const struct json_value *device = list->first; device; device = device->next) {
            int64_t index;
            if (json_int64(device, &index) && index == gpu_index)
                return replica;
        }
    return 0;
}

/* A list of the replicas' lists of devices. */
static as_status read_devices(struct plane_call *call, int64_t attempt_id, const struct json_value **ret)
{
    struct store_rows *rows AS_AUTO_ROWS = NULL;
    struct sql sql AS_AUTO_SQL = {.count = 0};
    struct strbuf text AS_AUTO_STRBUF;
    strbuf_init(&text, 0);
    sql_begin(&sql, call);
    sql_add(&sql, "SELECT c.devices FROM job_commands c JOIN job_attempts a ON a.job_id = c.job_id WHERE c.kind = "
                  "'server' AND a.id = ");
    sql_of_row(&sql, attempt_id);
    sql_add(&sql, " ORDER BY c.ordinal");
    as_status status = sql_query(&sql, call, &rows);
    strbuf_addc(&text, '[');
    while (status == AS_OK && store_next(rows))
        strbuf_addf(&text, "%s%s", text.len > 1 ? "," : "", store_get_text(rows, 0, NULL));
    strbuf_addc(&text, ']');
    if (status == AS_OK)
        status = rows_end(rows, call);
    const char *copy =
        status == AS_OK && strbuf_status(&text) == AS_OK ? arena_strndup(&call->arena, text.data, text.len) : NULL;
    if (status == AS_OK)
        status = copy ? json_parse(copy, text.len, NULL, &call->arena, ret, NULL) : AS_E_NOMEM;
    return status == AS_OK ? AS_OK : call_store_failed(call, status);
}

/* The name of the endpoint of a replica; NULL when it has none. */
static const char *endpoint_name(const struct json_value *summary, size_t replica)
{
    const struct json_value *endpoints = json_get(summary, "endpoints");
    const struct json_value *endpoint = endpoints ? endpoints->first : NULL;
    const char *name;
    while (endpoint && replica--)
        endpoint = endpoint->next;
    return endpoint && json_string(json_get(endpoint, "name"), &name) ? name : NULL;
}

static as_status put_telemetry(struct plane_call *call, struct json_writer *json, const struct json_value *summary,
                               int64_t attempt_id)
{
    struct store_rows *rows AS_AUTO_ROWS = NULL;
    struct sql sql AS_AUTO_SQL = {.count = 0};
    const struct json_value *devices = NULL;
    as_status status = read_devices(call, attempt_id, &devices);
    if (status != AS_OK)
        return status;
    sql_begin(&sql, call);
    sql_add(&sql, "SELECT g.gpu_index, g.power_w_n, g.power_w_sum, g.power_w_min, g.power_w_max, g.utilization_n, "
                  "g.utilization_sum, "
                  "g.utilization_min, g.utilization_max, g.memory_used_bytes_n, g.memory_used_bytes_sum, "
                  "g.memory_used_bytes_min, "
                  "g.memory_used_bytes_max FROM telemetry_gpu_rollups g WHERE g.job_attempt_id = ");
    sql_of_row(&sql, attempt_id);
    sql_add(&sql, " ORDER BY g.gpu_index, g.gpu_uuid");
    status = sql_query(&sql, call, &rows);
    json_key(json, "telemetry");
    json_open_object(json);
    json_key(json, "components");
    json_open_array(json);
    while (status == AS_OK && store_next(rows)) {
        const char *label = endpoint_name(summary, replica_of(devices, store_get_int(rows, 0)));
        char replica[32];
        (void)snprintf(replica, sizeof replica, "gpu%lld", (long long)store_get_int(rows, 0));
        json_open_object(json);
        if (label)
            json_member_string(json, "label", label);
        json_member_string(json, "replica_id", replica);
        put_roll(json, "power_w", rows, 1);
        put_roll(json, "gpu_utilization_ratio", rows, 5);
        put_roll(json, "gpu_memory_bytes", rows, 9);
        json_close_object(json);
    }
    json_close_array(json);
    json_close_object(json);
    return status == AS_OK ? rows_end(rows, call) : status;
}

/* One of our summaries with what it lacks. */
static as_status complete_summary(struct plane_call *call, const struct store_rows *rows, struct strbuf *ret)
{
    const struct json_value *summary = NULL;
    struct json_writer json;
    size_t len = 0;
    const char *bytes = store_get_blob(rows, BYTES, &len);
    as_status status = json_parse(bytes, len, NULL, &call->arena, &summary, NULL);
    if (status == AS_OK && summary->type != JSON_OBJECT)
        status = AS_E_INVALID;
    if (status != AS_OK)
        return call_refuse(call, PROBLEM_STATE, "the stored summary is no JSON object");
    json_writer_init(&json, ret, 0);
    json_open_object(&json);
    for (const struct json_value *member = summary->first; member; member = member->next) {
        json_key(&json, member->key);
        json_put_value(&json, member);
    }
    if (!json_get(summary, "sut"))
        put_sut(&json, call, rows);
    if (!json_get(summary, "telemetry"))
        status = put_telemetry(call, &json, summary, store_get_int(rows, ATTEMPT_ID));
    json_close_object(&json);
    return status == AS_OK ? json_writer_status(&json) : status;
}

static as_status make_report(struct plane_call *call, bool is_json)
{
    struct store_rows *rows AS_AUTO_ROWS = NULL;
    struct strbuf completed AS_AUTO_STRBUF;
    struct report_source source = {.is_json = is_json};
    struct as_error err = {0};
    strbuf_init(&completed, 0);
    as_status status = read_document(call, &rows);
    if (status != AS_OK)
        return status;
    const char *schema = store_get_text(rows, SCHEMA, NULL), *harness = store_get_text(rows, HARNESS, NULL);
    source.text = store_get_blob(rows, BYTES, &source.len);
    if (strncmp(schema, "metrumbench-", strlen("metrumbench-")) == 0) {
        status = complete_summary(call, rows, &completed);
        source = (struct report_source){strbuf_text(&completed), completed.len, "assay", is_json};
    } else if (strncmp(schema, "benchmark_report", strlen("benchmark_report")) != 0) {
        source.generator = harness && strcmp(harness, "vllm-bench") == 0 ? "vllm-benchmark" : harness;
        if (!harness || !report_text_knows(source.generator))
            return call_refuse(call, PROBLEM_UNSUPPORTED, "there is no benchmark report of results of this kind");
    }
    if (status != AS_OK)
        return call_store_failed(call, status);
    status = report_text_make(&source, &call->out, &err);
    if (status == AS_E_INVALID || status == AS_E_LIMIT)
        return call_refuse(call, PROBLEM_STATE, "the stored document gives no valid report: %s", err.message);
    return status == AS_OK ? AS_OK : call_store_failed(call, status);
}

static as_status get_yaml(struct plane_call *call)
{
    call->content_type = "application/yaml";
    return make_report(call, false);
}

static as_status get_json(struct plane_call *call)
{
    call->content_type = "application/json";
    return make_report(call, true);
}

static const struct route_param PARAMS[] = {{"attempt", "Which attempt; the accepted one when not given."}};
static const struct route ROUTES[] = {
    {.method = HTTP_GET,
     .kind = ROUTE_READ,
     .right = RIGHT_READ,
     .path = "/api/v1/jobs/{job_code}/report.yaml",
     .id = "get_job_report_yaml",
     .tag = "results",
     .media = "application/yaml",
     .handle = get_yaml,
     .resource = &resource_jobs,
     .params = PARAMS,
     .param_count = 1,
     .summary = "A job's result as benchmark report 0.2.1"},
    {.method = HTTP_GET,
     .kind = ROUTE_READ,
     .right = RIGHT_READ,
     .path = "/api/v1/jobs/{job_code}/report.json",
     .id = "get_job_report_json",
     .tag = "results",
     .handle = get_json,
     .resource = &resource_jobs,
     .params = PARAMS,
     .param_count = 1,
     .summary = "The same as JSON"},
};

const struct route_list routes_report = {ROUTES, sizeof ROUTES / sizeof ROUTES[0]};
