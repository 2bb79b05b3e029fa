/* SPDX-License-Identifier: Apache-2.0 */
#include "workload/audio_truth.h"

#include "base/file.h"

#include <stdlib.h>
#include <string.h>

struct reading {
    struct audio_truth *truth;
    size_t capacity;
};

static as_status add(struct reading *reading, const struct audio_reference *reference)
{
    struct audio_truth *truth = reading->truth;
    if (truth->count == reading->capacity) {
        size_t capacity = reading->capacity ? reading->capacity * 2 : 64;
        struct audio_reference *items = realloc(truth->items, capacity * sizeof *items);
        if (!items)
            return AS_E_NOMEM;
        truth->items = items;
        reading->capacity = capacity;
    }
    truth->items[truth->count++] = *reference;
    return AS_OK;
}

static as_status take(void *context, const struct json_value *object, int64_t line, struct as_error *why)
{
    struct reading *reading = context;
    struct arena *arena = &reading->truth->arena;
    const struct json_value *transcript = json_get(object, "transcript");
    struct audio_reference reference = {.line = line};
    if (!transcript || transcript->type != JSON_STRING)
        return error_set(why, AS_E_INVALID,
                         transcript ? "\"transcript\" must be a string" : "the member \"transcript\" is missing");
    as_status status = audio_line_id(object, AUDIO_TRUTH_ID_MAX_BYTES, arena, &reference.id, why);
    if (status != AS_OK)
        return status;
    reference.len = transcript->len;
    reference.text = arena_strndup(arena, transcript->text, transcript->len);
    return reference.text ? add(reading, &reference) : AS_E_NOMEM;
}

static int by_id(const void *a, const void *b)
{
    const struct audio_reference *x = a, *y = b;
    int order = strcmp(x->id, y->id);
    return order ? order : (x->line > y->line) - (x->line < y->line);
}

static as_status check(struct audio_truth *truth, const char *name, struct as_error *err)
{
    if (truth->count == 0)
        return error_set(err, AS_E_INVALID,
                         "%s holds no transcript: give a file with one JSON object a line, for example "
                         "{\"id\":\"a\",\"transcript\":\"what was said\"}",
                         name);
    qsort(truth->items, truth->count, sizeof *truth->items, by_id);
    for (size_t i = 1; i < truth->count; i++) {
        const struct audio_reference *before = &truth->items[i - 1], *item = &truth->items[i];
        if (strcmp(before->id, item->id) == 0)
            return error_set_at(err, AS_E_INVALID, item->line, -1,
                                "%s, line %lld: the id \"%.64s\" is taken by line %lld: ids must be unique", name,
                                (long long)item->line, item->id, (long long)before->line);
    }
    return AS_OK;
}

as_status audio_truth_parse(const struct audio_text *text, struct audio_truth *ret, struct as_error *err)
{
    static const char *const members[] = {"id", "transcript", NULL};
    struct audio_truth truth = {0};
    struct reading reading = {.truth = &truth};
    struct audio_line_reader reader = {.members = members, .take = take, .context = &reading};
    arena_init(&truth.arena, 0, 0);
    as_status status = audio_lines_read(text, &reader, &truth.lines, err);
    if (status == AS_OK)
        status = check(&truth, text->name, err);
    if (status == AS_OK && digest_bytes(text->at, text->len, truth.digest) != AS_OK)
        status = error_set(err, AS_E_NOMEM, "%s: no memory for its digest", text->name);
    if (status != AS_OK) {
        audio_truth_done(&truth);
        return status;
    }
    *ret = truth;
    return AS_OK;
}

as_status audio_truth_load(const char *source, bool skip_bad_lines, struct audio_truth *ret, struct as_error *err)
{
    AS_AUTO_STRBUF struct strbuf bytes;
    strbuf_init(&bytes, AUDIO_TRUTH_MAX_BYTES);
    as_status status = file_read(source, &bytes, err);
    if (status != AS_OK)
        return status;
    const char *name = strcmp(source, "-") == 0 ? "standard input" : source;
    struct audio_text text = {strbuf_text(&bytes), bytes.len, name, skip_bad_lines};
    return audio_truth_parse(&text, ret, err);
}

void audio_truth_done(struct audio_truth *truth)
{
    free(truth->items);
    arena_done(&truth->arena);
    *truth = (struct audio_truth){0};
}

const struct audio_reference *audio_truth_find(const struct audio_truth *truth, const char *id)
{
    size_t low = 0, high = truth->count;
    while (low < high) {
        size_t middle = low + (high - low) / 2;
        int order = strcmp(truth->items[middle].id, id);
        if (order == 0)
            return &truth->items[middle];
        if (order < 0)
            low = middle + 1;
        else
            high = middle;
    }
    return NULL;
}
