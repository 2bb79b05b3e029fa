/* SPDX-License-Identifier: Apache-2.0 */
#include "brief/converter.h"

#include <string.h>

/* Times of loading a model, as llm-d's "nop" harness writes them; reports 0.1 only. */

static struct value *figure(struct converter *converter, struct value *take_value, const char *units)
{
    if (!take_value)
        return NULL;
    struct value *map = value_map(converter->tree);
    value_put(map, "units", value_text(converter->tree, units));
    value_put(map, "value", take_value);
    return map;
}

static struct value *unit_figure(struct converter *converter, const struct value *native, const char *units)
{
    return figure(converter, value_share(converter->tree, native), units);
}

/* One member of an entry: name, unit ("" = as it is) and whether 0.0 stands for a missing one. */
struct member {
    const char *name, *units;
    bool is_zero_default;
    bool is_optional; /* left out when null */
};

static void put_members(struct converter *converter, struct value *map, const struct value *native,
                        const struct member *members)
{
    for (; members->name; members++) {
        const struct value *found = value_get(native, members->name);
        if (members->is_optional && (!found || value_is(found, VALUE_NULL)))
            continue;
        struct value *value = found                      ? value_share(converter->tree, found)
                              : members->is_zero_default ? value_float(converter->tree, 0)
                                                         : NULL;
        value_put(map, members->name, members->units[0] ? figure(converter, value, members->units) : value);
    }
}

static struct value *zeros(struct converter *converter, const char *units)
{
    static const char *const names[] = {"mean", "min", "p10", "p50", "p90", "max"};
    struct value *statistics = value_map(converter->tree);
    value_put(statistics, "units", value_text(converter->tree, units));
    for (size_t i = 0; i < sizeof names / sizeof names[0]; i++)
        value_put(statistics, names[i], value_int(converter->tree, 0));
    return statistics;
}

static void put_zero_results(struct converter *converter, struct value *metrics)
{
    static const char *const latencies[][2] = {{"time_to_first_token", "ms"},
                                               {"normalized_time_per_output_token", "ms/token"},
                                               {"time_per_output_token", "ms/token"},
                                               {"inter_token_latency", "ms/token"},
                                               {"request_latency", "ms"}};
    static const char *const rates[] = {"output_tokens_per_sec", "total_tokens_per_sec", "requests_per_sec"};
    struct value *requests = report_map(converter, metrics, "requests");
    value_put(requests, "total", value_int(converter->tree, 0));
    value_put(requests, "failures", value_int(converter->tree, 0));
    value_put(requests, "input_length", zeros(converter, "count"));
    value_put(requests, "output_length", zeros(converter, "count"));
    for (size_t i = 0; i < sizeof latencies / sizeof latencies[0]; i++)
        value_put(report_map(converter, metrics, "latency"), latencies[i][0], zeros(converter, latencies[i][1]));
    for (size_t i = 0; i < sizeof rates / sizeof rates[0]; i++)
        value_put(report_map(converter, metrics, "throughput"), rates[i], value_int(converter->tree, 0));
}

static void put_scenario(struct converter *converter, struct value *report)
{
    static const struct member metadata_members[] = {{"deploy_methods", "", false, false},
                                                     {"load_format", "", false, false},
                                                     {"sleep_mode", "", false, false},
                                                     {"gpus", "", false, false},
                                                     {NULL, NULL, false, false}};
    const struct value *scenario = value_get(converter->native, "scenario"),
                       *engines = value_at(scenario, "platform.engines");
    struct tree *tree = converter->tree;
    struct value *list = value_list(tree), *accelerators = value_list(tree), *types = value_list(tree);
    for (const struct value *native = value_is(engines, VALUE_LIST) ? engines->first : NULL; native;
         native = native->next) {
        struct value *engine = value_map(tree), *accelerator = value_map(tree);
        value_put(engine, "name", taken(converter, value_get(native, "name")));
        value_put(engine, "version", taken(converter, value_get(native, "version")));
        value_put(engine, "args", taken(converter, value_get(native, "args")));
        value_put(report_map(converter, engine, "metadata"), "image", value_share(tree, value_get(native, "image")));
        value_put(accelerator, "count", value_int(tree, 1));
        value_put(accelerator, "model", value_text(tree, "auto"));
        value_add(list, engine);
        value_add(accelerators, accelerator);
        value_add(types, value_text(tree, "replica"));
    }
    value_put(report_map(converter, report, "scenario.platform"), "engine", list);
    value_put(report_map(converter, report, "scenario.host"), "accelerator", accelerators);
    value_put(report_map(converter, report, "scenario.host"), "type", types);
    struct value *metadata = report_map(converter, report, "scenario.metadata");
    put_members(converter, metadata, scenario, metadata_members);
    struct value *instances = value_share(tree, value_get(scenario, "max_instances"));
    value_put(metadata, "max_instances", instances ? instances : value_int(tree, 0));
}

