/* SPDX-License-Identifier: Apache-2.0 */
#include "plane/run_start.h"

#include "plane/audit.h"
#include "plane/values.h"

#include <stdio.h>
#include <string.h>

#define CODE_STEM 70

/* A run being written. */
struct starting {
    struct plane_call *call;
    const struct run_workload *workload;
    const struct run_order *order;
    struct run_planned *planned;
    size_t count;
    int64_t run_id;
    bool is_stopped;
    int64_t jobs;
};

const char *run_verdict(enum recipe_check_state state)
{
    return state == RECIPE_FAIL ? "stop" : recipe_check_state_name(state);
}

static as_status insert_row(struct plane_call *call, const char *table, const struct row_values *row, int64_t *ret_id)
{
    struct sql sql AS_AUTO_SQL = {.count = 0};
    sql_begin(&sql, call);
    /* All of it hangs on the run, which hangs on a workload of the caller's tenant. */
    sql.is_scoped = true;
    sql_add(&sql, "INSERT INTO %s (", table);
    for (uint32_t i = 0; i < row->count; i++)
        sql_add(&sql, "%s%s", i ? ", " : "", row->columns[i]);
    sql_add(&sql, ") VALUES (");
    for (uint32_t i = 0; i < row->count; i++) {
        sql_add(&sql, "%s", i ? ", " : "");
        sql_value(&sql, row->values[i]);
    }
    sql_add(&sql, ")%s", ret_id ? " RETURNING id" : "");
    return ret_id ? sql_one_int(&sql, call, ret_id) : sql_exec(&sql, call, NULL);
}

/* Column and value pairs of a row; a NULL column ends them. */
struct pair {
    const char *column;
    struct store_value value;
};

static as_status insert_pairs(struct plane_call *call, const char *table, const struct pair *pairs, int64_t *ret_id)
{
    struct row_values row = {.count = 0};
    for (const struct pair *pair = pairs; pair->column; pair++) {
        row.columns[row.count] = pair->column;
        row.values[row.count++] = pair->value;
    }
    return insert_row(call, table, &row, ret_id);
}

/* ---- checks ---- */

static const struct json_value *find_override(const struct json_value *overrides, const char *code)
{
    for (const struct json_value *item = overrides ? overrides->first : NULL; item; item = item->next) {
        const char *name = "";
        if (json_string(json_get(item, "check_code"), &name) && strcmp(name, code) == 0)
            return item;
    }
    return NULL;
}

/* Overrides of checks that there are not, or that cannot be overridden, are refused. */
static as_status check_overrides(struct plane_call *call, const struct json_value *overrides)
{
    size_t index = 0;
    for (const struct json_value *item = overrides ? overrides->first : NULL; item; item = item->next, index++) {
        const char *name = "";
        enum recipe_check_code code;
        (void)json_string(json_get(item, "check_code"), &name);
        const char *pointer = call_printf(call, "/overrides/%zu/check_code", index);
        if (!recipe_check_from(name, &code))
            return problem_add(&call->problem, pointer, "unknown", "there is no such check");
        if (!recipe_check_is_overridable(code))
            return problem_add(&call->problem, pointer, "not-overridable", "this check cannot be overridden");
    }
    return AS_OK;
}

static const char *compared(struct plane_call *call, const struct recipe_check *check)
{
    struct strbuf text AS_AUTO_STRBUF = {.len = 0};
    struct json_writer writer;
    strbuf_init(&text, 0);
    json_writer_init(&writer, &text, 0);
    json_open_object(&writer);
    json_member_string(&writer, "found", check->found);
    json_member_string(&writer, "needed", check->needed);
    json_close_object(&writer);
    return json_writer_status(&writer) == AS_OK ? arena_strdup(&call->arena, text.data) : "{}";
}

