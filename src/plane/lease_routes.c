/* SPDX-License-Identifier: Apache-2.0 */
/* Routes of attempts, by their own token: renew, and say how far the job is. */
#include "plane/agent.h"
#include "plane/lease.h"
#include "plane/route.h"
#include "plane/state.h"

#include <stdlib.h>
#include <string.h>

static const struct field RENEW_FIELDS[] = {AGENT_PROTOCOL_FIELD};
static const struct shape RENEW = {
    .name = "LeaseRenew", .about = "The agent goes on with the job.", SHAPE_FIELDS(RENEW_FIELDS)};

static const struct field RENEWED_FIELDS[] = {
    {.name = "is_cancelled", .type = FIELD_BOOL, .flags = FIELD_GIVEN, .about = "Whether the job is to be ended now."},
    {.name = "state", .type = FIELD_TEXT, .flags = FIELD_GIVEN, .about = "Of the attempt."},
    {.name = "term_s", .type = FIELD_INT, .flags = FIELD_GIVEN, .about = "Seconds that the lease holds from now on."},
};
static const struct shape RENEWED = {
    .name = "LeaseRenewed", .about = "How the lease stands.", SHAPE_FIELDS(RENEWED_FIELDS)};

static const char *const STATES[] = {"starting", "running", "uploading", "succeeded", "failed", "cancelled", NULL};
static const struct field STATE_FIELDS[] = {
    AGENT_PROTOCOL_FIELD,
    {.name = "state",
     .type = FIELD_ENUM,
     .flags = FIELD_REQUIRED,
     .choices = STATES,
     .about = "starting: its servers are; running: from the first measured request on; uploading: its load has ended."},
    {.name = "at", .type = FIELD_TIME, .flags = FIELD_REQUIRED, .about = "When that began, by the agent's clock."},
    {.name = "reason_code", .type = FIELD_KEY, .about = "Why it failed."},
    {.name = "reason", .type = FIELD_TEXT, .max = 1000, .about = "The same for people."},
};
static const struct shape STATE = {
    .name = "AttemptState", .about = "How far an attempt is.", SHAPE_FIELDS(STATE_FIELDS)};

static const struct field NOW_FIELDS[] = {
    {.name = "job_code", .type = FIELD_CODE, .flags = FIELD_GIVEN, .about = "The job."},
    {.name = "attempt", .type = FIELD_INT, .flags = FIELD_GIVEN, .about = "Number of the attempt."},
    {.name = "state", .type = FIELD_TEXT, .flags = FIELD_GIVEN, .about = "Of the attempt."},
    {.name = "job_state", .type = FIELD_TEXT, .flags = FIELD_GIVEN, .about = "Of the job."},
};
static const struct shape NOW = {.name = "AttemptNow", .about = "What became of an attempt.", SHAPE_FIELDS(NOW_FIELDS)};

/* The attempt that the address names, which must be the token's own. */
static as_status read_lease(struct plane_call *call, struct lease *ret, int64_t *ret_term_s)
{
    struct store_rows *rows AS_AUTO_ROWS = NULL;
    struct sql sql AS_AUTO_SQL = {.count = 0};
    int64_t protocol = 0;
    if (!json_int64(json_get(call->input, "protocol_version"), &protocol))
        return call_store_failed(call, AS_E_INTERNAL);
    as_status status = agent_check_protocol(call, protocol);
    if (status != AS_OK)
        return status;
    sql_begin(&sql, call);
    sql_add(&sql,
            "SELECT j.tenant_id, j.id, j.run_id, a.id, a.attempt, j.automatic_retries, a.server_id, j.job_code, "
            "r.run_code, a.state, j.state, a.lease_term_s, (SELECT t.reason_code FROM job_transitions t WHERE "
            "t.job_id = j.id AND t.to_state = 'queued' AND t.from_state IS NOT NULL ORDER BY t.ordinal DESC LIMIT "
            "1) FROM job_attempts a JOIN jobs j ON j.id = a.job_id JOIN runs r ON r.id = j.run_id WHERE ");
    sql_own(&sql, "j");
    sql_add(&sql, " AND a.id = ");
    sql_value(&sql, store_int(call->who.attempt_id));
    status = sql_query(&sql, call, &rows);
    if (status == AS_OK && !store_next(rows))
        status = rows_end(rows, call) == AS_OK ? call_store_failed(call, AS_E_NOTFOUND) : AS_E_IO;
    if (status != AS_OK)
        return status;
    *ret = (struct lease){
        .tenant_id = store_get_int(rows, 0),
        .job_id = store_get_int(rows, 1),
        .run_id = store_get_int(rows, 2),
        .attempt_id = store_get_int(rows, 3),
        .attempt = store_get_int(rows, 4),
        .retries = store_get_int(rows, 5),
        .server_id = store_get_int(rows, 6),
        .job_code = rows_copy(call, rows, 7),
        .run_code = rows_copy(call, rows, 8),
        .state = rows_copy(call, rows, 9),
        .job_state = rows_copy(call, rows, 10),
        .last_reason = rows_copy(call, rows, 12),
    };
    *ret_term_s = store_get_int(rows, 11);
    if (!ret->job_code || !ret->run_code || !ret->state || !ret->job_state)
        return call_store_failed(call, AS_E_NOMEM);
    if (strcmp(ret->job_code, call->params[0]) != 0 ||
        strcmp(call_printf(call, "%lld", (long long)ret->attempt), call->params[1]) != 0)
        return call_refuse(call, PROBLEM_NOTFOUND, "there is no such thing, or it is not yours");
    return AS_OK;
}

