/* SPDX-License-Identifier: Apache-2.0 */
#include "ctl/definition.h"

#include "options/yaml_tree.h"

#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* A document of the file. */
struct document {
    const char *text;
    size_t len;
    size_t number;      /* from 1 */
    size_t first_line;  /* of the file, from 1 */
};

struct reader {
    struct definition *definition;
    const struct document *document;
    struct as_error *err;
};

as_status definition_error(const struct definition *definition, const struct definition_object *object,
                           struct as_error *err)
{
    return error_prefix(err, "%s, document %zu, line %zu", definition->name, object->document, object->line);
}

static as_status refuse(struct reader *reader, size_t line, const char *sentence, const char *name)
{
    (void)error_set_at(reader->err, AS_E_INVALID, (int64_t)line, -1, sentence, name);
    return error_prefix(reader->err, "%s, document %zu, line %zu", reader->definition->name, reader->document->number,
                        line);
}

static size_t line_of(const struct reader *reader, const struct json_value *value)
{
    return yaml_line(reader->document->text, reader->document->len, value) + reader->document->first_line - 1;
}

bool definition_is_nested(const struct definition_object *object, const char *member)
{
    if (!object->kind)
        return false;
    return (strcmp(object->kind->path, "projects") == 0 && strcmp(member, "workloads") == 0) ||
           (strcmp(object->kind->path, "workloads") == 0 && strcmp(member, "scenarios") == 0);
}

/* A member of the object itself or, for a parent's key, of its parent. */
static const struct json_value *find_key(const struct definition_object *object, const char *member)
{
    const struct json_value *value = json_get(object->value, member);
    return value || !object->parent ? value : json_get(object->parent->value, member);
}

static as_status read_keys(struct reader *reader, struct definition_object *object)
{
    const size_t count = kind_key_count(object->kind);
    for (size_t i = 0; i < count; i++) {
        const struct json_value *value = find_key(object, object->kind->keys[i]);
        if (!value && i + 1 == count && object->kind->key_default)
            object->keys[i] = object->kind->key_default;
        else if (!value)
            return refuse(reader, object->line, "the member %s, which names the thing, is missing",
                          object->kind->keys[i]);
        else if (value->type == JSON_STRING && value->len && strlen(value->text) == value->len)
            object->keys[i] = value->text;
        else
            return refuse(reader, line_of(reader, value), "the member %s must be text: put it in quotes",
                          object->kind->keys[i]);
    }
    return AS_OK;
}

static as_status make_room(struct definition *definition, struct as_error *err)
{
    if (definition->count < definition->capacity)
        return AS_OK;
    if (definition->count >= DEFINITION_OBJECTS_MAX)
        return error_set(err, AS_E_LIMIT, "%s: more than %d things", definition->name, DEFINITION_OBJECTS_MAX);
    size_t capacity = definition->capacity ? definition->capacity * 2 : 32;
    struct definition_object **items = arena_calloc(definition->arena, capacity, sizeof(struct definition_object *));
    if (!items)
        return error_set(err, AS_E_NOMEM, "out of memory");
    if (definition->count)
        memcpy(items, definition->items, definition->count * sizeof(struct definition_object *));
    definition->items = items;
    definition->capacity = capacity;
    return AS_OK;
}

static as_status add_all(struct reader *reader, const struct ctl_kind *kind, const struct json_value *value,
                         const struct definition_object *parent);

static as_status add_nested(struct reader *reader, const struct definition_object *object)
{
    as_status status = AS_OK;
    for (const struct json_value *member = object->value->first; status == AS_OK && member; member = member->next)
        if (definition_is_nested(object, member->key))
            status = add_all(reader, kind_find(member->key), member, object);
    return status;
}

