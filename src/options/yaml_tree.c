/* SPDX-License-Identifier: Apache-2.0 */
#include "options/yaml_tree.h"

#include <stdbool.h>
#include <stdint.h>
#include <string.h>
#include <yaml.h>

#define KEYS_MAX 4096 /* a key is compared with all before it */

struct yaml_reader {
    yaml_parser_t parser;
    struct arena *arena;
    struct as_error *err;
};

static as_status refuse(struct yaml_reader *reader, const yaml_mark_t *mark, const char *why)
{
    error_set_at(reader->err, AS_E_INVALID, (int64_t)mark->line + 1, (int64_t)mark->index, "line %zu: %s",
                 mark->line + 1, why);
    if (reader->err)
        reader->err->column = (int64_t)mark->column + 1;
    return AS_E_INVALID;
}

static as_status no_memory(struct yaml_reader *reader)
{
    error_set(reader->err, AS_E_NOMEM, "out of memory");
    return AS_E_NOMEM;
}

static as_status next_event(struct yaml_reader *reader, yaml_event_t *ret)
{
    if (yaml_parser_parse(&reader->parser, ret))
        return AS_OK;
    if (reader->parser.error == YAML_MEMORY_ERROR)
        return no_memory(reader);
    yaml_mark_t mark = reader->parser.problem_mark;
    if (reader->parser.error == YAML_READER_ERROR)
        mark = (yaml_mark_t){.index = reader->parser.problem_offset, .line = reader->parser.mark.line};
    return refuse(reader, &mark, reader->parser.problem ? reader->parser.problem : "is not YAML");
}

static bool is_json_number(const char *text, size_t len)
{
    struct json_cursor cursor;
    struct json_raw raw;
    json_cursor_init(&cursor, text, len);
    return len > 0 && text[0] != ' ' && json_take_number(&cursor, &raw) && raw.len == len;
}

static enum json_type plain_type(const char *text, size_t len)
{
    if (len == 0 || strcmp(text, "null") == 0 || strcmp(text, "Null") == 0 || strcmp(text, "NULL") == 0 ||
        strcmp(text, "~") == 0)
        return JSON_NULL;
    if (strcmp(text, "true") == 0 || strcmp(text, "True") == 0 || strcmp(text, "false") == 0 ||
        strcmp(text, "False") == 0)
        return JSON_BOOL;
    return is_json_number(text, len) ? JSON_NUMBER : JSON_STRING;
}

static as_status read_scalar(struct yaml_reader *reader, const yaml_event_t *event, struct json_value *ret)
{
    const char *text = (const char *)event->data.scalar.value;
    size_t len = event->data.scalar.length;
    if (event->data.scalar.tag)
        return refuse(reader, &event->start_mark, "tags (!) are not used here");
    if (event->data.scalar.anchor)
        return refuse(reader, &event->start_mark, "anchors (&) are not used here");
    if (memchr(text, '\0', len))
        return refuse(reader, &event->start_mark, "a text holds a NUL character");
    char *copy = arena_strndup(reader->arena, text, len);
    if (!copy)
        return no_memory(reader);
    bool is_plain = event->data.scalar.style == YAML_PLAIN_SCALAR_STYLE;
    ret->type = is_plain ? plain_type(copy, len) : JSON_STRING;
    ret->boolean = ret->type == JSON_BOOL && (copy[0] == 't' || copy[0] == 'T');
    ret->text = copy;
    ret->len = len;
    return AS_OK;
}

static as_status read_node(struct yaml_reader *reader, const yaml_event_t *event, int depth, struct json_value **ret);

/* Takes the key at `event`, which it drops, and then gets the event of its value. */
static as_status read_key(struct yaml_reader *reader, const struct json_value *parent, yaml_event_t *event,
                          const struct json_value **ret)
{
    struct json_value *key = arena_calloc(reader->arena, 1, sizeof *key);
    as_status status = AS_OK;
    if (!key)
        status = no_memory(reader);
    else if (event->type != YAML_SCALAR_EVENT)
        status = refuse(reader, &event->start_mark, "a key is not a plain text");
    else
        status = read_scalar(reader, event, key);
    if (status == AS_OK && parent->len >= KEYS_MAX)
        status = refuse(reader, &event->start_mark, "the mapping has too many keys");
    if (status == AS_OK && json_get(parent, key->text))
        status = refuse(reader, &event->start_mark, "a key stands twice in one mapping");
    yaml_event_delete(event);
    if (status == AS_OK)
        status = next_event(reader, event);
    if (status == AS_OK)
        *ret = key;
    return status;
}

