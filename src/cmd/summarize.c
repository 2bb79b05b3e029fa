/* SPDX-License-Identifier: Apache-2.0 */
#include "base/log.h"
#include "cmd/commands.h"
#include "run/exits.h"
#include "run/rebuild.h"
#include "run/summarize_options.h"
#include "run/summarize_output.h"

#include <stdio.h>
#include <unistd.h>

static void tell_damage(const struct records_found *found)
{
    char others[48] = "";
    if (found->damaged_rings > 1)
        (void)snprintf(others, sizeof others, " (and %u rings more)", found->damaged_rings - 1);
    log_warning("%s%s; records that only it held are missing", found->damage.message, others);
}

static void tell_what_was_found(const struct rebuild *rebuild)
{
    for (size_t i = 0; i < rebuild->count; i++) {
        const struct rebuild_input *input = &rebuild->inputs[i];
        if (!input->has_facts)
            log_warning("%s: no run.json beside it: plan, servers and options are not known", input->file);
        if (input->found.torn_bytes)
            log_warning("%s: the last line is cut off (%lld bytes) and left out", input->file, (long long)input->found.torn_bytes);
        if (input->found.recovered)
            log_info("%s: %lld records more were in the journal", input->file, (long long)input->found.recovered);
        if (input->found.damaged_rings)
            tell_damage(&input->found);
    }
}

static int exit_code_of(const struct summarize_config *config, const struct summary *summary)
{
    if (config->fail_on_error && summary->total.errors.count > 0)
        return RUN_EXIT_ERRORS;
    return config->require_valid && !summary->validity.is_valid ? RUN_EXIT_INVALID : 0;
}

static as_status summarize(const struct summarize_config *config, const struct opt_parsed *parsed, int *ret_exit_code, struct as_error *err)
{
    struct strbuf text AS_AUTO_STRBUF;
    struct rebuild rebuild;
    strbuf_init(&text, 0);
    as_status status = summarize_check_outputs(config, parsed, err);
    if (status != AS_OK)
        return status;
    status = rebuild_make(&rebuild, parsed->operands, parsed->operand_count, err);
    if (status == AS_OK) {
        tell_what_was_found(&rebuild);
        status = summarize_write_files(config, &rebuild.summary, err);
    }
    if (status == AS_OK)
        status = summarize_show(config, &rebuild.summary, &text, err);
    if (status == AS_OK)
        *ret_exit_code = command_print("summarize", &text);
    if (status == AS_OK && *ret_exit_code == 0)
        *ret_exit_code = exit_code_of(config, &rebuild.summary);
    rebuild_done(&rebuild);
    return status;
}

static int summarize_run(int argc, char **argv)
{
    struct summarize_config config;
    struct opt_parsed parsed;
    struct as_error err = {0};
    struct arena arena;
    int exit_code = 0;
    arena_init(&arena, 0, 0);
    struct opt_input input = {argc, argv, environ, &config, &arena};
    as_status status = options_read(&SUMMARIZE_LINE, &input, &parsed, &err);
    if (status == AS_OK && parsed.wants_help)
        exit_code = command_print_help(&SUMMARIZE_LINE);
    else if (status == AS_OK && parsed.operand_count == 0)
        status = error_set(&err, AS_E_USAGE, "no file or folder is given");
    else if (status == AS_OK) {
        command_notes(&parsed);
        status = summarize(&config, &parsed, &exit_code, &err);
    }
    if (status != AS_OK)
        exit_code = command_fail("summarize", &err);
    arena_done(&arena);
    return exit_code;
}

const struct command command_summarize = {.line = &SUMMARIZE_LINE, .run = summarize_run};
