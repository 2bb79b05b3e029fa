/* SPDX-License-Identifier: Apache-2.0 */
#include "engine/balance.h"

#include "base/rng.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

static void start(struct balance *balance, enum engine_balance policy, const uint32_t *weights, uint32_t count,
                  uint32_t eject_after)
{
    struct engine_options options = {.balance = policy, .seed = 7, .eject_after = eject_after};
    assert_int_equal(balance_init(balance, &options, weights, count, NULL), AS_OK);
}

static void test_weights_ten_to_one(void **state)
{
    (void)state;
    struct balance balance;
    const uint32_t weights[] = {10, 1};
    uint32_t seen[2] = {0}, place_of_second = 0;
    start(&balance, BALANCE_WEIGHTED_ROUND_ROBIN, weights, 2, 0);
    for (int64_t seq = 0; seq < 11; seq++) {
        uint32_t endpoint = balance_pick(&balance, seq, 0);
        seen[endpoint]++;
        if (endpoint == 1)
            place_of_second = (uint32_t)seq;
    }
    assert_int_equal(seen[0], 10);
    assert_int_equal(seen[1], 1);
    assert_in_range(place_of_second, 3, 7);
    balance_done(&balance);
}

/* At every moment each endpoint's share is within one of its weight's share: spread out, from the first request. */
static void test_weights_are_smooth(void **state)
{
    (void)state;
    struct rng rng;
    rng_init(&rng, 1, 1);
    for (int round = 0; round < 200; round++) {
        uint32_t weights[6], count = 1 + (uint32_t)rng_below(&rng, 6), sum = 0;
        int64_t seen[6] = {0};
        struct balance balance;
        for (uint32_t i = 0; i < count; i++)
            sum += weights[i] = 1 + (uint32_t)rng_below(&rng, 12);
        start(&balance, BALANCE_WEIGHTED_ROUND_ROBIN, weights, count, 0);
        for (int64_t seq = 0; seq < 3 * (int64_t)sum; seq++) {
            seen[balance_pick(&balance, seq, 0)]++;
            for (uint32_t i = 0; i < count; i++)
                assert_true(llabs(seen[i] * sum - (seq + 1) * weights[i]) <= 2 * (int64_t)sum);
        }
        for (uint32_t i = 0; i < count; i++)
            assert_int_equal(seen[i], 3 * weights[i]);
        balance_done(&balance);
    }
}

static void test_failures_change_nothing(void **state)
{
    (void)state;
    const uint32_t weights[] = {1, 2, 3};
    for (int policy = BALANCE_WEIGHTED_ROUND_ROBIN; policy <= BALANCE_RANDOM; policy++) {
        if (policy == BALANCE_LEAST_INFLIGHT)
            continue;
        struct balance fine, failing;
        start(&fine, (enum engine_balance)policy, weights, 3, 0);
        start(&failing, (enum engine_balance)policy, weights, 3, 0);
        for (int64_t seq = 0; seq < 60; seq++) {
            uint32_t expected = balance_pick(&fine, seq, seq);
            uint32_t got = balance_pick(&failing, seq, seq);
            assert_int_equal(got, expected);
            balance_release(&fine, expected, BALANCE_FINE, seq);
            balance_release(&failing, got, got == 2 ? BALANCE_UNREACHABLE : BALANCE_FAILED, seq);
        }
        assert_int_equal(atomic_load(&failing.ejections), 0);
        balance_done(&fine);
        balance_done(&failing);
    }
}

static void test_random_is_seeded_and_even(void **state)
{
    (void)state;
    const uint32_t weights[] = {1, 1, 1, 1};
    struct balance one, two;
    int64_t seen[4] = {0};
    start(&one, BALANCE_RANDOM, weights, 4, 0);
    start(&two, BALANCE_RANDOM, weights, 4, 0);
    for (int64_t seq = 0; seq < 40000; seq++) {
        uint32_t endpoint = balance_pick(&one, seq, 0);
        assert_int_equal(endpoint, balance_pick(&two, seq, 99));
        seen[endpoint]++;
    }
    for (int i = 0; i < 4; i++)
        assert_in_range(seen[i], 9500, 10500);
    two.seed = 8;
    int64_t same = 0;
    for (int64_t seq = 0; seq < 1000; seq++)
        same += balance_pick(&one, seq, 0) == balance_pick(&two, seq, 0);
    assert_in_range(same, 150, 350);
    balance_done(&one);
    balance_done(&two);
}

static void test_least_in_flight_follows_the_load(void **state)
{
    (void)state;
    const uint32_t weights[] = {1, 1, 1};
    struct balance balance;
    start(&balance, BALANCE_LEAST_INFLIGHT, weights, 3, 0);
    /* Endpoint 0 holds on to what it gets, the others answer at once. */
    int64_t seen[3] = {0};
    for (int64_t seq = 0; seq < 300; seq++) {
        uint32_t endpoint = balance_pick(&balance, seq, 0);
        seen[endpoint]++;
        if (endpoint != 0)
            balance_release(&balance, endpoint, BALANCE_FINE, 0);
    }
    assert_int_equal(seen[0], 1);
    assert_int_equal(seen[1] + seen[2], 299);
    assert_in_range(seen[1], 90, 210);
    balance_done(&balance);
}

