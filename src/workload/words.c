/* SPDX-License-Identifier: Apache-2.0 */
#include "workload/words.h"

/* What a first byte says: bytes that follow (0 = it cannot be first), bits of its own, bounds of the second byte. */
struct lead {
    uint8_t more, low, high;
    uint8_t bits;
};

static struct lead lead_of(unsigned char c)
{
    if (c >= 0xC2 && c <= 0xDF)
        return (struct lead){1, 0x80, 0xBF, c & 0x1F};
    if (c >= 0xE0 && c <= 0xEF)
        return (struct lead){2, c == 0xE0 ? 0xA0 : 0x80, c == 0xED ? 0x9F : 0xBF, c & 0x0F};
    if (c >= 0xF0 && c <= 0xF4)
        return (struct lead){3, c == 0xF0 ? 0x90 : 0x80, c == 0xF4 ? 0x8F : 0xBF, c & 0x07};
    return (struct lead){0};
}

size_t words_decode(const char *at, const char *end, uint32_t *ret_code, bool *ret_valid)
{
    unsigned char first = (unsigned char)*at;
    if (first < 0x80) {
        *ret_code = first;
        return 1;
    }
    struct lead lead = lead_of(first);
    uint32_t code = lead.bits;
    size_t used = 1;
    for (; used <= lead.more && at + used < end; used++) {
        unsigned char c = (unsigned char)at[used];
        unsigned char low = used == 1 ? lead.low : 0x80, high = used == 1 ? lead.high : 0xBF;
        if (c < low || c > high)
            break;
        code = code << 6 | (c & 0x3F);
    }
    if (lead.more == 0 || used <= lead.more) {
        *ret_code = WORDS_REPLACEMENT;
        *ret_valid = false;
        return used;
    }
    *ret_code = code;
    return used;
}

int64_t words_count(const char *text, size_t len)
{
    const char *at = text, *end = text + len;
    int64_t words = 0;
    bool in_word = false, valid = true;
    while (at < end) {
        uint32_t code;
        at += words_decode(at, end, &code, &valid);
        bool is_word = !words_is_space(code);
        words += is_word && !in_word;
        in_word = is_word;
    }
    return words;
}
