/* SPDX-License-Identifier: Apache-2.0 */
#include "cmd/prompts_config.h"

#include "prompts/import.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <string.h>
#include <unistd.h>

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
        .format = PROMPTS_FORMATS[config->from],
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
        .format = formats[config->from] == IMPORT_TEXT && config->split ? IMPORT_PARAGRAPHS : formats[config->from],
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
    const struct prompts_part part = {&PROMPTS_IMPORT_LINE, &config, 1, "give one file to import, or - for standard input", import_file};
    return prompts_part_run(&part, argc, argv);
}
