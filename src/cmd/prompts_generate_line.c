/* SPDX-License-Identifier: Apache-2.0 */
#include "cmd/prompts_config.h"

static as_status check_length(const char *text, struct as_error *err)
{
    struct length_spec spec;
    return length_parse(text, &spec, err) == AS_OK ? AS_OK : AS_E_USAGE;
}

#define LENGTH .value = "N[±S]", .check = check_length, .allowed = "N or N±S (also N+-S) tokens, S below N"
#define AT(field) PROMPTS_AT(generate_config, field)
static const struct opt OPTIONS[] = {
    {.name = "isl", .type = OPT_STRING, AT(isl), .group = "Lengths", .is_list = true, LENGTH, .initial = "512", .example = "512±64",
     .sentence = "Tokens of a prompt, uniform within ±S; several are taken in turn, at most 16."},
    {.name = "osl", .type = OPT_STRING, AT(osl), .group = "Lengths", LENGTH, .example = "128", .initial_note = "none",
     .sentence = "expected_output_tokens of each prompt."},
    {.name = "num", .aliases = "num-prompts", .type = OPT_INT, AT(num), .group = "Library", .min = 1, .max = 10000000, .initial = "1000",
     .sentence = "How many prompts to make."},
    {.name = "seed", .type = OPT_INT, AT(seed), .group = "Library", .min = 0, .max = 9e15, .initial = "1",
     .sentence = "Decides every prompt, together with its number."},
    {.name = "out", .aliases = "output", .type = OPT_FILE, AT(out), .group = "Output", .check = prompts_check_out, .allowed = "a file's name",
     .example = "library.jsonl", .sentence = "The library to write; FILE.meta.json comes beside it."},
};
static const struct opt_table TABLE = OPT_TABLE(OPTIONS, 0);
static const struct opt_table *const TABLES[] = {&TABLE, &PROMPTS_RATIO_TABLE};
static const struct opt_exit EXITS[] = {PROMPTS_EXITS("The library was written."), {65, "It would be too large."}};
const struct opt_command PROMPTS_GENERATE_LINE = {
    .name = "prompts generate",
    .summary = "Make a library from a seed: random, fixed, medical, legal, code, long-context",
    .description =
        "Makes a library of texts of our own, the same for the same seed on every machine. KIND: random (common words without sense, for raw "
        "capacity), fixed (everyday tasks), medical, legal, code, long-context (records with a question about one of them), text2image "
        "(descriptions of pictures, which have no length).\n\n"
        "CODE is a library that ships: assay-random-v1, assay-fixed-v1, assay-medical-v1, assay-legal-v1, assay-code-v1, "
        "assay-long-context-v1 or text2image-multiprompt-1024. Seed, number and lengths belong to it.",
    .operands = "KIND|CODE",
    .tables = TABLES,
    .table_count = 2,
    .exits = EXITS,
    .exit_count = sizeof EXITS / sizeof EXITS[0],
    .examples = "  assay prompts generate medical --seed 7 --num 500 --isl 512±64 --osl 128 --out medical.jsonl\n"
                "  assay prompts generate assay-code-v1 --out code.jsonl\n",
};
