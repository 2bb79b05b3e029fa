/* SPDX-License-Identifier: Apache-2.0 */
#include "workload/audio_jsonl.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

static bool is_blank(const char *text, size_t len)
{
    for (size_t i = 0; i < len; i++)
        if (text[i] != ' ' && text[i] != '\t' && text[i] != '\r')
            return false;
    return true;
}

static bool is_member(const char *const *members, const char *name)
{
    for (; *members; members++)
        if (strcmp(*members, name) == 0)
            return true;
    return false;
}

static void note_unknown(struct audio_unknown *unknown, const char *name, int64_t line)
{
    char cut[AUDIO_MEMBER_BYTES];
    snprintf(cut, sizeof cut, "%s", name);
    for (size_t i = 0; i < unknown->count; i++)
        if (strcmp(unknown->names[i], cut) == 0)
            return;
    if (unknown->count == AUDIO_UNKNOWN_MEMBERS) {
        unknown->has_more = true;
        return;
    }
    memcpy(unknown->names[unknown->count], cut, sizeof cut);
    unknown->lines[unknown->count++] = line;
}

/* Lines being read. */
struct walk {
    const struct audio_text *text;
    const struct audio_line_reader *reader;
    struct audio_lines *found;
    struct arena arena; /* the current line's tree */
};

static as_status take_object(struct walk *walk, const char *line, size_t len, struct as_error *why)
{
    const struct audio_line_reader *reader = walk->reader;
    const struct json_value *object;
    if (len > AUDIO_LINE_MAX_BYTES)
        return error_set(why, AS_E_INVALID, "the line is longer than %zu bytes", AUDIO_LINE_MAX_BYTES);
    as_status status = json_parse_line(line, len, &walk->arena, &object, why);
    if (status != AS_OK)
        return status;
    if (object->type != JSON_OBJECT)
        return error_set(why, AS_E_INVALID, "the line is a JSON %s: it must be an object",
                         json_type_name(object->type));
    for (const struct json_value *member = object->first; member; member = member->next) {
        if (!is_member(reader->members, member->key))
            note_unknown(&walk->found->unknown, member->key, walk->found->lines);
        else if (json_get(object, member->key) != member)
            return error_set(why, AS_E_INVALID, "the member \"%s\" is there twice", member->key);
    }
    return reader->take(reader->context, object, walk->found->lines, why);
}

static as_status take_line(struct walk *walk, const char *line, size_t len, struct as_error *err)
{
    const char *name = walk->text->name;
    struct audio_lines *found = walk->found;
    struct as_error why = {0}, told;
    found->lines++;
    if (is_blank(line, len)) {
        found->blank_lines++;
        return AS_OK;
    }
    as_status status = take_object(walk, line, len, &why);
    arena_reset(&walk->arena);
    if (status == AS_OK)
        return AS_OK;
    if (status != AS_E_INVALID)
        return error_set(err, status, "%s: %s", name, status == AS_E_NOMEM ? "no memory for its lines" : why.message);
    error_set_at(&told, status, found->lines, -1,
                 "%s, line %" PRId64 ": %s; correct it, or skip bad lines with --skip-bad-lines", name, found->lines,
                 why.message);
    if (walk->text->skip_bad_lines) {
        if (found->bad_lines++ == 0)
            found->first_bad = told;
        return AS_OK;
    }
    if (err)
        *err = told;
    return status;
}

as_status audio_lines_read(const struct audio_text *text, const struct audio_line_reader *reader,
                           struct audio_lines *ret, struct as_error *err)
{
    struct walk walk = {.text = text, .reader = reader, .found = ret};
    const char *at = text->at, *end = at + text->len;
    as_status status = AS_OK;
    *ret = (struct audio_lines){0};
    arena_init(&walk.arena, 0, 0);
    if (text->len >= 3 && memcmp(at, "\xEF\xBB\xBF", 3) == 0)
        at += 3;
    while (at < end && status == AS_OK) {
        const char *line_end = memchr(at, '\n', (size_t)(end - at));
        const char *stop = line_end ? line_end : end;
        status = take_line(&walk, at, (size_t)(stop - at), err);
        at = line_end ? line_end + 1 : end;
    }
    arena_done(&walk.arena);
    return status;
}

as_status audio_line_id(const struct json_value *object, size_t max_bytes, struct arena *arena, const char **ret,
                        struct as_error *why)
{
    const struct json_value *id = json_get(object, "id");
    if (!id || json_is_null(id))
        return error_set(why, AS_E_INVALID, "the member \"id\" is missing");
    if (id->type != JSON_STRING && id->type != JSON_NUMBER)
        return error_set(why, AS_E_INVALID, "\"id\" must be a string or a number");
    if (id->len == 0 || id->len > max_bytes || strlen(id->text) != id->len)
        return error_set(why, AS_E_INVALID, "\"id\" must have 1 to %zu bytes, none of them NUL", max_bytes);
    const char *copy = arena_strndup(arena, id->text, id->len);
    if (!copy)
        return AS_E_NOMEM;
    *ret = copy;
    return AS_OK;
}
