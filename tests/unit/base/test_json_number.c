/* SPDX-License-Identifier: Apache-2.0 */
#include "base/json.h"
#include "base/json_write.h"
#include "base/rng.h"

#include "support/check.h"

#include <float.h>
#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static void whole_numbers_in_any_form(void **state)
{
    (void)state;
    static const struct {
        const char *text;
        int64_t value;
    } fits[] = {
        {"0", 0},
        {"-0", 0},
        {"0.000", 0},
        {"0e99999999999999999999", 0},
        {"1", 1},
        {"1.0", 1},
        {"1e2", 100},
        {"100e-2", 1},
        {"-12.50e1", -125},
        {"0.00012e5", 12},
        {"9223372036854775807", INT64_MAX},
        {"-9223372036854775808", INT64_MIN},
        {"922337203685477580.7e1", INT64_MAX},
        {"9223372036854775807.000000000000000000000000", INT64_MAX},
        {"1000000000000000000", INT64_C(1000000000000000000)},
        {"100000000000000000000000000e-25", 10},
    };
    static const char *const misfits[] = {"9223372036854775808",
                                          "-9223372036854775809",
                                          "1e19",
                                          "1e30",
                                          "1.5",
                                          "1e-1",
                                          "-0.1",
                                          "18446744073709551616",
                                          "10000000000000000000000",
                                          "9999999999999999999999",
                                          "1e999999999999999999999",
                                          "1.0000000000000000000000001",
                                          "",
                                          "-",
                                          "01",
                                          "1.",
                                          "1e",
                                          "+1",
                                          "0x1",
                                          "1 ",
                                          " 1",
                                          "1a",
                                          "nan",
                                          ".5"};
    for (size_t i = 0; i < ARRAY_COUNT(fits); i++) {
        int64_t value = -99;
        if (!json_text_int64(fits[i].text, strlen(fits[i].text), &value) || value != fits[i].value)
            fail_msg("%s gave %" PRId64, fits[i].text, value);
    }
    for (size_t i = 0; i < ARRAY_COUNT(misfits); i++) {
        int64_t value = -99;
        if (json_text_int64(misfits[i], strlen(misfits[i]), &value) || value != -99)
            fail_msg("%s gave %" PRId64, misfits[i], value);
    }
}

static void check_double(const char *text)
{
    double expected = strtod(text, NULL), value = -99;
    bool fits = json_text_double(text, strlen(text), &value);
    if (fits != (isfinite(expected) != 0))
        fail_msg("%s: fits is %d", text, fits);
    if (fits && memcmp(&value, &expected, sizeof value) != 0)
        fail_msg("%s gave %a instead of %a", text, value, expected);
    if (!fits)
        assert_true(value == -99);
}

static void doubles_are_rounded_correctly(void **state)
{
    (void)state;
    static const char *const texts[] = {"0",
                                        "-0",
                                        "0.0",
                                        "-0e5",
                                        "1",
                                        "-1.5",
                                        "0.1",
                                        "0.3",
                                        "1e22",
                                        "1e23",
                                        "1e-22",
                                        "1e-23",
                                        "123456789012345678",
                                        "9007199254740993",
                                        "9007199254740992.999999999",
                                        "9007199254740993.0000000000000000000000000000000001",
                                        "1.7976931348623157e308",
                                        "1.7976931348623158e308",
                                        "1.7976931348623159e308",
                                        "1e309",
                                        "1e400",
                                        "-1e400",
                                        "4.9e-324",
                                        "2.4703282292062327e-324",
                                        "2.4703282292062328e-324",
                                        "1e-400",
                                        "2.2250738585072011e-308",
                                        "2.2250738585072014e-308",
                                        "0.000000000000000000000000000000000000000000000000000000000000000000001",
                                        "1e999999999999999999999999",
                                        "1e-999999999999999999999999",
                                        "100000000000000000000000000000000000000e-37",
                                        "6.9294956446009195e15",
                                        "3.518437208883201171875e13",
                                        "8.98846567431158e307"};
    for (size_t i = 0; i < ARRAY_COUNT(texts); i++)
        check_double(texts[i]);
    double value;
    assert_false(json_text_double("1.", 2, &value));
    assert_false(json_text_double("", 0, &value));
    assert_false(json_text_double("1e5x", 4, &value));
}

