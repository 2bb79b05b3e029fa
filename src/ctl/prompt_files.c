/* SPDX-License-Identifier: Apache-2.0 */
#include "ctl/prompt_files.h"

#include "base/file.h"
#include "base/json.h"
#include "workload/digest.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <strings.h>
#include <unistd.h>

#define PATH_BYTES  4096
#define PIECE_BYTES 65536

struct check {
    const char *folder;
    struct prompt_files *found;
    int64_t line;
    struct as_error *err;
};

/* No step up, not absolute, no scheme. */
static bool is_inside(const char *path)
{
    if (path[0] == '/' || path[0] == '\0' || strstr(path, "://"))
        return false;
    for (const char *step = path; step; step = strchr(step, '/')) {
        step += *step == '/';
        const size_t len = strcspn(step, "/");
        if (len == 2 && step[0] == '.' && step[1] == '.')
            return false;
    }
    return true;
}

static as_status digest_of(const char *path, char ret[DIGEST_TEXT_BYTES])
{
    char piece[PIECE_BYTES];
    struct digest digest;
    ssize_t got = 1;
    const int fd = open(path, O_RDONLY | O_CLOEXEC);
    if (fd < 0)
        return errno == ENOENT || errno == ENOTDIR ? AS_E_NOTFOUND : AS_E_IO;
    as_status status = digest_init(&digest);
    if (status != AS_OK) {
        (void)close(fd);
        return status;
    }
    while (status == AS_OK && got > 0) {
        got = read(fd, piece, sizeof piece);
        if (got < 0 && errno != EINTR)
            status = AS_E_IO;
        else if (got < 0)
            got = 1;
        else if (got > 0)
            status = digest_add(&digest, piece, (size_t)got);
    }
    (void)close(fd);
    if (status == AS_OK)
        return digest_finish(&digest, ret);
    digest_abandon(&digest);
    return status;
}

static as_status check_file(struct check *check, const struct json_value *place, const struct json_value *wanted)
{
    char path[PATH_BYTES], digest[DIGEST_TEXT_BYTES];
    const char *name = NULL, *expected = NULL;
    const long long line = (long long)check->line;
    if (!json_string(place, &name) || strncasecmp(name, "http://", 7) == 0 || strncasecmp(name, "https://", 8) == 0)
        return AS_OK;
    if (!is_inside(name) || !path_join(path, sizeof path, check->folder, name))
        return error_set(check->err, AS_E_INVALID, "line %lld: %.200s: must be a path inside the folder", line, name);
    as_status status = digest_of(path, digest);
    if (status == AS_E_NOTFOUND)
        return error_set(check->err, status, "line %lld: %.200s is not in the folder", line, name);
    if (status != AS_OK)
        return error_set(check->err, status, "line %lld: %.200s cannot be read", line, name);
    check->found->files++;
    if (!json_string(wanted, &expected))
        return AS_OK;
    check->found->with_digest++;
    return strcmp(expected, digest) == 0
               ? AS_OK
               : error_set(check->err, AS_E_INVALID, "line %lld: %.200s has another digest than the line says", line,
                           name);
}

static as_status check_line(struct check *check, const struct json_value *line)
{
    const struct json_value *one = json_get(line, "image_url"), *list = json_get(line, "image_urls"),
                            *digests = json_get(line, "image_digests");
    const struct json_value *digest = digests ? digests->first : NULL;
    as_status status = check_file(check, json_get(line, "path"), json_get(line, "digest"));
    if (status == AS_OK && one)
        status = check_file(check, one, digest);
    for (const struct json_value *image = list ? list->first : NULL; status == AS_OK && image; image = image->next) {
        status = check_file(check, image, digest);
        digest = digest ? digest->next : NULL;
    }
    return status;
}

as_status prompt_files_check(const char *text, size_t len, const char *folder, struct prompt_files *ret,
                             struct as_error *err)
{
    struct check check = {.folder = folder, .found = ret, .err = err};
    const char *at = text, *end = text + len;
    struct arena arena;
    as_status status = AS_OK;
    *ret = (struct prompt_files){.files = 0};
    arena_init(&arena, 0, 0);
    if (len >= 3 && memcmp(text, "\xEF\xBB\xBF", 3) == 0)
        at += 3;
    while (status == AS_OK && at < end) {
        const char *stop = memchr(at, '\n', (size_t)(end - at));
        const struct json_value *line = NULL;
        const size_t bytes = (size_t)((stop ? stop : end) - at);
        check.line++;
        /* The server has checked the lines; blank ones are none. */
        if (json_parse(at, bytes, NULL, &arena, &line, NULL) == AS_OK && line->type == JSON_OBJECT)
            status = check_line(&check, line);
        arena_reset(&arena);
        at = stop ? stop + 1 : end;
    }
    arena_done(&arena);
    return status;
}