/* Reads the children of a sequence or mapping up to its end. */
static as_status read_children(struct yaml_reader *reader, struct json_value *parent, int depth)
{
    const struct json_value **link = &parent->first;
    for (;;) {
        yaml_event_t event;
        const struct json_value *key = NULL;
        struct json_value *child = NULL;
        as_status status = next_event(reader, &event);
        if (status != AS_OK)
            return status;
        bool is_end = event.type == YAML_SEQUENCE_END_EVENT || event.type == YAML_MAPPING_END_EVENT;
        if (!is_end && parent->type == JSON_OBJECT) {
            status = read_key(reader, parent, &event, &key);
            if (status != AS_OK)
                return status;
        }
        if (!is_end)
            status = read_node(reader, &event, depth + 1, &child);
        yaml_event_delete(&event);
        if (status != AS_OK || is_end || !child)
            return status;
        child->key = key ? key->text : NULL;
        child->key_len = key ? key->len : 0;
        *link = child;
        link = &child->next;
        parent->len++;
    }
}

static as_status read_node(struct yaml_reader *reader, const yaml_event_t *event, int depth, struct json_value **ret)
{
    if (event->type == YAML_ALIAS_EVENT)
        return refuse(reader, &event->start_mark, "aliases (*) are not used here");
    if (depth > YAML_DEPTH_MAX)
        return refuse(reader, &event->start_mark, "is nested too deeply");
    struct json_value *value = arena_calloc(reader->arena, 1, sizeof *value);
    if (!value)
        return no_memory(reader);
    value->offset = (int64_t)event->start_mark.index;
    as_status status = AS_OK;
    if (event->type == YAML_SCALAR_EVENT) {
        status = read_scalar(reader, event, value);
    } else {
        bool is_mapping = event->type == YAML_MAPPING_START_EVENT;
        const yaml_char_t *tag = is_mapping ? event->data.mapping_start.tag : event->data.sequence_start.tag;
        const yaml_char_t *anchor = is_mapping ? event->data.mapping_start.anchor : event->data.sequence_start.anchor;
        if (tag || anchor)
            return refuse(reader, &event->start_mark, "tags and anchors are not used here");
        value->type = is_mapping ? JSON_OBJECT : JSON_ARRAY;
        status = read_children(reader, value, depth);
    }
    if (status == AS_OK)
        *ret = value;
    return status;
}

/* Expects an event of a type and drops it. */
static as_status expect_event(struct yaml_reader *reader, yaml_event_type_t type, const char *why)
{
    yaml_event_t event;
    as_status status = next_event(reader, &event);
    if (status != AS_OK)
        return status;
    if (event.type != type)
        status = refuse(reader, &event.start_mark, why);
    yaml_event_delete(&event);
    return status;
}

static as_status read_stream(struct yaml_reader *reader, struct json_value **ret)
{
    yaml_event_t event;
    as_status status = expect_event(reader, YAML_STREAM_START_EVENT, "is not YAML");
    if (status == AS_OK)
        status = next_event(reader, &event);
    if (status != AS_OK)
        return status;
    if (event.type == YAML_STREAM_END_EVENT) {
        yaml_event_delete(&event);
        struct json_value *value = arena_calloc(reader->arena, 1, sizeof *value);
        if (value)
            *ret = value;
        return value ? AS_OK : no_memory(reader);
    }
    yaml_event_delete(&event);
    struct json_value *root = NULL;
    status = next_event(reader, &event);
    if (status == AS_OK) {
        status = read_node(reader, &event, 1, &root);
        yaml_event_delete(&event);
    }
    if (status == AS_OK)
        status = expect_event(reader, YAML_DOCUMENT_END_EVENT, "is not YAML");
    if (status == AS_OK)
        status = expect_event(reader, YAML_STREAM_END_EVENT, "holds more than one document");
    if (status == AS_OK)
        *ret = root;
    return status;
}

as_status yaml_parse(const char *text, size_t len, struct arena *arena, const struct json_value **ret,
                     struct as_error *err)
{
    struct yaml_reader reader = {.arena = arena, .err = err};
    if (!yaml_parser_initialize(&reader.parser))
        return no_memory(&reader);
    yaml_parser_set_encoding(&reader.parser, YAML_UTF8_ENCODING);
    yaml_parser_set_input_string(&reader.parser, (const unsigned char *)text, len);
    struct json_value *root = NULL;
    as_status status = read_stream(&reader, &root);
    yaml_parser_delete(&reader.parser);
    if (status == AS_OK)
        *ret = root;
    return status;
}

size_t yaml_line(const char *text, size_t len, const struct json_value *value)
{
    /* libyaml counts characters, not bytes: continuation bytes of UTF-8 are not counted */
    size_t line = 1, characters = 0;
    for (size_t i = 0; i < len; i++) {
        if (((unsigned char)text[i] & 0xc0) != 0x80 && characters++ >= (size_t)value->offset)
            break;
        line += text[i] == '\n';
    }
    return line;
}
