/* SPDX-License-Identifier: Apache-2.0 */
/* assay-serve: the control plane (plane/plane.h). `assay serve` runs it. */
#include "base/clock.h"
#include "base/file.h"
#include "base/log.h"
#include "plane/plane.h"

#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#define DRAIN_NS (10 * NS_PER_S)

static int fail(const struct as_error *err)
{
    fprintf(stderr, "assay serve: %s\n", err->message[0] ? err->message : status_sentence(err->status));
    return status_exit_code(err->status);
}

static int print(const struct strbuf *text, as_status status, struct as_error *err)
{
    if (status == AS_OK)
        status = strbuf_status(text);
    if (status == AS_OK && file_write_all(STDOUT_FILENO, strbuf_text(text), text->len) != AS_OK)
        status = error_set(err, AS_E_IO, "standard output cannot be written");
    err->status = status;
    return status == AS_OK ? 0 : fail(err);
}

/* Waits for signals in a thread of its own: reading certificates takes locks, which a handler must not. */
static void *watch(void *context)
{
    struct plane *plane = context;
    struct as_error err = {0};
    sigset_t set;
    int number = 0;
    sigemptyset(&set);
    sigaddset(&set, SIGINT);
    sigaddset(&set, SIGTERM);
    sigaddset(&set, SIGHUP);
    sigaddset(&set, SIGUSR1);
    while (sigwait(&set, &number) == 0 && number != SIGUSR1) {
        if (number != SIGHUP)
            plane_stop(plane, DRAIN_NS);
        else if (plane_reload(plane, &err) == AS_OK)
            log_info("the certificate was read again");
        else
            log_error("the old certificate stays: %s", err.message);
    }
    return NULL;
}

static void block_signals(void)
{
    sigset_t set;
    sigemptyset(&set);
    sigaddset(&set, SIGINT);
    sigaddset(&set, SIGTERM);
    sigaddset(&set, SIGHUP);
    sigaddset(&set, SIGUSR1);
    (void)pthread_sigmask(SIG_BLOCK, &set, NULL);
    (void)signal(SIGPIPE, SIG_IGN);
}

static int serve(const struct plane_settings *settings)
{
    struct strbuf notice AS_AUTO_STRBUF;
    struct plane *plane = NULL;
    struct as_error err = {0};
    pthread_t watcher;
    strbuf_init(&notice, 0);
    block_signals();
    as_status status = plane_open(settings, &plane, &notice, &err);
    if (status != AS_OK)
        return fail(&err);
    if (notice.len)
        log_info("%.*s", (int)(notice.len - 1), notice.data);
    (void)printf("%s\n", plane_url(plane));
    (void)fflush(stdout);
    if (pthread_create(&watcher, NULL, watch, plane) != 0) {
        plane_close(plane);
        err.status = AS_E_NOMEM;
        return fail(&err);
    }
    status = plane_run(plane, &err);
    (void)pthread_kill(watcher, SIGUSR1);
    (void)pthread_join(watcher, NULL);
    plane_close(plane);
    return status == AS_OK ? 0 : fail(&err);
}

static int usage(const char *sentence)
{
    struct as_error err = {0};
    (void)error_set(&err, AS_E_USAGE, "%s; see assay serve --help", sentence);
    return fail(&err);
}

static bool is_words(const struct opt_parsed *parsed, size_t count, const char *first, const char *second)
{
    return parsed->operand_count == count && strcmp(parsed->operands[0], first) == 0 &&
           (!second || strcmp(parsed->operands[1], second) == 0);
}

static int run_words(const struct opt_parsed *parsed, const struct plane_settings *settings)
{
    struct strbuf out AS_AUTO_STRBUF;
    struct as_error err = {0};
    as_status status;
    strbuf_init(&out, 0);
    if (is_words(parsed, 1, "openapi", NULL))
        status = plane_openapi(&out);
    else if (is_words(parsed, 1, "admin-token", NULL))
        status = plane_admin_token(settings, &out, &err);
    else if (is_words(parsed, 2, "backup", NULL))
        status = plane_backup(settings, parsed->operands[1], &err);
    else if (is_words(parsed, 2, "restore", NULL))
        status = plane_restore(settings, parsed->operands[1], &err);
    else if (is_words(parsed, 3, "recipes", "diff"))
        status = plane_recipes_diff(settings, parsed->operands[2], &out, &err);
    else
        return usage("the words are backup FILE, restore FILE, recipes diff FILE, openapi or admin-token");
    if (status != AS_OK)
        err.status = status;
    return print(&out, status, &err);
}

static void on_failed(const char *sentence)
{
    log_error("%s", sentence);
}

int main(int argc, char **argv)
{
    struct plane_settings settings = {.failed = on_failed};
    struct opt_parsed parsed;
    struct as_error err = {0};
    struct arena arena;
    int result;
    arena_init(&arena, 0, 0);
    const struct opt_input input = {argc, argv, environ, &settings, &arena};
    if (options_read(&plane_command, &input, &parsed, &err) != AS_OK)
        result = fail(&err);
    else if (parsed.wants_help)
        result = usage("help is given by the program assay");
    else
        result = parsed.operand_count ? run_words(&parsed, &settings) : serve(&settings);
    arena_done(&arena);
    return result;
}
