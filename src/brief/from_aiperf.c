/* SPDX-License-Identifier: Apache-2.0 */
#include "brief/converter.h"

#include <stdio.h>

/* profile_export_aiperf.json. */

static const struct rename FIGURES[] = {{"avg", "mean"}, {"min", "min"}, {"p1", "p1"},   {"p5", "p5"},   {"p10", "p10"},
                                        {"p25", "p25"},  {"p50", "p50"}, {"p75", "p75"}, {"p90", "p90"}, {"p95", "p95"},
                                        {"p99", "p99"},  {"max", "max"}, {NULL, NULL}};
static const struct {
    const char *native, *field, *units;
} LATENCIES[] = {{"time_to_first_token", "time_to_first_token", "s"},
                 {"inter_token_latency", "inter_token_latency", "s/token"},
                 {"request_latency", "request_latency", "s"}};

/* Milliseconds as seconds. */
static struct value *seconds_of(struct converter *converter, const char *name, const char *units)
{
    struct value *statistics = statistics_from(converter, value_get(converter->native, name), FIGURES, units);
    double ms;
    for (struct value *figure = statistics ? statistics->first : NULL; figure; figure = figure->next) {
        if (!value_number(figure, &ms))
            continue;
        figure->type = VALUE_FLOAT;
        figure->number = ms * 0.001;
    }
    return statistics;
}

static void put_results(struct converter *converter, struct value *requests, struct value *latency)
{
    const struct value *native = converter->native, *errors = value_get(native, "error_summary");
    struct tree *tree = converter->tree;
    int64_t failures = 0, total;
    double completed;
    bool is_countable = true;
    for (const struct value *error = value_is(errors, VALUE_LIST) ? errors->first : NULL; error; error = error->next)
        if (value_is(value_get(error, "count"), VALUE_INT))
            is_countable =
                is_countable && !__builtin_add_overflow(failures, value_get(error, "count")->integer, &failures);
    if (is_countable && value_number(value_at(native, "request_count.avg"), &completed) && completed >= 0 &&
        completed < 9e15 && !__builtin_add_overflow(failures, (int64_t)completed, &total))
        value_put(requests, "total", value_int(tree, total));
    if (is_countable)
        value_put(requests, "failures", value_int(tree, failures));
    value_put(requests, "input_length",
              statistics_from(converter, value_get(native, "input_sequence_length"), FIGURES, "count"));
    value_put(requests, "output_length",
              statistics_from(converter, value_get(native, "output_sequence_length"), FIGURES, "count"));
    for (size_t i = 0; i < sizeof LATENCIES / sizeof LATENCIES[0]; i++)
        value_put(latency, LATENCIES[i].field, seconds_of(converter, LATENCIES[i].native, LATENCIES[i].units));
}

static const struct value *model_of(const struct converter *converter)
{
    const struct value *model = value_at(converter->native, "input_config.endpoint.model_names.0");
    return value_string(model) ? model : NULL;
}

struct value *from_aiperf_0_1(struct converter *converter)
{
    static const char *const rates[][2] = {{"output_token_throughput", "output_tokens_per_sec"},
                                           {"total_token_throughput", "total_tokens_per_sec"},
                                           {"request_throughput", "requests_per_sec"}};
    const struct value *native = converter->native;
    struct value *report = start_0_1(converter, "aiperf", model_of(converter));
    value_put(value_at(report, "scenario.load"), "args", taken(converter, value_get(native, "input_config")));
    value_put(report_map(converter, report, "metrics.time"), "duration",
              taken(converter, value_at(native, "benchmark_duration.avg")));
    put_results(converter, report_map(converter, report, "metrics.requests"),
                report_map(converter, report, "metrics.latency"));
    for (size_t i = 0; i < sizeof rates / sizeof rates[0]; i++)
        value_put(report_map(converter, report, "metrics.throughput"), rates[i][1],
                  taken(converter, value_get(value_get(native, rates[i][0]), "avg")));
    return report;
}

static struct value *length(struct converter *converter, const char *name)
{
    const struct value *native = value_get(converter->native, name);
    if (!value_have(native, "avg"))
        return NULL;
    struct value *found = length_of(converter, "fixed", taken(converter, value_get(native, "avg")));
    value_put(found, "min", taken(converter, value_get(native, "min")));
    value_put(found, "max", taken(converter, value_get(native, "max")));
    return found;
}

struct value *from_aiperf_0_2(struct converter *converter)
{
    static const char *const rates[][3] = {{"output_token_throughput", "output_token_rate", "tokens/s"},
                                           {"total_token_throughput", "total_token_rate", "tokens/s"},
                                           {"request_throughput", "request_rate", "queries/s"}};
    const struct value *native = converter->native, *config = value_have(native, "input_config"),
                       *concurrency = value_at(config, "loadgen.concurrency");
    struct tree *tree = converter->tree;
    struct value *report = envelope(converter);
    if (!converter->model_name)
        converter->model_name = value_string(model_of(converter));
    envelope_describe(converter, report);
    struct value *standardized = report_map(converter, report, "scenario.load.standardized");
    value_set(standardized, "tool", value_text(tree, "aiperf"));
    value_put(standardized, "source", value_text(tree, "random"));
    value_put(standardized, "input_seq_len", length(converter, "input_sequence_length"));
    value_put(standardized, "output_seq_len", length(converter, "output_sequence_length"));
    if (value_is_true(concurrency))
        value_put(standardized, "concurrency", taken_count(converter, concurrency));
    value_set(report_map(converter, report, "scenario.load.native"), "config",
              config ? value_share(tree, config) : value_map(tree));
    put_load_metadata(converter, report, value_at(report, "scenario.load.native.config"));
    struct value *aggregate = report_map(converter, report, "results.request_performance.aggregate");
    put_results(converter, report_map(converter, aggregate, "requests"), report_map(converter, aggregate, "latency"));
    for (size_t i = 0; i < sizeof rates / sizeof rates[0]; i++)
        value_put(report_map(converter, aggregate, "throughput"), rates[i][1],
                  statistics_mean(converter, value_get(value_get(native, rates[i][0]), "avg"), rates[i][2]));
    return report;
}
