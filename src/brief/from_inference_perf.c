/* SPDX-License-Identifier: Apache-2.0 */
#include "brief/converter.h"

#include "base/file.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

/* stage_<N>_lifecycle_metrics.json of inference-perf. */

#define PATH_BYTES 4096

/* Prompt lengths: each figure from "prompt_tokens" where that has it, else from "prompt_len". */
static const struct value *prompt_figures(struct converter *converter, const struct value *group)
{
    const struct value *tokens = value_get(group, "prompt_tokens"), *lengths = value_get(group, "prompt_len");
    struct value *figures = value_map(converter->tree);
    for (const struct rename *name = inference_perf_names; name->from; name++) {
        const struct value *figure = value_get(tokens, name->from);
        value_put(figures, name->from, value_share(converter->tree, figure ? figure : value_get(lengths, name->from)));
    }
    return figures;
}

static void put_figure(struct converter *converter, struct value *length, const char *field, const struct value *config,
                       const struct value *measured)
{
    const struct value *given = value_have(config, field);
    const char *name = strcmp(field, "std") == 0 ? "std_dev" : strcmp(field, "mean") == 0 ? "value" : field;
    value_put(length, name, taken(converter, given ? given : value_have(measured, field)));
}

static struct value *gaussian(struct converter *converter, const struct value *config, const struct value *measured)
{
    struct value *length = length_of(converter, "gaussian", NULL);
    put_figure(converter, length, "mean", config, measured);
    put_figure(converter, length, "std", config, NULL);
    put_figure(converter, length, "min", config, measured);
    put_figure(converter, length, "max", config, measured);
    return length;
}

static const char *source_of(const struct value *data)
{
    const char *type = value_string(value_get(data, "type"));
    if (!type)
        return "unknown";
    return strcmp(type, "random") == 0 || strcmp(type, "shared_prefix") == 0 ? "random" : "sampled";
}

static void put_prefix(struct converter *converter, struct value *standardized, const struct value *data)
{
    const struct value *shared = value_get(data, "shared_prefix");
    if (!value_is_text(value_get(data, "type"), "shared_prefix") || !value_is(shared, VALUE_MAP))
        return;
    struct value *prefix = value_map(converter->tree);
    value_put(prefix, "prefix_len",
              length_of(converter, "fixed", taken(converter, value_get(shared, "system_prompt_len"))));
    value_put(prefix, "num_groups", taken(converter, value_get(shared, "num_groups")));
    value_put(prefix, "num_users_per_group", taken(converter, value_get(shared, "num_prompts_per_group")));
    value_put(prefix, "num_prefixes", value_int(converter->tree, 1));
    value_put(standardized, "prefix", prefix);
    if (value_is_true(value_get(shared, "enable_multi_turn_chat")))
        value_put(report_map(converter, standardized, "multi_turn"), "enabled", value_bool(converter->tree, true));
}

static void put_load(struct converter *converter, struct value *report)
{
    const struct value *native = converter->native, *load = value_get(native, "load_summary"),
                       *successes = value_get(native, "successes");
    struct tree *tree = converter->tree;
    struct value *standardized = report_map(converter, report, "scenario.load.standardized"),
                 *load_native = report_map(converter, report, "scenario.load.native");
    if (!value_get(load_native, "config"))
        value_put(load_native, "config", value_map(tree));
    const struct value *config = value_get(load_native, "config"), *data = value_get(config, "data");
    const struct value *rate = value_get(load, "requested_rate"), *concurrency = value_get(load, "concurrency"),
                       *prompts = prompt_figures(converter, successes);
    value_set(standardized, "tool", value_text(tree, "inference-perf"));
    value_set(standardized, "stage", value_int(tree, stage_of_path(converter->request->path)));
    if (value_is_true(rate))
        value_put(standardized, "rate_qps", taken(converter, rate));
    if (!value_is_true(concurrency))
        concurrency = value_get(load, "num_sessions");
    if (value_is_true(concurrency))
        value_put(standardized, "concurrency", taken_count(converter, concurrency));
    value_put(standardized, "source", value_text(tree, source_of(data)));
    struct value *input = gaussian(converter, value_get(data, "input_distribution"), prompts);
    if (!value_get(input, "value"))
        value_put(input, "value",
                  taken(converter, value_get(prompt_figures(converter, value_get(native, "failures")), "mean")));
    value_put(standardized, "input_seq_len", input);
    struct value *output =
        gaussian(converter, value_get(data, "output_distribution"), value_get(successes, "output_len"));
    if (!value_get(output, "value"))
        value_put(output, "value", value_int(tree, 0));
    value_put(standardized, "output_seq_len", output);
    put_prefix(converter, standardized, data);
    put_load_metadata(converter, report, config);
    put_treatment(converter, report);
}

