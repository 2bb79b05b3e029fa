/* SPDX-License-Identifier: Apache-2.0 */
#include "run/config.h"
#include "workload/synthetic.h"

static as_status check_length(const char *text, struct as_error *err)
{
    struct length_spec spec;
    return length_parse(text, &spec, err) == AS_OK ? AS_OK : AS_E_USAGE;
}

static const char *const DATASETS[] = {"custom", "random", NULL};

#define GROUP .group = "Prompts"
#define AT(field) .at = offsetof(struct prompt_config, field)
#define LENGTH_ALLOWED "N or N±S (also N+-S) tokens, S below N"

static const struct opt OPTIONS[] = {
    {.name = "prompts", .type = OPT_FILE, AT(source), GROUP, .value = "FILE|URL", .secrecy = OPT_URL, .example = "prompts.jsonl", .conflicts = "synthetic-isl",
     .sentence = "JSONL file or http(s) URL, - for standard input: `prompt` a line, optional `id` and `expected_output_tokens`. Shuffled with "
                 "--seed, then taken in a cycle."},
    {.name = "skip-bad-lines", .type = OPT_FLAG, AT(skip_bad_lines), GROUP, .modes = RUN_FROM_FILE,
     .sentence = "Count and report lines that cannot be used instead of refusing the file."},
    {.name = "synthetic-isl", .aliases = "isl random-input-len", .type = OPT_STRING, AT(isl), GROUP, .value = "N[±S]", .check = check_length,
     .allowed = LENGTH_ALLOWED, .example = "512±64", .sentence = "Generate random prompts of N tokens, uniform within ±S."},
    {.name = "synthetic-osl", .aliases = "osl random-output-len", .type = OPT_STRING, AT(osl), GROUP, .value = "N[±S]", .check = check_length,
     .allowed = LENGTH_ALLOWED, .example = "128", .needs = "synthetic-isl",
     .sentence = "Token limit of each answer to a generated prompt, in place of --max-tokens."},
    {.name = "random-range-ratio", .type = OPT_DOUBLE, AT(range_ratio), GROUP, .max = 0.999, .example = "0.1", .modes = RUN_SYNTHETIC,
     .sentence = "±S of both synthetic lengths as a share of N.", .is_hidden = true},
    {.name = "synthetic-prompts", .type = OPT_INT, AT(count), GROUP, .min = 1, .max = 10000000, .example = "1000", .modes = RUN_SYNTHETIC,
     .initial_note = "one a request, at most 4096", .sentence = "How many different prompts to generate."},
    {.name = "calibrate", .type = OPT_FLAG, AT(calibrate), GROUP, .initial = "true", .modes = RUN_SYNTHETIC,
     .sentence = "Measure tokens per word with a few requests before the run (the server's own usage figures)."},
    {.name = "tokens-per-word", .type = OPT_DOUBLE, AT(tokens_per_word), GROUP, .min = 0.2, .max = 20, .example = "1.3", .modes = RUN_SYNTHETIC,
     .conflicts = "calibrate", .sentence = "Use this ratio instead of measuring it."},
    {.name = "dataset-name", .type = OPT_ENUM, AT(dataset), GROUP, .choices = DATASETS, .is_hidden = true,
     .sentence = "As vLLM: random generates prompts (1024 tokens in, 128 out unless told), custom reads --dataset-path."},
};
const struct opt_table PROMPT_TABLE = OPT_TABLE(OPTIONS, offsetof(struct run_config, prompt));
