/* SPDX-License-Identifier: Apache-2.0 */
#include "summary/run_file.h"

#include "base/file.h"
#include "base/json.h"
#include "base/json_write.h"
#include "summary/fields.h"

#include <limits.h>
#include <string.h>

#define RUN_FILE_MAX_BYTES ((size_t)16 * 1024 * 1024)

#define FACT(type, member)                                                                                             \
    {                                                                                                                  \
#member, FIELD_##type, offsetof(struct run_facts, member)                                                      \
    }
static const struct field fact_fields[] = {
    FACT(TEXT, tool),
    FACT(TEXT, version),
    FACT(TEXT, commit),
    FACT(TEXT, compiler),
    FACT(TEXT, run_id),
    FACT(TEXT, human_id),
    FACT(TEXT, timestamp),
    FACT(TEXT, scenario),
    FACT(TEXT, description),
    FACT(TEXT, keywords),
    FACT(INT64, shard),
    FACT(INT64, shard_count),
    FACT(BOOL, has_epoch),
    FACT(INT64, epoch_monotonic_ns),
    FACT(INT64, epoch_utc_ns),
    FACT(BOOL, has_result),
    FACT(INT64, journal_full_waits),
    FACT(INT64, records_left),
    FACT(INT64, records_lost),
};

#define RULE(type, member)                                                                                             \
    {                                                                                                                  \
#member, FIELD_##type, offsetof(struct run_rules, member)                                                      \
    }
static const struct field rule_fields[] = {
    RULE(BOOL, is_streaming),
    RULE(BOOL, is_open_loop),
    RULE(BOOL, expects_full_length),
    RULE(BOOL, has_unique_prompts),
    RULE(INT64, planned_requests),
    RULE(INT64, concurrency),
    RULE(DOUBLE, request_rate_per_s),
    RULE(INT64, ramp_up_ns),
    RULE(INT64, request_timeout_ns),
    RULE(INT64, prompt_count),
    RULE(DOUBLE, lag_share),
    RULE(DOUBLE, late_share),
    RULE(DOUBLE, delivered_share),
    RULE(DOUBLE, error_share),
    {"slo_ttft_ns", FIELD_INT64, offsetof(struct run_rules, slo.ttft_ns)},
    {"slo_tpot_ns", FIELD_INT64, offsetof(struct run_rules, slo.tpot_ns)},
    {"slo_e2e_ns", FIELD_INT64, offsetof(struct run_rules, slo.e2e_ns)},
    {"slo_itl_ns", FIELD_INT64, offsetof(struct run_rules, slo.itl_ns)},
};

#define ENDPOINT(type, member)                                                                                         \
    {                                                                                                                  \
#member, FIELD_##type, offsetof(struct run_endpoint, member)                                                   \
    }
static const struct field endpoint_fields[] = {ENDPOINT(TEXT, name), ENDPOINT(TEXT, url), ENDPOINT(INT64, weight)};

#define ENVIRONMENT(type, member)                                                                                      \
    {                                                                                                                  \
#member, FIELD_##type, offsetof(struct run_environment, member)                                                \
    }
static const struct field environment_fields[] = {
    ENVIRONMENT(TEXT, host),          ENVIRONMENT(TEXT, kernel),       ENVIRONMENT(TEXT, cpu_model),
    ENVIRONMENT(TEXT, governor),      ENVIRONMENT(TEXT, clock_source), ENVIRONMENT(INT64, cpu_count),
    ENVIRONMENT(INT64, memory_bytes), ENVIRONMENT(INT64, fd_limit),    ENVIRONMENT(INT64, port_low),
    ENVIRONMENT(INT64, port_high),
};

#define NTP(type, member)                                                                                              \
    {                                                                                                                  \
#member, FIELD_##type, offsetof(struct run_ntp, member)                                                        \
    }
static const struct field ntp_fields[] = {
    NTP(TEXT, outcome), NTP(TEXT, server), NTP(TEXT, message), NTP(INT64, offset_ns), NTP(INT64, round_trip_ns),
};

#define RESULT(type, member)                                                                                           \
    {                                                                                                                  \
#member, FIELD_##type, offsetof(struct engine_result, member)                                                  \
    }
#define RESULT_AS(type, name, member)                                                                                  \
    {                                                                                                                  \
        name, FIELD_##type, offsetof(struct engine_result, member)                                                     \
    }
