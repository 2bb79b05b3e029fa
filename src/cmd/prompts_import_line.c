/* SPDX-License-Identifier: Apache-2.0 */
#include "cmd/prompts_config.h"

const char *const PROMPTS_FORMATS[] = {"sharegpt", "text", "jsonl", NULL};
static const char *const SPLITS[] = {"lines", "paragraphs", NULL};
#define AT(field) PROMPTS_AT(import_config, field)
static const struct opt OPTIONS[] = {
    {.name = "from", .type = OPT_ENUM, AT(from), .group = "Input", .choices = PROMPTS_FORMATS,
     .sentence = "What FILE is: ShareGPT conversations (JSON), plain text, or JSONL with `prompt` a line."},
    {.name = "split", .type = OPT_ENUM, AT(split), .group = "Input", .choices = SPLITS, .initial = "lines",
     .sentence = "--from text: a prompt a line, or a paragraph (lines up to a blank one)."},
    {.name = "skip-bad-lines", .type = OPT_FLAG, AT(skip_bad_lines), .group = "Input",
     .sentence = "--from jsonl: count lines that cannot be used instead of refusing the file."},
    {.name = "min-words", .type = OPT_INT, AT(min_words), .group = "Input", .min = 1, .max = 1e9, .initial = "1",
     .sentence = "Leave shorter prompts out."},
    {.name = "max-words", .type = OPT_INT, AT(max_words), .group = "Input", .min = 1, .max = 1e9, .initial_note = "no limit",
     .example = "2000", .sentence = "Leave longer prompts out."},
    {.name = "num", .aliases = "max-prompts", .type = OPT_INT, AT(max_prompts), .group = "Input", .min = 1, .max = 1e9,
     .initial_note = "all", .example = "10000", .sentence = "Take the first N prompts alone."},
    {.name = "tokens-per-word", .type = OPT_DOUBLE, AT(tokens_per_word), .group = "Input", .min = TOKENS_PER_WORD_MIN,
     .max = TOKENS_PER_WORD_MAX, .initial = "1.3",
     .sentence = "--from sharegpt: expected_output_tokens is the words of the answer times this."},
    {.name = "out", .aliases = "output", .type = OPT_FILE, AT(out), .group = "Output", .check = prompts_check_out, .allowed = "a file's name", .example = "library.jsonl",
     .sentence = "The library to write; FILE.meta.json comes beside it."},
    {.name = "licence", .aliases = "license", .type = OPT_STRING, AT(licence), .group = "Output", .example = "CC-BY-4.0",
     .sentence = "The source's licence, for FILE.meta.json."},
};
static const struct opt_table TABLE = OPT_TABLE(OPTIONS, 0);
static const struct opt_table *const TABLES[] = {&TABLE};
static const struct opt_exit EXITS[] = {PROMPTS_EXITS("The library was written."),
                                        {65, "The file is not of that format, or gives no prompt."}};
const struct opt_command PROMPTS_IMPORT_LINE = {
    .name = "prompts import",
    .summary = "Make a library of ShareGPT conversations, text or JSONL",
    .description = "Reads FILE (- is standard input) and writes a prompt library. Says what was left out and why.\n\n"
                   "Of a ShareGPT conversation the first turn of a human is taken; the words of the answer that follows it "
                   "give expected_output_tokens. The file is read in pieces: its size does not matter.",
    .operands = "FILE",
    .tables = TABLES,
    .table_count = 1,
    .exits = EXITS,
    .exit_count = sizeof EXITS / sizeof EXITS[0],
    .examples = "  assay prompts import --from sharegpt conversations.json --out library.jsonl\n"
                "  assay prompts import --from text --split paragraphs essays.txt --out essays.jsonl\n",
};
