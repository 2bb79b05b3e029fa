/* SPDX-License-Identifier: Apache-2.0 */
#include "run/source.h"

#include "base/log.h"
#include "engine/error_text.h"
#include "workload/calibrate.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#define FETCH_TIMEOUT_NS (INT64_C(30) * NS_PER_S)
#define MODEL_LIST_MAX_BYTES ((size_t)8 * 1024 * 1024)
#define MODELS_SHOWN 8
#define SYNTHETIC_PROMPTS_MAX 4096

static as_status no_memory(struct as_error *err)
{
    return error_set(err, AS_E_NOMEM, "out of memory");
}

/* A reply that is not 2xx is an error here; the sentence begins with what was asked. */
static as_status run_fetch(const struct fetch_request *request, const char *const *secrets, const char *what, struct fetch_reply *ret,
                           struct as_error *err)
{
    as_status status = fetch_run(request, ret, err);
    if (status != AS_OK) {
        error_prefix(err, "%s", what);
        return status;
    }
    if (ret->status >= 200 && ret->status < 300)
        return AS_OK;
    struct error_text said;
    error_text_from_body(strbuf_text(&ret->body), ret->body.len, secrets, &said);
    status = error_set(err, AS_E_NETWORK, "%s: %s answered %d%s%.200s", what, ret->url, ret->status, said.len ? ": " : "", said.text);
    fetch_reply_done(ret);
    return status;
}

/* One model: its name. Else a sentence with what there is. */
static as_status choose_model(const struct json_value *root, const char **ret, struct as_error *err)
{
    const struct json_value *data = json_get(root, "data");
    char names[300] = "";
    size_t count = 0, used = 0;
    for (const struct json_value *model = data && data->type == JSON_ARRAY ? data->first : NULL; model; model = model->next) {
        const char *id;
        if (!json_string(json_get(model, "id"), &id))
            continue;
        *ret = id;
        if (count++ < MODELS_SHOWN && used < sizeof names - 1) {
            int len = snprintf(names + used, sizeof names - used, "%s%.80s", used ? ", " : "", id);
            used += len > 0 ? (size_t)len : 0;
        }
    }
    if (count == 1)
        return AS_OK;
    if (count == 0)
        return error_set(err, AS_E_USAGE, "the server's /models lists no model; give --model NAME");
    return error_set(err, AS_E_USAGE, "the server's /models lists %zu models (%s%s); give --model NAME", count, names,
                     count > MODELS_SHOWN ? ", …" : "");
}

as_status source_find_model(const struct source_context *context, struct as_error *err)
{
    struct run_config *config = context->config;
    if (config->request.model)
        return AS_OK;
    struct fetch_request request;
    struct fetch_reply reply;
    if (targets_fetch(context->targets, 0, "/models", &config->endpoint, &request) != AS_OK)
        return no_memory(err);
    request.timeout_ns = FETCH_TIMEOUT_NS;
    request.max_bytes = MODEL_LIST_MAX_BYTES;
    as_status status = run_fetch(&request, context->targets->secrets, "--model is not given and the list of models cannot be read", &reply, err);
    if (status != AS_OK)
        return status;
    const struct json_value *root = NULL;
    const char *name = NULL;
    struct arena arena;
    arena_init(&arena, 0, MODEL_LIST_MAX_BYTES * 8);
    struct json_limits limits = {.lossy = true};
    if (json_parse(strbuf_text(&reply.body), reply.body.len, &limits, &arena, &root, NULL) != AS_OK)
        status = error_set(err, AS_E_NETWORK, "the server's /models is not JSON; give --model NAME");
    else
        status = choose_model(root, &name, err);
    if (status == AS_OK)
        status = options_put(context->parsed, "model", name, err);
    arena_done(&arena);
    fetch_reply_done(&reply);
    return status;
}

