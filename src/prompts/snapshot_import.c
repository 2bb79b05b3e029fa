/* SPDX-License-Identifier: Apache-2.0 */
#include "prompts/snapshot_import.h"

#include "base/file.h"
#include "media/image.h"
#include "workload/audio_librispeech.h"
#include "workload/image_prompts.h"
#include "workload/imagegen_prompts.h"

#include <limits.h>
#include <string.h>

#define ROWS_MAX_BYTES  ((size_t)1024 * 1024 * 1024)
#define AUDIO_MAX_BYTES ((size_t)4 * 1024 * 1024 * 1024)
#define PROMPTS_FILE    "prompts.jsonl"

static as_status finish(struct snapshot *snapshot, const struct snapshot_import *what, const struct snapshot_facts *facts,
                        struct snapshot_result *ret, struct as_error *err)
{
    struct snapshot_facts all = *facts;
    all.code = what->code;
    all.source = what->source;
    all.licence = what->licence;
    as_status status = snapshot_finish(snapshot, &all, err);
    if (status == AS_OK)
        *ret = (struct snapshot_result){.rows = facts->rows, .files = snapshot->file_count, .bytes = snapshot->bytes};
    return status;
}

/* ---- images ---- */

/* A relative path without "..": what stays inside when it is joined to either folder. */
static bool is_plain_path(const char *path)
{
    size_t len = strlen(path);
    return *path && *path != '/' && !strstr(path, "://") && strncmp(path, "data:", 5) != 0 && strncmp(path, "../", 3) != 0 &&
           !strstr(path, "/../") && !(len >= 3 && strcmp(path + len - 3, "/..") == 0) && strcmp(path, "..") != 0;
}

static as_status copy_image(struct snapshot *snapshot, const char *from, const char *path, struct as_error *err)
{
    char full[PATH_MAX];
    struct image_info info;
    struct as_error why = {0};
    struct strbuf data AS_AUTO_STRBUF;
    strbuf_init(&data, IMAGE_BYTES_MAX_DEFAULT);
    if (!is_plain_path(path))
        return error_set(err, AS_E_INVALID, "\"%.200s\" is no path inside the folder of images", path);
    if (!path_join(full, sizeof full, from, path))
        return error_set(err, AS_E_INVALID, "%.200s: the path is too long", path);
    as_status status = file_read(full, &data, err);
    if (status != AS_OK)
        return status;
    status = image_verify(strbuf_text(&data), data.len, 0, &info, &why);
    if (status != AS_OK)
        return error_set(err, status == AS_E_UNSUPPORTED ? AS_E_INVALID : status, "%.200s: %.250s", full, why.message);
    return snapshot_add(snapshot, path, &data, err);
}

static as_status copy_images(struct snapshot *snapshot, const struct image_prompts *prompts, const struct snapshot_import *what,
                             struct strbuf *rows, struct as_error *err)
{
    as_status status = file_read(what->rows, rows, err);
    for (size_t i = 0; status == AS_OK && i < images_count(prompts->images); i++)
        status = copy_image(snapshot, what->from, images_shown(prompts->images, (uint32_t)i), err);
    return status == AS_OK ? snapshot_add(snapshot, PROMPTS_FILE, rows, err) : status;
}

as_status snapshot_import_images(const struct snapshot_import *what, struct snapshot_result *ret, struct as_error *err)
{
    struct image_prompts prompts;
    struct snapshot snapshot;
    struct strbuf rows AS_AUTO_STRBUF;
    const struct image_prompts_options options = {.source = what->rows};
    strbuf_init(&rows, ROWS_MAX_BYTES);
    as_status status = image_prompts_load(&options, &prompts, err);
    if (status != AS_OK)
        return status;
    status = snapshot_init(&snapshot, what->folder, err);
    if (status == AS_OK) {
        status = copy_images(&snapshot, &prompts, what, &rows, err);
        const struct snapshot_facts facts = {.type = "metrumbench_vlm_snapshot", .rows_file = PROMPTS_FILE,
                                             .rows = (int64_t)prompts.prompts.count};
        if (status == AS_OK)
            status = finish(&snapshot, what, &facts, ret, err);
        snapshot_done(&snapshot);
    }
    image_prompts_done(&prompts);
    return status;
}

