/* SPDX-License-Identifier: Apache-2.0 */
#include "run/config.h"
#include "run/extra_inputs.h"

static as_status check_model(const char *text, struct as_error *err)
{
    return *text ? AS_OK : error_set(err, AS_E_USAGE, "is empty");
}

static const char *const APIS[] = {"chat", "completion", NULL};
static const char *const FIELDS[] = {"max_tokens", "max_completion_tokens", NULL};

#define GROUP .group = "Requests"
#define AT(field) .at = offsetof(struct request_config, field)

static const struct opt MODEL_OPTIONS[] = {
    {.name = "model", .type = OPT_STRING, AT(model), GROUP, .value = "NAME", .check = check_model, .allowed = "a name as /v1/models lists it",
     .example = "llama-3.1-8b", .initial_note = "the one that /v1/models lists, if it is exactly one", .sentence = "Model to ask for."},
    {.name = "served-model-name", .type = OPT_STRING, AT(served_model), GROUP, .value = "NAME", .check = check_model, .allowed = "a name",
     .example = "llama", .sentence = "The model's name in requests, when it differs from --model; goes before it.", .is_hidden = true},
};
const struct opt_table MODEL_TABLE = OPT_TABLE(MODEL_OPTIONS, offsetof(struct run_config, request));

static const struct opt API_OPTIONS[] = {
    {.name = "mode", .type = OPT_ENUM, AT(api), GROUP, .choices = APIS, .initial = "chat",
     .initial_note = "completion where the URL or --endpoint ends in /completions",
     .sentence = "The API: /chat/completions with messages, or /completions with a prompt."},
};
const struct opt_table API_TABLE = OPT_TABLE(API_OPTIONS, offsetof(struct run_config, request));

static const struct opt OPTIONS[] = {
    {.name = "streaming", .aliases = "stream", .type = OPT_FLAG, AT(streaming), GROUP,
     .sentence = "Ask for a stream of events, with usage in it. Without it there is no TTFT."},
    {.name = "system-prompt", .type = OPT_STRING, AT(system_prompt), GROUP, .initial = "You are a helpful assistant.", .example = "\"Be brief.\"",
     .modes = RUN_API_CHAT, .sentence = "System message of every request; an empty text sends none."},
    {.name = "max-tokens", .type = OPT_INT, AT(max_tokens), GROUP, .initial = "256", .min = 1, .max = 16777216,
     .sentence = "Most tokens of an answer; expected_output_tokens of a prompt goes before it."},
    {.name = "max-tokens-field", .type = OPT_ENUM, AT(max_tokens_field), GROUP, .value = "NAME", .choices = FIELDS, .initial = "max_tokens",
     .sentence = "Name under which the limit is sent: max_tokens or max_completion_tokens."},
    {.name = "min-tokens", .type = OPT_INT, AT(min_tokens), GROUP, .max = 16777216, .example = "64",
     .sentence = "Fewest tokens of an answer, for servers that know min_tokens."},
    {.name = "ignore-eos", .type = OPT_FLAG, AT(ignore_eos), GROUP, .sentence = "Ask the server to generate up to the limit."},
    {.name = "temperature", .type = OPT_DOUBLE, AT(temperature), GROUP, .initial = "0", .min = 0, .max = 100, .example = "0.7",
     .sentence = "Sampling temperature."},
    {.name = "request-seed", .type = OPT_INT, AT(seed), GROUP, .example = "1", .min = -9007199254740991, .max = 9007199254740991,
     .initial_note = "not sent", .sentence = "Seed of the server's sampling, sent with every request."},
    {.name = "choices", .aliases = "n", .type = OPT_INT, AT(choices), GROUP, .initial = "1", .min = 1, .max = 128,
     .sentence = "Answers asked for in one request (n)."},
    {.name = "extra-body", .type = OPT_JSON, AT(extra_body), GROUP, .sentence = "JSON object whose members are added to every body, in place of ours of the same name."},
    {.name = "extra-inputs", .type = OPT_STRING, AT(extra_inputs), GROUP, .value = "NAME:VALUE", .is_list = true, .takes_many = true,
     .check = extra_inputs_check, .allowed = "NAME:VALUE or one JSON object", .example = "top_p:0.9", .sentence = "As --extra-body, in the form of another tool.",
     .is_hidden = true},
    {.name = "unique-prompts", .type = OPT_FLAG, AT(unique_prompts), GROUP,
     .sentence = "Begin every prompt with text of its own, so that no prefix cache helps."},
};
const struct opt_table REQUEST_TABLE = OPT_TABLE(OPTIONS, offsetof(struct run_config, request));
