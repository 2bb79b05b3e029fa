/* SPDX-License-Identifier: Apache-2.0 */
#include "store/files.h"

#include "base/file.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <unistd.h>

#define PIECE_BYTES 65536

static as_status sync_path(const char *path, int flags, struct as_error *err)
{
    const int fd = open(path, O_RDONLY | O_CLOEXEC | flags);
    const bool is_synced = fd >= 0 && fsync(fd) == 0;
    const int error = errno;
    if (fd >= 0)
        close(fd);
    return is_synced ? AS_OK : error_set_errno(err, error, "cannot sync %s", path);
}

as_status file_publish(const char *part, const char *target, struct as_error *err)
{
    char folder[PATH_MAX];
    if (!path_dir(folder, sizeof folder, target))
        return error_set(err, AS_E_LIMIT, "the path is too long");
    as_status status = sync_path(part, 0, err);
    if (status != AS_OK)
        return status;
    if (link(part, target) != 0)
        return errno == EEXIST ? error_set(err, AS_E_EXISTS, "%s exists already", target)
                               : error_set_errno(err, errno, "cannot make %s", target);
    return sync_path(folder, O_DIRECTORY, err);
}

static as_status copy_bytes(int from, int to, struct as_error *err)
{
    static _Thread_local char piece[PIECE_BYTES];
    for (;;) {
        const ssize_t n = read(from, piece, sizeof piece);
        if (n == 0)
            return fsync(to) == 0 ? AS_OK : error_set_errno(err, errno, "cannot sync the copy");
        if (n < 0 && errno == EINTR)
            continue;
        if (n < 0)
            return error_set_errno(err, errno, "cannot read what is to be copied");
        const as_status status = file_write_all(to, piece, (size_t)n);
        if (status != AS_OK)
            return error_set_errno(err, errno, "cannot write the copy");
    }
}

as_status file_copy(const char *from_path, const char *to_path, struct as_error *err)
{
    const int from = open(from_path, O_RDONLY | O_CLOEXEC);
    if (from < 0)
        return error_set_errno(err, errno, "cannot open %s", from_path);
    const int to = open(to_path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);
    if (to < 0) {
        const int error = errno;
        close(from);
        return error_set_errno(err, error, "cannot create %s", to_path);
    }
    as_status status = copy_bytes(from, to, err);
    close(from);
    if (close(to) != 0 && status == AS_OK)
        status = error_set_errno(err, errno, "cannot write %s", to_path);
    return status;
}
