/* SPDX-License-Identifier: Apache-2.0 */
#include "base/json_stream.h"

#include "base/json_text.h"

#include <string.h>

#define DEPTH_DEFAULT        128
#define STRING_BYTES_DEFAULT ((size_t)64 * 1024 * 1024)
#define FOUND_END            (-1)
#define FOUND_UNSAID         (-2)

enum expect {
    EXPECT_VALUE,
    EXPECT_ITEM_OR_END,
    EXPECT_KEY_OR_END,
    EXPECT_KEY,
    EXPECT_COLON,
    EXPECT_COMMA_OR_END,
    EXPECT_SPACE,  /* between the values of a sequence */
    EXPECT_NOTHING /* the one value is complete */
};

enum lex { LEX_BETWEEN, LEX_STRING, LEX_ESCAPE, LEX_HEX, LEX_UTF8, LEX_NUMBER, LEX_WORD };

/* What one call works on; steps move `at` and fill the token. */
struct feed {
    const char *at;
    const char *end;
    enum json_token token;
    struct json_span *span;
};

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

static int64_t position(const struct json_stream *stream, const char *at)
{
    return stream->offset + (at - stream->piece);
}

/*
 * Steps return true when the call has its answer in feed->token, false when reading goes on.
 */
static bool stream_fail(struct json_stream *stream, struct feed *feed, int64_t offset, const char *reason)
{
    stream->status = AS_E_INVALID;
    stream->reason = reason;
    stream->found = FOUND_UNSAID;
    stream->error_offset = offset;
    feed->token = JSON_TOKEN_BAD;
    return true;
}

/* Something else than `reason` names stands at feed->at. */
static bool stream_unexpected(struct json_stream *stream, struct feed *feed, const char *reason)
{
    stream_fail(stream, feed, position(stream, feed->at), reason);
    stream->found = feed->at < feed->end ? (unsigned char)*feed->at : FOUND_END;
    return true;
}

static bool stream_limit(struct json_stream *stream, struct feed *feed, const char *reason)
{
    stream_fail(stream, feed, stream->token_offset, reason);
    stream->status = AS_E_LIMIT;
    return true;
}

static bool feed_more(struct feed *feed)
{
    feed->token = JSON_TOKEN_MORE;
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

static bool value_done(struct json_stream *stream, struct feed *feed, enum json_token token)
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
        return stream_limit(stream, feed, "arrays and objects are nested too deep");
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
    return value_done(stream, feed, is_object ? JSON_TOKEN_OBJECT_END : JSON_TOKEN_ARRAY_END);
}

/* Strings and numbers: their text is given in place when it lies in one piece as it is, else collected in `kept`. */

static void text_begin(struct json_stream *stream, enum lex lex)
{
    strbuf_reset(&stream->kept);
    stream->text_bytes = 0;
    stream->lex = (uint8_t)lex;
}

static bool text_fits(struct json_stream *stream, size_t len)
{
    stream->text_bytes += len;
    return stream->text_bytes <= stream->limits.max_string_bytes;
}

static bool text_too_long(struct json_stream *stream, struct feed *feed)
{
    return stream_limit(stream, feed, stream->lex == LEX_NUMBER ? "a number is too long" : "a string is too long");
}

/* Collects bytes of the token's text; false when it passes the limit. */
static bool text_keep(struct json_stream *stream, const char *text, size_t len)
{
    if (!text_fits(stream, len))
        return false;
    if (!stream->is_skipping)
        strbuf_add(&stream->kept, text, len);
    return true;
}

/* The token's text is what was kept and then [from, feed->at). */
static bool text_end(struct json_stream *stream, struct feed *feed, const char *from)
{
    size_t len = (size_t)(feed->at - from);
    if (stream->kept.len > 0 && len > 0) {
        if (!text_keep(stream, from, len))
            return text_too_long(stream, feed);
    } else if (!text_fits(stream, len)) {
        return text_too_long(stream, feed);
    }
    if (strbuf_status(&stream->kept) != AS_OK) {
        stream_fail(stream, feed, stream->token_offset, status_sentence(stream->kept.status));
        stream->status = stream->kept.status;
        return true;
    }
    bool is_kept = stream->kept.len > 0;
    feed->span->text = is_kept ? stream->kept.data : from;
    feed->span->len = is_kept ? stream->kept.len : len;
    return false;
}

