/* SPDX-License-Identifier: Apache-2.0 */
#include "brief/converter.h"
#include "brief/scalar.h"

#include <stdio.h>
#include <string.h>

/* Results of `vllm bench serve`; those of InferenceMAX have the same keys. */

static const struct {
    const char *native, *field, *units;
} LATENCIES[] = {{"ttft", "time_to_first_token", "ms"},
                 {"tpot", "time_per_output_token", "ms/token"},
                 {"itl", "inter_token_latency", "ms/token"},
                 {"e2el", "request_latency", "ms"}};

static struct value *latency_of(struct converter *converter, const char *name, const char *units)
{
    static const struct rename figures[] = {{"mean", "mean"},   {"std", "stddev"}, {"p0.1", "p0p1"}, {"p1", "p1"},
                                            {"p5", "p5"},       {"p10", "p10"},    {"p25", "p25"},   {"median", "p50"},
                                            {"p75", "p75"},     {"p90", "p90"},    {"p95", "p95"},   {"p99", "p99"},
                                            {"p99.9", "p99p9"}, {NULL, NULL}};
    struct value *statistics = value_map(converter->tree);
    value_put(statistics, "units", value_text(converter->tree, units));
    for (const struct rename *figure = figures; figure->from; figure++) {
        char key[40];
        (void)snprintf(key, sizeof key, "%s_%s_ms", figure->from, name);
        value_put(statistics, figure->to, taken(converter, value_get(converter->native, key)));
    }
    return statistics;
}

static void put_latencies(struct converter *converter, struct value *latency)
{
    for (size_t i = 0; i < sizeof LATENCIES / sizeof LATENCIES[0]; i++)
        value_put(latency, LATENCIES[i].field, latency_of(converter, LATENCIES[i].native, LATENCIES[i].units));
}

/* Tokens of a completed request; false when the file does not tell. */
static bool tokens_each(struct converter *converter, const char *total, double *ret)
{
    double tokens, completed;
    if (!value_number(value_get(converter->native, total), &tokens) ||
        !value_number(value_get(converter->native, "completed"), &completed))
        return false;
    *ret = tokens / (completed > 0 ? completed : 1);
    return true;
}

static void put_lengths(struct converter *converter, struct value *requests)
{
    double mean;
    if (tokens_each(converter, "total_input_tokens", &mean))
        value_put(requests, "input_length", statistics_mean_number(converter, mean, "count"));
    if (tokens_each(converter, "total_output_tokens", &mean))
        value_put(requests, "output_length", statistics_mean_number(converter, mean, "count"));
}

struct value *from_vllm_0_1(struct converter *converter)
{
    static const char *const args_names[] = {"num_prompts", "request_rate", "burstiness", "max_concurrency"};
    const struct value *native = converter->native;
    struct tree *tree = converter->tree;
    int64_t unix_s;
    struct value *report = start_0_1(converter, converter->request->generator, NULL),
                 *model = value_at(report, "scenario.model");
    value_remove(model, "name");
    value_put(model, "name", taken(converter, value_get(native, "model_id")));
    struct value *args = report_map(converter, report, "scenario.load.args");
    for (size_t i = 0; i < sizeof args_names / sizeof args_names[0]; i++)
        value_put(args, args_names[i], value_share(tree, value_get(native, args_names[i])));
    struct value *time = report_map(converter, report, "metrics.time");
    value_put(time, "duration", taken(converter, value_get(native, "duration")));
    if (local_date(converter, value_get(native, "date"), &unix_s))
        value_put(time, "start", value_float(tree, (double)unix_s));
    struct value *requests = report_map(converter, report, "metrics.requests");
    value_put(requests, "total", taken(converter, value_get(native, "completed")));
    put_lengths(converter, requests);
    put_latencies(converter, report_map(converter, report, "metrics.latency"));
    struct value *throughput = report_map(converter, report, "metrics.throughput");
    value_put(throughput, "output_tokens_per_sec", taken(converter, value_get(native, "output_throughput")));
    value_put(throughput, "total_tokens_per_sec", taken(converter, value_get(native, "total_token_throughput")));
    value_put(throughput, "requests_per_sec", taken(converter, value_get(native, "request_throughput")));
    return report;
}

