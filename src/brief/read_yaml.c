/* SPDX-License-Identifier: Apache-2.0 */
#include "brief/reader.h"
#include "brief/scalar.h"

#include <string.h>
#include <yaml.h>

#define ANCHORS_MAX 4096
#define TAG_PREFIX  "tag:yaml.org,2002:"

struct anchor {
    char *name;
    struct value *value; /* NULL inside a skipped part */
    struct anchor *next;
};

struct yaml_reader {
    yaml_parser_t parser;
    struct source *source;
    struct builder *builder;
    struct as_error *err;
    as_status status;
    bool is_over;
    size_t documents;
    size_t skip_depth;                     /* open containers of a skipped part */
    bool is_skipping;                      /* the next value, or those open, are skipped */
    size_t depth;                          /* open containers, skipped ones included */
    bool awaits_value[READ_DEPTH_MAX + 1]; /* by builder depth: a key was read */
    bool has_merge[READ_DEPTH_MAX + 1];
    struct anchor *anchors;
    size_t anchor_count;
    size_t alias_nodes;
    size_t given_bytes;
    const char *piece;
    size_t piece_left;
};

static int feed(void *context, unsigned char *buffer, size_t size, size_t *ret_len)
{
    struct yaml_reader *reader = context;
    if (reader->piece_left == 0)
        reader->piece_left = source_next(reader->source, &reader->piece);
    size_t len = reader->piece_left < size ? reader->piece_left : size;
    reader->given_bytes += len;
    if (reader->source->status != AS_OK || reader->given_bytes > READ_YAML_BYTES_MAX)
        return 0;
    if (len > 0)
        memcpy(buffer, reader->piece, len);
    reader->piece += len;
    reader->piece_left -= len;
    *ret_len = len;
    return 1;
}

static void fail(struct yaml_reader *reader, const yaml_mark_t *mark, as_status status, const char *sentence)
{
    if (reader->status != AS_OK)
        return;
    int64_t line = (int64_t)mark->line + 1, column = (int64_t)mark->column + 1;
    reader->status = error_set_at(reader->err, status, line, (int64_t)mark->index, "%s at line %lld, column %lld",
                                  sentence, (long long)line, (long long)column);
    if (reader->err)
        reader->err->column = column;
}

static void remember(struct yaml_reader *reader, const yaml_mark_t *mark, const yaml_char_t *name, struct value *value)
{
    struct arena *arena = &reader->builder->tree->arena;
    if (!name)
        return;
    struct anchor *anchor = arena_alloc(arena, sizeof *anchor);
    if (!anchor || ++reader->anchor_count > ANCHORS_MAX) {
        fail(reader, mark, AS_E_LIMIT, "too many YAML anchors");
        return;
    }
    anchor->name = arena_strdup(arena, (const char *)name);
    anchor->value = value;
    anchor->next = reader->anchors;
    if (anchor->name)
        reader->anchors = anchor;
    else
        reader->builder->tree->failed = true;
}

static bool is_open(const struct builder *builder, const struct value *value)
{
    for (size_t i = 1; i <= builder->depth; i++)
        if (builder->open[i] == value)
            return true;
    return false;
}

/* A copy of what the alias names, unless the copies together grow too large. */
static struct value *alias_value(struct yaml_reader *reader, const yaml_event_t *event)
{
    struct tree *tree = reader->builder->tree;
    const char *name = (const char *)event->data.alias.anchor;
    const struct anchor *anchor = reader->anchors;
    while (anchor && strcmp(anchor->name, name) != 0)
        anchor = anchor->next;
    if (!anchor || is_open(reader->builder, anchor->value)) {
        fail(reader, &event->start_mark, AS_E_INVALID,
             anchor ? "YAML alias inside what it names" : "YAML alias without an anchor");
        return NULL;
    }
    if (!anchor->value)
        return value_null(tree);
    size_t max = tree->arena.max_bytes, used = tree->arena.used_bytes, before = tree->nodes;
    size_t allowed = used + (READ_ALIAS_NODES_MAX - reader->alias_nodes) * sizeof(struct value);
    if (max == 0 || allowed < max)
        tree->arena.max_bytes = allowed;
    struct value *copy = value_copy(tree, anchor->value);
    tree->arena.max_bytes = max;
    reader->alias_nodes += tree->nodes - before;
    if (tree->failed)
        fail(reader, &event->start_mark, AS_E_LIMIT, "YAML aliases stand for too much");
    return copy;
}

