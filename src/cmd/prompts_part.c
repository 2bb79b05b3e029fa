/* SPDX-License-Identifier: Apache-2.0 */
#include "cmd/prompts_part.h"

#include "prompts/calibration.h"
#include "prompts/import.h"

#include <math.h>
#include <string.h>
#include <unistd.h>

#define AT(field) PROMPTS_AT(prompts_ratio_config, field), .group = "Tokens"
static const struct opt RATIO_OPTIONS[] = {
    {.name = "tokens-per-word",
     .type = OPT_DOUBLE,
     AT(tokens_per_word),
     .min = TOKENS_PER_WORD_MIN,
     .max = TOKENS_PER_WORD_MAX,
     .example = "1.3",
     .initial_note = "1.3",
     .conflicts = "calibration",
     .sentence = "How many tokens the model makes of a word."},
    {.name = "calibration",
     .type = OPT_FILE,
     AT(calibration),
     .example = "calibration.json",
     .sentence = "Take it, and the tokens around each prompt, from a file of `assay prompts calibrate`."},
};
const struct opt_table PROMPTS_RATIO_TABLE = OPT_TABLE(RATIO_OPTIONS, 0);

as_status prompts_ratio(const struct prompts_ratio_config *config, struct token_ratio *ret, bool *ret_given,
                        struct as_error *err)
{
    bool is_number = !isnan(config->tokens_per_word);
    *ret_given = is_number || config->calibration;
    *ret = (struct token_ratio){is_number ? config->tokens_per_word : IMPORT_TOKENS_PER_WORD, 0};
    return config->calibration ? calibration_load(config->calibration, ret, err) : AS_OK;
}

as_status prompts_check_out(const char *text, struct as_error *err)
{
    if (*text && strcmp(text, "-") != 0)
        return AS_OK;
    return error_set(err, AS_E_USAGE, "is no file: what describes it is written beside it");
}

static as_status check_operands(const struct prompts_part *part, const struct opt_parsed *parsed, struct as_error *err)
{
    if (parsed->operand_count == part->operands)
        return AS_OK;
    return error_set(err, AS_E_USAGE, "%s", part->operand_needed);
}

int prompts_part_run(const struct prompts_part *part, int argc, char **argv)
{
    struct opt_parsed parsed;
    struct as_error err = {0};
    struct arena arena;
    struct strbuf out AS_AUTO_STRBUF;
    int exit_code = 0;
    arena_init(&arena, 0, 0);
    strbuf_init(&out, 0);
    struct opt_input input = {argc, argv, environ, part->config, &arena};
    as_status status = options_read(part->line, &input, &parsed, &err);
    if (status == AS_OK && parsed.wants_help) {
        exit_code = command_print_help(part->line);
    } else if (status == AS_OK) {
        command_notes(&parsed);
        status = check_operands(part, &parsed, &err);
        if (status == AS_OK)
            status = part->run(&parsed, part->config, &out, &err);
        if (status == AS_OK)
            exit_code = command_print(part->line->name, &out);
    }
    if (status != AS_OK)
        exit_code = command_fail(part->line->name, &err);
    arena_done(&arena);
    return exit_code;
}
