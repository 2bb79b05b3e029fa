/* SPDX-License-Identifier: Apache-2.0 */
#include "plane/run_plan.h"

#include "base/clock.h"

#include <string.h>

#define HF_TOKEN "HF_TOKEN"

/* Values of one command: those of the scenario, then more. */
static as_status join(struct plane_call *call, const struct recipe_values *first, const struct recipe_values *second,
                      struct recipe_values *ret)
{
    struct recipe_value *items = arena_calloc(&call->arena, first->count + second->count + 1, sizeof *items);
    if (!items)
        return call_store_failed(call, AS_E_NOMEM);
    if (first->count)
        memcpy(items, first->items, first->count * sizeof *items);
    if (second->count)
        memcpy(items + first->count, second->items, second->count * sizeof *items);
    *ret = (struct recipe_values){items, first->count + second->count};
    return AS_OK;
}

/* Places in the job's folder. */
static as_status job_values(struct plane_call *call, const struct run_scenario *scenario, const char *job_code,
                            struct recipe_values *ret)
{
    const struct recipe_value places[] = {
        {.name = "job_code", .kind = RECIPE_TEXT, .text = job_code, .layer = RECIPE_FROM_PLAN},
        {.name = "work_dir", .kind = RECIPE_TEXT, .text = ".", .layer = RECIPE_FROM_PLAN},
        {.name = "result_dir", .kind = RECIPE_TEXT, .text = "results", .layer = RECIPE_FROM_PLAN},
        {.name = "prompts_file", .kind = RECIPE_TEXT, .text = "prompts.jsonl", .layer = RECIPE_FROM_PLAN},
        {.name = "input_file", .kind = RECIPE_TEXT, .text = "input.jsonl", .layer = RECIPE_FROM_PLAN},
        {.name = "ground_truth_file", .kind = RECIPE_TEXT, .text = "ground-truth.jsonl", .layer = RECIPE_FROM_PLAN},
    };
    const struct recipe_values more = {places, sizeof places / sizeof places[0]};
    return join(call, &scenario->values, &more, ret);
}

/* What recipe refuses is told as the scenario's trouble; only short memory fails the call. */
static as_status trouble(struct plane_call *call, as_status status, const struct as_error *err, struct run_planned *ret)
{
    if (status == AS_E_NOMEM)
        return call_store_failed(call, status);
    if (status != AS_OK && !ret->trouble)
        ret->trouble = call_printf(call, "%s", err->message);
    return AS_OK;
}

static as_status plan_replicas(struct plane_call *call, const struct run_workload *workload, struct run_planned *ret)
{
    struct as_error err = {0};
    const struct recipe_set *set = workload->has_set ? workload->set.set : NULL;
    const struct recipe_host host = {.address = workload->hostname ? workload->hostname : "localhost",
                                     .devices = workload->devices,
                                     .device_count = workload->device_count};
    const struct recipe_replica_request request = {
        .hosts = &host,
        .host_count = 1,
        .vendor = workload->gpu ? workload->gpu->vendor : RECIPE_NVIDIA,
        .gpus_per_replica = set && set->gpus_per_replica > 0 ? set->gpus_per_replica : 1,
        .node_count = set && set->node_count > 0 ? set->node_count : 1,
        .readiness_path = workload->framework->readiness_path,
        .metrics_path = workload->framework->metrics_path,
    };
    as_status status = recipe_plan_replicas(&request, &call->arena, &ret->plan, &err);
    if (status != AS_OK)
        ret->plan = (struct recipe_plan){.replica_count = 0};
    return trouble(call, status, &err, ret);
}

struct unresolved {
    const char *names[64];
    size_t count;
};

