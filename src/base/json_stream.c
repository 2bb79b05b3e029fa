/* SPDX-License-Identifier: Apache-2.0 */
#include "base/json_stream.h"

#include "base/json_stream_steps.h"
#include "base/json_text.h"

#include <string.h>

#define DEPTH_DEFAULT        128
#define STRING_BYTES_DEFAULT ((size_t)64 * 1024 * 1024)

void json_stream_init(struct json_stream *stream, const struct json_limits *limits, bool is_sequence)
{
    *stream = (struct json_stream){.is_sequence = is_sequence, .expect = EXPECT_VALUE, .lex = LEX_BETWEEN, .line = 1};
    if (limits)
        stream->limits = *limits;
    if (stream->limits.max_depth == 0)
        stream->limits.max_depth = DEPTH_DEFAULT;
    if (stream->limits.max_depth > JSON_DEPTH_MAX)
        stream->limits.max_depth = JSON_DEPTH_MAX;
    if (stream->limits.max_string_bytes == 0)
        stream->limits.max_string_bytes = STRING_BYTES_DEFAULT;
    strbuf_init(&stream->kept, 0);
}

void json_stream_done(struct json_stream *stream)
{
    strbuf_done(&stream->kept);
}

bool json_stream_fail(struct json_stream *stream, struct feed *feed, int64_t offset, const char *reason)
{
    stream->status = AS_E_INVALID;
    stream->reason = reason;
    stream->found = FOUND_UNSAID;
    stream->error_offset = offset;
    feed->token = JSON_TOKEN_BAD;
    return true;
}

bool json_stream_unexpected(struct json_stream *stream, struct feed *feed, const char *reason)
{
    json_stream_fail(stream, feed, json_stream_position(stream, feed->at), reason);
    stream->found = feed->at < feed->end ? (unsigned char)*feed->at : FOUND_END;
    return true;
}

bool json_stream_limit(struct json_stream *stream, struct feed *feed, const char *reason)
{
    json_stream_fail(stream, feed, stream->token_offset, reason);
    stream->status = AS_E_LIMIT;
    return true;
}

static bool in_object(const struct json_stream *stream)
{
    size_t top = stream->depth - 1;
    return stream->object_bits[top / 64] >> (top % 64) & 1;
}

/* A token is complete; true when it is to be given out. */
static bool token_emit(struct json_stream *stream, struct feed *feed, enum json_token token)
{
    if (stream->is_skipping)
        return false;
    feed->token = token;
    feed->span->offset = stream->token_offset;
    return true;
}

bool json_value_done(struct json_stream *stream, struct feed *feed, enum json_token token)
{
    bool emitted = token_emit(stream, feed, token);
    if (stream->is_skipping && stream->depth == stream->skip_depth)
        stream->is_skipping = false;
    if (stream->depth > 0)
        stream->expect = EXPECT_COMMA_OR_END;
    else
        stream->expect = stream->is_sequence ? EXPECT_SPACE : EXPECT_NOTHING;
    stream->lex = LEX_BETWEEN;
    return emitted;
}

static bool container_open(struct json_stream *stream, struct feed *feed, bool is_object)
{
    if (stream->depth == stream->limits.max_depth)
        return json_stream_limit(stream, feed, "arrays and objects are nested too deep");
    uint64_t bit = UINT64_C(1) << (stream->depth % 64);
    uint64_t *word = &stream->object_bits[stream->depth / 64];
    *word = is_object ? *word | bit : *word & ~bit;
    stream->depth++;
    feed->at++;
    stream->expect = is_object ? EXPECT_KEY_OR_END : EXPECT_ITEM_OR_END;
    return token_emit(stream, feed, is_object ? JSON_TOKEN_OBJECT : JSON_TOKEN_ARRAY);
}

static bool container_close(struct json_stream *stream, struct feed *feed)
{
    bool is_object = in_object(stream);
    feed->at++;
    stream->depth--;
    return json_value_done(stream, feed, is_object ? JSON_TOKEN_OBJECT_END : JSON_TOKEN_ARRAY_END);
}

