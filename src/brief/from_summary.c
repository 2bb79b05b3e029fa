/* SPDX-License-Identifier: Apache-2.0 */
#include "brief/from_summary.h"

#include "base/clock.h"
#include "base/file.h"
#include "brief/hash.h"
#include "brief/scalar.h"
#include "brief/write.h"

#include <limits.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

/*
 * summary.json of our own tools, schema metrumbench-<tool>.summary.v1: identity, time, stack and load. What no summary
 * holds (what was under test, telemetry, the place in a sweep) is taken from its members `sut`, `telemetry`, `stage`,
 * `sweep`, else from those of run.json beside it, else from sut.json and telemetry.json beside it.
 */

/* A file beside the summary, NULL when there is none; one that cannot be read is told. */
static const struct value *beside(struct converter *converter, const char *name)
{
    char folder[PATH_MAX], path[PATH_MAX];
    const char *own = converter->request->path;
    if (!own || !path_dir(folder, sizeof folder, own) || !path_join(path, sizeof path, folder, name) ||
        !file_exists(path))
        return NULL;
    return read_beside(converter, path, "WARNING: not used");
}

const struct value *summary_fact(struct converter *converter, const char *name)
{
    char file[32];
    const struct value *fact = value_have(converter->native, name);
    if (fact)
        return fact;
    if (!converter->has_run) {
        converter->run = beside(converter, "run.json");
        converter->has_run = true;
    }
    fact = value_have(converter->run, name);
    if (fact)
        return fact;
    (void)snprintf(file, sizeof file, "%s.json", name);
    return strcmp(name, "sut") == 0 || strcmp(name, "telemetry") == 0 ? beside(converter, file) : NULL;
}

/* The sweep's code, by --sweep or from beside; NULL = the run is on its own. */
static const char *sweep_of(struct converter *converter)
{
    const char *beside_it = value_string(value_get(summary_fact(converter, "sweep"), "code"));
    return beside_it ? beside_it : value_string(value_at(converter->native, "config.sweep"));
}

