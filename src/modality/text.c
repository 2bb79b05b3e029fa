/* SPDX-License-Identifier: Apache-2.0 */
#include "modality/text.h"
#include "workload/words.h"

#include <string.h>

/* What a byte means inside a JSON string; all that is not listed below is plain. */
enum text_class { TEXT_PLAIN, TEXT_SPACE, TEXT_QUOTE, TEXT_ESCAPE, TEXT_CONTROL, TEXT_MULTIBYTE };

#define CLASS_16(x) x, x, x, x, x, x, x, x, x, x, x, x, x, x, x, x
#define CLASS_128(x)                                                                                                   \
    CLASS_16(x), CLASS_16(x), CLASS_16(x), CLASS_16(x), CLASS_16(x), CLASS_16(x), CLASS_16(x), CLASS_16(x)
static const uint8_t text_classes[256] = {
    [0] = CLASS_16(TEXT_CONTROL), CLASS_16(TEXT_CONTROL), [' '] = TEXT_SPACE,
    ['"'] = TEXT_QUOTE,           ['\\'] = TEXT_ESCAPE,   [0x80] = CLASS_128(TEXT_MULTIBYTE),
};

static int hex_digit(char c)
{
    if (c >= '0' && c <= '9')
        return c - '0';
    if (c >= 'a' && c <= 'f')
        return c - 'a' + 10;
    if (c >= 'A' && c <= 'F')
        return c - 'A' + 10;
    return -1;
}

/* The four hexadecimal digits at `at`; -1 when they are not there. */
static int32_t hex_unit(const char *at, const char *end)
{
    if (end - at < 4)
        return -1;
    int32_t unit = 0;
    for (int i = 0; i < 4; i++) {
        int digit = hex_digit(at[i]);
        if (digit < 0)
            return -1;
        unit = unit << 4 | digit;
    }
    return unit;
}

/* The unit of a \u escape that starts at `at`; -1 when there is none. */
static int32_t escape_unit(const char *at, const char *end)
{
    return end - at >= 6 && at[0] == '\\' && at[1] == 'u' ? hex_unit(at + 2, end) : -1;
}

/* Decodes the escape at `at` (a backslash); returns the bytes it takes, 0 when it is malformed. */
static size_t escape_decode(const char *at, const char *end, uint32_t *ret_code, bool *ret_valid)
{
    static const char letters[] = "\"\\/bfnrt";
    static const char meanings[] = "\"\\/\b\f\n\r\t";
    if (end - at < 2)
        return 0;
    const char *letter = at[1] ? strchr(letters, at[1]) : NULL;
    if (letter) {
        *ret_code = (unsigned char)meanings[letter - letters];
        return 2;
    }
    int32_t unit = escape_unit(at, end);
    if (unit < 0)
        return 0;
    if (unit < 0xD800 || unit > 0xDFFF) {
        *ret_code = (uint32_t)unit;
        return 6;
    }
    int32_t second = unit < 0xDC00 ? escape_unit(at + 6, end) : -1;
    if (second >= 0xDC00 && second <= 0xDFFF) {
        *ret_code = 0x10000 + ((uint32_t)(unit - 0xD800) << 10) + (uint32_t)(second - 0xDC00);
        return 12;
    }
    *ret_code = WORDS_REPLACEMENT;
    *ret_valid = false;
    return 6;
}

/* The character at `at`, escaped or not; returns the bytes it takes, 0 when it is a malformed escape. */
static size_t json_decode(const char *at, const char *end, uint32_t *ret_code, bool *ret_valid)
{
    return *at == '\\' ? escape_decode(at, end, ret_code, ret_valid) : words_decode(at, end, ret_code, ret_valid);
}

/* 0x80 in each byte of `word` that is below `limit` (≤ 0x80); exact where no byte of `word` has its top bit set. */
static inline uint64_t bytes_below(uint64_t word, uint64_t limit)
{
    return ~(word + (0x80 - limit) * UINT64_C(0x0101010101010101)) & UINT64_C(0x8080808080808080);
}

static inline uint64_t bytes_equal(uint64_t word, uint8_t byte)
{
    return bytes_below(word ^ byte * UINT64_C(0x0101010101010101), 1);
}

