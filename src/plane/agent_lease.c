/* SPDX-License-Identifier: Apache-2.0 */
/* The route that gives jobs to agents. */
#include "plane/agent.h"
#include "plane/auth.h"
#include "plane/lease.h"
#include "plane/route.h"
#include "plane/runs.h"
#include "plane/state.h"

#include <string.h>

#define CANDIDATES 50 /* jobs looked at for one lease */

static const struct field LEASE_FIELDS[] = {
    AGENT_FIELDS,
    {.name = "lease_nonce",
     .type = FIELD_CODE,
     .flags = FIELD_REQUIRED,
     .about =
         "Made by the agent for this lease: a call whose answer was lost, sent again with it, gets the same attempt."},
    {.name = "agent_version",
     .type = FIELD_TEXT,
     .flags = FIELD_REQUIRED,
     .max = 100,
     .about = "Version of the agent."},
    {.name = "wait_s",
     .type = FIELD_INT,
     .min = 0,
     .max = LEASE_WAIT_S,
     .about = "Seconds to wait for a job; none: 0."},
};
static const struct shape LEASE = {
    .name = "LeaseAsk", .about = "A server is free for a job.", SHAPE_FIELDS(LEASE_FIELDS)};

static const struct field LEASED_FIELDS[] = {
    {.name = "job_code", .type = FIELD_CODE, .flags = FIELD_GIVEN, .about = "The job."},
    {.name = "attempt", .type = FIELD_INT, .flags = FIELD_GIVEN, .about = "Number of the attempt; in every address."},
    {.name = "token", .type = FIELD_TEXT, .flags = FIELD_GIVEN, .about = "For this attempt only; ends with it."},
    {.name = "run_code", .type = FIELD_CODE, .flags = FIELD_GIVEN, .about = "Its run."},
    {.name = "term_s", .type = FIELD_INT, .flags = FIELD_GIVEN, .about = "Seconds that the lease holds."},
    {.name = "fence_s",
     .type = FIELD_INT,
     .flags = FIELD_GIVEN,
     .about = "Seconds without a renewal after which the agent ends load and servers."},
    {.name = "renew_s", .type = FIELD_INT, .flags = FIELD_GIVEN, .about = "Seconds from one renewal to the next."},
    {.name = "poll_s", .type = FIELD_INT, .flags = FIELD_GIVEN, .about = "The same, to hear of a cancel in time."},
    {.name = "plan",
     .type = FIELD_OBJECT,
     .shape = &shape_plan,
     .flags = FIELD_GIVEN | FIELD_NULLABLE,
     .about = "What the job pins."},
    {.name = "commands",
     .type = FIELD_LIST,
     .shape = &shape_command,
     .flags = FIELD_GIVEN,
     .about = "What to execute."},
    {.name = "transitions",
     .type = FIELD_LIST,
     .shape = &shape_transition,
     .flags = FIELD_GIVEN,
     .about = "Its states so far."},
};
static const struct shape LEASED = {.name = "Lease", .about = "An attempt of a job.", SHAPE_FIELDS(LEASED_FIELDS)};

struct grant {
    struct lease lease;
    const char *nonce; /* of the attempt that the server has */
};

/* The attempt that the server has now, if any. */
static as_status find_live(struct plane_call *call, const struct agent *agent, struct grant *ret)
{
    struct store_rows *rows AS_AUTO_ROWS = NULL;
    struct sql sql AS_AUTO_SQL = {.count = 0};
    sql_begin(&sql, call);
    sql_add(&sql,
            "SELECT a.id, a.attempt, a.lease_nonce, j.id, j.job_code, r.run_code FROM job_attempts a JOIN jobs j ON "
            "j.id = a.job_id JOIN runs r ON r.id = j.run_id WHERE a.state IN (" LEASE_LIVE ") AND a.server_id = ");
    sql_of_row(&sql, agent->server_id);
    as_status status = sql_query(&sql, call, &rows);
    if (status != AS_OK || !store_next(rows))
        return status == AS_OK ? rows_end(rows, call) : status;
    ret->lease = (struct lease){.attempt_id = store_get_int(rows, 0),
                                .attempt = store_get_int(rows, 1),
                                .job_id = store_get_int(rows, 3),
                                .job_code = rows_copy(call, rows, 4),
                                .run_code = rows_copy(call, rows, 5)};
    ret->nonce = rows_copy(call, rows, 2);
    return ret->lease.job_code && ret->lease.run_code && ret->nonce ? AS_OK : call_store_failed(call, AS_E_NOMEM);
}

