/* SPDX-License-Identifier: Apache-2.0 */
#include "run/run.h"

#include "base/url.h"

#include <string.h>

#define DUE_SHOWN 10

static void put_plan(const struct run *run, struct json_writer *writer)
{
    const struct engine_plan *plan = &run->plan.engine;
    json_key(writer, "plan");
    json_open_object(writer);
    json_member_string(writer, "loop", run->shape.is_open_loop ? "open" : "closed");
    json_key(writer, "requests");
    if (plan->request_count == INT64_MAX)
        json_put_null(writer);
    else
        json_put_int(writer, plan->request_count);
    json_member_int(writer, "warmup_requests", plan->warmup_count);
    json_key(writer, "requests_of_this_shard");
    if (run->plan.planned_requests < 0)
        json_put_null(writer);
    else
        json_put_int(writer, run->plan.planned_requests);
    json_member_int(writer, "concurrency", plan->concurrency);
    json_member_int(writer, "max_concurrency", plan->max_concurrency);
    json_member_int(writer, "threads", run->shape.threads);
    json_key(writer, "first_due_ms");
    json_open_array(writer);
    for (int64_t i = 0; plan->due_ns && i < plan->request_count && i < DUE_SHOWN; i++)
        json_put_double(writer, (double)plan->due_ns[i] / (double)NS_PER_MS);
    json_close_array(writer);
    json_close_object(writer);
}

static void put_servers(const struct run *run, struct json_writer *writer)
{
    struct strbuf query AS_AUTO_STRBUF;
    strbuf_init(&query, 0);
    json_key(writer, "servers");
    json_open_array(writer);
    for (size_t i = 0; i < run->targets.count; i++) {
        json_open_object(writer);
        json_member_string(writer, "name", run->targets.facts[i].name);
        json_member_string(writer, "url", run->targets.facts[i].url);
        json_member_string(writer, "path", run->targets.nets[i].path_prefix);
        strbuf_reset(&query);
        url_add_query_shown(&query, run->targets.nets[i].query);
        json_member_string(writer, "query", query.len ? strbuf_text(&query) : NULL);
        json_member_int(writer, "weight", run->targets.facts[i].weight);
        json_close_object(writer);
    }
    json_close_array(writer);
}

/* A dry run asks no server: generated prompts take one token a word. */
as_status run_describe(struct run *run, struct strbuf *out, struct as_error *err)
{
    struct json_writer writer;
    as_status status = run_load(run, err);
    if (status == AS_OK)
        status = run_fill_facts(run, err);
    if (status != AS_OK)
        return status;
    const struct json_value *config = NULL;
    status = json_parse(run->facts.config_json, strlen(run->facts.config_json), NULL, &run->arena, &config, err);
    if (status != AS_OK)
        return status;
    json_writer_init(&writer, out, 2);
    json_open_object(&writer);
    json_member_string(&writer, "tool", run->tool->name);
    put_servers(run, &writer);
    put_plan(run, &writer);
    json_key(&writer, "config");
    json_put_value(&writer, config);
    json_close_object(&writer);
    strbuf_addc(out, '\n');
    status = json_writer_status(&writer);
    return status == AS_OK ? AS_OK : error_set(err, status, "the plan cannot be shown");
}