/* More digits than any double needs, where the last one decides. */
static void long_decimals_round_on_their_last_digit(void **state)
{
    (void)state;
    /* 2^53 + 1 lies half way between two doubles: to even below, up with any digit behind it. */
    char text[2200];
    strcpy(text, "9007199254740993.");
    size_t len = strlen(text);
    memset(text + len, '0', 2000);
    text[len + 2000] = '\0';
    double value = 0;
    assert_true(json_text_double(text, len + 2000, &value));
    assert_true(value == 9007199254740992.0);
    text[len + 1999] = '1';
    assert_true(json_text_double(text, len + 2000, &value));
    assert_true(value == 9007199254740994.0);
    /* And a long run of zeros that an exponent undoes. */
    memset(text, '0', 2000);
    memcpy(text, "0.", 2);
    strcpy(text + 2000, "15e2000");
    assert_true(json_text_double(text, strlen(text), &value));
    assert_true(value == 15.0);
    check_double(text);
}

static void random_decimals_match_the_c_library(void **state)
{
    (void)state;
    struct rng rng;
    rng_init(&rng, 1, 0);
    for (int i = 0; i < 20000; i++) {
        char text[96];
        size_t len = 0;
        if (rng_below(&rng, 2))
            text[len++] = '-';
        int whole = 1 + (int)rng_below(&rng, 20), fraction = (int)rng_below(&rng, 25);
        for (int d = 0; d < whole; d++)
            text[len++] = (char)('0' + (d == 0 && whole > 1 ? 1 + rng_below(&rng, 9) : rng_below(&rng, 10)));
        if (fraction)
            text[len++] = '.';
        for (int d = 0; d < fraction; d++)
            text[len++] = (char)('0' + (rng_below(&rng, 3) ? rng_below(&rng, 10) : 0));
        int exponent = rng_below(&rng, 2) ? (int)rng_below(&rng, 60) - 30 : (int)rng_below(&rng, 680) - 350;
        snprintf(text + len, sizeof text - len, "e%d", exponent);
        check_double(text);
    }
}

static void check_text(double value, const char *expected)
{
    char text[DOUBLE_TEXT_BYTES];
    size_t len = double_format(value, text);
    assert_string_equal(text, expected);
    assert_int_equal(len, strlen(expected));
}

static void doubles_have_the_shortest_text(void **state)
{
    (void)state;
    check_text(0.0, "0");
    check_text(-0.0, "-0");
    check_text(1.0, "1");
    check_text(-12.0, "-12");
    check_text(0.1, "0.1");
    check_text(0.1 + 0.2, "0.30000000000000004");
    check_text(1.5, "1.5");
    check_text(100.25, "100.25");
    check_text(1234567.891234, "1234567.891234");
    check_text(0.000001, "1e-6");
    check_text(0.0001, "0.0001");
    check_text(0.00012345, "0.00012345");
    check_text(0.00001234, "1.234e-5");
    check_text(1.0 / 3, "0.3333333333333333");
    check_text(2.0 / 3, "0.6666666666666666");
    check_text(1e15, "1000000000000000");
    check_text(9007199254740992.0, "9007199254740992");
    check_text(1e16, "1e16");
    check_text(12345678901234567890.0, "1.2345678901234567e19");
    check_text(1e21, "1e21");
    check_text(1e22, "1e22");
    check_text(1e23, "1e23");
    check_text(DBL_MAX, "1.7976931348623157e308");
    check_text(DBL_MIN, "2.2250738585072014e-308");
    check_text(DBL_TRUE_MIN, "5e-324");
    check_text(1e-320, "1e-320");
    check_text(0x1p-44, "5.684341886080802e-14");
    check_text(0x1p-1022, "2.2250738585072014e-308");
    check_text(9.5367431640625e-07, "9.5367431640625e-7");
    check_text(123456.7890125, "123456.7890125");
    check_text(NAN, "null");
    check_text(INFINITY, "null");
    check_text(-INFINITY, "null");
}

