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

static void put_prompts(const struct run *run, struct json_writer *writer)
{
    const struct source *source = &run->source;
    json_key(writer, "prompt_source");
    if (!source->has_prompts) {
        json_put_null(writer);
        return;
    }
    json_open_object(writer);
    json_member_int(writer, "count", (int64_t)source->prompts.count);
    json_member_string(writer, "sha256", source->prompts.digest);
    json_member_int(writer, "lines", source->prompts.lines);
    json_member_int(writer, "bad_lines", source->prompts.bad_lines);
    json_member_string(writer, "first_bad_line", source->prompts.bad_lines ? source->prompts.first_bad.message : NULL);
    json_member_int(writer, "with_expected_output_tokens", source->prompts.with_expected_tokens);
    if (run->shape.is_synthetic) {
        json_member_double(writer, "tokens_per_word", source->ratio.tokens_per_word);
        json_member_double(writer, "overhead_tokens", source->ratio.overhead_tokens);
        json_key(writer, "calibration");
        json_open_array(writer);
        for (size_t i = 0; i < source->probe_count; i++) {
            json_open_object(writer);
            json_member_int(writer, "words", source->probes[i].words);
            json_member_int(writer, "prompt_tokens", source->probes[i].prompt_tokens);
            json_close_object(writer);
        }
        json_close_array(writer);
    }
    json_close_object(writer);
}

/* The body with "{prompt}" for the prompt; null when there is no model yet. */
static void put_template(struct run *run, struct json_writer *writer)
{
    struct strbuf body AS_AUTO_STRBUF;
    struct llm_config config = source_llm_config(&run->config, &run->targets);
    strbuf_init(&body, 0);
    config.run_id = run->identity.uuid;
    json_key(writer, "body_template");
    if (config.model && source_body_template(&config, &body, NULL) == AS_OK)
        json_put_raw(writer, strbuf_text(&body), body.len);
    else
        json_put_null(writer);
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
    put_prompts(run, &writer);
    put_template(run, &writer);
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
    rules->is_streaming = config->request.streaming;
    rules->is_open_loop = run->shape.is_open_loop;
    rules->expects_full_length = config->request.ignore_eos || config->request.min_tokens != OPT_ABSENT;
    rules->has_unique_prompts = config->request.unique_prompts;
    rules->planned_requests = run->plan.planned_requests;
    rules->concurrency = in_flight_target(&run->shape);
    rules->ramp_up_ns = config->load.ramp_up_ns;
    rules->request_timeout_ns = config->connection.request_timeout_ns;
    rules->prompt_count = run->source.has_prompts ? (int64_t)run->source.prompts.count : -1;
    rules->percentile_method = config->result.percentile_method ? PERCENTILE_LINEAR : PERCENTILE_NEAREST_RANK;
    rules->lag_share = config->result.lag_share;
    rules->late_share = config->result.late_share;
    rules->delivered_share = config->result.delivered_share;
    return slo_read(&config->result.goodput, &rules->slo, err);
}

as_status run_fill_facts(struct run *run, struct as_error *err)
{
    struct run_facts *facts = &run->facts;
    facts->tool = "llm";
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
