/* SPDX-License-Identifier: Apache-2.0 */
/* Routes of agents: register a server, say that it is there. */
#include "plane/agent.h"
#include "plane/audit.h"
#include "plane/resources.h"
#include "plane/route.h"
#include "plane/state.h"
#include "plane/values.h"

#include <string.h>

static const struct field REGISTER_FIELDS[] = {
    AGENT_FIELDS,
    {.name = "agent_version",
     .type = FIELD_TEXT,
     .flags = FIELD_REQUIRED,
     .max = 100,
     .about = "Version of the agent."},
    {.name = "labels", .type = FIELD_JSON, .about = "Texts by name, for choosing servers; none: as they are."},
    {.name = "gpus",
     .type = FIELD_LIST,
     .shape = &shape_server_gpu,
     .max = 4096,
     .about = "Its GPUs; none: as they are."},
    {.name = "driver_version", .type = FIELD_TEXT, .about = "Of its GPUs."},
    {.name = "kernel", .type = FIELD_TEXT, .about = "Operating system."},
    {.name = "fingerprint", .type = FIELD_JSON, .about = "What the agent found on the host."},
    {.name = "disk_free_bytes", .type = FIELD_INT, .min = 0, .max = 9e15, .about = "Free where jobs write."},
    {.name = "secrets_present",
     .type = FIELD_LIST,
     .item = FIELD_CODE,
     .about = "Secrets that it can resolve, by name."},
};
static const struct shape REGISTER = {
    .name = "AgentRegister", .about = "What an agent tells of its server.", SHAPE_FIELDS(REGISTER_FIELDS)};

static const struct field HEARTBEAT_FIELDS[] = {AGENT_FIELDS};
static const struct shape HEARTBEAT = {
    .name = "AgentHeartbeat", .about = "The agent is there.", SHAPE_FIELDS(HEARTBEAT_FIELDS)};

static const struct field HEARD_FIELDS[] = {
    {.name = "state", .type = FIELD_TEXT, .flags = FIELD_GIVEN, .about = "Of the server."},
    {.name = "protocol_version", .type = FIELD_INT, .flags = FIELD_GIVEN, .about = "The newest that is understood."},
    {.name = "heartbeat_s", .type = FIELD_INT, .flags = FIELD_GIVEN, .about = "Seconds until the next one is due."},
    {.name = "silent_s", .type = FIELD_INT, .flags = FIELD_GIVEN, .about = "Seconds until it is shown as silent."},
};
static const struct shape HEARD = {
    .name = "AgentHeard", .about = "What the server knows of the agent.", SHAPE_FIELDS(HEARD_FIELDS)};

/* What is told of a server, by its column. */
struct told {
    const char *column;
    struct store_value value;
};
#define TOLD_MAX 16

static void add_told(struct told *told, size_t *count, const char *column, struct store_value value)
{
    told[(*count)++] = (struct told){column, value};
}

static as_status add_json(struct plane_call *call, const char *column, struct told *told, size_t *count)
{
    const struct json_value *value = json_get(call->input, column);
    const char *text = value ? values_json(call, value) : NULL;
    char digest[SECRET_HASH_BYTES];
    if (!value)
        return AS_OK;
    if (!text)
        return AS_E_NOMEM;
    add_told(told, count, column, store_text(text));
    if (strcmp(column, "fingerprint") != 0)
        return AS_OK;
    as_status status = secret_hash(text, strlen(text), digest);
    const char *kept = status == AS_OK ? arena_strdup(&call->arena, digest) : NULL;
    if (!kept)
        return call_store_failed(call, status == AS_OK ? AS_E_NOMEM : status);
    add_told(told, count, "fingerprint_digest", store_text(kept));
    return AS_OK;
}

static as_status read_told(struct plane_call *call, const struct agent *agent, struct told *told, size_t *count)
{
    static const char *const texts[] = {"agent_version", "driver_version", "kernel"};
    static const char *const trees[] = {"labels", "fingerprint", "secrets_present"};
    const char *text;
    int64_t bytes;
    as_status status = AS_OK;
    /* One that drains goes on doing so; any other is there now. */
    const bool drains = agent->state && strcmp(agent->state, "draining") == 0;
    add_told(told, count, "state", store_text(drains ? "draining" : "online"));
    add_told(told, count, "protocol_version", store_int(agent->protocol));
    add_told(told, count, "last_seen_ns", store_int(call->now_ns));
    add_told(told, count, "updated_ns", store_int(call->now_ns));
    if (!drains)
        add_told(told, count, "state_reason", store_null());
    for (size_t i = 0; i < sizeof texts / sizeof texts[0]; i++)
        if (json_string(json_get(call->input, texts[i]), &text))
            add_told(told, count, texts[i], store_text(text));
    if (json_int64(json_get(call->input, "disk_free_bytes"), &bytes))
        add_told(told, count, "disk_free_bytes", store_int(bytes));
    for (size_t i = 0; status == AS_OK && i < sizeof trees / sizeof trees[0]; i++)
        status = add_json(call, trees[i], told, count);
    return status;
}

