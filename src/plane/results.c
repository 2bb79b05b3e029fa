/* SPDX-License-Identifier: Apache-2.0 */
/* Results: rows of v_outputs, chosen by the natural keys of the whole chain, as JSON pages or one CSV. */
#include "plane/query.h"
#include "plane/resources.h"
#include "plane/route.h"

#include "base/clock.h"

#include <string.h>

#define LIMIT_MAX 1000
#define CSV_MAX   100000

#define GIVEN_TEXT(member, sentence)                                                                                   \
    {                                                                                                                  \
        .name = (member), .type = FIELD_TEXT, .flags = FIELD_GIVEN | FIELD_NULLABLE | FIELD_FILTER,                    \
        .about = (sentence)                                                                                            \
    }
#define GIVEN_COUNT(member, sentence)                                                                                  \
    {                                                                                                                  \
        .name = (member), .type = FIELD_INT, .flags = FIELD_GIVEN | FIELD_NULLABLE, .about = (sentence)                \
    }
#define FIGURE(member, sentence)                                                                                       \
    {                                                                                                                  \
        .name = (member), .type = FIELD_NUMBER, .flags = FIELD_GIVEN | FIELD_NULLABLE, .about = (sentence)             \
    }
static const struct field FIELDS[] = {
    GIVEN_TEXT("output_kind", "Which tool's figures."),
    GIVEN_TEXT("project_code", "Project."),
    GIVEN_TEXT("workload_code", "Workload."),
    GIVEN_TEXT("scenario_code", "Scenario."),
    GIVEN_TEXT("run_code", "Run."),
    GIVEN_TEXT("job_code", "Job."),
    GIVEN_TEXT("origin", "measured or imported."),
    GIVEN_TEXT("result", "accepted or superseded."),
    GIVEN_COUNT("attempt", "Attempt of the job."),
    {.name = "created_at",
     .type = FIELD_TIME,
     .column = "job_created_ns",
     .flags = FIELD_GIVEN,
     .about = "When the job was made."},
    {.name = "finished_at",
     .type = FIELD_TIME,
     .column = "job_finished_ns",
     .flags = FIELD_GIVEN | FIELD_NULLABLE,
     .about = "When it ended."},
    GIVEN_TEXT("model_code", "Model."),
    GIVEN_TEXT("model_family", "Its family."),
    GIVEN_TEXT("framework_code", "Framework."),
    GIVEN_TEXT("framework_version", "Its version."),
    GIVEN_TEXT("framework_build", "Its build."),
    GIVEN_TEXT("quantization", "Precision of the weights."),
    GIVEN_TEXT("set_code", "Engine-argument set."),
    GIVEN_COUNT("set_revision", "Its revision."),
    GIVEN_TEXT("prompt_source_code", "Prompt source."),
    GIVEN_TEXT("config_code", "Hardware."),
    GIVEN_TEXT("hostname", "Host."),
    GIVEN_TEXT("gpu_class_code", "Class of its GPUs."),
    GIVEN_COUNT("gpus_used", "GPUs used."),
    GIVEN_COUNT("replicas", "Servers."),
    GIVEN_COUNT("scenario_concurrency", "Concurrency."),
    FIGURE("scenario_request_rate_per_s", "Requests a second asked for."),
    GIVEN_COUNT("isl_tokens", "Tokens of a prompt asked for."),
    GIVEN_COUNT("osl_tokens", "Tokens of an answer asked for."),
    GIVEN_COUNT("metric_definition_version", "Version of the metrics' definitions."),
    GIVEN_TEXT("percentile_method", "How percentiles are taken."),
    GIVEN_COUNT("requests_ok", "Requests that succeeded."),
    GIVEN_COUNT("requests_failed", "Requests that did not."),
    FIGURE("window_duration_ms", "Measured window."),
    FIGURE("requests_per_second", "Requests a second."),
    FIGURE("prompt_tokens_per_second", "Prompt tokens a second."),
    FIGURE("completion_tokens_per_second", "Completion tokens a second."),
    FIGURE("total_tokens_per_second", "Tokens a second."),
    FIGURE("response_time_ms_avg", "Response time, mean."),
    FIGURE("response_time_ms_p50", "Response time, median."),
    FIGURE("response_time_ms_p95", "Response time, 95th percentile."),
    FIGURE("response_time_ms_p99", "Response time, 99th percentile."),
    FIGURE("ttft_ms_avg", "Time to first token, mean."),
    FIGURE("ttft_ms_p50", "Time to first token, median."),
    FIGURE("ttft_ms_p95", "Time to first token, 95th percentile."),
    FIGURE("ttft_ms_p99", "Time to first token, 99th percentile."),
    FIGURE("tpot_ms_avg", "Time per output token, mean."),
    FIGURE("tpot_ms_p50", "Time per output token, median."),
    FIGURE("tpot_ms_p95", "Time per output token, 95th percentile."),
    FIGURE("tpot_ms_p99", "Time per output token, 99th percentile."),
    FIGURE("itl_ms_p50", "Gap between tokens, median."),
    FIGURE("itl_ms_p99", "Gap between tokens, 99th percentile."),
    FIGURE("avg_gpu_power_w", "Power of a GPU, mean."),
    FIGURE("avg_gpu_utilization", "Use of the GPUs, 0 to 1, mean."),
    FIGURE("max_gpu_memory_percent", "GPU memory in use, most."),
    GIVEN_TEXT("command_digest", "SHA-256 of the tool's argv."),
    GIVEN_TEXT("summary_digest", "SHA-256 of the tool's summary."),
};
static const struct shape RESULT = {
    .name = "Result", .about = "Figures of a job with what they are of.", SHAPE_FIELDS(FIELDS)};
