/* SPDX-License-Identifier: Apache-2.0 */
#include "base/json_stream.h"
#include "brief/reader.h"
#include "brief/scalar.h"

#include <math.h>
#include <string.h>

static struct value *number_value(struct tree *tree, const struct json_span *span)
{
    double number;
    if (!memchr(span->text, '.', span->len) && !memchr(span->text, 'e', span->len) && !memchr(span->text, 'E', span->len))
        return span->len < 400 ? scalar_integer(tree, span->text, span->len)
                               : value_float(tree, span->text[0] == '-' ? -(double)INFINITY : (double)INFINITY);
    if (!json_text_double(span->text, span->len, &number))
        number = span->text[0] == '-' ? -(double)INFINITY : (double)INFINITY;
    return value_float(tree, number);
}

static struct value *token_value(struct tree *tree, enum json_token token, const struct json_span *span)
{
    switch (token) {
    case JSON_TOKEN_OBJECT:
        return value_map(tree);
    case JSON_TOKEN_ARRAY:
        return value_list(tree);
    case JSON_TOKEN_STRING:
        return value_textn(tree, span->text, span->len);
    case JSON_TOKEN_NUMBER:
        return number_value(tree, span);
    case JSON_TOKEN_BOOL:
        return value_bool(tree, span->boolean);
    case JSON_TOKEN_NULL:
        return value_null(tree);
    case JSON_TOKEN_MORE:
    case JSON_TOKEN_BAD:
    case JSON_TOKEN_END:
    case JSON_TOKEN_OBJECT_END:
    case JSON_TOKEN_ARRAY_END:
    case JSON_TOKEN_KEY:
        break;
    }
    return NULL;
}

static void use_token(struct json_stream *stream, struct builder *builder, enum json_token token, const struct json_span *span)
{
    uint32_t line = stream->line < UINT32_MAX ? (uint32_t)stream->line : UINT32_MAX;
    if (token == JSON_TOKEN_KEY) {
        if (builder_key(builder, span->text, span->len))
            json_stream_skip(stream);
    } else if (token == JSON_TOKEN_OBJECT_END || token == JSON_TOKEN_ARRAY_END) {
        builder_close(builder);
    } else {
        builder_value(builder, token_value(builder->tree, token, span), line);
    }
}

as_status read_json(struct source *source, struct builder *builder, struct as_error *err)
{
    const struct json_limits limits = {.max_depth = READ_DEPTH_MAX, .max_string_bytes = READ_TEXT_BYTES_MAX};
    struct json_stream stream;
    struct json_span span;
    enum json_token token = JSON_TOKEN_MORE;
    const char *piece;
    size_t len;
    json_stream_init(&stream, &limits, false);
    while (token != JSON_TOKEN_BAD && !builder->tree->failed && (len = source_next(source, &piece)) > 0) {
        const char *at = piece;
        while (!builder->tree->failed && (token = json_stream_next(&stream, &at, piece + len, &span)) > JSON_TOKEN_END)
            use_token(&stream, builder, token, &span);
    }
    if (token != JSON_TOKEN_BAD && !builder->tree->failed && source->status == AS_OK)
        while ((token = json_stream_finish(&stream, &span)) > JSON_TOKEN_END)
            use_token(&stream, builder, token, &span);
    as_status status = token == JSON_TOKEN_BAD ? json_stream_error(&stream, err) : AS_OK;
    json_stream_done(&stream);
    return status;
}
