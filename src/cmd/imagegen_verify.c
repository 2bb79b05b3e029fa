/* SPDX-License-Identifier: Apache-2.0 */
#include "cmd/imagegen_log.h"

#include "cmd/commands.h"
#include "run/image_report.h"

#include <unistd.h>

#define NAME           "imagegen verify"
#define EXIT_DIFFERENT 1

struct verify_config {
    int format;
    const char *moved;
};

static const char *const FORMATS[] = {"text", "json", NULL};
static const struct opt OPTIONS[] = {
    {.name = "format",
     .type = OPT_ENUM,
     .at = offsetof(struct verify_config, format),
     .group = "Output",
     .choices = FORMATS,
     .initial = "text",
     .sentence = "Lines for people, or one JSON object."},
    {.name = "artifact-dir",
     .type = OPT_FILE,
     .at = offsetof(struct verify_config, moved),
     .group = "Input",
     .value = "FOLDER",
     .example = "backup/artifacts",
     .initial_note = "where the records say",
     .sentence = "The images are in this folder now: their names are looked up in it, whatever folder records name."},
};
static const struct opt_table TABLE = OPT_TABLE(OPTIONS, 0);
static const struct opt_table *const TABLES[] = {&TABLE};
static const struct opt_exit EXITS[] = {
    {0, "Every image that was saved is there and has the digest of its record."},
    {EXIT_DIFFERENT, "An image is missing, cannot be read or has another digest."},
    {2, "The command line is wrong."},
    {65, "The records are damaged; file and line are named."},
    {66, "There is no such folder, or no records in it."},
    {74, "The records could not be read."},
};
static const struct opt_command LINE = {
    .name = NAME,
    .summary = "Hash the images of a run again and compare them with its records",
    .description = "Takes a result folder, or a file of records; relative paths in records are meant from its folder, "
                   "which a log that --data-log put elsewhere does not need. "
                   "Files beside the images "
                   "that no record names (a killed run leaves them) are listed and are no failure.",
    .operands = "FOLDER|FILE",
    .tables = TABLES,
    .table_count = 1,
    .exits = EXITS,
    .exit_count = sizeof EXITS / sizeof EXITS[0],
    .examples = "  assay imagegen verify assay-results/imagegen-20261130T190533Z-quiet-otter-3f2a\n",
};

static int verify(const struct verify_config *config, const char *place)
{
    struct strbuf out AS_AUTO_STRBUF;
    struct as_error err = {0};
    struct image_log log;
    bool is_sound = false;
    strbuf_init(&out, 0);
    if (image_log_read(place, &log, &err) != AS_OK)
        return command_fail(NAME, &err);
    log.moved = config->moved;
    as_status status = image_report_check(&log, config->format == 1, &out, &is_sound);
    image_log_done(&log);
    if (status != AS_OK) {
        error_set(&err, status, "%s", status_sentence(status));
        return command_fail(NAME, &err);
    }
    int exit_code = command_print(NAME, &out);
    return exit_code ? exit_code : is_sound ? 0 : EXIT_DIFFERENT;
}

int imagegen_verify(int argc, char **argv)
{
    struct verify_config config;
    struct opt_parsed parsed;
    struct as_error err = {0};
    struct arena arena;
    int exit_code;
    arena_init(&arena, 0, 0);
    struct opt_input input = {argc, argv, environ, &config, &arena};
    as_status status = options_read(&LINE, &input, &parsed, &err);
    if (status == AS_OK && !parsed.wants_help && parsed.operand_count != 1)
        status = error_set(&err, AS_E_USAGE, "give one result folder, or one file of records");
    if (status != AS_OK)
        exit_code = command_fail(NAME, &err);
    else
        exit_code = parsed.wants_help ? command_print_help(&LINE) : verify(&config, parsed.operands[0]);
    arena_done(&arena);
    return exit_code;
}
