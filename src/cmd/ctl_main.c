/* SPDX-License-Identifier: Apache-2.0 */
/* assay-ctl: the API from a shell (ctl/ctl.h). `assay ctl` runs it. */
#include "base/file.h"
#include "base/log.h"
#include "ctl/ctl.h"

#include <curl/curl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <unistd.h>

#define EXIT_NO 1

static int fail(const struct as_error *err)
{
    fprintf(stderr, "assay ctl: %s\n", err->message[0] ? err->message : status_sentence(err->status));
    return status_exit_code(err->status);
}

/* Columns of the terminal on standard output; 0 when it is none. */
static size_t output_width(void)
{
    struct winsize size;
    const char *columns = getenv("COLUMNS");
    if (!isatty(STDOUT_FILENO))
        return 0;
    long width = columns ? strtol(columns, NULL, 10) : 0;
    if (width > 0)
        return (size_t)width;
    return ioctl(STDOUT_FILENO, TIOCGWINSZ, &size) == 0 ? size.ws_col : 0;
}

static as_status write_out(void *context, const char *text, size_t len)
{
    (void)context;
    return file_write_all(STDOUT_FILENO, text, len);
}

static void write_note(void *context, const char *sentence)
{
    (void)context;
    log_info("%s", sentence);
}

/* "-f" is what people type for --file. */
static void spell_out(int argc, char **argv)
{
    static char file[] = "--file";
    for (int i = 1; i < argc && strcmp(argv[i], "--") != 0; i++)
        if (strcmp(argv[i], "-f") == 0)
            argv[i] = file;
}

static int run(const struct opt_parsed *parsed, struct ctl_settings *settings)
{
    const struct ctl_output output = {.write = write_out, .note = write_note};
    const struct opt_state *token = options_state(parsed, "token");
    struct as_error err = {0};
    bool is_good = true;
    if (token && token->origin == OPT_FROM_ARGV)
        log_warning("--token is visible in the process list; --token-file and ASSAY_TOKEN are not");
    for (size_t i = 0; i < parsed->note_count; i++)
        log_info("%s", parsed->notes[i]);
    settings->width = output_width();
    as_status status = ctl_run(parsed, settings, &output, &is_good, &err);
    err.status = status;
    if (status != AS_OK)
        return fail(&err);
    return is_good ? 0 : EXIT_NO;
}

int main(int argc, char **argv)
{
    struct ctl_settings settings = {0};
    struct opt_parsed parsed;
    struct as_error err = {0};
    struct arena arena;
    int result;
    arena_init(&arena, 0, 0);
    spell_out(argc, argv);
    (void)signal(SIGPIPE, SIG_IGN);
    curl_global_init(CURL_GLOBAL_DEFAULT);
    const struct opt_input input = {argc, argv, environ, &settings, &arena};
    if (options_read(&ctl_command, &input, &parsed, &err) != AS_OK) {
        result = fail(&err);
    } else if (parsed.wants_help) {
        (void)error_set(&err, AS_E_USAGE, "help is given by the program assay");
        result = fail(&err);
    } else {
        result = run(&parsed, &settings);
    }
    curl_global_cleanup();
    arena_done(&arena);
    return result;
}
