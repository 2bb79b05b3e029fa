/* SPDX-License-Identifier: Apache-2.0 */
#include "restic/restic.h"

#include "base/arena.h"
#include "base/file.h"
#include "base/json.h"
#include "base/strbuf.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <spawn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#define WORDS_MAX   24
#define OUTPUT_MAX  ((size_t)1024 * 1024) /* what restic writes beyond it is dropped */
#define PIECE_BYTES 4096
#define SHOWN_BYTES 300

extern char **environ;

/* One invocation: words without the address, which goes by the environment. */
struct command {
    const struct restic_repository *repository;
    const char *folder; /* where it runs; NULL = here */
    const char *words[WORDS_MAX];
    size_t count;
};

struct outcome {
    struct strbuf out, err;
    int exit_status; /* -1 = by a signal */
};

static void outcome_done(struct outcome *outcome)
{
    strbuf_done(&outcome->out);
    strbuf_done(&outcome->err);
}

/* ---- the child ---- */

static bool is_replaced(const struct command *command, const char *entry)
{
    if (strncmp(entry, "RESTIC_REPOSITORY", strlen("RESTIC_REPOSITORY")) == 0)
        return true;
    return command->repository->password_file && strncmp(entry, "RESTIC_PASSWORD", strlen("RESTIC_PASSWORD")) == 0;
}

/* The environment with address and password file of this repository; all of it in the arena. */
static char **make_environment(const struct command *command, struct arena *arena)
{
    size_t count = 0, used = 0;
    while (environ[count])
        count++;
    char **ret = arena_calloc(arena, count + 3, sizeof *ret);
    if (!ret)
        return NULL;
    for (size_t i = 0; i < count; i++)
        if (!is_replaced(command, environ[i]))
            ret[used++] = environ[i];
    ret[used] = arena_printf(arena, "RESTIC_REPOSITORY=%s", command->repository->address);
    if (!ret[used++])
        return NULL;
    if (!command->repository->password_file)
        return ret;
    char *whole = realpath(command->repository->password_file, NULL);
    ret[used] = arena_printf(arena, "RESTIC_PASSWORD_FILE=%s", whole ? whole : command->repository->password_file);
    free(whole);
    return ret[used] ? ret : NULL;
}

static int add_actions(posix_spawn_file_actions_t *actions, const struct command *command, const int out[2],
                       const int err[2])
{
    int error = posix_spawn_file_actions_addopen(actions, STDIN_FILENO, "/dev/null", O_RDONLY, 0);
    if (error == 0)
        error = posix_spawn_file_actions_adddup2(actions, out[1], STDOUT_FILENO);
    if (error == 0)
        error = posix_spawn_file_actions_adddup2(actions, err[1], STDERR_FILENO);
    if (error == 0 && command->folder)
        error = posix_spawn_file_actions_addchdir_np(actions, command->folder);
    return error;
}

static int spawn(const struct command *command, const int out[2], const int err[2], pid_t *ret)
{
    posix_spawn_file_actions_t actions;
    struct arena arena;
    char *argv[WORDS_MAX + 2] = {0};
    static char name[] = "restic";
    arena_init(&arena, 0, 0);
    char **environment = make_environment(command, &arena);
    bool is_whole = environment != NULL;
    argv[0] = name;
    for (size_t i = 0; is_whole && i < command->count; i++) {
        argv[i + 1] = arena_strdup(&arena, command->words[i]);
        is_whole = argv[i + 1] != NULL;
    }
    int error = is_whole ? posix_spawn_file_actions_init(&actions) : ENOMEM;
    if (error == 0) {
        error = add_actions(&actions, command, out, err);
        if (error == 0)
            error = posix_spawnp(ret, name, &actions, NULL, argv, environment);
        posix_spawn_file_actions_destroy(&actions);
    }
    arena_done(&arena);
    return error;
}

/* False at the end of what the descriptor gives. */
static bool take(int fd, struct strbuf *ret)
{
    char piece[PIECE_BYTES];
    ssize_t got = read(fd, piece, sizeof piece);
    if (got < 0)
        return errno == EINTR || errno == EAGAIN;
    if (got > 0 && ret->len + (size_t)got <= OUTPUT_MAX)
        strbuf_add(ret, piece, (size_t)got);
    return got > 0;
}

static void listen_to(int out, int err, struct outcome *ret)
{
    struct pollfd channels[] = {{.fd = out, .events = POLLIN}, {.fd = err, .events = POLLIN}};
    struct strbuf *const texts[] = {&ret->out, &ret->err};
    while (channels[0].fd >= 0 || channels[1].fd >= 0) {
        if (poll(channels, 2, -1) < 0 && errno != EINTR)
            return;
        for (size_t i = 0; i < 2; i++)
            if (channels[i].fd >= 0 && channels[i].revents && !take(channels[i].fd, texts[i]))
                channels[i].fd = -1;
    }
}

static void close_both(const int fds[2])
{
    for (size_t i = 0; i < 2; i++)
        if (fds[i] >= 0)
            (void)close(fds[i]);
}

