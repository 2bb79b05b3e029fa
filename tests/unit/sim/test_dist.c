/* SPDX-License-Identifier: Apache-2.0 */
#include "sim/dist.h"

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <string.h>

#include <cmocka.h>

struct moments {
    double mean, deviation;
    int64_t min, max;
};

static struct moments sample(const char *text)
{
    struct sim_dist dist;
    struct rng rng;
    assert_int_equal(sim_dist_parse(text, SIM_DIST_DURATION, &dist, NULL), AS_OK);
    rng_init(&rng, 7, 1);
    struct moments m = {.min = INT64_MAX, .max = INT64_MIN};
    double sum = 0, squares = 0;
    const int n = 40000;
    for (int i = 0; i < n; i++) {
        int64_t v = sim_dist_sample(&dist, &rng);
        sum += (double)v;
        squares += (double)v * (double)v;
        m.min = v < m.min ? v : m.min;
        m.max = v > m.max ? v : m.max;
    }
    m.mean = sum / n;
    m.deviation = sqrt(squares / n - m.mean * m.mean);
    return m;
}

static void near(double value, double expected, double tolerance)
{
    if (fabs(value - expected) > tolerance)
        fail_msg("%g is not %g ± %g", value, expected, tolerance);
}

static void test_constant(void **state)
{
    (void)state;
    static const struct {
        const char *text;
        int64_t ns;
    } cases[] = {{"50ms", 50000000}, {"constant:1.5s", 1500000000}, {"0", 0},   {"250us", 250000},
                 {"3ns", 3},         {"2m", 120000000000},          {"0ms", 0}, {"1e3us", 1000000}};
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        struct sim_dist dist;
        struct rng rng, before;
        rng_init(&rng, 1, 1);
        before = rng;
        assert_int_equal(sim_dist_parse(cases[i].text, SIM_DIST_DURATION, &dist, NULL), AS_OK);
        assert_int_equal(sim_dist_sample(&dist, &rng), cases[i].ns);
        assert_memory_equal(&rng, &before, sizeof(rng));
        assert_int_equal(sim_dist_is_zero(&dist), cases[i].ns == 0);
    }
}

static void test_moments(void **state)
{
    (void)state;
    struct moments m = sample("uniform:40ms,60ms");
    near(m.mean, 50e6, 0.1e6);
    assert_true(m.min >= 40000000 && m.max <= 60000000);
    m = sample("normal:50ms,5ms");
    near(m.mean, 50e6, 0.1e6);
    near(m.deviation, 5e6, 0.1e6);
    m = sample("exponential:50ms");
    near(m.mean, 50e6, 1e6);
    near(m.deviation, 50e6, 1.5e6);
    m = sample("gamma:50ms,20ms");
    near(m.mean, 50e6, 0.5e6);
    near(m.deviation, 20e6, 0.5e6);
    m = sample("lognormal:50ms,20ms");
    near(m.mean, 50e6, 0.5e6);
    near(m.deviation, 20e6, 0.7e6);
    assert_true(m.min > 0);
}

static void test_never_negative(void **state)
{
    (void)state;
    struct moments m = sample("normal:1ms,10ms");
    assert_int_equal(m.min, 0);
    assert_true(m.max > 10000000);
    m = sample("gamma:5ms,0ms");
    assert_int_equal(m.min, 5000000);
    assert_int_equal(m.max, 5000000);
}

static void test_mean(void **state)
{
    (void)state;
    static const char *const texts[] = {"50ms",           "uniform:0,100ms",   "normal:50ms,1ms", "exponential:50ms",
                                        "gamma:50ms,9ms", "lognormal:50ms,9ms"};
    for (size_t i = 0; i < sizeof(texts) / sizeof(texts[0]); i++) {
        struct sim_dist dist;
        assert_int_equal(sim_dist_parse(texts[i], SIM_DIST_DURATION, &dist, NULL), AS_OK);
        near(sim_dist_mean(&dist), 50e6, 1);
    }
}

static void test_counts(void **state)
{
    (void)state;
    struct sim_dist dist;
    struct rng rng;
    rng_init(&rng, 1, 1);
    assert_int_equal(sim_dist_parse("40", SIM_DIST_COUNT, &dist, NULL), AS_OK);
    assert_int_equal(sim_dist_sample(&dist, &rng), 40);
    assert_int_equal(sim_dist_parse("uniform:10,12", SIM_DIST_COUNT, &dist, NULL), AS_OK);
    for (int i = 0; i < 100; i++) {
        int64_t v = sim_dist_sample(&dist, &rng);
        assert_in_range(v, 10, 12);
    }
}

static void test_refused(void **state)
{
    (void)state;
    static const char *const bad[] = {"",
                                      "50",
                                      "ms",
                                      "50 ms",
                                      "-5ms",
                                      "50xs",
                                      "normal:50ms",
                                      "normal:50ms,5ms,1ms",
                                      "uniform:60ms,40ms",
                                      "nosuch:50ms",
                                      "constant:",
                                      "inf",
                                      "nan",
                                      "0x10ms",
                                      "1e99s",
                                      "normal:50ms,",
                                      "exponential:50ms,5ms",
                                      ":50ms",
                                      "normal:inf,1ms"};
    for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++) {
        struct sim_dist dist = {SIM_DIST_GAMMA, 1, 2};
        struct as_error err;
        if (sim_dist_parse(bad[i], SIM_DIST_DURATION, &dist, &err) != AS_E_USAGE)
            fail_msg("'%s' was taken", bad[i]);
        assert_non_null(strstr(err.message, "is no delay"));
        assert_int_equal(dist.kind, SIM_DIST_GAMMA);
    }
    struct sim_dist dist;
    assert_int_equal(sim_dist_parse("40ms", SIM_DIST_COUNT, &dist, NULL), AS_E_USAGE);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_constant), cmocka_unit_test(test_moments), cmocka_unit_test(test_never_negative),
        cmocka_unit_test(test_mean),     cmocka_unit_test(test_counts),  cmocka_unit_test(test_refused),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