/* In memory only. */
static as_status post_renew(struct plane_call *call)
{
    struct lease lease = {.job_code = "", .run_code = "", .state = "", .job_state = ""};
    int64_t term_s = 0;
    as_status status = read_lease(call, &lease, &term_s);
    if (status == AS_OK && watch_heard(call->plane->attempts_heard, lease.attempt_id, mono_now()) != AS_OK)
        status = call_store_failed(call, AS_E_NOMEM);
    if (status == AS_OK && watch_heard(call->plane->servers_heard, lease.server_id, mono_now()) != AS_OK)
        status = call_store_failed(call, AS_E_NOMEM);
    if (status != AS_OK)
        return status;
    json_open_object(&call->json);
    json_member_bool(&call->json, "is_cancelled", strcmp(lease.job_state, "cancelling") == 0);
    json_member_string(&call->json, "state", lease.state);
    json_member_int(&call->json, "term_s", term_s);
    json_close_object(&call->json);
    return AS_OK;
}

/* ---- how far it is ---- */

/* States in their order; those that end are last. */
static int rank_of(const char *state)
{
    static const char *const order[] = {"leased", "starting", "running", "uploading"};
    for (int i = 0; i < 4; i++)
        if (strcmp(order[i], state) == 0)
            return i;
    return 4;
}

static as_status go_on(struct plane_call *call, const struct lease *lease, const char *state,
                       const struct lease_end *why)
{
    static const char *const columns[] = {NULL, "server_started_ns", "load_started_ns", "load_finished_ns"};
    const int rank = rank_of(state);
    struct sql attempt AS_AUTO_SQL = {.count = 0}, job AS_AUTO_SQL = {.count = 0};
    int64_t changed = 0;
    sql_begin(&attempt, call);
    sql_add(&attempt, "UPDATE job_attempts SET %s = ", columns[rank]);
    sql_value(&attempt, store_int(why->ended_ns));
    if (rank == 1) {
        sql_add(&attempt, ", window_start_ns = ");
        sql_value(&attempt, store_int(why->ended_ns));
    }
    sql_add(&attempt, ", state = ");
    sql_value(&attempt, store_text(state));
    sql_add(&attempt, " WHERE state = ");
    sql_value(&attempt, store_text(lease->state));
    sql_add(&attempt, " AND id = ");
    sql_of_row(&attempt, lease->attempt_id);
    as_status status = sql_exec(&attempt, call, &changed);
    if (status == AS_OK && changed == 0)
        return call_refuse(call, PROBLEM_STATE, "the attempt has changed meanwhile");
    /* A job that is being cancelled stays so until its attempt ends. */
    sql_begin(&job, call);
    sql_add(&job, "UPDATE jobs SET state = CASE WHEN state = 'cancelling' THEN state ELSE CAST(");
    sql_value(&job, store_text(state));
    sql_add(&job, " AS TEXT) END, row_version = row_version + 1, updated_ns = ");
    sql_value(&job, store_int(call->now_ns));
    sql_add(&job, ", started_ns = COALESCE(started_ns, CAST(");
    sql_value(&job, store_int(call->now_ns));
    sql_add(&job, " AS BIGINT)) WHERE id = ");
    sql_of_row(&job, lease->job_id);
    if (status == AS_OK)
        status = sql_exec(&job, call, NULL);
    if (status == AS_OK)
        status = lease_note(call->tx, lease, lease->state, state, why);
    return status == AS_OK || call->problem.is_set ? status : call_store_failed(call, status);
}

