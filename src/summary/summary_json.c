/* SPDX-License-Identifier: Apache-2.0 */
#include "summary/summary_json.h"

#include "base/json_write.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#define NS_IN_MS   1e6
#define NS_IN_US   1e3
#define PPM_IN_ONE 1e6

/* A count or ns value of which −1 is unknown. */
static void member_count(struct json_writer *w, const char *key, int64_t value)
{
    if (value < 0)
        json_member_null(w, key);
    else
        json_member_int(w, key, value);
}

static void member_ms(struct json_writer *w, const char *key, int64_t value_ns)
{
    if (value_ns < 0)
        json_member_null(w, key);
    else
        json_member_double(w, key, (double)value_ns / NS_IN_MS);
}

static void open_member(struct json_writer *w, const char *key)
{
    json_key(w, key);
    json_open_object(w);
}

static void write_intervals(struct json_writer *w, const struct distribution *d, double scale)
{
    bool is_open = false;
    for (int i = 0; i < DISTRIBUTION_PERCENTILES; i++) {
        if (isnan(d->ci95_low[i]))
            continue;
        if (!is_open)
            open_member(w, "ci95");
        is_open = true;
        json_key(w, distribution_percentile_name((enum distribution_percentile)i));
        json_open_array(w);
        json_put_double(w, d->ci95_low[i] / scale);
        json_put_double(w, d->ci95_high[i] / scale);
        json_close_array(w);
    }
    if (is_open)
        json_close_object(w);
}

/* Which percentiles are just the largest value. */
static void write_thin(struct json_writer *w, const struct distribution *d)
{
    bool is_open = false;
    for (int i = 0; i < DISTRIBUTION_PERCENTILES && d->n > 0; i++) {
        if (isnan(d->percentile[i]) || !distribution_is_thin(d, (enum distribution_percentile)i))
            continue;
        if (!is_open) {
            json_key(w, "few_samples");
            json_open_array(w);
        }
        is_open = true;
        json_put_string(w, distribution_percentile_name((enum distribution_percentile)i));
    }
    if (is_open)
        json_close_array(w);
}

void summary_write_distribution(struct json_writer *w, const char *key, const struct distribution *d, double scale)
{
    open_member(w, key);
    json_member_int(w, "n", d->n);
    json_member_double(w, "min", d->min / scale);
    json_member_double(w, "max", d->max / scale);
    json_member_double(w, "mean", d->mean / scale);
    json_member_double(w, "std", d->std / scale);
    for (int i = 0; i < DISTRIBUTION_PERCENTILES; i++)
        json_member_double(w, distribution_percentile_name((enum distribution_percentile)i), d->percentile[i] / scale);
    json_member_string(w, "percentile_method", percentile_method_name(d->method));
    write_intervals(w, d, scale);
    write_thin(w, d);
    json_close_object(w);
}

static void write_latency(struct json_writer *w, const struct summary_block *block)
{
    open_member(w, "latency");
    for (int i = 0; i < LATENCY_COUNT; i++)
        summary_write_distribution(w, latency_member((enum latency_metric)i), &block->latency[i], NS_IN_MS);
    json_close_object(w);
}

static void write_amount(struct json_writer *w, const char *key, const struct amount *amount, bool has_percentiles)
{
    open_member(w, key);
    json_member_int(w, "n", amount->n);
    member_count(w, "total", amount->total);
    json_member_double(w, "min", amount->min);
    json_member_double(w, "max", amount->max);
    json_member_double(w, "mean", amount->mean);
    if (has_percentiles) {
        json_member_double(w, "p50", amount->p50);
        json_member_double(w, "p95", amount->p95);
    }
    json_member_double(w, "per_second", amount->per_second);
    json_close_object(w);
}

static void write_tokens(struct json_writer *w, const struct summary_block *block)
{
    open_member(w, "tokens");
    for (int i = 0; i < TOKENS_COUNT; i++)
        write_amount(w, token_kind_name((enum token_kind)i), &block->tokens[i], true);
    json_member_int(w, "usage_missing", block->usage_missing);
    member_count(w, "prompt_cached", block->cached_tokens);
    json_close_object(w);
    open_member(w, "words");
    write_amount(w, "prompt", &block->words[WORDS_PROMPT], false);
    write_amount(w, "completion", &block->words[WORDS_COMPLETION], false);
    json_close_object(w);
}