static const struct {
    const char *field, *units;
    bool needs_mean; /* left out silently without one */
} LATENCIES[] = {{"time_to_first_token", "s", true},
                 {"normalized_time_per_output_token", "s/token", false},
                 {"time_per_output_token", "s/token", true},
                 {"inter_token_latency", "s/token", true},
                 {"request_latency", "s", false}};

static const struct {
    const char *native, *field, *units;
} RATES[] = {{"input_tokens_per_sec", "input_token_rate", "tokens/s"},
             {"output_tokens_per_sec", "output_token_rate", "tokens/s"},
             {"total_tokens_per_sec", "total_token_rate", "tokens/s"},
             {"requests_per_sec", "request_rate", "queries/s"}};

/* A group without a mean: said, unless such files are usual. */
static void put_group(struct converter *converter, struct value *map, const char *field, struct value *statistics,
                      bool is_silent)
{
    if (with_mean(statistics))
        value_put(map, field, statistics);
    else if (!is_silent)
        convert_warn(converter, "WARNING: %s: the results have no mean; it is left out", field);
}

static void put_successes(struct converter *converter, struct value *aggregate)
{
    const struct value *successes = value_get(converter->native, "successes");
    struct value *requests = report_map(converter, aggregate, "requests"),
                 *latency = report_map(converter, aggregate, "latency");
    struct value *throughput = report_map(converter, aggregate, "throughput");
    value_put(
        requests, "input_length",
        with_mean(statistics_from(converter, prompt_figures(converter, successes), inference_perf_names, "count")));
    value_put(requests, "output_length",
              with_mean(statistics_from(converter, value_get(successes, "output_len"), inference_perf_names, "count")));
    for (size_t i = 0; i < sizeof LATENCIES / sizeof LATENCIES[0]; i++) {
        const struct value *native = value_get(value_get(successes, "latency"), LATENCIES[i].field);
        put_group(converter, latency, LATENCIES[i].field,
                  statistics_from(converter, native, inference_perf_names, LATENCIES[i].units),
                  LATENCIES[i].needs_mean);
    }
    for (size_t i = 0; i < sizeof RATES / sizeof RATES[0]; i++) {
        const struct value *native = value_get(value_get(successes, "throughput"), RATES[i].native);
        put_group(converter, throughput, RATES[i].field, statistics_mean(converter, native, RATES[i].units), false);
    }
}

static const struct {
    const char *modality, *native, *field, *units;
} MEDIA[] = {{"image", "count", "count", "count"},    {"image", "pixels", "pixels", "pixels"},
             {"image", "bytes", "filesize", "bytes"}, {"image", "aspect_ratio", "aspect_ratio", "ratio"},
             {"video", "count", "count", "count"},    {"video", "pixels", "pixels", "pixels"},
             {"video", "bytes", "filesize", "bytes"}, {"video", "aspect_ratio", "aspect_ratio", "ratio"},
             {"video", "frames", "frames", "count"},  {"audio", "count", "count", "count"},
             {"audio", "seconds", "duration", "s"},   {"audio", "bytes", "filesize", "bytes"}};

/* What the payloads were, for failed runs too. */
static void put_payloads(struct converter *converter, struct value *aggregate)
{
    static const char *const rates[][3] = {{"images_per_sec", "image_rate", "images/s"},
                                           {"videos_per_sec", "video_rate", "videos/s"},
                                           {"audios_per_sec", "audio_rate", "audios/s"}};
    const struct value *successes = value_get(converter->native, "successes");
    if (!value_is(successes, VALUE_MAP))
        return;
    struct value *size = with_mean(
        statistics_from(converter, value_get(successes, "request_size_bytes"), inference_perf_names, "bytes"));
    if (size)
        value_set(report_map(converter, aggregate, "requests"), "request_size", size);
    for (size_t i = 0; i < sizeof MEDIA / sizeof MEDIA[0]; i++) {
        const struct value *native = value_get(value_get(successes, MEDIA[i].modality), MEDIA[i].native);
        struct value *statistics = with_mean(statistics_from(converter, native, inference_perf_names, MEDIA[i].units));
        char path[64];
        (void)snprintf(path, sizeof path, "requests.multimodal.%s", MEDIA[i].modality);
        if (statistics)
            value_set(report_map(converter, aggregate, path), MEDIA[i].field, statistics);
    }
    for (size_t i = 0; i < sizeof rates / sizeof rates[0]; i++) {
        struct value *rate =
            statistics_mean(converter, value_get(value_get(successes, "throughput"), rates[i][0]), rates[i][2]);
        if (rate)
            value_set(report_map(converter, aggregate, "throughput"), rates[i][1], rate);
    }
}

static bool is_same_count(const struct value *a, const struct value *b)
{
    double left = 0, right = 0;
    bool has_left = value_number(a, &left), has_right = value_number(b, &right);
    return has_left == has_right && left <= right && left >= right;
}

