/* SPDX-License-Identifier: Apache-2.0 */
#include "run/config.h"

#include <stdlib.h>
#include <string.h>

/*
 * Flags of vLLM, SGLang, AIPerf, GuideLLM, inference-perf and mlcommons/endpoints. Maps give err->message as the reason; the
 * options module puts the flag's name before it.
 */

static const char *const CHAT_WORDS = "openai-chat openai_chat vllm-chat sglang-oai-chat lmdeploy-chat chat chat-completions chat_completions";
static const char *const COMPLETION_WORDS = "openai vllm sglang-oai lmdeploy openai-comp completion completions openai_http text_completions";

static bool has_word(const char *words, const char *word, size_t len)
{
    for (const char *at = words; *at;) {
        size_t each = strcspn(at, " ");
        if (each == len && memcmp(at, word, len) == 0)
            return true;
        at += each + (at[each] == ' ');
    }
    return false;
}

static as_status no_memory(struct as_error *err)
{
    return error_set(err, AS_E_NOMEM, "out of memory");
}

static as_status map_api_word(struct opt_reader *reader, const char *word, size_t len, struct as_error *err)
{
    if (has_word(CHAT_WORDS, word, len))
        return options_assign(reader, "mode", "chat", err);
    if (has_word("openai_http", word, len))
        return AS_OK;
    if (has_word(COMPLETION_WORDS, word, len))
        return options_assign(reader, "mode", "completion", err);
    return error_set(err, AS_E_USAGE, "\"%.*s\" is no API that assay llm speaks; nearest here: --mode chat or --mode completion",
                     (int)(len < 60 ? len : 60), word);
}

/* GuideLLM: "kind=openai_http,target=http://…,model=…". */
static as_status map_backend_pairs(struct opt_reader *reader, const char *value, struct as_error *err)
{
    as_status status = AS_OK;
    while (*value && status == AS_OK) {
        size_t len = strcspn(value, ","), key = strcspn(value, "=");
        if (key >= len)
            return error_set(err, AS_E_USAGE, "\"%.*s\" is no key=value", (int)(len < 60 ? len : 60), value);
        char *text = options_copy(reader, value + key + 1, len - key - 1);
        if (!text)
            return no_memory(err);
        if (key == 4 && memcmp(value, "kind", 4) == 0)
            status = map_api_word(reader, text, strlen(text), err);
        else if (key == 6 && memcmp(value, "target", 6) == 0)
            status = options_assign(reader, "url", text, err);
        else if (key == 5 && memcmp(value, "model", 5) == 0)
            status = options_assign(reader, "model", text, err);
        else
            status = error_set(err, AS_E_USAGE, "\"%.*s\" is not known here; nearest: --url, --model, --mode", (int)key, value);
        value += len + (value[len] == ',');
    }
    return status;
}

static as_status map_backend(struct opt_reader *reader, const char *value, struct as_error *err)
{
    if (strchr(value, '='))
        return map_backend_pairs(reader, value, err);
    return map_api_word(reader, value, strlen(value), err);
}

/* URLs separated by commas. */
static as_status map_urls(struct opt_reader *reader, const char *value, struct as_error *err)
{
    as_status status = AS_OK;
    while (*value && status == AS_OK) {
        size_t len = strcspn(value, ",");
        char *url = options_copy(reader, value, len);
        status = url ? options_assign(reader, "url", url, err) : no_memory(err);
        value += len + (value[len] == ',');
    }
    return status;
}

static as_status map_arrival(struct opt_reader *reader, const char *value, struct as_error *err)
{
    if (has_word("constant poisson gamma", value, strlen(value)))
        return options_assign(reader, "arrival", value, err);
    if (has_word("concurrency concurrent concurrency_burst max_throughput synchronous throughput", value, strlen(value)))
        return options_note(reader, "without --request-rate this is a closed loop; --concurrency says how many are in flight") == AS_OK ? AS_OK : no_memory(err);
    return error_set(err, AS_E_USAGE, "\"%.60s\" is no arrival process here; nearest: --arrival constant, poisson or gamma", value);
}

