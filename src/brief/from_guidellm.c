/* SPDX-License-Identifier: Apache-2.0 */
#include "brief/converter.h"
#include "brief/scalar.h"

#include <math.h>
#include <string.h>

/* results.json of GuideLLM, report schema 1 (top-level `args`) and 2 (`config`). */

static const struct rename FIGURES[] = {{"mean", "mean"}, {"mode", "mode"}, {"std_dev", "stddev"},
                                        {"min", "min"},   {"max", "max"},   {NULL, NULL}};
static const struct rename PERCENTILES[] = {{"p001", "p0p1"}, {"p01", "p1"},  {"p05", "p5"},     {"p10", "p10"},
                                            {"p25", "p25"},   {"p50", "p50"}, {"p75", "p75"},    {"p90", "p90"},
                                            {"p95", "p95"},   {"p99", "p99"}, {"p999", "p99p9"}, {NULL, NULL}};

static const struct {
    const char *native, *group, *field, *units;
} METRICS[] = {{"prompt_token_count", "requests", "input_length", "count"},
               {"output_token_count", "requests", "output_length", "count"},
               {"time_to_first_token_ms", "latency", "time_to_first_token", "ms"},
               {"time_per_output_token_ms", "latency", "normalized_time_per_output_token", "ms/token"},
               {"inter_token_latency_ms", "latency", "inter_token_latency", "ms/token"},
               {"request_latency", "latency", "request_latency", "s"}};
static const char *const TOTALS[][2] = {{"total", "total"}, {"errored", "failures"}, {"incomplete", "incomplete"}};

static const struct value *benchmark_of(const struct converter *converter)
{
    return converter->benchmark;
}

static const struct value *config_of(const struct converter *converter)
{
    const struct value *config = value_have(converter->native, "config");
    return config ? config : value_have(converter->native, "args");
}

static struct value *metric(struct converter *converter, const struct value *benchmark, const char *name,
                            const char *units)
{
    const struct value *native = value_get(value_get(value_get(benchmark, "metrics"), name), "successful");
    struct value *statistics = statistics_from(converter, native, FIGURES, units);
    const struct value *percentiles = value_get(native, "percentiles");
    for (const struct rename *name_of = PERCENTILES; statistics && name_of->from; name_of++)
        value_put(statistics, name_of->to, taken(converter, value_get(percentiles, name_of->from)));
    return statistics;
}

static void put_totals(struct converter *converter, const struct value *benchmark, struct value *requests)
{
    const struct value *totals = value_at(benchmark, "metrics.request_totals");
    for (size_t i = 0; i < sizeof TOTALS / sizeof TOTALS[0]; i++)
        value_put(requests, TOTALS[i][1], taken(converter, value_get(totals, TOTALS[i][0])));
}

static void put_metrics(struct converter *converter, const struct value *benchmark, struct value *aggregate)
{
    put_totals(converter, benchmark, report_map(converter, aggregate, "requests"));
    for (size_t i = 0; i < sizeof METRICS / sizeof METRICS[0]; i++)
        value_put(report_map(converter, aggregate, METRICS[i].group), METRICS[i].field,
                  metric(converter, benchmark, METRICS[i].native, METRICS[i].units));
}

static const struct value *model_of(const struct converter *converter)
{
    const struct value *config = config_of(converter),
                       *model = value_at(benchmark_of(converter), "config.backend.model");
    if (!value_string(model))
        model = value_at(config, "spec.backend.model");
    if (!value_string(model))
        model = value_get(config, "model");
    return value_string(model) ? model : NULL;
}

struct value *from_guidellm_0_1(struct converter *converter)
{
    static const char *const rates[][2] = {{"output_tokens_per_second", "output_tokens_per_sec"},
                                           {"tokens_per_second", "total_tokens_per_sec"},
                                           {"requests_per_second", "requests_per_sec"}};
    const struct value *benchmark = benchmark_of(converter), *config = config_of(converter);
    struct tree *tree = converter->tree;
    struct value *report = start_0_1(converter, "guidellm", model_of(converter)),
                 *load = value_at(report, "scenario.load");
    value_put(load, "args", config ? value_share(tree, config) : value_map(tree));
    value_put(report_map(converter, load, "metadata"), "stage", value_int(tree, converter->index));
    struct value *time = report_map(converter, report, "metrics.time");
    value_put(time, "duration", taken(converter, value_get(benchmark, "duration")));
    value_put(time, "start", taken(converter, value_get(benchmark, "start_time")));
    value_put(time, "stop", taken(converter, value_get(benchmark, "end_time")));
    put_metrics(converter, benchmark, report_map(converter, report, "metrics"));
    struct value *throughput = report_map(converter, report, "metrics.throughput");
    for (size_t i = 0; i < sizeof rates / sizeof rates[0]; i++) {
        const struct value *native = value_get(value_get(value_get(benchmark, "metrics"), rates[i][0]), "successful");
        value_put(throughput, rates[i][1], taken(converter, value_get(native, "mean")));
    }
    return report;
}

