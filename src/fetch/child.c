/* SPDX-License-Identifier: Apache-2.0 */
#include "fetch/child.h"

#include "base/clock.h"
#include "base/file.h"
#include "fetch/wire.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <poll.h>
#include <signal.h>
#include <spawn.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

/* Child ends of channels are moved up here, out of the way of the descriptors they become. */
#define CHILD_FD_MIN 16

extern char **environ;

as_status fetch_program_find(const char *name, char *ret, size_t size, struct as_error *err)
{
    static const char *const places[] = {"%s/../libexec/assay/%s", "%s/libexec/assay/%s", "%s/%s", NULL};
    char self[PATH_MAX], folder[PATH_MAX];
    ssize_t len = readlink("/proc/self/exe", self, sizeof self - 1);
    if (len < 0)
        return error_set_errno(err, errno, "the place of this program is unknown");
    self[len] = '\0';
    if (!path_dir(folder, sizeof folder, self))
        return error_set(err, AS_E_LIMIT, "the path of this program is too long");
    for (int i = 0; places[i]; i++) {
#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wformat-nonliteral"
        int used = snprintf(ret, size, places[i], folder, name);
#pragma GCC diagnostic pop
        if (used > 0 && (size_t)used < size && access(ret, X_OK) == 0)
            return AS_OK;
    }
    return error_set(err, AS_E_NOTFOUND, "%s is not installed: it belongs into libexec/assay beside %s", name, folder);
}

static void close_fd(int *fd)
{
    if (*fd >= 0)
        close(*fd);
    *fd = -1;
}

/* A channel: ret[0] ours, ret[1] the child's, moved up. Sockets, because writing to a dead one can be told without a
 * signal. */
static as_status open_channel(int ret[2])
{
    int ends[2];
    if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends) != 0)
        return AS_E_IO;
    int moved = fcntl(ends[1], F_DUPFD_CLOEXEC, CHILD_FD_MIN);
    close(ends[1]);
    if (moved < 0) {
        close(ends[0]);
        return AS_E_IO;
    }
    ret[0] = ends[0];
    ret[1] = moved;
    return AS_OK;
}

/* A pipe whose read end is ours. */
static as_status open_pipe(int ret[2])
{
    int ends[2];
    if (pipe2(ends, O_CLOEXEC) != 0)
        return AS_E_IO;
    int moved = fcntl(ends[1], F_DUPFD_CLOEXEC, CHILD_FD_MIN);
    close(ends[1]);
    if (moved < 0) {
        close(ends[0]);
        return AS_E_IO;
    }
    ret[0] = ends[0];
    ret[1] = moved;
    return AS_OK;
}

/* Starts the program with these descriptors as 0, 1 and FETCH_RESULT_FD, no blocked signal and SIGPIPE ignored. */
static int spawn(const char *program, int input, int output, int result, pid_t *ret)
{
    posix_spawn_file_actions_t actions;
    posix_spawnattr_t attributes;
    sigset_t none;
    char *argv[] = {(char *)(uintptr_t)program, NULL};
    sigemptyset(&none);
    if (posix_spawn_file_actions_init(&actions) != 0)
        return ENOMEM;
    int error = posix_spawnattr_init(&attributes);
    if (error == 0) {
        error = posix_spawnattr_setflags(&attributes, POSIX_SPAWN_SETSIGMASK);
        if (error == 0)
            error = posix_spawnattr_setsigmask(&attributes, &none);
        if (error == 0)
            error = posix_spawn_file_actions_adddup2(&actions, input, STDIN_FILENO);
        if (error == 0)
            error = posix_spawn_file_actions_adddup2(&actions, output, STDOUT_FILENO);
        if (error == 0)
            error = posix_spawn_file_actions_adddup2(&actions, result, FETCH_RESULT_FD);
        if (error == 0)
            error = posix_spawn(ret, program, &actions, &attributes, argv, environ);
        posix_spawnattr_destroy(&attributes);
    }
    posix_spawn_file_actions_destroy(&actions);
    return error;
}

