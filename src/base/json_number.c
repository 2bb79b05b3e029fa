/* SPDX-License-Identifier: Apache-2.0 */
#include "base/double_exact.h"
#include "base/json.h"
#include "base/json_text.h"
#include "base/json_write.h"

#include <float.h>
#include <locale.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* A 64-bit mantissa holds any 19 digits. */
#define MANTISSA_DIGITS 19
/* Digits that decide how a decimal rounds to a double (767, and one for "something follows"). */
#define SLOW_DIGITS 800
/* An exponent beyond any that matters, small enough to add text lengths to. */
#define EXPONENT_MAX (INT64_C(1) << 60)
/* 10^22 is the largest power of ten that is a double, 2^53 the end of the consecutive whole ones. */
#define EXACT_POWER_MAX 22
#define EXACT_WHOLE_MAX (UINT64_C(1) << 53)

static const double EXACT_POWERS[EXACT_POWER_MAX + 1] = {1e0,  1e1,  1e2,  1e3,  1e4,  1e5,  1e6,  1e7,
                                                         1e8,  1e9,  1e10, 1e11, 1e12, 1e13, 1e14, 1e15,
                                                         1e16, 1e17, 1e18, 1e19, 1e20, 1e21, 1e22};

/*
 * A number's text taken apart: ± mantissa × 10^exponent, leading and trailing zeros dropped. When it
 * has more digits than the mantissa holds, they are the `digits` digits from `first` on (a point
 * among them is not counted) and the mantissa is not valid.
 */
struct decimal {
    bool is_negative;
    uint64_t mantissa;
    size_t digits;     /* significant ones, 0 for a zero */
    int64_t exponent;  /* of the last significant digit */
    const char *first; /* first significant digit */
};

static int64_t exponent_value(const char *at, const char *end)
{
    bool is_negative = *at == '-';
    if (*at == '-' || *at == '+')
        at++;
    int64_t value = 0;
    for (; at < end; at++)
        value = value > EXPONENT_MAX / 10 ? EXPONENT_MAX : value * 10 + (*at - '0');
    return is_negative ? -value : value;
}

static void decimal_add_digit(struct decimal *decimal, const char *at, size_t zeros)
{
    decimal->digits += decimal->digits ? zeros + 1 : 1;
    if (!decimal->mantissa)
        decimal->first = at;
    if (decimal->digits > MANTISSA_DIGITS)
        return;
    for (size_t i = 0; decimal->mantissa && i < zeros; i++)
        decimal->mantissa *= 10;
    decimal->mantissa = decimal->mantissa * 10 + (uint64_t)(*at - '0');
}

/* False when the text is no JSON number. */
static bool decimal_read(const char *text, size_t len, struct decimal *ret)
{
    const char *at = text, *end = text + len;
    if (json_number_end(text, end) != end)
        return false;
    struct decimal decimal = {.is_negative = *at == '-', .first = end};
    at += decimal.is_negative;
    size_t zeros = 0;        /* since the last digit that is none */
    int64_t after_point = 0; /* digits seen behind the point */
    bool is_fraction = false;
    for (; at < end && *at != 'e' && *at != 'E'; at++) {
        if (*at == '.') {
            is_fraction = true;
            continue;
        }
        after_point += is_fraction;
        if (*at == '0') {
            zeros++;
            continue;
        }
        decimal_add_digit(&decimal, at, zeros);
        zeros = 0;
    }
    if (decimal.digits)
        decimal.exponent = (int64_t)zeros - after_point + (at < end ? exponent_value(at + 1, end) : 0);
    *ret = decimal;
    return true;
}

/* Up to 18 digits and nothing else: what nearly every whole number looks like. */
static bool plain_int64(const char *text, size_t len, int64_t *ret)
{
    const char *at = text, *end = text + len;
    bool is_negative = len > 0 && *at == '-';
    at += is_negative;
    if (at == end || end - at > 18 || (*at == '0' && end - at > 1))
        return false;
    int64_t value = 0;
    for (; at < end; at++) {
        if (!json_is_digit(*at))
            return false;
        value = value * 10 + (*at - '0');
    }
    *ret = is_negative ? -value : value;
    return true;
}

bool json_text_int64(const char *text, size_t len, int64_t *ret)
{
    if (plain_int64(text, len, ret))
        return true;
    struct decimal decimal;
    if (!decimal_read(text, len, &decimal))
        return false;
    if (decimal.digits > MANTISSA_DIGITS || decimal.exponent < 0)
        return false;
    uint64_t magnitude = decimal.mantissa;
    for (int64_t i = 0; i < decimal.exponent; i++) {
        if (__builtin_mul_overflow(magnitude, UINT64_C(10), &magnitude))
            return false;
    }
    if (magnitude > (uint64_t)INT64_MAX + decimal.is_negative)
        return false;
    *ret = decimal.is_negative ? (int64_t)(0 - magnitude) : (int64_t)magnitude;
    return true;
}

