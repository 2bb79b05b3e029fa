/* SPDX-License-Identifier: Apache-2.0 */
#include "plane/resources.h"

#include <string.h>

/* ---- projects ---- */

static const struct field PROJECT_FIELDS[] = {
    {.name = "project_code",
     .type = FIELD_CODE,
     .flags = FIELD_REQUIRED | FIELD_FIXED | FIELD_SORT,
     .about = "Natural key of the project."},
    {.name = "name", .type = FIELD_TEXT, .flags = FIELD_REQUIRED | FIELD_SORT, .about = "What people call it."},
    {.name = "description", .type = FIELD_PROSE, .flags = FIELD_NULLABLE, .max = 4000, .about = "What it is for."},
    FIELDS_OF_LIFE,
};

const struct resource resource_projects = {
    .shape = {.name = "Project", .about = "Workloads that belong together.", SHAPE_FIELDS(PROJECT_FIELDS)},
    .path = "projects",
    .singular = "project",
    .table = "projects",
    .key = {"project_code"},
    .scope = RESOURCE_OWN,
    .read = RIGHT_READ,
    .create = RIGHT_WRITE,
    .change = RIGHT_WRITE,
    .sort = "project_code",
};

/* ---- workloads ---- */

static const struct field WORKLOAD_FIELDS[] = {
    {.name = "workload_code",
     .type = FIELD_CODE,
     .flags = FIELD_REQUIRED | FIELD_FIXED | FIELD_SORT,
     .about = "Natural key of the workload."},
    {.name = "project_code", .type = FIELD_CODE, .flags = FIELD_REQUIRED | FIELD_FILTER, .about = "Its project."},
    {.name = "name", .type = FIELD_TEXT, .flags = FIELD_REQUIRED | FIELD_SORT, .about = "What people call it."},
    {.name = "description", .type = FIELD_PROSE, .flags = FIELD_NULLABLE, .max = 4000, .about = "What it asks."},
    {.name = "tool",
     .type = FIELD_ENUM,
     .flags = FIELD_REQUIRED | FIELD_FIXED | FIELD_FILTER,
     .choices = choices_tool,
     .about = "What generates the load."},
    {.name = "model_code", .type = FIELD_NAME, .flags = FIELD_REQUIRED | FIELD_FILTER, .about = "The model served."},
    {.name = "framework_code",
     .type = FIELD_CODE,
     .flags = FIELD_REQUIRED | FIELD_FILTER,
     .about = "The framework that serves it."},
    {.name = "framework_version",
     .type = FIELD_VERSION,
     .flags = FIELD_REQUIRED | FIELD_FILTER,
     .about = "Its version."},
    {.name = "framework_build",
     .type = FIELD_CODE,
     .flags = FIELD_FILTER,
     .initial = "\"cuda\"",
     .about = "Its build."},
    {.name = "quantization",
     .type = FIELD_CODE,
     .flags = FIELD_NULLABLE | FIELD_FILTER,
     .about = "Precision of the weights: bf16, fp8, …; null: the set's."},
    {.name = "set_code",
     .type = FIELD_CODE,
     .flags = FIELD_NULLABLE | FIELD_FILTER,
     .about = "Engine-argument set; null: the framework's own defaults."},
    {.name = "set_revision",
     .type = FIELD_INT,
     .column = "engine_args_set_revision",
     .flags = FIELD_NULLABLE,
     .min = 1,
     .max = 1e6,
     .about = "Revision of the set; null: the newest when a run starts."},
    {.name = "source_code", .type = FIELD_CODE, .flags = FIELD_NULLABLE | FIELD_FILTER, .about = "Prompt source."},
    {.name = "server_template_code",
     .type = FIELD_CODE,
     .flags = FIELD_NULLABLE,
     .about = "Command template of the server; null: the newest that fits."},
    {.name = "tool_template_code",
     .type = FIELD_CODE,
     .flags = FIELD_NULLABLE,
     .about = "Command template of the tool; null: the newest that fits."},
    {.name = "config_code",
     .type = FIELD_CODE,
     .flags = FIELD_NULLABLE | FIELD_FILTER,
     .about = "Hardware it runs on."},
    {.name = "hostname",
     .type = FIELD_CODE,
     .flags = FIELD_NULLABLE | FIELD_FILTER,
     .about = "Or one host of that hardware."},
    {.name = "gpus",
     .type = FIELD_INT,
     .flags = FIELD_NULLABLE,
     .min = 1,
     .max = 4096,
     .about = "GPUs of the host to use; null: all."},
    {.name = "server_labels", .type = FIELD_JSON, .initial = "{}", .about = "Labels that the server must have."},
    {.name = "settings", .type = FIELD_JSON, .initial = "{}", .about = "Placeholders set for all scenarios."},
    FIELDS_OF_LIFE,
};
static const struct reference WORKLOAD_REFERENCES[] = {
    {"project_id", "projects", {"project_code"}},
    {"model_id", "models", {"model_code"}},
    {"framework_version_id", "framework-versions", {"framework_code", "framework_version", "framework_build"}},
    {"engine_args_set_id", "engine-args-sets", {"set_code"}},
    {"prompt_source_id", "prompt-sources", {"source_code"}},
    {"server_template_id", "command-templates", {"server_template_code"}},
    {"tool_template_id", "command-templates", {"tool_template_code"}},
    {"server_config_id", "server-configs", {"config_code"}},
    {"server_id", "servers", {"config_code", "hostname"}},
};

