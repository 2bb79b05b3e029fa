/* SPDX-License-Identifier: Apache-2.0 */
#include "base/json_text.h"

#include <string.h>

struct utf8_lead utf8_lead(unsigned char c)
{
    if (c < 0xC2 || c > 0xF4)
        return (struct utf8_lead){0, 0, 0};
    if (c < 0xE0)
        return (struct utf8_lead){1, 0x80, 0xBF};
    if (c < 0xF0)
        return (struct utf8_lead){2, c == 0xE0 ? 0xA0 : 0x80, c == 0xED ? 0x9F : 0xBF};
    return (struct utf8_lead){3, c == 0xF0 ? 0x90 : 0x80, c == 0xF4 ? 0x8F : 0xBF};
}

size_t utf8_take(const char *at, const char *end, bool *ret_valid)
{
    struct utf8_lead lead = utf8_lead((unsigned char)*at);
    size_t room = (size_t)(end - at);
    size_t taken = 1;
    for (; taken <= lead.more && taken < room; taken++) {
        unsigned char c = (unsigned char)at[taken];
        if (c < lead.low || c > lead.high)
            break;
        lead.low = 0x80;
        lead.high = 0xBF;
    }
    *ret_valid = lead.more > 0 && taken == (size_t)lead.more + 1;
    return taken;
}

size_t utf8_put(char *at, uint32_t code)
{
    if (code < 0x80) {
        at[0] = (char)code;
        return 1;
    }
    if (code < 0x800) {
        at[0] = (char)(0xC0 | code >> 6);
        at[1] = (char)(0x80 | (code & 0x3F));
        return 2;
    }
    if (code < 0x10000) {
        at[0] = (char)(0xE0 | code >> 12);
        at[1] = (char)(0x80 | (code >> 6 & 0x3F));
        at[2] = (char)(0x80 | (code & 0x3F));
        return 3;
    }
    at[0] = (char)(0xF0 | code >> 18);
    at[1] = (char)(0x80 | (code >> 12 & 0x3F));
    at[2] = (char)(0x80 | (code >> 6 & 0x3F));
    at[3] = (char)(0x80 | (code & 0x3F));
    return 4;
}

int json_hex_digit(char c)
{
    if (json_is_digit(c))
        return c - '0';
    if (c >= 'a' && c <= 'f')
        return c - 'a' + 10;
    if (c >= 'A' && c <= 'F')
        return c - 'A' + 10;
    return -1;
}

char json_escape_letter(char c)
{
    switch (c) {
    case '"':
    case '\\':
    case '/':
        return c;
    case 'b':
        return '\b';
    case 'f':
        return '\f';
    case 'n':
        return '\n';
    case 'r':
        return '\r';
    case 't':
        return '\t';
    default:
        return 0;
    }
}

/* The code of \uXXXX at `at` (a backslash), or -1. */
static int32_t escape_code(const char *at, const char *end)
{
    if (end - at < 6 || at[0] != '\\' || at[1] != 'u')
        return -1;
    int32_t code = 0;
    for (int i = 2; i < 6; i++) {
        int digit = json_hex_digit(at[i]);
        if (digit < 0)
            return -1;
        code = code << 4 | digit;
    }
    return code;
}

bool json_escape_skip(const char **at, const char *end)
{
    if (end - *at < 2)
        return false;
    if (json_escape_letter((*at)[1])) {
        *at += 2;
        return true;
    }
    if (escape_code(*at, end) < 0)
        return false;
    *at += 6;
    return true;
}

static size_t put_replacement(char *ret)
{
    memcpy(ret, UTF8_REPLACEMENT, UTF8_REPLACEMENT_BYTES);
    return UTF8_REPLACEMENT_BYTES;
}

size_t json_escape_take(const char **at, const char *end, char *ret)
{
    char letter = end - *at < 2 ? 0 : json_escape_letter((*at)[1]);
    if (letter) {
        *at += 2;
        ret[0] = letter;
        return 1;
    }
    int32_t code = escape_code(*at, end);
    if (code < 0) {
        *at += 1;
        return put_replacement(ret);
    }
    *at += 6;
    if (utf8_is_high_surrogate((uint32_t)code)) {
        int32_t low = escape_code(*at, end);
        if (low < 0 || !utf8_is_low_surrogate((uint32_t)low))
            return put_replacement(ret);
        *at += 6;
        return utf8_put(ret, utf8_join_surrogates((uint32_t)code, (uint32_t)low));
    }
    if (utf8_is_low_surrogate((uint32_t)code))
        return put_replacement(ret);
    return utf8_put(ret, (uint32_t)code);
}

static const char *skip_digits(const char *at, const char *end)
{
    while (at < end && json_is_digit(*at))
        at++;
    return at;
}

const char *json_number_end(const char *at, const char *end)
{
    if (at < end && *at == '-')
        at++;
    if (at == end || !json_is_digit(*at))
        return NULL;
    at = *at == '0' ? at + 1 : skip_digits(at, end);
    if (at < end && *at == '.') {
        const char *fraction = at + 1;
        at = skip_digits(fraction, end);
        if (at == fraction)
            return NULL;
    }
    if (at < end && (*at == 'e' || *at == 'E')) {
        at++;
        if (at < end && (*at == '+' || *at == '-'))
            at++;
        const char *exponent = at;
        at = skip_digits(exponent, end);
        if (at == exponent)
            return NULL;
    }
    return at;
}
