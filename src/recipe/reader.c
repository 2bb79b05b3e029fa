/* SPDX-License-Identifier: Apache-2.0 */
#include "recipe/reader.h"

#include "base/json_write.h"

#include <stdarg.h>
#include <stdio.h>

#define NEAREST_BYTES_MAX 64
#define PAIRS_MAX         1024

static int64_t line_of(const struct recipe_text *input, int64_t offset)
{
    int64_t line = 1;
    for (int64_t i = 0; i < offset && (size_t)i < input->len; i++)
        line += input->text[i] == '\n';
    return line;
}

as_status reader_fail(struct reader *reader, const struct json_value *value, const char *fmt, ...)
{
    char sentence[320];
    va_list args;
    va_start(args, fmt);
    (void)vsnprintf(sentence, sizeof(sentence), fmt, args);
    va_end(args);
    int64_t offset = value ? value->offset : -1,
            line = value && reader->input->len > 0 ? line_of(reader->input, offset) : 0;
    if (line > 0)
        return error_set_at(reader->err, AS_E_INVALID, line, offset, "%s:%lld: %s%s%s", reader->input->name,
                            (long long)line, reader->place, *reader->place ? ": " : "", sentence);
    return error_set_at(reader->err, AS_E_INVALID, 0, -1, "%s: %s%s%s", reader->input->name, reader->place,
                        *reader->place ? ": " : "", sentence);
}

as_status reader_no_memory(struct reader *reader)
{
    return error_set(reader->err, AS_E_NOMEM, "%s: no memory", reader->input->name);
}

void reader_at(struct reader *reader, const char *array, size_t index)
{
    (void)snprintf(reader->place, sizeof(reader->place), "%s[%zu]", array, index);
}

as_status reader_open(struct reader *reader, const char *schema, const struct json_value **ret)
{
    const struct json_value *root = NULL;
    const char *found = NULL;
    reader->place[0] = '\0';
    as_status status = json_parse(reader->input->text, reader->input->len, NULL, reader->arena, &root, reader->err);
    if (status != AS_OK)
        return error_prefix(reader->err, "%s", reader->input->name);
    if (root->type != JSON_OBJECT)
        return reader_fail(reader, root, "%s where an object with the schema \"%s\" is expected",
                           json_type_name(root->type), schema);
    if (!json_string(json_get(root, "schema"), &found))
        return reader_fail(reader, root, "the member \"schema\" is missing; expected \"%s\"", schema);
    if (strcmp(found, schema) != 0)
        return reader_fail(reader, json_get(root, "schema"),
                           "schema is \"%.64s\", expected \"%s\": another kind of file, or one for another version",
                           found, schema);
    *ret = root;
    return AS_OK;
}

as_status reader_array(struct reader *reader, const struct json_value *root, const char *name,
                       const struct json_value **ret)
{
    const struct json_value *array = json_get(root, name);
    if (!array)
        return reader_fail(reader, root, "the member \"%s\" is missing: an array", name);
    if (array->type != JSON_ARRAY)
        return reader_fail(reader, array, "%s is %s where an array is expected", name, json_type_name(array->type));
    *ret = array;
    return AS_OK;
}

/* A string without NUL in it, else NULL. */
static const char *plain_text(const struct json_value *value)
{
    return value->type == JSON_STRING && strlen(value->text) == value->len ? value->text : NULL;
}

as_status reader_list(struct reader *reader, const struct json_value *value, struct recipe_list *ret)
{
    if (value->type != JSON_ARRAY)
        return reader_fail(reader, value, "%s is %s where an array of texts is expected",
                           value->key ? value->key : "the value", json_type_name(value->type));
    const char **items = arena_calloc(reader->arena, value->len + 1, sizeof(*items));
    size_t count = 0;
    if (!items)
        return reader_no_memory(reader);
    for (const struct json_value *item = value->first; item; item = item->next) {
        items[count] = plain_text(item);
        if (!items[count] || !*items[count])
            return reader_fail(reader, item, "%s[%zu] is no text", value->key ? value->key : "", count);
        count++;
    }
    *ret = (struct recipe_list){items, count};
    return AS_OK;
}

as_status reader_pairs(struct reader *reader, const struct json_value *value, struct recipe_pairs *ret)
{
    if (value->type != JSON_OBJECT)
        return reader_fail(reader, value, "%s is %s where an object of texts is expected",
                           value->key ? value->key : "the value", json_type_name(value->type));
    if (value->len > PAIRS_MAX)
        return reader_fail(reader, value, "%s has more than %d members", value->key ? value->key : "the value",
                           PAIRS_MAX);
    struct recipe_pair *items = arena_calloc(reader->arena, value->len + 1, sizeof(*items));
    size_t count = 0;
    if (!items)
        return reader_no_memory(reader);
    for (const struct json_value *item = value->first; item; item = item->next) {
        const char *text = plain_text(item);
        if (!text || strlen(item->key) != item->key_len || item->key_len == 0)
            return reader_fail(reader, item, "%s.%s is no text", value->key ? value->key : "", item->key);
        struct recipe_pairs known = {items, count};
        if (recipe_pairs_get(&known, item->key))
            return reader_fail(reader, item, "%s.%s is there twice", value->key ? value->key : "", item->key);
        items[count++] = (struct recipe_pair){item->key, text};
    }
    *ret = (struct recipe_pairs){items, count};
    return AS_OK;
}