/* Whether the server has all labels that are asked for, with the same texts. */
static bool has_labels(struct plane_call *call, const char *wanted, const char *own)
{
    const struct json_value *asked = NULL, *there = NULL;
    if (json_parse(wanted, strlen(wanted), NULL, &call->arena, &asked, NULL) != AS_OK ||
        json_parse(own, strlen(own), NULL, &call->arena, &there, NULL) != AS_OK)
        return false;
    for (const struct json_value *label = asked->first; label; label = label->next) {
        const char *text, *found;
        if (!json_string(label, &text) || !json_string(json_get(there, label->key), &found) || strcmp(text, found) != 0)
            return false;
    }
    return true;
}

static as_status query_candidates(struct plane_call *call, const struct agent *agent, struct store_rows **ret)
{
    struct sql sql AS_AUTO_SQL = {.count = 0};
    sql_begin(&sql, call);
    const uint32_t server = sql_param(&sql, store_int(agent->server_id));
    sql_add(&sql,
            "SELECT j.id, j.attempt, j.job_code, j.run_id, r.run_code, w.server_labels, s.labels FROM jobs j JOIN "
            "workloads "
            "w ON w.id = j.workload_id JOIN runs r ON r.id = j.run_id JOIN servers s ON s.id = ?%u JOIN server_configs "
            "c ON "
            "c.id = s.server_config_id LEFT JOIN job_plans p ON p.job_id = j.id WHERE ",
            server);
    sql_own(&sql, "j");
    sql_add(
        &sql,
        " AND j.state = 'queued' AND (w.server_id IS NULL OR w.server_id = s.id) AND (w.server_config_id IS NULL OR "
        "w.server_config_id = s.server_config_id) AND COALESCE(p.replicas * p.gpus_per_replica, 0) <= CASE WHEN EXISTS "
        "(SELECT 1 FROM server_gpus g WHERE g.server_id = s.id) THEN (SELECT COUNT(*) FROM server_gpus g WHERE "
        "g.server_id = s.id) ELSE c.gpu_count END AND (j.not_before_ns IS NULL OR j.not_before_ns <= ");
    sql_value(&sql, store_int(call->now_ns));
    sql_add(&sql, ") ORDER BY j.priority, j.created_ns, j.id LIMIT %d", CANDIDATES);
    return sql_query(&sql, call, ret);
}

/* False: another agent was faster. */
static as_status claim(struct plane_call *call, const struct agent *agent, const struct lease *lease, bool *ret)
{
    struct sql sql AS_AUTO_SQL = {.count = 0};
    int64_t changed = 0;
    sql_begin(&sql, call);
    sql_add(&sql, "UPDATE jobs SET state = 'leased', reason_code = NULL, reason = NULL, row_version = row_version + 1, "
                  "server_id = ");
    sql_value(&sql, store_int(agent->server_id));
    sql_add(&sql, ", attempt = ");
    sql_value(&sql, store_int(lease->attempt));
    sql_add(&sql, ", updated_ns = ");
    sql_value(&sql, store_int(call->now_ns));
    sql_add(&sql, " WHERE state = 'queued' AND attempt = ");
    sql_value(&sql, store_int(lease->attempt - 1));
    sql_add(&sql, " AND id = ");
    sql_of_row(&sql, lease->job_id);
    as_status status = sql_exec(&sql, call, &changed);
    *ret = changed > 0;
    return status;
}

static as_status add_attempt(struct plane_call *call, const struct agent *agent, struct lease *lease)
{
    const char *nonce = "", *version = "";
    struct sql sql AS_AUTO_SQL = {.count = 0};
    (void)json_string(json_get(call->input, "lease_nonce"), &nonce);
    (void)json_string(json_get(call->input, "agent_version"), &version);
    const struct store_value values[] = {store_int(lease->attempt), store_int(agent->server_id), store_text(nonce),
                                         store_int(call->now_ns),   store_int(LEASE_TERM_S),     store_text(version),
                                         store_int(agent->protocol)};
    sql_begin(&sql, call);
    sql_add(&sql, "INSERT INTO job_attempts (state, job_id, attempt, server_id, lease_nonce, leased_ns, lease_term_s, "
                  "agent_version, protocol_version) VALUES ('leased', ");
    sql_of_row(&sql, lease->job_id);
    for (size_t i = 0; i < sizeof values / sizeof values[0]; i++) {
        sql_add(&sql, ", ");
        sql_value(&sql, values[i]);
    }
    sql_add(&sql, ") RETURNING id");
    as_status status = sql_one_int(&sql, call, &lease->attempt_id);
    return status == AS_E_NOTFOUND ? call_store_failed(call, AS_E_INTERNAL) : status;
}