static as_status add_server(struct plane_call *call, struct agent *agent)
{
    struct sql sql AS_AUTO_SQL = {.count = 0};
    sql_begin(&sql, call);
    sql_add(&sql, "INSERT INTO servers (tenant_id, server_config_id, hostname, created_ns, updated_ns) VALUES (");
    sql_tenant(&sql);
    sql_add(&sql, ", ");
    sql_value(&sql, store_int(agent->config_id));
    sql_add(&sql, ", ");
    sql_value(&sql, store_text(agent->hostname));
    sql_add(&sql, ", ");
    sql_value(&sql, store_int(call->now_ns));
    sql_add(&sql, ", ");
    sql_value(&sql, store_int(call->now_ns));
    sql_add(&sql, ") RETURNING id");
    as_status status = sql_one_int(&sql, call, &agent->server_id);
    return status == AS_E_NOTFOUND ? call_store_failed(call, AS_E_INTERNAL) : status;
}

static as_status change_server(struct plane_call *call, const struct agent *agent)
{
    struct told told[TOLD_MAX];
    size_t count = 0;
    struct sql sql AS_AUTO_SQL = {.count = 0};
    as_status status = read_told(call, agent, told, &count);
    if (status != AS_OK)
        return status;
    sql_begin(&sql, call);
    sql_add(&sql, "UPDATE servers SET row_version = row_version + 1");
    for (size_t i = 0; i < count; i++) {
        sql_add(&sql, ", %s = ", told[i].column);
        sql_value(&sql, told[i].value);
    }
    sql_add(&sql, " WHERE id = ");
    sql_of_row(&sql, agent->server_id);
    return sql_exec(&sql, call, NULL);
}

static as_status tell_online(struct plane_call *call, const struct agent *agent)
{
    const char *code = call_printf(call, "%s/%s", agent->config_code, agent->hostname);
    const struct call_event event = {
        .topic = "server",
        .name = "server_online",
        .code = code,
        .data = call_printf(call, "{\"config_code\":\"%s\",\"hostname\":\"%s\",\"state\":\"online\"}",
                            agent->config_code, agent->hostname)};
    if (!code || !event.data)
        return AS_E_NOMEM;
    as_status status = audit_add(call, "register", "server", code);
    return status == AS_OK ? call_add_event(call, &event) : status;
}

static as_status post_register(struct plane_call *call)
{
    struct agent agent;
    as_status status = agent_begin(call, &agent);
    const bool is_new = status == AS_OK && !agent.server_id;
    if (is_new)
        status = add_server(call, &agent);
    if (status == AS_OK)
        status = change_server(call, &agent);
    if (status == AS_OK)
        status = resource_servers.hooks->finish(call, agent.server_id, NULL);
    if (status == AS_OK && (is_new || (strcmp(agent.state, "online") != 0 && strcmp(agent.state, "draining") != 0)))
        status = tell_online(call, &agent);
    if (status == AS_OK && watch_heard(call->plane->servers_heard, agent.server_id, mono_now()) != AS_OK)
        status = call_store_failed(call, AS_E_NOMEM);
    return status == AS_OK ? resource_put(call, &resource_servers, agent.server_id) : status;
}

/* In memory only: the keeper writes what changes by it. */
static as_status post_heartbeat(struct plane_call *call)
{
    struct agent agent;
    as_status status = agent_find(call, &agent);
    if (status != AS_OK)
        return status;
    json_open_object(&call->json);
    json_member_string(&call->json, "state", strcmp(agent.state, "silent") == 0 ? "online" : agent.state);
    json_member_int(&call->json, "protocol_version", AGENT_PROTOCOL);
    json_member_int(&call->json, "heartbeat_s", AGENT_HEARTBEAT_S);
    json_member_int(&call->json, "silent_s", AGENT_SILENT_S);
    json_close_object(&call->json);
    return AS_OK;
}

static const struct route ROUTES[] = {
    {.method = HTTP_POST,
     .kind = ROUTE_WRITE,
     .right = RIGHT_AGENT,
     .path = "/api/v1/agent/register",
     .id = "register_agent",
     .tag = "agent",
     .input = &REGISTER,
     .output = &resource_servers.shape,
     .handle = post_register,
     .summary = "An agent's first word: its server is there; makes the server when it is new"},
    {.method = HTTP_POST,
     .kind = ROUTE_READ,
     .right = RIGHT_AGENT,
     .path = "/api/v1/agent/heartbeat",
     .id = "send_agent_heartbeat",
     .tag = "agent",
     .input = &HEARTBEAT,
     .output = &HEARD,
     .handle = post_heartbeat,
     .summary = "Say that the agent is there"},
};

const struct route_list routes_agent = {ROUTES, sizeof ROUTES / sizeof ROUTES[0]};