static const struct field result_fields[] = {
    RESULT_AS(INT64, "epoch_ns", epoch.ns),
    RESULT_AS(INT64, "wall_offset_ns", epoch_offset.offset_ns),
    RESULT_AS(INT64, "wall_offset_error_ns", epoch_offset.error_ns),
    RESULT_AS(INT64, "wall_offset_measured_ns", epoch_offset.measured_at.ns),
    RESULT(INT64, measured_start_ns),
    RESULT(INT64, ended_ns),
    RESULT(INT64, planned),
    RESULT(INT64, skipped),
    RESULT(INT64, late_unsent),
    RESULT(INT64, late_unsent_wait_ns),
    RESULT(BOOL, stopped_by_signal),
    RESULT(BOOL, drain_expired),
    RESULT(INT64, cpu_ns),
    RESULT(INT64, late_sends),
    RESULT(INT64, clock_step_ns),
    RESULT(INT64, lag_p50_ns),
    RESULT(INT64, lag_p99_ns),
    RESULT(INT64, lag_max_ns),
    RESULT(INT64, lag_reads),
    RESULT(INT64, ejections),
    RESULT_AS(UINT64, "connects", net.connects),
    RESULT_AS(UINT64, "connect_failures", net.connect_failures),
    RESULT_AS(UINT64, "reconnects", net.reconnects),
    RESULT_AS(UINT64, "requests", net.requests),
    RESULT_AS(UINT64, "reads", net.reads),
    RESULT_AS(UINT64, "stamped_reads", net.stamped_reads),
    RESULT_AS(UINT64, "unclean_closes", net.unclean_closes),
    RESULT_AS(UINT32, "open_peak", net.open_peak),
    RESULT_AS(UINT64, "wakeups", net.wakeups),
    RESULT_AS(INT64, "max_loop_lag_ns", net.max_loop_lag_ns),
};

static void write_object(struct json_writer *writer, const char *key, const void *base, struct field_table table)
{
    json_key(writer, key);
    json_open_object(writer);
    fields_write(writer, base, table);
    json_close_object(writer);
}

static as_status write_config(struct json_writer *writer, const char *config_json)
{
    json_key(writer, "config");
    if (!config_json) {
        json_put_null(writer);
        return AS_OK;
    }
    struct arena arena;
    arena_init(&arena, 0, 0);
    const struct json_value *config;
    as_status status = json_parse(config_json, strlen(config_json), NULL, &arena, &config, NULL);
    if (status == AS_OK)
        json_put_value(writer, config);
    arena_done(&arena);
    return status;
}

as_status run_facts_format(const struct run_facts *facts, struct strbuf *ret)
{
    struct json_writer writer;
    json_writer_init(&writer, ret, 2);
    json_open_object(&writer);
    json_member_string(&writer, "schema", RUN_FILE_SCHEMA);
    fields_write(&writer, facts, FIELD_TABLE(fact_fields));
    as_status status = write_config(&writer, facts->config_json);
    if (status != AS_OK)
        return status;
    json_key(&writer, "rules");
    json_open_object(&writer);
    fields_write(&writer, &facts->rules, FIELD_TABLE(rule_fields));
    json_member_string(&writer, "percentile_method", percentile_method_name(facts->rules.percentile_method));
    json_close_object(&writer);
    json_key(&writer, "endpoints");
    json_open_array(&writer);
    for (size_t i = 0; i < facts->endpoint_count; i++) {
        json_open_object(&writer);
        fields_write(&writer, &facts->endpoints[i], FIELD_TABLE(endpoint_fields));
        json_close_object(&writer);
    }
    json_close_array(&writer);
    write_object(&writer, "environment", &facts->environment, FIELD_TABLE(environment_fields));
    write_object(&writer, "ntp", &facts->ntp, FIELD_TABLE(ntp_fields));
    if (facts->has_result)
        write_object(&writer, "result", &facts->result, FIELD_TABLE(result_fields));
    json_close_object(&writer);
    strbuf_addc(ret, '\n');
    return strbuf_status(ret) != AS_OK ? strbuf_status(ret) : json_writer_status(&writer);
}

static as_status read_endpoints(const struct json_value *list, struct arena *arena, struct run_facts *facts,
                                struct as_error *err)
{
    if (!list || json_is_null(list))
        return AS_OK;
    if (list->type != JSON_ARRAY)
        return error_set(err, AS_E_INVALID, "member \"endpoints\" is not a list");
    struct run_endpoint *endpoints = arena_calloc(arena, list->len + 1, sizeof *endpoints);
    if (!endpoints)
        return error_set(err, AS_E_NOMEM, "out of memory");
    size_t count = 0;
    for (const struct json_value *item = list->first; item; item = item->next) {
        as_status status = fields_read(item, &endpoints[count++], FIELD_TABLE(endpoint_fields), arena, err);
        if (status != AS_OK)
            return status;
    }
    facts->endpoints = endpoints;
    facts->endpoint_count = count;
    return AS_OK;
}