static as_status add_one(struct reader *reader, const struct ctl_kind *kind, const struct json_value *value,
                         const struct definition_object *parent)
{
    struct definition *definition = reader->definition;
    if (value->type != JSON_OBJECT)
        return refuse(reader, line_of(reader, value), "%s must be a mapping of members",
                      kind ? kind->singular : "run");
    as_status status = make_room(definition, reader->err);
    if (status != AS_OK)
        return status;
    struct definition_object *object = arena_calloc(definition->arena, 1, sizeof *object);
    if (!object)
        return error_set(reader->err, AS_E_NOMEM, "out of memory");
    *object = (struct definition_object){.kind = kind,
                                         .value = value,
                                         .parent = parent,
                                         .document = reader->document->number,
                                         .line = line_of(reader, value)};
    status = kind ? read_keys(reader, object) : AS_OK;
    if (status != AS_OK)
        return status;
    definition->items[definition->count++] = object;
    return kind ? add_nested(reader, object) : AS_OK;
}

/* A list of things, or one. Nesting ends with scenarios, so this goes no deeper than three. */
static as_status add_all(struct reader *reader, const struct ctl_kind *kind, const struct json_value *value,
                         const struct definition_object *parent)
{
    as_status status = AS_OK;
    if (value->type != JSON_ARRAY)
        return value->type == JSON_NULL ? AS_OK : add_one(reader, kind, value, parent);
    for (const struct json_value *item = value->first; status == AS_OK && item; item = item->next)
        status = add_one(reader, kind, item, parent);
    return status;
}

static as_status read_member(struct reader *reader, const struct json_value *member)
{
    const struct ctl_kind *kind = kind_find(member->key);
    if (strcmp(member->key, "schema") == 0) {
        if (member->type == JSON_STRING && strcmp(member->text, DEFINITION_SCHEMA) == 0)
            return AS_OK;
        return refuse(reader, line_of(reader, member), "schema must be %s", DEFINITION_SCHEMA);
    }
    if (kind && kind->is_defined)
        return add_all(reader, kind, member, NULL);
    if (kind == kind_find("runs"))
        return add_all(reader, NULL, member, NULL);
    return refuse(reader, line_of(reader, member), "%s is nothing that a definition may hold", member->key);
}

static as_status read_document(struct definition *definition, const struct document *document, struct as_error *err)
{
    struct reader reader = {definition, document, err};
    const struct json_value *root = NULL;
    as_status status;
    if (json_cursor_validate(document->text, document->len, NULL))
        status = json_parse(document->text, document->len, NULL, definition->arena, &root, err);
    else
        status = yaml_parse(document->text, document->len, definition->arena, &root, err);
    if (status != AS_OK) {
        size_t line = (size_t)(err->line > 0 ? err->line : 1) + document->first_line - 1;
        const char *reason = strncmp(err->message, "line ", 5) == 0 ? strstr(err->message, ": ") : NULL;
        char text[sizeof err->message];
        snprintf(text, sizeof text, "%s", reason ? reason + 2 : err->message);
        return refuse(&reader, line, "%s", text);
    }
    if (root->type == JSON_NULL)
        return AS_OK;
    if (root->type != JSON_OBJECT)
        return refuse(&reader, document->first_line, "a document must be a mapping of %s", "kinds to things");
    for (const struct json_value *member = root->first; status == AS_OK && member; member = member->next)
        status = read_member(&reader, member);
    return status;
}

/* The end of a document: the next line, after the first, that begins with "---" and white space or nothing. */
static const char *document_end(const char *text, const char *end, size_t *ret_lines)
{
    const char *at = text;
    *ret_lines = 0;
    while ((at = memchr(at, '\n', (size_t)(end - at))) != NULL) {
        at++;
        *ret_lines += 1;
        size_t left = (size_t)(end - at);
        if (left >= 3 && memcmp(at, "---", 3) == 0 && (left == 3 || strchr(" \t\r\n", at[3])))
            return at;
    }
    return end;
}

static size_t order_of(const struct definition_object *object)
{
    size_t count;
    return object->kind ? (size_t)(object->kind - kind_list(&count)) : SIZE_MAX;
}

