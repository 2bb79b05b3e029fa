/* SPDX-License-Identifier: Apache-2.0 */
#include "support/check.h"
#include "workload/arrival.h"

#include <math.h>
#include <string.h>

#define COUNT 100000

static int64_t due[COUNT];

static void plan(struct arrival_spec spec, int64_t count)
{
    struct as_error err;
    assert_int_equal(arrival_plan(&spec, count, due, &err), AS_OK);
    assert_int_equal(due[0], 0);
    for (int64_t i = 1; i < count; i++)
        assert_true(due[i] >= due[i - 1]);
}

/* Mean and coefficient of variation of the gaps. */
static void gap_figures(int64_t count, double *ret_mean_ns, double *ret_cv)
{
    double mean = (double)due[count - 1] / (double)(count - 1), squares = 0;
    for (int64_t i = 1; i < count; i++)
        squares += ((double)(due[i] - due[i - 1]) - mean) * ((double)(due[i] - due[i - 1]) - mean);
    *ret_mean_ns = mean;
    *ret_cv = sqrt(squares / (double)(count - 2)) / mean;
}

static void test_constant_has_no_accumulated_error(void **state)
{
    (void)state;
    plan((struct arrival_spec){.process = ARRIVAL_CONSTANT, .rate_per_s = 3}, COUNT);
    for (int64_t i = 0; i < COUNT; i++)
        assert_int_equal(due[i], (2 * i * INT64_C(1000000000) / 3 + 1) / 2);
}

static void test_poisson(void **state)
{
    (void)state;
    double mean, cv;
    plan((struct arrival_spec){.process = ARRIVAL_POISSON, .rate_per_s = 200, .seed = 5}, COUNT);
    gap_figures(COUNT, &mean, &cv);
    assert_true(fabs(mean / 5e6 - 1) < 0.015);
    assert_true(fabs(cv - 1) < 0.015);
    /* An exponential's median is ln 2 of its mean: Poisson counts used as gaps would not have that. */
    int64_t below = 0;
    for (int64_t i = 1; i < COUNT; i++)
        below += (double)(due[i] - due[i - 1]) < 5e6 * log(2);
    assert_true(fabs((double)below / COUNT - 0.5) < 0.01);
}

static void test_gamma(void **state)
{
    (void)state;
    static const double shapes[] = {0.25, 1, 4};
    for (size_t i = 0; i < ARRAY_COUNT(shapes); i++) {
        double mean, cv;
        plan((struct arrival_spec){.process = ARRIVAL_GAMMA, .rate_per_s = 1000, .burstiness = shapes[i], .seed = 9},
             COUNT);
        gap_figures(COUNT, &mean, &cv);
        assert_true(fabs(mean / 1e6 - 1) < 0.03);
        assert_true(fabs(cv * sqrt(shapes[i]) - 1) < 0.03);
    }
}

static void test_infinite_rate(void **state)
{
    (void)state;
    static const enum arrival_process processes[] = {ARRIVAL_CONSTANT, ARRIVAL_POISSON, ARRIVAL_GAMMA};
    for (size_t i = 0; i < ARRAY_COUNT(processes); i++) {
        plan((struct arrival_spec){.process = processes[i], .rate_per_s = INFINITY, .burstiness = 1}, 1000);
        assert_int_equal(due[999], 0);
    }
}

static void test_the_seed_decides(void **state)
{
    (void)state;
    static int64_t first[1000];
    struct arrival_spec spec = {.process = ARRIVAL_POISSON, .rate_per_s = 10, .seed = 1};
    plan(spec, 1000);
    memcpy(first, due, sizeof first);
    plan(spec, 500);
    assert_memory_equal(first, due, 500 * sizeof *due);
    spec.seed = 2;
    plan(spec, 1000);
    assert_memory_not_equal(first, due, sizeof first);
}

static void test_counting_agrees_with_planning(void **state)
{
    (void)state;
    static const enum arrival_process processes[] = {ARRIVAL_CONSTANT, ARRIVAL_POISSON, ARRIVAL_GAMMA};
    for (size_t i = 0; i < ARRAY_COUNT(processes); i++) {
        struct arrival_spec spec = {.process = processes[i], .rate_per_s = 100, .burstiness = 0.5, .seed = 3};
        struct as_error err;
        int64_t count;
        plan(spec, 5000);
        assert_int_equal(arrival_count(&spec, INT64_C(10000000000), 5000, &count, &err), AS_OK);
        assert_true(count > 500 && count < 2000);
        assert_true(due[count - 1] < INT64_C(10000000000));
        assert_true(due[count] >= INT64_C(10000000000));
        assert_int_equal(arrival_count(&spec, INT64_C(10000000000), 10, &count, &err), AS_OK);
        assert_int_equal(count, 10);
    }
    struct arrival_spec constant = {.process = ARRIVAL_CONSTANT, .rate_per_s = 10};
    int64_t count;
    struct as_error err;
    assert_int_equal(arrival_count(&constant, INT64_C(1000000000), 100, &count, &err), AS_OK);
    assert_int_equal(count, 10); /* 0 … 900 ms; the one at 1 s is outside */
}

static void test_what_is_refused(void **state)
{
    (void)state;
    static const struct arrival_spec specs[] = {
        {.process = ARRIVAL_CONSTANT, .rate_per_s = 0},
        {.process = ARRIVAL_CONSTANT, .rate_per_s = -1},
        {.process = ARRIVAL_CONSTANT, .rate_per_s = NAN},
        {.process = ARRIVAL_GAMMA, .rate_per_s = 1, .burstiness = 0},
        {.process = ARRIVAL_CONSTANT, .rate_per_s = 1e-300},
        {.process = ARRIVAL_GAMMA, .rate_per_s = 1, .burstiness = NAN},
        {.process = ARRIVAL_POISSON, .rate_per_s = 1e-12},
    };
    for (size_t i = 0; i < ARRAY_COUNT(specs); i++) {
        struct as_error err;
        assert_int_equal(arrival_plan(&specs[i], 100, due, &err), AS_E_INVALID);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_constant_has_no_accumulated_error),
        cmocka_unit_test(test_poisson),
        cmocka_unit_test(test_gamma),
        cmocka_unit_test(test_infinite_rate),
        cmocka_unit_test(test_the_seed_decides),
        cmocka_unit_test(test_counting_agrees_with_planning),
        cmocka_unit_test(test_what_is_refused),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