static as_status add_check(struct starting *start, const struct run_planned *planned, const struct recipe_check *check)
{
    struct plane_call *call = start->call;
    const char *name = recipe_check_name(check->code), *reason = NULL;
    const struct json_value *override =
        check->state == RECIPE_FAIL && check->is_overridable ? find_override(start->order->overrides, name) : NULL;
    (void)json_string(json_get(override, "reason"), &reason);
    start->is_stopped = start->is_stopped || (check->state == RECIPE_FAIL && !override);
    const struct pair pairs[] = {
        {"run_id", store_int(start->run_id)},
        {"check_code", store_text(name)},
        {"subject", store_text(planned->scenario->code)},
        {"verdict", store_text(run_verdict(check->state))},
        {"can_override", store_bool(check->is_overridable)},
        {"compared", store_text(compared(call, check))},
        {"message", store_text(recipe_check_sentence(check->code))},
        {"remedy", store_text(check->remedy)},
        {"checked_ns", store_int(call->now_ns)},
        {"overridden_by_user_id", override ? store_int(call->who.user_id) : store_null()},
        {"overridden_ns", override ? store_int(call->now_ns) : store_null()},
        {"override_reason", store_text(reason)},
        {NULL, store_null()},
    };
    as_status status = insert_pairs(call, "run_checks", pairs, NULL);
    return status == AS_OK && override ? audit_add(call, "override", "check", name) : status;
}

/* What stands in the way beyond the checks of recipe. */
static as_status add_trouble(struct starting *start, const struct run_planned *planned)
{
    const struct pair pairs[] = {
        {"run_id", store_int(start->run_id)},
        {"check_code", store_text("plan")},
        {"subject", store_text(planned->scenario->code)},
        {"verdict", store_text("stop")},
        {"message", store_text(planned->trouble)},
        {"checked_ns", store_int(start->call->now_ns)},
        {NULL, store_null()},
    };
    start->is_stopped = true;
    return insert_pairs(start->call, "run_checks", pairs, NULL);
}

static as_status add_checks(struct starting *start)
{
    as_status status = AS_OK;
    for (size_t i = 0; i < start->count; i++) {
        const struct run_planned *planned = &start->planned[i];
        for (size_t k = 0; status == AS_OK && k < planned->checks.count; k++)
            status = add_check(start, planned, &planned->checks.items[k]);
        if (status == AS_OK && (planned->trouble || !planned->tool) && planned->trouble)
            status = add_trouble(start, planned);
        start->is_stopped = start->is_stopped || !planned->tool || !planned->servers;
    }
    return status;
}

/* ---- jobs ---- */

static const char *list_json(struct plane_call *call, const struct recipe_list *list)
{
    struct strbuf text AS_AUTO_STRBUF = {.len = 0};
    struct json_writer writer;
    strbuf_init(&text, 0);
    json_writer_init(&writer, &text, 0);
    json_open_array(&writer);
    for (size_t i = 0; i < list->count; i++)
        json_put_string(&writer, list->items[i]);
    json_close_array(&writer);
    return json_writer_status(&writer) == AS_OK ? arena_strdup(&call->arena, text.data) : NULL;
}

/* The environment, secrets as references to be resolved at the worker. */
static const char *environment_json(struct plane_call *call, const struct recipe_command *command)
{
    struct strbuf text AS_AUTO_STRBUF = {.len = 0};
    struct json_writer writer;
    strbuf_init(&text, 0);
    json_writer_init(&writer, &text, 0);
    json_open_object(&writer);
    for (size_t i = 0; i < command->env.count; i++)
        json_member_string(&writer, command->env.items[i].name, command->env.items[i].value);
    for (size_t i = 0; i < command->secrets.count; i++)
        json_member_string(&writer, command->secrets.items[i], "secret:");
    json_close_object(&writer);
    return json_writer_status(&writer) == AS_OK ? arena_strdup(&call->arena, text.data) : NULL;
}

static const char *devices_json(struct plane_call *call, const struct recipe_instance *instance)
{
    struct strbuf text AS_AUTO_STRBUF = {.len = 0};
    struct json_writer writer;
    strbuf_init(&text, 0);
    json_writer_init(&writer, &text, 0);
    json_open_array(&writer);
    for (size_t i = 0; instance && i < instance->device_count; i++)
        json_put_int(&writer, instance->devices[i]);
    json_close_array(&writer);
    return json_writer_status(&writer) == AS_OK ? arena_strdup(&call->arena, text.data) : NULL;
}