static bool string_end(struct json_stream *stream, struct feed *feed, const char *from)
{
    if (text_end(stream, feed, from))
        return true;
    feed->at++;
    if (!stream->is_key)
        return value_done(stream, feed, JSON_TOKEN_STRING);
    stream->lex = LEX_BETWEEN;
    stream->expect = EXPECT_COLON;
    return token_emit(stream, feed, JSON_TOKEN_KEY);
}

static bool string_begin(struct json_stream *stream, struct feed *feed, bool is_key)
{
    text_begin(stream, LEX_STRING);
    stream->is_key = is_key;
    stream->high_surrogate = 0;
    feed->at++;
    return false;
}

/* An invalid part of a string: an error, or U+FFFD. False when reading goes on. */
static bool string_invalid(struct json_stream *stream, struct feed *feed, int64_t offset, const char *reason)
{
    if (!stream->limits.lossy)
        return stream_fail(stream, feed, offset, reason);
    if (!text_keep(stream, UTF8_REPLACEMENT, UTF8_REPLACEMENT_BYTES))
        return text_too_long(stream, feed);
    return false;
}

static bool lone_surrogate(struct json_stream *stream, struct feed *feed, int64_t offset)
{
    stream->high_surrogate = 0;
    return string_invalid(stream, feed, offset, "a surrogate escape lacks its partner");
}

/* The end of the valid text from `at` on: a quote, backslash, control character or doubtful UTF-8 sequence. */
static const char *valid_text_end(const char *at, const char *end)
{
    for (;;) {
        at = json_scan_ascii(at, end);
        if (at == end || (unsigned char)*at < 0x80)
            return at;
        bool valid;
        size_t len = utf8_take(at, end, &valid);
        if (!valid)
            return at;
        at += len;
    }
}

static void utf8_begin(struct json_stream *stream, struct feed *feed)
{
    struct utf8_lead lead = utf8_lead((unsigned char)*feed->at);
    stream->escape_offset = position(stream, feed->at);
    stream->utf8_more = lead.more;
    stream->utf8_low = lead.low;
    stream->utf8_high = lead.high;
    stream->utf8[0] = *feed->at++;
    stream->utf8_len = 1;
    stream->lex = LEX_UTF8;
}

static bool string_step(struct json_stream *stream, struct feed *feed)
{
    if (feed->at == feed->end)
        return feed_more(feed);
    if (stream->high_surrogate && *feed->at != '\\' && lone_surrogate(stream, feed, stream->high_offset))
        return true;
    const char *from = feed->at;
    feed->at = valid_text_end(from, feed->end);
    if (feed->at < feed->end && *feed->at == '"')
        return string_end(stream, feed, from);
    if (!text_keep(stream, from, (size_t)(feed->at - from)))
        return text_too_long(stream, feed);
    if (feed->at == feed->end)
        return feed_more(feed);
    unsigned char c = (unsigned char)*feed->at;
    if (c == '\\') {
        stream->escape_offset = position(stream, feed->at++);
        stream->lex = LEX_ESCAPE;
        return false;
    }
    if (c < 0x20)
        return stream_fail(stream, feed, position(stream, feed->at), "a control character in a string is not escaped");
    utf8_begin(stream, feed);
    return false;
}

/* A sequence that is invalid or split between pieces, byte by byte. */
static bool utf8_step(struct json_stream *stream, struct feed *feed)
{
    for (; stream->utf8_more > 0; stream->utf8_more--) {
        if (feed->at == feed->end)
            return feed_more(feed);
        unsigned char c = (unsigned char)*feed->at;
        if (c < stream->utf8_low || c > stream->utf8_high)
            break;
        stream->utf8[stream->utf8_len++] = *feed->at++;
        stream->utf8_low = 0x80;
        stream->utf8_high = 0xBF;
    }
    stream->lex = LEX_STRING;
    if (stream->utf8_more > 0 || stream->utf8_len == 1)
        return string_invalid(stream, feed, stream->escape_offset, "a string holds invalid UTF-8");
    if (!text_keep(stream, stream->utf8, stream->utf8_len))
        return text_too_long(stream, feed);
    return false;
}

