/* SPDX-License-Identifier: Apache-2.0 */
#include "base/json.h"
#include "base/json_stream.h"

#include <string.h>

/* An open array or object while its children are read. */
struct tree_frame {
    struct json_value *container;
    const struct json_value **tail; /* where the next child's address goes */
    struct tree_frame *outer;
};

struct tree_builder {
    struct arena *arena;
    const struct json_value *root;
    struct tree_frame *top;
    struct tree_frame *spare; /* closed ones */
    const char *key;          /* of the member that is read */
    size_t key_len;
    as_status status;
};

static void *builder_alloc(struct tree_builder *builder, size_t bytes)
{
    void *at = arena_alloc(builder->arena, bytes);
    if (!at) {
        const struct arena *arena = builder->arena;
        bool is_limit = arena->max_bytes && bytes + sizeof(max_align_t) > arena->max_bytes - arena->used_bytes;
        builder->status = is_limit ? AS_E_LIMIT : AS_E_NOMEM;
    }
    return at;
}

static const char *builder_text(struct tree_builder *builder, const struct json_span *span)
{
    char *copy = builder_alloc(builder, span->len + 1);
    if (copy) {
        memcpy(copy, span->text, span->len);
        copy[span->len] = '\0';
    }
    return copy;
}

/* A new value in its place in the tree, or NULL. */
static struct json_value *builder_add(struct tree_builder *builder, enum json_type type, int64_t offset)
{
    struct json_value *value = builder_alloc(builder, sizeof *value);
    if (!value)
        return NULL;
    *value = (struct json_value){.type = type, .offset = offset, .key = builder->key, .key_len = builder->key_len};
    builder->key = NULL;
    builder->key_len = 0;
    struct tree_frame *top = builder->top;
    if (!top) {
        builder->root = value;
        return value;
    }
    *top->tail = value;
    top->tail = &value->next;
    top->container->len++;
    return value;
}

static void builder_open(struct tree_builder *builder, enum json_type type, int64_t offset)
{
    struct json_value *value = builder_add(builder, type, offset);
    struct tree_frame *frame = builder->spare;
    if (frame)
        builder->spare = frame->outer;
    else if (value)
        frame = builder_alloc(builder, sizeof *frame);
    if (!value || !frame)
        return;
    *frame = (struct tree_frame){.container = value, .tail = &value->first, .outer = builder->top};
    builder->top = frame;
}

static void builder_close(struct tree_builder *builder)
{
    struct tree_frame *frame = builder->top;
    if (!frame) /* no memory when it was opened */
        return;
    builder->top = frame->outer;
    frame->outer = builder->spare;
    builder->spare = frame;
}

static void builder_text_value(struct tree_builder *builder, enum json_type type, const struct json_span *span)
{
    struct json_value *value = builder_add(builder, type, span->offset);
    if (!value)
        return;
    value->text = builder_text(builder, span);
    value->len = span->len;
}

static void builder_take(struct tree_builder *builder, enum json_token token, const struct json_span *span)
{
    struct json_value *value;
    switch (token) {
    case JSON_TOKEN_OBJECT:
        builder_open(builder, JSON_OBJECT, span->offset);
        return;
    case JSON_TOKEN_ARRAY:
        builder_open(builder, JSON_ARRAY, span->offset);
        return;
    case JSON_TOKEN_OBJECT_END:
    case JSON_TOKEN_ARRAY_END:
        builder_close(builder);
        return;
    case JSON_TOKEN_KEY:
        builder->key = builder_text(builder, span);
        builder->key_len = span->len;
        return;
    case JSON_TOKEN_STRING:
        builder_text_value(builder, JSON_STRING, span);
        return;
    case JSON_TOKEN_NUMBER:
        builder_text_value(builder, JSON_NUMBER, span);
        return;
    case JSON_TOKEN_BOOL:
        value = builder_add(builder, JSON_BOOL, span->offset);
        if (value)
            value->boolean = span->boolean;
        return;
    case JSON_TOKEN_NULL:
        (void)builder_add(builder, JSON_NULL, span->offset);
        return;
    case JSON_TOKEN_MORE:
    case JSON_TOKEN_BAD:
    case JSON_TOKEN_END:
        return;
    }
}

