/* SPDX-License-Identifier: Apache-2.0 */
/* The parts of the clock that need no clock: text and arithmetic. */
#include "base/clock.h"

#include "support/check.h"

#include <inttypes.h>
#include <string.h>

#define S NS_PER_S

static void formats_utc(void **state)
{
    (void)state;
    static const struct {
        int64_t ns;
        const char *text;
    } cases[] = {
        {0, "1970-01-01T00:00:00.000000Z"},
        {1, "1970-01-01T00:00:00.000000Z"},
        {1999, "1970-01-01T00:00:00.000001Z"},
        {-1, "1969-12-31T23:59:59.999999Z"},
        {-S, "1969-12-31T23:59:59.000000Z"},
        {INT64_C(1796065533) * S + 123456789, "2026-11-30T19:05:33.123456Z"},
        {INT64_C(951782400) * S, "2000-02-29T00:00:00.000000Z"},
        {INT64_C(951868799) * S + 999999999, "2000-02-29T23:59:59.999999Z"},
        {INT64_C(4107542400) * S, "2100-03-01T00:00:00.000000Z"},
        {INT64_C(1709164800) * S, "2024-02-29T00:00:00.000000Z"},
        {INT64_C(2147483648) * S, "2038-01-19T03:14:08.000000Z"},
        {INT64_MAX, "2262-04-11T23:47:16.854775Z"},
        {INT64_MIN, "1677-09-21T00:12:43.145224Z"},
    };
    for (size_t i = 0; i < ARRAY_COUNT(cases); i++) {
        char text[WALL_TEXT_BYTES];
        wall_format((struct wall){cases[i].ns}, text);
        assert_string_equal(text, cases[i].text);
    }
}

static void parses_rfc_3339(void **state)
{
    (void)state;
    static const struct {
        const char *text;
        int64_t ns;
    } cases[] = {
        {"1970-01-01T00:00:00Z", 0},
        {"1970-01-01t00:00:00z", 0},
        {"1970-01-01 00:00:00Z", 0},
        {"2026-11-30T19:05:33.123456Z", INT64_C(1796065533) * S + 123456000},
        {"2026-11-30T19:05:33.123456789Z", INT64_C(1796065533) * S + 123456789},
        {"2026-11-30T19:05:33.1234567899999Z", INT64_C(1796065533) * S + 123456789},
        {"2026-11-30T19:05:33.5Z", INT64_C(1796065533) * S + 500000000},
        {"2026-11-30T21:05:33+02:00", INT64_C(1796065533) * S},
        {"2026-11-30T14:35:33-04:30", INT64_C(1796065533) * S},
        {"2026-12-01T00:05:33+05:00", INT64_C(1796065533) * S},
        {"2000-02-29T00:00:00Z", INT64_C(951782400) * S},
        {"2016-12-31T23:59:60Z", INT64_C(1483228800) * S},
        {"1969-12-31T23:59:59.999Z", -1000000},
    };
    for (size_t i = 0; i < ARRAY_COUNT(cases); i++) {
        struct wall t = {-99};
        if (wall_parse(cases[i].text, strlen(cases[i].text), &t) != 0 || t.ns != cases[i].ns)
            fail_msg("%s gave %" PRId64, cases[i].text, t.ns);
    }
}

static void refuses_other_text(void **state)
{
    (void)state;
    static const char *const texts[] = {
        "",
        "2026",
        "2026-11-30",
        "2026-11-30T19:05Z",
        "2026-11-30T19:05:33",
        "2026-11-30T19:05:33.",
        "2026-11-30T19:05:33.Z",
        "2026-11-30T19:05:33ZZ",
        "2026-11-30T19:05:33+0200",
        "2026-11-30T19:05:33+24:00",
        "2026-11-30T19:05:33+02:60",
        "2026-13-01T00:00:00Z",
        "2026-00-01T00:00:00Z",
        "2026-01-00T00:00:00Z",
        "2026-01-32T00:00:00Z",
        "2026-02-29T00:00:00Z",
        "2026-02-30T00:00:00Z",
        "2026-04-31T00:00:00Z",
        "1900-02-29T00:00:00Z",
        "2026-01-01T24:00:00Z",
        "2026-01-01T00:60:00Z",
        "2026-01-01T00:00:61Z",
        "+026-01-01T00:00:00Z",
        "26-01-01T00:00:00Z",
        " 2026-01-01T00:00:00Z",
        "2026-01-01T00:00:00Z ",
        "2026-01-01X00:00:00Z",
        "9999-12-31T23:59:59Z",
        "0001-01-01T00:00:00Z",
    };
    for (size_t i = 0; i < ARRAY_COUNT(texts); i++) {
        struct wall t = {-99};
        if (wall_parse(texts[i], strlen(texts[i]), &t) != -1 || t.ns != -99)
            fail_msg("\"%s\" gave %" PRId64, texts[i], t.ns);
    }
}

static void text_comes_back(void **state)
{
    (void)state;
    for (int64_t day = -36500; day < 36500; day += 13) {
        struct wall t = {day * 86400 * S + (day & 0xFFFF) * INT64_C(123457000)}, back = {0};
        char text[WALL_TEXT_BYTES];
        wall_format(t, text);
        assert_int_equal(strlen(text), WALL_TEXT_BYTES - 1);
        assert_int_equal(wall_parse(text, strlen(text), &back), 0);
        assert_true(back.ns == t.ns - (t.ns % 1000 + 1000) % 1000);
    }
}

static void converts_by_the_offset(void **state)
{
    (void)state;
    struct clock_offset offset = {.offset_ns = INT64_C(1796065533) * S, .error_ns = 50};
    struct mono t = {12345};
    assert_true(mono_to_wall(t, &offset).ns == INT64_C(1796065533) * S + 12345);
    assert_true(wall_to_mono(mono_to_wall(t, &offset), &offset).ns == 12345);
    assert_true(mono_diff_ns(mono_add_ns(t, 55), t) == 55);
    assert_true(mono_diff_ns(t, mono_add_ns(t, 55)) == -55);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(formats_utc),
        cmocka_unit_test(parses_rfc_3339),
        cmocka_unit_test(refuses_other_text),
        cmocka_unit_test(text_comes_back),
        cmocka_unit_test(converts_by_the_offset),
    };
    return cmocka_run_group_tests_name("clock", tests, NULL, NULL);
}
