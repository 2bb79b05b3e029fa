/* SPDX-License-Identifier: Apache-2.0 */
#include "stats/wide.h"

#include <math.h>

size_t wide_format(wide_int value, char ret_text[WIDE_TEXT_BYTES])
{
    char digits[WIDE_TEXT_BYTES];
    size_t count = 0, len = 0;
    wide_uint rest = value < 0 ? ~(wide_uint)value + 1 : (wide_uint)value;
    do {
        digits[count++] = (char)('0' + (int)(rest % 10));
        rest /= 10;
    } while (rest > 0);
    if (value < 0)
        ret_text[len++] = '-';
    while (count > 0)
        ret_text[len++] = digits[--count];
    ret_text[len] = '\0';
    return len;
}

bool wide_parse(const char *text, size_t len, wide_int *ret)
{
    bool is_negative = len > 0 && text[0] == '-';
    size_t at = is_negative ? 1 : 0;
    if (at == len)
        return false;
    wide_int value = 0;
    for (; at < len; at++) {
        if (text[at] < '0' || text[at] > '9')
            return false;
        int digit = text[at] - '0';
        if (__builtin_mul_overflow(value, 10, &value))
            return false;
        if (__builtin_add_overflow(value, is_negative ? -digit : digit, &value))
            return false;
    }
    *ret = value;
    return true;
}

void moments_merge(struct moments *m, const struct moments *other)
{
    if (other->n == 0)
        return;
    if (m->n == 0 || other->min < m->min)
        m->min = other->min;
    if (m->n == 0 || other->max > m->max)
        m->max = other->max;
    if (__builtin_add_overflow(m->n, other->n, &m->n))
        m->n = INT64_MAX;
    m->sum += other->sum;
    if (__builtin_add_overflow(m->sum_squares, other->sum_squares, &m->sum_squares) || m->sum_squares >> 127 ||
        other->has_overflowed)
        m->has_overflowed = true;
}

double moments_mean(const struct moments *m)
{
    if (m->n == 0)
        return (double)NAN;
    wide_int quotient = m->sum / m->n, rest = m->sum % m->n;
    return (double)quotient + (double)rest / (double)m->n;
}

double moments_std(const struct moments *m)
{
    if (m->n < 2 || m->has_overflowed)
        return (double)NAN;
    /* Around the integer mean c the sum of squares is Σx² − 2cΣx + nc², exact modulo 2^128; nothing cancels in floating
     * point. */
    wide_int centre = m->sum / m->n, rest = m->sum % m->n;
    wide_uint deviations = m->sum_squares - 2 * (wide_uint)centre * (wide_uint)m->sum +
                           (wide_uint)m->n * (wide_uint)centre * (wide_uint)centre;
    double n = (double)m->n, r = (double)rest;
    double variance = ((double)deviations - r * r / n) / n;
    return variance > 0 ? sqrt(variance) : 0.0;
}
