/* SPDX-License-Identifier: Apache-2.0 */
#include "prompts/snapshot.h"

#include "base/arena.h"
#include "base/file.h"
#include "base/json.h"
#include "workload/digest.h"

#include <inttypes.h>
#include <limits.h>
#include <stdio.h>
#include <string.h>

#define MANIFEST_MAX_BYTES ((size_t)256 * 1024 * 1024)
#define FILE_MAX_BYTES     ((size_t)4 * 1024 * 1024 * 1024)

static as_status join(char ret[PATH_MAX], const char *folder, const char *path, struct as_error *err)
{
    return path_join(ret, PATH_MAX, folder, path) ? AS_OK : error_set(err, AS_E_USAGE, "%s: the path is too long", path);
}

as_status snapshot_init(struct snapshot *snapshot, const char *folder, struct as_error *err)
{
    char manifest[PATH_MAX];
    as_status status = join(manifest, folder, SNAPSHOT_MANIFEST, err);
    if (status != AS_OK)
        return status;
    if (file_exists(manifest))
        return error_set(err, AS_E_EXISTS, "%s holds a snapshot already: give another folder", folder);
    status = file_make_dirs(folder, err);
    if (status != AS_OK)
        return status;
    *snapshot = (struct snapshot){.folder = folder};
    strbuf_init(&snapshot->files, MANIFEST_MAX_BYTES);
    return AS_OK;
}

void snapshot_done(struct snapshot *snapshot)
{
    strbuf_done(&snapshot->files);
}

as_status snapshot_note(struct snapshot *snapshot, const char *path, const struct strbuf *data, struct as_error *err)
{
    char digest[DIGEST_TEXT_BYTES];
    struct json_writer writer;
    as_status status = digest_bytes(strbuf_text(data), data->len, digest);
    if (status != AS_OK)
        return error_set(err, status, "%s: %s", path, status_sentence(status));
    strbuf_adds(&snapshot->files, snapshot->file_count ? ",\n    " : "\n    ");
    json_writer_init(&writer, &snapshot->files, 0);
    json_open_object(&writer);
    json_member_string(&writer, "path", path);
    json_member_int(&writer, "bytes", (int64_t)data->len);
    json_member_string(&writer, "sha256", digest);
    json_close_object(&writer);
    snapshot->file_count++;
    snapshot->bytes += (int64_t)data->len;
    status = json_writer_status(&writer);
    return status == AS_OK ? AS_OK : error_set(err, status, "%s: %s", path, status_sentence(status));
}

as_status snapshot_add(struct snapshot *snapshot, const char *path, const struct strbuf *data, struct as_error *err)
{
    char full[PATH_MAX], folder[PATH_MAX];
    as_status status = join(full, snapshot->folder, path, err);
    if (status == AS_OK && !path_dir(folder, sizeof folder, full))
        status = error_set(err, AS_E_USAGE, "%s: the path is too long", path);
    if (status == AS_OK)
        status = file_make_dirs(folder, err);
    if (status == AS_OK)
        status = file_write_atomic(full, strbuf_text(data), data->len, err);
    return status == AS_OK ? snapshot_note(snapshot, path, data, err) : status;
}

as_status snapshot_finish(struct snapshot *snapshot, const struct snapshot_facts *facts, struct as_error *err)
{
    char manifest[PATH_MAX];
    struct strbuf text AS_AUTO_STRBUF;
    struct json_writer writer;
    strbuf_init(&text, 0);
    strbuf_addc(&snapshot->files, '\n');
    json_writer_init(&writer, &text, 2);
    json_open_object(&writer);
    json_member_string(&writer, "schema", SNAPSHOT_SCHEMA);
    json_member_string(&writer, "code", facts->code);
    json_member_string(&writer, "type", facts->type);
    json_member_string(&writer, "source", facts->source);
    json_member_string(&writer, "licence", facts->licence);
    json_member_string(&writer, "rows_file", facts->rows_file);
    json_member_int(&writer, "rows", facts->rows);
    json_member_int(&writer, "file_count", snapshot->file_count);
    json_member_int(&writer, "bytes", snapshot->bytes);
    json_key(&writer, "files");
    struct strbuf list AS_AUTO_STRBUF;
    strbuf_init(&list, 0);
    strbuf_addc(&list, '[');
    strbuf_add(&list, strbuf_text(&snapshot->files), snapshot->files.len);
    strbuf_adds(&list, "  ]");
    json_put_raw(&writer, strbuf_text(&list), list.len);
    json_close_object(&writer);
    strbuf_addc(&text, '\n');
    as_status status = strbuf_status(&list) == AS_OK ? json_writer_status(&writer) : strbuf_status(&list);
    if (status != AS_OK)
        return error_set(err, status, "the manifest cannot be made: %s", status_sentence(status));
    status = join(manifest, snapshot->folder, SNAPSHOT_MANIFEST, err);
    return status == AS_OK ? file_write_atomic(manifest, text.data, text.len, err) : status;
}