/* "prompt_tokens=256,output_tokens=128", GuideLLM's short form. */
static const struct value *short_form(struct converter *converter, const char *text)
{
    struct value *map = value_map(converter->tree);
    while (*text) {
        size_t len = strcspn(text, ","), key_len = strcspn(text, "=,");
        char *key = tree_strndup(converter->tree, text, key_len);
        if (key_len == len || key_len == 0 || !key)
            return NULL;
        value_set(map, key, scalar_resolve(converter->tree, text + key_len + 1, len - key_len - 1));
        text += len + (text[len] == ',');
    }
    return map;
}

/* The first data set, as a map; NULL when there is none. */
static const struct value *dataset_of(struct converter *converter, const struct value *config)
{
    const struct value *data = value_at(config, "spec.data");
    if (!data)
        data = value_get(config, "data");
    if (value_is(data, VALUE_LIST)) {
        if (data->len > 1)
            convert_warn(converter, "WARNING: the results use %u data sets, only the first is described",
                         (unsigned)data->len);
        data = data->first;
    }
    if (value_is(data, VALUE_TEXT)) {
        struct value *parsed = NULL;
        struct as_error ignored;
        if (read_text(data->text, data->len, converter->tree, &parsed, &ignored) != AS_OK ||
            !value_is(parsed, VALUE_MAP))
            return short_form(converter, data->text);
        return parsed;
    }
    return value_is(data, VALUE_MAP) ? data : NULL;
}

/* From <kind>_tokens, _stdev, _min, _max; NULL without the first. */
static struct value *tokens_length(struct converter *converter, const struct value *dataset, const char *const names[4])
{
    const struct value *tokens = value_have(dataset, names[0]), *stdev = value_have(dataset, names[1]),
                       *min = value_have(dataset, names[2]);
    if (!tokens)
        return NULL;
    struct value *length = length_of(converter,
                                     value_is_true(stdev) ? "gaussian"
                                     : value_is_true(min) ? "uniform"
                                                          : "fixed",
                                     taken(converter, tokens));
    value_put(length, "std_dev", taken(converter, stdev));
    value_put(length, "min", taken(converter, min));
    value_put(length, "max", taken(converter, value_get(dataset, names[3])));
    return length;
}

static void put_lengths(struct converter *converter, struct value *standardized, const struct value *dataset)
{
    static const char *const input_names[] = {"prompt_tokens", "prompt_tokens_stdev", "prompt_tokens_min",
                                              "prompt_tokens_max"};
    static const char *const output_names[] = {"output_tokens", "output_tokens_stdev", "output_tokens_min",
                                               "output_tokens_max"};
    struct value *input = tokens_length(converter, dataset, input_names);
    const struct value *measured = value_at(benchmark_of(converter), "metrics.prompt_token_count.successful.mean");
    if (!input && value_have(value_at(benchmark_of(converter), "metrics.prompt_token_count.successful"), "mean")) {
        convert_warn(converter, "WARNING: the data set has no token counts; input_seq_len is the measured mean");
        input = length_of(converter, "other", taken(converter, measured));
    }
    value_put(standardized, "input_seq_len", input);
    value_put(standardized, "output_seq_len", tokens_length(converter, dataset, output_names));
}

static const char *source_of(const struct value *dataset)
{
    const struct value *kind = value_have(dataset, "kind");
    if (kind)
        return value_is_text(kind, "synthetic_text") ? "random" : "sampled";
    if (value_get(dataset, "source"))
        return "sampled";
    return value_get(dataset, "prompt_tokens") ? "random" : "unknown";
}

static void put_prefix(struct converter *converter, struct value *standardized, const struct value *dataset)
{
    const struct value *buckets = value_have(dataset, "prefix_buckets"),
                       *from = buckets && buckets->len > 0 ? value_item(buckets, 0) : dataset;
    const struct value *tokens = value_get(from, "prefix_tokens"), *count = value_get(from, "prefix_count");
    struct tree *tree = converter->tree;
    if (buckets && value_is(buckets, VALUE_LIST) && buckets->len > 1)
        convert_warn(converter, "WARNING: the data set has %u prefix buckets, only the first is described",
                     (unsigned)buckets->len);
    if (!value_is_true(tokens))
        return;
    struct value *prefix = value_map(tree);
    value_put(prefix, "prefix_len", length_of(converter, "fixed", taken(converter, tokens)));
    value_put(prefix, "num_groups", value_int(tree, 1));
    value_put(prefix, "num_users_per_group", value_int(tree, 1));
    value_put(prefix, "num_prefixes", value_is_true(count) ? taken(converter, count) : value_int(tree, 1));
    value_put(standardized, "prefix", prefix);
}

static void put_turns(struct converter *converter, struct value *standardized, const struct value *dataset)
{
    const struct value *turns = value_get(dataset, "turns");
    if (!value_is(turns, VALUE_INT) || turns->integer <= 1)
        return;
    struct value *multi_turn = report_map(converter, standardized, "multi_turn");
    value_put(multi_turn, "enabled", value_bool(converter->tree, true));
    value_put(multi_turn, "max_turns", length_of(converter, "fixed", taken(converter, turns)));
}