static void write_rates(struct json_writer *w, const struct rates *rates)
{
    json_member_double(w, "requests_per_second", rates->requests_per_second);
    json_member_double(w, "prompt_tokens_per_second", rates->prompt_tokens_per_second);
    json_member_double(w, "completion_tokens_per_second", rates->completion_tokens_per_second);
    json_member_double(w, "total_tokens_per_second", rates->total_tokens_per_second);
}

static void write_throughput(struct json_writer *w, const struct summary_block *block)
{
    open_member(w, "throughput");
    write_rates(w, &block->window_rates);
    open_member(w, "spec");
    write_rates(w, &block->spec_rates);
    json_close_object(w);
    json_close_object(w);
}

static void write_goodput(struct json_writer *w, const struct summary_block *block, const struct run_rules *rules)
{
    const struct goodput *goodput = &block->goodput;
    if (!goodput->has_slo) {
        json_member_null(w, "goodput");
        return;
    }
    open_member(w, "goodput");
    open_member(w, "slo");
    member_ms(w, "ttft_ms", rules->slo.ttft_ns);
    member_ms(w, "tpot_ms", rules->slo.tpot_ns);
    member_ms(w, "e2e_ms", rules->slo.e2e_ns);
    member_ms(w, "itl_ms", rules->slo.itl_ns);
    json_close_object(w);
    json_member_string(w, "from", rules->is_open_loop ? "due" : "sent");
    json_member_int(w, "good", goodput->good);
    json_member_int(w, "undecided", goodput->undecided);
    json_member_double(w, "requests_per_second", goodput->requests_per_second);
    json_member_double(w, "ratio", goodput->ratio);
    json_close_object(w);
}

/* Image generation has a list of its own (the spec's seven); where a type of the other list occurred it is shown all the same. */
static bool is_listed(const char *tool, enum error_type type)
{
    if (tool && strcmp(tool, "imagegen") == 0)
        return type >= ERROR_TYPE_IMG_HTTP || type == ERROR_TYPE_TIMEOUT;
    return type < ERROR_TYPE_IMG_HTTP;
}

static void write_by_type(struct json_writer *w, const char *tool, const struct error_figures *errors)
{
    open_member(w, "by_type");
    for (int type = ERROR_TYPE_NONE + 1; type < ERROR_TYPE_COUNT; type++)
        if (is_listed(tool, (enum error_type)type) || errors->by_type[type] > 0)
            json_member_int(w, error_type_name((enum error_type)type), errors->by_type[type]);
    if (errors->by_type[ERROR_TYPE_NONE] > 0)
        json_member_int(w, "unclassified", errors->by_type[ERROR_TYPE_NONE]);
    json_close_object(w);
    open_member(w, "by_status");
    for (size_t i = 0; i < errors->status_count; i++) {
        char key[16];
        (void)snprintf(key, sizeof key, "%d", (int)errors->by_status[i].http_status);
        json_member_int(w, key, errors->by_status[i].count);
    }
    json_close_object(w);
}

static void write_examples(struct json_writer *w, const struct error_figures *errors)
{
    json_key(w, "examples");
    json_open_array(w);
    for (size_t i = 0; i < errors->example_count; i++) {
        const struct error_example *example = &errors->examples[i];
        json_open_object(w);
        json_member_int(w, "seq", example->seq);
        json_member_string(w, "type", error_type_name(example->type));
        member_count(w, "status", example->http_status);
        json_member_int(w, "endpoint", example->endpoint);
        json_member_string(w, "message", example->message);
        json_close_object(w);
    }
    json_close_array(w);
}

static void write_errors(struct json_writer *w, const char *tool, const struct summary_block *block)
{
    const struct error_figures *errors = &block->errors;
    open_member(w, "errors");
    json_member_int(w, "count", errors->count);
    json_member_double(w, "rate", errors->rate);
    json_member_double(w, "rate_percent", errors->rate * 100);
    json_member_double(w, "attempt_rate", errors->attempt_rate);
    write_by_type(w, tool, errors);
    json_member_bool(w, "oom_detected", errors->oom_detected);
    json_member_string(w, "oom_message", errors->oom_message);
    write_examples(w, errors);
    json_close_object(w);
}

static void write_request_counts(struct json_writer *w, const struct request_counts *counts)
{
    json_member_int(w, "sent", counts->sent);
    json_member_int(w, "refused", counts->refused);
    json_member_int(w, "ok", counts->ok);
    json_member_int(w, "failed", counts->failed);
    json_member_int(w, "timed_out", counts->timed_out);
    json_member_int(w, "cancelled", counts->cancelled);
    json_member_int(w, "attempts", counts->attempts);
}