/* One endpoint refuses at once, the other two take their time: it gets its third of the requests at most. */
static void test_least_in_flight_does_not_favour_the_dead(void **state)
{
    (void)state;
    const uint32_t weights[] = {1, 1, 1};
    struct balance balance;
    uint32_t busy[20];
    size_t busy_count = 0;
    int64_t seen[3] = {0};
    start(&balance, BALANCE_LEAST_INFLIGHT, weights, 3, 0);
    for (int64_t seq = 0; seq < 3000; seq++) {
        uint32_t endpoint = balance_pick(&balance, seq, 0);
        seen[endpoint]++;
        if (endpoint == 1) {
            balance_release(&balance, 1, BALANCE_UNREACHABLE, 0);
            continue;
        }
        if (busy_count == sizeof busy / sizeof *busy) {
            balance_release(&balance, busy[0], BALANCE_FINE, 0);
            memmove(busy, busy + 1, --busy_count * sizeof *busy);
        }
        busy[busy_count++] = endpoint;
    }
    assert_in_range(seen[1], 1, 1001);
    assert_in_range(seen[0], 900, 1100);
    assert_in_range(seen[2], 900, 1100);
    balance_done(&balance);
}

static void test_ejection(void **state)
{
    (void)state;
    const uint32_t weights[] = {1, 1, 1};
    struct balance balance;
    int64_t seq = 0, now = 1000;
    start(&balance, BALANCE_ROUND_ROBIN, weights, 3, 2);
    for (; seq < 6; seq++) {
        uint32_t endpoint = balance_pick(&balance, seq, now);
        assert_int_equal(endpoint, seq % 3);
        balance_release(&balance, endpoint, endpoint == 1 ? BALANCE_UNREACHABLE : BALANCE_FINE, now);
    }
    assert_int_equal(atomic_load(&balance.ejections), 1);
    for (; seq < 12; seq++) {
        uint32_t endpoint = balance_pick(&balance, seq, now + BALANCE_EJECTED_NS - 1);
        assert_int_equal(endpoint, seq % 3 == 1 ? 2 : seq % 3);
        assert_int_equal(balance_pick_again(&balance, 1, seq, now) != 1, 1);
        balance_release(&balance, endpoint, BALANCE_FINE, now);
    }
    now += BALANCE_EJECTED_NS;
    for (; seq < 18; seq++)
        assert_int_equal(balance_pick(&balance, seq, now), seq % 3);
    balance_done(&balance);
}

static void test_ejection_needs_a_row_of_failures(void **state)
{
    (void)state;
    const uint32_t weights[] = {1};
    struct balance balance;
    start(&balance, BALANCE_ROUND_ROBIN, weights, 1, 2);
    static const enum balance_verdict verdicts[] = {BALANCE_FAILED, BALANCE_FINE, BALANCE_UNREACHABLE, BALANCE_UNUSED,
                                                    BALANCE_FINE};
    for (size_t i = 0; i < sizeof verdicts / sizeof *verdicts; i++)
        balance_release(&balance, balance_pick(&balance, (int64_t)i, 0), verdicts[i], 0);
    assert_int_equal(atomic_load(&balance.ejections), 0);
    /* All out: the order goes on as if none were. */
    for (int i = 0; i < 2; i++)
        balance_release(&balance, balance_pick(&balance, i, 0), BALANCE_FAILED, 0);
    assert_int_equal(atomic_load(&balance.ejections), 1);
    assert_int_equal(balance_pick(&balance, 0, 1), 0);
    balance_done(&balance);
}

static void test_too_many_weights(void **state)
{
    (void)state;
    const uint32_t huge[] = {4000000000u, 1}, even[] = {4000000000u, 4000000000u};
    struct engine_options options = {.balance = BALANCE_WEIGHTED_ROUND_ROBIN};
    struct balance balance;
    struct as_error err;
    assert_int_equal(balance_init(&balance, &options, huge, 2, &err), AS_E_LIMIT);
    assert_non_null(strstr(err.message, "weights"));
    assert_int_equal(balance_init(&balance, &options, even, 2, &err), AS_OK);
    assert_int_equal(balance.cycle_len, 2);
    balance_done(&balance);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_weights_ten_to_one),
        cmocka_unit_test(test_weights_are_smooth),
        cmocka_unit_test(test_failures_change_nothing),
        cmocka_unit_test(test_random_is_seeded_and_even),
        cmocka_unit_test(test_least_in_flight_follows_the_load),
        cmocka_unit_test(test_least_in_flight_does_not_favour_the_dead),
        cmocka_unit_test(test_ejection),
        cmocka_unit_test(test_ejection_needs_a_row_of_failures),
        cmocka_unit_test(test_too_many_weights),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