static as_status add_unresolved(struct plane_call *call, const struct recipe_job *job, struct unresolved *all,
                                struct run_planned *ret)
{
    struct recipe_list missing = {0};
    struct as_error err = {0};
    as_status status = recipe_unresolved(job, &call->arena, &missing, &err);
    for (size_t i = 0; status == AS_OK && i < missing.count; i++) {
        bool is_known = false;
        for (size_t k = 0; k < all->count; k++)
            is_known = is_known || strcmp(all->names[k], missing.items[i]) == 0;
        if (!is_known && all->count < sizeof all->names / sizeof all->names[0])
            all->names[all->count++] = missing.items[i];
    }
    return trouble(call, status, &err, ret);
}

static as_status resolve_servers(struct plane_call *call, const struct run_workload *workload,
                                 const struct recipe_values *values, struct unresolved *unresolved,
                                 struct run_planned *ret)
{
    struct recipe_command *commands = arena_calloc(&call->arena, ret->plan.instance_count + 1, sizeof *commands);
    as_status status = commands ? AS_OK : call_store_failed(call, AS_E_NOMEM);
    struct as_error err = {0};
    for (size_t i = 0; status == AS_OK && i < ret->plan.instance_count; i++) {
        struct recipe_job job = {.item = workload->server_template.item,
                                 .framework = workload->framework,
                                 .set = workload->has_set ? workload->set.set : NULL,
                                 .env = ret->plan.instances[i].env};
        status = join(call, values, &ret->plan.instances[i].values, &job.values);
        if (status == AS_OK && i == 0)
            status = add_unresolved(call, &job, unresolved, ret);
        if (status != AS_OK || unresolved->count)
            return status;
        as_status resolved = recipe_resolve(&job, &call->arena, &commands[i], &err);
        status = trouble(call, resolved, &err, ret);
        if (resolved != AS_OK)
            return status;
    }
    ret->servers = commands;
    return status;
}

static as_status resolve_tool(struct plane_call *call, const struct run_workload *workload,
                              const struct recipe_values *values, struct unresolved *unresolved,
                              struct run_planned *ret)
{
    struct recipe_command *command = arena_calloc(&call->arena, 1, sizeof *command);
    struct recipe_job job = {.item = workload->tool_template.item};
    struct as_error err = {0};
    as_status status = command ? AS_OK : call_store_failed(call, AS_E_NOMEM);
    const size_t before = unresolved->count;
    if (status == AS_OK)
        status = join(call, values, &ret->plan.tool_values, &job.values);
    if (status == AS_OK)
        status = add_unresolved(call, &job, unresolved, ret);
    if (status != AS_OK || unresolved->count > before)
        return status;
    as_status resolved = recipe_resolve(&job, &call->arena, command, &err);
    if (resolved == AS_OK)
        ret->tool = command;
    return trouble(call, resolved, &err, ret);
}

/* ---- readiness ---- */

static bool has_secret(const struct run_workload *workload, const char *code)
{
    const char *place = workload->secrets_present ? strstr(workload->secrets_present, code) : NULL;
    return place && place[-1] == '"' && place[strlen(code)] == '"';
}

static as_status stored_secret(struct plane_call *call, const char *code, bool *ret)
{
    struct sql sql AS_AUTO_SQL = {.count = 0};
    int64_t count = 0;
    sql_begin(&sql, call);
    sql_add(&sql, "SELECT COUNT(*) FROM secrets s WHERE ");
    sql_own(&sql, "s");
    sql_add(&sql, " AND s.retired_ns IS NULL AND s.ciphertext IS NOT NULL AND s.secret_code = ");
    sql_value(&sql, store_text(code));
    as_status status = sql_one_int(&sql, call, &count);
    *ret = count > 0;
    return status;
}

static as_status model_is_gated(struct plane_call *call, const struct run_workload *workload, bool *ret)
{
    struct sql sql AS_AUTO_SQL = {.count = 0};
    int64_t count = 0;
    sql_begin(&sql, call);
    sql_add(&sql, "SELECT COUNT(*) FROM workloads w JOIN models m ON m.id = w.model_id WHERE ");
    sql_own(&sql, "w");
    sql_add(&sql, " AND w.id = ");
    sql_value(&sql, store_int(workload->id));
    sql_add(&sql, " AND m.is_gated = ");
    sql_value(&sql, store_bool(true));
    as_status status = sql_one_int(&sql, call, &count);
    *ret = count > 0;
    return status;
}

