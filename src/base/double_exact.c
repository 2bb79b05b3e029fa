/* SPDX-License-Identifier: Apache-2.0 */
#include "base/double_exact.h"

#include <string.h>

__extension__ typedef unsigned __int128 uint128;

#define FRACTION_BITS 52
#define EXPONENT_BIAS 1023
#define DROPPED_BITS  11 /* of a 64-bit quotient rounded to 53 bits */

static const uint64_t POWERS_OF_FIVE[DOUBLE_EXACT_POWER_MAX + 1] = {
    UINT64_C(1),
    UINT64_C(5),
    UINT64_C(25),
    UINT64_C(125),
    UINT64_C(625),
    UINT64_C(3125),
    UINT64_C(15625),
    UINT64_C(78125),
    UINT64_C(390625),
    UINT64_C(1953125),
    UINT64_C(9765625),
    UINT64_C(48828125),
    UINT64_C(244140625),
    UINT64_C(1220703125),
    UINT64_C(6103515625),
    UINT64_C(30517578125),
    UINT64_C(152587890625),
    UINT64_C(762939453125),
    UINT64_C(3814697265625),
    UINT64_C(19073486328125),
    UINT64_C(95367431640625),
    UINT64_C(476837158203125),
    UINT64_C(2384185791015625),
    UINT64_C(11920928955078125),
    UINT64_C(59604644775390625),
    UINT64_C(298023223876953125),
    UINT64_C(1490116119384765625),
    UINT64_C(7450580596923828125),
};

/* whole × 2^power, both exact: no more than 53 bits, far from the ends of the exponents. */
static double scaled(uint64_t whole, int power)
{
    uint64_t bits = (uint64_t)(EXPONENT_BIAS + power) << FRACTION_BITS;
    double factor;
    memcpy(&factor, &bits, sizeof factor);
    return (double)whole * factor;
}

/* value / 2^shift to the nearest whole number, ties to even; 0 < shift < 128. */
static uint64_t shifted_right(uint128 value, int shift)
{
    uint64_t quotient = (uint64_t)(value >> shift);
    uint128 rest = value & (((uint128)1 << shift) - 1), half = (uint128)1 << (shift - 1);
    return quotient + (rest > half || (rest == half && (quotient & 1)));
}

static int bit_length(uint128 value)
{
    uint64_t high = (uint64_t)(value >> 64);
    return high ? 128 - __builtin_clzll(high) : 64 - __builtin_clzll((uint64_t)value);
}

static double quotient_of(uint64_t mantissa, int power)
{
    uint64_t divisor = POWERS_OF_FIVE[power];
    int mantissa_shift = __builtin_clzll(mantissa), divisor_shift = __builtin_clzll(divisor);
    mantissa <<= mantissa_shift;
    divisor <<= divisor_shift;
    /* One of the two shifts gives a quotient of exactly 64 bits. */
    int shift = mantissa < divisor ? 64 : 63;
    uint128 dividend = (uint128)mantissa << shift;
    uint64_t quotient = (uint64_t)(dividend / divisor);
    bool is_exact = dividend % divisor == 0;
    uint64_t kept = quotient >> DROPPED_BITS, dropped = quotient & ((UINT64_C(1) << DROPPED_BITS) - 1),
             half = UINT64_C(1) << (DROPPED_BITS - 1);
    kept += dropped > half || (dropped == half && (!is_exact || (kept & 1)));
    return scaled(kept, DROPPED_BITS + divisor_shift - mantissa_shift - shift - power);
}

bool double_from_decimal(uint64_t mantissa, int64_t exponent, double *ret)
{
    if (exponent > DOUBLE_EXACT_POWER_MAX || exponent < -DOUBLE_EXACT_POWER_MAX)
        return false;
    if (mantissa == 0) {
        *ret = 0;
        return true;
    }
    if (exponent < 0) {
        *ret = quotient_of(mantissa, (int)-exponent);
        return true;
    }
    uint128 product = (uint128)mantissa * POWERS_OF_FIVE[exponent];
    int more = bit_length(product) - (FRACTION_BITS + 1);
    *ret = more > 0 ? scaled(shifted_right(product, more), more + (int)exponent)
                    : scaled((uint64_t)product, (int)exponent);
    return true;
}

/* A double taken apart: fraction × 2^power. */
struct binary {
    uint64_t fraction;
    int power;
    bool is_power_of_two;
};

static struct binary binary_of(double magnitude)
{
    uint64_t bits;
    memcpy(&bits, &magnitude, sizeof bits);
    uint64_t fraction = bits & ((UINT64_C(1) << FRACTION_BITS) - 1);
    return (struct binary){.fraction = fraction | UINT64_C(1) << FRACTION_BITS,
                           .power = (int)(bits >> FRACTION_BITS) - EXPONENT_BIAS - FRACTION_BITS,
                           .is_power_of_two = fraction == 0};
}

/* × 10^power to the nearest whole number; the product must be below 2^63. */
static uint64_t times_ten(const struct binary *binary, int power)
{
    uint128 product = (uint128)binary->fraction * POWERS_OF_FIVE[power];
    int shift = binary->power + power;
    return shift >= 0 ? (uint64_t)(product << shift) : shifted_right(product, -shift);
}

static bool reads_back(uint64_t digits, int power, double magnitude)
{
    double again;
    return double_from_decimal(digits, -(int64_t)power, &again) && again >= magnitude && again <= magnitude;
}

static int put_digits(uint64_t whole, char ret[DOUBLE_EXACT_DIGITS])
{
    char text[20];
    int count = 0;
    while (whole % 10 == 0)
        whole /= 10;
    for (; whole > 0; whole /= 10)
        text[count++] = (char)('0' + whole % 10);
    for (int i = 0; i < count; i++)
        ret[i] = text[count - 1 - i];
    return count;
}

int double_shortest_digits(double magnitude, char ret_digits[DOUBLE_EXACT_DIGITS], int *ret_point)
{
    /* No fewer than 15 digits need be tried: any two decimals of 15 are different doubles. */
    static const uint64_t tens[] = {UINT64_C(1000000000000000), UINT64_C(10000000000000000),
                                    UINT64_C(100000000000000000)};
    if (!(magnitude >= 1e-9 && magnitude < 1e15))
        return 0;
    struct binary binary = binary_of(magnitude);
    /* The decimal exponent, or one less: log10(2) rounded down. */
    int point = ((binary.power + FRACTION_BITS) * 78913 >> 18) + 1;
    if (times_ten(&binary, 17 - point) >= tens[2])
        point++;
    for (int i = 0; i < 3; i++) {
        int power = 15 + i - point;
        uint64_t digits = times_ten(&binary, power);
        /* Just above a power of two the upper neighbour may be the only one of 16 digits that reads back. */
        bool is_upper = i == 1 && binary.is_power_of_two && digits % 10 != 9 && !reads_back(digits, power, magnitude);
        digits += is_upper;
        if (i < 2 && !reads_back(digits, power, magnitude))
            continue;
        *ret_point = point + (digits >= tens[i]);
        return put_digits(digits, ret_digits);
    }
    return 0;
}
