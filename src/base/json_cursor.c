/* SPDX-License-Identifier: Apache-2.0 */
#include "base/json.h"
#include "base/json_text.h"

#include <string.h>

static bool cursor_fail(struct json_cursor *cursor)
{
    cursor->failed = true;
    return false;
}

/* True with the cursor at the next byte that is no white space; false at the end or after a failure. */
static inline bool cursor_to_token(struct json_cursor *cursor)
{
    if (cursor->failed)
        return false;
    const char *at = cursor->at;
    while (at < cursor->end && json_is_space(*at))
        at++;
    cursor->at = at;
    return at < cursor->end;
}

/* Skips white space to `c` and steps over it; false, with only white space consumed, when something else is there. */
static inline bool cursor_take_char(struct json_cursor *cursor, char c)
{
    if (!cursor_to_token(cursor) || *cursor->at != c)
        return false;
    cursor->at++;
    return true;
}

void json_cursor_init(struct json_cursor *cursor, const char *text, size_t len)
{
    *cursor = (struct json_cursor){.at = text, .end = len ? text + len : text};
}

int json_cursor_type(struct json_cursor *cursor)
{
    if (!cursor_to_token(cursor))
        return -1;
    switch (*cursor->at) {
    case '{':
        return JSON_OBJECT;
    case '[':
        return JSON_ARRAY;
    case '"':
        return JSON_STRING;
    case 't':
    case 'f':
        return JSON_BOOL;
    case 'n':
        return JSON_NULL;
    default:
        if (*cursor->at == '-' || json_is_digit(*cursor->at))
            return JSON_NUMBER;
        cursor_fail(cursor);
        return -1;
    }
}

bool json_enter_object(struct json_cursor *cursor)
{
    return cursor_take_char(cursor, '{');
}

bool json_enter_array(struct json_cursor *cursor)
{
    return cursor_take_char(cursor, '[');
}

/* The closing quote of the string whose first byte is at `at`, or NULL. */
static inline const char *string_end(const char *at, const char *end, bool *ret_escaped)
{
    *ret_escaped = false;
    for (;;) {
        at = json_scan_string(at, end);
        if (at == end)
            return NULL;
        if (*at == '"')
            return at;
        if (*at != '\\' || !json_escape_skip(&at, end))
            return NULL;
        *ret_escaped = true;
    }
}

/* The cursor is at the opening quote. */
static inline bool cursor_take_quoted(struct json_cursor *cursor, struct json_raw *ret)
{
    const char *start = cursor->at + 1;
    bool escaped;
    const char *quote = string_end(start, cursor->end, &escaped);
    if (!quote)
        return cursor_fail(cursor);
    *ret = (struct json_raw){start, (size_t)(quote - start), escaped};
    cursor->at = quote + 1;
    return true;
}

bool json_next_member(struct json_cursor *cursor, struct json_raw *ret_key)
{
    if (cursor->failed)
        return false;
    /* The byte before the cursor is the opening brace only in front of the first member: no value ends in one. */
    bool is_first = cursor->at[-1] == '{';
    if (!cursor_to_token(cursor))
        return cursor_fail(cursor);
    if (*cursor->at == '}') {
        cursor->at++;
        return false;
    }
    if (!is_first && !cursor_take_char(cursor, ','))
        return cursor_fail(cursor);
    struct json_raw key;
    if (!cursor_to_token(cursor) || *cursor->at != '"' || !cursor_take_quoted(cursor, &key))
        return cursor_fail(cursor);
    if (!cursor_take_char(cursor, ':') || !cursor_to_token(cursor))
        return cursor_fail(cursor);
    *ret_key = key;
    return true;
}

bool json_next_item(struct json_cursor *cursor, bool *first)
{
    if (!cursor_to_token(cursor))
        return cursor_fail(cursor);
    bool is_first = *first;
    *first = false;
    if (*cursor->at == ']') {
        cursor->at++;
        return false;
    }
    if (is_first)
        return true;
    if (!cursor_take_char(cursor, ',') || !cursor_to_token(cursor) || *cursor->at == ']')
        return cursor_fail(cursor);
    return true;
}

/* Brackets open inside a skipped value: one bit a level, set for objects. */
struct skip_nest {
    uint64_t object_bits[JSON_DEPTH_MAX / 64];
    size_t depth;
};

static bool nest_open(struct skip_nest *nest, bool is_object)
{
    if (nest->depth == JSON_DEPTH_MAX)
        return false;
    uint64_t bit = UINT64_C(1) << (nest->depth % 64);
    uint64_t *word = &nest->object_bits[nest->depth / 64];
    uint64_t lower = *word & (bit - 1);
    *word = is_object ? lower | bit : lower;
    nest->depth++;
    return true;
}