/* "prompt_tokens=256,output_tokens=128" or a path. */
static as_status map_data(struct opt_reader *reader, const char *value, struct as_error *err)
{
    if (!strstr(value, "_tokens="))
        return options_assign(reader, "prompts", value, err);
    as_status status = AS_OK;
    while (*value && status == AS_OK) {
        size_t len = strcspn(value, ","), key = strcspn(value, "=");
        char *text = options_copy(reader, value + (key < len ? key + 1 : len), key < len ? len - key - 1 : 0);
        if (!text)
            return no_memory(err);
        if (key == 13 && memcmp(value, "prompt_tokens", key) == 0)
            status = options_assign(reader, "synthetic-isl", text, err);
        else if (key == 13 && memcmp(value, "output_tokens", key) == 0)
            status = options_assign(reader, "synthetic-osl", text, err);
        else
            status = error_set(err, AS_E_USAGE, "\"%.*s\" is not known here; nearest: --synthetic-isl N±S and --synthetic-osl N±S",
                               (int)(key < 40 ? key : 40), value);
        value += len + (value[len] == ',');
    }
    return status;
}

static as_status map_data_type(struct opt_reader *reader, const char *value, struct as_error *err)
{
    if (has_word("random synthetic", value, strlen(value)))
        return options_assign(reader, "dataset-name", "random", err);
    return error_set(err, AS_E_USAGE, "\"%.60s\" is not built in; nearest: --prompts FILE or --synthetic-isl N", value);
}

static as_status map_no_deviation(struct opt_reader *reader, const char *value, struct as_error *err)
{
    char *end;
    if (strtod(value, &end) == 0 && *value && !*end)
        return options_note(reader, "no spread is the default") == AS_OK ? AS_OK : no_memory(err);
    return error_set(err, AS_E_USAGE, "lengths here are uniform within ±S, not normal; nearest: --synthetic-isl N±S, --synthetic-osl N±S");
}

static as_status map_eos(struct opt_reader *reader, const char *value, struct as_error *err)
{
    (void)value;
    return options_assign(reader, "ignore-eos", "false", err);
}

static as_status map_stream_off(struct opt_reader *reader, const char *value, struct as_error *err)
{
    (void)value;
    return options_assign(reader, "streaming", "false", err);
}

static as_status map_quiet(struct opt_reader *reader, const char *value, struct as_error *err)
{
    (void)value;
    return options_assign(reader, "quiet", "true", err);
}

#define SAME(other, ours) {.name = (other), .kind = OPT_SAME, .target = (ours)}
#define SAME_MANY(other, ours) {.name = (other), .kind = OPT_SAME, .target = (ours), .takes_many = true}
#define MAP(other, ours, hook, text) {.name = (other), .kind = OPT_MAPPED, .target = (ours), .map = (hook), .sentence = (text)}
#define MAP_FLAG(other, ours, hook, text) {.name = (other), .kind = OPT_MAPPED, .target = (ours), .map = (hook), .sentence = (text), .is_flag = true}
#define ALWAYS(other, text) {.name = (other), .kind = OPT_ALWAYS, .sentence = (text), .is_flag = true}
#define REFUSE(other, ours, text) {.name = (other), .kind = OPT_REFUSED, .target = (ours), .sentence = (text)}

#define API_TEXT "The API's kind: words for chat completions or completions of the OpenAI API; others are refused."
#define LENGTH_TEXT "Only 0: lengths here are uniform within ±S."
#define TOKENIZER_TEXT "Token counts come from the server's usage figures alone, no tokenizer is loaded."
#define DATASET_TEXT "No data sets are built in."
#define BODY_TEXT "Sampling parameters go through the request body."

/* Servers, load and results: names that every tool takes. */
#define COMMON_NAMES \
    SAME("target", "url"), \
    SAME("server.base_url", "url"), \
    MAP("endpoints", "url", map_urls, "Several URLs separated by commas."), \
    SAME("server.model_name", "model"), \
    SAME("target-qps", "request-rate"), \
    MAP("arrival-pattern", "arrival", map_arrival, "constant, poisson, gamma; words for a closed loop are noted."), \
    MAP("load.type", "arrival", map_arrival, "constant, poisson, gamma; words for a closed loop are noted."), \
    MAP("load-pattern", "arrival", map_arrival, "constant, poisson, gamma; words for a closed loop are noted."), \
    SAME("arrival-smoothness", "burstiness"), \
    SAME("vllm-burstiness", "burstiness"), \
    SAME("num-prompts", "num-requests"), \
    SAME("request-count", "num-requests"), \
    SAME("max-requests", "num-requests"), \
    SAME("benchmark-duration", "duration"), \
    SAME("max-seconds", "duration"), \
    SAME("num-warmups", "warmup-requests"), \
    SAME("warmup-request-count", "warmup-requests"), \
    SAME("concurrency-ramp-duration", "ramp-up-seconds"), \
    SAME("benchmark-grace-period", "drain-seconds"), \
    SAME("random-seed", "seed"), \
    REFUSE("rate", "request-rate", "One run has one rate."), \
    REFUSE("profile", "request-rate", "Load shapes are not named here: --concurrency N is a closed loop, --request-rate R an open one."), \
    REFUSE("rate-type", "request-rate", "Load shapes are not named here: --concurrency N is a closed loop, --request-rate R an open one."), \
    SAME("request-timeout-seconds", "request-timeout"), \
    ALWAYS("save-result", "every run is saved; --result-dir says where"), \
    ALWAYS("save-detailed", "every request has its record in requests.jsonl"), \
    ALWAYS("output-details", "every request has its record in requests.jsonl"), \
    SAME("output-artifact-dir", "result-dir"), \
    SAME("output-file", "data-log"), \
    REFUSE("result-filename", "data-log", "The files of a run have fixed names in --result-dir."), \
    REFUSE("output", "result-dir", "The files of a run have fixed names in one folder."), \
    REFUSE("output-path", "result-dir", "The files of a run have fixed names in one folder."), \
    SAME("label", "scenario"), \
    REFUSE("metadata", "run-keywords", "Words about a run are kept as its description and keywords."), \
    MAP_FLAG("disable-tqdm", "quiet", map_quiet, "No progress line."),