struct llm_config source_llm_config(const struct run_config *config, const struct targets *targets)
{
    static const char *const fields[] = {"max_tokens", "max_completion_tokens"};
    const struct request_config *request = &config->request;
    return (struct llm_config){
        .api = request->api == RUN_CHAT ? LLM_CHAT : LLM_COMPLETION,
        .streaming = request->streaming,
        .model = request->model,
        .system_prompt = request->system_prompt,
        .max_tokens_field = fields[request->max_tokens_field],
        .max_tokens = request->max_tokens,
        .min_tokens = request->min_tokens == OPT_ABSENT ? -1 : request->min_tokens,
        .ignore_eos = request->ignore_eos,
        .temperature = request->temperature,
        .has_seed = request->seed != OPT_ABSENT,
        .seed = request->seed == OPT_ABSENT ? 0 : request->seed,
        .choices = (uint32_t)request->choices,
        .extra_body = request->extra_body,
        .unique_prompts = request->unique_prompts,
        .run_seed = (uint64_t)config->load.seed,
        .save_content = config->result.save_content,
        .save_limit_bytes = (size_t)config->result.save_limit_bytes,
        .secrets = targets ? targets->secrets : NULL, /* ends with NULL */
    };
}

/* Prompts of these texts, in this order. */
static as_status prompts_of(const char *const *texts, size_t count, struct prompts *ret, struct as_error *err)
{
    struct strbuf lines AS_AUTO_STRBUF;
    strbuf_init(&lines, 0);
    for (size_t i = 0; i < count; i++) {
        struct json_writer writer;
        json_writer_init(&writer, &lines, 0);
        json_open_object(&writer);
        json_member_string(&writer, "prompt", texts[i]);
        json_close_object(&writer);
        strbuf_addc(&lines, '\n');
    }
    if (strbuf_status(&lines) != AS_OK)
        return no_memory(err);
    struct prompts_options options = {.name = "generated prompts"};
    return prompts_parse(strbuf_text(&lines), lines.len, &options, ret, err);
}

/* The body of request `seq` with this prompt. */
static as_status body_of(const struct llm_config *config, const char *prompt, int64_t seq, struct strbuf *out, struct as_error *err)
{
    struct prompts prompts;
    struct llm *llm = NULL;
    as_status status = prompts_of(&prompt, 1, &prompts, err);
    if (status != AS_OK)
        return status;
    status = llm_new(config, &prompts, &llm, err);
    if (status == AS_OK) {
        status = llm_body(llm, seq, out);
        llm_free(llm);
    }
    prompts_done(&prompts);
    return status;
}

as_status source_body_template(const struct llm_config *config, struct strbuf *out, struct as_error *err)
{
    return body_of(config, "{prompt}", 0, out, err);
}

/* A POST of JSON to the first server. */
static as_status post_json(const struct source_context *context, enum llm_api api, const struct strbuf *body, struct fetch_request *ret)
{
    const char *path = api == LLM_CHAT ? "/chat/completions" : "/completions";
    as_status status = targets_fetch(context->targets, 0, path, &context->config->endpoint, ret);
    if (status != AS_OK)
        return status;
    ret->body = strbuf_text(body);
    ret->body_len = body->len;
    ret->timeout_ns = context->config->connection.request_timeout_ns;
    const char **headers = arena_calloc(&context->targets->arena, ret->header_count + 1, sizeof *headers);
    if (!headers)
        return AS_E_NOMEM;
    for (size_t i = 0; i < ret->header_count; i++)
        headers[i] = ret->headers[i];
    headers[ret->header_count++] = "Content-Type: application/json";
    ret->headers = headers;
    return AS_OK;
}

as_status source_count_tokens(const struct source_context *context, const struct llm_config *config, const struct source_text *text,
                              int64_t *ret_tokens, struct as_error *err)
{
    struct strbuf body AS_AUTO_STRBUF;
    struct fetch_request request;
    struct fetch_reply reply;
    struct llm_config one = *config;
    strbuf_init(&body, 0);
    one.streaming = false;
    one.max_tokens = 1;
    one.min_tokens = -1;
    one.ignore_eos = false;
    as_status status = body_of(&one, text->prompt, text->seq, &body, err);
    if (status != AS_OK)
        return status;
    if (post_json(context, one.api, &body, &request) != AS_OK)
        return no_memory(err);
    status = run_fetch(&request, context->targets->secrets, text->what, &reply, err);
    if (status != AS_OK)
        return status;
    struct arena arena;
    const struct json_value *root = NULL;
    struct json_limits limits = {.lossy = true};
    arena_init(&arena, 0, 0);
    if (json_parse(strbuf_text(&reply.body), reply.body.len, &limits, &arena, &root, NULL) != AS_OK ||
        !json_int64(json_path(root, "usage.prompt_tokens"), ret_tokens))
        status = error_set(err, AS_E_NETWORK, "%s: the answer holds no usage.prompt_tokens", text->what);
    arena_done(&arena);
    fetch_reply_done(&reply);
    return status;
}

