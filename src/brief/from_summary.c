/* SPDX-License-Identifier: Apache-2.0 */
#include "brief/converter.h"

#include "base/clock.h"
#include "brief/hash.h"
#include "brief/scalar.h"
#include "brief/write.h"

#include <string.h>

/* summary.json of our own tools, schema metrumbench-<tool>.summary.v1. */

static const struct rename FIGURES[] = {{"mean", "mean"},   {"std", "stddev"}, {"min", "min"}, {"p50", "p50"},
                                        {"p75", "p75"},     {"p90", "p90"},    {"p95", "p95"}, {"p99", "p99"},
                                        {"p99_9", "p99p9"}, {"max", "max"},    {NULL, NULL}};

static struct value *figures(struct converter *converter, const char *path, const char *units)
{
    return with_mean(statistics_from(converter, value_at(converter->native, path), FIGURES, units));
}

static void put_identity(struct converter *converter, struct value *report)
{
    const struct value *native = converter->native;
    struct tree *tree = converter->tree;
    char uuid[UUID_TEXT_BYTES];
    struct value *run = report_map(converter, report, "run");
    const char *code = value_string(value_at(native, "sweep.code")),
               *description = value_string(value_get(native, "run_description"));
    if (!code)
        code = value_string(value_get(native, "human_readable_id"));
    value_set(run, "uid", taken(converter, value_get(native, "unique_id")));
    if (code) {
        uuid5_text(UUID_URL, code, strlen(code), uuid);
        value_set(run, "eid", value_text(tree, uuid));
    }
    if (!value_get(run, "keywords"))
        value_put(run, "keywords", split_commas(converter, value_string(value_get(native, "run_keywords"))));
    const char *model = value_string(value_at(native, "config.model"));
    if (!value_get(run, "description") && description && *description)
        value_put(run, "description", value_text(tree, description));
    if (!value_get(run, "description") && code)
        value_put(run, "description", model ? value_textf(tree, "%s [%s]", model, code) : value_text(tree, code));
}

static void put_wall(struct converter *converter, struct value *time, const char *name, struct wall epoch, double ms)
{
    char text[WALL_TEXT_BYTES];
    wall_format((struct wall){epoch.ns + (int64_t)(ms * 1e6)}, text);
    value_set(time, name, value_text(converter->tree, text));
}

static void put_time(struct converter *converter, struct value *report)
{
    const struct value *window = value_get(converter->native, "window"), *epoch_text = value_get(window, "epoch_utc");
    struct wall epoch;
    double start_ms, duration_ms;
    bool has_duration = value_number(value_get(window, "duration_ms"), &duration_ms);
    if (has_duration)
        value_set(report_map(converter, report, "run.time"), "duration",
                  duration_text(converter, value_float(converter->tree, duration_ms / 1000)));
    if (!value_is(epoch_text, VALUE_TEXT) || wall_parse(epoch_text->text, epoch_text->len, &epoch) != 0 ||
        !value_number(value_get(window, "start_ms"), &start_ms))
        return;
    put_wall(converter, report_map(converter, report, "run.time"), "start", epoch, start_ms);
    if (has_duration)
        put_wall(converter, report_map(converter, report, "run.time"), "end", epoch, start_ms + duration_ms);
}

/* What the system under test says of itself, where the run was told. */
static void put_sut(struct converter *converter, struct value *standardized)
{
    const struct value *sut = value_get(converter->native, "sut");
    struct value *accelerator = report_map(converter, standardized, "accelerator");
    struct tree *tree = converter->tree;
    struct value *tool = taken(converter, value_get(sut, "engine")),
                 *version = taken(converter, value_get(sut, "engine_version"));
    value_put(standardized, "tool", tool ? tool : value_text(tree, ""));
    value_put(standardized, "tool_version", version ? version : value_text(tree, ""));
    struct value *model = taken(converter, value_at(sut, "accelerator.model")),
                 *count = taken(converter, value_at(sut, "accelerator.count"));
    value_put(accelerator, "model", model ? model : value_text(tree, ""));
    value_put(accelerator, "count", count ? count : value_int(tree, 0));
    struct value *parallelism = taken(converter, value_at(sut, "accelerator.parallelism"));
    value_put(accelerator, "parallelism", parallelism ? parallelism : value_map(tree));
}

