/* SPDX-License-Identifier: Apache-2.0 */
#include "stats/histogram.h"
#include "support/check.h"

#include <string.h>

#include <math.h>

static struct histogram histogram, other;

static int reset(void **state)
{
    (void)state;
    histogram_reset(&histogram);
    histogram_reset(&other);
    return 0;
}

static void test_bounds_tile_the_line(void **state)
{
    (void)state;
    int64_t expected = 0;
    for (uint32_t i = 0; i < HISTOGRAM_BUCKETS; i++) {
        int64_t lower = histogram_lower_ns(i), upper = histogram_upper_ns(i);
        assert_int_equal(lower, expected);
        assert_true(upper >= lower);
        assert_int_equal(histogram_index(lower), i);
        assert_int_equal(histogram_index(upper), i);
        assert_true((upper - lower) * 256 <= lower);
        expected = upper + 1;
    }
    assert_int_equal(expected, HISTOGRAM_MAX_NS + 1);
}

static void test_small_values_are_exact(void **state)
{
    (void)state;
    for (int64_t v = 0; v < 512; v++) {
        assert_int_equal(histogram_lower_ns(histogram_index(v)), v);
        assert_int_equal(histogram_upper_ns(histogram_index(v)), v);
    }
    assert_int_equal(histogram_index(512), histogram_index(513));
}

static void test_empty(void **state)
{
    (void)state;
    assert_int_equal(histogram_percentile_ns(&histogram, 50000), -1);
    assert_int_equal(histogram_next(&histogram, 0), HISTOGRAM_BUCKETS);
    assert_true(isnan(moments_mean(&histogram.moments)));
}

static void test_clamps_and_tells(void **state)
{
    (void)state;
    histogram_record(&histogram, -5);
    histogram_record(&histogram, INT64_MAX);
    histogram_record(&histogram, HISTOGRAM_MAX_NS);
    histogram_record_many(&histogram, 7, 0);
    assert_int_equal(histogram.clamped, 2);
    assert_int_equal(histogram.moments.n, 3);
    assert_int_equal(histogram.moments.min, 0);
    assert_int_equal(histogram.moments.max, HISTOGRAM_MAX_NS);
    assert_int_equal(histogram.buckets[HISTOGRAM_BUCKETS - 1], 2);
}

static void test_percentiles_within_a_bucket(void **state)
{
    (void)state;
    for (int64_t i = 1; i <= 1000; i++)
        histogram_record(&histogram, i * 1000003);
    int64_t at[] = {50000, 90000, 95000, 99000, 99900, 100000};
    for (size_t i = 0; i < sizeof at / sizeof *at; i++) {
        double exact = (double)(at[i] / 100) * 1000003.0;
        double got = (double)histogram_percentile_ns(&histogram, at[i]);
        assert_true(got >= exact);
        assert_true(got - exact <= exact / 256);
    }
    assert_int_equal(histogram.moments.max, INT64_C(1000003000));
    assert_true(moments_mean(&histogram.moments) == 500.5 * 1000003);
}

static void test_percentile_stays_within_extremes(void **state)
{
    (void)state;
    histogram_record(&histogram, 1000001);
    assert_int_equal(histogram_percentile_ns(&histogram, 50000), 1000001);
    assert_int_equal(histogram_percentile_ns(&histogram, 99000), 1000001);
}

static void test_merge_equals_recording_all(void **state)
{
    (void)state;
    static struct histogram all;
    histogram_reset(&all);
    for (int64_t i = 0; i < 3000; i++) {
        int64_t v = i * i * 977;
        histogram_record(i % 3 ? &histogram : &other, v);
        histogram_record(&all, v);
    }
    histogram_merge(&histogram, &other);
    assert_memory_equal(histogram.buckets, all.buckets, sizeof all.buckets);
    assert_int_equal(histogram.moments.n, all.moments.n);
    assert_int_equal(histogram.moments.min, all.moments.min);
    assert_int_equal(histogram.moments.max, all.moments.max);
    assert_true(histogram.moments.sum == all.moments.sum);
    assert_true(histogram.moments.sum_squares == all.moments.sum_squares);
}

static void test_sparse_iteration_visits_all(void **state)
{
    (void)state;
    int64_t values[] = {0, 3, 511, 512, 50000000, HISTOGRAM_MAX_NS};
    for (size_t i = 0; i < 6; i++)
        histogram_record_many(&histogram, values[i], (int64_t)i + 1);
    size_t seen = 0;
    for (uint32_t i = histogram_next(&histogram, 0); i < HISTOGRAM_BUCKETS; i = histogram_next(&histogram, i + 1)) {
        assert_int_equal(i, histogram_index(values[seen]));
        assert_int_equal(histogram.buckets[i], seen + 1);
        seen++;
    }
    assert_int_equal(seen, 6);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup(test_bounds_tile_the_line, reset),
        cmocka_unit_test_setup(test_small_values_are_exact, reset),
        cmocka_unit_test_setup(test_empty, reset),
        cmocka_unit_test_setup(test_clamps_and_tells, reset),
        cmocka_unit_test_setup(test_percentiles_within_a_bucket, reset),
        cmocka_unit_test_setup(test_percentile_stays_within_extremes, reset),
        cmocka_unit_test_setup(test_merge_equals_recording_all, reset),
        cmocka_unit_test_setup(test_sparse_iteration_visits_all, reset),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