static as_status read_rules(const struct json_value *rules, struct arena *arena, struct run_facts *facts,
                            struct as_error *err)
{
    as_status status = fields_read(rules, &facts->rules, FIELD_TABLE(rule_fields), arena, err);
    const char *method;
    if (status != AS_OK || !json_string(json_get(rules, "percentile_method"), &method))
        return status;
    if (percentile_method_parse(method, &facts->rules.percentile_method))
        return AS_OK;
    return error_set(err, AS_E_INVALID, "percentile_method \"%.40s\" is none of nearest_rank, linear", method);
}

/* The member as text of its own. */
static as_status read_config(const struct json_value *config, struct arena *arena, struct run_facts *facts,
                             struct as_error *err)
{
    if (!config || json_is_null(config))
        return AS_OK;
    AS_AUTO_STRBUF struct strbuf text;
    strbuf_init(&text, 0);
    struct json_writer writer;
    json_writer_init(&writer, &text, 0);
    json_put_value(&writer, config);
    as_status status = json_writer_status(&writer);
    if (status == AS_OK && !(facts->config_json = arena_strndup(arena, strbuf_text(&text), text.len)))
        status = AS_E_NOMEM;
    return status == AS_OK ? AS_OK : error_set(err, status, "out of memory");
}

static as_status read_facts(const struct json_value *root, struct arena *arena, struct run_facts *facts,
                            struct as_error *err)
{
    const char *schema;
    if (!json_string(json_get(root, "schema"), &schema) || strcmp(schema, RUN_FILE_SCHEMA) != 0)
        return error_set(err, AS_E_INVALID, "member \"schema\" is not \"" RUN_FILE_SCHEMA "\"");
    as_status status = fields_read(root, facts, FIELD_TABLE(fact_fields), arena, err);
    if (status == AS_OK)
        status = read_config(json_get(root, "config"), arena, facts, err);
    if (status == AS_OK)
        status = read_rules(json_get(root, "rules"), arena, facts, err);
    if (status == AS_OK)
        status = read_endpoints(json_get(root, "endpoints"), arena, facts, err);
    if (status == AS_OK)
        status = fields_read(json_get(root, "environment"), &facts->environment, FIELD_TABLE(environment_fields), arena,
                             err);
    if (status == AS_OK)
        status = fields_read(json_get(root, "ntp"), &facts->ntp, FIELD_TABLE(ntp_fields), arena, err);
    const struct json_value *result = json_get(root, "result");
    facts->has_result = facts->has_result && result && result->type == JSON_OBJECT;
    if (status == AS_OK)
        status = fields_read(result, &facts->result, FIELD_TABLE(result_fields), arena, err);
    return status;
}

as_status run_facts_parse(const char *text, size_t len, struct arena *arena, struct run_facts *ret,
                          struct as_error *err)
{
    const struct json_value *root;
    as_status status = json_parse(text, len, NULL, arena, &root, err);
    if (status != AS_OK)
        return status;
    struct run_facts facts;
    run_facts_init(&facts);
    status = read_facts(root, arena, &facts, err);
    if (status == AS_OK)
        *ret = facts;
    return status;
}

as_status run_file_write(const char *folder, const struct run_facts *facts, struct as_error *err)
{
    char path[PATH_MAX];
    if (!path_join(path, sizeof path, folder, RUN_FILE_NAME))
        return error_set(err, AS_E_LIMIT, "the path of %s is too long", folder);
    AS_AUTO_STRBUF struct strbuf text;
    strbuf_init(&text, RUN_FILE_MAX_BYTES);
    as_status status = run_facts_format(facts, &text);
    if (status != AS_OK)
        return error_set(err, status, "the facts of the run cannot be written to %s", path);
    return file_write_atomic(path, strbuf_text(&text), text.len, err);
}

as_status run_file_read(const char *folder, struct arena *arena, struct run_facts *ret, struct as_error *err)
{
    char path[PATH_MAX];
    if (!path_join(path, sizeof path, folder, RUN_FILE_NAME))
        return error_set(err, AS_E_LIMIT, "the path of %s is too long", folder);
    AS_AUTO_STRBUF struct strbuf text;
    strbuf_init(&text, RUN_FILE_MAX_BYTES);
    as_status status = file_read(path, &text, err);
    if (status != AS_OK)
        return status;
    status = run_facts_parse(strbuf_text(&text), text.len, arena, ret, err);
    if (status != AS_OK)
        (void)error_prefix(err, "%s", path);
    return status;
}