static as_status check(struct plane_call *call, const struct run_workload *workload,
                       const struct unresolved *unresolved, struct run_planned *ret)
{
    const struct run_scenario *scenario = ret->scenario;
    const bool is_ours = strncmp(workload->tool, "metrumbench-", 12) == 0;
    struct recipe_token token = {.name = HF_TOKEN};
    struct as_error err = {0};
    as_status status = model_is_gated(call, workload, &token.is_needed);
    if (status == AS_OK)
        status = stored_secret(call, "hf-token", &token.is_present);
    if (status != AS_OK)
        return status;
    token.is_present = token.is_present || has_secret(workload, "hf-token");
    const struct recipe_facts facts = {
        .tool = workload->tool,
        .model = workload->model,
        .model_code = workload->model_code,
        .gpu = workload->gpu,
        .framework = workload->framework,
        .framework_version = workload->version,
        .set = workload->has_set ? workload->set.set : NULL,
        .precision = workload->quantization,
        .host_gpus = workload->gpu_class || workload->device_count ? (int64_t)workload->device_count : -1,
        .replicas = ret->plan.replica_count > 0 ? ret->plan.replica_count : 1,
        .isl_tokens = scenario->isl,
        .osl_tokens = scenario->osl,
        .template_tokens = -1,
        .concurrency = scenario->concurrency ? scenario->concurrency : 1,
        .images_per_request = scenario->images,
        .is_online = workload->server_state && strcmp(workload->server_state, "online") == 0,
        .seen_seconds_ago = workload->last_seen_ns < 0 ? -1 : (call->now_ns - workload->last_seen_ns) / NS_PER_S,
        .tokens = &token,
        .token_count = 1,
        .prompt_source_code = workload->source_code ? workload->source_code
                              : is_ours             ? "(none is named)"
                                                    : NULL,
        .is_prompt_source_present = workload->source_state && strcmp(workload->source_state, "ready") == 0,
        .prompt_source_remedy =
            workload->source_code ? workload->source_command : "name a prompt source in the workload",
        .unresolved = {unresolved->names, unresolved->count},
        .disk_free_bytes = workload->disk_free_bytes,
    };
    status = recipe_check_all(&facts, &call->arena, &ret->checks, &err);
    if (status == AS_OK)
        return AS_OK;
    return status == AS_E_NOMEM ? call_store_failed(call, status)
                                : call_refuse(call, PROBLEM_STATE, "readiness cannot be judged: %.300s", err.message);
}

as_status run_plan(struct plane_call *call, const struct run_workload *workload, const struct run_scenario *scenario,
                   const char *job_code, struct run_planned *ret)
{
    struct unresolved unresolved = {.count = 0};
    struct recipe_values values;
    *ret = (struct run_planned){.scenario = scenario};
    as_status status = job_values(call, scenario, job_code, &values);
    if (status == AS_OK)
        status = plan_replicas(call, workload, ret);
    if (status == AS_OK && !workload->server_template.item && !ret->trouble)
        ret->trouble = call_printf(call, "no command template starts %s %s for %s", workload->framework_code,
                                   workload->version, workload->tool);
    if (status == AS_OK && !workload->tool_template.item && !ret->trouble)
        ret->trouble = call_printf(call, "no command template runs %s", workload->tool);
    if (status == AS_OK && ret->plan.instance_count && workload->server_template.item)
        status = resolve_servers(call, workload, &values, &unresolved, ret);
    if (status == AS_OK && ret->plan.instance_count && workload->tool_template.item)
        status = resolve_tool(call, workload, &values, &unresolved, ret);
    return status == AS_OK ? check(call, workload, &unresolved, ret) : status;
}