static as_status add_command(struct plane_call *call, int64_t job_id, const struct recipe_command *command,
                             const struct recipe_instance *instance, struct strbuf *digests)
{
    struct strbuf text AS_AUTO_STRBUF = {.len = 0};
    char digest[RECIPE_DIGEST_BYTES];
    strbuf_init(&text, 0);
    recipe_command_text(command, &text);
    as_status status = recipe_command_digest(command, digest);
    if (status == AS_OK)
        status = strbuf_status(&text);
    if (status != AS_OK)
        return call_store_failed(call, status);
    strbuf_adds(digests, digest);
    const struct pair pairs[] = {
        {"job_id", store_int(job_id)},
        {"kind", store_text(instance ? "server" : "tool")},
        {"ordinal", store_int(instance ? instance->replica + 1000 * instance->node_rank : 0)},
        {"argv", store_text(list_json(call, &command->argv))},
        {"environment", store_text(environment_json(call, command))},
        {"devices", store_text(devices_json(call, instance))},
        {"port", instance ? store_int(instance->port) : store_null()},
        {"command_text", store_text(strbuf_text(&text))},
        {"digest", store_text(digest)},
        {NULL, store_null()},
    };
    return insert_pairs(call, "job_commands", pairs, NULL);
}

static void put_bindings(struct json_writer *writer, const char *name, const struct recipe_command *command)
{
    json_key(writer, name);
    json_open_object(writer);
    for (size_t i = 0; i < command->binding_count; i++) {
        const struct recipe_binding *binding = &command->bindings[i];
        json_key(writer, binding->name);
        json_open_object(writer);
        json_member_string(writer, "value", binding->text);
        json_member_string(writer, "from", recipe_layer_name(binding->layer));
        json_member_string(writer, "origin", binding->origin);
        json_close_object(writer);
    }
    json_close_object(writer);
}

static const char *placeholders_json(struct plane_call *call, const struct run_planned *planned)
{
    struct strbuf text AS_AUTO_STRBUF = {.len = 0};
    struct json_writer writer;
    strbuf_init(&text, 0);
    json_writer_init(&writer, &text, 0);
    json_open_object(&writer);
    if (planned->plan.instance_count)
        put_bindings(&writer, "server", &planned->servers[0]);
    put_bindings(&writer, "tool", planned->tool);
    json_close_object(&writer);
    return json_writer_status(&writer) == AS_OK ? arena_strdup(&call->arena, text.data) : NULL;
}

/* SHA-256 over what two results must have in common to be compared: tool, model, data, shape of the load. */
static as_status workload_digest(struct starting *start, const struct run_planned *planned,
                                 char ret[RECIPE_DIGEST_BYTES])
{
    struct strbuf text AS_AUTO_STRBUF = {.len = 0};
    const struct run_workload *workload = start->workload;
    strbuf_init(&text, 0);
    strbuf_addf(&text, "%s\n%s\n%s\n%s\n%s\n", workload->tool, workload->model_code,
                workload->quantization ? workload->quantization : "",
                workload->source_code ? workload->source_code : "",
                workload->source_digest ? workload->source_digest : "");
    for (size_t i = 0; i < planned->scenario->values.count; i++) {
        const struct recipe_value *value = &planned->scenario->values.items[i];
        if (value->layer == RECIPE_FROM_SCENARIO && strcmp(value->name, "scenario_code") != 0)
            strbuf_addf(&text, "%s=%s\n", value->name, value->text ? value->text : "");
    }
    as_status status = strbuf_status(&text);
    if (status == AS_OK)
        status = recipe_digest(text.data, text.len, ret);
    return status == AS_OK ? AS_OK : call_store_failed(start->call, status);
}

static as_status add_plan(struct starting *start, const struct run_planned *planned, int64_t job_id,
                          const struct strbuf *digests)
{
    struct plane_call *call = start->call;
    const struct run_workload *workload = start->workload;
    char of_workload[RECIPE_DIGEST_BYTES], of_commands[RECIPE_DIGEST_BYTES];
    as_status status = workload_digest(start, planned, of_workload);
    if (status == AS_OK)
        status = recipe_digest(strbuf_text(digests), digests->len, of_commands);
    if (status != AS_OK)
        return call_store_failed(call, status);
    const struct pair pairs[] = {
        {"job_id", store_int(job_id)},
        {"set_code", workload->has_set ? store_text(workload->set.set->code) : store_null()},
        {"set_revision", workload->has_set ? store_int(workload->set.revision) : store_null()},
        {"set_digest", store_text(workload->set.digest)},
        {"server_template_code", store_text(workload->server_template.item->code)},
        {"server_template_revision", store_int(workload->server_template.revision)},
        {"tool_template_code", store_text(workload->tool_template.item->code)},
        {"tool_template_revision", store_int(workload->tool_template.revision)},
        {"prompt_source_code", store_text(workload->source_code)},
        {"prompt_source_digest", store_text(workload->source_digest)},
        {"replicas", store_int(planned->plan.replica_count)},
        {"gpus_per_replica", store_int(workload->has_set ? workload->set.set->gpus_per_replica : 1)},
        {"request_count", planned->scenario->num_requests ? store_int(planned->scenario->num_requests) : store_null()},
        {"placeholders", store_text(placeholders_json(call, planned))},
        {"workload_digest", store_text(of_workload)},
        {"commands_digest", store_text(of_commands)},
        {"resolved_ns", store_int(call->now_ns)},
        {NULL, store_null()},
    };
    return insert_pairs(call, "job_plans", pairs, NULL);
}