static struct value *tagged_value(struct yaml_reader *reader, const yaml_event_t *event, const char *text, size_t len)
{
    static const struct {
        const char *name;
        enum value_type type;
    } tags[] = {{"null", VALUE_NULL},
                {"bool", VALUE_BOOL},
                {"int", VALUE_INT},
                {"float", VALUE_FLOAT},
                {"timestamp", VALUE_TIME}};
    const char *tag = (const char *)event->data.scalar.tag;
    struct tree *tree = reader->builder->tree;
    double number;
    if (strcmp(tag, "!") == 0 || strcmp(tag, TAG_PREFIX "str") == 0)
        return value_textn(tree, text, len);
    if (strncmp(tag, TAG_PREFIX, strlen(TAG_PREFIX)) == 0) {
        for (size_t i = 0; i < sizeof tags / sizeof tags[0]; i++) {
            if (strcmp(tag + strlen(TAG_PREFIX), tags[i].name) != 0)
                continue;
            struct value *value = scalar_resolve(tree, text, len);
            if (value && value->type == tags[i].type)
                return value;
            if (tags[i].type == VALUE_FLOAT && scalar_double(text, len, &number))
                return value_float(tree, number);
            break;
        }
    }
    fail(reader, &event->start_mark, AS_E_INVALID, "YAML tag that is not supported or does not fit its value");
    return NULL;
}

static struct value *scalar_value(struct yaml_reader *reader, const yaml_event_t *event)
{
    const char *text = (const char *)event->data.scalar.value;
    size_t len = event->data.scalar.length;
    if (event->data.scalar.tag)
        return tagged_value(reader, event, text, len);
    if (event->data.scalar.style == YAML_PLAIN_SCALAR_STYLE)
        return scalar_resolve(reader->builder->tree, text, len);
    return value_textn(reader->builder->tree, text, len);
}

static bool expects_key(const struct yaml_reader *reader)
{
    const struct builder *builder = reader->builder;
    return builder->depth > 0 && builder->open[builder->depth]->type == VALUE_MAP &&
           !reader->awaits_value[builder->depth];
}

static void take_key(struct yaml_reader *reader, const yaml_event_t *event)
{
    struct builder *builder = reader->builder;
    if (event->type != YAML_SCALAR_EVENT) {
        fail(reader, &event->start_mark, AS_E_INVALID, "a key that is not a plain text or number");
        return;
    }
    const char *text = (const char *)event->data.scalar.value;
    bool is_plain = event->data.scalar.style == YAML_PLAIN_SCALAR_STYLE;
    if (is_plain && strcmp(text, "<<") == 0)
        reader->has_merge[builder->depth] = true;
    reader->awaits_value[builder->depth] = true;
    reader->is_skipping = builder_key(builder, text, event->data.scalar.length);
    remember(reader, &event->start_mark, event->data.scalar.anchor,
             value_textn(builder->tree, text, event->data.scalar.length));
}

/* Members of `from` that `map` has not. */
static void merge_missing(struct tree *tree, struct value *map, const struct value *from)
{
    if (!value_is(from, VALUE_MAP))
        return;
    for (const struct value *member = from->first; member; member = member->next)
        if (!value_get(map, member->key))
            value_putn(map, member->key, member->key_len, value_share(tree, member));
}

static void resolve_merge(struct tree *tree, struct value *map)
{
    const struct value *merged = value_get(map, "<<");
    value_remove(map, "<<");
    if (!value_is(merged, VALUE_LIST)) {
        merge_missing(tree, map, merged);
        return;
    }
    for (const struct value *item = merged->first; item; item = item->next)
        merge_missing(tree, map, item);
}

static void close_container(struct yaml_reader *reader)
{
    struct builder *builder = reader->builder;
    struct value *closed = builder->open[builder->depth];
    bool has_merge = reader->has_merge[builder->depth];
    builder_close(builder);
    if (has_merge)
        resolve_merge(builder->tree, closed);
    if (builder->depth > 0)
        reader->awaits_value[builder->depth] = false;
}

/* Events of a part that is not kept. */
static void skip_event(struct yaml_reader *reader, const yaml_event_t *event)
{
    bool opens = event->type == YAML_SEQUENCE_START_EVENT || event->type == YAML_MAPPING_START_EVENT;
    if (event->type == YAML_SCALAR_EVENT)
        remember(reader, &event->start_mark, event->data.scalar.anchor, NULL);
    reader->skip_depth += opens;
    if (!opens && event->type != YAML_SCALAR_EVENT && event->type != YAML_ALIAS_EVENT)
        reader->skip_depth--;
    if (reader->skip_depth == 0) {
        reader->is_skipping = false;
        reader->awaits_value[reader->builder->depth] = false;
    }
}

static void open_container(struct yaml_reader *reader, const yaml_event_t *event)
{
    struct builder *builder = reader->builder;
    bool is_map = event->type == YAML_MAPPING_START_EVENT;
    const yaml_char_t *anchor = is_map ? event->data.mapping_start.anchor : event->data.sequence_start.anchor;
    const char *tag = (const char *)(is_map ? event->data.mapping_start.tag : event->data.sequence_start.tag);
    if (tag && strcmp(tag, "!") != 0 && strcmp(tag, is_map ? TAG_PREFIX "map" : TAG_PREFIX "seq") != 0) {
        fail(reader, &event->start_mark, AS_E_INVALID, "YAML tag that is not supported");
        return;
    }
    struct value *value = is_map ? value_map(builder->tree) : value_list(builder->tree);
    if (!value)
        return;
    builder_value(builder, value, (uint32_t)event->start_mark.line + 1);
    reader->awaits_value[builder->depth] = false;
    reader->has_merge[builder->depth] = false;
    remember(reader, &event->start_mark, anchor, value);
}