static as_status begin_run(struct plane_call *call, int64_t run_id)
{
    struct sql sql AS_AUTO_SQL = {.count = 0};
    sql_begin(&sql, call);
    sql_add(&sql, "UPDATE runs SET state = 'running', row_version = row_version + 1, started_ns = ");
    sql_value(&sql, store_int(call->now_ns));
    sql_add(&sql, ", updated_ns = ");
    sql_value(&sql, store_int(call->now_ns));
    sql_add(&sql, " WHERE state = 'queued' AND id = ");
    sql_of_row(&sql, run_id);
    return sql_exec(&sql, call, NULL);
}

static as_status tell_leased(struct plane_call *call, const struct lease *lease)
{
    const struct call_event event = {
        .topic = "job",
        .name = "job_changed",
        .code = lease->job_code,
        .data = call_printf(call, "{\"job_code\":\"%s\",\"run_code\":\"%s\",\"attempt\":%lld,\"state\":\"leased\"}",
                            lease->job_code, lease->run_code, (long long)lease->attempt)};
    return event.data ? call_add_event(call, &event) : AS_E_NOMEM;
}

static as_status take(struct plane_call *call, const struct agent *agent, struct lease *lease)
{
    const struct lease_end why = {.actor = agent->hostname, .at_ns = call->now_ns};
    as_status status = add_attempt(call, agent, lease);
    if (status == AS_OK && lease_note(call->tx, lease, "queued", "leased", &why) != AS_OK)
        status = call_store_failed(call, AS_E_IO);
    if (status == AS_OK)
        status = begin_run(call, lease->run_id);
    return status == AS_OK ? tell_leased(call, lease) : status;
}

/* lease->attempt_id stays 0 when there is no job. */
static as_status take_one(struct plane_call *call, const struct agent *agent, struct lease *lease)
{
    struct store_rows *rows AS_AUTO_ROWS = NULL;
    bool is_mine = false;
    as_status status = query_candidates(call, agent, &rows);
    while (status == AS_OK && !is_mine && store_next(rows)) {
        const struct lease found = {.job_id = store_get_int(rows, 0),
                                    .attempt = store_get_int(rows, 1) + 1,
                                    .job_code = rows_copy(call, rows, 2),
                                    .run_id = store_get_int(rows, 3),
                                    .run_code = rows_copy(call, rows, 4)};
        if (!found.job_code || !found.run_code)
            status = call_store_failed(call, AS_E_NOMEM);
        else if (has_labels(call, store_get_text(rows, 5, NULL), store_get_text(rows, 6, NULL)))
            status = claim(call, agent, &found, &is_mine);
        *lease = found;
    }
    if (status == AS_OK && !is_mine) {
        lease->attempt_id = 0;
        return rows_end(rows, call);
    }
    rows_done(&rows);
    return status == AS_OK ? take(call, agent, lease) : status;
}

static as_status add_token(struct plane_call *call, int64_t attempt_id, const char **ret)
{
    char token[AUTH_TOKEN_BYTES], hint[AUTH_HINT_BYTES];
    struct sql sql AS_AUTO_SQL = {.count = 0};
    as_status status = auth_new_token(token, hint);
    const char *kept = status == AS_OK ? arena_strdup(&call->arena, token) : NULL;
    if (!kept)
        return call_store_failed(call, status == AS_OK ? AS_E_NOMEM : status);
    sql_begin(&sql, call);
    sql_add(&sql, "INSERT INTO attempt_tokens (job_attempt_id, token_hash, created_ns) VALUES (");
    sql_of_row(&sql, attempt_id);
    sql_add(&sql, ", ");
    sql_value(&sql, auth_digest(&call->arena, kept));
    sql_add(&sql, ", ");
    sql_value(&sql, store_int(call->now_ns));
    sql_add(&sql, ")");
    *ret = kept;
    call->shows_secret = true;
    return sql_exec(&sql, call, NULL);
}

