/* SPDX-License-Identifier: Apache-2.0 */
#include "cmd/prompts_part.h"

#include "prompts/import.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <string.h>
#include <unistd.h>

struct import_config {
    int from, split;
    const char *out, *licence;
    double tokens_per_word;
    int64_t min_words, max_words, max_prompts;
    bool skip_bad_lines;
};

enum { FROM_SHAREGPT, FROM_TEXT, FROM_JSONL };
static const char *const FORMATS[] = {"sharegpt", "text", "jsonl", NULL};
static const char *const SPLITS[] = {"lines", "paragraphs", NULL};
#define AT(field) PROMPTS_AT(import_config, field)
static const struct opt OPTIONS[] = {
    {.name = "from", .type = OPT_ENUM, AT(from), .group = "Input", .choices = FORMATS,
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
static const struct opt_command LINE = {
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

static void report(const struct import *import, const char *out_file, struct strbuf *out)
{
    const struct import_counts *counts = import_counts(import);
    const struct library *library = import_library(import);
    strbuf_addf(out, "%" PRId64 " prompts of %" PRId64 " records; %" PRId64 " with expected_output_tokens\n",
                library->count, counts->records, library->with_expected_tokens);
    for (int i = 0; i < IMPORT_SKIPS; i++)
        if (counts->skipped[i])
            strbuf_addf(out, "  %" PRId64 " %s\n", counts->skipped[i], import_skip_sentence((enum import_skip)i));
    if (counts->without_answer)
        strbuf_addf(out, "  %" PRId64 " of those taken have no answer\n", counts->without_answer);
    strbuf_addf(out, "content digest %s\n%s\n", library->content_digest, out_file);
}

static as_status read_all(struct import *import, const char *file, struct as_error *err)
{
    if (strcmp(file, "-") == 0)
        return import_fd(import, STDIN_FILENO, err);
    int fd = open(file, O_RDONLY | O_CLOEXEC);
    if (fd < 0)
        return error_set_errno(err, errno, "%s", file);
    as_status status = import_fd(import, fd, err);
    close(fd);
    return status;
}

static as_status write_out(const struct import *import, const struct import_config *config, const char *file,
                           struct as_error *err)
{
    struct library_origin origin = {
        .source = strcmp(file, "-") == 0 ? "standard input" : file,
        .format = FORMATS[config->from],
        .licence = config->licence,
        .context = import,
        .describe = import_describe,
    };
    memcpy(origin.source_digest, import_source_digest(import), sizeof origin.source_digest);
    return library_write(import_library(import), config->out, &origin, err);
}

static as_status import_file(struct opt_parsed *parsed, void *context, struct strbuf *out, struct as_error *err)
{
    static const enum import_format formats[] = {IMPORT_SHAREGPT, IMPORT_TEXT, IMPORT_JSONL};
    const struct import_config *config = context;
    const char *file = parsed->operands[0];
    struct import *import;
    if (config->from < 0)
        return error_set(err, AS_E_USAGE, "say what the file is: --from sharegpt, text or jsonl");
    if (!config->out)
        return error_set(err, AS_E_USAGE, "say where the library goes: --out FILE, for example --out library.jsonl");
    struct import_options options = {
        .format = config->from == FROM_TEXT && config->split ? IMPORT_PARAGRAPHS : formats[config->from],
        .name = strcmp(file, "-") == 0 ? "standard input" : file,
        .tokens_per_word = config->tokens_per_word,
        .min_words = config->min_words,
        .max_words = config->max_words == OPT_ABSENT ? 0 : config->max_words,
        .max_prompts = config->max_prompts == OPT_ABSENT ? 0 : config->max_prompts,
        .skip_bad_lines = config->skip_bad_lines,
    };
    if (import_new(&options, &import) != AS_OK)
        return error_set(err, AS_E_NOMEM, "out of memory");
    as_status status = read_all(import, file, err);
    if (status == AS_OK)
        status = write_out(import, config, file, err);
    if (status == AS_OK)
        report(import, config->out, out);
    import_free(import);
    return status;
}

int prompts_import(int argc, char **argv)
{
    struct import_config config;
    const struct prompts_part part = {&LINE, &config, 1, "give one file to import, or - for standard input", import_file};
    return prompts_part_run(&part, argc, argv);
}
