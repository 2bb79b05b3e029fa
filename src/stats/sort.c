/* SPDX-License-Identifier: Apache-2.0 */
#include "stats/sort.h"

#define SMALL 48 /* below this insertion is quicker */

static void insertion_sort(int64_t *values, size_t count)
{
    for (size_t i = 1; i < count; i++) {
        int64_t value = values[i];
        size_t j = i;
        for (; j > 0 && values[j - 1] > value; j--)
            values[j] = values[j - 1];
        values[j] = value;
    }
}

/* The byte of a value at `shift`, ordered so that negative numbers come first. */
static inline size_t digit_of(int64_t value, unsigned shift)
{
    return (size_t)((((uint64_t)value ^ (UINT64_C(1) << 63)) >> shift) & 0xff);
}

/* Moves every value into the range of its digit; `ends` receives where each range ends. */
static void permute(int64_t *values, size_t count, unsigned shift, size_t ends[256])
{
    size_t next[256] = {0};
    for (size_t i = 0; i < count; i++)
        next[digit_of(values[i], shift)]++;
    size_t at = 0;
    for (size_t d = 0; d < 256; d++) {
        size_t here = next[d];
        next[d] = at;
        at += here;
        ends[d] = at;
    }
    for (size_t d = 0; d < 256; d++) {
        while (next[d] < ends[d]) {
            int64_t value = values[next[d]];
            for (size_t target = digit_of(value, shift); target != d; target = digit_of(value, shift)) {
                int64_t displaced = values[next[target]];
                values[next[target]++] = value;
                value = displaced;
            }
            values[next[d]++] = value;
        }
    }
}

static void sort_by_digit(int64_t *values, size_t count, unsigned shift)
{
    size_t ends[256];
    permute(values, count, shift, ends);
    if (shift == 0)
        return;
    size_t start = 0;
    for (size_t d = 0; d < 256; d++) {
        size_t here = ends[d] - start;
        if (here > SMALL)
            sort_by_digit(values + start, here, shift - 8);
        else
            insertion_sort(values + start, here);
        start = ends[d];
    }
}

void sort_int64(int64_t *values, size_t count)
{
    if (count <= SMALL) {
        insertion_sort(values, count);
        return;
    }
    /* Bytes that all values share need no pass. */
    uint64_t differing = 0;
    for (size_t i = 1; i < count; i++)
        differing |= (uint64_t)values[i] ^ (uint64_t)values[0];
    if (differing == 0)
        return;
    unsigned top_bit = 63 - (unsigned)__builtin_clzll(differing);
    sort_by_digit(values, count, top_bit / 8 * 8);
}
