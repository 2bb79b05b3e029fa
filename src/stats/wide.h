/* SPDX-License-Identifier: Apache-2.0 */
#ifndef ASSAY_STATS_WIDE_H
#define ASSAY_STATS_WIDE_H

/*
 * 128-bit integers for sums: integer sums do not depend on the order of their terms, so that a summary rebuilt
 * from shuffled or merged records is the same to the last digit.
 */

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

__extension__ typedef __int128 wide_int;
__extension__ typedef unsigned __int128 wide_uint;

#define WIDE_TEXT_BYTES 41

/* Decimal text with NUL; returns its length. */
size_t wide_format(wide_int value, char ret_text[WIDE_TEXT_BYTES]);
/* Decimal digits, a minus sign before them allowed; false when it is anything else or does not fit. */
bool wide_parse(const char *text, size_t len, wide_int *ret);

/* Count, extremes, sum and sum of squares of integers. All zero = empty. */
struct moments {
    int64_t n;
    int64_t min, max; /* meaningless while n is 0 */
    wide_int sum;
    wide_uint sum_squares; /* meaningless once has_overflowed (it did not fit 127 bits) */
    bool has_overflowed;
};

/* Adds `count` times `value`; count ≥ 0. */
static inline void moments_add_many(struct moments *m, int64_t value, int64_t count)
{
    if (count <= 0)
        return;
    if (m->n == 0 || value < m->min)
        m->min = value;
    if (m->n == 0 || value > m->max)
        m->max = value;
    m->n += count;
    m->sum += (wide_int)value * count;
    wide_uint square = (wide_uint)((wide_int)value * value);
    wide_uint product;
    if (__builtin_mul_overflow(square, (wide_uint)count, &product))
        m->has_overflowed = true;
    if (__builtin_add_overflow(m->sum_squares, product, &m->sum_squares) || m->sum_squares >> 127)
        m->has_overflowed = true;
}

static inline void moments_add(struct moments *m, int64_t value)
{
    moments_add_many(m, value, 1);
}

/* Adds all of `other`. */
void moments_merge(struct moments *m, const struct moments *other);
/* The mean, correctly rounded to within one unit of the last place; NAN when empty. */
double moments_mean(const struct moments *m);
/* Population deviation (numpy's default, ddof 0); NAN for n < 2 or when the squares did not fit. */
double moments_std(const struct moments *m);

#endif
