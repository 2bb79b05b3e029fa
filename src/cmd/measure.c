/* SPDX-License-Identifier: Apache-2.0 */
#include "cmd/measure.h"

#include "base/log.h"
#include "base/url.h"
#include "cmd/commands.h"
#include "cmd/version.h"
#include "net/net.h"
#include "run/exits.h"
#include "run/run.h"
#include "run/signals.h"

#include <string.h>
#include <unistd.h>

/* The checks before the run, then the run. *ret_exit_code is that of a refusal. */
static as_status measure(struct run *run, int *ret_exit_code, struct as_error *err)
{
    as_status status = run_check(run, err);
    if (status != AS_OK) {
        *ret_exit_code = RUN_EXIT_PREFLIGHT;
        return status;
    }
    status = run_ask(run, err);
    if (status == AS_OK)
        status = run_measure(run, err);
    *ret_exit_code = status_exit_code(status);
    return status;
}

/* True when one of the option's URLs on the command line has a key in its query. */
static bool holds_key(const struct opt_parsed *parsed, const char *option, const struct opt_list *urls)
{
    const char *key;
    size_t len;
    for (size_t i = 0; options_state(parsed, option)->origin == OPT_FROM_ARGV && i < urls->count; i++) {
        const char *at = urls->items[i] + strcspn(urls->items[i], "?#");
        if (url_next_key(&at, &key, &len))
            return true;
    }
    return false;
}

static void warn_of_key(const struct run *run)
{
    if (options_state(&run->parsed, "api-key")->origin == OPT_FROM_ARGV)
        log_warning("--api-key is visible in the process list; --api-key-file and OPENAI_API_KEY are not");
    if (holds_key(&run->parsed, "url", &run->config.endpoint.urls) ||
        holds_key(&run->parsed, "endpoint", &run->config.endpoint.values))
        log_warning("a key in a URL's query is visible in the process list; --endpoints-file FILE keeps it out of there");
}

/* From the open folder on every way out writes the summary. */
static int run_in_folder(struct run *run)
{
    struct strbuf console AS_AUTO_STRBUF;
    struct as_error err = {0}, report_err = {0};
    int exit_code = 0;
    strbuf_init(&console, 0);
    as_status measured = measure(run, &exit_code, &err);
    as_status reported = run_report(run, &console, &report_err);
    if (measured != AS_OK)
        command_fail(run->tool->name, &err);
    else if (run->has_summary)
        exit_code = command_print(run->tool->name, &console);
    if (reported != AS_OK) {
        int failed = command_fail(run->tool->name, &report_err);
        return exit_code ? exit_code : failed;
    }
    return exit_code ? exit_code : run_exit_code(run);
}

static int describe(struct run *run)
{
    struct strbuf text AS_AUTO_STRBUF;
    struct as_error err = {0};
    strbuf_init(&text, 0);
    return run_describe(run, &text, &err) == AS_OK ? command_print(run->tool->name, &text)
                                                   : command_fail(run->tool->name, &err);
}

static int run_with(struct run *run, int argc, char **argv)
{
    struct as_error err = {0};
    struct opt_input input = {argc, argv, environ, &run->config, &run->arena};
    if (options_read(run->tool->line, &input, &run->parsed, &err) != AS_OK)
        return command_fail(run->tool->name, &err);
    if (run->parsed.wants_help)
        return command_print_help(run->tool->line);
    if (!run->config.result.quiet)
        command_notes(&run->parsed);
    warn_of_key(run);
    if (run_configure(run, &err) != AS_OK)
        return command_fail(run->tool->name, &err);
    if (run->config.result.dry_run)
        return describe(run);
    if (run_open(run, argc, argv, &err) != AS_OK)
        return command_fail(run->tool->name, &err);
    return run_in_folder(run);
}

int command_measure(const struct run_tool *tool, int argc, char **argv)
{
    const struct version *version = version_info();
    struct run_program program = {version->full, version->commit, version->compiler};
    struct run run;
    net_tls_memory_install();
    signals_install();
    run_init(&run, tool, &program);
    int exit_code = run_with(&run, argc, argv);
    run_done(&run);
    return exit_code;
}
