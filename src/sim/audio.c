/* SPDX-License-Identifier: Apache-2.0 */
#include "sim/audio.h"

#include "base/file.h"
#include "base/json.h"
#include "http/form.h"
#include "sim/ask.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#define TRANSCRIPTS_MAX_BYTES ((size_t)256 * 1024 * 1024)
#define WORDS_PER_SECOND      2.5
#define DURATION_UNKNOWN_NS   INT64_C(1000000000) /* of files that do not say how long they are */

/* ---- known transcripts ---- */

/* The words of `text` joined by single spaces; their number. */
static int64_t join_words(char *text, size_t *len)
{
    size_t to = 0;
    int64_t words = 0;
    bool in_word = false;
    for (size_t i = 0; i < *len; i++) {
        bool is_space = strchr(" \t\r\n", text[i]) && text[i];
        if (!is_space && !in_word && words++ > 0)
            text[to++] = ' ';
        if (!is_space)
            text[to++] = text[i];
        in_word = !is_space;
    }
    text[to] = '\0';
    *len = to;
    return words;
}

static as_status take_object(const struct json_value *object, struct arena *arena, struct sim_transcript *ret,
                             struct as_error *err)
{
    const struct json_value *id = json_get(object, "id"), *text = json_get(object, "transcript");
    if (!id || id->type != JSON_STRING || !text || text->type != JSON_STRING)
        return error_set(err, AS_E_INVALID, "a line needs \"id\" and \"transcript\", both strings");
    char *copy = arena_strndup(arena, text->text, text->len);
    ret->name = arena_strdup(arena, id->text);
    if (!copy || !ret->name)
        return error_set(err, AS_E_NOMEM, "out of memory");
    ret->len = text->len;
    ret->words = join_words(copy, &ret->len);
    ret->text = copy;
    return AS_OK;
}

static int by_name(const void *a, const void *b)
{
    const struct sim_transcript *x = a, *y = b;
    return strcmp(x->name, y->name);
}

static as_status take_lines(const struct strbuf *text, struct arena *arena, struct sim_transcripts *found,
                            struct as_error *err)
{
    struct arena scratch;
    const char *at = strbuf_text(text), *end = at + text->len;
    int64_t number = 0;
    as_status status = AS_OK;
    arena_init(&scratch, 0, 0);
    while (at < end && status == AS_OK) {
        const char *line_end = memchr(at, '\n', (size_t)(end - at));
        size_t len = (size_t)((line_end ? line_end : end) - at);
        number++;
        const struct json_value *object;
        bool is_blank = strspn(at, " \t\r") >= len;
        if (!is_blank)
            status = json_parse(at, len, NULL, &scratch, &object, err);
        if (!is_blank && status == AS_OK)
            status = take_object(object, arena, &found->items[found->count++], err);
        at += len + (line_end != NULL);
        arena_reset(&scratch);
    }
    arena_done(&scratch);
    return status == AS_OK ? AS_OK : error_prefix(err, "line %lld", (long long)number);
}

as_status sim_transcripts_load(const char *path, struct arena *arena, struct sim_transcripts *ret, struct as_error *err)
{
    struct sim_transcripts found = {0};
    AS_AUTO_STRBUF struct strbuf text;
    strbuf_init(&text, TRANSCRIPTS_MAX_BYTES);
    as_status status = file_read(path, &text, err);
    if (status != AS_OK)
        return status;
    size_t lines = 1;
    for (size_t i = 0; i < text.len; i++)
        lines += text.data[i] == '\n';
    found.items = arena_calloc(arena, lines, sizeof *found.items);
    if (!found.items)
        return error_set(err, AS_E_NOMEM, "no memory for the transcripts");
    status = take_lines(&text, arena, &found, err);
    if (status != AS_OK)
        return error_prefix(err, "%.200s", path);
    qsort(found.items, found.count, sizeof *found.items, by_name);
    *ret = found;
    return AS_OK;
}

/* By the file's name without its ending. */
static const struct sim_transcript *find_transcript(const struct sim_transcripts *transcripts,
                                                    struct http_text file_name)
{
    const char *dot = memrchr(file_name.at, '.', file_name.len);
    size_t len = dot ? (size_t)(dot - file_name.at) : file_name.len;
    size_t low = 0, high = transcripts->count;
    while (low < high) {
        size_t middle = low + (high - low) / 2;
        const char *name = transcripts->items[middle].name;
        int order = strncmp(name, file_name.at, len);
        if (order == 0)
            order = name[len] != '\0';
        if (order == 0)
            return &transcripts->items[middle];
        if (order < 0)
            low = middle + 1;
        else
            high = middle;
    }
    return NULL;
}