/* What applies to the whole run: a number as it is, of a list the entry of this stage. */
static const struct value *run_wide(const struct converter *converter, const struct value *config, const char *name)
{
    const struct value *found = value_have(value_at(config, "spec.profile"), name);
    if (!found)
        found = value_have(config, name);
    return value_is(found, VALUE_LIST) && converter->index >= 0 ? value_item(found, (size_t)converter->index) : found;
}

/* The first of `keys` that the strategy has, null included, else the first that is set for the run. */
static const struct value *setting(const struct converter *converter, const struct value *config,
                                   const struct value *strategy, const char *const *keys, const char *const *run_keys)
{
    for (; *keys; keys++) {
        const struct value *found = value_get(strategy, *keys);
        if (!found)
            continue;
        if (!value_is(found, VALUE_NULL))
            return found;
        break;
    }
    for (; *run_keys; run_keys++) {
        const struct value *found = run_wide(converter, config, *run_keys);
        if (found && !value_is(found, VALUE_NULL))
            return found;
    }
    return NULL;
}

static void put_rate(struct converter *converter, struct value *standardized, const struct value *config)
{
    static const char *const rate[] = {"rate", NULL}, *const streams[] = {"streams", "max_concurrency", NULL},
                             *const streams_run[] = {"streams", "rate", NULL};
    static const char *const workers[] = {"max_concurrency", "worker_count", NULL}, *const workers_run[] = {
                                                                                        "max_concurrency", "rate",
                                                                                        NULL};
    const struct value *strategy = value_at(benchmark_of(converter), "config.strategy"), *concurrency = NULL;
    const char *kind = value_string(value_get(strategy, "type_"));
    if (!kind)
        kind = value_string(value_at(config, "spec.profile.kind"));
    if (!kind)
        kind = value_string(value_get(config, "profile"));
    if (!kind)
        return;
    if (strcmp(kind, "async") == 0 || strcmp(kind, "constant") == 0 || strcmp(kind, "poisson") == 0) {
        value_put(standardized, "rate_qps", taken(converter, setting(converter, config, strategy, rate, rate)));
        return;
    }
    if (strcmp(kind, "concurrent") == 0)
        concurrency = setting(converter, config, strategy, streams, streams_run);
    else if (strcmp(kind, "throughput") == 0)
        concurrency = setting(converter, config, strategy, workers, workers_run);
    if (strcmp(kind, "synchronous") == 0)
        value_put(standardized, "concurrency", value_int(converter->tree, 1));
    else if (value_is_true(concurrency))
        value_put(standardized, "concurrency", taken_count(converter, concurrency));
}

static void put_time(struct converter *converter, struct value *report)
{
    static const char *const names[][2] = {{"start_time", "start"}, {"end_time", "end"}};
    const struct value *benchmark = benchmark_of(converter), *duration = value_get(benchmark, "duration");
    double seconds;
    char text[TIME_TEXT_BYTES];
    for (size_t i = 0; i < sizeof names / sizeof names[0]; i++)
        if (value_number(value_get(benchmark, names[i][0]), &seconds) && fabs(seconds) < 9e15 &&
            time_local((int64_t)seconds, text))
            value_set(report_map(converter, report, "run.time"), names[i][1], value_text(converter->tree, text));
    struct value *length = duration_text(converter, duration);
    if (length)
        value_set(report_map(converter, report, "run.time"), "duration", length);
}

static void put_load(struct converter *converter, struct value *report)
{
    const struct value *config = config_of(converter), *dataset = dataset_of(converter, config);
    struct tree *tree = converter->tree;
    struct value *standardized = report_map(converter, report, "scenario.load.standardized"),
                 *native = report_map(converter, report, "scenario.load.native");
    value_set(standardized, "tool", value_text(tree, "guidellm"));
    value_set(standardized, "stage", value_int(tree, converter->index));
    if (!value_have(native, "config"))
        value_set(native, "config", config ? value_share(tree, config) : value_map(tree));
    put_lengths(converter, standardized, dataset);
    value_put(standardized, "source", value_text(tree, source_of(dataset)));
    put_prefix(converter, standardized, dataset);
    put_turns(converter, standardized, dataset);
    put_rate(converter, standardized, config);
    put_load_metadata(converter, report, native);
}

struct value *from_guidellm_0_2(struct converter *converter)
{
    static const char *const rates[][3] = {{"output_tokens_per_second", "output_token_rate", "tokens/s"},
                                           {"tokens_per_second", "total_token_rate", "tokens/s"},
                                           {"requests_per_second", "request_rate", "queries/s"}};
    const struct value *benchmark = benchmark_of(converter);
    struct value *report = envelope(converter);
    if (!converter->model_name)
        converter->model_name = value_string(model_of(converter));
    envelope_describe(converter, report);
    put_time(converter, report);
    put_load(converter, report);
    struct value *aggregate = report_map(converter, report, "results.request_performance.aggregate");
    put_metrics(converter, benchmark, aggregate);
    for (size_t i = 0; i < sizeof rates / sizeof rates[0]; i++)
        value_put(report_map(converter, aggregate, "throughput"), rates[i][1],
                  metric(converter, benchmark, rates[i][0], rates[i][2]));
    return report;
}