static as_status put_lease(struct plane_call *call, const struct lease *lease)
{
    const char *token = NULL;
    as_status status = add_token(call, lease->attempt_id, &token);
    if (status == AS_OK && watch_heard(call->plane->attempts_heard, lease->attempt_id, mono_now()) != AS_OK)
        status = call_store_failed(call, AS_E_NOMEM);
    if (status != AS_OK)
        return status;
    json_open_object(&call->json);
    json_member_string(&call->json, "job_code", lease->job_code);
    json_member_int(&call->json, "attempt", lease->attempt);
    json_member_string(&call->json, "token", token);
    json_member_string(&call->json, "run_code", lease->run_code);
    json_member_int(&call->json, "term_s", LEASE_TERM_S);
    json_member_int(&call->json, "fence_s", LEASE_FENCE_S);
    json_member_int(&call->json, "renew_s", LEASE_RENEW_S);
    json_member_int(&call->json, "poll_s", LEASE_POLL_S);
    status = runs_put_job(call, lease->job_id);
    json_close_object(&call->json);
    return status;
}

/* Calls for one server one after the other. */
static as_status lock_server(struct plane_call *call, const struct agent *agent)
{
    struct sql sql AS_AUTO_SQL = {.count = 0};
    sql_begin(&sql, call);
    sql_add(&sql, "UPDATE servers SET row_version = row_version WHERE id = ");
    sql_of_row(&sql, agent->server_id);
    return sql_exec(&sql, call, NULL);
}

static bool takes_jobs(const struct agent *agent)
{
    return strcmp(agent->state, "online") == 0 || strcmp(agent->state, "silent") == 0;
}

static as_status post_lease(struct plane_call *call)
{
    const char *nonce = "";
    struct agent agent;
    struct grant grant = {.nonce = NULL};
    (void)json_string(json_get(call->input, "lease_nonce"), &nonce);
    as_status status = agent_find(call, &agent);
    if (status == AS_OK)
        status = lock_server(call, &agent);
    if (status == AS_OK)
        status = find_live(call, &agent, &grant);
    if (status == AS_OK && grant.nonce && strcmp(grant.nonce, nonce) != 0)
        return call_refuse(call, PROBLEM_STATE, "the server has attempt %lld of the job %s",
                           (long long)grant.lease.attempt, grant.lease.job_code);
    if (status == AS_OK && !grant.nonce && takes_jobs(&agent))
        status = take_one(call, &agent, &grant.lease);
    if (status == AS_OK && !grant.lease.attempt_id)
        call->status = 204;
    return status == AS_OK && grant.lease.attempt_id ? put_lease(call, &grant.lease) : status;
}

/* Waits, without the writer, while nothing is there to be had. */
static as_status prepare_lease(struct plane_call *call)
{
    struct store_rows *rows AS_AUTO_ROWS = NULL;
    struct grant grant = {.nonce = NULL};
    struct agent agent;
    int64_t wait_s = 0;
    bool is_there = false;
    as_status status = agent_find(call, &agent);
    if (status == AS_OK)
        status = find_live(call, &agent, &grant);
    if (status != AS_OK || grant.nonce)
        return status;
    if (takes_jobs(&agent))
        status = query_candidates(call, &agent, &rows);
    while (status == AS_OK && rows && !is_there && store_next(rows))
        is_there = has_labels(call, store_get_text(rows, 5, NULL), store_get_text(rows, 6, NULL));
    (void)json_int64(json_get(call->input, "wait_s"), &wait_s);
    call->is_waiting = status == AS_OK && !is_there && mono_now().ns - call->begun.ns < wait_s * NS_PER_S;
    return status;
}

static const struct route ROUTES[] = {
    {.method = HTTP_POST,
     .kind = ROUTE_WRITE,
     .right = RIGHT_AGENT,
     .path = "/api/v1/agent/lease",
     .id = "lease_job",
     .tag = "agent",
     .input = &LEASE,
     .output = &LEASED,
     .may_be_empty = true,
     .prepare = prepare_lease,
     .handle = post_lease,
     .summary = "Take a job for a server, waiting for one; 204 when none came"},
};

const struct route_list routes_agent_lease = {ROUTES, sizeof ROUTES / sizeof ROUTES[0]};