/* Depth is bounded by that of the reader. */
static struct value *categories(struct converter *converter, const struct value *native)
{
    struct value *list = value_list(converter->tree);
    for (const struct value *entry = value_is(native, VALUE_LIST) ? native->first : NULL; entry; entry = entry->next) {
        struct value *category = value_map(converter->tree),
                     *below = categories(converter, value_get(entry, "categories"));
        value_put(category, "title", value_share(converter->tree, value_get(entry, "title")));
        value_put(category, "process", value_share(converter->tree, value_at(entry, "process.name")));
        value_put(category, "elapsed", unit_figure(converter, value_get(entry, "elapsed"), "s"));
        if (below && below->len > 0)
            value_put(category, "categories", below);
        value_add(list, category);
    }
    return list;
}

static struct value *sleeps(struct converter *converter, const struct value *native)
{
    static const struct member always[] = {{"timestamp", "s", false, false},
                                           {"type", "", false, false},
                                           {"time", "s", false, false},
                                           {NULL, NULL, false, false}};
    static const struct member asleep[] = {
        {"gpu_freed", "GiB", false, false}, {"gpu_in_use", "GiB", false, false}, {NULL, NULL, false, false}};
    struct value *list = value_list(converter->tree);
    for (const struct value *entry = value_is(native, VALUE_LIST) ? native->first : NULL; entry; entry = entry->next) {
        struct value *sleep = value_map(converter->tree);
        put_members(converter, sleep, entry, always);
        if (value_is_text(value_get(entry, "type"), "sleep"))
            put_members(converter, sleep, entry, asleep);
        value_add(list, sleep);
    }
    return list;
}

static struct value *engine_metrics(struct converter *converter)
{
    static const struct member times[] = {{"name", "", false, false},
                                          {"pod_start", "s", false, false},
                                          {"container_start", "s", true, false},
                                          {"vllm_start_timestamp", "s", false, false},
                                          {"vllm_ready_timestamp", "s", false, false},
                                          {"dynamo_bytecode_transform", "s", false, false},
                                          {"torch_compile", "s", false, false},
                                          {"load_cached_compiled_graph", "s", false, true},
                                          {"compile_graph", "s", false, true},
                                          {NULL, NULL, false, false}};
    static const struct member load[] = {{"time", "s", false, false},
                                         {"size", "GiB", false, false},
                                         {"transfer_rate", "GiB/s", false, false},
                                         {NULL, NULL, false, false}};
    static const struct member memory[] = {{"initial_free", "GiB", false, false},
                                           {"after_free", "GiB", false, false},
                                           {"time", "s", false, false},
                                           {NULL, NULL, false, false}};
    const struct value *native = value_get(converter->native, "vllm_metrics");
    struct value *list = value_list(converter->tree);
    for (const struct value *entry = value_is(native, VALUE_LIST) ? native->first : NULL; entry; entry = entry->next) {
        struct value *metrics = value_map(converter->tree);
        put_members(converter, metrics, entry, times);
        put_members(converter, report_map(converter, metrics, "load"), value_get(entry, "load"), load);
        put_members(converter, report_map(converter, metrics, "memory_profiling"), value_get(entry, "memory_profiling"),
                    memory);
        value_put(metrics, "sleep_wake", sleeps(converter, value_get(entry, "sleep_wake")));
        value_put(metrics, "categories", categories(converter, value_get(entry, "categories")));
        value_add(list, metrics);
    }
    return list;
}

static struct value *or_text(struct converter *converter, const struct value *native, const char *text)
{
    struct value *found = value_share(converter->tree, native);
    return found ? found : value_text(converter->tree, text);
}