/* Rewrites any decimal as "digits e exponent" of bounded length and lets the C library round it. */
static double decimal_round(const struct decimal *decimal)
{
    char text[SLOW_DIGITS + 40];
    size_t used = 0;
    size_t kept = decimal->digits < SLOW_DIGITS ? decimal->digits : SLOW_DIGITS;
    for (const char *at = decimal->first; used < kept; at++) {
        if (json_is_digit(*at))
            text[used++] = *at;
    }
    int64_t exponent = decimal->exponent + (int64_t)(decimal->digits - kept);
    if (kept < decimal->digits) {
        text[used++] = '1';
        exponent--;
    }
    snprintf(text + used, sizeof text - used, "e%lld", (long long)exponent);
    return strtod_l(text, NULL, newlocale(LC_ALL_MASK, "C", (locale_t)0));
}

/* Two exact doubles and one rounded operation: correct (Clinger 1990). False when the decimal is not of that kind. */
static bool decimal_exact(const struct decimal *decimal, double *ret)
{
    if (decimal->digits > MANTISSA_DIGITS || decimal->mantissa > EXACT_WHOLE_MAX)
        return false;
    if (decimal->exponent < -EXACT_POWER_MAX || decimal->exponent > EXACT_POWER_MAX)
        return false;
    double mantissa = (double)decimal->mantissa;
    *ret = decimal->exponent < 0 ? mantissa / EXACT_POWERS[-decimal->exponent]
                                 : mantissa * EXACT_POWERS[decimal->exponent];
    return true;
}

bool json_text_double(const char *text, size_t len, double *ret)
{
    struct decimal decimal;
    if (!decimal_read(text, len, &decimal))
        return false;
    double value;
    bool is_short = decimal.digits <= MANTISSA_DIGITS;
    if (!decimal_exact(&decimal, &value) &&
        !(is_short && double_from_decimal(decimal.mantissa, decimal.exponent, &value)))
        value = decimal_round(&decimal);
    if (!isfinite(value))
        return false;
    *ret = decimal.is_negative ? -value : value;
    return true;
}

static const char DIGIT_PAIRS[201] = "00010203040506070809101112131415161718192021222324"
                                     "25262728293031323334353637383940414243444546474849"
                                     "50515253545556575859606162636465666768697071727374"
                                     "75767778798081828384858687888990919293949596979899";

static int digits_of(uint64_t value)
{
    static const uint64_t POWERS[20] = {0,
                                        10,
                                        100,
                                        1000,
                                        10000,
                                        100000,
                                        1000000,
                                        10000000,
                                        100000000,
                                        1000000000,
                                        10000000000,
                                        100000000000,
                                        1000000000000,
                                        10000000000000,
                                        100000000000000,
                                        1000000000000000,
                                        10000000000000000,
                                        100000000000000000,
                                        1000000000000000000,
                                        UINT64_C(10000000000000000000)};
    /* bits × log10(2), rounded down, is the number of digits or one less. */
    int estimate = (64 - __builtin_clzll(value | 1)) * 1233 >> 12;
    return estimate + (value >= POWERS[estimate]);
}

char *uint64_put(char *at, uint64_t value)
{
    int digits = value ? digits_of(value) : 1;
    char *end = at + digits;
    char *last = end;
    while (value >= 100) {
        last -= 2;
        memcpy(last, DIGIT_PAIRS + value % 100 * 2, 2);
        value /= 100;
    }
    if (value >= 10)
        memcpy(last - 2, DIGIT_PAIRS + value * 2, 2);
    else
        last[-1] = (char)('0' + value);
    return end;
}

char *int64_put(char *at, int64_t value)
{
    if (value >= 0)
        return uint64_put(at, (uint64_t)value);
    *at++ = '-';
    return uint64_put(at, 0 - (uint64_t)value);
}

/*
 * A value that is whole ÷ 10^decimals for a whole number of at most 15 digits: then that decimal
 * reads back equal, and no other decimal of up to 15 digits does (DBL_DIG). Covers counts and
 * nanoseconds shown as milliseconds. Returns the length, 0 when the value is not of that kind.
 */