static struct value *component(struct converter *converter, const struct value *endpoint, const char *model)
{
    struct tree *tree = converter->tree;
    struct value *map = value_map(tree), *config = report_map(converter, map, "native.config");
    struct strbuf text AS_AUTO_STRBUF;
    char digest[SHA256_HEX_BYTES];
    value_put(config, "url", taken(converter, value_get(endpoint, "url")));
    value_put(config, "weight", taken(converter, value_get(endpoint, "weight")));
    strbuf_init(&text, 0);
    if (value_get(map, "native"))
        write_canonical(value_get(map, "native"), &text);
    tree->failed = tree->failed || strbuf_status(&text) != AS_OK;
    sha256_hex(strbuf_text(&text), text.len, digest);
    struct value *metadata = report_map(converter, map, "metadata"),
                 *standardized = report_map(converter, map, "standardized");
    struct value *label = taken(converter, value_get(endpoint, "name"));
    value_put(metadata, "schema_version", value_text(tree, "0.0.1"));
    value_put(metadata, "label", label ? label : value_text(tree, ""));
    value_put(metadata, "cfg_id", value_text(tree, digest));
    value_put(standardized, "kind", value_text(tree, "inference_engine"));
    value_put(standardized, "role", value_text(tree, "replica"));
    value_put(standardized, "replicas", value_int(tree, 1));
    value_put(report_map(converter, standardized, "model"), "name", value_text(tree, model));
    put_sut(converter, standardized);
    return map;
}

static void put_stack(struct converter *converter, struct value *report)
{
    const struct value *endpoints = value_get(converter->native, "endpoints");
    const char *model = value_string(value_at(converter->native, "config.model"));
    struct value *stack = value_list(converter->tree);
    for (const struct value *endpoint = model && value_is(endpoints, VALUE_LIST) ? endpoints->first : NULL; endpoint;
         endpoint = endpoint->next)
        value_add(stack, component(converter, endpoint, model));
    if (stack && stack->len > 0)
        value_set(report_map(converter, report, "scenario"), "stack", stack);
}

static struct value *input_length(struct converter *converter)
{
    const struct value *tokens = value_at(converter->native, "tokens.prompt"),
                       *asked = value_at(converter->native, "config.synthetic_isl");
    int64_t fixed;
    if (value_is(asked, VALUE_TEXT) && scalar_int(asked->text, asked->len, &fixed))
        return length_of(converter, "fixed", value_int(converter->tree, fixed));
    struct value *measured = taken(converter, value_get(tokens, "mean"));
    if (!measured) {
        convert_warn(converter,
                     "WARNING: no input length is known; scenario.load.standardized.input_seq_len.value is 0");
        measured = value_int(converter->tree, 0);
    }
    struct value *length = length_of(converter, "other", measured);
    value_put(length, "min", taken_count(converter, value_get(tokens, "min")));
    value_put(length, "max", taken_count(converter, value_get(tokens, "max")));
    return length;
}

/* Only where the server was told to keep to it. */
static struct value *output_length(struct converter *converter, const struct value *config)
{
    const struct value *most = value_have(config, "max_tokens"), *least = value_have(config, "min_tokens");
    bool is_enforced = value_is_true(value_get(config, "ignore_eos")) || (least && value_equal(least, most));
    return is_enforced && value_is(most, VALUE_INT) ? length_of(converter, "fixed", taken(converter, most)) : NULL;
}

static const char *source_of(const struct value *config)
{
    if (value_have(config, "prompts") || value_is_text(value_get(config, "dataset_name"), "sharegpt"))
        return "sampled";
    return value_have(config, "synthetic_isl") || value_is_text(value_get(config, "dataset_name"), "random")
               ? "random"
               : "unknown";
}

static void put_load(struct converter *converter, struct value *report)
{
    const struct value *native = converter->native, *config = value_get(native, "config"),
                       *rate = value_have(config, "request_rate");
    struct tree *tree = converter->tree;
    struct value *standardized = report_map(converter, report, "scenario.load.standardized"),
                 *load_config = report_map(converter, report, "scenario.load.native.config");
    struct value *version = taken(converter, value_get(native, "version")),
                 *tool = taken(converter, value_get(native, "tool"));
    const struct value *concurrency = value_have(config, rate ? "max_concurrency" : "concurrency"),
                       *stage = value_have(native, "stage");
    value_put(standardized, "tool", tool ? tool : value_text(tree, "assay"));
    if (version)
        value_set(standardized, "tool_version", version);
    if (value_is_true(value_get(native, "shards")))
        value_set(standardized, "parallelism", taken(converter, value_get(native, "shards")));
    value_put(standardized, "source", value_text(tree, source_of(config)));
    value_set(standardized, "stage", stage ? taken(converter, stage) : value_int(tree, 0));
    value_put(standardized, "input_seq_len", input_length(converter));
    value_put(standardized, "output_seq_len", output_length(converter, config));
    value_put(standardized, "rate_qps", taken(converter, rate));
    if (value_is_true(concurrency))
        value_put(standardized, "concurrency", taken_count(converter, concurrency));
    value_set(load_config, "options", taken(converter, config));
    value_set(load_config, "prompts", taken(converter, value_get(native, "prompts")));
    put_load_metadata(converter, report, load_config);
    value_put(report_map(converter, report, "scenario.load.metadata"), "description",
              taken(converter, value_get(native, "scenario")));
    put_treatment(converter, report);
}

