/* SPDX-License-Identifier: Apache-2.0 */
#include "base/json_stream_steps.h"
#include "base/json_text.h"

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
    return json_stream_limit(stream, feed, stream->lex == LEX_NUMBER ? "a number is too long" : "a string is too long");
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
        json_stream_fail(stream, feed, stream->token_offset, status_sentence(stream->kept.status));
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
        return json_value_done(stream, feed, JSON_TOKEN_STRING);
    return json_key_done(stream, feed);
}

bool json_string_begin(struct json_stream *stream, struct feed *feed, bool is_key)
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
        return json_stream_fail(stream, feed, offset, reason);
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
    stream->escape_offset = json_stream_position(stream, feed->at);
    stream->utf8_more = lead.more;
    stream->utf8_low = lead.low;
    stream->utf8_high = lead.high;
    stream->utf8[0] = *feed->at++;
    stream->utf8_len = 1;
    stream->lex = LEX_UTF8;
}

bool json_string_step(struct json_stream *stream, struct feed *feed)
{
    if (feed->at == feed->end)
        return json_feed_more(feed);
    if (stream->high_surrogate && *feed->at != '\\' && lone_surrogate(stream, feed, stream->high_offset))
        return true;
    const char *from = feed->at;
    feed->at = valid_text_end(from, feed->end);
    if (feed->at < feed->end && *feed->at == '"')
        return string_end(stream, feed, from);
    if (!text_keep(stream, from, (size_t)(feed->at - from)))
        return text_too_long(stream, feed);
    if (feed->at == feed->end)
        return json_feed_more(feed);
    unsigned char c = (unsigned char)*feed->at;
    if (c == '\\') {
        stream->escape_offset = json_stream_position(stream, feed->at++);
        stream->lex = LEX_ESCAPE;
        return false;
    }
    if (c < 0x20)
        return json_stream_fail(stream, feed, json_stream_position(stream, feed->at),
                                "a control character in a string is not escaped");
    utf8_begin(stream, feed);
    return false;
}

/* A sequence that is invalid or split between pieces, byte by byte. */
bool json_utf8_step(struct json_stream *stream, struct feed *feed)
{
    for (; stream->utf8_more > 0; stream->utf8_more--) {
        if (feed->at == feed->end)
            return json_feed_more(feed);
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

bool json_escape_step(struct json_stream *stream, struct feed *feed)
{
    if (feed->at == feed->end)
        return json_feed_more(feed);
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
        return json_stream_fail(stream, feed, stream->escape_offset, "a string holds an invalid escape");
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

bool json_hex_step(struct json_stream *stream, struct feed *feed)
{
    for (; stream->hex_digits < 4; stream->hex_digits++) {
        if (feed->at == feed->end)
            return json_feed_more(feed);
        int digit = json_hex_digit(*feed->at);
        if (digit < 0)
            return json_stream_fail(stream, feed, stream->escape_offset, "a string holds an invalid escape");
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

bool json_number_begin(struct json_stream *stream)
{
    text_begin(stream, LEX_NUMBER);
    stream->number_state = NUMBER_START;
    return false;
}

bool json_number_is_whole(const struct json_stream *stream)
{
    return stream->number_state >= NUMBER_ZERO;
}

bool json_number_done(struct json_stream *stream, struct feed *feed, const char *from)
{
    if (text_end(stream, feed, from))
        return true;
    if (!json_number_is_whole(stream))
        return json_stream_unexpected(stream, feed, "expected a digit");
    return json_value_done(stream, feed, JSON_TOKEN_NUMBER);
}

bool json_number_step(struct json_stream *stream, struct feed *feed)
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
        return json_number_done(stream, feed, from);
    if (!text_keep(stream, from, (size_t)(feed->at - from)))
        return text_too_long(stream, feed);
    return json_feed_more(feed);
}
