/* SPDX-License-Identifier: Apache-2.0 */
#include "run/folder.h"

#include "base/file.h"

#include <stdio.h>
#include <string.h>

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