/* What inference-perf wrote of the report itself replaces ours. */
static bool use_partial(struct converter *converter, struct value *report)
{
    static const char *const run_fields[] = {"uid", "eid", "time"};
    char folder[PATH_BYTES], path[PATH_BYTES + 80];
    const char *given = converter->request->path;
    if (!given || !path_dir(folder, sizeof folder, given))
        return false;
    (void)snprintf(path, sizeof path, "%s/inference-perf.partial.stage_%" PRId64 ".yaml", folder, stage_of_path(given));
    if (!file_exists(path))
        return false;
    const struct value *partial = read_beside(converter, path, "the partial report is not used");
    const struct value *aggregate = value_at(partial, "results.request_performance.aggregate");
    for (size_t i = 0; i < sizeof run_fields / sizeof run_fields[0]; i++)
        value_set(value_get(report, "run"), run_fields[i],
                  taken(converter, value_get(value_get(partial, "run"), run_fields[i])));
    if (!aggregate)
        return false;
    value_set(report_map(converter, report, "results.request_performance"), "aggregate",
              value_copy(converter->tree, aggregate));
    return true;
}

struct value *from_inference_perf_0_2(struct converter *converter)
{
    const struct value *native = converter->native, *total = value_at(native, "load_summary.count"),
                       *failures = value_at(native, "failures.count");
    struct value *report = envelope(converter);
    envelope_describe(converter, report);
    put_load(converter, report);
    struct value *aggregate = report_map(converter, report, "results.request_performance.aggregate");
    if (use_partial(converter, report)) {
        aggregate = value_at(report, "results.request_performance.aggregate");
    } else {
        struct value *requests = report_map(converter, aggregate, "requests");
        value_put(requests, "total", taken(converter, total));
        value_put(requests, "failures", taken(converter, failures));
        if (!is_same_count(total, failures))
            put_successes(converter, aggregate);
    }
    put_payloads(converter, aggregate);
    return report;
}

/* A group of 0.1: its mean counts as 0 where it is missing. */
static struct value *group_0_1(struct converter *converter, const struct value *native, const char *units)
{
    struct value *statistics = statistics_from(converter, native, inference_perf_names, units);
    if (!statistics)
        return statistics_mean_number(converter, 0, units);
    if (!value_get(native, "mean"))
        value_put(statistics, "mean", value_int(converter->tree, 0));
    return statistics;
}

static void put_lengths_0_1(struct converter *converter, struct value *requests)
{
    const struct value *native = converter->native, *successes = value_get(native, "successes"),
                       *prompts = value_get(successes, "prompt_len");
    const struct value *failed_mean = value_have(value_at(native, "failures.prompt_len"), "mean");
    struct value *input = value_have(prompts, "mean") ? NULL : statistics_mean(converter, failed_mean, "count");
    value_put(requests, "input_length", input ? input : group_0_1(converter, prompts, "count"));
    value_put(requests, "output_length", group_0_1(converter, value_get(successes, "output_len"), "count"));
}

struct value *from_inference_perf_0_1(struct converter *converter)
{
    static const char *const rates[] = {"output_tokens_per_sec", "total_tokens_per_sec", "requests_per_sec"};
    char folder[PATH_BYTES], path[PATH_BYTES];
    const struct value *native = converter->native, *successes = value_get(native, "successes");
    struct tree *tree = converter->tree;
    struct value *report = start_0_1(converter, "inference-perf", NULL), *load = value_at(report, "scenario.load");
    const char *given = converter->request->path;
    bool has_config = given && path_dir(folder, sizeof folder, given) &&
                      path_join(path, sizeof path, folder, "config.yaml") && file_exists(path);
    const struct value *config = has_config ? read_beside(converter, path, "config.yaml is not used") : NULL;
    value_put(load, "args", config ? value_share(tree, config) : value_map(tree));
    value_put(report_map(converter, load, "metadata"), "stage", value_int(tree, stage_of_path(given)));
    struct value *time = report_map(converter, report, "metrics.time");
    value_put(time, "duration", taken(converter, value_at(native, "load_summary.send_duration")));
    struct value *requests = report_map(converter, report, "metrics.requests");
    value_put(requests, "total", taken(converter, value_at(native, "load_summary.count")));
    value_put(requests, "failures", taken(converter, value_at(native, "failures.count")));
    put_lengths_0_1(converter, requests);
    struct value *latency = report_map(converter, report, "metrics.latency"),
                 *throughput = report_map(converter, report, "metrics.throughput");
    for (size_t i = 0; i < sizeof LATENCIES / sizeof LATENCIES[0]; i++)
        value_put(
            latency, LATENCIES[i].field,
            group_0_1(converter, value_get(value_get(successes, "latency"), LATENCIES[i].field), LATENCIES[i].units));
    for (size_t i = 0; i < sizeof rates / sizeof rates[0]; i++)
        value_put(throughput, rates[i], taken(converter, value_get(value_get(successes, "throughput"), rates[i])));
    return report;
}
