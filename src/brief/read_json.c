/* SPDX-License-Identifier: Apache-2.0 */
#include "base/json_stream.h"
#include "brief/reader.h"
#include "brief/scalar.h"

#include <math.h>
#include <string.h>

static struct value *number_value(struct tree *tree, const struct json_span *span)
{
    double number;
    if (!memchr(span->text, '.', span->len) && !memchr(span->text, 'e', span->len) &&
        !memchr(span->text, 'E', span->len))
        return span->len < 400 ? scalar_integer(tree, span->text, span->len)
                               : value_float(tree, span->text[0] == '-' ? -(double)INFINITY : (double)INFINITY);
    if (!json_text_double(span->text, span->len, &number))
        number = span->text[0] == '-' ? -(double)INFINITY : (double)INFINITY;
    return value_float(tree, number);
}

/* A text, or the number that word_filter_feed put it for. */
static struct value *string_value(struct tree *tree, const struct json_span *span)
{
    if (span->len < 3 || span->text[0] != '\0' || span->text[1] != '\1')
        return value_textn(tree, span->text, span->len);
    return value_float(tree, span->text[2] == 'N'   ? (double)NAN
                             : span->text[2] == '-' ? -(double)INFINITY
                                                    : (double)INFINITY);
}

static struct value *token_value(struct tree *tree, enum json_token token, const struct json_span *span,
                                 bool with_words)
{
    switch (token) {
    case JSON_TOKEN_OBJECT:
        return value_map(tree);
    case JSON_TOKEN_ARRAY:
        return value_list(tree);
    case JSON_TOKEN_STRING:
        return with_words ? string_value(tree, span) : value_textn(tree, span->text, span->len);
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

struct json_reader {
    struct json_stream stream;
    struct builder *builder;
    struct word_filter filter;
    bool with_words;
    enum json_token token; /* the latest */
};

static void use_token(struct json_reader *reader, const struct json_span *span)
{
    struct json_stream *stream = &reader->stream;
    struct builder *builder = reader->builder;
    uint32_t line = stream->line < UINT32_MAX ? (uint32_t)stream->line : UINT32_MAX;
    if (reader->token == JSON_TOKEN_KEY) {
        if (builder_key(builder, span->text, span->len))
            json_stream_skip(stream);
    } else if (reader->token == JSON_TOKEN_OBJECT_END || reader->token == JSON_TOKEN_ARRAY_END) {
        builder_close(builder);
    } else {
        builder_value(builder, token_value(builder->tree, reader->token, span, reader->with_words), line);
        if (builder->is_skipped_item && (reader->token == JSON_TOKEN_OBJECT || reader->token == JSON_TOKEN_ARRAY)) {
            json_stream_skip(stream);
            builder_close(builder);
        }
    }
}

static void use_piece(struct json_reader *reader, const char *piece, size_t len)
{
    struct json_span span;
    if (reader->with_words) {
        word_filter_feed(&reader->filter, piece, len);
        piece = strbuf_text(&reader->filter.out);
        len = reader->filter.out.len;
        if (strbuf_status(&reader->filter.out) != AS_OK)
            reader->builder->rest->failed = true;
    }
    const char *at = piece;
    while (!builder_has_failed(reader->builder) &&
           (reader->token = json_stream_next(&reader->stream, &at, piece + len, &span)) > JSON_TOKEN_END)
        use_token(reader, &span);
}

as_status read_json(struct source *source, bool with_words, struct builder *builder, struct as_error *err)
{
    const struct json_limits limits = {.max_depth = READ_DEPTH_MAX, .max_string_bytes = READ_TEXT_BYTES_MAX};
    struct json_reader reader = {.builder = builder, .with_words = with_words, .token = JSON_TOKEN_MORE};
    struct json_span span;
    const char *piece;
    size_t len;
    json_stream_init(&reader.stream, &limits, false);
    strbuf_init(&reader.filter.out, 0);
    while (reader.token != JSON_TOKEN_BAD && !builder_has_failed(builder) && (len = source_next(source, &piece)) > 0)
        use_piece(&reader, piece, len);
    bool is_good = reader.token != JSON_TOKEN_BAD && !builder_has_failed(builder) && source->status == AS_OK;
    if (is_good && with_words)
        use_piece(&reader, NULL, 0);
    if (is_good && reader.token != JSON_TOKEN_BAD)
        while ((reader.token = json_stream_finish(&reader.stream, &span)) > JSON_TOKEN_END)
            use_token(&reader, &span);
    as_status status = reader.token == JSON_TOKEN_BAD ? json_stream_error(&reader.stream, err) : AS_OK;
    json_stream_done(&reader.stream);
    strbuf_done(&reader.filter.out);
    return status;
}