static void write_first(struct json_writer *w, const struct first_request *first)
{
    if (first->seq < 0) {
        json_member_null(w, "first_request");
        return;
    }
    open_member(w, "first_request");
    json_member_int(w, "seq", first->seq);
    member_ms(w, "response_time_ms", first->response_time_ns);
    member_ms(w, "ttft_ms", first->ttft_ns);
    member_ms(w, "dns_ms", first->dns_ns);
    member_ms(w, "connect_ms", first->connect_ns);
    member_ms(w, "tls_ms", first->tls_ns);
    json_close_object(w);
}

static void write_flags(struct json_writer *w, const struct summary_block *block)
{
    open_member(w, "flags");
#define WRITE_FLAG(bit, name, text, meaning) json_member_int(w, text, block->flags[bit]);
    RECORD_FLAG_MAP(WRITE_FLAG)
#undef WRITE_FLAG
    json_close_object(w);
}

static void write_answers(struct json_writer *w, const struct summary_block *block)
{
    open_member(w, "chunks");
    json_member_int(w, "content_chunks", block->chunks.content_chunks);
    json_member_double(w, "tokens_per_chunk", block->chunks.tokens_per_chunk);
    json_member_int(w, "censored_chunks", block->chunks.censored_chunks);
    json_member_double(w, "censored_ratio", block->chunks.censored_ratio);
    json_member_int(w, "damaged_events", block->damaged_events);
    json_close_object(w);
    const struct length_figures *lengths = &block->lengths;
    open_member(w, "output_length");
    json_member_int(w, "n", lengths->n);
    json_member_int(w, "requested_tokens", lengths->requested_tokens);
    json_member_int(w, "completion_tokens", lengths->completion_tokens);
    json_member_int(w, "shorter", lengths->shorter);
    json_member_int(w, "longer", lengths->longer);
    json_member_int(w, "zero_tokens", block->zero_token_successes);
    summary_write_distribution(w, "ratio", &lengths->ratio_ppm, PPM_IN_ONE);
    json_close_object(w);
    open_member(w, "bytes");
    json_member_int(w, "sent", block->bytes_sent);
    json_member_int(w, "received", block->bytes_received);
    json_close_object(w);
    write_flags(w, block);
    write_first(w, &block->first);
}

/* The blocks that all requests and each endpoint have alike; counts are written before. */
static void write_block(struct json_writer *w, const struct summary_block *block, const struct run_facts *facts)
{
    write_latency(w, block);
    write_tokens(w, block);
    write_throughput(w, block);
    write_goodput(w, block, &facts->rules);
    write_errors(w, facts->tool, block);
    write_answers(w, block);
    if (!block->own)
        return;
    json_key(w, facts->tool);
    json_put_value(w, block->own);
}

static void write_identity(struct json_writer *w, const struct summary *s)
{
    const struct run_facts *facts = s->facts;
    char text[64];
    const char *tool = facts->tool ? facts->tool : "llm";
    (void)snprintf(text, sizeof text, "metrumbench-%.20s.summary.v1", tool);
    json_member_string(w, "schema", text);
    (void)snprintf(text, sizeof text, "metrumbench-%.20s", tool);
    json_member_string(w, "tool", text);
    json_member_string(w, "version", facts->version);
    json_member_string(w, "commit", facts->commit);
    json_member_string(w, "compiler", facts->compiler);
    json_member_string(w, "unique_id", facts->run_id);
    json_member_string(w, "human_readable_id", facts->human_id);
    json_member_string(w, "timestamp", facts->timestamp);
    json_member_string(w, "scenario", facts->scenario);
    json_member_string(w, "run_description", facts->description);
    json_member_string(w, "run_keywords", facts->keywords);
    json_member_bool(w, "partial", s->is_partial);
    json_member_int(w, "shards", s->shards);
    json_key(w, "config");
    if (s->config)
        json_put_value(w, s->config);
    else
        json_put_null(w);
}

static void write_window(struct json_writer *w, const struct summary_window *window)
{
    open_member(w, "window");
    if (window->has_epoch) {
        char text[WALL_TEXT_BYTES];
        wall_format((struct wall){window->epoch_utc_ns}, text);
        json_member_int(w, "epoch_monotonic_ns", window->epoch_monotonic_ns);
        json_member_string(w, "epoch_utc", text);
    } else {
        json_member_null(w, "epoch_monotonic_ns");
        json_member_null(w, "epoch_utc");
    }
    member_ms(w, "start_ms", window->start_ns);
    member_ms(w, "duration_ms", window->duration_ns);
    member_ms(w, "elapsed_ms", window->elapsed_ns);
    json_close_object(w);
}