/* Steps over eight bytes at a time as long as they are plain ASCII and spaces, counting the words that begin. */
static inline const char *plain_blocks(const char *at, const char *end, int64_t *words, bool *in_word)
{
    for (; end - at >= 8; at += 8) {
        uint64_t word;
        memcpy(&word, at, sizeof word);
        if (word & UINT64_C(0x8080808080808080))
            break;
        if (bytes_below(word, ' ') | bytes_equal(word, '"') | bytes_equal(word, '\\'))
            break;
        uint64_t plain = ~bytes_equal(word, ' ') & UINT64_C(0x8080808080808080);
        uint64_t before = plain << 8 | (*in_word ? 0x80 : 0);
        *words += (int64_t)((((plain & ~before) >> 7) * UINT64_C(0x0101010101010101)) >> 56);
        *in_word = plain >> 63;
    }
    return at;
}

const char *text_scan(const char *at, const char *end, struct text_state *state)
{
    int64_t words = state->words;
    bool in_word = state->in_word, valid = true;
    for (;;) {
        at = plain_blocks(at, end, &words, &in_word);
        if (at == end)
            return NULL;
        enum text_class kind = text_classes[(unsigned char)*at];
        if (kind <= TEXT_SPACE) {
            words += kind == TEXT_PLAIN && !in_word;
            in_word = kind == TEXT_PLAIN;
            at++;
            continue;
        }
        if (kind == TEXT_QUOTE || kind == TEXT_CONTROL)
            break;
        uint32_t code = 0;
        size_t used = json_decode(at, end, &code, &valid);
        if (used == 0)
            return NULL;
        at += used;
        bool is_word = !words_is_space(code);
        words += is_word && !in_word;
        in_word = is_word;
    }
    state->words = words;
    state->in_word = in_word;
    state->is_unsound |= !valid;
    return *at == '"' ? at : NULL;
}

/* UTF-8 of a scalar value; returns the bytes. */
static size_t utf8_encode(uint32_t code, char ret[4])
{
    if (code < 0x80) {
        ret[0] = (char)code;
        return 1;
    }
    if (code < 0x800) {
        ret[0] = (char)(0xC0 | code >> 6);
        ret[1] = (char)(0x80 | (code & 0x3F));
        return 2;
    }
    if (code < 0x10000) {
        ret[0] = (char)(0xE0 | code >> 12);
        ret[1] = (char)(0x80 | (code >> 6 & 0x3F));
        ret[2] = (char)(0x80 | (code & 0x3F));
        return 3;
    }
    ret[0] = (char)(0xF0 | code >> 18);
    ret[1] = (char)(0x80 | (code >> 12 & 0x3F));
    ret[2] = (char)(0x80 | (code >> 6 & 0x3F));
    ret[3] = (char)(0x80 | (code & 0x3F));
    return 4;
}

bool text_append(const char *body, size_t len, size_t max_bytes, struct strbuf *out)
{
    const char *at = body, *end = body + len;
    while (at < end) {
        uint32_t code = 0;
        bool valid = true;
        size_t used = json_decode(at, end, &code, &valid);
        if (used == 0)
            return true;
        char replaced[4];
        size_t bytes = valid ? used : utf8_encode(code, replaced);
        if (out->len + bytes > max_bytes)
            return false;
        strbuf_add(out, valid ? at : replaced, bytes);
        at += used;
    }
    return true;
}

size_t text_to_line(const char *body, size_t len, bool is_json, char *ret, size_t size)
{
    const char *at = body, *end = body + len;
    size_t used_bytes = 0;
    bool space_pending = false;
    while (at < end) {
        uint32_t code = 0;
        bool valid = true;
        size_t used = is_json ? json_decode(at, end, &code, &valid) : words_decode(at, end, &code, &valid);
        if (used == 0)
            break;
        at += used;
        if (words_is_space(code) || code < 0x20 || code == 0x7F) {
            space_pending = used_bytes > 0;
            continue;
        }
        char bytes[4];
        size_t count = utf8_encode(code, bytes);
        if (used_bytes + space_pending + count + 1 > size)
            break;
        if (space_pending)
            ret[used_bytes++] = ' ';
        space_pending = false;
        memcpy(ret + used_bytes, bytes, count);
        used_bytes += count;
    }
    ret[used_bytes] = '\0';
    return used_bytes;
}