static bool nest_close(struct skip_nest *nest, bool is_object)
{
    if (nest->depth == 0)
        return false;
    nest->depth--;
    return (nest->object_bits[nest->depth / 64] >> (nest->depth % 64) & 1) == is_object;
}

/* Steps over the quote or bracket at *at; false when it does not fit. */
static inline bool skip_structural(struct skip_nest *nest, const char **at, const char *end)
{
    bool escaped;
    const char *quote;
    switch (*(*at)++) {
    case '"':
        quote = string_end(*at, end, &escaped);
        if (!quote)
            return false;
        *at = quote + 1;
        return true;
    case '{':
        return nest_open(nest, true);
    case '[':
        return nest_open(nest, false);
    case '}':
        return nest_close(nest, true);
    case ']':
        return nest_close(nest, false);
    default:
        return true;
    }
}

static bool skip_container(struct json_cursor *cursor)
{
    struct skip_nest nest = {.depth = 0};
    const char *at = cursor->at, *end = cursor->end;
    do {
        if (at == end || !skip_structural(&nest, &at, end))
            return cursor_fail(cursor);
    } while (nest.depth > 0);
    cursor->at = at;
    return true;
}

bool json_skip(struct json_cursor *cursor)
{
    struct json_raw raw;
    bool boolean;
    switch (json_cursor_type(cursor)) {
    case JSON_OBJECT:
    case JSON_ARRAY:
        return skip_container(cursor);
    case JSON_STRING:
        return cursor_take_quoted(cursor, &raw);
    case JSON_NUMBER:
        return json_take_number(cursor, &raw);
    case JSON_BOOL:
        return json_take_bool(cursor, &boolean);
    case JSON_NULL:
        return json_take_null(cursor);
    default:
        return cursor_fail(cursor);
    }
}

bool json_take_string(struct json_cursor *cursor, struct json_raw *ret)
{
    return cursor_to_token(cursor) && *cursor->at == '"' && cursor_take_quoted(cursor, ret);
}

bool json_take_number(struct json_cursor *cursor, struct json_raw *ret)
{
    if (!cursor_to_token(cursor) || (*cursor->at != '-' && !json_is_digit(*cursor->at)))
        return false;
    const char *number_end = json_number_end(cursor->at, cursor->end);
    if (!number_end)
        return cursor_fail(cursor);
    *ret = (struct json_raw){cursor->at, (size_t)(number_end - cursor->at), false};
    cursor->at = number_end;
    return true;
}

/* The cursor is at the first letter of `word`. */
static bool cursor_take_word(struct json_cursor *cursor, const char *word, size_t len)
{
    if ((size_t)(cursor->end - cursor->at) < len || memcmp(cursor->at, word, len) != 0)
        return cursor_fail(cursor);
    cursor->at += len;
    return true;
}

bool json_take_bool(struct json_cursor *cursor, bool *ret)
{
    if (!cursor_to_token(cursor) || (*cursor->at != 't' && *cursor->at != 'f'))
        return false;
    bool value = *cursor->at == 't';
    if (!cursor_take_word(cursor, value ? "true" : "false", value ? 4 : 5))
        return false;
    *ret = value;
    return true;
}

bool json_take_null(struct json_cursor *cursor)
{
    return cursor_to_token(cursor) && *cursor->at == 'n' && cursor_take_word(cursor, "null", 4);
}

bool json_raw_equals_escaped(const struct json_raw *raw, const char *text)
{
    size_t len = strlen(text);
    const char *at = raw->at, *end = raw->at + raw->len;
    while (at < end) {
        char decoded[4];
        size_t bytes = 1;
        if (*at == '\\')
            bytes = json_escape_take(&at, end, decoded);
        else
            decoded[0] = *at++;
        if (bytes > len || memcmp(decoded, text, bytes) != 0)
            return false;
        text += bytes;
        len -= bytes;
    }
    return len == 0;
}

size_t json_raw_decode(const struct json_raw *raw, char *ret)
{
    const char *at = raw->at, *end = raw->at + raw->len;
    char *out = ret;
    while (at < end) {
        const char *plain = at;
        at = json_scan_ascii(at, end);
        memcpy(out, plain, (size_t)(at - plain));
        out += at - plain;
        if (at == end)
            break;
        bool valid = true;
        if (*at == '\\') {
            out += json_escape_take(&at, end, out);
            continue;
        }
        const char *from = at;
        if ((unsigned char)*at < 0x80)
            at++;
        else
            at += utf8_take(at, end, &valid);
        size_t bytes = valid ? (size_t)(at - from) : UTF8_REPLACEMENT_BYTES;
        memcpy(out, valid ? from : UTF8_REPLACEMENT, bytes);
        out += bytes;
    }
    return (size_t)(out - ret);
}