static void take_value(struct yaml_reader *reader, const yaml_event_t *event)
{
    struct builder *builder = reader->builder;
    if (event->type == YAML_SEQUENCE_START_EVENT || event->type == YAML_MAPPING_START_EVENT) {
        open_container(reader, event);
        return;
    }
    bool is_alias = event->type == YAML_ALIAS_EVENT;
    struct value *value = is_alias ? alias_value(reader, event) : scalar_value(reader, event);
    if (!value)
        return;
    size_t depth = builder->depth;
    builder_value(builder, value, (uint32_t)event->start_mark.line + 1);
    builder->depth = depth; /* an alias of a container is complete */
    reader->awaits_value[depth] = false;
    if (!is_alias)
        remember(reader, &event->start_mark, event->data.scalar.anchor, value);
}

static void take_content(struct yaml_reader *reader, const yaml_event_t *event)
{
    bool opens = event->type == YAML_SEQUENCE_START_EVENT || event->type == YAML_MAPPING_START_EVENT;
    bool closes = event->type == YAML_SEQUENCE_END_EVENT || event->type == YAML_MAPPING_END_EVENT;
    reader->depth += opens;
    if (reader->depth > READ_DEPTH_MAX) {
        fail(reader, &event->start_mark, AS_E_LIMIT, "YAML nested too deeply");
        return;
    }
    if (closes)
        reader->depth--;
    if (reader->is_skipping)
        skip_event(reader, event);
    else if (closes)
        close_container(reader);
    else if (expects_key(reader))
        take_key(reader, event);
    else
        take_value(reader, event);
}

static void take_event(struct yaml_reader *reader, const yaml_event_t *event)
{
    switch (event->type) {
    case YAML_STREAM_END_EVENT:
        reader->is_over = true;
        break;
    case YAML_DOCUMENT_START_EVENT:
        if (++reader->documents > 1)
            fail(reader, &event->start_mark, AS_E_INVALID, "more than one YAML document");
        break;
    case YAML_NO_EVENT:
    case YAML_STREAM_START_EVENT:
    case YAML_DOCUMENT_END_EVENT:
        break;
    case YAML_ALIAS_EVENT:
    case YAML_SCALAR_EVENT:
    case YAML_SEQUENCE_START_EVENT:
    case YAML_SEQUENCE_END_EVENT:
    case YAML_MAPPING_START_EVENT:
    case YAML_MAPPING_END_EVENT:
        take_content(reader, event);
        break;
    }
}

static void parser_failed(struct yaml_reader *reader)
{
    const yaml_parser_t *parser = &reader->parser;
    yaml_mark_t mark = parser->problem_mark;
    if (reader->source->status != AS_OK)
        reader->status = reader->source->status;
    else if (parser->error == YAML_MEMORY_ERROR)
        reader->status = error_set(reader->err, AS_E_NOMEM, "out of memory");
    else if (reader->given_bytes > READ_YAML_BYTES_MAX)
        reader->status = error_set(reader->err, AS_E_LIMIT, "YAML of more than %zu MiB", READ_YAML_BYTES_MAX >> 20);
    else if (parser->error == YAML_READER_ERROR)
        reader->status =
            error_set_at(reader->err, AS_E_INVALID, 0, (int64_t)parser->problem_offset, "no valid YAML: %s at byte %zu",
                         parser->problem ? parser->problem : "bad character", parser->problem_offset);
    else
        fail(reader, &mark, AS_E_INVALID, parser->problem ? parser->problem : "no valid YAML");
}

as_status read_yaml(struct source *source, struct builder *builder, struct as_error *err)
{
    struct yaml_reader *reader = arena_calloc(&builder->tree->arena, 1, sizeof *reader);
    if (!reader || !yaml_parser_initialize(&reader->parser))
        return error_set(err, AS_E_NOMEM, "out of memory");
    reader->source = source;
    reader->builder = builder;
    reader->err = err;
    yaml_parser_set_input(&reader->parser, feed, reader);
    while (!reader->is_over && reader->status == AS_OK && !builder->tree->failed) {
        yaml_event_t event;
        if (!yaml_parser_parse(&reader->parser, &event)) {
            parser_failed(reader);
            break;
        }
        take_event(reader, &event);
        yaml_event_delete(&event);
    }
    yaml_parser_delete(&reader->parser);
    return reader->status;
}
