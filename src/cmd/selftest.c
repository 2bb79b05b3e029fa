/* SPDX-License-Identifier: Apache-2.0 */
#include "selftest/selftest.h"

#include "base/log.h"
#include "cmd/commands.h"

#include <errno.h>
#include <limits.h>
#include <unistd.h>

static const struct opt_table *const tables[] = {&selftest_option_table};

static const struct opt_command line = {
    .name = "selftest",
    .summary = "Measure this machine's own client cost and timing error",
    .description =
        "Runs assay llm against assay sim on this machine, each on a CPU of its own where there are two, and compares "
        "what the client recorded with the simulator's truth log. Tells the CPU time a request and a chunk cost, how "
        "wrong the recorded times are, and the rate at which one client thread falls behind: its reads are late by "
        "more than 10 % of the time between chunks (p99).\n\n"
        "Other work on the machine is part of what is measured: repeat it on an idle one.",
    .tables = tables,
    .table_count = 1,
    .examples = "assay selftest\nassay selftest --seconds 1 --max-streams 2000 --json",
};

static void tell(const char *what)
{
    log_info("%s", what);
}

static as_status measure(const struct selftest_settings *settings, struct strbuf *out, struct as_error *err)
{
    char program[PATH_MAX];
    struct selftest_report report;
    ssize_t len = readlink("/proc/self/exe", program, sizeof(program) - 1);
    if (len < 0)
        return error_set_errno(err, errno, "cannot find this program");
    program[len] = '\0';
    as_status status = selftest_run(settings, program, tell, &report, err);
    if (status == AS_OK)
        settings->json ? selftest_json(&report, out) : selftest_show(&report, out);
    return status;
}

static int run(int argc, char **argv)
{
    struct arena arena;
    struct selftest_settings settings = {0};
    struct opt_parsed parsed;
    struct as_error err = {0};
    struct strbuf out AS_AUTO_STRBUF;
    int result;
    arena_init(&arena, 0, 0);
    strbuf_init(&out, 0);
    const struct opt_input input = {argc, argv, environ, &settings, &arena};
    if (options_read(&line, &input, &parsed, &err) != AS_OK)
        result = command_fail(line.name, &err);
    else if (parsed.wants_help)
        result = command_print_help(&line);
    else if (measure(&settings, &out, &err) != AS_OK)
        result = command_fail(line.name, &err);
    else
        result = command_print(line.name, &out);
    arena_done(&arena);
    return result;
}

const struct command command_selftest = {.line = &line, .run = run};