static as_status run(const struct command *command, struct outcome *ret, struct as_error *err)
{
    int out[2] = {-1, -1}, errors[2] = {-1, -1}, status = 0, error = 0;
    pid_t pid = -1;
    strbuf_init(&ret->out, 0);
    strbuf_init(&ret->err, 0);
    if (pipe2(out, O_CLOEXEC) != 0 || pipe2(errors, O_CLOEXEC) != 0)
        error = errno;
    if (error == 0)
        error = spawn(command, out, errors, &pid);
    if (error != 0) {
        close_both(out);
        close_both(errors);
        if (error == ENOENT && command->folder && access(command->folder, X_OK) != 0)
            return error_set(err, AS_E_NOTFOUND, "%.300s: there is no such folder", command->folder);
        if (error == ENOENT)
            return error_set(err, AS_E_NOTFOUND, "the program restic is not installed: apt install restic");
        return error_set(err, error == ENOMEM ? AS_E_NOMEM : AS_E_IO, "restic cannot be started: %s", strerror(error));
    }
    (void)close(out[1]);
    (void)close(errors[1]);
    listen_to(out[0], errors[0], ret);
    (void)close(out[0]);
    (void)close(errors[0]);
    while (waitpid(pid, &status, 0) < 0 && errno == EINTR)
        continue;
    ret->exit_status = WIFEXITED(status) ? WEXITSTATUS(status) : -1;
    return AS_OK;
}

/* ---- what went wrong ---- */

/* The last line that says something and names no address with a user. */
static const char *last_words(const struct outcome *outcome, char ret[SHOWN_BYTES])
{
    const char *at = strbuf_text(&outcome->err);
    ret[0] = '\0';
    while (*at) {
        const size_t len = strcspn(at, "\n"), shown = len < SHOWN_BYTES - 1 ? len : SHOWN_BYTES - 1;
        const bool has_user = memmem(at, len, "://", 3) && memchr(at, '@', len);
        if (len > 0 && !has_user) {
            memcpy(ret, at, shown);
            ret[shown] = '\0';
        }
        at += len + (at[len] == '\n');
    }
    return ret;
}

static bool says(const struct outcome *outcome, const char *words)
{
    return strstr(strbuf_text(&outcome->err), words) != NULL;
}

static as_status failure(const struct outcome *outcome, struct as_error *err)
{
    char words[SHOWN_BYTES];
    if (says(outcome, "Is there a repository") || says(outcome, "unable to open config file"))
        return error_set(err, AS_E_NOTFOUND, "there is no restic repository at this address");
    if (says(outcome, "wrong password") || says(outcome, "empty password") ||
        says(outcome, "Resolving password failed"))
        return error_set(err, AS_E_DENIED,
                         "the password of the restic repository is wrong or missing: give --password-file, or set "
                         "RESTIC_PASSWORD_FILE");
    if (says(outcome, "already locked"))
        return error_set(err, AS_E_STATE,
                         "the restic repository is locked by another process; when none is at work: restic unlock");
    if (says(outcome, "no matching ID found"))
        return error_set(err, AS_E_NOTFOUND, "the restic repository has no such snapshot");
    return error_set(err, AS_E_IO, "restic failed (exit %d): %s", outcome->exit_status, last_words(outcome, words));
}

/* ---- the calls ---- */

as_status restic_init(const struct restic_repository *repository, bool *ret_is_new, struct as_error *err)
{
    const struct command command = {.repository = repository, .words = {"init", "--quiet"}, .count = 2};
    struct outcome outcome __attribute__((cleanup(outcome_done))) = {.exit_status = 0};
    as_status status = run(&command, &outcome, err);
    if (status != AS_OK)
        return status;
    *ret_is_new = outcome.exit_status == 0;
    return outcome.exit_status == 0 || says(&outcome, "already exists") || says(&outcome, "already initialized")
               ? AS_OK
               : failure(&outcome, err);
}

/* The line of JSON that sums a backup up. */
static as_status read_summary(const struct outcome *outcome, struct restic_snapshot *ret, struct as_error *err)
{
    const char *line = strstr(strbuf_text(&outcome->out), "{\"message_type\":\"summary\"");
    const struct json_value *tree = NULL;
    const char *name = NULL;
    struct arena arena;
    arena_init(&arena, 0, 0);
    bool is_good = line && json_parse(line, strcspn(line, "\n"), NULL, &arena, &tree, NULL) == AS_OK &&
                   json_string(json_get(tree, "snapshot_id"), &name) && strlen(name) < RESTIC_ID_BYTES &&
                   json_int64(json_get(tree, "total_files_processed"), &ret->files) &&
                   json_int64(json_get(tree, "total_bytes_processed"), &ret->bytes);
    if (is_good)
        (void)snprintf(ret->id, sizeof ret->id, "%s", name);
    arena_done(&arena);
    return is_good ? AS_OK : error_set(err, AS_E_IO, "restic did not say which snapshot it made");
}

as_status restic_backup(const struct restic_repository *repository, const char *folder, const char *const *tags,
                        struct restic_snapshot *ret, struct as_error *err)
{
    struct command command = {
        .repository = repository, .folder = folder, .words = {"backup", "--json", "--quiet"}, .count = 3};
    struct outcome outcome __attribute__((cleanup(outcome_done))) = {.exit_status = 0};
    for (; *tags && command.count < WORDS_MAX - 4; tags++) {
        command.words[command.count++] = "--tag";
        command.words[command.count++] = *tags;
    }
    command.words[command.count++] = ".";
    as_status status = run(&command, &outcome, err);
    if (status != AS_OK)
        return status;
    if (outcome.exit_status == 3)
        return error_set(err, AS_E_IO, "restic could not read all files of the folder; nothing of it is to be used");
    return outcome.exit_status == 0 ? read_summary(&outcome, ret, err) : failure(&outcome, err);
}

as_status restic_restore(const struct restic_repository *repository, const char *snapshot, const char *folder,
                         struct as_error *err)
{
    const struct command command = {
        .repository = repository, .words = {"restore", "--verify", "--target", folder, "--", snapshot}, .count = 6};
    struct outcome outcome __attribute__((cleanup(outcome_done))) = {.exit_status = 0};
    as_status status = run(&command, &outcome, err);
    if (status != AS_OK)
        return status;
    return outcome.exit_status == 0 ? AS_OK : failure(&outcome, err);
}