/* By kind, then as they stand in the file. */
static int compare(const void *one, const void *other)
{
    const struct definition_object *a = *(const struct definition_object *const *)one;
    const struct definition_object *b = *(const struct definition_object *const *)other;
    if (order_of(a) != order_of(b))
        return order_of(a) < order_of(b) ? -1 : 1;
    if (a->document != b->document)
        return a->document < b->document ? -1 : 1;
    return a->line < b->line ? -1 : a->line > b->line;
}

static int compare_keys(const struct definition_object *a, const struct definition_object *b)
{
    int result = 0;
    if (order_of(a) != order_of(b))
        return order_of(a) < order_of(b) ? -1 : 1;
    for (size_t i = 0; result == 0 && i < kind_key_count(a->kind); i++)
        result = strcmp(a->keys[i], b->keys[i]);
    return result;
}

static int compare_by_key(const void *one, const void *other)
{
    const struct definition_object *a = *(const struct definition_object *const *)one;
    const struct definition_object *b = *(const struct definition_object *const *)other;
    int result = compare_keys(a, b);
    return result ? result : compare(one, other);
}

void definition_add_key(struct strbuf *out, const struct definition_object *object)
{
    for (size_t i = 0; object->kind && i < kind_key_count(object->kind); i++)
        strbuf_addf(out, "%s%s", i ? "/" : "", object->keys[i]);
}

static as_status check_twice(const struct definition *definition, size_t kinds, struct as_error *err)
{
    struct strbuf key AS_AUTO_STRBUF;
    struct definition_object **sorted =
        arena_calloc(definition->arena, kinds + 1, sizeof(struct definition_object *));
    strbuf_init(&key, 0);
    if (!sorted)
        return error_set(err, AS_E_NOMEM, "out of memory");
    if (kinds)
        memcpy(sorted, definition->items, kinds * sizeof(struct definition_object *));
    qsort(sorted, kinds, sizeof(struct definition_object *), compare_by_key);
    for (size_t i = 1; i < kinds; i++) {
        if (compare_keys(sorted[i - 1], sorted[i]) != 0)
            continue;
        definition_add_key(&key, sorted[i]);
        (void)error_set(err, AS_E_INVALID, "%s %s stands there twice, first in document %zu, line %zu",
                        sorted[i]->kind->singular, strbuf_text(&key), sorted[i - 1]->document, sorted[i - 1]->line);
        return definition_error(definition, sorted[i], err);
    }
    return AS_OK;
}

as_status definition_read(struct definition *definition, const char *text, size_t len, struct as_error *err)
{
    struct document document = {.text = text, .first_line = 1, .number = 1};
    const char *end = text + len;
    as_status status = AS_OK;
    size_t kinds = 0;
    while (status == AS_OK && document.text < end) {
        size_t lines;
        const char *next = document_end(document.text, end, &lines);
        document.len = (size_t)(next - document.text);
        /* Comments before the first "---" are no document. */
        size_t before = definition->count;
        status = read_document(definition, &document, err);
        bool is_marked = strncmp(document.text, "---", 3) == 0;
        document.number += is_marked || definition->count > before;
        document.first_line += lines;
        document.text = next;
    }
    if (status != AS_OK)
        return status;
    if (!definition->count)
        return error_set(err, AS_E_INVALID, "%s: it defines nothing", definition->name);
    qsort(definition->items, definition->count, sizeof(struct definition_object *), compare);
    while (kinds < definition->count && definition->items[kinds]->kind)
        kinds++;
    return check_twice(definition, kinds, err);
}

void definition_write(struct json_writer *writer, const struct definition_object *object)
{
    json_open_object(writer);
    for (size_t i = 0; object->kind && object->parent && i < kind_key_count(object->parent->kind); i++) {
        const char *key = object->parent->kind->keys[i];
        if (!json_get(object->value, key))
            json_member_string(writer, key, object->parent->keys[i]);
    }
    for (const struct json_value *member = object->value->first; member; member = member->next) {
        if (definition_is_nested(object, member->key))
            continue;
        json_keyn(writer, member->key, member->key_len);
        json_put_value(writer, member);
    }
    json_close_object(writer);
}