static int64_t sum(const struct value *counts, const char *const *names)
{
    int64_t total = 0;
    for (; *names; names++)
        if (value_is(value_get(counts, *names), VALUE_INT))
            total += value_get(counts, *names)->integer;
    return total;
}

static void put_results(struct converter *converter, struct value *report)
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
                                           {"image_rate", "vlm.images_per_second", "images/s"}};
    const struct value *counts = value_at(converter->native, "counts.measured");
    struct tree *tree = converter->tree;
    struct value *aggregate = report_map(converter, report, "results.request_performance.aggregate"),
                 *requests = report_map(converter, aggregate, "requests");
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

/* Media that were sent, for tools that send some. */
static void put_media(struct converter *converter, struct value *report)
{
    static const char *const media[][4] = {{"image", "count", "vlm.images_per_request", "count"},
                                           {"image", "filesize", "vlm.image_bytes", "bytes"},
                                           {"image", "pixels", "vlm.image_pixels", "pixels"},
                                           {"audio", "filesize", "asr.audio_bytes", "bytes"},
                                           {"audio", "duration", "asr.audio_seconds", "s"}};
    for (size_t i = 0; i < sizeof media / sizeof media[0]; i++) {
        struct value *statistics = figures(converter, media[i][2], media[i][3]);
        if (statistics)
            value_put(
                report_map(converter,
                           report_map(converter, report, "results.request_performance.aggregate.requests.multimodal"),
                           media[i][0]),
                media[i][1], statistics);
    }
}

struct value *from_summary_0_2(struct converter *converter)
{
    const char *schema = value_string(value_get(converter->native, "schema"));
    struct strbuf *warnings = converter->warnings, ignored AS_AUTO_STRBUF;
    strbuf_init(&ignored, 0);
    /* The run has an identity of its own: a missing experiment ID is nothing to warn of. */
    converter->warnings = &ignored;
    struct value *report = envelope(converter);
    const char *submitted = meta(converter, "description_text", "LLMDBENCH_DESCRIPTION_TEXT");
    if (converter->request->description || submitted)
        envelope_describe(converter, report);
    converter->warnings = warnings;
    if (!schema || strncmp(schema, "metrumbench-", strlen("metrumbench-")) != 0 || !strstr(schema, ".summary.v1"))
        convert_warn(converter, "WARNING: the file does not say that it is a summary of this program (schema)");
    put_identity(converter, report);
    put_time(converter, report);
    put_stack(converter, report);
    put_load(converter, report);
    put_results(converter, report);
    put_media(converter, report);
    return report;
}

/* Members of run.json that the summary has not. */
static as_status add_run(const char *run, size_t run_len, struct value *summary, struct tree *tree,
                         struct as_error *err)
{
    static const char *const names[] = {"sut", "stage", "sweep"};
    struct value *facts = NULL;
    as_status status = read_text(run, run_len, tree, &facts, err);
    for (size_t i = 0; status == AS_OK && i < sizeof names / sizeof names[0]; i++)
        if (!value_get(summary, names[i]))
            value_put(summary, names[i], value_share(tree, value_get(facts, names[i])));
    return status;
}

/* The summary with what run.json adds to it. */
static as_status join_texts(const struct summary_texts *texts, struct strbuf *ret, struct as_error *err)
{
    struct tree tree;
    struct value *root = NULL;
    tree_init(&tree, READ_TREE_BYTES_MAX);
    as_status status = read_text(texts->summary, texts->summary_len, &tree, &root, err);
    if (status == AS_OK)
        status = add_run(texts->run, texts->run_len, root, &tree, err);
    if (status == AS_OK) {
        write_json(root, 0, ret);
        status = strbuf_status(ret);
    }
    tree_done(&tree);
    return status;
}

as_status brief_from_summary(const struct summary_texts *texts, struct strbuf *out, struct strbuf *warnings,
                             struct as_error *err)
{
    const struct convert_request request = {.generator = "assay", .version = "0.2.1"};
    struct conversion conversion;
    struct strbuf joined AS_AUTO_STRBUF;
    conversion_init(&conversion);
    strbuf_init(&joined, 0);
    as_status status = texts->run ? join_texts(texts, &joined, err) : AS_OK;
    if (status == AS_OK)
        status = convert_text(&request, texts->run ? joined.data : texts->summary,
                              texts->run ? joined.len : texts->summary_len, &conversion, err);
    if (status == AS_OK) {
        brief_write_yaml(&conversion.reports[0], out);
        status = strbuf_status(out);
    }
    if (warnings)
        strbuf_adds(warnings, strbuf_text(&conversion.warnings));
    conversion_done(&conversion);
    return status;
}
