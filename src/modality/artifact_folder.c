/* SPDX-License-Identifier: Apache-2.0 */
#include "modality/artifact_folder.h"

#include "base/file.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#define NAME_BYTES_MAX 200

static bool is_empty(int folder)
{
    int fd = openat(folder, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    DIR *stream = fd >= 0 ? fdopendir(fd) : NULL;
    bool has_any = false;
    if (!stream) {
        if (fd >= 0)
            close(fd);
        return false;
    }
    for (const struct dirent *entry; !has_any && (entry = readdir(stream));)
        has_any = strcmp(entry->d_name, ".") != 0 && strcmp(entry->d_name, "..") != 0;
    closedir(stream);
    return !has_any;
}

as_status artifact_folder_open(const char *path, bool overwrite, struct artifact_folder *ret, struct as_error *err)
{
    as_status status = file_make_dirs(path, err);
    if (status != AS_OK)
        return status;
    struct artifact_folder folder = {.fd = open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC), .overwrite = overwrite};
    if (folder.fd < 0)
        return error_set_errno(err, errno, "%.300s", path);
    if (!overwrite && !is_empty(folder.fd)) {
        close(folder.fd);
        return error_set(err, AS_E_EXISTS, "%.300s is not empty; name another folder, or give --overwrite-artifacts",
                         path);
    }
    *ret = folder;
    return AS_OK;
}

void artifact_folder_close(struct artifact_folder *folder)
{
    if (folder->fd >= 0)
        close(folder->fd);
    folder->fd = -1;
}

static bool is_plain_name(const char *name)
{
    return name[0] && name[0] != '.' && strlen(name) <= NAME_BYTES_MAX && !strchr(name, '/');
}

/* Gives the finished file its name. Where the file system knows no exchange-free rename, a link does the same. */
static int publish(const struct artifact_folder *folder, const char *fresh, const char *name)
{
    if (folder->overwrite)
        return renameat(folder->fd, fresh, folder->fd, name);
    if (renameat2(folder->fd, fresh, folder->fd, name, RENAME_NOREPLACE) == 0)
        return 0;
    if (errno != EINVAL && errno != ENOSYS)
        return -1;
    if (linkat(folder->fd, fresh, folder->fd, name, 0) != 0)
        return -1;
    unlinkat(folder->fd, fresh, 0);
    return 0;
}

as_status artifact_folder_write(const struct artifact_folder *folder, const char *name, const void *data, size_t len,
                                struct as_error *err)
{
    char fresh[NAME_BYTES_MAX + 16];
    if (!is_plain_name(name))
        return error_set(err, AS_E_INVALID, "\"%.80s\" is no name of a file in the folder", name);
    snprintf(fresh, sizeof fresh, ".%s.new", name);
    unlinkat(folder->fd, fresh, 0); /* what a killed run left */
    int fd = openat(folder->fd, fresh, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0666);
    if (fd < 0)
        return error_set_errno(err, errno, "%s", name);
    int failure = file_write_all(fd, data, len) == AS_OK ? 0 : errno;
    if (close(fd) != 0 && !failure)
        failure = errno;
    if (!failure && publish(folder, fresh, name) != 0)
        failure = errno;
    if (!failure)
        return AS_OK;
    unlinkat(folder->fd, fresh, 0);
    return failure == EEXIST ? error_set(err, AS_E_EXISTS, "%s is there already", name)
                             : error_set_errno(err, failure, "%s", name);
}