/* The fewest significant digits of a correctly rounded decimal that reads back equal: what "shortest" is held against.
 */
static int fewest_digits(double value)
{
    for (int precision = 1; precision < 17; precision++) {
        char text[64];
        snprintf(text, sizeof text, "%.*e", precision - 1, value);
        if (strtod(text, NULL) == value)
            return precision;
    }
    return 17;
}

static int digits_of(const char *text)
{
    int digits = 0, zeros = 0;
    for (; *text && *text != 'e'; text++) {
        if (*text == '0') {
            zeros++;
        } else if (*text >= '1' && *text <= '9') {
            digits += digits ? zeros + 1 : 1;
            zeros = 0;
        }
    }
    return digits;
}

static void check_round_trip(double value)
{
    char text[DOUBLE_TEXT_BYTES + 1];
    text[DOUBLE_TEXT_BYTES] = '#';
    size_t len = double_format(value, text);
    assert_int_equal(strlen(text), len);
    assert_int_equal(text[DOUBLE_TEXT_BYTES], '#');
    double back = strtod(text, NULL), own = -1;
    assert_true(json_text_double(text, len, &own));
    if (memcmp(&back, &value, sizeof value) != 0 || memcmp(&own, &value, sizeof value) != 0)
        fail_msg("%a became %s", value, text);
    if (digits_of(text) > fewest_digits(value))
        fail_msg("%a became %s, longer than needed", value, text);
}

static void random_doubles_survive(void **state)
{
    (void)state;
    struct rng rng;
    rng_init(&rng, 2, 0);
    for (int i = 0; i < 8000; i++) {
        uint64_t bits = rng_u64(&rng);
        double value;
        memcpy(&value, &bits, sizeof value);
        if (isfinite(value))
            check_round_trip(value);
        check_round_trip((double)(int64_t)rng_below(&rng, UINT64_C(1) << 50) / 1e6);
        check_round_trip((double)(int64_t)rng_below(&rng, UINT64_C(1) << 40) / 1e3);
        check_round_trip(rng_uniform(&rng));
        check_round_trip(ldexp(1, (int)rng_below(&rng, 2098) - 1074));
    }
}

static void check_integer(int64_t value)
{
    char expected[32], text[32];
    snprintf(expected, sizeof expected, "%" PRId64, value);
    *int64_put(text, value) = '\0';
    assert_string_equal(text, expected);
    snprintf(expected, sizeof expected, "%" PRIu64, (uint64_t)value);
    *uint64_put(text, (uint64_t)value) = '\0';
    assert_string_equal(text, expected);
}

static void integers_are_written(void **state)
{
    (void)state;
    int64_t power = 1;
    for (int i = 0; i < 18; i++, power *= 10) {
        check_integer(power);
        check_integer(power - 1);
        check_integer(-power);
        check_integer(power + 1);
    }
    check_integer(INT64_MAX);
    check_integer(INT64_MIN);
    struct rng rng;
    rng_init(&rng, 3, 0);
    for (int i = 0; i < 5000; i++)
        check_integer((int64_t)(rng_u64(&rng) >> rng_below(&rng, 64)));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(whole_numbers_in_any_form),
        cmocka_unit_test(doubles_are_rounded_correctly),
        cmocka_unit_test(long_decimals_round_on_their_last_digit),
        cmocka_unit_test(random_decimals_match_the_c_library),
        cmocka_unit_test(doubles_have_the_shortest_text),
        cmocka_unit_test(random_doubles_survive),
        cmocka_unit_test(integers_are_written),
    };
    return cmocka_run_group_tests_name("json_number", tests, NULL, NULL);
}
