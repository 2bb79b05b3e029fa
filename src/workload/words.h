/* SPDX-License-Identifier: Apache-2.0 */
#ifndef ASSAY_WORKLOAD_WORDS_H
#define ASSAY_WORKLOAD_WORDS_H

/*
 * Words are maximal runs of characters that are not white space, as Python's str.split() sees white space: U+0009–000D,
 * U+001C–0020, U+0085, U+00A0, U+1680, U+2000–200A, U+2028, U+2029, U+202F, U+205F, U+3000. Everything else belongs to
 * a word, invalid UTF-8 too. Pure functions; any thread.
 */

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define WORDS_REPLACEMENT UINT32_C(0xFFFD)

static inline bool words_is_space(uint32_t code)
{
    if (code <= 0x20)
        return code == 0x20 || (code >= 0x09 && code <= 0x0D) || code >= 0x1C;
    if (code < 0x1680)
        return code == 0x85 || code == 0xA0;
    return code == 0x1680 || (code >= 0x2000 && code <= 0x200A) || code == 0x2028 || code == 0x2029 || code == 0x202F ||
           code == 0x205F || code == 0x3000;
}

/*
 * Decodes the character at `at` (at < end) and returns the bytes it takes, 1 to 4. What is not well-formed UTF-8
 * (Unicode, table 3-7) gives WORDS_REPLACEMENT for its maximal invalid part and clears *ret_valid, which is left alone
 * otherwise.
 */
size_t words_decode(const char *at, const char *end, uint32_t *ret_code, bool *ret_valid);

/* Words in `len` bytes of UTF-8. */
int64_t words_count(const char *text, size_t len);

#endif
