/* SPDX-License-Identifier: Apache-2.0 */
#include "brief/from_summary.h"

#include <string.h>

static const struct rename FIGURES[] = {{"mean", "mean"},   {"std", "stddev"}, {"min", "min"}, {"p50", "p50"},
                                        {"p75", "p75"},     {"p90", "p90"},    {"p95", "p95"}, {"p99", "p99"},
                                        {"p99_9", "p99p9"}, {"max", "max"},    {NULL, NULL}};

static struct value *figures_of(struct converter *converter, const struct value *distribution, const char *units)
{
    return with_mean(statistics_from(converter, distribution, FIGURES, units));
}

static struct value *figures(struct converter *converter, const char *path, const char *units)
{
    return figures_of(converter, value_at(converter->native, path), units);
}

static int64_t sum(const struct value *counts, const char *const *names)
{
    int64_t total = 0;
    for (; *names; names++)
        if (value_is(value_get(counts, *names), VALUE_INT))
            total += value_get(counts, *names)->integer;
    return total;
}

static void put_performance(struct converter *converter, struct value *aggregate, struct value *requests)
{
    static const char *const all[] = {"sent", "refused", NULL}, *const bad[] = {"failed", "timed_out", "refused", NULL},
                             *const cut[] = {"cancelled", NULL};
    static const char *const latencies[][3] = {{"time_to_first_token", "latency.ttft_ms", "ms"},
                                               {"time_per_output_token", "latency.tpot_ms", "ms/token"},
                                               {"inter_token_latency", "latency.itl_ms", "ms/token"},
                                               {"request_latency", "latency.response_time_ms", "ms"}};
    static const char *const rates[][3] = {{"input_token_rate", "throughput.prompt_tokens_per_second", "tokens/s"},
                                           {"output_token_rate", "throughput.completion_tokens_per_second", "tokens/s"},
                                           {"total_token_rate", "throughput.total_tokens_per_second", "tokens/s"},
                                           {"request_rate", "throughput.requests_per_second", "queries/s"},
                                           {"image_rate", "vlm.images_per_second", "images/s"},
                                           {"image_rate", "imagegen.images_per_second", "images/s"}};
    const struct value *counts = value_at(converter->native, "counts.measured");
    struct tree *tree = converter->tree;
    if (!counts)
        counts = value_get(converter->native, "counts");
    value_put(requests, "total", value_int(tree, sum(counts, all)));
    value_put(requests, "failures", value_int(tree, sum(counts, bad)));
    value_put(requests, "incomplete", value_int(tree, sum(counts, cut)));
    value_put(requests, "input_length", figures(converter, "tokens.prompt", "count"));
    value_put(requests, "output_length", figures(converter, "tokens.completion", "count"));
    for (size_t i = 0; i < sizeof latencies / sizeof latencies[0]; i++)
        value_put(report_map(converter, aggregate, "latency"), latencies[i][0],
                  figures(converter, latencies[i][1], latencies[i][2]));
    for (size_t i = 0; i < sizeof rates / sizeof rates[0]; i++)
        value_put(report_map(converter, aggregate, "throughput"), rates[i][0],
                  statistics_mean(converter, value_at(converter->native, rates[i][1]), rates[i][2]));
}

/* Every try of a request is sent whole: the mean over them. */
static void put_request_size(struct converter *converter, struct value *requests)
{
    const struct value *sent = value_at(converter->native, "bytes.sent"),
                       *tries = value_at(converter->native, "counts.measured.attempts");
    double bytes, count;
    if (value_number(sent, &bytes) && value_number(tries, &count) && bytes > 0 && count > 0)
        value_put(requests, "request_size", statistics_mean_number(converter, bytes / count, "bytes"));
}

/* Media that were sent; for image generation those that came back. */
static void put_media(struct converter *converter, struct value *requests)
{
    static const char *const media[][4] = {{"image", "count", "vlm.images_per_request", "count"},
                                           {"image", "filesize", "vlm.image_bytes", "bytes"},
                                           {"image", "pixels", "vlm.image_pixels", "pixels"},
                                           {"image", "aspect_ratio", "vlm.image_aspect_ratio", "ratio"},
                                           {"image", "count", "imagegen.images_per_request", "count"},
                                           {"image", "filesize", "imagegen.image_bytes", "bytes"},
                                           {"image", "pixels", "imagegen.image_pixels", "pixels"},
                                           {"image", "aspect_ratio", "imagegen.image_aspect_ratio", "ratio"},
                                           {"audio", "filesize", "asr.audio_bytes", "bytes"},
                                           {"audio", "duration", "asr.audio_duration_s", "s"}};
    for (size_t i = 0; i < sizeof media / sizeof media[0]; i++) {
        struct value *statistics = figures(converter, media[i][2], media[i][3]);
        if (statistics)
            value_put(report_map(converter, report_map(converter, requests, "multimodal"), media[i][0]), media[i][1],
                      statistics);
    }
}

/* A request for a transcript has one audio file. */
static void put_audio(struct converter *converter, struct value *aggregate)
{
    const struct value *rate = value_at(converter->native, "throughput.requests_per_second");
    struct value *audio = value_at(aggregate, "requests.multimodal.audio"), *count;
    if (!value_have(converter->native, "asr"))
        return;
    value_put(report_map(converter, aggregate, "throughput"), "audio_rate",
              statistics_mean(converter, rate, "audios/s"));
    if (!audio)
        return;
    count = statistics_mean_number(converter, 1, "count");
    value_put(count, "min", value_int(converter->tree, 1));
    value_put(count, "max", value_int(converter->tree, 1));
    value_put(audio, "count", count);
}