bool json_key_done(struct json_stream *stream, struct feed *feed)
{
    stream->lex = LEX_BETWEEN;
    stream->expect = EXPECT_COLON;
    return token_emit(stream, feed, JSON_TOKEN_KEY);
}

static bool word_begin(struct json_stream *stream, const char *word)
{
    stream->word = word;
    stream->word_at = 0;
    stream->lex = LEX_WORD;
    return false;
}

static bool word_step(struct json_stream *stream, struct feed *feed)
{
    for (; stream->word[stream->word_at] != '\0'; stream->word_at++, feed->at++) {
        if (feed->at == feed->end)
            return json_feed_more(feed);
        if (*feed->at != stream->word[stream->word_at])
            return json_stream_unexpected(stream, feed, "expected true, false or null");
    }
    feed->span->boolean = stream->word[0] == 't';
    return json_value_done(stream, feed, stream->word[0] == 'n' ? JSON_TOKEN_NULL : JSON_TOKEN_BOOL);
}

static bool value_begin(struct json_stream *stream, struct feed *feed)
{
    char c = *feed->at;
    switch (c) {
    case '{':
        return container_open(stream, feed, true);
    case '[':
        return container_open(stream, feed, false);
    case '"':
        return json_string_begin(stream, feed, false);
    case 't':
        return word_begin(stream, "true");
    case 'f':
        return word_begin(stream, "false");
    case 'n':
        return word_begin(stream, "null");
    default:
        break;
    }
    if (c != '-' && !json_is_digit(c))
        return json_stream_unexpected(stream, feed, "expected a value");
    return json_number_begin(stream);
}

static bool comma_or_end(struct json_stream *stream, struct feed *feed)
{
    bool is_object = in_object(stream);
    if (*feed->at == (is_object ? '}' : ']'))
        return container_close(stream, feed);
    if (*feed->at != ',')
        return json_stream_unexpected(stream, feed, is_object ? "expected \",\" or \"}\"" : "expected \",\" or \"]\"");
    feed->at++;
    stream->expect = is_object ? EXPECT_KEY : EXPECT_VALUE;
    return false;
}

static void skip_space(struct json_stream *stream, struct feed *feed)
{
    for (; feed->at < feed->end && json_is_space(*feed->at); feed->at++) {
        if (*feed->at == '\n') {
            stream->line++;
            stream->line_offset = json_stream_position(stream, feed->at) + 1;
        }
        if (stream->expect == EXPECT_SPACE)
            stream->expect = EXPECT_VALUE;
    }
}

static bool between_step(struct json_stream *stream, struct feed *feed)
{
    skip_space(stream, feed);
    if (feed->at == feed->end)
        return json_feed_more(feed);
    stream->token_offset = json_stream_position(stream, feed->at);
    char c = *feed->at;
    switch ((enum expect)stream->expect) {
    case EXPECT_ITEM_OR_END:
        return c == ']' ? container_close(stream, feed) : value_begin(stream, feed);
    case EXPECT_VALUE:
        return value_begin(stream, feed);
    case EXPECT_KEY_OR_END:
        if (c == '}')
            return container_close(stream, feed);
        if (c != '"')
            return json_stream_unexpected(stream, feed, "expected a key in quotes or \"}\"");
        return json_string_begin(stream, feed, true);
    case EXPECT_KEY:
        return c == '"' ? json_string_begin(stream, feed, true)
                        : json_stream_unexpected(stream, feed, "expected a key in quotes");
    case EXPECT_COLON:
        if (c != ':')
            return json_stream_unexpected(stream, feed, "expected \":\" after the key");
        feed->at++;
        stream->expect = EXPECT_VALUE;
        return false;
    case EXPECT_COMMA_OR_END:
        return comma_or_end(stream, feed);
    case EXPECT_SPACE:
        return json_stream_unexpected(stream, feed, "expected white space between two values");
    case EXPECT_NOTHING:
        break;
    }
    return json_stream_unexpected(stream, feed, "expected the end after the value");
}