/* How a calibration of this run asks its first server. */
struct counting {
    const struct source_context *context;
    struct llm_config config;
};

static as_status count_probe(void *context, const char *text, int64_t *ret_tokens, struct as_error *err)
{
    struct counting *counting = context;
    const struct source_text asked = {text, 0, "calibration of tokens per word"};
    as_status status = source_count_tokens(counting->context, &counting->config, &asked, ret_tokens, err);
    if (status == AS_E_NETWORK && strstr(err->message, "usage.prompt_tokens"))
        return error_set(err, status,
                         "calibration of tokens per word: the answer holds no usage.prompt_tokens; give --tokens-per-word R or --no-calibrate");
    return status;
}

static as_status calibrate(const struct source_context *context, struct source *source, struct as_error *err)
{
    char text[32];
    struct counting counting = {context, source_llm_config(context->config, context->targets)};
    counting.config.unique_prompts = false;
    const struct token_counter counter = {&counting, count_probe};
    as_status status = calibrate_synthetic((uint64_t)context->config->load.seed, &counter, source->probes, &source->ratio, err);
    if (status != AS_OK)
        return status;
    source->probe_count = CALIBRATE_PROBES;
    double_format(source->ratio.tokens_per_word, text);
    return options_put(context->parsed, "tokens-per-word", text, err);
}

static size_t synthetic_count(const struct run_config *config)
{
    int64_t wanted = config->prompt.count;
    if (wanted == OPT_ABSENT) {
        bool is_counted = config->load.num_requests != OPT_ABSENT;
        wanted = is_counted ? config->load.num_requests + config->load.warmup_requests : SYNTHETIC_PROMPTS_MAX;
        wanted = wanted > SYNTHETIC_PROMPTS_MAX ? SYNTHETIC_PROMPTS_MAX : wanted;
    }
    return (size_t)wanted;
}

/* A prompt has at least one word, and the chat template comes on top. */
static void warn_of_short_prompts(const struct source_context *context, const struct token_ratio *ratio)
{
    double least = ratio->overhead_tokens + ratio->tokens_per_word, wanted = (double)context->shape->input.mean;
    if (wanted < least)
        log_warning("--synthetic-isl: %.0f tokens cannot be reached: the chat template and the system prompt alone are %.0f "
                    "tokens, so that prompts have %.0f or more (--system-prompt \"\" leaves that part out)",
                    wanted, ratio->overhead_tokens, ceil(least));
}

static as_status generate(const struct source_context *context, struct source *source, struct as_error *err)
{
    const struct run_config *config = context->config;
    source->ratio = TOKEN_RATIO_DEFAULT;
    if (!isnan(config->prompt.tokens_per_word)) {
        source->ratio.tokens_per_word = config->prompt.tokens_per_word;
    } else if (config->prompt.calibrate && !config->result.dry_run) {
        as_status status = calibrate(context, source, err);
        if (status != AS_OK)
            return status;
        warn_of_short_prompts(context, &source->ratio);
    }
    struct synthetic_spec spec = {
        .seed = (uint64_t)config->load.seed,
        .count = synthetic_count(config),
        .input = context->shape->input,
        .output = context->shape->output,
        .ratio = source->ratio,
    };
    return synthetic_prompts(&spec, &source->prompts, err);
}

static as_status load(const struct run_config *config, struct source *source, struct as_error *err)
{
    struct prompts_options options = {
        .skip_bad_lines = config->prompt.skip_bad_lines,
        .ca_cert = config->endpoint.ca_cert,
        .proxy = config->endpoint.proxy,
        .insecure = config->endpoint.insecure,
    };
    return prompts_load(config->prompt.source, &options, &source->prompts, err);
}

as_status source_make(const struct source_context *context, struct source *ret, struct as_error *err)
{
    struct source source = {0};
    as_status status = context->shape->is_synthetic ? generate(context, &source, err) : load(context->config, &source, err);
    if (status != AS_OK)
        return status;
    status = prompts_shuffle(&source.prompts, (uint64_t)context->config->load.seed);
    if (status != AS_OK) {
        prompts_done(&source.prompts);
        return no_memory(err);
    }
    source.has_prompts = true;
    *ret = source;
    return AS_OK;
}

void source_done(struct source *source)
{
    if (source->has_prompts)
        prompts_done(&source->prompts);
    *source = (struct source){0};
}