static void put_identity(struct converter *converter, struct value *report)
{
    const struct value *native = converter->native;
    struct tree *tree = converter->tree;
    char uuid[UUID_TEXT_BYTES];
    struct value *run = report_map(converter, report, "run");
    const char *code = sweep_of(converter),
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

/* Left out, with a warning, where no date can be that late or early. */
static void put_wall(struct converter *converter, struct value *time, const char *name, struct wall epoch, double ms)
{
    char text[WALL_TEXT_BYTES];
    if (!(fabs((double)epoch.ns + ms * 1e6) < 9e18)) {
        convert_warn(converter, "WARNING: run.time.%s is left out: %g ms after the beginning is no date", name, ms);
        return;
    }
    wall_format((struct wall){epoch.ns + (int64_t)(ms * 1e6)}, text);
    value_set(time, name, value_text(converter->tree, text));
}

static void put_time(struct converter *converter, struct value *report)
{
    const struct value *window = value_get(converter->native, "window"), *epoch_text = value_get(window, "epoch_utc");
    struct wall epoch;
    double start_ms, duration_ms;
    bool has_duration = value_number(value_get(window, "duration_ms"), &duration_ms);
    struct value *length =
        has_duration ? duration_text(converter, value_float(converter->tree, round(duration_ms * 1e6) / 1e9)) : NULL;
    if (length)
        value_set(report_map(converter, report, "run.time"), "duration", length);
    if (!value_is(epoch_text, VALUE_TEXT) || wall_parse(epoch_text->text, epoch_text->len, &epoch) != 0 ||
        !value_number(value_get(window, "start_ms"), &start_ms))
        return;
    put_wall(converter, report_map(converter, report, "run.time"), "start", epoch, start_ms);
    if (has_duration)
        put_wall(converter, report_map(converter, report, "run.time"), "end", epoch, start_ms + duration_ms);
}

/* What is known of the system under test: for this endpoint, where it is said by name, else for all of them. */
static const struct value *sut_of(struct converter *converter, const char *label)
{
    const struct value *sut = summary_fact(converter, "sut"),
                       *own = label ? value_have(value_get(sut, "endpoints"), label) : NULL;
    return own ? own : sut;
}

/* Its member, else this text. */
static void put_text_of(struct converter *converter, struct value *map, const char *key, const struct value *native,
                        const char *otherwise)
{
    struct value *own = taken(converter, native);
    value_put(map, key, own ? own : value_text(converter->tree, otherwise));
}

static void put_sut(struct converter *converter, const struct value *sut, struct value *standardized)
{
    struct value *accelerator = report_map(converter, standardized, "accelerator");
    struct tree *tree = converter->tree;
    put_text_of(converter, standardized, "tool", value_get(sut, "engine"), "");
    put_text_of(converter, standardized, "tool_version", value_get(sut, "engine_version"), "");
    put_text_of(converter, standardized, "role", value_get(sut, "role"), "replica");
    put_text_of(converter, accelerator, "model", value_at(sut, "accelerator.model"), "");
    struct value *replicas = taken(converter, value_get(sut, "replicas")),
                 *count = taken(converter, value_at(sut, "accelerator.count")),
                 *parallelism = taken(converter, value_at(sut, "accelerator.parallelism"));
    value_put(standardized, "replicas", replicas ? replicas : value_int(tree, 1));
    value_put(accelerator, "count", count ? count : value_int(tree, 0));
    value_put(accelerator, "parallelism", parallelism ? parallelism : value_map(tree));
}

static struct value *component(struct converter *converter, const struct value *endpoint, const char *model)
{
    struct tree *tree = converter->tree;
    const struct value *sut = sut_of(converter, value_string(value_get(endpoint, "name")));
    struct value *map = value_map(tree), *config = report_map(converter, map, "native.config"),
                 *native = report_map(converter, map, "native");
    struct strbuf text AS_AUTO_STRBUF;
    char digest[SHA256_HEX_BYTES];
    value_put(config, "url", taken(converter, value_get(endpoint, "url")));
    value_put(config, "weight", taken(converter, value_get(endpoint, "weight")));
    value_put(config, "sut", taken(converter, value_get(sut, "config")));
    value_put(native, "args", taken(converter, value_get(sut, "args")));
    value_put(native, "envars", taken(converter, value_get(sut, "envars")));
    strbuf_init(&text, 0);
    if (native)
        write_canonical(native, &text);
    tree->failed = tree->failed || strbuf_status(&text) != AS_OK;
    sha256_hex(strbuf_text(&text), text.len, digest);
    struct value *metadata = report_map(converter, map, "metadata"),
                 *standardized = report_map(converter, map, "standardized");
    value_put(metadata, "schema_version", value_text(tree, "0.0.1"));
    put_text_of(converter, metadata, "label", value_get(endpoint, "name"), "");
    value_put(metadata, "cfg_id", value_text(tree, digest));
    value_put(standardized, "kind", value_text(tree, "inference_engine"));
    value_put(report_map(converter, standardized, "model"), "name", value_text(tree, model));
    put_sut(converter, sut, standardized);
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
    if (value_have(config, "prompts") || value_have(config, "input") ||
        value_is_text(value_get(config, "dataset_name"), "sharegpt"))
        return "sampled";
    return value_have(config, "synthetic_isl") || value_is_text(value_get(config, "dataset_name"), "random")
               ? "random"
               : "unknown";
}

/* A copy in which the run's own identity is "{run}": the same settings give the same text. */
static struct value *without_run(struct converter *converter, const struct value *from, const char *run)
{
    struct value *copy = value_share(converter->tree, from);
    if (value_is(copy, VALUE_TEXT) && strstr(copy->text, run)) {
        struct strbuf text AS_AUTO_STRBUF;
        strbuf_init(&text, 0);
        for (const char *at = copy->text, *found; at; at = found ? found + strlen(run) : NULL) {
            found = strstr(at, run);
            strbuf_add(&text, at, found ? (size_t)(found - at) : strlen(at));
            strbuf_adds(&text, found ? "{run}" : "");
        }
        converter->tree->failed = converter->tree->failed || strbuf_status(&text) != AS_OK;
        return value_textn(converter->tree, strbuf_text(&text), text.len);
    }
    if (!value_is(copy, VALUE_MAP) && !value_is(copy, VALUE_LIST))
        return copy;
    copy->first = copy->last = NULL;
    copy->len = 0;
    for (const struct value *child = from->first; child; child = child->next) {
        struct value *twin = without_run(converter, child, run);
        if (value_is(copy, VALUE_MAP))
            value_putn(copy, child->key, child->key_len, twin);
        else
            value_add(copy, twin);
    }
    return copy;
}

/* The options in effect: no places where results went, no word on where a value came from, no figures of the source. */
static struct value *options_of(struct converter *converter, const struct value *config)
{
    static const char *const others[] = {"origins", "result_dir",   "data_log",      "job",          "summary", "console",
                                         "quiet",   "artifact_dir", "prompt_source", "audio_source", "sweep",   "stage",
                                         NULL};
    const char *run = value_string(value_get(converter->native, "unique_id"));
    struct value *options = value_map(converter->tree);
    for (const struct value *option = value_is(config, VALUE_MAP) ? config->first : NULL; option;
         option = option->next) {
        const char *const *other = others;
        while (*other && strcmp(*other, option->key) != 0)
            other++;
        if (!*other)
            value_putn(options, option->key, option->key_len,
                       run && *run ? without_run(converter, option, run) : value_share(converter->tree, option));
    }
    return options;
}

/* Where the prompts, images or audio came from, with the digest of the file. */
static struct value *prompts_of(struct converter *converter, const struct value *config)
{
    static const char *const origins[] = {"prompts", "input", "dataset_name", NULL};
    struct value *prompts = value_map(converter->tree);
    const struct value *facts = value_have(config, "prompt_source"), *told = value_get(converter->native, "prompts");
    if (!facts)
        facts = value_have(config, "audio_source");
    for (const char *const *origin = origins; *origin && !value_get(prompts, "source"); origin++)
        value_put(prompts, "source", taken(converter, value_get(config, *origin)));
    if (!value_get(prompts, "source") && value_have(config, "synthetic_isl"))
        value_put(prompts, "source", value_text(converter->tree, "synthetic"));
    for (const struct value *fact = value_is(facts, VALUE_MAP) ? facts->first : NULL; fact; fact = fact->next)
        value_putn(prompts, fact->key, fact->key_len, taken(converter, fact));
    value_put(prompts, "distinct", taken(converter, value_get(told, "available")));
    value_put(prompts, "made_unique", taken(converter, value_get(told, "made_unique")));
    return prompts;
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
                       *stage = summary_fact(converter, "stage");
    if (!stage)
        stage = value_have(config, "stage");
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
    value_set(load_config, "options", options_of(converter, config));
    value_set(load_config, "prompts", prompts_of(converter, config));
    put_load_metadata(converter, report, load_config);
    value_put(report_map(converter, report, "scenario.load.metadata"), "description",
              taken(converter, value_get(native, "scenario")));
    put_treatment(converter, report);
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
    if (!schema || strncmp(schema, CONVERT_OWN_SCHEMA, strlen(CONVERT_OWN_SCHEMA)) != 0 ||
        !strstr(schema, ".summary.v1"))
        convert_warn(converter, "WARNING: the file does not say that it is a summary of this program (schema)");
    put_identity(converter, report);
    put_time(converter, report);
    put_stack(converter, report);
    put_load(converter, report);
    put_summary_results(converter, report);
    return report;
}

as_status brief_from_summary(const char *path, struct strbuf *out, struct strbuf *warnings, struct as_error *err)
{
    const struct convert_request request = {.generator = "assay", .version = "0.2.1", .path = path};
    struct conversion conversion;
    conversion_init(&conversion);
    as_status status = convert_file(&request, &conversion, err);
    if (status == AS_OK) {
        brief_write_yaml(&conversion.reports[0], out);
        status = strbuf_status(out);
    }
    if (warnings)
        strbuf_adds(warnings, strbuf_text(&conversion.warnings));
    conversion_done(&conversion);
    return status;
}
