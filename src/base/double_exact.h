/* SPDX-License-Identifier: Apache-2.0 */
#ifndef ASSAY_BASE_DOUBLE_EXACT_H
#define ASSAY_BASE_DOUBLE_EXACT_H

/*
 * Decimals to doubles and back by whole numbers of 128 bits: correctly rounded, without the C library, for the sizes
 * that figures have. Internal to base (json_number.c has the general way). Any thread, no allocation, no locale.
 */

#include <stdbool.h>
#include <stdint.h>

#define DOUBLE_EXACT_POWER_MAX 27 /* 5^27 is the largest power of five in 64 bits */
#define DOUBLE_EXACT_DIGITS    17

/* mantissa × 10^exponent, rounded to nearest, ties to even. False beyond ±DOUBLE_EXACT_POWER_MAX. */
bool double_from_decimal(uint64_t mantissa, int64_t exponent, double *ret);

/*
 * The shortest decimal that reads back equal, of those the one nearest to `magnitude`: digits without zeros at the end,
 * 0.DIGITS × 10^*ret_point. Gives their number; 0 outside [1e-9, 1e15).
 */
int double_shortest_digits(double magnitude, char ret_digits[DOUBLE_EXACT_DIGITS], int *ret_point);

#endif