/* ---- the form ---- */

static bool text_is(struct http_text text, const char *other)
{
    return text.len == strlen(other) && memcmp(text.at, other, text.len) == 0;
}

static as_status take_audio(const struct http_form_part *file, struct sim_ask *ask, struct as_error *err)
{
    struct audio_info info;
    if (!file)
        return error_set(err, AS_E_INVALID, "the form has no file");
    if (!file->is_file || file->file_name.len == 0)
        return error_set(err, AS_E_INVALID, "the part named file is no file: it has no filename");
    as_status status = audio_check(file->data.at, file->data.len, &info, err);
    if (status != AS_OK)
        return AS_E_INVALID;
    enum audio_format declared =
        audio_format_of_mime(file->content_type.at ? file->content_type.at : "", file->content_type.len);
    if (file->content_type.len > 0 && !audio_format_matches(declared, info.format))
        return error_set(err, AS_E_INVALID, "the audio is %s by its bytes, but its part has another Content-Type",
                         audio_format_name(info.format));
    ask->audio.duration_ns = info.duration_ns >= 0 ? info.duration_ns : DURATION_UNKNOWN_NS;
    return AS_OK;
}

static as_status take_format(const struct http_form_part *part, struct sim_audio_ask *ask, struct as_error *err)
{
    static const char *const names[] = {"json", "verbose_json", "text", "srt", "vtt"};
    ask->format = SIM_AUDIO_JSON;
    if (!part)
        return AS_OK;
    for (size_t i = 0; i < sizeof names / sizeof names[0]; i++) {
        if (text_is(part->data, names[i])) {
            ask->format = (enum sim_audio_format)i;
            return AS_OK;
        }
    }
    return error_set(err, AS_E_INVALID, "the response_format is none of json, verbose_json, text, srt and vtt");
}

static as_status take_fields(const struct http_form *form, struct sim_ask *ask, struct as_error *err)
{
    const struct http_form_part *model = http_form_find(form, "model");
    const struct http_form_part *language = http_form_find(form, "language");
    const struct http_form_part *stream = http_form_find(form, "stream");
    if (!model || model->data.len == 0)
        return error_set(err, AS_E_INVALID, "the form names no model");
    ask->model = (struct json_raw){model->data.at, model->data.len, false};
    ask->stream = stream && text_is(stream->data, "true");
    size_t len = language ? language->data.len : 0;
    for (size_t i = 0; i < len; i++)
        if (language->data.at[i] < 'A' || language->data.at[i] > 'z')
            return error_set(err, AS_E_INVALID, "the language is no language code");
    if (len >= sizeof ask->audio.language)
        return error_set(err, AS_E_INVALID, "the language is no language code");
    memcpy(ask->audio.language, len ? language->data.at : "en", len ? len : 2);
    const struct http_form_part *granularity = http_form_find(form, "timestamp_granularities[]");
    ask->audio.wants_words = granularity && text_is(granularity->data, "word");
    return take_format(http_form_find(form, "response_format"), &ask->audio, err);
}

as_status sim_audio_read(struct http_text content_type, struct http_text body,
                         const struct sim_transcripts *transcripts, struct sim_ask *ret, struct as_error *err)
{
    struct sim_ask ask = {.is_audio = true, .max_tokens = -1, .min_tokens = -1, .choices = 1};
    struct http_form form;
    struct http_text boundary;
    if (!http_form_boundary(content_type, &boundary))
        return error_set(err, AS_E_UNSUPPORTED, "a transcription takes multipart/form-data with a boundary");
    as_status status = http_form_read(boundary, body, &form, err);
    if (status != AS_OK)
        return AS_E_INVALID;
    const struct http_form_part *file = http_form_find(&form, "file");
    status = take_fields(&form, &ask, err);
    if (status == AS_OK)
        status = take_audio(file, &ask, err);
    if (status != AS_OK)
        return status;
    ask.audio.transcript = find_transcript(transcripts, file->file_name);
    ask.audio.words = ask.audio.transcript ? ask.audio.transcript->words
                                           : llround((double)ask.audio.duration_ns / 1e9 * WORDS_PER_SECOND);
    *ret = ask;
    return AS_OK;
}