/* The first argument whose name ends so, as an integer. */
static struct value *argument_ending(struct converter *converter, const struct value *args, const char *ending)
{
    size_t len = strlen(ending);
    for (const struct value *arg = args ? args->first : NULL; arg; arg = arg->next) {
        int64_t integer;
        if (arg->key_len < len || strcmp(arg->key + arg->key_len - len, ending) != 0)
            continue;
        if (value_is(arg, VALUE_TEXT) && scalar_int(arg->text, arg->len, &integer))
            return value_int(converter->tree, integer);
        return NULL;
    }
    return NULL;
}

static void put_load(struct converter *converter, struct value *report)
{
    const struct value *native = converter->native, *args = value_at(report, "scenario.load.native.args");
    struct tree *tree = converter->tree;
    struct value *standardized = report_map(converter, report, "scenario.load.standardized");
    const char *dataset = value_string(value_get(args, "dataset-name"));
    bool is_random = dataset && strcmp(dataset, "random") == 0,
         is_fixed = is_random || (dataset && strcmp(dataset, "sonnet") == 0);
    double mean;
    const struct value *concurrency = value_get(native, "max_concurrency");
    value_set(standardized, "tool", value_text(tree, converter->request->generator));
    value_set(standardized, "stage", value_int(tree, 0));
    value_put(standardized, "rate_qps", taken(converter, value_get(native, "request_rate")));
    if (value_is_true(concurrency))
        value_put(standardized, "concurrency", taken_count(converter, concurrency));
    value_put(standardized, "source", value_text(tree, is_random ? "random" : "sampled"));
    struct value *input = argument_ending(converter, args, "input-len");
    if (!input && tokens_each(converter, "total_input_tokens", &mean))
        input = value_float(tree, mean);
    value_put(standardized, "input_seq_len", length_of(converter, is_fixed ? "fixed" : "other", input));
    struct value *output = argument_ending(converter, args, "output-len");
    if (output && output->integer >= 1)
        value_put(standardized, "output_seq_len", length_of(converter, "fixed", output));
    put_load_metadata(converter, report, value_at(report, "scenario.load.native"));
}

static void put_results(struct converter *converter, struct value *report)
{
    const struct value *native = converter->native, *total = value_get(native, "num_prompts"),
                       *completed = value_get(native, "completed");
    struct value *requests = report_map(converter, report, "results.request_performance.aggregate.requests");
    value_put(requests, "total", taken(converter, total));
    if (value_is(total, VALUE_INT) && value_is(completed, VALUE_INT))
        value_put(requests, "failures", value_int(converter->tree, total->integer - completed->integer));
    put_lengths(converter, requests);
    put_latencies(converter, report_map(converter, report, "results.request_performance.aggregate.latency"));
    struct value *throughput = report_map(converter, report, "results.request_performance.aggregate.throughput");
    value_put(throughput, "output_token_rate",
              statistics_mean(converter, value_get(native, "output_throughput"), "tokens/s"));
    value_put(throughput, "total_token_rate",
              statistics_mean(converter, value_get(native, "total_token_throughput"), "tokens/s"));
    value_put(throughput, "request_rate",
              statistics_mean(converter, value_get(native, "request_throughput"), "queries/s"));
}

struct value *from_vllm_0_2(struct converter *converter)
{
    char text[TIME_TEXT_BYTES];
    int64_t unix_s;
    const struct value *native = converter->native, *duration = value_get(native, "duration");
    struct value *report = envelope(converter);
    if (!converter->model_name)
        converter->model_name = value_string(value_get(native, "model_id"));
    envelope_describe(converter, report);
    struct value *time = report_map(converter, report, "run.time");
    if (local_date(converter, value_get(native, "date"), &unix_s) && time_local(unix_s, text))
        value_set(time, "end", value_text(converter->tree, text));
    struct value *length =
        strcmp(converter->request->generator, "inferencemax") == 0 ? duration_text(converter, duration) : NULL;
    if (length)
        value_set(time, "duration", length);
    if (time && time->len == 0)
        value_remove(value_get(report, "run"), "time");
    put_load(converter, report);
    put_results(converter, report);
    return report;
}
