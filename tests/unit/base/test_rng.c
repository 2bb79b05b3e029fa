/* SPDX-License-Identifier: Apache-2.0 */
#include "base/rng.h"

#include "support/check.h"

#include <math.h>
#include <stdbool.h>
#include <string.h>

#define DRAWS 200000

/* First outputs of xoshiro256** from state 1, 2, 3, 4: the reference implementation's. */
static void is_xoshiro256_starstar(void **state)
{
    (void)state;
    static const uint64_t expected[] = {UINT64_C(11520),
                                        0,
                                        UINT64_C(1509978240),
                                        UINT64_C(1215971899390074240),
                                        UINT64_C(1216172134540287360),
                                        UINT64_C(607988272756665600),
                                        UINT64_C(16172922978634559625),
                                        UINT64_C(8476171486693032832)};
    struct rng rng = {{1, 2, 3, 4}};
    for (size_t i = 0; i < ARRAY_COUNT(expected); i++)
        assert_true(rng_u64(&rng) == expected[i]);
}

/* Results depend on these: they may never change. Made by a second implementation. */
static void seeds_give_what_they_always_gave(void **state)
{
    (void)state;
    static const struct {
        uint64_t seed, stream, first[4];
    } cases[] = {
        {0, 0, {0xd4d5e19fa14d7204, 0x26a7681f9612c531, 0x679599d3d23df959, 0xe6df5353da62e546}},
        {1, 0, {0x576b3120696b13f7, 0x8f89de55b4658572, 0x3d6f2b2243b016c5, 0x743f9d047dd24c33}},
        {42, 3, {0xf083719892d920fb, 0x4fc01486c3fd7f87, 0x66e8ac3c34c53bba, 0x1ec1f1b6307ab1a6}},
    };
    for (size_t i = 0; i < ARRAY_COUNT(cases); i++) {
        struct rng rng;
        rng_init(&rng, cases[i].seed, cases[i].stream);
        for (size_t at = 0; at < 4; at++)
            assert_true(rng_u64(&rng) == cases[i].first[at]);
    }
    assert_true(rng_mix(0, 0) == UINT64_C(0x8c583653daa4a85b));
    assert_true(rng_mix(1, 0) == UINT64_C(0x2fe1a04dec8cb0a6));
    assert_true(rng_mix(0, 1) == UINT64_C(0xa4da388d7dbe6592));
    assert_true(rng_mix(42, 7) == UINT64_C(0xf661de4055f22ed9));
}

static void derived_draws_are_fixed_too(void **state)
{
    (void)state;
    static const uint64_t below[] = {6, 4, 9, 5, 9, 8, 6, 3, 6, 1, 5, 1, 8, 9, 4, 3};
    struct rng rng;
    rng_init(&rng, 42, 0);
    for (size_t i = 0; i < ARRAY_COUNT(below); i++)
        assert_int_equal(rng_below(&rng, 10), below[i]);
    static const uint32_t shuffled[] = {8, 0, 9, 2, 5, 3, 1, 7, 4, 6};
    uint32_t items[10];
    for (uint32_t i = 0; i < 10; i++)
        items[i] = i;
    rng_init(&rng, 42, 0);
    rng_shuffle(&rng, items, 10);
    assert_memory_equal(items, shuffled, sizeof items);
    rng_init(&rng, 42, 0);
    assert_true(rng_uniform(&rng) == 0.029097066655637382);
    assert_true(rng_uniform(&rng) == 0.8996258286612706);
}

static void streams_differ(void **state)
{
    (void)state;
    struct rng one, two, three;
    rng_init(&one, 7, 0);
    rng_init(&two, 7, 1);
    rng_init(&three, 8, 0);
    for (int i = 0; i < 1000; i++) {
        uint64_t a = rng_u64(&one), b = rng_u64(&two), c = rng_u64(&three);
        assert_true(a != b && b != c && a != c);
    }
}

static void below_is_even_and_bounded(void **state)
{
    (void)state;
    struct rng rng;
    rng_init(&rng, 5, 0);
    for (int i = 0; i < 1000; i++) {
        assert_int_equal(rng_below(&rng, 1), 0);
        assert_true(rng_below(&rng, UINT64_MAX) < UINT64_MAX);
        assert_true(rng_below(&rng, (UINT64_C(1) << 63) + 1) <= UINT64_C(1) << 63);
    }
    size_t counts[7] = {0};
    for (int i = 0; i < 70000; i++)
        counts[rng_below(&rng, 7)]++;
    double chi_square = 0;
    for (size_t i = 0; i < 7; i++) {
        double off = (double)counts[i] - 10000;
        chi_square += off * off / 10000;
    }
    assert_true(chi_square < 22.46); /* 6 degrees of freedom, p = 0.001 */
}

