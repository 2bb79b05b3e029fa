/* SPDX-License-Identifier: Apache-2.0 */
#include "base/file.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <sys/uio.h>
#include <unistd.h>

#define READ_STEP_BYTES ((size_t)64 * 1024)

static as_status read_descriptor(int fd, const char *path, struct strbuf *ret, struct as_error *err)
{
    struct stat st;
    size_t step = READ_STEP_BYTES;
    if (fstat(fd, &st) == 0 && S_ISREG(st.st_mode) && st.st_size > 0)
        step = (size_t)st.st_size + 1;
    for (;;) {
        size_t room = ret->max_bytes ? ret->max_bytes - ret->len + 1 : step;
        size_t want = step < room ? step : room;
        char extra;
        bool full = ret->max_bytes && ret->len == ret->max_bytes;
        if (!full && !strbuf_reserve(ret, want > 1 && ret->max_bytes && want == room ? want - 1 : want))
            return error_set(err, ret->status, "%s: %s", path, status_sentence(ret->status));
        size_t capacity = full ? 1 : ret->capacity - ret->len - 1;
        if (!full && ret->max_bytes && capacity > ret->max_bytes - ret->len)
            capacity = ret->max_bytes - ret->len;
        ssize_t got = read(fd, full ? &extra : ret->data + ret->len, capacity);
        if (got < 0 && errno == EINTR)
            continue;
        if (got < 0)
            return error_set_errno(err, errno, "%s", path);
        if (got == 0)
            break;
        if (full)
            return error_set(err, AS_E_LIMIT, "%s: larger than the limit of %zu bytes", path, ret->max_bytes);
        ret->len += (size_t)got;
        ret->data[ret->len] = '\0';
        step = READ_STEP_BYTES;
    }
    return AS_OK;
}

as_status file_read(const char *path, struct strbuf *ret, struct as_error *err)
{
    if (strcmp(path, "-") == 0)
        return read_descriptor(STDIN_FILENO, "standard input", ret, err);
    int fd = open(path, O_RDONLY | O_CLOEXEC);
    if (fd < 0)
        return error_set_errno(err, errno, "%s", path);
    as_status status = read_descriptor(fd, path, ret, err);
    close(fd);
    return status;
}

as_status file_write_all(int fd, const void *data, size_t len)
{
    const char *at = data;
    while (len > 0) {
        ssize_t done = write(fd, at, len);
        if (done < 0 && errno == EINTR)
            continue;
        if (done < 0)
            return AS_E_IO;
        at += done;
        len -= (size_t)done;
    }
    return AS_OK;
}

