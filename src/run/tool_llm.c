/* SPDX-License-Identifier: Apache-2.0 */
#include "run/run.h"

#include "base/log.h"
#include "run/conflicts.h"

#include <math.h>
#include <string.h>

#define RANDOM_ISL "1024"
#define RANDOM_OSL "128"

/* ---- options ---- */

static bool ends_with(const char *text, const char *end)
{
    size_t len = strcspn(text, "?#"), end_len = strlen(end);
    while (len && text[len - 1] == '/')
        len--;
    return len >= end_len && memcmp(text + len - end_len, end, end_len) == 0;
}

/* -1 = the URL does not say. */
static int api_of_url(const char *url)
{
    if (ends_with(url, "/chat/completions"))
        return RUN_CHAT;
    return ends_with(url, "/completions") ? RUN_COMPLETION : -1;
}

static as_status resolve_api(struct resolving *what, struct as_error *err)
{
    struct run_config *config = what->config;
    struct opt_parsed *parsed = what->parsed;
    const struct endpoint_list *endpoints = what->endpoints;
    static const char *const names[] = {"chat", "completion"};
    int found = -1;
    for (size_t i = 0; i < endpoints->count; i++) {
        int api = api_of_url(endpoints->items[i].url);
        if (api >= 0 && found >= 0 && api != found)
            return error_set(
                err, AS_E_USAGE,
                "one server's URL ends in /chat/completions, another's in /completions; a run speaks one of them");
        found = api >= 0 ? api : found;
    }
    if (found < 0 || found == config->request.api)
        return AS_OK;
    if (options_is_given(parsed, "mode"))
        return error_set(err, AS_E_USAGE, "%s asks for %s, but a server's URL ends in the path of %s: leave one of them out",
                         resolve_spelled(what, "mode"), names[config->request.api], names[found]);
    return options_put(parsed, "mode", names[found], err);
}

static as_status spread_length(struct length_spec *length, double ratio, struct as_error *err)
{
    if (isnan(ratio))
        return AS_OK;
    if (length->spread)
        return error_set(err, AS_E_USAGE, "--random-range-ratio and a length with ±S say the same thing; give one");
    length->spread = (int64_t)((double)length->mean * ratio);
    return AS_OK;
}

static as_status resolve_lengths(struct run_config *config, struct run_shape *shape, struct as_error *err)
{
    struct prompt_config *prompt = &config->prompt;
    as_status status = length_parse(prompt->isl, &shape->input, err);
    if (status == AS_OK && prompt->osl)
        status = length_parse(prompt->osl, &shape->output, err);
    if (status == AS_OK)
        status = spread_length(&shape->input, prompt->range_ratio, err);
    if (status == AS_OK && prompt->osl)
        status = spread_length(&shape->output, prompt->range_ratio, err);
    return status;
}

static as_status resolve_prompts(struct resolving *what, struct as_error *err)
{
    struct prompt_config *prompt = &what->config->prompt;
    struct opt_parsed *parsed = what->parsed;
    struct run_shape *shape = what->shape;
    as_status status = AS_OK;
    if (prompt->dataset == RUN_DATASET_CUSTOM && !prompt->source)
        return error_set(err, AS_E_USAGE, "--dataset-name custom needs a file: --dataset-path FILE (here --prompts)");
    if (prompt->dataset == RUN_DATASET_RANDOM && prompt->source)
        return resolve_both(what, "dataset-name", "prompts", "random prompts are generated, not read", err);
    if (prompt->dataset == RUN_DATASET_RANDOM && !prompt->isl)
        status = options_put(parsed, "synthetic-isl", RANDOM_ISL, err);
    if (status == AS_OK && prompt->dataset == RUN_DATASET_RANDOM && !prompt->osl && !options_is_given(parsed, "max-tokens"))
        status = options_put(parsed, "synthetic-osl", RANDOM_OSL, err);
    if (status != AS_OK)
        return status;
    if (!prompt->source && !prompt->isl)
        return error_set(err, AS_E_USAGE,
                         "no prompts: give --prompts FILE (JSONL, `prompt` a line) or --synthetic-isl N");
    shape->is_synthetic = prompt->isl != NULL;
    return shape->is_synthetic ? resolve_lengths(what->config, shape, err) : AS_OK;
}

static as_status resolve(struct resolving *what, struct as_error *err)
{
    const struct run_config *config = what->config;
    as_status status = resolve_api(what, err);
    if (status == AS_OK)
        status = resolve_prompts(what, err);
    if (status == AS_OK)
        status = conflicts_check_proxy(what, err);
    what->shape->modes |= config->request.api == RUN_CHAT ? RUN_API_CHAT : RUN_API_COMPLETION;
    what->shape->modes |= config->request.streaming ? RUN_STREAM : RUN_WHOLE;
    what->shape->modes |= what->shape->is_synthetic ? RUN_SYNTHETIC : RUN_FROM_FILE;
    return status;
}

