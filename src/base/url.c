/* SPDX-License-Identifier: Apache-2.0 */
#include "base/url.h"

#include <string.h>

#define NAME_BYTES_MAX 64

static int hex_value(char c)
{
    if (c >= '0' && c <= '9')
        return c - '0';
    c = (char)(c | 0x20);
    return c >= 'a' && c <= 'f' ? c - 'a' + 10 : -1;
}

/* The letters and digits of a parameter's name in lower case, decoded; of a long one the last. */
static size_t plain_name(const char *name, size_t len, char ret[NAME_BYTES_MAX])
{
    size_t used = 0;
    for (size_t i = 0; i < len; i++) {
        unsigned char c = (unsigned char)name[i];
        if (c == '%' && i + 2 < len && hex_value(name[i + 1]) >= 0 && hex_value(name[i + 2]) >= 0) {
            c = (unsigned char)(hex_value(name[i + 1]) * 16 + hex_value(name[i + 2]));
            i += 2;
        }
        bool is_capital = c >= 'A' && c <= 'Z';
        if (!is_capital && !(c >= 'a' && c <= 'z') && !(c >= '0' && c <= '9'))
            continue;
        if (used == NAME_BYTES_MAX)
            memmove(ret, ret + 1, --used);
        ret[used++] = (char)(is_capital ? c | 0x20 : c);
    }
    return used;
}

static bool is_key_name(const char *name, size_t len)
{
    static const char *const ends[] = {"key",    "token", "sig",        "signature", "secret",       "password",
                                       "passwd", "pwd",   "credential", "auth",      "authorization"};
    char plain[NAME_BYTES_MAX];
    size_t used = plain_name(name, len, plain);
    for (size_t i = 0; i < sizeof ends / sizeof ends[0]; i++) {
        size_t end_len = strlen(ends[i]);
        if (used >= end_len && memcmp(plain + used - end_len, ends[i], end_len) == 0)
            return true;
    }
    return used == 4 && memcmp(plain, "code", 4) == 0;
}

bool url_next_key(const char **at, const char **ret, size_t *ret_len)
{
    const char *name = *at;
    while (*name == '?' || *name == '&') {
        name++;
        size_t len = strcspn(name, "=&#");
        const char *value = name + len + (name[len] == '=');
        size_t value_len = strcspn(value, "&#");
        if (value_len > 0 && name[len] == '=' && is_key_name(name, len)) {
            *ret = value;
            *ret_len = value_len;
            *at = value + value_len;
            return true;
        }
        name = value + value_len;
    }
    *at = name + strlen(name);
    return false;
}

void url_add_query_shown(struct strbuf *out, const char *url)
{
    const char *from = url, *at = url + strcspn(url, "?#"), *key;
    size_t len;
    for (; url_next_key(&at, &key, &len); from = key + len) {
        strbuf_add(out, from, (size_t)(key - from));
        strbuf_adds(out, "***");
    }
    strbuf_adds(out, from);
}

void url_add_shown(struct strbuf *out, const char *url)
{
    const char *scheme = strstr(url, "://");
    const char *start = scheme ? scheme + 3 : url;
    const char *at = memrchr(start, '@', strcspn(start, "/?#"));
    if (at) {
        strbuf_add(out, url, (size_t)(start - url));
        strbuf_adds(out, "***");
    }
    url_add_query_shown(out, at ? at : url);
}

size_t url_decode(char *text)
{
    char *to = text;
    for (const char *from = text; *from; from++) {
        int high = *from == '%' ? hex_value(from[1]) : -1;
        int low = high < 0 ? -1 : hex_value(from[2]);
        bool is_escape = low >= 0 && high * 16 + low > 0;
        *to++ = is_escape ? (char)(high * 16 + low) : *from;
        from += is_escape ? 2 : 0;
    }
    *to = '\0';
    return (size_t)(to - text);
}