enum { FIELD_COUNT = sizeof FIELDS / sizeof FIELDS[0] };

static as_status check_names(struct plane_call *call)
{
    const char *names[FIELD_COUNT + 1] = {"limit"};
    size_t count = 1;
    for (size_t i = 0; i < FIELD_COUNT; i++)
        if (FIELDS[i].flags & FIELD_FILTER)
            names[count++] = FIELDS[i].name;
    return call_query_check(call, names, count);
}

static as_status add_filters(struct plane_call *call, struct sql *sql)
{
    for (size_t i = 0; i < FIELD_COUNT; i++) {
        const char *text = NULL;
        as_status status = FIELDS[i].flags & FIELD_FILTER ? call_query(call, FIELDS[i].name, &text) : AS_OK;
        if (status != AS_OK)
            return status;
        if (!text)
            continue;
        sql_add(sql, " AND o.%s = ", field_column(&FIELDS[i]));
        sql_value(sql, store_text(text));
    }
    return AS_OK;
}

static as_status read_results(struct plane_call *call, int64_t limit, struct store_rows **ret)
{
    struct sql sql AS_AUTO_SQL = {.count = 0};
    as_status status = check_names(call);
    if (status != AS_OK)
        return status;
    sql_begin(&sql, call);
    for (size_t i = 0; i < FIELD_COUNT; i++)
        sql_add(&sql, "%so.%s", i ? ", " : "SELECT ", field_column(&FIELDS[i]));
    sql_add(&sql, " FROM v_outputs o WHERE ");
    sql_own(&sql, "o");
    status = add_filters(call, &sql);
    if (status != AS_OK)
        return status;
    sql_add(&sql, " ORDER BY o.job_created_ns DESC, o.job_code, o.attempt LIMIT ");
    sql_value(&sql, store_int(limit));
    return sql_query(&sql, call, ret);
}

static as_status list_results(struct plane_call *call)
{
    struct store_rows *rows AS_AUTO_ROWS = NULL;
    int64_t limit = 100;
    as_status status = call_query_int(call, "limit", LIMIT_MAX, &limit);
    if (status == AS_OK)
        status = read_results(call, limit, &rows);
    if (status != AS_OK)
        return status;
    json_open_object(&call->json);
    json_key(&call->json, "items");
    json_open_array(&call->json);
    while (store_next(rows)) {
        json_open_object(&call->json);
        for (uint32_t i = 0; i < FIELD_COUNT; i++) {
            json_key(&call->json, FIELDS[i].name);
            resource_put_value(&call->json, &FIELDS[i], rows, i);
        }
        json_close_object(&call->json);
    }
    json_close_array(&call->json);
    json_member_null(&call->json, "next");
    json_close_object(&call->json);
    return rows_end(rows, call);
}