struct moments {
    double mean, deviation, smallest, largest;
};

static struct moments measure(double (*draw)(struct rng *rng, double parameter), double parameter)
{
    struct rng rng;
    rng_init(&rng, 11, (uint64_t)(parameter * 100));
    struct moments m = {.smallest = INFINITY, .largest = -INFINITY};
    double sum_of_squares = 0;
    for (int i = 1; i <= DRAWS; i++) {
        double value = draw(&rng, parameter);
        double off = value - m.mean;
        m.mean += off / i;
        sum_of_squares += off * (value - m.mean);
        m.smallest = fmin(m.smallest, value);
        m.largest = fmax(m.largest, value);
    }
    m.deviation = sqrt(sum_of_squares / DRAWS);
    return m;
}

static double draw_uniform(struct rng *rng, double parameter)
{
    (void)parameter;
    return rng_uniform(rng);
}

static double draw_exponential(struct rng *rng, double parameter)
{
    (void)parameter;
    return rng_exponential(rng);
}

static double draw_normal(struct rng *rng, double parameter)
{
    (void)parameter;
    return rng_normal(rng);
}

static void check_near(double value, double expected, double tolerance)
{
    if (!(fabs(value - expected) <= tolerance))
        fail_msg("%g is not within %g of %g", value, tolerance, expected);
}

static void distributions_have_their_moments(void **state)
{
    (void)state;
    double root = sqrt(DRAWS);
    struct moments uniform = measure(draw_uniform, 0);
    check_near(uniform.mean, 0.5, 4 * 0.2887 / root);
    check_near(uniform.deviation, sqrt(1.0 / 12), 0.002);
    assert_true(uniform.smallest >= 0 && uniform.largest < 1);
    struct moments exponential = measure(draw_exponential, 0);
    check_near(exponential.mean, 1, 4 / root);
    check_near(exponential.deviation, 1, 0.02);
    assert_true(exponential.smallest >= 0 && isfinite(exponential.largest));
    struct moments normal = measure(draw_normal, 0);
    check_near(normal.mean, 0, 4 / root);
    check_near(normal.deviation, 1, 0.01);
    assert_true(normal.largest < 6 && normal.smallest > -6);
    static const double shapes[] = {0.1, 0.25, 0.5, 1, 2, 4, 25};
    for (size_t i = 0; i < ARRAY_COUNT(shapes); i++) {
        struct moments gamma = measure(rng_gamma, shapes[i]);
        double deviation = 1 / sqrt(shapes[i]);
        check_near(gamma.mean, 1, 4 * deviation / root);
        check_near(gamma.deviation, deviation, 0.03 * deviation);
        assert_true(gamma.smallest >= 0 && isfinite(gamma.largest));
    }
}

static void shuffling_keeps_every_item(void **state)
{
    (void)state;
    struct rng rng;
    rng_init(&rng, 9, 0);
    uint32_t items[257];
    for (uint32_t i = 0; i < 257; i++)
        items[i] = i;
    rng_shuffle(&rng, items, 257);
    bool seen[257] = {false};
    size_t moved = 0;
    for (uint32_t i = 0; i < 257; i++) {
        assert_in_range(items[i], 0, 256);
        assert_false(seen[items[i]]);
        seen[items[i]] = true;
        moved += items[i] != i;
    }
    assert_true(moved > 240);
    uint32_t one = 77;
    rng_shuffle(&rng, &one, 1);
    rng_shuffle(&rng, NULL, 0);
    assert_int_equal(one, 77);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(is_xoshiro256_starstar),      cmocka_unit_test(seeds_give_what_they_always_gave),
        cmocka_unit_test(derived_draws_are_fixed_too), cmocka_unit_test(streams_differ),
        cmocka_unit_test(below_is_even_and_bounded),   cmocka_unit_test(distributions_have_their_moments),
        cmocka_unit_test(shuffling_keeps_every_item),
    };
    return cmocka_run_group_tests_name("rng", tests, NULL, NULL);
}
