/* SPDX-License-Identifier: Apache-2.0 */
#include "media/base64.h"

#include <stdbool.h>
#include <string.h>

#if defined(__x86_64__)
#include <immintrin.h>
#endif

static const char ALPHABET[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";

#define BAD 0x80
#define SPACE 0x40

/* Value of a character, SPACE, or BAD. */
static uint8_t VALUES[256];

__attribute__((constructor)) static void values_init(void)
{
    memset(VALUES, BAD, sizeof VALUES);
    for (uint8_t i = 0; i < 64; i++)
        VALUES[(unsigned char)ALPHABET[i]] = i;
    VALUES[' '] = VALUES['\t'] = VALUES['\r'] = VALUES['\n'] = SPACE;
}

size_t base64_encoded_bytes(size_t bytes)
{
    return (bytes + 2) / 3 * 4;
}

size_t base64_decoded_max(size_t len)
{
    return (len + 3) / 4 * 3;
}

static void encode_group(const uint8_t *in, char *out)
{
    uint32_t v = (uint32_t)in[0] << 16 | (uint32_t)in[1] << 8 | in[2];
    out[0] = ALPHABET[v >> 18];
    out[1] = ALPHABET[v >> 12 & 63];
    out[2] = ALPHABET[v >> 6 & 63];
    out[3] = ALPHABET[v & 63];
}

#if defined(__x86_64__)
/* Muła & Lemire, "Faster Base64 Encoding and Decoding using AVX2 Instructions" (2018). */
__attribute__((target("avx2"))) static size_t encode_avx2(const uint8_t *in, size_t len, char *out)
{
    const __m256i spread = _mm256_setr_epi8(5, 4, 6, 5, 8, 7, 9, 8, 11, 10, 12, 11, 14, 13, 15, 14, 1, 0, 2, 1, 4, 3, 5, 4, 7, 6,
                                            8, 7, 10, 9, 11, 10);
    const __m256i shift_of = _mm256_setr_epi8('a' - 26, '0' - 52, '0' - 52, '0' - 52, '0' - 52, '0' - 52, '0' - 52, '0' - 52,
                                              '0' - 52, '0' - 52, '0' - 52, '+' - 62, '/' - 63, 'A', 0, 0, 'a' - 26, '0' - 52,
                                              '0' - 52, '0' - 52, '0' - 52, '0' - 52, '0' - 52, '0' - 52, '0' - 52, '0' - 52,
                                              '0' - 52, '+' - 62, '/' - 63, 'A', 0, 0);
    size_t done = 0;
    /* A load takes 4 bytes before and 4 after its 24. */
    for (size_t at = 4; len >= 36 && at + 28 <= len; at += 24, done += 24) {
        __m256i v = _mm256_loadu_si256((const __m256i *)(const void *)(in + at - 4));
        v = _mm256_shuffle_epi8(v, spread);
        __m256i high = _mm256_mulhi_epu16(_mm256_and_si256(v, _mm256_set1_epi32(0x0fc0fc00)), _mm256_set1_epi32(0x04000040));
        __m256i low = _mm256_mullo_epi16(_mm256_and_si256(v, _mm256_set1_epi32(0x003f03f0)), _mm256_set1_epi32(0x01000010));
        __m256i index = _mm256_or_si256(high, low);
        __m256i slot = _mm256_subs_epu8(index, _mm256_set1_epi8(51));
        slot = _mm256_or_si256(slot, _mm256_and_si256(_mm256_cmpgt_epi8(_mm256_set1_epi8(26), index), _mm256_set1_epi8(13)));
        __m256i text = _mm256_add_epi8(_mm256_shuffle_epi8(shift_of, slot), index);
        _mm256_storeu_si256((__m256i *)(void *)(out + done / 3 * 4), text);
    }
    return done;
}

/* Decodes whole groups of 32 characters until one holds anything but the alphabet; returns characters consumed. */
__attribute__((target("avx2"))) static size_t decode_avx2(const char *in, size_t len, uint8_t *out)
{
    const __m256i low_bits = _mm256_setr_epi8(0x15, 0x11, 0x11, 0x11, 0x11, 0x11, 0x11, 0x11, 0x11, 0x11, 0x13, 0x1a, 0x1b, 0x1b, 0x1b,
                                              0x1a, 0x15, 0x11, 0x11, 0x11, 0x11, 0x11, 0x11, 0x11, 0x11, 0x11, 0x13, 0x1a, 0x1b, 0x1b,
                                              0x1b, 0x1a);
    const __m256i high_bits = _mm256_setr_epi8(0x10, 0x10, 0x01, 0x02, 0x04, 0x08, 0x04, 0x08, 0x10, 0x10, 0x10, 0x10, 0x10, 0x10, 0x10,
                                               0x10, 0x10, 0x10, 0x01, 0x02, 0x04, 0x08, 0x04, 0x08, 0x10, 0x10, 0x10, 0x10, 0x10,
                                               0x10, 0x10, 0x10);
    const __m256i roll = _mm256_setr_epi8(0, 16, 19, 4, -65, -65, -71, -71, 0, 0, 0, 0, 0, 0, 0, 0, 0, 16, 19, 4, -65, -65, -71, -71, 0,
                                          0, 0, 0, 0, 0, 0, 0);
    const __m256i pack = _mm256_setr_epi8(2, 1, 0, 6, 5, 4, 10, 9, 8, 14, 13, 12, -1, -1, -1, -1, 2, 1, 0, 6, 5, 4, 10, 9, 8, 14, 13, 12,
                                          -1, -1, -1, -1);
    const __m256i slash = _mm256_set1_epi8(0x2f);
    size_t done = 0;
    /* A store writes 32 bytes for 24, so 48 characters must be left. */
    for (; done + 48 <= len; done += 32, out += 24) {
        __m256i v = _mm256_loadu_si256((const __m256i *)(const void *)(in + done));
        __m256i high = _mm256_and_si256(_mm256_srli_epi32(v, 4), slash);
        __m256i low = _mm256_and_si256(v, slash);
        __m256i bad = _mm256_and_si256(_mm256_shuffle_epi8(low_bits, low), _mm256_shuffle_epi8(high_bits, high));
        if (!_mm256_testz_si256(bad, bad))
            break;
        __m256i is_slash = _mm256_cmpeq_epi8(v, slash);
        v = _mm256_add_epi8(v, _mm256_shuffle_epi8(roll, _mm256_add_epi8(is_slash, high)));
        __m256i pairs = _mm256_maddubs_epi16(v, _mm256_set1_epi32(0x01400140));
        __m256i groups = _mm256_madd_epi16(pairs, _mm256_set1_epi32(0x00011000));
        groups = _mm256_shuffle_epi8(groups, pack);
        groups = _mm256_permutevar8x32_epi32(groups, _mm256_setr_epi32(0, 1, 2, 4, 5, 6, -1, -1));
        _mm256_storeu_si256((__m256i *)(void *)out, groups);
    }
    return done;
}

static bool has_avx2(void)
{
    return __builtin_cpu_supports("avx2") != 0;
}
#else
static size_t encode_avx2(const uint8_t *in, size_t len, char *out)
{
    (void)in, (void)len, (void)out;
    return 0;
}

static size_t decode_avx2(const char *in, size_t len, uint8_t *out)
{
    (void)in, (void)len, (void)out;
    return 0;
}

static bool has_avx2(void)
{
    return false;
}
#endif

void base64_encode(const void *data, size_t len, char *ret_text)
{
    const uint8_t *in = data;
    size_t done = 0;
    if (has_avx2() && len >= 36) {
        encode_group(in, ret_text); /* the vector loads start 4 bytes back: groups 0 and 1 go first */
        encode_group(in + 3, ret_text + 4);
        done = 6 + encode_avx2(in + 2, len - 2, ret_text + 8);
    }
    for (; done + 3 <= len; done += 3)
        encode_group(in + done, ret_text + done / 3 * 4);
    if (done == len)
        return;
    uint8_t last[3] = {in[done], done + 1 < len ? in[done + 1] : 0, 0};
    char *out = ret_text + done / 3 * 4;
    encode_group(last, out);
    out[3] = '=';
    if (done + 1 == len)
        out[2] = '=';
}

struct decoder {
    const char *text;
    size_t len, at;
    uint8_t *out;
    size_t out_len;
    uint32_t bits;
    unsigned count; /* characters of the current group */
};

/* Whole groups without white space; stops before the first group that is not plain. */
static void decode_plain(struct decoder *d)
{
    if (has_avx2()) {
        size_t done = decode_avx2(d->text + d->at, d->len - d->at, d->out + d->out_len);
        d->at += done;
        d->out_len += done / 4 * 3;
    }
    while (d->at + 4 <= d->len) {
        const unsigned char *c = (const unsigned char *)d->text + d->at;
        uint32_t a = VALUES[c[0]], b = VALUES[c[1]], e = VALUES[c[2]], f = VALUES[c[3]];
        if ((a | b | e | f) & (BAD | SPACE))
            return;
        uint32_t v = a << 18 | b << 12 | e << 6 | f;
        d->out[d->out_len] = (uint8_t)(v >> 16);
        d->out[d->out_len + 1] = (uint8_t)(v >> 8);
        d->out[d->out_len + 2] = (uint8_t)v;
        d->out_len += 3;
        d->at += 4;
    }
}

static void take_value(struct decoder *d, uint8_t value)
{
    d->bits = d->bits << 6 | value;
    if (++d->count < 4)
        return;
    d->out[d->out_len] = (uint8_t)(d->bits >> 16);
    d->out[d->out_len + 1] = (uint8_t)(d->bits >> 8);
    d->out[d->out_len + 2] = (uint8_t)d->bits;
    d->out_len += 3;
    d->count = 0;
    d->bits = 0;
}

/* At a '=': the rest must be the padding and white space. */
static bool take_padding(struct decoder *d)
{
    unsigned padding = 0;
    for (; d->at < d->len; d->at++) {
        if (d->text[d->at] == '=' && padding < 4 - d->count)
            padding++;
        else if (VALUES[(unsigned char)d->text[d->at]] != SPACE)
            return false;
    }
    if (d->count < 2 || d->count + padding != 4)
        return false;
    unsigned spare_bits = d->count == 2 ? 4 : 2;
    if (d->bits & ((1u << spare_bits) - 1))
        return false;
    uint32_t v = d->bits >> spare_bits;
    if (d->count == 3)
        d->out[d->out_len++] = (uint8_t)(v >> 8);
    d->out[d->out_len++] = (uint8_t)v;
    d->count = 0;
    return true;
}

as_status base64_decode(const char *text, size_t len, void *ret, size_t *ret_len, struct as_error *err)
{
    struct decoder d = {.text = text, .len = len, .out = ret};
    while (d.at < len) {
        if (d.count == 0)
            decode_plain(&d);
        if (d.at >= len)
            break;
        unsigned char c = (unsigned char)text[d.at];
        if (c == '=') {
            if (!take_padding(&d))
                return error_set_at(err, AS_E_INVALID, 0, (int64_t)d.at, "base64: wrong padding at character %zu", d.at);
            break;
        }
        uint8_t value = VALUES[c];
        if (value == BAD)
            return error_set_at(err, AS_E_INVALID, 0, (int64_t)d.at, "base64: byte 0x%02x at character %zu is not in the alphabet", c,
                                d.at);
        if (value != SPACE)
            take_value(&d, value);
        d.at++;
    }
    if (d.count != 0)
        return error_set_at(err, AS_E_INVALID, 0, (int64_t)len, "base64: the text is cut inside a group of four characters");
    *ret_len = d.out_len;
    return AS_OK;
}