static void write_counts(struct json_writer *w, const struct summary *s)
{
    const struct plan_counts *counts = &s->counts;
    open_member(w, "counts");
    member_count(w, "planned", counts->planned);
    write_request_counts(w, &counts->all);
    member_count(w, "skipped", counts->skipped);
    member_count(w, "late_unsent", counts->late_unsent);
    member_ms(w, "late_unsent_wait_ms", counts->late_unsent_wait_ns);
    json_member_int(w, "lost", counts->lost);
    json_member_int(w, "duplicates", counts->duplicates);
    json_member_int(w, "warmup", counts->warmup);
    json_member_int(w, "ramp_up", counts->ramp_up);
    json_member_int(w, "boundary", counts->boundary);
    open_member(w, "measured");
    write_request_counts(w, &s->total.counts);
    json_close_object(w);
    json_close_object(w);
}

static void write_endpoints(struct json_writer *w, const struct summary *s)
{
    const struct run_facts *facts = s->facts;
    json_key(w, "endpoints");
    json_open_array(w);
    for (size_t i = 0; i < s->endpoint_count; i++) {
        bool is_named = i < facts->endpoint_count;
        json_open_object(w);
        json_member_string(w, "name", is_named ? facts->endpoints[i].name : NULL);
        json_member_string(w, "url", is_named ? facts->endpoints[i].url : NULL);
        member_count(w, "weight", is_named ? facts->endpoints[i].weight : -1);
        open_member(w, "counts");
        write_request_counts(w, &s->endpoints[i].counts);
        json_close_object(w);
        write_block(w, &s->endpoints[i], facts);
        json_close_object(w);
    }
    json_close_array(w);
}

static void write_steady_figures(struct json_writer *w, const struct steady_figures *steady)
{
    if (!steady->is_found) {
        json_member_null(w, "ok");
        json_member_null(w, "throughput");
        json_member_null(w, "latency");
        return;
    }
    json_member_int(w, "ok", steady->ok);
    open_member(w, "throughput");
    write_rates(w, &steady->rates);
    json_close_object(w);
    open_member(w, "latency");
    summary_write_distribution(w, "response_time_ms", &steady->response_time, NS_IN_MS);
    summary_write_distribution(w, "ttft_ms", &steady->ttft, NS_IN_MS);
    summary_write_distribution(w, "tpot_ms", &steady->tpot, NS_IN_MS);
    json_close_object(w);
}

static void write_steady(struct json_writer *w, const struct steady_figures *steady)
{
    open_member(w, "steady_state");
    json_member_bool(w, "found", steady->is_found);
    json_member_int(w, "target_in_flight", steady->target);
    member_ms(w, "start_ms", steady->is_found ? steady->start_ns : -1);
    member_ms(w, "duration_ms", steady->is_found ? steady->duration_ns : -1);
    json_member_double(w, "window_share", steady->share);
    json_key(w, "stationary");
    if (steady->has_verdict)
        json_put_bool(w, steady->is_stationary);
    else
        json_put_null(w);
    json_member_double(w, "response_time_drift", steady->response_time_drift);
    json_member_double(w, "ttft_drift", steady->ttft_drift);
    write_steady_figures(w, steady);
    json_close_object(w);
}

static void member_us(struct json_writer *w, const char *key, int64_t value_ns)
{
    if (value_ns < 0)
        json_member_null(w, key);
    else
        json_member_double(w, key, (double)value_ns / NS_IN_US);
}

static void write_client_timing(struct json_writer *w, const struct client_figures *client)
{
    json_member_double(w, "cpu_ratio", client->cpu_ratio);
    json_member_double(w, "cpu_s", client->cpu_s);
    summary_write_distribution(w, "client_lag_us", &client->lag, NS_IN_US);
    open_member(w, "read_lag_us");
    member_count(w, "n", client->reads);
    member_us(w, "p50", client->read_lag_p50_ns);
    member_us(w, "p99", client->read_lag_p99_ns);
    member_us(w, "max", client->read_lag_max_ns);
    json_close_object(w);
    open_member(w, "error_budget");
    json_member_double(w, "ttft_ratio", client->budget_ttft);
    json_member_double(w, "itl_ratio", client->budget_itl);
    json_member_double(w, "response_time_ratio", client->budget_response_time);
    json_close_object(w);
    member_ms(w, "max_loop_lag_ms", client->max_loop_lag_ns);
    open_member(w, "stamps");
    for (int i = RECORD_STAMP_NONE + 1; i < RECORD_STAMP_COUNT; i++)
        json_member_int(w, record_stamp_name((enum record_stamp)i), client->stamps[i]);
    json_close_object(w);
    member_ms(w, "clock_step_ms", client->clock_step_ns);
}

