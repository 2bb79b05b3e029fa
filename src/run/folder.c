/* SPDX-License-Identifier: Apache-2.0 */
#include "run/folder.h"

#include "base/file.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

void folder_file(const struct folder *folder, const char *name, char ret[PATH_MAX])
{
    snprintf(ret, PATH_MAX, "%s/%.60s", folder->path, name);
}

as_status folder_open(const char *wanted, const char *human_id, struct folder *ret, struct as_error *err)
{
    static const char *const marks[] = {"run.json", "requests.jsonl", "summary.json"};
    struct folder folder;
    int len = wanted ? snprintf(folder.path, sizeof folder.path, "%s", wanted)
                     : snprintf(folder.path, sizeof folder.path, FOLDER_DEFAULT_PARENT "/%s", human_id);
    if (len <= 0 || (size_t)len >= sizeof folder.path)
        return error_set(err, AS_E_USAGE, "--result-dir: the path is empty or too long");
    while (len > 1 && folder.path[len - 1] == '/')
        folder.path[--len] = '\0';
    as_status status = file_make_dirs(folder.path, err);
    for (size_t i = 0; i < sizeof marks / sizeof marks[0] && status == AS_OK; i++) {
        char path[PATH_MAX];
        folder_file(&folder, marks[i], path);
        if (file_exists(path))
            status = error_set(err, AS_E_EXISTS, "%.300s holds a run already (%s); name another folder, or none for a new one in %s",
                               folder.path, marks[i], FOLDER_DEFAULT_PARENT);
    }
    if (status == AS_OK)
        *ret = folder;
    return status;
}

as_status folder_write(const struct folder *folder, const char *name, const struct strbuf *text, struct as_error *err)
{
    char path[PATH_MAX], fresh[PATH_MAX + 8];
    folder_file(folder, name, path);
    snprintf(fresh, sizeof fresh, "%s.new", path);
    if (strbuf_status(text) != AS_OK)
        return error_set(err, strbuf_status(text), "%s: %s", path, status_sentence(strbuf_status(text)));
    int fd = open(fresh, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0666);
    if (fd < 0)
        return error_set_errno(err, errno, "%s", fresh);
    as_status status = file_write_all(fd, strbuf_text(text), text->len);
    int failure = status == AS_OK ? 0 : errno;
    if (close(fd) != 0 && !failure)
        failure = errno;
    if (!failure && rename(fresh, path) != 0)
        failure = errno;
    if (!failure)
        return AS_OK;
    unlink(fresh);
    return error_set_errno(err, failure, "%s", path);
}