static as_status add_commands(struct starting *start, const struct run_planned *planned, int64_t job_id)
{
    struct strbuf digests AS_AUTO_STRBUF = {.len = 0};
    as_status status = AS_OK;
    strbuf_init(&digests, 0);
    for (size_t i = 0; status == AS_OK && i < planned->plan.instance_count; i++)
        status = add_command(start->call, job_id, &planned->servers[i], &planned->plan.instances[i], &digests);
    if (status == AS_OK)
        status = add_command(start->call, job_id, planned->tool, NULL, &digests);
    return status == AS_OK ? add_plan(start, planned, job_id, &digests) : status;
}

static as_status add_job(struct starting *start, const struct run_scenario *scenario, int64_t repetition)
{
    struct plane_call *call = start->call;
    struct run_planned planned;
    int64_t job_id = 0;
    const char *code = call_printf(call, "%s-j%lld", start->order->request.run_code, (long long)++start->jobs);
    as_status status = code ? run_plan(call, start->workload, scenario, code, &planned) : AS_E_NOMEM;
    if (status != AS_OK)
        return status;
    if (!planned.tool || !planned.servers)
        return call_store_failed(call, AS_E_INTERNAL);
    const struct pair pairs[] = {
        {"tenant_id", store_int(call->who.tenant_id)},
        {"run_id", store_int(start->run_id)},
        {"workload_id", store_int(start->workload->id)},
        {"scenario_id", store_int(scenario->id)},
        {"job_code", store_text(code)},
        {"repetition", store_int(repetition)},
        {"state", store_text("queued")},
        {"created_ns", store_int(call->now_ns)},
        {"updated_ns", store_int(call->now_ns)},
        {NULL, store_null()},
    };
    status = insert_pairs(call, "jobs", pairs, &job_id);
    if (status == AS_OK)
        status = add_commands(start, &planned, job_id);
    const struct pair transition[] = {
        {"job_id", store_int(job_id)},
        {"attempt", store_int(0)},
        {"ordinal", store_int(0)},
        {"to_state", store_text("queued")},
        {"actor", store_text(call->who.user_name)},
        {"at_ns", store_int(call->now_ns)},
        {NULL, store_null()},
    };
    return status == AS_OK ? insert_pairs(call, "job_transitions", transition, NULL) : status;
}

static as_status add_jobs(struct starting *start)
{
    as_status status = AS_OK;
    for (size_t i = 0; i < start->count; i++)
        for (int64_t repetition = 1; status == AS_OK && repetition <= start->planned[i].scenario->repetitions;
             repetition++)
            status = add_job(start, start->planned[i].scenario, repetition);
    return status;
}

/* ---- the run ---- */

/* Runs of one workload are numbered one after the other, also by several processes on one PostgreSQL: its row is held
 * until the commit. */
static as_status hold_workload(struct plane_call *call, int64_t workload_id)
{
    struct sql sql AS_AUTO_SQL = {.count = 0};
    sql_begin(&sql, call);
    sql_add(&sql, "UPDATE workloads SET row_version = row_version WHERE id = ");
    sql_of_row(&sql, workload_id);
    return sql_exec(&sql, call, NULL);
}

static as_status new_code(struct plane_call *call, const struct run_workload *workload, const char **ret)
{
    struct sql sql AS_AUTO_SQL = {.count = 0};
    int64_t count = 0;
    as_status held = hold_workload(call, workload->id);
    if (held != AS_OK)
        return held;
    sql_begin(&sql, call);
    sql_add(&sql, "SELECT COUNT(*) FROM runs r WHERE ");
    sql_own(&sql, "r");
    sql_add(&sql, " AND r.workload_id = ");
    sql_value(&sql, store_int(workload->id));
    as_status status = sql_one_int(&sql, call, &count);
    *ret = call_printf(call, "%.*s-r%lld", CODE_STEM, workload->code, (long long)count + 1);
    return status == AS_OK && !*ret ? AS_E_NOMEM : status;
}