as_status fetch_child_start(const char *program, int stdout_fd, struct fetch_child *ret, struct as_error *err)
{
    int input[2] = {-1, -1}, output[2] = {-1, -1}, result[2] = {-1, -1};
    struct fetch_child child = {.pid = -1, .input_fd = -1, .output_fd = -1, .result_fd = -1};
    as_status status = open_channel(input);
    if (status == AS_OK)
        status = open_pipe(result);
    if (status == AS_OK && stdout_fd < 0)
        status = open_pipe(output);
    if (status == AS_OK && stdout_fd >= 0 && (output[1] = fcntl(stdout_fd, F_DUPFD_CLOEXEC, CHILD_FD_MIN)) < 0)
        status = AS_E_IO;
    int error = status == AS_OK ? spawn(program, input[1], output[1], result[1], &child.pid) : errno;
    close_fd(&input[1]);
    close_fd(&output[1]);
    close_fd(&result[1]);
    if (error == 0) {
        child.input_fd = input[0];
        child.output_fd = output[0];
        child.result_fd = result[0];
        *ret = child;
        return AS_OK;
    }
    close_fd(&input[0]);
    close_fd(&output[0]);
    close_fd(&result[0]);
    error_set_errno(err, error, "%s could not be started", program);
    return AS_E_IO;
}

/* What of the input is still to be written. */
struct pending {
    const struct fetch_exchange *exchange;
    int part;
    size_t at;
};

/* Writes as much as goes without waiting; closes the channel at the end, or when the child reads no more. */
static void feed(struct fetch_child *child, struct pending *pending)
{
    while (pending->part < 2) {
        size_t left = pending->exchange->part_bytes[pending->part] - pending->at;
        if (left == 0) {
            pending->part++;
            pending->at = 0;
            continue;
        }
        const char *from = pending->exchange->parts[pending->part] + pending->at;
        ssize_t sent = send(child->input_fd, from, left, MSG_NOSIGNAL | MSG_DONTWAIT);
        if (sent < 0 && (errno == EAGAIN || errno == EINTR))
            return;
        if (sent < 0)
            break;
        pending->at += (size_t)sent;
    }
    close_fd(&child->input_fd);
}

/* Reads what is there; closes the channel at its end. */
static as_status drain(int *fd, struct strbuf *out)
{
    char bytes[65536];
    ssize_t got = read(*fd, bytes, sizeof bytes);
    if (got < 0 && errno == EINTR)
        return AS_OK;
    if (got <= 0) {
        close_fd(fd);
        return got < 0 ? AS_E_IO : AS_OK;
    }
    strbuf_add(out, bytes, (size_t)got);
    return strbuf_status(out);
}

static int wait_ms(int64_t deadline_ns)
{
    int64_t left_ns = deadline_ns - mono_now().ns;
    if (left_ns <= 0)
        return 0;
    return left_ns > INT64_C(60) * NS_PER_S ? 60000 : (int)((left_ns + NS_PER_MS - 1) / NS_PER_MS);
}

as_status fetch_child_talk(struct fetch_child *child, const struct fetch_exchange *exchange, int64_t deadline_ns)
{
    struct pending pending = {.exchange = exchange};
    as_status status = AS_OK;
    while (status == AS_OK && (child->output_fd >= 0 || child->result_fd >= 0)) {
        struct pollfd fds[3] = {
            {.fd = child->input_fd, .events = POLLOUT},
            {.fd = child->output_fd, .events = POLLIN},
            {.fd = child->result_fd, .events = POLLIN},
        };
        int wait = wait_ms(deadline_ns);
        if (wait == 0)
            return AS_E_TIMEOUT;
        if (poll(fds, 3, wait) < 0 && errno != EINTR)
            return AS_E_IO;
        if (fds[0].revents)
            feed(child, &pending);
        if (fds[1].revents)
            status = drain(&child->output_fd, exchange->output);
        if (status == AS_OK && fds[2].revents)
            status = drain(&child->result_fd, exchange->result);
    }
    return status;
}

void fetch_child_end(struct fetch_child *child, bool is_finished)
{
    int status;
    close_fd(&child->input_fd);
    close_fd(&child->output_fd);
    close_fd(&child->result_fd);
    if (child->pid <= 0)
        return;
    if (!is_finished)
        kill(child->pid, SIGKILL);
    while (waitpid(child->pid, &status, 0) < 0 && errno == EINTR)
        ;
    child->pid = -1;
}
