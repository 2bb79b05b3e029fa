/* SPDX-License-Identifier: Apache-2.0 */
#include "workload/audio_librispeech.h"

#include "base/file.h"
#include "base/json_write.h"

#include <errno.h>
#include <fts.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>

#define TRANSCRIPTS_END       ".trans.txt"
#define TRANSCRIPTS_MAX_BYTES ((size_t)64 * 1024 * 1024)

/* What is being found below `folder`. */
struct search {
    const char *folder;
    bool is_absolute;
    struct librispeech *found;
};

static void put_sample(struct strbuf *out, const char *id, size_t id_len, const char *path)
{
    struct json_writer writer;
    json_writer_init(&writer, out, 0);
    json_open_object(&writer);
    json_key(&writer, "id");
    json_put_stringn(&writer, id, id_len);
    json_member_string(&writer, "path", path);
    json_member_string(&writer, "format", "flac");
    json_close_object(&writer);
    strbuf_addc(out, '\n');
}

static void put_transcript(struct strbuf *out, const char *id, size_t id_len, const char *text, size_t len)
{
    struct json_writer writer;
    json_writer_init(&writer, out, 0);
    json_open_object(&writer);
    json_key(&writer, "id");
    json_put_stringn(&writer, id, id_len);
    json_key(&writer, "transcript");
    json_put_stringn(&writer, text, len);
    json_close_object(&writer);
    strbuf_addc(out, '\n');
}

/* The audio file of an id in a chapter's folder, as the manifest shall name it; false when it is not there. */
static bool find_audio(const struct search *search, const char *chapter, const char *id, size_t id_len,
                       char ret[PATH_MAX])
{
    char name[AUDIO_ID_BYTES + 8], full[PATH_MAX], real[PATH_MAX];
    if (id_len >= AUDIO_ID_BYTES)
        return false;
    memcpy(name, id, id_len);
    memcpy(name + id_len, ".flac", sizeof ".flac");
    if (!path_join(full, sizeof full, chapter, name) || !file_exists(full))
        return false;
    if (search->is_absolute) {
        const char *path = realpath(full, real) ? real : full;
        memcpy(ret, path, strlen(path) + 1);
        return true;
    }
    size_t start = strlen(search->folder);
    while (full[start] == '/')
        start++;
    memcpy(ret, full + start, strlen(full + start) + 1);
    return true;
}

static as_status take_line(const struct search *search, const char *chapter, const char *line, size_t len)
{
    struct librispeech *found = search->found;
    char path[PATH_MAX];
    while (len > 0 && (line[len - 1] == '\r' || line[len - 1] == ' '))
        len--;
    const char *space = memchr(line, ' ', len);
    size_t id_len = space ? (size_t)(space - line) : len;
    if (len == 0)
        return AS_OK;
    if (id_len == 0 || memchr(line, '/', id_len) || memchr(line, '\0', id_len))
        return AS_E_INVALID;
    if (!find_audio(search, chapter, line, id_len, path)) {
        if (found->missing++ == 0) {
            size_t kept = id_len < AUDIO_ID_BYTES ? id_len : AUDIO_ID_BYTES - 1;
            memcpy(found->first_missing, line, kept);
            found->first_missing[kept] = '\0';
        }
        return AS_OK;
    }
    found->samples++;
    put_sample(&found->manifest, line, id_len, path);
    size_t text_at = space ? id_len + 1 : len;
    put_transcript(&found->ground_truth, line, id_len, line + text_at, len - text_at);
    return strbuf_status(&found->manifest) == AS_OK ? strbuf_status(&found->ground_truth)
                                                    : strbuf_status(&found->manifest);
}

static as_status take_file(const struct search *search, const char *path, struct as_error *err)
{
    char chapter[PATH_MAX];
    AS_AUTO_STRBUF struct strbuf text;
    strbuf_init(&text, TRANSCRIPTS_MAX_BYTES);
    as_status status = file_read(path, &text, err);
    if (status != AS_OK)
        return status;
    if (!path_dir(chapter, sizeof chapter, path))
        return error_set(err, AS_E_LIMIT, "%.200s: the path is too long", path);
    search->found->chapters++;
    int64_t number = 0;
    const char *at = strbuf_text(&text), *end = at + text.len;
    while (at < end && status == AS_OK) {
        const char *line_end = memchr(at, '\n', (size_t)(end - at));
        const char *stop = line_end ? line_end : end;
        number++;
        status = take_line(search, chapter, at, (size_t)(stop - at));
        at = line_end ? line_end + 1 : end;
    }
    if (status == AS_E_INVALID)
        return error_set_at(err, status, number, -1, "%.300s, line %lld: it is not of the form \"id text\"", path,
                            (long long)number);
    return status == AS_OK ? AS_OK : error_set(err, status, "no memory for the transcripts");
}