static bool escape_step(struct json_stream *stream, struct feed *feed)
{
    if (feed->at == feed->end)
        return feed_more(feed);
    char c = *feed->at;
    if (c == 'u') {
        feed->at++;
        stream->code = 0;
        stream->hex_digits = 0;
        stream->lex = LEX_HEX;
        return false;
    }
    char letter = json_escape_letter(c);
    if (!letter)
        return stream_fail(stream, feed, stream->escape_offset, "a string holds an invalid escape");
    if (stream->high_surrogate && lone_surrogate(stream, feed, stream->high_offset))
        return true;
    feed->at++;
    stream->lex = LEX_STRING;
    if (!text_keep(stream, &letter, 1))
        return text_too_long(stream, feed);
    return false;
}

/* A complete \uXXXX in stream->code. */
static bool code_done(struct json_stream *stream, struct feed *feed)
{
    uint32_t code = stream->code;
    uint32_t high = stream->high_surrogate;
    stream->lex = LEX_STRING;
    bool is_low = utf8_is_low_surrogate(code);
    if (high && !is_low && lone_surrogate(stream, feed, stream->high_offset))
        return true;
    stream->high_surrogate = 0;
    if (utf8_is_high_surrogate(code)) {
        stream->high_surrogate = code;
        stream->high_offset = stream->escape_offset;
        return false;
    }
    if (is_low && !high)
        return lone_surrogate(stream, feed, stream->escape_offset);
    char bytes[4];
    size_t len = utf8_put(bytes, is_low ? utf8_join_surrogates(high, code) : code);
    if (!text_keep(stream, bytes, len))
        return text_too_long(stream, feed);
    return false;
}

static bool hex_step(struct json_stream *stream, struct feed *feed)
{
    for (; stream->hex_digits < 4; stream->hex_digits++) {
        if (feed->at == feed->end)
            return feed_more(feed);
        int digit = json_hex_digit(*feed->at);
        if (digit < 0)
            return stream_fail(stream, feed, stream->escape_offset, "a string holds an invalid escape");
        stream->code = stream->code << 4 | (uint32_t)digit;
        feed->at++;
    }
    return code_done(stream, feed);
}

enum number_state {
    NUMBER_START,
    NUMBER_MINUS,
    NUMBER_POINT,
    NUMBER_E,
    NUMBER_SIGN,
    NUMBER_ZERO, /* from here on: a number may end */
    NUMBER_WHOLE,
    NUMBER_FRACTION,
    NUMBER_EXPONENT,
    NUMBER_NONE /* the byte cannot follow */
};

static enum number_state number_next(enum number_state state, char c)
{
    bool is_digit = json_is_digit(c);
    bool is_e = c == 'e' || c == 'E';
    switch (state) {
    case NUMBER_START:
        if (c == '-')
            return NUMBER_MINUS;
        return !is_digit ? NUMBER_NONE : c == '0' ? NUMBER_ZERO : NUMBER_WHOLE;
    case NUMBER_MINUS:
        return !is_digit ? NUMBER_NONE : c == '0' ? NUMBER_ZERO : NUMBER_WHOLE;
    case NUMBER_ZERO:
        return c == '.' ? NUMBER_POINT : is_e ? NUMBER_E : NUMBER_NONE;
    case NUMBER_WHOLE:
        return is_digit ? NUMBER_WHOLE : c == '.' ? NUMBER_POINT : is_e ? NUMBER_E : NUMBER_NONE;
    case NUMBER_POINT:
        return is_digit ? NUMBER_FRACTION : NUMBER_NONE;
    case NUMBER_FRACTION:
        return is_digit ? NUMBER_FRACTION : is_e ? NUMBER_E : NUMBER_NONE;
    case NUMBER_E:
        return is_digit ? NUMBER_EXPONENT : c == '+' || c == '-' ? NUMBER_SIGN : NUMBER_NONE;
    case NUMBER_SIGN:
    case NUMBER_EXPONENT:
        return is_digit ? NUMBER_EXPONENT : NUMBER_NONE;
    case NUMBER_NONE:
        break;
    }
    return NUMBER_NONE;
}

/* The number ends at feed->at, after what was kept and [from, feed->at). */
static bool number_done(struct json_stream *stream, struct feed *feed, const char *from)
{
    if (text_end(stream, feed, from))
        return true;
    if (stream->number_state < NUMBER_ZERO)
        return stream_unexpected(stream, feed, "expected a digit");
    return value_done(stream, feed, JSON_TOKEN_NUMBER);
}