/* ---- verification ---- */

/* Relative, and in none of its parts "..". */
static bool is_inside(const char *path)
{
    if (!*path || *path == '/')
        return false;
    for (const char *part = path; part; part = strchr(part, '/')) {
        part += *part == '/';
        size_t len = strcspn(part, "/");
        if (len == 0 || (len <= 2 && strspn(part, ".") >= len))
            return false;
    }
    return true;
}

static as_status check_file(const char *folder, const struct json_value *item, int64_t *ret_bytes, struct as_error *err)
{
    const char *path, *digest;
    char full[PATH_MAX], found[DIGEST_TEXT_BYTES];
    int64_t bytes;
    struct strbuf data AS_AUTO_STRBUF;
    strbuf_init(&data, FILE_MAX_BYTES);
    if (!json_string(json_get(item, "path"), &path) || !json_string(json_get(item, "sha256"), &digest) ||
        !json_int64(json_get(item, "bytes"), &bytes))
        return error_set(err, AS_E_INVALID, "%s: an item of \"files\" lacks path, bytes or sha256", folder);
    if (!is_inside(path))
        return error_set(err, AS_E_INVALID, "%s: \"%.100s\" is no path inside the folder", folder, path);
    as_status status = join(full, folder, path, err);
    if (status == AS_OK)
        status = file_read(full, &data, err);
    if (status == AS_OK)
        status = digest_bytes(strbuf_text(&data), data.len, found);
    if (status != AS_OK)
        return status;
    if (bytes != (int64_t)data.len || strcmp(digest, found) != 0)
        return error_set(err, AS_E_INVALID, "%s is not the file of the manifest: %zu bytes with SHA-256 %.16s…", full, data.len, found);
    *ret_bytes = bytes;
    return AS_OK;
}

static as_status check_files(const char *folder, const struct json_value *root, struct snapshot_found *ret, struct as_error *err)
{
    const struct json_value *files = json_get(root, "files");
    const char *schema, *code, *type;
    if (!json_string(json_get(root, "schema"), &schema) || strcmp(schema, SNAPSHOT_SCHEMA) != 0 ||
        !json_string(json_get(root, "code"), &code) || !json_string(json_get(root, "type"), &type) || !files ||
        files->type != JSON_ARRAY || !files->first)
        return error_set(err, AS_E_INVALID, "%s/" SNAPSHOT_MANIFEST " is no manifest of " SNAPSHOT_SCHEMA, folder);
    struct snapshot_found found = {.files = 0};
    (void)snprintf(found.code, sizeof found.code, "%s", code);
    (void)snprintf(found.type, sizeof found.type, "%s", type);
    for (const struct json_value *item = files->first; item; item = item->next) {
        int64_t bytes = 0;
        as_status status = check_file(folder, item, &bytes, err);
        if (status != AS_OK)
            return status;
        found.files++;
        found.bytes += bytes;
    }
    *ret = found;
    return AS_OK;
}

as_status snapshot_verify(const char *folder, struct snapshot_found *ret, struct as_error *err)
{
    char manifest[PATH_MAX];
    struct strbuf text AS_AUTO_STRBUF;
    struct arena arena;
    const struct json_value *root;
    strbuf_init(&text, MANIFEST_MAX_BYTES);
    as_status status = join(manifest, folder, SNAPSHOT_MANIFEST, err);
    if (status == AS_OK)
        status = file_read(manifest, &text, err);
    if (status != AS_OK)
        return status;
    arena_init(&arena, 0, 0);
    status = json_parse(strbuf_text(&text), text.len, NULL, &arena, &root, err);
    if (status != AS_OK)
        error_prefix(err, "%s", manifest);
    else
        status = check_files(folder, root, ret, err);
    arena_done(&arena);
    return status;
}