/* Requests of chat and completions. */
#define REQUEST_NAMES \
    SAME("extra-request-body", "extra-body"), \
    MAP_FLAG("disable-ignore-eos", "ignore-eos", map_eos, "Ours is off unless asked for."), \
    MAP_FLAG("disable-stream", "streaming", map_stream_off, "Ours is off unless asked for."), \
    SAME("custom-output-len", "max-tokens"), \
    REFUSE("top-p", "extra-body", BODY_TEXT), \
    REFUSE("top-k", "extra-body", BODY_TEXT), \
    REFUSE("min-p", "extra-body", BODY_TEXT), \
    REFUSE("logprobs", "extra-body", BODY_TEXT), \
    REFUSE("frequency-penalty", "extra-body", BODY_TEXT), \
    REFUSE("presence-penalty", "extra-body", BODY_TEXT),

const struct opt_foreign RUN_FOREIGN_COMMON[] = {
    COMMON_NAMES
    {.name = NULL},
};

const struct opt_foreign RUN_FOREIGN_CHAT[] = {
    COMMON_NAMES
    REQUEST_NAMES
    SAME("dataset-path", "prompts"),
    SAME("input-file", "prompts"),
    SAME("artifact-dir", "result-dir"),
    REFUSE("tokenizer", "max-tokens", TOKENIZER_TEXT),
    ALWAYS("trust-remote-code", "no tokenizer and no remote code is ever loaded"),
    {.name = NULL},
};

const struct opt_foreign RUN_FOREIGN[] = {
    COMMON_NAMES
    /* server and API */
    MAP("backend", "mode", map_backend, API_TEXT " GuideLLM's kind=…,target=…,model=… is read too."),
    MAP("endpoint-type", "mode", map_backend, API_TEXT),
    MAP("api.type", "mode", map_backend, API_TEXT),
    MAP("api-type", "mode", map_backend, API_TEXT),
    /* prompts */
    SAME("dataset-path", "prompts"),
    SAME("input-file", "prompts"),
    MAP("data", "prompts", map_data, "A path, or prompt_tokens=N,output_tokens=N for generated prompts."),
    MAP("data.type", "dataset-name", map_data_type, "random or synthetic generates prompts; others are refused."),
    REFUSE("public-dataset", "prompts", DATASET_TEXT),
    REFUSE("custom-dataset-type", "prompts", "A prompt file has one form, JSONL with `prompt`."),
    SAME("synthetic-input-tokens-mean", "synthetic-isl"),
    SAME("output-tokens-mean", "synthetic-osl"),
    MAP("isl-stddev", "synthetic-isl", map_no_deviation, LENGTH_TEXT),
    MAP("osl-stddev", "synthetic-osl", map_no_deviation, LENGTH_TEXT),
    MAP("synthetic-input-tokens-stddev", "synthetic-isl", map_no_deviation, LENGTH_TEXT),
    MAP("output-tokens-stddev", "synthetic-osl", map_no_deviation, LENGTH_TEXT),
    REFUSE("random-prefix-len", "prompts", "Generated prompts share no prefix."),
    REFUSE("tokenizer", "tokens-per-word", TOKENIZER_TEXT),
    REFUSE("tokenizer-mode", "tokens-per-word", TOKENIZER_TEXT),
    ALWAYS("trust-remote-code", "no tokenizer and no remote code is ever loaded"),
    REQUEST_NAMES
    /* results */
    SAME("artifact-dir", "result-dir"),
    {.name = NULL},
};