const struct resource resource_workloads = {
    .shape = {.name = "Workload",
              .about = "A model, how it is served, on what, and with which prompts.",
              SHAPE_FIELDS(WORKLOAD_FIELDS)},
    .path = "workloads",
    .singular = "workload",
    .table = "workloads",
    .key = {"workload_code"},
    .references = WORKLOAD_REFERENCES,
    .reference_count = sizeof WORKLOAD_REFERENCES / sizeof WORKLOAD_REFERENCES[0],
    .scope = RESOURCE_OWN,
    .read = RIGHT_READ,
    .create = RIGHT_WRITE,
    .change = RIGHT_WRITE,
    .sort = "-created_at",
};

/* ---- scenarios ---- */

static const char *const DETAILS[] = {"low", "high", "auto", NULL};
static const char *const RETRIES[] = {"never", "on_lost", NULL};
static const char *const ARRIVALS[] = {"closed", "constant", "poisson", "gamma", NULL};
#define COUNT(member, sentence)                                                                                        \
    {                                                                                                                  \
        .name = (member), .type = FIELD_INT, .flags = FIELD_NULLABLE, .min = 1, .max = 1e9, .about = (sentence)        \
    }
#define SORTED_COUNT(member, sentence)                                                                                 \
    {                                                                                                                  \
        .name = (member), .type = FIELD_INT, .flags = FIELD_NULLABLE | FIELD_FILTER | FIELD_SORT, .min = 1,            \
        .max = 1e9, .about = (sentence)                                                                                \
    }
#define AMOUNT(member, least, most, sentence)                                                                          \
    {                                                                                                                  \
        .name = (member), .type = FIELD_NUMBER, .flags = FIELD_NULLABLE, .min = (least), .max = (most),                \
        .about = (sentence)                                                                                            \
    }
static const struct field SCENARIO_FIELDS[] = {
    {.name = "workload_code",
     .type = FIELD_CODE,
     .flags = FIELD_REQUIRED | FIELD_FIXED | FIELD_FILTER,
     .about = "Its workload."},
    {.name = "scenario_code",
     .type = FIELD_CODE,
     .flags = FIELD_REQUIRED | FIELD_FIXED | FIELD_FILTER | FIELD_SORT,
     .about = "Natural key within the workload."},
    {.name = "name", .type = FIELD_TEXT, .flags = FIELD_NULLABLE, .about = "What people call it."},
    {.name = "tool",
     .type = FIELD_ENUM,
     .flags = FIELD_GIVEN | FIELD_FILTER,
     .choices = choices_tool,
     .about = "The workload's."},
    SORTED_COUNT("concurrency", "Requests on their way at once (a closed loop)."),
    AMOUNT("request_rate_per_s", 1e-6, 1e6, "Requests a second (an open loop)."),
    {.name = "arrival",
     .type = FIELD_ENUM,
     .flags = FIELD_NULLABLE,
     .choices = ARRIVALS,
     .about = "How requests come."},
    SORTED_COUNT("isl_tokens", "Tokens of a prompt."),
    SORTED_COUNT("osl_tokens", "Tokens of an answer."),
    AMOUNT("isl_tolerance_ratio", 0, 1, "How far a prompt's length may be off."),
    COUNT("request_count", "Requests in all; not for images, where it follows from the concurrency."),
    AMOUNT("duration_s", 0.001, 1e6, "Or how long requests are sent."),
    {.name = "warmup_requests",
     .type = FIELD_INT,
     .flags = FIELD_NULLABLE,
     .min = 0,
     .max = 1e6,
     .about = "Requests before those measured."},
    AMOUNT("ramp_up_seconds", 0, 86400, "While the concurrency grows; not measured."),
    AMOUNT("timeout_s", 0.001, 86400, "Of one request."),
    AMOUNT("temperature", 0, 10, "Sampling temperature."),
    {.name = "seed",
     .type = FIELD_INT,
     .flags = FIELD_NULLABLE,
     .min = 0,
     .max = 9007199254740991.0,
     .about = "Of prompts and arrivals."},
    {.name = "is_streaming", .type = FIELD_BOOL, .flags = FIELD_NULLABLE, .about = "Whether answers are streamed."},
    {.name = "num_images_batch",
     .type = FIELD_INT,
     .flags = FIELD_NULLABLE,
     .min = 1,
     .max = 1000,
     .about = "Vision: images a request has; image generation: images it asks for (n)."},
    {.name = "image_detail",
     .type = FIELD_ENUM,
     .flags = FIELD_NULLABLE,
     .choices = DETAILS,
     .about = "Vision: level of detail."},
    {.name = "size", .type = FIELD_TEXT, .flags = FIELD_NULLABLE, .max = 20, .about = "Image generation: 1024x1024."},
    {.name = "language", .type = FIELD_TEXT, .flags = FIELD_NULLABLE, .max = 20, .about = "Speech: language code."},
    {.name = "response_format",
     .type = FIELD_TEXT,
     .flags = FIELD_NULLABLE,
     .max = 40,
     .about = "Speech: verbose_json, …; images: b64_json, url."},
    COUNT("num_inference_steps", "Image generation: steps."),
    AMOUNT("guidance_scale", 0, 1000, "Image generation: guidance."),
    {.name = "repetitions", .type = FIELD_INT, .min = 1, .max = 1000, .initial = "1", .about = "Jobs of one run."},
    {.name = "retry",
     .type = FIELD_ENUM,
     .choices = RETRIES,
     .initial = "\"never\"",
     .about = "Whether a job whose worker was lost is done again."},
    COUNT("job_limit_s", "Longest a job may take, in seconds."),
    {.name = "slo", .type = FIELD_JSON, .flags = FIELD_NULLABLE, .about = "Limits that goodput counts by."},
    {.name = "settings", .type = FIELD_JSON, .initial = "{}", .about = "Further placeholders."},
    FIELDS_OF_LIFE,
};
static const struct reference SCENARIO_REFERENCES[] = {{"workload_id", "workloads", {"workload_code"}}};

