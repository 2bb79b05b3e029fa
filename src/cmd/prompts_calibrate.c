/* SPDX-License-Identifier: Apache-2.0 */
#include "cmd/prompts_part.h"

#include "base/file.h"
#include "prompts/calibration.h"
#include "run/source.h"

#include <inttypes.h>

/* The tools' own structs, so that a calibration asks what a run asks. */
struct calibrate_config {
    struct run_config run; /* first: the tables of run/config.h */
    int64_t samples;
    const char *out;
};

#define AT(field) PROMPTS_AT(calibrate_config, field)
static const struct opt OPTIONS[] = {
    {.name = "system-prompt", .type = OPT_STRING, AT(run.request.system_prompt), .group = "Requests",
     .initial = "You are a helpful assistant.", .example = "\"Be brief.\"",
     .sentence = "System message, as the runs will send it; its tokens are part of the overhead. An empty text sends none."},
    {.name = "request-timeout", .type = OPT_DURATION, AT(run.connection.request_timeout_ns), .group = "Requests", .unit = "s", .min = 0.001,
     .max = 86400, .initial = "60s", .sentence = "Limit of one request."},
    {.name = "samples", .type = OPT_INT, AT(samples), .group = "Calibration", .min = 1, .max = CALIBRATION_PROMPTS_MAX, .initial = "16",
     .sentence = "Prompts to ask about, spread over the library's lengths; two requests of one token each."},
    {.name = "out", .aliases = "output", .type = OPT_FILE, AT(out), .group = "Output", .example = "calibration.json",
     .sentence = "The file to write, for --calibration."},
};
static const struct opt_table TABLE = OPT_TABLE(OPTIONS, 0);
static const struct opt_table *const TABLES[] = {&ENDPOINT_TABLE, &MODEL_TABLE, &API_TABLE, &TABLE};
static const struct opt_exit EXITS[] = {PROMPTS_EXITS("The calibration was written."),
                                        {65, "The library is damaged, or the server's counts make no sense."},
                                        {69, "The server cannot be asked, or answers without usage.prompt_tokens."}};
static const struct opt_command LINE = {
    .name = "prompts calibrate",
    .summary = "Measure how many tokens a model makes of a word",
    .description = "Sends prompts of LIBRARY, whole and halved, to the first server with a limit of one token, and takes its usage.prompt_tokens: "
                   "tokens = overhead + words × tokens a word, by least squares. The file is for --calibration of the other parts.",
    .operands = "LIBRARY",
    .tables = TABLES,
    .table_count = sizeof TABLES / sizeof TABLES[0],
    .exits = EXITS,
    .exit_count = sizeof EXITS / sizeof EXITS[0],
    .examples = "  assay prompts calibrate --url http://127.0.0.1:8000 --model llama-3.1-8b library.jsonl --out calibration.json\n",
};

struct counting {
    const struct source_context *context;
    struct llm_config config;
};

static as_status count_tokens(void *context, const char *text, int64_t *ret_tokens, struct as_error *err)
{
    const struct counting *counting = context;
    const struct source_text asked = {text, 0, "calibration of tokens per word"};
    return source_count_tokens(counting->context, &counting->config, &asked, ret_tokens, err);
}

static as_status write_out(const struct calibration *calibration, const struct calibrate_config *config, const char *library,
                           struct strbuf *out, struct as_error *err)
{
    struct strbuf text AS_AUTO_STRBUF;
    strbuf_init(&text, 0);
    const struct calibration_facts facts = {config->run.request.model, library, wall_now()};
    as_status status = calibration_write(calibration, &facts, &text);
    if (status != AS_OK)
        return error_set(err, status, "%s", status_sentence(status));
    status = file_write_atomic(config->out, text.data, text.len, err);
    if (status == AS_OK)
        strbuf_addf(out, "%.4g tokens a word (deviation %.2g), %.4g tokens around each prompt; %zu requests\n%s\n",
                    calibration->ratio.tokens_per_word, calibration->tokens_per_word_std, calibration->ratio.overhead_tokens,
                    calibration->probe_count, config->out);
    return status;
}

static as_status measure(struct source_context *context, const struct calibrate_config *config, const struct prompts *library,
                         struct calibration *ret, struct as_error *err)
{
    struct targets *targets = context->targets;
    as_status status = targets_list(targets, &config->run.endpoint, err);
    if (status == AS_OK)
        status = targets_open(targets, &config->run.endpoint, context->parsed, err);
    if (status == AS_OK)
        status = source_find_model(context, err);
    if (status != AS_OK)
        return status;
    struct counting counting = {context, source_llm_config(&config->run, targets)};
    const struct token_counter counter = {&counting, count_tokens};
    return calibration_measure(library, (size_t)config->samples, &counter, ret, err);
}

static as_status calibrate(struct opt_parsed *parsed, void *pointer, struct strbuf *out, struct as_error *err)
{
    struct calibrate_config *config = pointer;
    struct calibration calibration;
    struct prompts library;
    struct targets targets;
    if (!config->out)
        return error_set(err, AS_E_USAGE, "say where the calibration goes: --out FILE, for example --out calibration.json");
    as_status status = prompts_load(parsed->operands[0], NULL, &library, err);
    if (status != AS_OK)
        return status;
    struct source_context context = {.config = &config->run, .parsed = parsed, .targets = &targets};
    targets_init(&targets);
    status = measure(&context, config, &library, &calibration, err);
    if (status == AS_OK)
        status = write_out(&calibration, config, parsed->operands[0], out, err);
    targets_done(&targets);
    prompts_done(&library);
    return status;
}

int prompts_calibrate(int argc, char **argv)
{
    /* What no table here sets is as in a run without it. */
    struct calibrate_config config = {.run.request = {.min_tokens = OPT_ABSENT, .seed = OPT_ABSENT, .choices = 1, .max_tokens = 1}};
    const struct prompts_part part = {&LINE, &config, 1, "give one library, for example library.jsonl", calibrate};
    return prompts_part_run(&part, argc, argv);
}
