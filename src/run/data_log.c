/* SPDX-License-Identifier: Apache-2.0 */
#include "run/data_log.h"

#include "base/file.h"

#include <errno.h>
#include <fcntl.h>
#include <sys/file.h>
#include <unistd.h>

#define PIECE_BYTES 65536

static int copy(int to, int from)
{
    char piece[PIECE_BYTES];
    for (;;) {
        ssize_t got = read(from, piece, sizeof piece);
        if (got < 0 && errno == EINTR)
            continue;
        if (got <= 0)
            return got == 0 ? 0 : errno;
        if (file_write_all(to, piece, (size_t)got) != AS_OK)
            return errno;
    }
}

as_status data_log_append(const char *to, const char *from, struct as_error *err)
{
    int source = open(from, O_RDONLY | O_CLOEXEC);
    if (source < 0)
        return error_set_errno(err, errno, "%.300s", from);
    int target = open(to, O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0666);
    int failure = target < 0 || flock(target, LOCK_EX) != 0 ? errno : copy(target, source);
    if (target >= 0 && close(target) != 0 && !failure)
        failure = errno;
    close(source);
    return failure ? error_set_errno(err, failure, "%.300s", to) : AS_OK;
}