static int by_name(const FTSENT **a, const FTSENT **b)
{
    return strcmp((*a)->fts_name, (*b)->fts_name);
}

static bool is_transcripts(const FTSENT *entry)
{
    size_t len = strlen(entry->fts_name), end_len = strlen(TRANSCRIPTS_END);
    return entry->fts_info == FTS_F && len > end_len && strcmp(entry->fts_name + len - end_len, TRANSCRIPTS_END) == 0;
}

static as_status walk(const struct search *search, struct as_error *err)
{
    char *const roots[] = {(char *)(uintptr_t)search->folder, NULL};
    FTS *tree = fts_open(roots, FTS_LOGICAL | FTS_NOCHDIR, by_name);
    as_status status = AS_OK;
    FTSENT *entry;
    if (!tree)
        return error_set_errno(err, errno, "%.300s", search->folder);
    while (status == AS_OK && (entry = fts_read(tree))) {
        if (entry->fts_level == 0 && entry->fts_info != FTS_D && entry->fts_info != FTS_DP)
            status = error_set_errno(err, entry->fts_errno ? entry->fts_errno : ENOTDIR, "%.300s", search->folder);
        else if (is_transcripts(entry))
            status = take_file(search, entry->fts_accpath, err);
    }
    fts_close(tree);
    return status;
}

/* Writes the manifest again, with what the files say of their length. */
static as_status add_durations(const char *folder, struct librispeech *found, struct as_error *err)
{
    struct audio_set set;
    struct audio_text lines = {strbuf_text(&found->manifest), found->manifest.len, "the manifest", false};
    as_status status = audio_set_parse(&lines, folder, &set, err);
    if (status != AS_OK)
        return status;
    status = audio_set_measure(&set, NULL, err);
    struct strbuf old = found->manifest;
    strbuf_init(&found->manifest, 0);
    const char *at = strbuf_text(&old);
    for (size_t i = 0; i < set.count && status == AS_OK; i++) {
        const struct audio_sample *sample = &set.items[i];
        const char *line_end = strchr(at, '\n');
        size_t len = (size_t)(line_end - at);
        strbuf_add(&found->manifest, at, len - 1);
        if (sample->duration_ns >= 0) {
            char text[DOUBLE_TEXT_BYTES];
            double_format((double)sample->duration_ns / 1e9, text);
            strbuf_addf(&found->manifest, ",\"duration\":%s", text);
        }
        strbuf_adds(&found->manifest, "}\n");
        at = line_end + 1;
        if (strbuf_status(&found->manifest) != AS_OK)
            status = error_set(err, AS_E_NOMEM, "no memory for the manifest");
    }
    strbuf_done(&old);
    audio_set_done(&set);
    return status;
}

as_status librispeech_read(const char *folder, bool is_absolute, bool measures, struct librispeech *ret,
                           struct as_error *err)
{
    struct librispeech found = {0};
    struct search search = {folder, is_absolute, &found};
    strbuf_init(&found.manifest, 0);
    strbuf_init(&found.ground_truth, 0);
    as_status status = walk(&search, err);
    if (status == AS_OK && found.samples == 0)
        status = error_set(err, AS_E_NOTFOUND,
                           "%.300s: there are no LibriSpeech samples below it (files NAME" TRANSCRIPTS_END
                           " beside their .flac files)",
                           folder);
    if (status == AS_OK && measures)
        status = add_durations(folder, &found, err);
    if (status != AS_OK) {
        librispeech_done(&found);
        return status;
    }
    *ret = found;
    return AS_OK;
}

void librispeech_done(struct librispeech *found)
{
    strbuf_done(&found->manifest);
    strbuf_done(&found->ground_truth);
}
