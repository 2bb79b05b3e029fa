/* SPDX-License-Identifier: Apache-2.0 */
#include "cmd/asr_import.h"

#include "base/file.h"
#include "base/log.h"
#include "cmd/commands.h"
#include "workload/audio_librispeech.h"

#include <limits.h>
#include <stdio.h>
#include <unistd.h>

#define NAME "asr import-librispeech"

struct import_config {
    const char *manifest, *ground_truth;
    bool probe_duration;
};

static const struct opt OPTIONS[] = {
    {.name = "manifest",
     .type = OPT_FILE,
     .at = offsetof(struct import_config, manifest),
     .group = "Results",
     .example = "manifest.jsonl",
     .initial_note = "manifest.jsonl in DIR, with paths relative to it",
     .sentence = "Where the manifest goes; paths in it are absolute then."},
    {.name = "ground-truth",
     .type = OPT_FILE,
     .at = offsetof(struct import_config, ground_truth),
     .group = "Results",
     .example = "ground_truth.jsonl",
     .initial_note = "ground_truth.jsonl in DIR",
     .sentence = "Where the transcripts go."},
    {.name = "probe-duration",
     .type = OPT_FLAG,
     .at = offsetof(struct import_config, probe_duration),
     .group = "Results",
     .initial = "true",
     .sentence = "Measure the files, so that the manifest states durations."},
};
static const struct opt_table TABLE = OPT_TABLE(OPTIONS, 0);
static const struct opt_table *const TABLES[] = {&TABLE};
static const struct opt_exit EXITS[] = {
    {0, "Both files were written."},
    {2, "The command line is wrong."},
    {65, "A file of transcripts is damaged."},
    {66, "The folder, or a sample in it, was not found."},
    {74, "A file could not be read or written."},
};

static const struct opt_command LINE = {
    .name = NAME,
    .summary = "Make manifest and ground truth from a LibriSpeech folder",
    .description = "Reads the transcripts (*.trans.txt) at any depth below DIR and writes what `assay asr --input` and "
                   "`--ground-truth` take.",
    .operands = "DIR",
    .tables = TABLES,
    .table_count = 1,
    .exits = EXITS,
    .exit_count = sizeof EXITS / sizeof EXITS[0],
    .examples = "  assay asr import-librispeech LibriSpeech/test-clean\n",
};

static as_status write_files(const struct import_config *config, const char *folder, const struct librispeech *found,
                             struct as_error *err)
{
    char manifest[PATH_MAX], truth[PATH_MAX];
    if (!path_join(manifest, sizeof manifest, config->manifest ? "." : folder,
                   config->manifest ? config->manifest : "manifest.jsonl") ||
        !path_join(truth, sizeof truth, config->ground_truth ? "." : folder,
                   config->ground_truth ? config->ground_truth : "ground_truth.jsonl"))
        return error_set(err, AS_E_USAGE, "a path is too long");
    as_status status = file_write_atomic(manifest, found->manifest.data, found->manifest.len, err);
    if (status == AS_OK)
        status = file_write_atomic(truth, found->ground_truth.data, found->ground_truth.len, err);
    if (status != AS_OK)
        return status;
    printf("%lld samples of %lld chapters\n%s\n%s\n", (long long)found->samples, (long long)found->chapters, manifest,
           truth);
    return fflush(stdout) == 0 ? AS_OK : error_set(err, AS_E_IO, "standard output could not be written");
}

static as_status import(const struct import_config *config, const char *folder, struct as_error *err)
{
    struct librispeech found;
    as_status status = librispeech_read(folder, config->manifest != NULL, config->probe_duration, &found, err);
    if (status != AS_OK)
        return status;
    if (found.missing)
        log_warning("%lld transcripts have no audio file beside them and are left out; the first: %s",
                    (long long)found.missing, found.first_missing);
    status = write_files(config, folder, &found, err);
    librispeech_done(&found);
    return status;
}

int asr_import(int argc, char **argv)
{
    struct import_config config;
    struct opt_parsed parsed;
    struct as_error err = {0};
    struct arena arena;
    int exit_code = 0;
    arena_init(&arena, 0, 0);
    struct opt_input input = {argc, argv, environ, &config, &arena};
    as_status status = options_read(&LINE, &input, &parsed, &err);
    if (status == AS_OK && parsed.wants_help)
        exit_code = command_print_help(&LINE);
    else if (status == AS_OK && parsed.operand_count != 1)
        status = error_set(&err, AS_E_USAGE, "give one folder, for example LibriSpeech/test-clean");
    else if (status == AS_OK)
        status = import(&config, parsed.operands[0], &err);
    if (status != AS_OK)
        exit_code = command_fail(NAME, &err);
    arena_done(&arena);
    return exit_code;
}