/* Feeds tokens to the builder; what ended it: MORE, END, BAD, or a value token when the builder failed. */
static enum json_token build(struct json_stream *stream, struct tree_builder *builder, const char *text, size_t len)
{
    const char *at = text, *end = text + len;
    struct json_span span = {0};
    enum json_token token;
    while ((token = json_stream_next(stream, &at, end, &span)) > JSON_TOKEN_END && builder->status == AS_OK)
        builder_take(builder, token, &span);
    if (token != JSON_TOKEN_MORE)
        return token;
    while ((token = json_stream_finish(stream, &span)) > JSON_TOKEN_END && builder->status == AS_OK)
        builder_take(builder, token, &span);
    return token;
}

as_status json_parse(const char *text, size_t len, const struct json_limits *limits, struct arena *arena,
                     const struct json_value **ret, struct as_error *err)
{
    struct json_stream stream;
    json_stream_init(&stream, limits, false);
    struct tree_builder builder = {.arena = arena};
    enum json_token token = build(&stream, &builder, len ? text : "", len);
    as_status status = AS_OK;
    if (builder.status != AS_OK)
        status =
            error_set(err, builder.status, "the JSON text needs too much memory: %s", status_sentence(builder.status));
    else if (token == JSON_TOKEN_BAD)
        status = json_stream_error(&stream, err);
    else
        *ret = builder.root;
    json_stream_done(&stream);
    return status;
}

bool json_cursor_validate(const char *text, size_t len, const struct json_limits *limits)
{
    struct json_stream stream;
    json_stream_init(&stream, limits, false);
    json_stream_skip(&stream);
    const char *at = len ? text : "";
    struct json_span span;
    return json_stream_next(&stream, &at, at + len, &span) == JSON_TOKEN_MORE &&
           json_stream_finish(&stream, &span) == JSON_TOKEN_END;
}

static const struct json_value *get_member(const struct json_value *object, const char *key, size_t len)
{
    if (!object || object->type != JSON_OBJECT)
        return NULL;
    const struct json_value *found = NULL;
    for (const struct json_value *member = object->first; member; member = member->next) {
        if (member->key_len == len && memcmp(member->key, key, len) == 0)
            found = member;
    }
    return found;
}

as_status json_parse_line(const char *line, size_t len, struct arena *arena, const struct json_value **ret,
                          struct as_error *err)
{
    as_status status = json_parse(line, len, NULL, arena, ret, err);
    if (status == AS_OK || status == AS_E_NOMEM)
        return status;
    const char *at = err ? strstr(err->message, "column ") : NULL;
    if (at && strncmp(err->message, "line ", 5) == 0)
        memmove(err->message, at, strlen(at) + 1);
    if (err)
        err->status = AS_E_INVALID;
    return AS_E_INVALID;
}

const struct json_value *json_get(const struct json_value *object, const char *key)
{
    return get_member(object, key, strlen(key));
}

const struct json_value *json_path(const struct json_value *root, const char *path)
{
    const struct json_value *at = root;
    for (;;) {
        size_t len = strcspn(path, ".");
        at = get_member(at, path, len);
        if (!at || path[len] == '\0')
            return at;
        path += len + 1;
    }
}

bool json_string(const struct json_value *value, const char **ret)
{
    if (!value || value->type != JSON_STRING)
        return false;
    *ret = value->text;
    return true;
}

bool json_bool(const struct json_value *value, bool *ret)
{
    if (!value || value->type != JSON_BOOL)
        return false;
    *ret = value->boolean;
    return true;
}

bool json_int64(const struct json_value *value, int64_t *ret)
{
    return value && value->type == JSON_NUMBER && json_text_int64(value->text, value->len, ret);
}

bool json_double(const struct json_value *value, double *ret)
{
    return value && value->type == JSON_NUMBER && json_text_double(value->text, value->len, ret);
}

bool json_is_null(const struct json_value *value)
{
    return value && value->type == JSON_NULL;
}

const char *json_type_name(enum json_type type)
{
    static const char *const names[] = {"null", "boolean", "number", "string", "array", "object"};
    size_t index = (size_t)type;
    return index < sizeof names / sizeof names[0] ? names[index] : "nothing";
}
