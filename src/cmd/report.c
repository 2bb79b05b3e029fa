/* SPDX-License-Identifier: Apache-2.0 */
#include "cmd/report_line.h"

#include <stdio.h>
#include <string.h>

#define EXIT_USAGE     2
#define UPSTREAM_NAME  "benchmark-report"

static const struct {
    const char *name;
    int (*run)(int argc, char **argv, const char *program);
    const char *summary;
} SUBCOMMANDS[] = {
    {"convert", report_convert, "Make benchmark reports of a load generator's results"},
    {"validate", report_validate, "Check reports and say all that is wrong with them"},
    {"show", report_show, "Print a report as a table"},
    {"diff", report_diff, "Compare the figures of two reports"},
    {"schema", report_schema, "Print the JSON Schema of a version"},
};

static const struct opt_exit EXITS[] = {
    {0, "Done; every report is valid."},
    {1, "convert: the results cannot be converted or the output exists."},
    {2, "The command line is wrong, or convert: the results file does not exist."},
    {65, "A report is not valid."},
    {66, "A report does not exist."},
    {74, "Reading or writing failed."},
};
static const struct opt_command LINE = {
    .name = "report",
    .summary = "Benchmark reports: convert, validate, show, diff, schema",
    .description = "Works on benchmark reports of the llm-d formats 0.1 and 0.2.1.\n\n"
                   "convert makes reports of the results of a load generator, validate checks reports, show prints one as a table, diff "
                   "compares two, schema prints the JSON Schema of a version. Each explains itself with --help.\n\n"
                   "The name benchmark-report is `assay report convert` with the command line of the llm-d tool.",
    .operands = "convert|validate|show|diff|schema …",
    .exits = EXITS,
    .exit_count = sizeof EXITS / sizeof EXITS[0],
    .examples = "assay report convert -w guidellm -b 0.2 results.json benchmark_report.yaml\n"
                "assay report validate benchmark_report.yaml\n"
                "assay report diff before.yaml after.yaml",
};

static int list_subcommands(FILE *stream)
{
    fprintf(stream, "usage: assay report SUBCOMMAND [options] FILE…\n\n");
    for (size_t i = 0; i < sizeof SUBCOMMANDS / sizeof SUBCOMMANDS[0]; i++)
        fprintf(stream, "  %-10s%s\n", SUBCOMMANDS[i].name, SUBCOMMANDS[i].summary);
    return stream == stdout ? 0 : EXIT_USAGE;
}

static int run(int argc, char **argv)
{
    const char *slash = strrchr(argv[0], '/'), *self = slash ? slash + 1 : argv[0];
    if (strcmp(self, UPSTREAM_NAME) == 0)
        return report_convert(argc, argv, UPSTREAM_NAME);
    if (argc < 2)
        return list_subcommands(stderr);
    if (strcmp(argv[1], "--help") == 0 || strcmp(argv[1], "-h") == 0)
        return list_subcommands(stdout);
    for (size_t i = 0; i < sizeof SUBCOMMANDS / sizeof SUBCOMMANDS[0]; i++)
        if (strcmp(argv[1], SUBCOMMANDS[i].name) == 0)
            return SUBCOMMANDS[i].run(argc - 1, argv + 1, "assay report");
    return report_fail("assay report", EXIT_USAGE, "unknown subcommand \"%s\": convert, validate, show, diff or schema", argv[1]);
}

const struct command command_report = {.line = &LINE, .run = run};