static size_t double_format_short(double magnitude, char *at)
{
    static const double WHOLE_MAX = 1e15;
    static const int DECIMALS = 6;
    if (magnitude >= WHOLE_MAX)
        return 0;
    uint64_t whole = (uint64_t)magnitude;
    if ((double)whole == magnitude)
        return (size_t)(uint64_put(at, whole) - at);
    double scaled = magnitude * EXACT_POWERS[DECIMALS];
    if (scaled >= WHOLE_MAX || magnitude < 1e-4)
        return 0;
    uint64_t units = (uint64_t)(scaled + 0.5);
    if ((double)units / EXACT_POWERS[DECIMALS] != magnitude)
        return 0;
    char *end = uint64_put(at, units / 1000000);
    *end++ = '.';
    uint64_put(end, units % 1000000 + 1000000);
    memmove(end, end + 1, (size_t)DECIMALS);
    end += DECIMALS;
    while (end[-1] == '0')
        end--;
    return (size_t)(end - at);
}

/*
 * Just above a power of two the nearest 16-digit decimal can lie outside the narrower half of the rounding interval
 * while its upper neighbour lies inside: tries that neighbour.
 */
static bool upper_neighbour_fits(double magnitude, char *text)
{
    int exponent;
    char *e = strchr(text, 'e');
    if (frexp(magnitude, &exponent) != 0.5 || e[-1] == '9')
        return false;
    e[-1]++;
    return strtod(text, NULL) == magnitude;
}

/* The shortest text that reads back equal, in the form of %e. The C locale is in use. */
static void shortest_scientific(double magnitude, char text[DOUBLE_TEXT_BYTES])
{
    /* Normal doubles tell any two decimals of 15 digits apart, so no fewer need be tried. */
    int precision = magnitude < DBL_MIN ? 1 : DBL_DIG;
    for (; precision < DBL_DECIMAL_DIG; precision++) {
        snprintf(text, DOUBLE_TEXT_BYTES, "%.*e", precision - 1, magnitude);
        if (strtod(text, NULL) == magnitude)
            return;
        if (precision == DBL_DECIMAL_DIG - 1 && upper_neighbour_fits(magnitude, text))
            return;
    }
    snprintf(text, DOUBLE_TEXT_BYTES, "%.*e", precision - 1, magnitude);
}

/* Writes 0.digits × 10^point as people do: plain from 0.0001 to below 10^16, else with an exponent. */
static char *decimal_put(char *at, const char *digits, int count, int point)
{
    if (point < -3 || point > 16) {
        *at++ = digits[0];
        if (count > 1)
            *at++ = '.';
        memcpy(at, digits + 1, (size_t)count - 1);
        at += count - 1;
        *at++ = 'e';
        return int64_put(at, point - 1);
    }
    int whole = point < 0 ? 0 : point < count ? point : count;
    memcpy(at, digits, (size_t)whole);
    at += whole;
    if (whole == 0)
        *at++ = '0';
    for (int i = count; i < point; i++)
        *at++ = '0';
    if (whole == count)
        return at;
    *at++ = '.';
    for (int i = point; i < 0; i++)
        *at++ = '0';
    memcpy(at, digits + whole, (size_t)(count - whole));
    return at + (count - whole);
}

static char *double_format_any(double magnitude, char *at)
{
    char text[DOUBLE_TEXT_BYTES], exact[DOUBLE_EXACT_DIGITS];
    int point, exact_count = double_shortest_digits(magnitude, exact, &point);
    if (exact_count > 0)
        return decimal_put(at, exact, exact_count, point);
    locale_t before = uselocale(newlocale(LC_ALL_MASK, "C", (locale_t)0));
    shortest_scientific(magnitude, text);
    uselocale(before);
    char *e = strchr(text, 'e');
    int exponent = (int)strtol(e + 1, NULL, 10);
    char digits[DOUBLE_TEXT_BYTES] = "0";
    int count = 0;
    for (const char *from = text; from < e; from++) {
        if (*from != '.')
            digits[count++] = *from;
    }
    while (count > 1 && digits[count - 1] == '0')
        count--;
    return decimal_put(at, digits, count, exponent + 1);
}

size_t double_format(double value, char ret_text[DOUBLE_TEXT_BYTES])
{
    char *at = ret_text;
    if (!isfinite(value)) {
        memcpy(at, "null", sizeof "null");
        return sizeof "null" - 1;
    }
    if (signbit(value))
        *at++ = '-';
    double magnitude = fabs(value);
    size_t len = double_format_short(magnitude, at);
    at = len ? at + len : double_format_any(magnitude, at);
    *at = '\0';
    return (size_t)(at - ret_text);
}