/* ---- prompts ---- */

static void warn_of_prompts(const struct run *run)
{
    const struct source *source = run->loaded;
    const struct prompts *prompts = &source->prompts;
    int64_t reuse =
        run->plan.engine.request_count == INT64_MAX ? 0 : prompts_reuse(prompts, run->plan.engine.request_count);
    if (prompts->bad_lines)
        log_warning("%lld bad lines of the prompts were skipped; the first: %s", (long long)prompts->bad_lines,
                    prompts->first_bad.message);
    if (prompts->unknown_member[0])
        log_warning("the prompts have members without a meaning here, for example \"%s\"", prompts->unknown_member);
    if (reuse > 1 && !run->config.request.unique_prompts && !run->config.result.quiet)
        log_info("prompts are used up to %lld times: a prefix cache of the server may help (--unique-prompts)",
                 (long long)reuse);
}

static as_status load(struct run *run, struct as_error *err)
{
    struct source_context context = {&run->config, &run->parsed, &run->shape, &run->targets};
    struct source *source = arena_calloc(&run->arena, 1, sizeof *source);
    if (!source)
        return error_set(err, AS_E_NOMEM, "out of memory");
    as_status status = source_make(&context, source, err);
    if (status != AS_OK)
        return status;
    run->loaded = source;
    if (!run->config.result.dry_run)
        warn_of_prompts(run);
    return AS_OK;
}

static void unload(struct run *run)
{
    source_done(run->loaded);
}

/* ---- what is told of it ---- */

static void put_prompts(const struct run *run, struct json_writer *writer)
{
    const struct source *source = run->loaded;
    json_key(writer, "prompt_source");
    if (!source) {
        json_put_null(writer);
        return;
    }
    json_open_object(writer);
    json_member_int(writer, "count", (int64_t)source->prompts.count);
    json_member_string(writer, "sha256", source->prompts.digest);
    json_member_int(writer, "lines", source->prompts.lines);
    json_member_int(writer, "bad_lines", source->prompts.bad_lines);
    json_member_string(writer, "first_bad_line", source->prompts.bad_lines ? source->prompts.first_bad.message : NULL);
    json_member_int(writer, "with_expected_output_tokens", source->prompts.with_expected_tokens);
    if (run->shape.is_synthetic) {
        json_member_double(writer, "tokens_per_word", source->ratio.tokens_per_word);
        json_member_double(writer, "overhead_tokens", source->ratio.overhead_tokens);
        json_key(writer, "calibration");
        json_open_array(writer);
        for (size_t i = 0; i < source->probe_count; i++) {
            json_open_object(writer);
            json_member_int(writer, "words", source->probes[i].words);
            json_member_int(writer, "prompt_tokens", source->probes[i].prompt_tokens);
            json_close_object(writer);
        }
        json_close_array(writer);
    }
    json_close_object(writer);
}

/* The body with "{prompt}" for the prompt; null when there is no model yet. */
static void put_template(struct run *run, struct json_writer *writer)
{
    struct strbuf body AS_AUTO_STRBUF;
    struct llm_config config = source_llm_config(&run->config, &run->targets);
    strbuf_init(&body, 0);
    config.run_id = run->identity.uuid;
    json_key(writer, "body_template");
    if (config.model && source_body_template(&config, &body, NULL) == AS_OK)
        json_put_raw(writer, strbuf_text(&body), body.len);
    else
        json_put_null(writer);
}

static as_status tell(struct run *run, struct json_writer *writer, struct run_rules *rules)
{
    const struct request_config *request = &run->config.request;
    const struct source *source = run->loaded;
    rules->is_streaming = request->streaming;
    rules->expects_full_length = request->ignore_eos || request->min_tokens != OPT_ABSENT;
    rules->has_unique_prompts = request->unique_prompts;
    rules->prompt_count = source ? (int64_t)source->prompts.count : -1;
    put_prompts(run, writer);
    put_template(run, writer);
    return AS_OK;
}

/* ---- the run ---- */

static as_status open_work(struct run *run, struct run_work *work, struct as_error *err)
{
    const struct source *source = run->loaded;
    struct llm_config config = source_llm_config(&run->config, &run->targets);
    struct llm *llm = NULL;
    config.run_id = run->identity.uuid;
    as_status status = llm_new(&config, &source->prompts, &llm, err);
    work->modality = llm_modality();
    work->context = llm;
    return status;
}

static void close_work(struct run *run, struct run_work *work)
{
    (void)run;
    llm_free(work->context);
}

const struct run_tool TOOL_LLM = {
    .name = "llm",
    .line = &LLM_LINE,
    .resolve = resolve,
    .load = load,
    .unload = unload,
    .tell = tell,
    .open = open_work,
    .close = close_work,
};