static as_status wrong_type(struct reader *reader, const struct json_value *value, const char *expected)
{
    return reader_fail(reader, value, "%s is %s where %s is expected", value->key, json_type_name(value->type),
                       expected);
}

static as_status read_member(struct reader *reader, const struct json_value *value, enum member_kind kind, void *field)
{
    int64_t whole = 0;
    double number = 0;
    switch (kind) {
    case MEMBER_TEXT:
        if (!plain_text(value) || value->len == 0)
            return wrong_type(reader, value, "a text that is not empty");
        *(const char **)field = value->text;
        return AS_OK;
    case MEMBER_INT:
        if (!json_int64(value, &whole) || whole < 0)
            return wrong_type(reader, value, "a whole number from 0");
        *(int64_t *)field = whole;
        return AS_OK;
    case MEMBER_DOUBLE:
        if (!json_double(value, &number) || number < 0)
            return wrong_type(reader, value, "a number from 0");
        *(double *)field = number;
        return AS_OK;
    case MEMBER_BOOL:
        return json_bool(value, (bool *)field) ? AS_OK : wrong_type(reader, value, "true or false");
    case MEMBER_LIST:
        return reader_list(reader, value, (struct recipe_list *)field);
    case MEMBER_PAIRS:
        return reader_pairs(reader, value, (struct recipe_pairs *)field);
    case MEMBER_OTHER:
        return AS_OK;
    }
    return AS_E_INTERNAL;
}

static const struct member *find_member(struct members members, const char *name)
{
    for (size_t i = 0; i < members.count; i++)
        if (strcmp(members.items[i].name, name) == 0)
            return &members.items[i];
    return NULL;
}

static as_status unknown_member(struct reader *reader, const struct json_value *value, struct members members)
{
    struct nearest nearest;
    nearest_init(&nearest, value->key);
    for (size_t i = 0; i < members.count; i++)
        nearest_try(&nearest, members.items[i].name);
    if (nearest.best)
        return reader_fail(reader, value, "the member \"%.64s\" is not known; nearest is \"%s\"", value->key,
                           nearest.best);
    return reader_fail(reader, value, "the member \"%.64s\" is not known; remove it", value->key);
}

as_status reader_members(struct reader *reader, const struct json_value *object, struct members members, void *target)
{
    if (object->type != JSON_OBJECT)
        return reader_fail(reader, object, "%s where an object is expected", json_type_name(object->type));
    for (const struct json_value *value = object->first; value; value = value->next) {
        const struct member *member = find_member(members, value->key);
        if (!member)
            return unknown_member(reader, value, members);
        if (value->type == JSON_NULL)
            continue;
        as_status status = read_member(reader, value, member->kind, (char *)target + member->at);
        if (status != AS_OK)
            return status;
    }
    for (size_t i = 0; i < members.count; i++) {
        const struct json_value *value = json_get(object, members.items[i].name);
        if (members.items[i].is_required && (!value || value->type == JSON_NULL))
            return reader_fail(reader, object, "the member \"%s\" is missing", members.items[i].name);
    }
    return AS_OK;
}

const char *reader_value_text(struct arena *arena, const struct json_value *value)
{
    switch (value->type) {
    case JSON_STRING:
        return plain_text(value);
    case JSON_NUMBER:
        return value->text;
    case JSON_BOOL:
        return value->boolean ? "true" : "false";
    default:
        break;
    }
    if (value->type == JSON_NULL)
        return NULL;
    struct strbuf out AS_AUTO_STRBUF;
    struct json_writer writer;
    strbuf_init(&out, 0);
    json_writer_init(&writer, &out, 0);
    json_put_value(&writer, value);
    return json_writer_status(&writer) == AS_OK ? arena_strndup(arena, strbuf_text(&out), out.len) : NULL;
}

/* Levenshtein distance of texts of at most NEAREST_BYTES_MAX bytes. */
static size_t edit_distance(const char *a, const char *b)
{
    size_t row[NEAREST_BYTES_MAX + 1], width = strlen(b);
    for (size_t j = 0; j <= width; j++)
        row[j] = j;
    for (size_t i = 1; a[i - 1]; i++) {
        size_t diagonal = row[0];
        row[0] = i;
        for (size_t j = 1; j <= width; j++) {
            size_t change = diagonal + (a[i - 1] != b[j - 1]);
            size_t gap = (row[j] < row[j - 1] ? row[j] : row[j - 1]) + 1;
            diagonal = row[j];
            row[j] = change < gap ? change : gap;
        }
    }
    return row[width];
}

void nearest_init(struct nearest *nearest, const char *word)
{
    *nearest = (struct nearest){.word = word, .distance = strlen(word) / 3 + 2};
    if (nearest->distance > 6)
        nearest->distance = 6;
}

void nearest_try(struct nearest *nearest, const char *candidate)
{
    if (strlen(nearest->word) > NEAREST_BYTES_MAX || strlen(candidate) > NEAREST_BYTES_MAX)
        return;
    size_t distance = edit_distance(nearest->word, candidate);
    if (distance >= nearest->distance)
        return;
    nearest->distance = distance;
    nearest->best = candidate;
}
