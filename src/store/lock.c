/* SPDX-License-Identifier: Apache-2.0 */
#include "store/lock.h"

#include "base/file.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <sys/file.h>
#include <unistd.h>

static as_status refuse(const char *path, int fd, int error, struct as_error *err)
{
    char pid[24] = "";
    if (error != EWOULDBLOCK)
        return error_set_errno(err, error, "cannot lock %s.lock", path);
    const ssize_t n = pread(fd, pid, sizeof pid - 1, 0);
    pid[n > 0 ? n : 0] = '\0';
    for (char *at = pid; *at; at++)
        if (*at < '0' || *at > '9')
            *at = '\0';
    return error_set(err, AS_E_STATE, "%s is in use by process %s: one process serves a store", path, pid[0] ? pid : "(unknown)");
}

as_status lock_take(const char *path, int *ret_fd, struct as_error *err)
{
    char name[PATH_MAX];
    char pid[24];
    if (snprintf(name, sizeof name, "%s.lock", path) >= (int)sizeof name)
        return error_set(err, AS_E_LIMIT, "the store's path is too long");
    const int fd = open(name, O_RDWR | O_CREAT | O_CLOEXEC, 0600);
    if (fd < 0)
        return error_set_errno(err, errno, "cannot open %s", name);
    if (flock(fd, LOCK_EX | LOCK_NB) != 0) {
        const as_status status = refuse(path, fd, errno, err);
        close(fd);
        return status;
    }
    const int len = snprintf(pid, sizeof pid, "%ld\n", (long)getpid());
    if (ftruncate(fd, 0) != 0 || file_write_all(fd, pid, (size_t)len) != AS_OK) {
        close(fd);
        return error_set(err, AS_E_IO, "cannot write %s", name);
    }
    *ret_fd = fd;
    return AS_OK;
}

void lock_release(int fd)
{
    if (fd < 0)
        return;
    const int cut = ftruncate(fd, 0);
    (void)cut; /* a pid that stays is not read while nobody holds the lock */
    close(fd);
}