static bool number_step(struct json_stream *stream, struct feed *feed)
{
    const char *from = feed->at;
    enum number_state state = stream->number_state;
    for (; feed->at < feed->end; feed->at++) {
        enum number_state next = number_next(state, *feed->at);
        if (next == NUMBER_NONE)
            break;
        state = next;
    }
    stream->number_state = (uint8_t)state;
    if (feed->at < feed->end)
        return number_done(stream, feed, from);
    if (!text_keep(stream, from, (size_t)(feed->at - from)))
        return text_too_long(stream, feed);
    return feed_more(feed);
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
            return feed_more(feed);
        if (*feed->at != stream->word[stream->word_at])
            return stream_unexpected(stream, feed, "expected true, false or null");
    }
    feed->span->boolean = stream->word[0] == 't';
    return value_done(stream, feed, stream->word[0] == 'n' ? JSON_TOKEN_NULL : JSON_TOKEN_BOOL);
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
        return string_begin(stream, feed, false);
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
        return stream_unexpected(stream, feed, "expected a value");
    text_begin(stream, LEX_NUMBER);
    stream->number_state = NUMBER_START;
    return false;
}

static bool comma_or_end(struct json_stream *stream, struct feed *feed)
{
    bool is_object = in_object(stream);
    if (*feed->at == (is_object ? '}' : ']'))
        return container_close(stream, feed);
    if (*feed->at != ',')
        return stream_unexpected(stream, feed, is_object ? "expected \",\" or \"}\"" : "expected \",\" or \"]\"");
    feed->at++;
    stream->expect = is_object ? EXPECT_KEY : EXPECT_VALUE;
    return false;
}

static void skip_space(struct json_stream *stream, struct feed *feed)
{
    for (; feed->at < feed->end && json_is_space(*feed->at); feed->at++) {
        if (*feed->at == '\n') {
            stream->line++;
            stream->line_offset = position(stream, feed->at) + 1;
        }
        if (stream->expect == EXPECT_SPACE)
            stream->expect = EXPECT_VALUE;
    }
}

static bool between_step(struct json_stream *stream, struct feed *feed)
{
    skip_space(stream, feed);
    if (feed->at == feed->end)
        return feed_more(feed);
    stream->token_offset = position(stream, feed->at);
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
            return stream_unexpected(stream, feed, "expected a key in quotes or \"}\"");
        return string_begin(stream, feed, true);
    case EXPECT_KEY:
        return c == '"' ? string_begin(stream, feed, true)
                        : stream_unexpected(stream, feed, "expected a key in quotes");
    case EXPECT_COLON:
        if (c != ':')
            return stream_unexpected(stream, feed, "expected \":\" after the key");
        feed->at++;
        stream->expect = EXPECT_VALUE;
        return false;
    case EXPECT_COMMA_OR_END:
        return comma_or_end(stream, feed);
    case EXPECT_SPACE:
        return stream_unexpected(stream, feed, "expected white space between two values");
    case EXPECT_NOTHING:
        break;
    }
    return stream_unexpected(stream, feed, "expected the end after the value");
}

static bool stream_step(struct json_stream *stream, struct feed *feed)
{
    switch ((enum lex)stream->lex) {
    case LEX_BETWEEN:
        return between_step(stream, feed);
    case LEX_STRING:
        return string_step(stream, feed);
    case LEX_ESCAPE:
        return escape_step(stream, feed);
    case LEX_HEX:
        return hex_step(stream, feed);
    case LEX_UTF8:
        return utf8_step(stream, feed);
    case LEX_NUMBER:
        return number_step(stream, feed);
    case LEX_WORD:
        return word_step(stream, feed);
    }
    return stream_fail(stream, feed, position(stream, feed->at), "the reader was not initialised");
}

enum json_token json_stream_next(struct json_stream *stream, const char **at, const char *end, struct json_span *ret)
{
    if (stream->status != AS_OK)
        return JSON_TOKEN_BAD;
    struct feed feed = {.at = *at, .end = end, .span = ret};
    stream->piece = *at;
    while (!stream_step(stream, &feed))
        continue;
    stream->offset = position(stream, feed.at);
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
        if (stream->number_state < NUMBER_ZERO)
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
    if (stream->lex == LEX_NUMBER && stream->depth == 0 && number_done(stream, &feed, feed.at))
        return feed.token;
    if (is_complete(stream))
        return JSON_TOKEN_END;
    stream_unexpected(stream, &feed, expected_at_end(stream));
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