/* ---- a list of prompts ---- */

as_status snapshot_import_list(const struct snapshot_import *what, struct snapshot_result *ret, struct as_error *err)
{
    struct imagegen_prompts prompts;
    struct snapshot snapshot;
    struct strbuf rows AS_AUTO_STRBUF;
    const struct prompts_options options = {.name = what->rows};
    strbuf_init(&rows, ROWS_MAX_BYTES);
    as_status status = file_read(what->rows, &rows, err);
    if (status == AS_OK)
        status = imagegen_prompts_parse(strbuf_text(&rows), rows.len, &options, &prompts, err);
    if (status != AS_OK)
        return status;
    const struct snapshot_facts facts = {.type = "metrumbench_imagegen_snapshot", .rows_file = PROMPTS_FILE,
                                         .rows = (int64_t)prompts.prompts.count};
    imagegen_prompts_done(&prompts);
    status = snapshot_init(&snapshot, what->folder, err);
    if (status != AS_OK)
        return status;
    status = snapshot_add(&snapshot, PROMPTS_FILE, &rows, err);
    if (status == AS_OK)
        status = finish(&snapshot, what, &facts, ret, err);
    snapshot_done(&snapshot);
    return status;
}

/* ---- LibriSpeech ---- */

static as_status note_sample(struct snapshot *snapshot, const char *path, struct as_error *err)
{
    char full[PATH_MAX];
    struct strbuf data AS_AUTO_STRBUF;
    strbuf_init(&data, AUDIO_MAX_BYTES);
    if (!path_join(full, sizeof full, snapshot->folder, path))
        return error_set(err, AS_E_INVALID, "%s: the path is too long", path);
    as_status status = file_read(full, &data, err);
    return status == AS_OK ? snapshot_note(snapshot, path, &data, err) : status;
}

/* Every sample of the manifest, whose paths are relative to the folder. */
static as_status note_samples(struct snapshot *snapshot, const struct strbuf *manifest, struct as_error *err)
{
    const char *at = strbuf_text(manifest), *end = at + manifest->len;
    struct arena arena;
    as_status status = AS_OK;
    arena_init(&arena, 0, 0);
    while (status == AS_OK && at < end) {
        const char *stop = memchr(at, '\n', (size_t)(end - at)), *path;
        const struct json_value *line;
        stop = stop ? stop : end;
        status = json_parse(at, (size_t)(stop - at), NULL, &arena, &line, err);
        if (status == AS_OK && json_string(json_get(line, "path"), &path))
            status = note_sample(snapshot, path, err);
        arena_reset(&arena);
        at = stop + 1;
    }
    arena_done(&arena);
    return status;
}

as_status snapshot_import_librispeech(const struct snapshot_import *what, struct snapshot_result *ret, struct as_error *err)
{
    struct librispeech found;
    struct snapshot snapshot;
    as_status status = librispeech_read(what->from, false, true, &found, err);
    if (status != AS_OK)
        return status;
    status = snapshot_init(&snapshot, what->from, err);
    if (status == AS_OK) {
        status = snapshot_add(&snapshot, "manifest.jsonl", &found.manifest, err);
        if (status == AS_OK)
            status = snapshot_add(&snapshot, "ground_truth.jsonl", &found.ground_truth, err);
        if (status == AS_OK)
            status = note_samples(&snapshot, &found.manifest, err);
        const struct snapshot_facts facts = {.type = "metrumbench_asr_snapshot", .rows_file = "manifest.jsonl", .rows = found.samples};
        if (status == AS_OK)
            status = finish(&snapshot, what, &facts, ret, err);
        if (status == AS_OK)
            ret->missing = found.missing;
        snapshot_done(&snapshot);
    }
    librispeech_done(&found);
    return status;
}
