/* SPDX-License-Identifier: Apache-2.0 */
#include "stats/percentile.h"
#include "support/check.h"

#include "base/rng.h"
#include "stats/distribution.h"
#include "stats/sort.h"

#include <math.h>
#include <stdlib.h>

/* A second implementation, slow and of another shape: the smallest value that at least p of all are not above. */
static int64_t naive_percentile(const int64_t *values, int64_t n, int64_t milli)
{
    int64_t best = INT64_MAX;
    for (int64_t i = 0; i < n; i++) {
        int64_t not_above = 0;
        for (int64_t j = 0; j < n; j++)
            not_above += values[j] <= values[i];
        if (not_above * 100000 >= milli * n && values[i] < best)
            best = values[i];
    }
    return best;
}

static void test_matches_naive(void **state)
{
    (void)state;
    struct rng rng;
    rng_init(&rng, 7, 0);
    int64_t sizes[] = {1, 2, 3, 7, 10, 99, 100, 101, 250};
    int64_t milli[] = {1, 7000, 50000, 75000, 90000, 95000, 99000, 99900, 100000};
    int64_t values[250];
    for (size_t s = 0; s < sizeof sizes / sizeof *sizes; s++) {
        for (int64_t i = 0; i < sizes[s]; i++)
            values[i] = (int64_t)rng_below(&rng, 60) - 20;
        sort_int64(values, (size_t)sizes[s]);
        for (size_t p = 0; p < sizeof milli / sizeof *milli; p++)
            assert_int_equal(percentile_nearest_rank(values, sizes[s], milli[p]),
                             naive_percentile(values, sizes[s], milli[p]));
    }
}

static void test_indexes_by_hand(void **state)
{
    (void)state;
    static const struct {
        int64_t n, milli, index;
    } cases[] = {
        {1, 50000, 0},
        {1, 99000, 0},
        {2, 50000, 0},
        {2, 90000, 1},
        {3, 50000, 1},
        {3, 99000, 2},
        {10, 50000, 4},
        {10, 90000, 8},
        {10, 95000, 9},
        {10, 99000, 9},
        {100, 50000, 49},
        {100, 90000, 89},
        {100, 95000, 94},
        {100, 99000, 98},
        {101, 50000, 50},
        {101, 99000, 99},
        {1000, 99900, 998},
        /* 0.07 × 100 is 7.000000000000001 in floating point, and 0.29 × 100 is 28.999999999999996 */
        {100, 7000, 6},
        {100, 29000, 28},
        {1000, 57000, 569},
        {100, 14000, 13},
        {INT64_C(4000000000000000000), 99000, INT64_C(3959999999999999999)},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++)
        assert_int_equal(percentile_index(cases[i].n, cases[i].milli), cases[i].index);
}

static void test_linear_by_hand(void **state)
{
    (void)state;
    int64_t four[] = {10, 20, 30, 50};
    assert_true(percentile_linear(four, 4, 0) == 10);
    assert_true(percentile_linear(four, 4, 50000) == 25);
    assert_true(percentile_linear(four, 4, 100000) == 50);
    assert_true(fabs(percentile_linear(four, 4, 90000) - 44) < 1e-12);
    assert_true(percentile_linear(four, 1, 99000) == 10);
    int64_t wide[] = {INT64_MIN, INT64_MAX};
    assert_true(fabs(percentile_linear(wide, 2, 50000)) < 1e4);
}

static void test_min_samples(void **state)
{
    (void)state;
    assert_int_equal(percentile_min_samples(50000), 2);
    assert_int_equal(percentile_min_samples(90000), 10);
    assert_int_equal(percentile_min_samples(95000), 20);
    assert_int_equal(percentile_min_samples(99000), 100);
    assert_int_equal(percentile_min_samples(99900), 1000);
    assert_int_equal(percentile_min_samples(100000), INT64_MAX);
    /* It is the first n whose percentile is not the last value. */
    int64_t milli[] = {50000, 75000, 90000, 95000, 99000, 99900};
    for (size_t i = 0; i < sizeof milli / sizeof *milli; i++) {
        int64_t n = percentile_min_samples(milli[i]);
        assert_int_equal(percentile_index(n - 1, milli[i]), n - 2);
        assert_true(percentile_index(n, milli[i]) < n - 1);
    }
}

static double naive_binomial_cdf(int64_t k, int64_t n, double p)
{
    double mass = pow(1 - p, (double)n), sum = 0;
    for (int64_t i = 0; i <= k; i++) {
        sum += mass;
        mass *= (double)(n - i) / (double)(i + 1) * p / (1 - p);
    }
    return sum;
}

static void test_binomial(void **state)
{
    (void)state;
    assert_true(binomial_cdf(-1, 10, 0.5) == 0);
    assert_true(binomial_cdf(10, 10, 0.5) == 1);
    double p[] = {0.01, 0.5, 0.9, 0.99};
    for (size_t i = 0; i < sizeof p / sizeof *p; i++)
        for (int64_t k = 0; k <= 60; k++)
            assert_true(fabs(binomial_cdf(k, 60, p[i]) - naive_binomial_cdf(k, 60, p[i])) < 1e-12);
    /* Large n: half of the mass is below the mean, give or take one term. */
    assert_true(fabs(binomial_cdf(500000, 1000000, 0.5) - 0.5) < 0.001);
}

