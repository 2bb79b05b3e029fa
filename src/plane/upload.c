/* SPDX-License-Identifier: Apache-2.0 */
#include "plane/upload.h"

#include "base/file.h"
#include "plane/state.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define PATH_BYTES 4096

static void folder_of(const struct plane *plane, char ret[PATH_BYTES])
{
    const char *database = plane->settings->database, *temporary = getenv("TMPDIR");
    if (!plane_is_postgresql(database) && path_dir(ret, PATH_BYTES, database))
        return;
    (void)snprintf(ret, PATH_BYTES, "%s", temporary && temporary[0] ? temporary : "/tmp");
}

/* A file that has no name any more; -1 when there is none. */
static int open_unnamed(const struct plane *plane)
{
    char folder[PATH_BYTES], path[PATH_BYTES + 32];
    folder_of(plane, folder);
    int fd = open(folder, O_TMPFILE | O_RDWR | O_CLOEXEC, 0600);
    if (fd >= 0 || (errno != EOPNOTSUPP && errno != EISDIR))
        return fd;
    (void)snprintf(path, sizeof path, "%s/.assay-upload-XXXXXX", folder);
    fd = mkostemp(path, O_CLOEXEC);
    if (fd >= 0)
        (void)unlink(path);
    return fd;
}

static void on_nothing(struct http_exchange *x)
{
    (void)x;
}

static void on_closed(struct http_exchange *x)
{
    upload_free(upload_take(x));
}

static const struct exchange_user upload_user = {on_nothing, on_nothing, on_closed};

as_status upload_begin(struct plane *plane, struct http_exchange *x)
{
    struct upload *upload = calloc(1, sizeof *upload);
    if (!upload)
        return AS_E_NOMEM;
    *upload = (struct upload){.user = &upload_user, .plane = plane, .fd = -1};
    const bool has_room = atomic_fetch_add(&plane->uploads, 1) < UPLOADS_MAX;
    if (has_room)
        upload->fd = open_unnamed(plane);
    if (upload->fd < 0) {
        upload_free(upload);
        return has_room ? AS_E_IO : AS_E_LIMIT;
    }
    x->user = upload;
    x->stream_body = true;
    return AS_OK;
}

void upload_add(struct http_exchange *x, const char *data, size_t len)
{
    struct upload *upload = x->user;
    if (!upload || upload->status != AS_OK)
        return;
    upload->status = file_write_all(upload->fd, data, len);
    upload->bytes += (int64_t)len;
}

struct upload *upload_take(struct http_exchange *x)
{
    struct upload *upload = x->user;
    if (!upload || upload->user != &upload_user)
        return NULL;
    x->user = NULL;
    return upload;
}

void upload_free(struct upload *upload)
{
    if (!upload)
        return;
    if (upload->fd >= 0)
        (void)close(upload->fd);
    (void)atomic_fetch_sub(&upload->plane->uploads, 1);
    free(upload);
}
