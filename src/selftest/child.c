/* SPDX-License-Identifier: Apache-2.0 */
#include "selftest/child.h"

#include "base/clock.h"
#include "base/file.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <sched.h>
#include <signal.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#define FIRST_LINE_TIMEOUT_NS (30 * NS_PER_S)
#define STOP_TIMEOUT_NS       (10 * NS_PER_S)
#define STOP_POLL_NS          (5 * NS_PER_MS)
#define LOG_BYTES_MAX         ((size_t)1 << 20)

/* In the child: becomes the program. */
static void become(const struct child_plan *plan, int out_fd, pid_t parent)
{
    int log = open(plan->log_path, O_WRONLY | O_CREAT | O_TRUNC, 0666);
    cpu_set_t set;
    (void)prctl(PR_SET_PDEATHSIG, SIGTERM);
    if (getppid() != parent || log < 0 || dup2(log, STDERR_FILENO) < 0 ||
        dup2(out_fd >= 0 ? out_fd : log, STDOUT_FILENO) < 0)
        _exit(126);
    if (plan->cpu >= 0) {
        CPU_ZERO(&set);
        CPU_SET((size_t)plan->cpu, &set);
        if (sched_setaffinity(0, sizeof(set), &set) != 0)
            _exit(126);
    }
    (void)execv(plan->argv[0], plan->argv);
    _exit(127);
}

/* Reads up to the first line feed; the rest of what comes is not read. */
static bool read_first_line(int fd, char *ret, size_t size)
{
    const struct mono until = mono_add_ns(mono_now(), FIRST_LINE_TIMEOUT_NS);
    size_t len = 0;
    while (len + 1 < size) {
        int64_t left_ms = mono_diff_ns(until, mono_now()) / NS_PER_MS;
        struct pollfd wait = {.fd = fd, .events = POLLIN};
        if (left_ms <= 0 || poll(&wait, 1, (int)left_ms) <= 0 || read(fd, ret + len, 1) != 1)
            return false;
        if (ret[len] == '\n') {
            ret[len] = '\0';
            return true;
        }
        len++;
    }
    return false;
}

as_status child_start(const struct child_plan *plan, struct child *ret, struct as_error *err)
{
    int line[2] = {-1, -1};
    struct child child = {0};
    if (plan->reads_first_line && pipe2(line, O_CLOEXEC) != 0)
        return error_set_errno(err, errno, "cannot make a pipe");
    pid_t parent = getpid();
    child.pid = fork();
    if (child.pid == 0)
        become(plan, line[1], parent);
    int fork_errno = errno;
    if (line[1] >= 0)
        (void)close(line[1]);
    bool is_up =
        child.pid > 0 && (!plan->reads_first_line || read_first_line(line[0], child.first, sizeof(child.first)));
    if (line[0] >= 0)
        (void)close(line[0]);
    if (child.pid < 0)
        return error_set_errno(err, fork_errno, "cannot start %s", plan->argv[0]);
    if (!is_up) {
        child_stop(&child);
        return error_set(err, AS_E_INTERNAL, "%s %s did not start: see %s", plan->argv[0], plan->argv[1],
                         plan->log_path);
    }
    *ret = child;
    return AS_OK;
}

/* The last line of a log, in *err. */
static as_status tell_failure(const char *log_path, int status, struct as_error *err)
{
    struct strbuf text AS_AUTO_STRBUF;
    strbuf_init(&text, LOG_BYTES_MAX);
    int code = WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
    if (file_read(log_path, &text, NULL) != AS_OK || text.len == 0)
        return error_set(err, AS_E_INTERNAL, "a program of the self-test ended with %d: see %s", code, log_path);
    if (text.data[text.len - 1] == '\n')
        text.data[text.len - 1] = '\0';
    const char *last = strrchr(text.data, '\n');
    return error_set(err, AS_E_INTERNAL, "a program of the self-test ended with %d: %.300s", code,
                     last ? last + 1 : text.data);
}

as_status child_wait(struct child *child, const char *log_path, struct as_error *err)
{
    int status = 0;
    while (waitpid(child->pid, &status, 0) < 0)
        if (errno != EINTR)
            return error_set_errno(err, errno, "cannot wait for a program");
    child->pid = 0;
    return WIFEXITED(status) && WEXITSTATUS(status) == 0 ? AS_OK : tell_failure(log_path, status, err);
}

void child_stop(struct child *child)
{
    if (child->pid <= 0)
        return;
    const struct mono until = mono_add_ns(mono_now(), STOP_TIMEOUT_NS);
    (void)kill(child->pid, SIGTERM);
    while (waitpid(child->pid, NULL, WNOHANG) == 0) {
        if (mono_diff_ns(until, mono_now()) <= 0)
            (void)kill(child->pid, SIGKILL);
        mono_sleep_until(mono_add_ns(mono_now(), STOP_POLL_NS));
    }
    child->pid = 0;
}
