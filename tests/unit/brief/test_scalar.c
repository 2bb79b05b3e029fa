/* SPDX-License-Identifier: Apache-2.0 */
/* What plain YAML scalars, number texts and times mean; expected values are PyYAML's and pydantic's. */
#include "brief/scalar.h"

#include "support/check.h"

#include <math.h>
#include <string.h>

static void check_type(const char *text, enum value_type type)
{
    struct tree tree;
    tree_init(&tree, 0);
    struct value *value = scalar_resolve(&tree, text, strlen(text));
    assert_non_null(value);
    if (value->type != (uint8_t)type)
        fail_msg("\"%s\" is %s", text, value_type_name(value));
    tree_done(&tree);
}

static void test_types(void **state)
{
    static const char *const nulls[] = {"", "~", "null", "NULL"}, *const bools[] = {"yes", "No", "TRUE", "off"};
    static const char *const ints[] = {
        "0", "-12", "+7", "1_000", "0b101", "0x1F", "0755", "1:30", "123456789012345678901234567890"};
    static const char *const floats[] = {"1.0",  ".5",    "1.",   "-1.5e+3", "1.0e-07",
                                         ".inf", "-.INF", ".nan", "1:30.5",  "6.02_1"};
    static const char *const texts[] = {"y",  "n",  "1e5",   "1e-05", "2E10", "NaN", "Infinity",
                                        "08", "0x", "1.2.3", "-",     "+.5",  "nul", "12:61"};
    static const char *const times[] = {"2026-01-01", "2026-01-01T00:00:00Z", "2026-1-1 1:02:03.5 +02:00"};
    (void)state;
    for (size_t i = 0; i < ARRAY_COUNT(nulls); i++)
        check_type(nulls[i], VALUE_NULL);
    for (size_t i = 0; i < ARRAY_COUNT(bools); i++)
        check_type(bools[i], VALUE_BOOL);
    for (size_t i = 0; i < ARRAY_COUNT(ints); i++)
        check_type(ints[i], VALUE_INT);
    for (size_t i = 0; i < ARRAY_COUNT(floats); i++)
        check_type(floats[i], VALUE_FLOAT);
    for (size_t i = 0; i < ARRAY_COUNT(texts); i++)
        check_type(texts[i], VALUE_TEXT);
    for (size_t i = 0; i < ARRAY_COUNT(times); i++)
        check_type(times[i], VALUE_TIME);
}

static void test_integers(void **state)
{
    (void)state;
    static const struct {
        const char *text;
        int64_t value;
    } cases[] = {{"0x1F", 31}, {"-0b11", -3}, {"0755", 493}, {"1:30", 90}, {"-1:00:01", -3601}, {"1_000", 1000}};
    struct tree tree;
    tree_init(&tree, 0);
    for (size_t i = 0; i < ARRAY_COUNT(cases); i++)
        assert_int_equal(scalar_resolve(&tree, cases[i].text, strlen(cases[i].text))->integer, cases[i].value);
    struct value *large = scalar_integer(&tree, "-99999999999999999999", 21);
    assert_string_equal(large->text, "-99999999999999999999");
    assert_int_equal(large->integer, INT64_MIN);
    tree_done(&tree);
}

