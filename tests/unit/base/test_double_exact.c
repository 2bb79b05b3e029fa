/* SPDX-License-Identifier: Apache-2.0 */
/* Against strtod and printf of the C library, on made-up numbers and at the places where rounding is hard. */
#include "base/double_exact.h"
#include "base/rng.h"

#include "support/check.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define ROUNDS 60000

static void check_decimal(uint64_t mantissa, int exponent)
{
    char text[40];
    double ours = -1;
    (void)snprintf(text, sizeof text, "%llue%d", (unsigned long long)mantissa, exponent);
    assert_true(double_from_decimal(mantissa, exponent, &ours));
    double theirs = strtod(text, NULL);
    if (memcmp(&ours, &theirs, sizeof ours) != 0)
        fail_msg("%s: %a, not %a", text, ours, theirs);
}

static void test_decimals(void **state)
{
    (void)state;
    static const uint64_t hard[] = {0,
                                    1,
                                    9007199254740991,
                                    9007199254740992,
                                    9007199254740993,
                                    9007199254740995,
                                    18014398509481985,
                                    9223372036854775807,
                                    9223372036854775808u,
                                    9223372036854776832u, /* half way between two doubles */
                                    9223372036854776833u,
                                    9999999999999999999u,
                                    UINT64_MAX};
    double untouched = 7;
    struct rng rng;
    for (size_t i = 0; i < ARRAY_COUNT(hard); i++)
        for (int exponent = -DOUBLE_EXACT_POWER_MAX; exponent <= DOUBLE_EXACT_POWER_MAX; exponent++)
            check_decimal(hard[i], exponent);
    rng_init(&rng, 1, 1);
    for (int i = 0; i < ROUNDS; i++) {
        uint64_t mantissa = rng_u64(&rng) >> rng_below(&rng, 60);
        check_decimal(mantissa, (int)rng_below(&rng, 2 * DOUBLE_EXACT_POWER_MAX + 1) - DOUBLE_EXACT_POWER_MAX);
    }
    assert_false(double_from_decimal(1, DOUBLE_EXACT_POWER_MAX + 1, &untouched));
    assert_false(double_from_decimal(1, -DOUBLE_EXACT_POWER_MAX - 1, &untouched));
    assert_true(untouched >= 7);
}

/* The fewest digits that %e can print and strtod reads back: at most one more than ours has. */
static int fewest(double magnitude)
{
    char text[40];
    for (int digits = 1; digits < DOUBLE_EXACT_DIGITS; digits++) {
        (void)snprintf(text, sizeof text, "%.*e", digits - 1, magnitude);
        if (memcmp(&magnitude, &(double){strtod(text, NULL)}, sizeof magnitude) == 0)
            return digits;
    }
    return DOUBLE_EXACT_DIGITS;
}

static void check_shortest(double magnitude)
{
    char digits[DOUBLE_EXACT_DIGITS], text[60];
    int point = 0, count = double_shortest_digits(magnitude, digits, &point);
    if (count == 0)
        fail_msg("%a: nothing", magnitude);
    (void)snprintf(text, sizeof text, "0.%.*se%d", count, digits, point);
    double again = strtod(text, NULL);
    if (memcmp(&again, &magnitude, sizeof again) != 0)
        fail_msg("%.17g: %s reads back as %.17g", magnitude, text, again);
    if (count > fewest(magnitude) || digits[count - 1] == '0' || digits[0] == '0')
        fail_msg("%.17g: %s is not the shortest", magnitude, text);
}

static void test_shortest(void **state)
{
    (void)state;
    static const double edges[] = {1e-9,
                                   1.0000000000000001e-9,
                                   0.1,
                                   0.2,
                                   0.1 + 0.2,
                                   0.3,
                                   0.9999999999999999,
                                   1,
                                   1.0000000000000002,
                                   5e-5,
                                   123456.75,
                                   999999999999999.9,
                                   1e14,
                                   1e-5,
                                   2.5,
                                   1 / 3.,
                                   4503599627370.4971,
                                   9007199254740.992,
                                   1e-8,
                                   9.999999999999999e-9,
                                   0.0625,
                                   1024,
                                   99.99};
    struct rng rng;
    for (size_t i = 0; i < ARRAY_COUNT(edges); i++)
        check_shortest(edges[i]);
    for (int power = -29; power < 49; power++) {
        check_shortest(ldexp(1, power));
        check_shortest(nextafter(ldexp(1, power), 0));
        check_shortest(nextafter(ldexp(1, power), 1e300));
    }
    for (double ten = 1e-8; ten < 1e15; ten *= 10) {
        check_shortest(nextafter(ten, 0));
        check_shortest(nextafter(ten, 1e300));
    }
    rng_init(&rng, 2, 1);
    for (int i = 0; i < ROUNDS; i++)
        check_shortest(ldexp(0.5 + rng_uniform(&rng) / 2, (int)rng_below(&rng, 77) - 28));
    for (int i = 0; i < ROUNDS; i++)
        check_shortest((double)(rng_below(&rng, 1000000000) + 1) / 1000);
}

static void test_outside(void **state)
{
    (void)state;
    static const double outside[] = {0, 9.9e-10, 1e15, 1e300, 5e-324};
    char digits[DOUBLE_EXACT_DIGITS];
    int point;
    for (size_t i = 0; i < ARRAY_COUNT(outside); i++)
        assert_int_equal(double_shortest_digits(outside[i], digits, &point), 0);
    assert_int_equal(double_shortest_digits((double)NAN, digits, &point), 0);
    assert_int_equal(double_shortest_digits((double)INFINITY, digits, &point), 0);
    assert_int_equal(double_shortest_digits(-1, digits, &point), 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_decimals), cmocka_unit_test(test_shortest),
                                       cmocka_unit_test(test_outside)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