static void write_client(struct json_writer *w, const struct client_figures *client)
{
    open_member(w, "client");
    write_client_timing(w, client);
    json_member_int(w, "late_sends", client->late_sends);
    json_member_double(w, "late_send_ratio", client->late_send_ratio);
    json_member_double(w, "send_rate_ratio", client->send_rate_ratio);
    json_member_int(w, "peak_in_flight", client->peak_in_flight);
    json_member_double(w, "mean_in_flight", client->mean_in_flight);
    json_member_int(w, "local_limit_failures", client->local_limit_failures);
    member_count(w, "connections_opened", client->connects);
    member_count(w, "connect_failures", client->connect_failures);
    member_count(w, "connections_peak", client->open_peak);
    member_count(w, "reconnects", client->reconnects);
    member_count(w, "unclean_closes", client->unclean_closes);
    member_count(w, "ejections", client->ejections);
    member_count(w, "journal_full_waits", client->journal_full_waits);
    json_close_object(w);
}

static void write_prompts(struct json_writer *w, const struct summary *s)
{
    open_member(w, "prompts");
    member_count(w, "available", s->facts->rules.prompt_count);
    member_count(w, "distinct", s->prompts.distinct);
    member_count(w, "max_reuse", s->prompts.max_reuse);
    member_count(w, "repeated", s->prompts.repeated);
    json_member_bool(w, "made_unique", s->facts->rules.has_unique_prompts);
    json_close_object(w);
}

static void write_validity(struct json_writer *w, const struct validity *validity)
{
    open_member(w, "validity");
    json_member_bool(w, "valid", validity->is_valid);
    json_key(w, "reasons");
    json_open_array(w);
    for (size_t i = 0; i < validity->count; i++) {
        const struct validity_reason *reason = &validity->reasons[i];
        json_open_object(w);
        json_member_string(w, "severity", reason->severity == SEVERITY_INVALID ? "invalid" : "warning");
        json_member_string(w, "code", reason->code);
        json_member_string(w, "message", reason->message);
        json_member_double(w, "value", reason->value);
        json_member_double(w, "limit", reason->limit);
        json_close_object(w);
    }
    json_close_array(w);
    json_close_object(w);
}

static void write_surroundings(struct json_writer *w, const struct run_facts *facts)
{
    const struct run_environment *environment = &facts->environment;
    open_member(w, "environment");
    json_member_string(w, "host", environment->host);
    json_member_string(w, "kernel", environment->kernel);
    json_member_string(w, "cpu_model", environment->cpu_model);
    member_count(w, "cpu_count", environment->cpu_count);
    json_member_string(w, "cpu_governor", environment->governor);
    json_member_string(w, "clock_source", environment->clock_source);
    member_count(w, "memory_bytes", environment->memory_bytes);
    member_count(w, "fd_limit", environment->fd_limit);
    member_count(w, "port_low", environment->port_low);
    member_count(w, "port_high", environment->port_high);
    json_close_object(w);
    const struct run_ntp *ntp = &facts->ntp;
    bool is_measured = ntp->outcome && strcmp(ntp->outcome, "ok") == 0;
    open_member(w, "ntp");
    json_member_string(w, "outcome", ntp->outcome);
    json_member_string(w, "server", ntp->server);
    json_member_double(w, "offset_ms", is_measured ? (double)ntp->offset_ns / NS_IN_MS : (double)NAN);
    json_member_double(w, "round_trip_ms", is_measured ? (double)ntp->round_trip_ns / NS_IN_MS : (double)NAN);
    json_member_string(w, "message", ntp->message);
    json_close_object(w);
}

as_status summary_write_json(const struct summary *summary, int indent, struct strbuf *ret)
{
    struct json_writer writer;
    json_writer_init(&writer, ret, indent);
    json_open_object(&writer);
    write_identity(&writer, summary);
    write_window(&writer, &summary->window);
    write_counts(&writer, summary);
    write_block(&writer, &summary->total, summary->facts);
    write_endpoints(&writer, summary);
    write_steady(&writer, &summary->steady);
    write_client(&writer, &summary->client);
    write_prompts(&writer, summary);
    write_validity(&writer, &summary->validity);
    write_surroundings(&writer, summary->facts);
    json_close_object(&writer);
    if (indent > 0)
        strbuf_addc(ret, '\n');
    return strbuf_status(ret) != AS_OK ? strbuf_status(ret) : json_writer_status(&writer);
}