static void test_number_texts(void **state)
{
    (void)state;
    static const struct {
        const char *text;
        double value;
    } good[] = {{"5", 5},
                {"1e-05", 1e-05},
                {"1_000", 1000},
                {" 7 ", 7},
                {"+.5", .5},
                {"007.50", 7.5},
                {"3.", 3},
                {"1e999", (double)INFINITY},
                {"-inf", -(double)INFINITY},
                {"1.e2", 100}};
    static const char *const bad[] = {"", "-", "x", "1__0", "_1", "1_", "0x10", "1e", ".", "1 2", "1,5", "--1", "infx"};
    double number;
    int64_t integer;
    for (size_t i = 0; i < ARRAY_COUNT(good); i++) {
        if (!scalar_double(good[i].text, strlen(good[i].text), &number))
            fail_msg("\"%s\" is a number", good[i].text);
        assert_true(number >= good[i].value && number <= good[i].value);
    }
    for (size_t i = 0; i < ARRAY_COUNT(bad); i++)
        if (scalar_double(bad[i], strlen(bad[i]), &number))
            fail_msg("\"%s\" is no number", bad[i]);
    assert_true(scalar_double("NaN", 3, &number) && isnan(number));
    assert_true(scalar_int("3.0", 3, &integer) && integer == 3);
    assert_false(scalar_int("3.5", 3, &integer));
    assert_false(scalar_int("99999999999999999999", 20, &integer));
}

static void test_times(void **state)
{
    (void)state;
    static const char *const good[][2] = {{"2026-01-02T03:04:05Z", "2026-01-02T03:04:05Z"},
                                          {"2026-01-02 03:04:05.1+00:00", "2026-01-02T03:04:05.100000Z"},
                                          {"2026-01-02T03:04:05.1234567-05:30", "2026-01-02T03:04:05.123456-05:30"},
                                          {"2026-01-02T03:04", "2026-01-02T03:04:00"},
                                          {"2024-02-29", "2024-02-29T00:00:00"},
                                          {"1760000000", "2025-10-09T08:53:20Z"},
                                          {"1760000000500", "2025-10-09T08:53:20.500000Z"},
                                          {"-1", "1969-12-31T23:59:59Z"}};
    static const char *const bad[] = {"",
                                      "yesterday",
                                      "2026-13-01",
                                      "2025-02-29",
                                      "2026-01-02T25:00",
                                      "2026-01-02T03:04:05X",
                                      "2026-01-02T03:04:05+25:00",
                                      "12:30",
                                      "2026-01-02T"};
    char text[TIME_TEXT_BYTES];
    for (size_t i = 0; i < ARRAY_COUNT(good); i++) {
        if (!time_normalise(good[i][0], strlen(good[i][0]), text))
            fail_msg("\"%s\" is a time", good[i][0]);
        assert_string_equal(text, good[i][1]);
    }
    for (size_t i = 0; i < ARRAY_COUNT(bad); i++)
        if (time_normalise(bad[i], strlen(bad[i]), text))
            fail_msg("\"%s\" is no time", bad[i]);
    assert_false(time_from_number((double)NAN, text));
    assert_false(time_from_number(1e300, text));
}

static void test_float_texts(void **state)
{
    (void)state;
    static const struct {
        double value;
        const char *yaml, *python;
    } cases[] = {{1, "1.0", "1.0"},
                 {0.1 + 0.2, "0.30000000000000004", "0.30000000000000004"},
                 {1e-7, "1.0e-07", "1e-07"},
                 {1e16, "1.0e+16", "1e+16"},
                 {1.5e-7, "1.5e-07", "1.5e-07"},
                 {1e100, "1.0e+100", "1e+100"},
                 {-0.0, "-0.0", "-0.0"},
                 {(double)INFINITY, ".inf", "Infinity"},
                 {1e15, "1000000000000000.0", "1000000000000000.0"}};
    for (size_t i = 0; i < ARRAY_COUNT(cases); i++) {
        struct strbuf yaml AS_AUTO_STRBUF, python AS_AUTO_STRBUF;
        strbuf_init(&yaml, 0);
        strbuf_init(&python, 0);
        double_put_yaml(&yaml, cases[i].value);
        double_put_python(&python, cases[i].value);
        assert_string_equal(yaml.data, cases[i].yaml);
        assert_string_equal(python.data, cases[i].python);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_types), cmocka_unit_test(test_integers),
                                       cmocka_unit_test(test_number_texts), cmocka_unit_test(test_times),
                                       cmocka_unit_test(test_float_texts)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