static as_status end(struct plane_call *call, const struct lease *lease, struct lease_end *why)
{
    as_status status = lease_end(call->tx, lease, why);
    if (status == AS_E_STATE)
        return call_refuse(call, PROBLEM_STATE, "the attempt has changed meanwhile; say it again");
    if (status == AS_OK)
        watch_forget(call->plane->attempts_heard, lease->attempt_id);
    return status == AS_OK ? AS_OK : call_store_failed(call, status);
}

static const char *text_of(const struct json_value *object, const char *name)
{
    const char *text = NULL;
    return json_string(json_get(object, name), &text) ? text : NULL;
}

static as_status tell(struct plane_call *call, const struct lease *lease, const char *state)
{
    const struct call_event event = {
        .topic = "job",
        .name = "job_changed",
        .code = lease->job_code,
        .data = call_printf(call, "{\"job_code\":\"%s\",\"run_code\":\"%s\",\"attempt\":%lld,\"state\":\"%s\"}",
                            lease->job_code, lease->run_code, (long long)lease->attempt, state)};
    return event.data ? call_add_event(call, &event) : AS_E_NOMEM;
}

static as_status post_state(struct plane_call *call)
{
    struct lease lease = {.job_code = "", .run_code = "", .state = "", .job_state = ""};
    int64_t term_s = 0;
    struct wall at = {0};
    as_status status = read_lease(call, &lease, &term_s);
    const char *state = text_of(call->input, "state"), *at_text = text_of(call->input, "at");
    if (status != AS_OK)
        return status;
    if (!state || !at_text || wall_parse(at_text, strlen(at_text), &at) != 0)
        return call_store_failed(call, AS_E_INTERNAL);
    struct lease_end why = {.state = state,
                            .reason_code = text_of(call->input, "reason_code"),
                            .reason = text_of(call->input, "reason"),
                            .actor = call->who.user_name,
                            .at_ns = call->now_ns,
                            .ended_ns = at.ns,
                            .result = state};
    const int before = rank_of(lease.state), after = rank_of(state);
    if (after < before)
        return call_refuse(call, PROBLEM_STATE, "the attempt is %s already", lease.state);
    if (after == 4)
        status = end(call, &lease, &why);
    else if (after > before)
        status = go_on(call, &lease, state, &why);
    if (status == AS_OK && after > before)
        status = tell(call, &lease, after == 4 ? why.result : state);
    if (status != AS_OK)
        return status;
    json_open_object(&call->json);
    json_member_string(&call->json, "job_code", lease.job_code);
    json_member_int(&call->json, "attempt", lease.attempt);
    json_member_string(&call->json, "state", state);
    json_member_string(&call->json, "job_state",
                       after == 4                                   ? why.result
                       : strcmp(lease.job_state, "cancelling") == 0 ? lease.job_state
                                                                    : state);
    json_close_object(&call->json);
    return AS_OK;
}

#define PATH "/api/v1/jobs/{job_code}/attempts/{attempt}"

static const struct route ROUTES[] = {
    {.method = HTTP_POST,
     .kind = ROUTE_READ,
     .right = RIGHT_JOB,
     .path = PATH "/renew",
     .id = "renew_lease",
     .tag = "agent",
     .input = &RENEW,
     .output = &RENEWED,
     .handle = post_renew,
     .summary = "Make the lease's term full again, and hear whether the job is cancelled"},
    {.method = HTTP_POST,
     .kind = ROUTE_WRITE,
     .right = RIGHT_JOB,
     .path = PATH "/state",
     .id = "set_attempt_state",
     .tag = "agent",
     .input = &STATE,
     .output = &NOW,
     .handle = post_state,
     .summary = "Say how far the attempt is; the same again changes nothing"},
};

const struct route_list routes_lease = {ROUTES, sizeof ROUTES / sizeof ROUTES[0]};