/* Members that only some tools have a use for. */
static const struct {
    const char *member, *tools; /* words */
} MEANINGFUL[] = {
    {"isl_tokens", "metrumbench-llm metrumbench-vlm vllm-bench guidellm inference-perf"},
    {"osl_tokens", "metrumbench-llm metrumbench-vlm vllm-bench guidellm inference-perf"},
    {"num_images_batch", "metrumbench-vlm metrumbench-imagegen"},
    {"image_detail", "metrumbench-vlm"},
    {"size", "metrumbench-imagegen"},
    {"language", "metrumbench-asr"},
    {"num_inference_steps", "metrumbench-imagegen"},
    {"guidance_scale", "metrumbench-imagegen"},
};

static as_status check_meaning(struct plane_call *call, const char *tool)
{
    as_status status = AS_OK;
    for (size_t i = 0; i < sizeof MEANINGFUL / sizeof MEANINGFUL[0]; i++) {
        const struct json_value *value = json_get(call->input, MEANINGFUL[i].member);
        if (!value || value->type == JSON_NULL || strstr(MEANINGFUL[i].tools, tool))
            continue;
        status = problem_add(&call->problem, call_printf(call, "/%s", MEANINGFUL[i].member), "no-effect",
                             "has no effect with %s", tool);
    }
    const struct json_value *count = json_get(call->input, "request_count");
    if (count && count->type != JSON_NULL && strcmp(tool, "metrumbench-imagegen") == 0)
        status = problem_add(&call->problem, "/request_count", "derived",
                             "follows from the concurrency: max(4, concurrency × 4)");
    return status;
}

/* The scenario's tool is its workload's. */
static as_status prepare_scenario(struct plane_call *call, int64_t id, struct row_values *row)
{
    struct store_rows *rows AS_AUTO_ROWS = NULL;
    struct sql sql AS_AUTO_SQL = {.count = 0};
    const struct store_value *workload = row_values_get(row, "workload_id");
    const char *tool = NULL;
    sql_begin(&sql, call);
    sql_add(&sql, "SELECT w.tool FROM workloads w WHERE w.id = ");
    if (id) {
        sql_add(&sql, "(SELECT s.workload_id FROM scenarios s WHERE s.id = ");
        sql_of_row(&sql, id);
        sql_add(&sql, ")");
    } else {
        sql_of_row(&sql, workload ? workload->integer : 0);
    }
    as_status status = sql_query(&sql, call, &rows);
    if (status == AS_OK && store_next(rows))
        tool = rows_copy(call, rows, 0);
    if (status == AS_OK && !tool)
        status = call_store_failed(call, AS_E_INTERNAL);
    if (status == AS_OK && tool)
        status = check_meaning(call, tool);
    return status == AS_OK && !id ? row_values_set(row, "tool", store_text(tool)) : status;
}

static const struct resource_hooks SCENARIO_HOOKS = {.prepare = prepare_scenario};

const struct resource resource_scenarios = {
    .shape = {.name = "Scenario", .about = "A shape of load for a workload.", SHAPE_FIELDS(SCENARIO_FIELDS)},
    .path = "scenarios",
    .singular = "scenario",
    .table = "scenarios",
    .key = {"workload_code", "scenario_code"},
    .references = SCENARIO_REFERENCES,
    .reference_count = 1,
    .scope = RESOURCE_OWN,
    .read = RIGHT_READ,
    .create = RIGHT_WRITE,
    .change = RIGHT_WRITE,
    .sort = "-created_at",
    .hooks = &SCENARIO_HOOKS,
};
