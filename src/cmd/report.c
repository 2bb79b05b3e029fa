/* SPDX-License-Identifier: Apache-2.0 */
#include "cmd/commands.h"
#include "cmd/version.h"
#include "reports/reports.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define EXIT_USAGE 2

static const struct {
    const char *name;
    int (*run)(struct reports_call *call);
    const char *summary;
} SUBCOMMANDS[] = {
    {"convert", reports_convert, "Make benchmark reports of a load generator's results"},
    {"validate", reports_validate, "Check reports and say all that is wrong with them"},
    {"show", reports_show, "Print a report as a table"},
    {"diff", reports_diff, "Compare the figures of two reports"},
    {"schema", reports_schema, "Print the JSON Schema of a version"},
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
                   "convert makes reports of the results of a load generator, validate checks reports, show prints one "
                   "as a table, diff "
                   "compares two, schema prints the JSON Schema of a version. Each explains itself with --help.\n\n"
                   "The name benchmark-report is `assay report convert` with the command line of the llm-d tool.",
    .operands = "convert|validate|show|diff|schema …",
    .exits = EXITS,
    .exit_count = sizeof EXITS / sizeof EXITS[0],
    .examples = "  assay report convert -w guidellm -b 0.2 results.json benchmark_report.yaml\n"
                "  assay report validate benchmark_report.yaml\n"
                "  assay report diff before.yaml after.yaml\n",
};

static int list_subcommands(void)
{
    fprintf(stderr, "usage: assay report SUBCOMMAND [options] FILE…\n\n");
    for (size_t i = 0; i < sizeof SUBCOMMANDS / sizeof SUBCOMMANDS[0]; i++)
        fprintf(stderr, "  %-10s%s\n", SUBCOMMANDS[i].name, SUBCOMMANDS[i].summary);
    return EXIT_USAGE;
}

static const char *process_variable(void *context, const char *name)
{
    (void)context;
    return getenv(name);
}

static bool is_upstream(const char *program)
{
    return strcmp(program, REPORTS_UPSTREAM_NAME) == 0;
}

static int print_help(const struct opt_command *help, const char *program)
{
    struct opt_command line = *help;
    line.is_own_program = is_upstream(program);
    if (line.is_own_program)
        line.name = program;
    return command_print_help(&line);
}

static int run_call(int (*function)(struct reports_call *call), int argc, char **argv, const char *program)
{
    struct reports_call call;
    reports_call_init(&call, argc, argv, program);
    call.getenv = process_variable;
    int exit_code = function(&call);
    fputs(strbuf_text(&call.err), stderr);
    int printed = call.help ? print_help(call.help, program) : command_print("report", &call.out);
    reports_call_done(&call);
    if (printed != 0 && function == reports_convert)
        printed = EXIT_FAILURE; /* as for every other output that cannot be written */
    return exit_code != 0 ? exit_code : printed;
}

static int print_man(void)
{
    struct strbuf text AS_AUTO_STRBUF;
    strbuf_init(&text, 0);
    reports_man(version_info()->version, &text);
    return command_print("report", &text);
}

static int run(int argc, char **argv)
{
    const char *slash = strrchr(argv[0], '/'), *self = slash ? slash + 1 : argv[0];
    if (argc == 2 && strcmp(argv[1], "--man") == 0)
        return print_man();
    if (is_upstream(self))
        return run_call(reports_convert, argc, argv, REPORTS_UPSTREAM_NAME);
    if (argc < 2)
        return list_subcommands();
    if (strcmp(argv[1], "--help") == 0 || strcmp(argv[1], "-h") == 0)
        return command_print_help(&LINE);
    for (size_t i = 0; i < sizeof SUBCOMMANDS / sizeof SUBCOMMANDS[0]; i++)
        if (strcmp(argv[1], SUBCOMMANDS[i].name) == 0)
            return run_call(SUBCOMMANDS[i].run, argc - 1, argv + 1, "assay report");
    fprintf(stderr, "assay report: unknown subcommand \"%s\"\n", argv[1]);
    return list_subcommands();
}

static const char *const PARTS[] = {"convert", "validate", "show", "diff", "schema", NULL};
const struct command command_report = {.line = &LINE, .run = run, .parts = PARTS};
