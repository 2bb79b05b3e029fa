/* SPDX-License-Identifier: Apache-2.0 */
#include "run/run.h"

#include "run/slo.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

static as_status no_memory(struct as_error *err)
{
    return error_set(err, AS_E_NOMEM, "out of memory");
}

static const char *config_json(struct run *run)
{
    struct strbuf text AS_AUTO_STRBUF;
    struct json_writer writer;
    strbuf_init(&text, 0);
    json_writer_init(&writer, &text, 0);
    json_open_object(&writer);
    options_echo(&run->parsed, &writer);
    json_member_string(&writer, "loop", run->shape.is_open_loop ? "open" : "closed");
    if (run->tool->tell && run->tool->tell(run, &writer, &run->facts.rules) != AS_OK)
        return NULL;
    json_close_object(&writer);
    return json_writer_status(&writer) == AS_OK ? arena_strdup(&run->arena, strbuf_text(&text)) : NULL;
}

static int64_t in_flight_target(const struct run_shape *shape)
{
    int64_t target = shape->is_open_loop ? shape->max_concurrency : shape->concurrency;
    return target ? target : -1;
}

static as_status fill_rules(const struct run *run, struct run_rules *rules, struct as_error *err)
{
    const struct run_config *config = &run->config;
    rules->is_open_loop = run->shape.is_open_loop;
    rules->planned_requests = run->plan.planned_requests;
    rules->concurrency = in_flight_target(&run->shape);
    rules->ramp_up_ns = config->load.ramp_up_ns;
    rules->request_timeout_ns = config->connection.request_timeout_ns;
    rules->percentile_method = config->result.percentile_method ? PERCENTILE_LINEAR : PERCENTILE_NEAREST_RANK;
    rules->lag_share = config->result.lag_share;
    rules->late_share = config->result.late_share;
    rules->delivered_share = config->result.delivered_share;
    rules->error_share = config->result.error_share;
    return slo_read(&config->result.goodput, &rules->slo, err);
}

as_status run_fill_facts(struct run *run, struct as_error *err)
{
    struct run_facts *facts = &run->facts;
    facts->tool = run->tool->name;
    facts->version = run->program.version;
    facts->commit = run->program.commit;
    facts->compiler = run->program.compiler;
    facts->run_id = run->identity.uuid;
    facts->human_id = run->identity.human;
    facts->timestamp = run->identity.timestamp;
    facts->scenario = run->config.result.scenario;
    facts->description = run->config.result.description;
    facts->keywords = run->config.result.keywords;
    facts->shard = run->shape.shard;
    facts->shard_count = run->shape.shard_count;
    facts->endpoints = run->targets.facts;
    facts->endpoint_count = run->targets.count;
    facts->config_json = config_json(run);
    if (!facts->config_json)
        return no_memory(err);
    return fill_rules(run, &facts->rules, err);
}