static as_status add_run(struct starting *start)
{
    struct plane_call *call = start->call;
    const struct run_order *order = start->order;
    const struct pair pairs[] = {
        {"tenant_id", store_int(call->who.tenant_id)},
        {"workload_id", store_int(order->workload_id)},
        {"run_code", store_text(order->request.run_code)},
        {"state", store_text("checking")},
        {"note", store_text(order->note)},
        {"settings", store_text(order->request.settings ? values_json(call, order->request.settings) : "{}")},
        {"cloned_from_run_id", order->cloned_from ? store_int(order->cloned_from) : store_null()},
        {"requested_by_user_id", store_int(call->who.user_id)},
        {"created_ns", store_int(call->now_ns)},
        {"updated_ns", store_int(call->now_ns)},
        {NULL, store_null()},
    };
    as_status status = insert_pairs(call, "runs", pairs, &start->run_id);
    if (status != AS_E_EXISTS)
        return status;
    call->problem = (struct problem){.retry_after_s = 1};
    return call_refuse(call, PROBLEM_BUSY, "another run of this workload is being started");
}

static as_status finish_run(struct starting *start)
{
    struct plane_call *call = start->call;
    struct sql sql AS_AUTO_SQL = {.count = 0};
    sql_begin(&sql, call);
    sql_add(&sql, "UPDATE runs SET state = ");
    sql_value(&sql, store_text(start->is_stopped ? "stopped" : "queued"));
    sql_add(&sql, ", reason_code = ");
    sql_value(&sql, store_text(start->is_stopped ? "not_ready" : NULL));
    sql_add(&sql, ", reason = ");
    sql_value(&sql, store_text(start->is_stopped ? "a readiness check stops it; see checks" : NULL));
    sql_add(&sql, ", jobs_total = ");
    sql_value(&sql, store_int(start->jobs));
    sql_add(&sql, ", finished_ns = ");
    sql_value(&sql, start->is_stopped ? store_int(call->now_ns) : store_null());
    sql_add(&sql, " WHERE id = ");
    sql_of_row(&sql, start->run_id);
    return sql_exec(&sql, call, NULL);
}

as_status run_event(struct plane_call *call, const char *name, const char *run_code, const char *state)
{
    const struct call_event event = {.topic = "run",
                                     .name = name,
                                     .code = run_code,
                                     .data =
                                         call_printf(call, "{\"run_code\":\"%s\",\"state\":\"%s\"}", run_code, state)};
    return event.data ? call_add_event(call, &event) : AS_E_NOMEM;
}

static as_status plan_all(struct starting *start, const struct run_scenario *scenarios)
{
    struct plane_call *call = start->call;
    as_status status = AS_OK;
    start->planned = arena_calloc(&call->arena, start->count, sizeof *start->planned);
    if (!start->planned)
        return call_store_failed(call, AS_E_NOMEM);
    for (size_t i = 0; status == AS_OK && i < start->count; i++)
        status = run_plan(call, start->workload, &scenarios[i],
                          call_printf(call, "%s-j%zu", start->order->request.run_code, i + 1), &start->planned[i]);
    return status;
}

as_status run_start(struct plane_call *call, struct run_order *order, int64_t *ret_id)
{
    struct run_workload workload;
    struct run_scenario *scenarios = NULL;
    struct starting start = {.call = call, .workload = &workload, .order = order};
    as_status status = check_overrides(call, order->overrides);
    if (status == AS_OK)
        status = run_load_workload(call, order->workload_id, &workload);
    if (status == AS_OK)
        status = new_code(call, &workload, &order->request.run_code);
    if (status == AS_OK)
        status = run_load_scenarios(call, &workload, &order->request, &scenarios, &start.count);
    if (status == AS_OK)
        status = plan_all(&start, scenarios);
    if (status == AS_OK)
        status = add_run(&start);
    if (status == AS_OK)
        status = add_checks(&start);
    if (status == AS_OK && !start.is_stopped)
        status = add_jobs(&start);
    if (status == AS_OK)
        status = finish_run(&start);
    if (status == AS_OK)
        status = audit_add(call, "start", "run", order->request.run_code);
    if (status == AS_OK)
        status = run_event(call, start.is_stopped ? "run_stopped" : "run_queued", order->request.run_code,
                           start.is_stopped ? "stopped" : "queued");
    *ret_id = start.run_id;
    return status;
}