/* ---- telemetry ---- */

static const char *const OBSERVED[][3] = {{"power_w", "power_consumption", "Watts"},
                                          {"gpu_utilization_ratio", "gpu_utilization", "fraction"},
                                          {"gpu_memory_bytes", "gpu_memory_usage", "bytes"},
                                          {"cpu_utilization_ratio", "cpu_utilization", "fraction"},
                                          {"cpu_memory_bytes", "cpu_memory_usage", "bytes"},
                                          {"storage_bytes", "storage_usage", "bytes"},
                                          {"kv_cache_usage_ratio", "kv_cache_usage", "fraction"},
                                          {"cache_hit_ratio", "cache_hit_rate", "fraction"},
                                          {"gpu_cache_usage_ratio", "gpu_cache_usage", "fraction"},
                                          {"cpu_cache_usage_ratio", "cpu_cache_usage", "fraction"},
                                          {"running_requests", "running_requests", "count"},
                                          {"waiting_requests", "waiting_requests", "count"},
                                          {"swapped_requests", "swapped_requests", "count"},
                                          {"preemptions", "preemptions", "count"}};

/* The label that was given, else that of the only endpoint. */
static const char *label_of(const struct converter *converter, const struct value *component)
{
    const struct value *endpoints = value_get(converter->native, "endpoints");
    const char *label = value_string(value_get(component, "label"));
    if (label || !value_is(endpoints, VALUE_LIST) || endpoints->len != 1)
        return label;
    return value_string(value_get(endpoints->first, "name"));
}

static struct value *observation(struct converter *converter, const struct value *component, const char *label)
{
    struct tree *tree = converter->tree;
    struct value *map = value_map(tree), *aggregate = value_map(tree);
    value_put(map, "component_label", value_text(tree, label));
    value_put(map, "replica_id", taken(converter, value_get(component, "replica_id")));
    value_put(map, "raw_data_path", taken(converter, value_get(component, "raw_data_path")));
    for (size_t i = 0; i < sizeof OBSERVED / sizeof OBSERVED[0]; i++)
        value_put(aggregate, OBSERVED[i][1],
                  figures_of(converter, value_get(component, OBSERVED[i][0]), OBSERVED[i][2]));
    if (aggregate && aggregate->len > 0)
        value_put(map, "aggregate", aggregate);
    return map;
}

/* The entry of this label, made when there is none. */
static struct value *health_of(struct converter *converter, struct value *list, const char *label)
{
    for (struct value *entry = list ? list->first : NULL; entry; entry = entry->next)
        if (value_is_text(value_get(entry, "component_label"), label))
            return entry;
    struct value *entry = value_map(converter->tree);
    value_put(entry, "component_label", value_text(converter->tree, label));
    value_add(list, entry);
    return entry;
}

static void add_count(struct converter *converter, struct value *map, const char *key, int64_t more)
{
    const struct value *before = value_get(map, key);
    int64_t sum = value_is(before, VALUE_INT) ? before->integer : 0;
    if (!__builtin_add_overflow(sum, more, &sum))
        value_set(map, key, value_int(converter->tree, sum));
}

static void add_health(struct converter *converter, struct value *list, const struct value *component,
                       const char *label)
{
    const struct value *healthy = value_have(component, "healthy"), *restarts = value_have(component, "restarts"),
                       *logs = value_have(component, "logs"), *id = value_have(component, "replica_id");
    struct tree *tree = converter->tree;
    if (!healthy && !restarts && !logs)
        return;
    struct value *entry = health_of(converter, list, label);
    if (restarts && value_is(restarts, VALUE_INT))
        add_count(converter, entry, "total_restarts", restarts->integer);
    if (healthy && value_is(healthy, VALUE_BOOL))
        add_count(converter, entry, "failed_replicas", healthy->boolean ? 0 : 1);
    if (!id)
        return;
    struct value *replicas = value_get(entry, "replica_health"), *replica = value_map(tree);
    if (!replicas) {
        replicas = value_list(tree);
        value_put(entry, "replica_health", replicas);
    }
    value_put(replica, "replica_id", taken(converter, id));
    value_put(replica, "restarts", taken(converter, restarts));
    value_put(replica, "healthy", taken(converter, healthy));
    value_put(replica, "logs", taken(converter, logs));
    value_add(replicas, replica);
}

static void put_telemetry(struct converter *converter, struct value *report)
{
    const struct value *components = value_get(summary_fact(converter, "telemetry"), "components");
    struct value *observed = value_list(converter->tree), *health = value_list(converter->tree);
    for (const struct value *component = value_is(components, VALUE_LIST) ? components->first : NULL; component;
         component = component->next) {
        const char *label = label_of(converter, component);
        if (!label) {
            convert_warn(converter, "WARNING: telemetry of a component without a label is left out");
            continue;
        }
        value_add(observed, observation(converter, component, label));
        add_health(converter, health, component, label);
    }
    if (observed && observed->len > 0)
        value_put(report_map(converter, report, "results.observability"), "components", observed);
    if (health && health->len > 0)
        value_put(report_map(converter, report, "results"), "component_health", health);
}

void put_summary_results(struct converter *converter, struct value *report)
{
    struct value *aggregate = report_map(converter, report, "results.request_performance.aggregate"),
                 *requests = report_map(converter, aggregate, "requests");
    put_performance(converter, aggregate, requests);
    put_request_size(converter, requests);
    put_media(converter, requests);
    put_audio(converter, aggregate);
    put_telemetry(converter, report);
}
