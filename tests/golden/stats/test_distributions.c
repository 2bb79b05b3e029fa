/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Distributions of n = 0, 1, 2, 3, 10, 100, 101 values against distributions.txt, which was computed with exact
 * fractions by another program.
 */
#include "stats/distribution.h"
#include "support/check.h"

#include "stats/sort.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define GOLDEN     "tests/golden/stats/distributions.txt"
#define VALUES_MAX 128
#define COLUMNS    14

static void make_values(int64_t *values, int64_t n)
{
    int64_t x = 1;
    for (int64_t i = 0; i < n; i++) {
        x = x * 48271 % 2147483647;
        values[i] = x * 317 % 1000000007 * 53;
    }
    sort_int64(values, (size_t)n);
}

static void assert_close(double got, double expected)
{
    if (isnan(expected)) {
        assert_true(isnan(got));
        return;
    }
    assert_true(fabs(got - expected) <= fabs(expected) * 4e-16);
}

static void check_row(int64_t n, const double expected[COLUMNS])
{
    int64_t values[VALUES_MAX];
    make_values(values, n);
    struct distribution near = distribution_of_sorted(values, n, PERCENTILE_NEAREST_RANK);
    struct distribution linear = distribution_of_sorted(values, n, PERCENTILE_LINEAR);
    assert_int_equal(near.n, n);
    assert_close(near.min, expected[0]);
    assert_close(near.max, expected[1]);
    assert_close(near.mean, expected[2]);
    assert_close(near.std, expected[3]);
    for (int i = 0; i < 5; i++) {
        assert_close(near.percentile[i], expected[4 + i]);
        assert_close(linear.percentile[i], expected[9 + i]);
    }
    assert_true(isnan(near.percentile[DISTRIBUTION_P99_9]));
}

static void test_golden(void **state)
{
    (void)state;
    FILE *file = fopen(GOLDEN, "r");
    assert_non_null(file);
    char line[1024];
    int rows = 0;
    while (fgets(line, sizeof line, file)) {
        if (line[0] == '#')
            continue;
        char *at = line;
        int64_t n = strtoll(at, &at, 10);
        double expected[COLUMNS];
        for (int i = 0; i < COLUMNS; i++) {
            at += strspn(at, " ");
            if (*at == '-') {
                expected[i] = (double)NAN;
                at++;
            } else {
                expected[i] = strtod(at, &at);
            }
        }
        check_row(n, expected);
        rows++;
    }
    (void)fclose(file);
    assert_int_equal(rows, 7);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_golden)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