static void test_intervals(void **state)
{
    (void)state;
    int64_t low, high;
    /* Known from tables: median of 10 at 95 % lies between the 2nd and the 9th value. */
    assert_true(percentile_interval(10, 50000, 0.95, &low, &high));
    assert_int_equal(low, 1);
    assert_int_equal(high, 8);
    assert_true(percentile_interval(6, 50000, 0.95, &low, &high));
    assert_int_equal(low, 0);
    assert_int_equal(high, 5);
    low = high = -7;
    assert_false(percentile_interval(5, 50000, 0.95, &low, &high));
    assert_false(percentile_interval(100, 99000, 0.95, &low, &high));
    assert_false(percentile_interval(0, 50000, 0.95, &low, &high));
    assert_int_equal(low, -7);
    assert_true(percentile_interval(1000, 99000, 0.95, &low, &high));
    assert_true(low < percentile_index(1000, 99000) && high > percentile_index(1000, 99000) && high < 1000);
}

static void test_interval_covers_what_it_says(void **state)
{
    (void)state;
    int64_t sizes[] = {6, 10, 50, 400, 5000};
    int64_t milli[] = {50000, 90000, 99000};
    for (size_t s = 0; s < 5; s++) {
        for (size_t p = 0; p < 3; p++) {
            int64_t low, high, n = sizes[s];
            double q = (double)milli[p] / 100000.0;
            if (!percentile_interval(n, milli[p], 0.95, &low, &high))
                continue;
            double cover = binomial_cdf(high, n, q) - binomial_cdf(low, n, q);
            assert_true(cover >= 0.95 - 1e-9);
            /* and is not wider than it needs to be, on either side */
            assert_true(binomial_cdf(low + 1, n, q) > 0.025);
            assert_true(binomial_cdf(high - 1, n, q) < 0.975);
        }
    }
}

static void test_interval_coverage_by_simulation(void **state)
{
    (void)state;
    struct rng rng;
    rng_init(&rng, 11, 0);
    int64_t values[200];
    int covered = 0, rounds = 2000;
    for (int r = 0; r < rounds; r++) {
        for (int i = 0; i < 200; i++)
            values[i] = (int64_t)(rng_exponential(&rng) * 1e9);
        sort_int64(values, 200);
        int64_t low, high;
        assert_true(percentile_interval(200, 90000, 0.95, &low, &high));
        double truth = log(10) * 1e9;
        covered += (double)values[low] <= truth && truth <= (double)values[high];
    }
    assert_true(covered >= rounds * 94 / 100);
}

static void test_distribution_marks_thin_percentiles(void **state)
{
    (void)state;
    int64_t values[1000];
    for (int64_t i = 0; i < 1000; i++)
        values[i] = i;
    struct distribution d = distribution_of_sorted(values, 99, PERCENTILE_NEAREST_RANK);
    assert_true(distribution_is_thin(&d, DISTRIBUTION_P99));
    assert_false(distribution_is_thin(&d, DISTRIBUTION_P95));
    assert_true(d.percentile[DISTRIBUTION_P99] == d.max);
    assert_true(isnan(d.percentile[DISTRIBUTION_P99_9]));
    assert_true(isnan(d.ci95_low[DISTRIBUTION_P99]));
    d = distribution_of_sorted(values, 1000, PERCENTILE_NEAREST_RANK);
    assert_false(distribution_is_thin(&d, DISTRIBUTION_P99));
    assert_true(d.percentile[DISTRIBUTION_P99_9] == 998);
    assert_true(d.ci95_low[DISTRIBUTION_P50] < 499 && d.ci95_high[DISTRIBUTION_P50] > 499);
}

static void test_empty_distribution_has_no_numbers(void **state)
{
    (void)state;
    struct distribution d = distribution_of_sorted(NULL, 0, PERCENTILE_LINEAR);
    assert_int_equal(d.n, 0);
    assert_true(isnan(d.min) && isnan(d.max) && isnan(d.mean) && isnan(d.std));
    for (int i = 0; i < DISTRIBUTION_PERCENTILES; i++)
        assert_true(isnan(d.percentile[i]));
    assert_string_equal(percentile_method_name(d.method), "linear");
    enum percentile_method method = PERCENTILE_LINEAR;
    assert_true(percentile_method_parse("nearest_rank", &method));
    assert_int_equal(method, PERCENTILE_NEAREST_RANK);
    assert_false(percentile_method_parse("median", &method));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_matches_naive),
        cmocka_unit_test(test_indexes_by_hand),
        cmocka_unit_test(test_linear_by_hand),
        cmocka_unit_test(test_min_samples),
        cmocka_unit_test(test_binomial),
        cmocka_unit_test(test_intervals),
        cmocka_unit_test(test_interval_covers_what_it_says),
        cmocka_unit_test(test_interval_coverage_by_simulation),
        cmocka_unit_test(test_distribution_marks_thin_percentiles),
        cmocka_unit_test(test_empty_distribution_has_no_numbers),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