static struct value *launchers(struct converter *converter, const struct value *native)
{
    static const struct member requester[] = {{"name", "", false, false},
                                              {"creation_timestamp", "s", false, false},
                                              {"ready_timestamp", "s", false, false},
                                              {"dual_label_timestamp", "s", false, false},
                                              {"container_start_timestamp", "s", true, false},
                                              {NULL, NULL, false, false}};
    static const struct member plain[] = {{"name", "", false, false},
                                          {"actuation_condition", "", false, false},
                                          {"launcher_endpoint", "", false, false},
                                          {"vllm_endpoint", "", false, false},
                                          {"ttft", "s", false, false},
                                          {"launcher_creation_timestamp", "s", true, false},
                                          {"t_wake", "s", false, true},
                                          {"t_instance_create", "s", false, true},
                                          {"t_cold_launcher", "s", false, true},
                                          {NULL, NULL, false, false}};
    struct value *list = value_list(converter->tree);
    for (const struct value *entry = value_is(native, VALUE_LIST) ? native->first : NULL; entry; entry = entry->next) {
        struct value *launcher = value_map(converter->tree), *info = report_map(converter, launcher, "requester_info");
        const struct value *has_timing = value_get(entry, "dpc_timing_available");
        put_members(converter, launcher, entry, plain);
        put_members(converter, info, value_get(entry, "requester_info"), requester);
        value_put(info, "gpu_uuids", or_text(converter, value_at(entry, "requester_info.gpu_uuids"), ""));
        value_put(launcher, "launcher_node", or_text(converter, value_get(entry, "launcher_node"), ""));
        value_put(launcher, "timing_source", or_text(converter, value_get(entry, "timing_source"), "kube_pod_create"));
        value_put(launcher, "dpc_timing_available",
                  has_timing ? value_share(converter->tree, has_timing) : value_bool(converter->tree, false));
        value_add(list, launcher);
    }
    return list;
}

static struct value *iterations(struct converter *converter, const struct value *native)
{
    static const struct member members[] = {{"iteration", "count", false, false},
                                            {"hot_launcher_hit_rate", "count", true, false},
                                            {"warm_launcher_hit_rate", "count", true, false},
                                            {"cold_launcher_hit_rate", "count", true, false},
                                            {NULL, NULL, false, false}};
    struct value *list = value_list(converter->tree);
    for (const struct value *entry = value_is(native, VALUE_LIST) ? native->first : NULL; entry; entry = entry->next) {
        struct value *iteration = value_map(converter->tree);
        put_members(converter, iteration, entry, members);
        value_put(iteration, "launcher_infos", launchers(converter, value_get(entry, "launcher_infos")));
        value_add(list, iteration);
    }
    return list;
}

static struct value *extra_metrics(struct converter *converter)
{
    const struct value *native = value_get(converter->native, "extra_metrics");
    struct value *list = value_list(converter->tree);
    for (const struct value *entry = value_is(native, VALUE_LIST) ? native->first : NULL; entry; entry = entry->next) {
        if (!value_is_text(value_get(entry, "name"), "fma"))
            continue;
        struct value *extra = value_map(converter->tree);
        value_put(extra, "name", value_text(converter->tree, "fma"));
        value_put(extra, "iterations", iterations(converter, value_get(entry, "iterations")));
        value_add(list, extra);
    }
    return list;
}

static struct value *named(struct converter *converter, const char *name, struct value *take_value)
{
    struct value *map = value_map(converter->tree);
    value_put(map, "name", value_text(converter->tree, name));
    value_put(map, "value", take_value);
    return map;
}

struct value *from_nop_0_1(struct converter *converter)
{
    static const struct member times[] = {{"duration", "", false, false},
                                          {"start", "", false, false},
                                          {"stop", "", false, false},
                                          {NULL, NULL, false, false}};
    struct value *report = start_0_1(converter, "nop", value_at(converter->native, "scenario.model.name"));
    put_scenario(converter, report);
    struct value *metrics = report_map(converter, report, "metrics"), *metadata = value_list(converter->tree);
    put_members(converter, report_map(converter, metrics, "time"), value_get(converter->native, "time"), times);
    put_zero_results(converter, metrics);
    value_add(metadata, named(converter, "vllm_metrics", engine_metrics(converter)));
    value_add(metadata, named(converter, "extra_metrics", extra_metrics(converter)));
    value_put(metrics, "metadata", metadata);
    return report;
}
