/* SPDX-License-Identifier: Apache-2.0 */
#include "plane/agent.h"

#include "plane/resources.h"
#include "plane/state.h"

as_status agent_check_protocol(struct plane_call *call, int64_t protocol)
{
    if (protocol > AGENT_PROTOCOL)
        return call_refuse(call, PROBLEM_UPGRADE,
                           "the agent speaks protocol %lld, this server at most %d: update the server first",
                           (long long)protocol, AGENT_PROTOCOL);
    if (protocol < AGENT_PROTOCOL_OLDEST)
        return call_refuse(call, PROBLEM_UPGRADE,
                           "the agent speaks protocol %lld, this server at least %d: update the agent",
                           (long long)protocol, AGENT_PROTOCOL_OLDEST);
    return AS_OK;
}

static as_status find_config(struct plane_call *call, struct agent *agent)
{
    const char *key[RESOURCE_KEY_MAX] = {agent->config_code};
    struct sql sql AS_AUTO_SQL = {.count = 0};
    sql_begin(&sql, call);
    sql_add(&sql, "SELECT c.id FROM server_configs c WHERE c.retired_ns IS NULL AND c.id = ");
    sql_row_by_key(&sql, &resource_server_configs, key);
    as_status status = sql_one_int(&sql, call, &agent->config_id);
    if (status == AS_E_NOTFOUND)
        return problem_add(&call->problem, "/config_code", "reference", "there is no hardware \"%.100s\" in use",
                           agent->config_code);
    return status;
}

static as_status find_server(struct plane_call *call, struct agent *agent)
{
    struct store_rows *rows AS_AUTO_ROWS = NULL;
    struct sql sql AS_AUTO_SQL = {.count = 0};
    sql_begin(&sql, call);
    sql_add(&sql, "SELECT s.id, s.state, s.retired_ns FROM servers s WHERE ");
    sql_own(&sql, "s");
    sql_add(&sql, " AND s.server_config_id = ");
    sql_value(&sql, store_int(agent->config_id));
    sql_add(&sql, " AND s.hostname = ");
    sql_value(&sql, store_text(agent->hostname));
    as_status status = sql_query(&sql, call, &rows);
    if (status != AS_OK || !store_next(rows))
        return status == AS_OK ? rows_end(rows, call) : status;
    if (!store_is_null(rows, 2))
        return call_refuse(call, PROBLEM_STATE, "the server %s is retired", agent->hostname);
    agent->server_id = store_get_int(rows, 0);
    agent->state = rows_copy(call, rows, 1);
    return AS_OK;
}

static as_status check_token(struct plane_call *call, const struct agent *agent)
{
    struct sql sql AS_AUTO_SQL = {.count = 0};
    int64_t server_id = 0;
    sql_begin(&sql, call);
    sql_add(&sql, "SELECT COALESCE(c.server_id, 0) FROM api_tokens c WHERE c.id = ");
    sql_of_row(&sql, call->who.credential_id);
    as_status status = sql_one_int(&sql, call, &server_id);
    if (status == AS_E_NOTFOUND)
        return call_store_failed(call, AS_E_INTERNAL);
    if (status == AS_OK && server_id && server_id != agent->server_id)
        return call_refuse(call, PROBLEM_FORBIDDEN, "the token speaks for another server");
    return status;
}

as_status agent_begin(struct plane_call *call, struct agent *ret)
{
    struct agent agent = {.server_id = 0};
    if (!json_int64(json_get(call->input, "protocol_version"), &agent.protocol) ||
        !json_string(json_get(call->input, "config_code"), &agent.config_code) ||
        !json_string(json_get(call->input, "hostname"), &agent.hostname))
        return call_store_failed(call, AS_E_INTERNAL);
    as_status status = agent_check_protocol(call, agent.protocol);
    if (status == AS_OK)
        status = find_config(call, &agent);
    if (status == AS_OK)
        status = find_server(call, &agent);
    if (status == AS_OK)
        status = check_token(call, &agent);
    *ret = agent;
    return status;
}

as_status agent_find(struct plane_call *call, struct agent *ret)
{
    as_status status = agent_begin(call, ret);
    if (status == AS_OK && !ret->server_id)
        return call_refuse(call, PROBLEM_STATE, "the server %s is not registered yet", ret->hostname);
    if (status == AS_OK)
        status = watch_heard(call->plane->servers_heard, ret->server_id, mono_now());
    return status == AS_OK || call->problem.is_set ? status : call_store_failed(call, status);
}