static bool stream_step(struct json_stream *stream, struct feed *feed)
{
    switch ((enum lex)stream->lex) {
    case LEX_BETWEEN:
        return between_step(stream, feed);
    case LEX_STRING:
        return json_string_step(stream, feed);
    case LEX_ESCAPE:
        return json_escape_step(stream, feed);
    case LEX_HEX:
        return json_hex_step(stream, feed);
    case LEX_UTF8:
        return json_utf8_step(stream, feed);
    case LEX_NUMBER:
        return json_number_step(stream, feed);
    case LEX_WORD:
        return word_step(stream, feed);
    }
    return json_stream_fail(stream, feed, json_stream_position(stream, feed->at), "the reader was not initialised");
}

enum json_token json_stream_next(struct json_stream *stream, const char **at, const char *end, struct json_span *ret)
{
    if (stream->status != AS_OK)
        return JSON_TOKEN_BAD;
    struct feed feed = {.at = *at, .end = end, .span = ret};
    stream->piece = *at;
    while (!stream_step(stream, &feed))
        continue;
    stream->offset = json_stream_position(stream, feed.at);
    stream->piece = feed.at;
    *at = feed.at;
    return feed.token;
}

static bool is_complete(const struct json_stream *stream)
{
    if (stream->depth > 0 || stream->lex != LEX_BETWEEN)
        return false;
    return stream->expect == EXPECT_NOTHING || stream->is_sequence;
}

static const char *expected_at_end(const struct json_stream *stream)
{
    switch ((enum lex)stream->lex) {
    case LEX_BETWEEN:
        break;
    case LEX_WORD:
        return "expected true, false or null";
    case LEX_NUMBER:
        if (!json_number_is_whole(stream))
            return "expected a digit";
        break;
    default:
        return "expected the closing quote of a string";
    }
    if (stream->depth == 0)
        return "expected a value";
    return in_object(stream) ? "expected the \"}\" of an object" : "expected the \"]\" of an array";
}

enum json_token json_stream_finish(struct json_stream *stream, struct json_span *ret)
{
    if (stream->status != AS_OK)
        return JSON_TOKEN_BAD;
    struct feed feed = {.at = "", .span = ret};
    feed.end = feed.at;
    stream->piece = feed.at;
    if (stream->lex == LEX_NUMBER && stream->depth == 0 && json_number_done(stream, &feed, feed.at))
        return feed.token;
    if (is_complete(stream))
        return JSON_TOKEN_END;
    json_stream_unexpected(stream, &feed, expected_at_end(stream));
    return JSON_TOKEN_BAD;
}

void json_stream_skip(struct json_stream *stream)
{
    if (stream->status != AS_OK || stream->expect == EXPECT_NOTHING)
        return;
    bool one_value = stream->depth == 0 || stream->expect == EXPECT_COLON;
    stream->skip_depth = one_value ? stream->depth : stream->depth - 1;
    stream->is_skipping = true;
}

as_status json_stream_error(const struct json_stream *stream, struct as_error *err)
{
    if (stream->status == AS_OK)
        return error_set(err, AS_E_INTERNAL, "the JSON reader has no error");
    int64_t column = stream->error_offset - stream->line_offset + 1;
    char found[32] = "";
    if (stream->found == FOUND_END)
        snprintf(found, sizeof found, ", found the end");
    else if (stream->found > 0x20 && stream->found < 0x7F)
        snprintf(found, sizeof found, ", found \"%c\"", stream->found);
    else if (stream->found != FOUND_UNSAID)
        snprintf(found, sizeof found, ", found byte 0x%02X", (unsigned)stream->found);
    error_set_at(err, stream->status, stream->line, stream->error_offset, "line %lld, column %lld: %s%s",
                 (long long)stream->line, (long long)column, stream->reason, found);
    if (err)
        err->column = column;
    return stream->status;
}
