/* SPDX-License-Identifier: Apache-2.0 */
#include "sim/sim.h"

#include "base/log.h"
#include "cmd/commands.h"

#include <signal.h>
#include <stdio.h>
#include <unistd.h>

static const struct opt_table *const tables[] = {&sim_option_table};
static const struct opt_exit exits[] = {
    {0, "Stopped by SIGINT or SIGTERM."},
    {2, "The command line is wrong."},
    {65, "The truth log lost requests, or a file is invalid."},
    {66, "A file or folder does not exist."},
    {74, "Listening, reading or writing failed."},
};

static const struct opt_command line = {
    .name = "sim",
    .summary = "Serve a simulated model with known timing, faults and a truth log",
    .description =
        "Serves /v1/chat/completions, /v1/completions, /v1/models, /health and /metrics with answers whose delays, "
        "lengths and faults are given here. The first line on stdout is the URL to measure.\n\n"
        "The same seed gives the same delays, texts and faults. With --truth-log, what was sent when is "
        "written down, so that a client's figures can be compared with what happened.",
    .tables = tables,
    .table_count = 1,
    .exits = exits,
    .exit_count = sizeof(exits) / sizeof(exits[0]),
    .examples = "assay sim --port 0 --ttft 50ms --itl 10ms --tokens 40\n"
                "assay sim --ttft normal:80ms,10ms --itl gamma:12ms,4ms --slots 16 --truth-log truth.jsonl\n"
                "assay sim --fault 429:1@0.05 --fault reset:3@every=50 --freeze 5s+1.4s",
};

static struct sim *served;

static void on_signal(int number)
{
    (void)number;
    sim_stop(served);
}

static void catch_signals(void)
{
    struct sigaction action = {.sa_handler = on_signal};
    (void)sigaction(SIGINT, &action, NULL);
    (void)sigaction(SIGTERM, &action, NULL);
    (void)signal(SIGPIPE, SIG_IGN);
}

static as_status serve(const struct sim_settings *settings, struct as_error *err)
{
    as_status status = sim_new(settings, &served, err);
    if (status != AS_OK)
        return status;
    catch_signals();
    (void)printf("%s\n", sim_url(served));
    (void)fflush(stdout);
    status = sim_run(served, err);
    as_status closed = sim_close(served, status == AS_OK ? err : NULL);
    return status == AS_OK ? closed : status;
}

static int run(int argc, char **argv)
{
    struct arena arena;
    struct sim_settings settings = {0};
    struct opt_parsed parsed;
    struct as_error err = {0};
    int result;
    arena_init(&arena, 0, 0);
    const struct opt_input input = {argc, argv, environ, &settings, &arena};
    if (options_read(&line, &input, &parsed, &err) != AS_OK) {
        result = command_fail(line.name, &err);
    } else if (parsed.wants_help) {
        result = command_print_help(&line);
    } else {
        command_notes(&parsed);
        result = serve(&settings, &err) == AS_OK ? 0 : command_fail(line.name, &err);
    }
    arena_done(&arena);
    return result;
}

const struct command command_sim = {.line = &line, .run = run};
