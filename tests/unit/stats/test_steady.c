/* SPDX-License-Identifier: Apache-2.0 */
#include "stats/steady.h"
#include "support/check.h"

#include "base/rng.h"

#include <math.h>

#define MS INT64_C(1000000)

static void test_ramp_plateau_drain(void **state)
{
    (void)state;
    struct flight flight;
    flight_init(&flight, 10);
    for (int64_t i = 0; i < 10; i++)
        flight_begin(&flight, i * 100 * MS);
    for (int64_t i = 0; i < 10; i++)
        flight_end(&flight, (5000 + i * 50) * MS);
    int64_t start, end;
    assert_true(flight_steady(&flight, &start, &end));
    assert_int_equal(start, 900 * MS);
    assert_int_equal(end, 5000 * MS);
    assert_int_equal(flight.peak, 10);
    assert_int_equal(flight.in_flight, 0);
}

static void test_mean_in_flight(void **state)
{
    (void)state;
    struct flight flight;
    flight_init(&flight, 0);
    assert_true(isnan(flight_clip_mean(&flight)));
    flight_clip(&flight, 150, 300);
    flight_begin(&flight, 0);
    flight_begin(&flight, 100);
    flight_end(&flight, 200);
    flight_end(&flight, 400);
    assert_true(flight_mean(&flight) == 500.0 / 400.0);
    assert_true(flight_clip_mean(&flight) == 200.0 / 150.0);
    int64_t start = -1, end = -1;
    assert_false(flight_steady(&flight, &start, &end));
    assert_int_equal(start, -1);
    struct flight none;
    flight_init(&none, 4);
    assert_true(isnan(flight_mean(&none)));
    assert_false(flight_steady(&none, &start, &end));
}

static void test_short_dips_do_not_end_it(void **state)
{
    (void)state;
    struct flight flight;
    flight_init(&flight, 1);
    for (int64_t i = 0; i < 100; i++) {
        flight_begin(&flight, i * 20 * MS);
        flight_end(&flight, (i * 20 + 19) * MS);
    }
    int64_t start, end;
    assert_true(flight_steady(&flight, &start, &end));
    assert_int_equal(start, 0);
    assert_int_equal(end, (99 * 20 + 19) * MS);
}

static void test_a_long_dip_splits_it(void **state)
{
    (void)state;
    struct flight flight;
    flight_init(&flight, 2);
    flight_begin(&flight, 0);
    flight_begin(&flight, 0);
    flight_end(&flight, 1000 * MS);
    flight_begin(&flight, 1011 * MS);
    flight_end(&flight, 4000 * MS);
    flight_end(&flight, 4000 * MS);
    int64_t start, end;
    assert_true(flight_steady(&flight, &start, &end));
    assert_int_equal(start, 1011 * MS);
    assert_int_equal(end, 4000 * MS);
}

static void test_unfinished_window_counts_to_the_last_event(void **state)
{
    (void)state;
    struct flight flight;
    flight_init(&flight, 1);
    flight_begin(&flight, 5 * MS);
    flight_begin(&flight, 50 * MS);
    int64_t start, end;
    assert_true(flight_steady(&flight, &start, &end));
    assert_int_equal(start, 5 * MS);
    assert_int_equal(end, 50 * MS);
}

static void test_threshold_rounds_up(void **state)
{
    (void)state;
    struct flight flight;
    flight_init(&flight, 19); /* 95 % of 19 is 18.05: 19 are needed */
    assert_int_equal(flight.threshold, 19);
    flight_init(&flight, 20);
    assert_int_equal(flight.threshold, 19);
}

static struct trend noisy_trend(uint64_t seed, double drift_ratio)
{
    struct rng rng;
    rng_init(&rng, seed, 0);
    struct trend trend = {0};
    for (int64_t i = 0; i < 400; i++) {
        double mean = 50e6 * (1 + drift_ratio * ((double)i / 400 - 0.5));
        trend_add(&trend, 1000 * MS + i * 10 * MS, (int64_t)(mean + rng_normal(&rng) * 4e6));
    }
    return trend;
}

static void test_drift_is_told_from_noise(void **state)
{
    (void)state;
    int accepted = 0, refused = 0;
    for (uint64_t seed = 1; seed <= 200; seed++) {
        struct trend fixed = noisy_trend(seed, 0), drifting = noisy_trend(seed, 0.5);
        accepted += !steady_judge_drift(&fixed, 4000 * MS).is_drifting;
        refused += steady_judge_drift(&drifting, 4000 * MS).is_drifting;
    }
    assert_true(accepted >= 190);
    assert_true(refused >= 195);
}

static void test_trend_by_hand(void **state)
{
    (void)state;
    struct trend trend = {0};
    assert_true(isnan(trend_fit(&trend).mean));
    for (int64_t i = 0; i < 10; i++)
        trend_add(&trend, INT64_C(100000000000000) + i * 7, 1000 + i * 21);
    struct trend_result fit = trend_fit(&trend);
    assert_true(fabs(fit.slope - 3) < 1e-12);
    assert_true(fabs(fit.slope_error) < 1e-6);
    assert_true(fit.mean == 1000 + 4.5 * 21);
    struct trend flat = {0};
    for (int i = 0; i < 5; i++)
        trend_add(&flat, 9, i);
    assert_true(isnan(trend_fit(&flat).slope));
    assert_true(isnan(steady_judge_drift(&flat, 10).ratio));
    assert_false(steady_judge_drift(&flat, 10).is_drifting);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_ramp_plateau_drain),
        cmocka_unit_test(test_mean_in_flight),
        cmocka_unit_test(test_short_dips_do_not_end_it),
        cmocka_unit_test(test_a_long_dip_splits_it),
        cmocka_unit_test(test_unfinished_window_counts_to_the_last_event),
        cmocka_unit_test(test_threshold_rounds_up),
        cmocka_unit_test(test_drift_is_told_from_noise),
        cmocka_unit_test(test_trend_by_hand),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
