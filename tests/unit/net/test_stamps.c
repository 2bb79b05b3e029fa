/* SPDX-License-Identifier: Apache-2.0 */
#include "net/stamps.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

/* A wall clock under the test's hand. */
static int64_t wall_ahead_ns, mono_at_ns, error_ns;
static int measured;

static struct clock_offset measure(int rounds)
{
    assert_true(rounds >= 1);
    measured++;
    return (struct clock_offset){wall_ahead_ns, error_ns, {mono_at_ns}};
}

static void set_clock(struct stamp_clock *clock, int64_t ahead_ns)
{
    wall_ahead_ns = ahead_ns;
    mono_at_ns = 1000 * NS_PER_S;
    error_ns = 50;
    measured = 0;
    stamp_clock_init(clock, measure);
}

static void test_converts(void **state)
{
    (void)state;
    struct stamp_clock clock;
    set_clock(&clock, 1700000000 * NS_PER_S);
    int64_t user = mono_at_ns + 10;
    assert_int_equal(stamp_to_mono(&clock, wall_ahead_ns + user - 5000, user), user - 5000);
    assert_int_equal(measured, 1);
    assert_int_equal(clock.step_ns, 0);
}

static void test_measures_once_a_millisecond(void **state)
{
    (void)state;
    struct stamp_clock clock;
    set_clock(&clock, 5 * NS_PER_S);
    for (int64_t t = 0; t <= 10 * NS_PER_MS; t += 10 * NS_PER_US) {
        int64_t user = 1000 * NS_PER_S + t;
        mono_at_ns = user;
        assert_int_equal(stamp_to_mono(&clock, wall_ahead_ns + user - 3000, user), user - 3000);
    }
    assert_in_range(measured, 9, 11);
}

static void test_follows_slewing(void **state)
{
    (void)state;
    struct stamp_clock clock;
    set_clock(&clock, 5 * NS_PER_S);
    for (int i = 0; i < 100; i++) {
        int64_t user = mono_at_ns;
        assert_int_equal(stamp_to_mono(&clock, wall_ahead_ns + user - 3000, user), user - 3000);
        mono_at_ns += 2 * NS_PER_MS;
        wall_ahead_ns += 1000; /* 500 ppm */
    }
    assert_int_equal(clock.step_ns, 0);
}

/* A clock set forward within the offset's millisecond: the stamp would lie after its own read. */
static void test_step_forward_is_noticed_at_once(void **state)
{
    (void)state;
    struct stamp_clock clock;
    set_clock(&clock, 5 * NS_PER_S);
    int64_t user = mono_at_ns;
    assert_true(stamp_to_mono(&clock, wall_ahead_ns + user - 3000, user) > 0);
    wall_ahead_ns += 3600 * NS_PER_S;
    user += 100000;
    mono_at_ns = user;
    assert_int_equal(stamp_to_mono(&clock, wall_ahead_ns + user - 3000, user), -1);
    assert_in_range(clock.step_ns, 3599 * NS_PER_S, 3600 * NS_PER_S);
    assert_int_equal(stamp_to_mono(&clock, wall_ahead_ns + user - 2000, user), user - 2000);
}

static void test_step_back_is_noticed_at_once(void **state)
{
    (void)state;
    struct stamp_clock clock;
    set_clock(&clock, 5000 * NS_PER_S);
    int64_t user = mono_at_ns;
    assert_true(stamp_to_mono(&clock, wall_ahead_ns + user - 3000, user) > 0);
    wall_ahead_ns -= NS_PER_S;
    user += 100000;
    mono_at_ns = user;
    assert_int_equal(stamp_to_mono(&clock, wall_ahead_ns + user - 3000, user), -1);
    assert_in_range(clock.step_ns, NS_PER_S - 2000, NS_PER_S);
}

static void test_step_between_measurements(void **state)
{
    (void)state;
    struct stamp_clock clock;
    set_clock(&clock, 5 * NS_PER_S);
    int64_t user = mono_at_ns;
    assert_true(stamp_to_mono(&clock, wall_ahead_ns + user - 3000, user) > 0);
    user += 5 * NS_PER_MS;
    mono_at_ns = user;
    wall_ahead_ns += 200 * NS_PER_US;
    assert_int_equal(stamp_to_mono(&clock, wall_ahead_ns + user - 3000, user), -1);
    assert_in_range(clock.step_ns, 190 * NS_PER_US, 200 * NS_PER_US);
}

/* A client that really lags by seconds keeps its stamps. */
static void test_long_lag_is_no_step(void **state)
{
    (void)state;
    struct stamp_clock clock;
    set_clock(&clock, 5 * NS_PER_S);
    int64_t user = mono_at_ns;
    assert_int_equal(stamp_to_mono(&clock, wall_ahead_ns + user - 2 * NS_PER_S, user), user - 2 * NS_PER_S);
    assert_int_equal(clock.step_ns, 0);
}

static void test_never_after_the_read(void **state)
{
    (void)state;
    struct stamp_clock clock;
    set_clock(&clock, 5 * NS_PER_S);
    int64_t user = mono_at_ns;
    assert_int_equal(stamp_to_mono(&clock, wall_ahead_ns + user + 40, user), user);
    assert_int_equal(stamp_to_mono(&clock, wall_ahead_ns + user + NS_PER_MS, user), -1);
}

static void test_control_messages(void **state)
{
    (void)state;
    char control[STAMP_CONTROL_BYTES] __attribute__((aligned(8))) = {0};
    struct msghdr message = {.msg_control = control, .msg_controllen = 0};
    struct timespec ts = {12, 34};
    assert_int_equal(stamp_of_message(&message), -1);
    message.msg_controllen = sizeof control;
    struct cmsghdr *header = CMSG_FIRSTHDR(&message);
    header->cmsg_len = CMSG_LEN(sizeof ts);
    header->cmsg_level = SOL_SOCKET;
    header->cmsg_type = SO_TIMESTAMPNS;
    memcpy(CMSG_DATA(header), &ts, sizeof ts);
    assert_int_equal(stamp_of_message(&message), 12 * NS_PER_S + 34);
    header->cmsg_type = SCM_RIGHTS;
    assert_int_equal(stamp_of_message(&message), -1);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_converts),
        cmocka_unit_test(test_measures_once_a_millisecond),
        cmocka_unit_test(test_follows_slewing),
        cmocka_unit_test(test_step_forward_is_noticed_at_once),
        cmocka_unit_test(test_step_back_is_noticed_at_once),
        cmocka_unit_test(test_step_between_measurements),
        cmocka_unit_test(test_long_lag_is_no_step),
        cmocka_unit_test(test_never_after_the_read),
        cmocka_unit_test(test_control_messages),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