static void sync_folder_of(const char *path)
{
    char folder[PATH_MAX];
    if (!path_dir(folder, sizeof folder, path))
        return;
    int fd = open(folder, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    if (fd >= 0) {
        fsync(fd);
        close(fd);
    }
}

/* A device, a pipe or a link: a rename would put a plain file in its place. */
static bool is_written_in_place(const char *path)
{
    struct stat found;
    return lstat(path, &found) == 0 && !S_ISREG(found.st_mode);
}

/* What the system makes, such as /dev/stdout, stands for an open file: only writing to it does what is meant. */
static bool is_of_the_system(const char *path)
{
    return strncmp(path, "/dev/", 5) == 0 || strncmp(path, "/proc/", 6) == 0;
}

/* The regular file that a link leads to. */
static bool follow_link(const char *path, char ret[PATH_MAX])
{
    struct stat found;
    ssize_t len = is_of_the_system(path) ? -1 : readlink(path, ret, PATH_MAX - 1);
    if (len < 0)
        return false;
    ret[len] = '\0';
    return !is_of_the_system(ret) && stat(path, &found) == 0 && S_ISREG(found.st_mode) && realpath(path, ret);
}

static as_status write_in_place(const char *path, const void *data, size_t len, struct as_error *err)
{
    int fd = open(path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0666);
    if (fd < 0)
        return error_set_errno(err, errno, "%s", path);
    bool ok = file_write_all(fd, data, len) == AS_OK;
    int saved = errno;
    if (close(fd) != 0 && ok) {
        ok = false;
        saved = errno;
    }
    return ok ? AS_OK : error_set_errno(err, saved, "%s", path);
}

as_status file_write_atomic(const char *path, const void *data, size_t len, struct as_error *err)
{
    char temporary[PATH_MAX], target[PATH_MAX];
    if (follow_link(path, target))
        path = target;
    else if (is_written_in_place(path))
        return write_in_place(path, data, len, err);
    int n = snprintf(temporary, sizeof temporary, "%s.tmp.%ld", path, (long)getpid());
    if (n < 0 || (size_t)n >= sizeof temporary)
        return error_set(err, AS_E_INVALID, "%s: the path is too long", path);
    int fd = open(temporary, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0666);
    if (fd < 0)
        return error_set_errno(err, errno, "%s", path);
    bool ok = file_write_all(fd, data, len) == AS_OK && fsync(fd) == 0;
    int saved = errno;
    if (close(fd) != 0 && ok) {
        ok = false;
        saved = errno;
    }
    if (ok && rename(temporary, path) != 0) {
        ok = false;
        saved = errno;
    }
    if (!ok) {
        unlink(temporary);
        return error_set_errno(err, saved, "%s", path);
    }
    sync_folder_of(path);
    return AS_OK;
}

/* The byte before `size`, a newline when there is none. */
static char last_byte(int fd, off_t size)
{
    char last = '\n';
    ssize_t got;
    do {
        got = size > 0 ? pread(fd, &last, 1, size - 1) : 0;
    } while (got < 0 && errno == EINTR);
    return got == 1 ? last : '\n';
}

static void lock_whole(int fd)
{
    while (flock(fd, LOCK_EX) != 0 && errno == EINTR)
        continue;
}

as_status file_append_line(const char *path, const char *line, size_t len, struct as_error *err)
{
    int fd = open(path, O_RDWR | O_CREAT | O_APPEND | O_CLOEXEC, 0666);
    if (fd < 0)
        return error_set_errno(err, errno, "%s", path);
    lock_whole(fd);
    off_t size = lseek(fd, 0, SEEK_END);
    char newline[] = "\n";
    struct iovec parts[3] = {
        {newline, last_byte(fd, size) == '\n' ? 0 : 1}, {(void *)(uintptr_t)line, len}, {newline, 1}};
    ssize_t want = (ssize_t)(parts[0].iov_len + len + 1);
    ssize_t done;
    do {
        done = writev(fd, parts, 3);
    } while (done < 0 && errno == EINTR);
    int saved = done < 0 ? errno : ENOSPC;
    bool ok = done == want && fsync(fd) == 0;
    if (!ok && done > 0 && size >= 0 && ftruncate(fd, size) != 0)
        saved = errno;
    close(fd);
    return ok ? AS_OK : error_set_errno(err, saved, "%s", path);
}

as_status file_make_dirs(const char *path, struct as_error *err)
{
    char partial[PATH_MAX];
    size_t len = strlen(path);
    if (len == 0 || len >= sizeof partial)
        return error_set(err, AS_E_INVALID, "\"%s\" is no folder name", path);
    memcpy(partial, path, len + 1);
    for (size_t i = 1; i <= len; i++) {
        if (partial[i] != '/' && partial[i] != '\0')
            continue;
        char kept = partial[i];
        partial[i] = '\0';
        if (mkdir(partial, 0777) != 0 && errno != EEXIST)
            return error_set_errno(err, errno, "%s", partial);
        partial[i] = kept;
    }
    struct stat st;
    if (stat(path, &st) != 0)
        return error_set_errno(err, errno, "%s", path);
    if (!S_ISDIR(st.st_mode))
        return error_set(err, AS_E_EXISTS, "%s: exists and is no folder", path);
    return AS_OK;
}

bool file_exists(const char *path)
{
    return access(path, F_OK) == 0;
}

bool path_join(char *ret, size_t size, const char *base, const char *name)
{
    int n;
    size_t base_len = strlen(base);
    if (name[0] == '/' || base_len == 0)
        n = snprintf(ret, size, "%s", name);
    else
        n = snprintf(ret, size, "%s%s%s", base, base[base_len - 1] == '/' ? "" : "/", name);
    return n >= 0 && (size_t)n < size;
}

bool path_dir(char *ret, size_t size, const char *path)
{
    const char *slash = strrchr(path, '/');
    size_t len = slash ? (size_t)(slash - path) : 1;
    const char *from = slash ? path : ".";
    if (slash == path)
        len = 1;
    if (len + 1 > size)
        return false;
    memcpy(ret, from, len);
    ret[len] = '\0';
    return true;
}
