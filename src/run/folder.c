/* SPDX-License-Identifier: Apache-2.0 */
#include "run/folder.h"

#include "base/file.h"
#include "measure/journal.h"
#include "measure/writer.h"
#include "run/echo.h"
#include "summary/run_file.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

void folder_file(const struct folder *folder, const char *name, char ret[PATH_MAX])
{
    snprintf(ret, PATH_MAX, "%s/%.60s", folder->path, name);
}

static bool is_missing_or_empty(const char *path)
{
    struct stat info;
    return stat(path, &info) != 0 ? errno == ENOENT : S_ISREG(info.st_mode) && info.st_size == 0;
}

/* The run that the folder holds sent nothing, as its run.json says. */
static bool never_began(const struct folder *folder)
{
    char path[PATH_MAX];
    struct arena arena;
    struct run_facts facts;
    arena_init(&arena, 0, 0);
    bool is_known = run_file_read(folder->path, &arena, &facts, NULL) == AS_OK;
    arena_done(&arena);
    folder_file(folder, RECORD_FILE, path);
    return is_known && !facts.has_epoch && !facts.has_result && is_missing_or_empty(path);
}

/* Only files that a run makes before its first request. */
static void remove_left(const struct folder *folder)
{
    static const char *const names[] = {RECORD_FILE, "summary.json", "data.jsonl", "benchmark_report.yaml", "command.txt", ECHO_FILE_NAME, RUN_FILE_NAME};
    char path[PATH_MAX];
    journal_discard(folder->path);
    for (size_t i = 0; i < sizeof names / sizeof names[0]; i++) {
        folder_file(folder, names[i], path);
        unlink(path);
    }
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
    if (status == AS_OK && never_began(&folder))
        remove_left(&folder);
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
