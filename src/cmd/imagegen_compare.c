/* SPDX-License-Identifier: Apache-2.0 */
#include "cmd/imagegen_log.h"

#include "cmd/commands.h"
#include "run/image_report.h"

#include <unistd.h>

#define NAME           "imagegen compare"
#define EXIT_DIFFERENT 1

struct compare_config {
    int format;
    bool require_equal;
};

static const char *const FORMATS[] = {"text", "json", NULL};
static const struct opt OPTIONS[] = {
    {.name = "format",
     .type = OPT_ENUM,
     .at = offsetof(struct compare_config, format),
     .group = "Output",
     .choices = FORMATS,
     .initial = "text",
     .sentence = "Lines for people, or one JSON object with every pair."},
    {.name = "require-equal",
     .type = OPT_FLAG,
     .at = offsetof(struct compare_config, require_equal),
     .group = "Output",
     .sentence = "Exit status 1 when there is no pair, or one whose images differ."},
};
static const struct opt_table TABLE = OPT_TABLE(OPTIONS, 0);
static const struct opt_table *const TABLES[] = {&TABLE};
static const struct opt_exit EXITS[] = {
    {0, "The runs were compared."},
    {EXIT_DIFFERENT, "With --require-equal: images of a pair differ, or there is no pair."},
    {2, "The command line is wrong."},
    {65, "Records are damaged; file and line are named."},
    {66, "There is no such folder, or no records in it."},
    {74, "Records could not be read."},
};
static const struct opt_command LINE = {
    .name = NAME,
    .summary = "Say which images two runs share",
    .description = "Compares the digests in the records of two runs; no image is read. Images are a pair when both "
                   "runs got them as answer to "
                   "the same request body, the n-th time it was sent, at the same place of the answer.",
    .operands = "A B",
    .tables = TABLES,
    .table_count = 1,
    .exits = EXITS,
    .exit_count = sizeof EXITS / sizeof EXITS[0],
    .examples = "  assay imagegen compare assay-results/run-1 assay-results/run-2\n",
};

static int compare(const struct compare_config *config, const char *const *places)
{
    struct strbuf out AS_AUTO_STRBUF;
    struct as_error err = {0};
    struct image_log a, b;
    bool is_equal = false;
    strbuf_init(&out, 0);
    if (image_log_read(places[0], &a, &err) != AS_OK)
        return command_fail(NAME, &err);
    if (image_log_read(places[1], &b, &err) != AS_OK) {
        image_log_done(&a);
        return command_fail(NAME, &err);
    }
    as_status status = image_report_compare(&a, &b, config->format == 1, &out, &is_equal);
    image_log_done(&a);
    image_log_done(&b);
    if (status != AS_OK) {
        error_set(&err, status, "%s", status_sentence(status));
        return command_fail(NAME, &err);
    }
    int exit_code = command_print(NAME, &out);
    return exit_code ? exit_code : config->require_equal && !is_equal ? EXIT_DIFFERENT : 0;
}

int imagegen_compare(int argc, char **argv)
{
    struct compare_config config;
    struct opt_parsed parsed;
    struct as_error err = {0};
    struct arena arena;
    int exit_code;
    arena_init(&arena, 0, 0);
    struct opt_input input = {argc, argv, environ, &config, &arena};
    as_status status = options_read(&LINE, &input, &parsed, &err);
    if (status == AS_OK && !parsed.wants_help && parsed.operand_count != 2)
        status = error_set(&err, AS_E_USAGE, "give two result folders, or files of records");
    if (status != AS_OK)
        exit_code = command_fail(NAME, &err);
    else
        exit_code = parsed.wants_help ? command_print_help(&LINE) : compare(&config, parsed.operands);
    arena_done(&arena);
    return exit_code;
}