/* A cell that no spreadsheet takes for a formula: such texts get an apostrophe. */
static void put_cell(struct strbuf *out, const char *text)
{
    strbuf_addc(out, '"');
    if (*text && strchr("=+-@\t\r", *text))
        strbuf_addc(out, '\'');
    for (; *text; text++) {
        if (*text == '"')
            strbuf_addc(out, '"');
        strbuf_addc(out, *text);
    }
    strbuf_addc(out, '"');
}

static void put_csv_value(struct strbuf *out, const struct field *field, const struct store_rows *rows, uint32_t column)
{
    char text[DOUBLE_TEXT_BYTES], time[WALL_TEXT_BYTES];
    if (store_is_null(rows, column))
        return;
    switch (field->type) {
    case FIELD_INT:
        strbuf_addf(out, "%lld", (long long)store_get_int(rows, column));
        break;
    case FIELD_NUMBER:
        (void)double_format(store_get_real(rows, column), text);
        strbuf_adds(out, text);
        break;
    case FIELD_TIME:
        wall_format((struct wall){store_get_int(rows, column)}, time);
        strbuf_adds(out, time);
        break;
    default:
        put_cell(out, store_get_text(rows, column, NULL));
        break;
    }
}

static as_status export_csv(struct plane_call *call)
{
    struct store_rows *rows AS_AUTO_ROWS = NULL;
    int64_t limit = CSV_MAX;
    as_status status = call_query_int(call, "limit", CSV_MAX, &limit);
    if (status == AS_OK)
        status = read_results(call, limit, &rows);
    if (status != AS_OK)
        return status;
    call->content_type = "text/csv";
    call_add_field(call, "Content-Disposition", "attachment; filename=\"results.csv\"");
    for (size_t i = 0; i < FIELD_COUNT; i++)
        strbuf_addf(&call->out, "%s%s", i ? "," : "", FIELDS[i].name);
    strbuf_adds(&call->out, "\r\n");
    while (store_next(rows)) {
        for (uint32_t i = 0; i < FIELD_COUNT; i++) {
            if (i)
                strbuf_addc(&call->out, ',');
            put_csv_value(&call->out, &FIELDS[i], rows, i);
        }
        strbuf_adds(&call->out, "\r\n");
    }
    return rows_end(rows, call);
}

static const struct route_param PARAMS[] = {{"limit", "Rows at most."},
                                            {"project_code", "Project."},
                                            {"workload_code", "Workload."},
                                            {"scenario_code", "Scenario."},
                                            {"run_code", "Run."},
                                            {"job_code", "Job."},
                                            {"output_kind", "Tool."},
                                            {"model_code", "Model."},
                                            {"framework_code", "Framework."},
                                            {"framework_version", "Its version."},
                                            {"set_code", "Set."},
                                            {"config_code", "Hardware."},
                                            {"hostname", "Host."},
                                            {"gpu_class_code", "GPU class."},
                                            {"quantization", "Precision."},
                                            {"result", "accepted or superseded."}};
static const struct route ROUTES[] = {
    {.method = HTTP_GET,
     .kind = ROUTE_READ,
     .right = RIGHT_READ,
     .path = "/api/v1/results",
     .id = "list_results",
     .tag = "results",
     .is_list = true,
     .output = &RESULT,
     .handle = list_results,
     .params = PARAMS,
     .param_count = sizeof PARAMS / sizeof PARAMS[0],
     .summary = "Results by any key of the chain, the newest first"},
    {.method = HTTP_GET,
     .kind = ROUTE_READ,
     .right = RIGHT_READ,
     .path = "/api/v1/results.csv",
     .id = "export_results",
     .tag = "results",
     .media = "text/csv",
     .handle = export_csv,
     .params = PARAMS,
     .param_count = sizeof PARAMS / sizeof PARAMS[0],
     .summary = "The same as CSV; cells that a spreadsheet would take for a formula begin with an apostrophe"},
};

const struct route_list routes_results = {ROUTES, sizeof ROUTES / sizeof ROUTES[0]};
