/* SPDX-License-Identifier: Apache-2.0 */
#include "http/field.h"

#include <string.h>

/* Bit 0: tchar. Bits 4–7 and bit 1: hexadecimal digit and its value. */
#define TOKEN    1
#define HEX      2
#define H(value) ((value) << 4 | TOKEN | HEX)

/* clang-format off */
static const unsigned char CLASSES[256] = {
    ['!'] = TOKEN, ['#'] = TOKEN, ['$'] = TOKEN, ['%'] = TOKEN, ['&'] = TOKEN, ['\''] = TOKEN, ['*'] = TOKEN,
    ['+'] = TOKEN, ['-'] = TOKEN, ['.'] = TOKEN, ['^'] = TOKEN, ['_'] = TOKEN, ['`'] = TOKEN, ['|'] = TOKEN, ['~'] = TOKEN,
    ['0'] = H(0), ['1'] = H(1), ['2'] = H(2), ['3'] = H(3), ['4'] = H(4),
    ['5'] = H(5), ['6'] = H(6), ['7'] = H(7), ['8'] = H(8), ['9'] = H(9),
    ['A'] = H(10), ['B'] = H(11), ['C'] = H(12), ['D'] = H(13), ['E'] = H(14), ['F'] = H(15),
    ['a'] = H(10), ['b'] = H(11), ['c'] = H(12), ['d'] = H(13), ['e'] = H(14), ['f'] = H(15),
    ['G'] = TOKEN, ['H'] = TOKEN, ['I'] = TOKEN, ['J'] = TOKEN, ['K'] = TOKEN, ['L'] = TOKEN, ['M'] = TOKEN,
    ['N'] = TOKEN, ['O'] = TOKEN, ['P'] = TOKEN, ['Q'] = TOKEN, ['R'] = TOKEN, ['S'] = TOKEN, ['T'] = TOKEN,
    ['U'] = TOKEN, ['V'] = TOKEN, ['W'] = TOKEN, ['X'] = TOKEN, ['Y'] = TOKEN, ['Z'] = TOKEN,
    ['g'] = TOKEN, ['h'] = TOKEN, ['i'] = TOKEN, ['j'] = TOKEN, ['k'] = TOKEN, ['l'] = TOKEN, ['m'] = TOKEN,
    ['n'] = TOKEN, ['o'] = TOKEN, ['p'] = TOKEN, ['q'] = TOKEN, ['r'] = TOKEN, ['s'] = TOKEN, ['t'] = TOKEN,
    ['u'] = TOKEN, ['v'] = TOKEN, ['w'] = TOKEN, ['x'] = TOKEN, ['y'] = TOKEN, ['z'] = TOKEN,
};
/* clang-format on */

bool http_is_token_char(unsigned char c)
{
    return CLASSES[c] & TOKEN;
}

bool http_is_value_char(unsigned char c)
{
    return c >= 0x20 ? c != 0x7f : c == '\t';
}

int http_hex_value(unsigned char c)
{
    return CLASSES[c] & HEX ? CLASSES[c] >> 4 : -1;
}

bool http_is_token(struct http_text text)
{
    unsigned char all = TOKEN;
    for (size_t i = 0; i < text.len; i++)
        all &= CLASSES[(unsigned char)text.at[i]];
    return text.len > 0 && (all & TOKEN);
}

bool http_text_equals(struct http_text text, const char *lower)
{
    size_t i = 0;
    for (; i < text.len && lower[i]; i++) {
        char c = text.at[i];
        if (c >= 'A' && c <= 'Z')
            c = (char)(c | 0x20);
        if (c != lower[i])
            return false;
    }
    return i == text.len && !lower[i];
}

static bool is_blank(char c)
{
    return c == ' ' || c == '\t';
}

struct http_text http_text_trim(struct http_text text)
{
    while (text.len && is_blank(text.at[0])) {
        text.at++;
        text.len--;
    }
    while (text.len && is_blank(text.at[text.len - 1]))
        text.len--;
    return text;
}

bool http_list_next(struct http_text *list, struct http_text *ret)
{
    while (list->len) {
        const char *comma = memchr(list->at, ',', list->len);
        size_t len = comma ? (size_t)(comma - list->at) : list->len;
        struct http_text item = http_text_trim((struct http_text){list->at, len});
        size_t used = comma ? len + 1 : len;
        list->at += used;
        list->len -= used;
        if (item.len) {
            *ret = item;
            return true;
        }
    }
    return false;
}

bool http_parse_decimal(struct http_text text, int64_t *ret)
{
    int64_t value = 0;
    if (!text.len)
        return false;
    for (size_t i = 0; i < text.len; i++) {
        int digit = text.at[i] - '0';
        if (digit < 0 || digit > 9 || value > (INT64_MAX - digit) / 10)
            return false;
        value = value * 10 + digit;
    }
    *ret = value;
    return true;
}

struct http_text http_without_parameters(struct http_text text)
{
    const char *semicolon = text.len ? memchr(text.at, ';', text.len) : NULL;
    if (semicolon)
        text.len = (size_t)(semicolon - text.at);
    return http_text_trim(text);
}

const char *http_field_split(struct http_text line, struct http_text *ret_name, struct http_text *ret_value)
{
    const char *colon = line.len ? memchr(line.at, ':', line.len) : NULL;
    if (!colon)
        return "a header line has no colon";
    struct http_text name = {line.at, (size_t)(colon - line.at)};
    if (!http_is_token(name))
        return "a header name is empty or holds white space or other forbidden bytes";
    struct http_text value = {colon + 1, line.len - name.len - 1};
    if (value.len && (memchr(value.at, '\0', value.len) || memchr(value.at, '\r', value.len)))
        return "a header value holds a NUL or a bare CR";
    *ret_name = name;
    *ret_value = http_text_trim(value);
    return NULL;
}

const char *http_merge_length(struct http_text value, int64_t *length)
{
    struct http_text item;
    bool is_empty = true;
    while (http_list_next(&value, &item)) {
        int64_t parsed;
        if (!http_parse_decimal(item, &parsed))
            return "Content-Length is no decimal number within 63 bits";
        if (*length >= 0 && *length != parsed)
            return "Content-Length is given twice with different values";
        *length = parsed;
        is_empty = false;
    }
    return is_empty ? "Content-Length is empty" : NULL;
}
