/* SPDX-License-Identifier: Apache-2.0 */
#ifndef ASSAY_BASE_JSON_TEXT_H
#define ASSAY_BASE_JSON_TEXT_H

/*
 * What the JSON files share: scanning of strings, UTF-8 (Unicode 15, table 3-7) and escapes
 * (RFC 8259 section 7). Not for use outside base/json*.c.
 */

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#ifdef __SSE2__
#include <emmintrin.h>
#endif

/* U+FFFD, what an invalid part becomes. */
#define UTF8_REPLACEMENT       "\xEF\xBF\xBD"
#define UTF8_REPLACEMENT_BYTES 3

static inline bool json_is_space(char c)
{
    return c == ' ' || c == '\n' || c == '\r' || c == '\t';
}

static inline bool json_is_digit(char c)
{
    return c >= '0' && c <= '9';
}

#ifdef __SSE2__
/* One bit per byte of the 16 at `at` that is a quote, a backslash, below 0x20 or (not_ascii) at or above 0x80. */
static inline unsigned json_string_stops(const char *at, bool not_ascii)
{
    __m128i bytes = _mm_loadu_si128((const __m128i *)(const void *)at);
    __m128i stops = _mm_cmpeq_epi8(_mm_min_epu8(bytes, _mm_set1_epi8(0x1f)), bytes);
    stops = _mm_or_si128(stops, _mm_cmpeq_epi8(bytes, _mm_set1_epi8('"')));
    stops = _mm_or_si128(stops, _mm_cmpeq_epi8(bytes, _mm_set1_epi8('\\')));
    if (not_ascii)
        stops = _mm_or_si128(stops, bytes);
    return (unsigned)_mm_movemask_epi8(stops);
}
#endif

static inline const char *json_scan_string_stops(const char *at, const char *end, bool not_ascii)
{
#ifdef __SSE2__
    for (; end - at >= 16; at += 16) {
        unsigned stops = json_string_stops(at, not_ascii);
        if (stops)
            return at + __builtin_ctz(stops);
    }
#endif
    for (; at < end; at++) {
        unsigned char c = (unsigned char)*at;
        if (c < 0x20 || c == '"' || c == '\\' || (not_ascii && c >= 0x80))
            break;
    }
    return at;
}

/* The first quote, backslash or control character in [at, end), else `end`. */
static inline const char *json_scan_string(const char *at, const char *end)
{
    return json_scan_string_stops(at, end, false);
}

/* The same, stopping at bytes that are not ASCII too. */
static inline const char *json_scan_ascii(const char *at, const char *end)
{
    return json_scan_string_stops(at, end, true);
}

/* How many continuation bytes a first byte asks for (0 = it cannot be one) and the bounds of the first of them. */
struct utf8_lead {
    uint8_t more;
    uint8_t low;
    uint8_t high;
};

struct utf8_lead utf8_lead(unsigned char c);
/* Bytes taken by the sequence at `at`, which is not ASCII: a well-formed one, or its maximal invalid part. */
size_t utf8_take(const char *at, const char *end, bool *ret_valid);
/* Writes a scalar value below 0x110000; returns the bytes, 1 to 4. */
size_t utf8_put(char *at, uint32_t code);

static inline bool utf8_is_high_surrogate(uint32_t code)
{
    return code >= 0xD800 && code < 0xDC00;
}

static inline bool utf8_is_low_surrogate(uint32_t code)
{
    return code >= 0xDC00 && code < 0xE000;
}

static inline uint32_t utf8_join_surrogates(uint32_t high, uint32_t low)
{
    return 0x10000 + ((high - 0xD800) << 10) + (low - 0xDC00);
}

/* Value of a hexadecimal digit, or -1. */
int json_hex_digit(char c);
/* What a one-letter escape stands for, or 0 when there is none ('u' has none). */
char json_escape_letter(char c);
/* True and *at moved past it when a valid escape starts at *at (a backslash). Surrogates are not paired here. */
bool json_escape_skip(const char **at, const char *end);
/*
 * Decodes the escape at *at (a backslash) into `ret` (4 bytes) and moves *at past it; a surrogate pair is one
 * character, a lone surrogate or a malformed escape becomes U+FFFD. Returns the bytes written.
 */
size_t json_escape_take(const char **at, const char *end, char *ret);

/* The end of the number (RFC 8259 section 6) that starts at `at`, or NULL when there is none. */
const char *json_number_end(const char *at, const char *end);

#endif
