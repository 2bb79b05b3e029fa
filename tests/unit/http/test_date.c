/* SPDX-License-Identifier: Apache-2.0 */
#include "http/date.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#define NOW INT64_C(1700000000) /* 2023-11-14T22:13:20Z */

static struct http_text text_of(const char *text)
{
    return (struct http_text){text, strlen(text)};
}

struct date_case {
    const char *text;
    int64_t unix_s;
};

static void test_parse(void **state)
{
    (void)state;
    static const struct date_case good[] = {
        {"Sun, 06 Nov 1994 08:49:37 GMT", 784111777},     {"Sunday, 06-Nov-94 08:49:37 GMT", 784111777},
        {"Sun Nov  6 08:49:37 1994", 784111777},          {"Thu, 01 Jan 1970 00:00:00 GMT", 0},
        {"Thu, 29 Feb 2024 12:00:00 GMT", 1709208000},    {"Tuesday, 14-Nov-73 00:00:00 GMT", 3277843200},
        {"Wednesday, 14-Nov-74 00:00:00 GMT", 153619200}, {"Sat Dec 31 23:59:60 2016", 1483228800},
        {"Fri, 31 Dec 9999 23:59:59 GMT", 253402300799},
    };
    for (size_t i = 0; i < sizeof good / sizeof good[0]; i++) {
        int64_t unix_s = -1;
        assert_true(http_date_parse(text_of(good[i].text), NOW, &unix_s));
        assert_int_equal(unix_s, good[i].unix_s);
    }
}

static void test_parse_refuses(void **state)
{
    (void)state;
    static const char *const bad[] = {
        "",
        "x",
        "Sun",
        "Sun,",
        "Sun, 06 Nov 1994 08:49:37",
        "Sun, 06 Nov 1994 08:49:37 UTC",
        "Sun, 06 Nov 1994 08:49:37 GMT ",
        "Sun, 6 Nov 1994 08:49:37 GMT",
        "Sux, 06 Nov 1994 08:49:37 GMT",
        "Sun, 06 Nox 1994 08:49:37 GMT",
        "Sun, 32 Nov 1994 08:49:37 GMT",
        "Sun, 00 Nov 1994 08:49:37 GMT",
        "Fri, 30 Feb 2024 12:00:00 GMT",
        "Sun, 06 Nov 1994 24:49:37 GMT",
        "Sun, 06 Nov 1994 08:60:37 GMT",
        "Sun, 06 Nov 1994 08:49:61 GMT",
        "Sunday, 06 Nov 1994 08:49:37 GMT",
        "Someday, 06-Nov-94 08:49:37 GMT",
        "Sun Nov 6 08:49:37 1994",
        "Sun, 06 Nov -994 08:49:37 GMT",
    };
    for (size_t i = 0; i < sizeof bad / sizeof bad[0]; i++) {
        int64_t unix_s = 42;
        assert_false(http_date_parse(text_of(bad[i]), NOW, &unix_s));
        assert_int_equal(unix_s, 42);
    }
}

static void test_format_reads_back(void **state)
{
    (void)state;
    char text[HTTP_DATE_BYTES];
    http_date_format(784111777, text);
    assert_string_equal(text, "Sun, 06 Nov 1994 08:49:37 GMT");
    for (int64_t t = -62135596800; t < 253402300799; t += 777777777) {
        int64_t back;
        http_date_format(t, text);
        assert_true(http_date_parse(text_of(text), NOW, &back));
        assert_int_equal(back, t);
    }
}

static void test_retry_after(void **state)
{
    (void)state;
    static const struct {
        const char *text;
        double seconds;
    } cases[] = {
        {"0", 0},
        {"2", 2},
        {" 120\t", 120},
        {"86400", 86400},
        {"1.5", -1},
        {"-1", -1},
        {"+1", -1},
        {"", -1},
        {"soon", -1},
        {"1 s", -1},
        {"99999999999999999999", -1},
        {"Tue, 14 Nov 2023 22:13:30 GMT", 10},
        {"Tue, 14 Nov 2023 22:13:10 GMT", 0},
    };
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++)
        assert_float_equal(http_retry_after_s(text_of(cases[i].text), NOW), cases[i].seconds, 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_parse),
        cmocka_unit_test(test_parse_refuses),
        cmocka_unit_test(test_format_reads_back),
        cmocka_unit_test(test_retry_after),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
