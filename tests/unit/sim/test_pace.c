/* SPDX-License-Identifier: Apache-2.0 */
#include "sim/pace.h"

#include "base/clock.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <string.h>

#include <cmocka.h>

#define MS NS_PER_MS

static void test_plain(void **state)
{
    (void)state;
    struct sim_pace pace = {0};
    assert_int_equal(sim_pace_advance(&pace, 0, 1000, 50), 1050);
    assert_int_equal(sim_pace_advance(&pace, 7, 1000, 0), 1000);
}

/* Work that spans a freeze ends as much later as the freeze is long; work begun inside starts at its end. */
static void test_freeze(void **state)
{
    (void)state;
    const struct sim_freeze freezes[] = {{100 * MS, 40 * MS}, {200 * MS, 10 * MS}};
    struct sim_pace pace = {.freezes = freezes, .freeze_count = 2};
    const int64_t epoch = 5 * NS_PER_S;
    static const struct {
        int64_t from_ms, work_ms, done_ms;
    } cases[] = {
        {0, 99, 99},   {0, 100, 140},  {0, 150, 190}, {90, 20, 150}, {100, 0, 140}, {120, 5, 145},  {139, 0, 140},
        {140, 0, 140}, {140, 60, 210}, {0, 160, 210}, {0, 170, 220}, {90, 80, 220}, {250, 10, 260},
    };
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        int64_t done = sim_pace_advance(&pace, epoch, epoch + cases[i].from_ms * MS, cases[i].work_ms * MS) - epoch;
        if (done != cases[i].done_ms * MS)
            fail_msg("from %ld ms, %ld ms of work: done at %ld ns, not %ld ms", (long)cases[i].from_ms,
                     (long)cases[i].work_ms, (long)done, (long)cases[i].done_ms);
    }
}

static void test_grid(void **state)
{
    (void)state;
    struct sim_pace pace = {.grid_ns = 50};
    assert_int_equal(sim_pace_advance(&pace, 0, 1000, 0), 1000);
    assert_int_equal(sim_pace_advance(&pace, 0, 1001, 0), 1050);
    assert_int_equal(sim_pace_advance(&pace, 0, 1000, 50), 1050);
    assert_int_equal(sim_pace_advance(&pace, 0, 1000, 51), 1100);
}

static void test_grid_with_freeze(void **state)
{
    (void)state;
    const struct sim_freeze freezes[] = {{100, 25}};
    struct sim_pace pace = {.freezes = freezes, .freeze_count = 1, .grid_ns = 50};
    assert_int_equal(sim_pace_advance(&pace, 0, 90, 0), 150);
    assert_int_equal(sim_pace_advance(&pace, 0, 0, 50), 50);
    assert_int_equal(sim_pace_advance(&pace, 0, 110, 0), 150);
}

static void test_parse(void **state)
{
    (void)state;
    struct sim_freeze freeze;
    struct as_error err;
    assert_int_equal(sim_freeze_parse("5s+1.4s", &freeze, &err), AS_OK);
    assert_int_equal(freeze.start_ns, 5 * NS_PER_S);
    assert_int_equal(freeze.length_ns, 1400 * MS);
    static const char *const bad[] = {"", "5s", "5s+", "5+1", "5s+1s+1s", "+1s", "5s-1s", "5s+0"};
    for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++)
        if (sim_freeze_parse(bad[i], &freeze, &err) != AS_E_USAGE)
            fail_msg("'%s' was taken", bad[i]);
    assert_non_null(strstr(err.message, "START+LENGTH"));
}

static void test_order(void **state)
{
    (void)state;
    struct sim_freeze freezes[] = {{300, 10}, {100, 20}, {120, 5}};
    struct as_error err;
    assert_int_equal(sim_freeze_order(freezes, 3, &err), AS_OK);
    assert_int_equal(freezes[0].start_ns, 100);
    assert_int_equal(freezes[2].start_ns, 300);
    freezes[0].length_ns = 21;
    assert_int_equal(sim_freeze_order(freezes, 3, &err), AS_E_USAGE);
    assert_int_equal(sim_freeze_order(NULL, 0, &err), AS_OK);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_plain), cmocka_unit_test(test_freeze),
        cmocka_unit_test(test_grid),  cmocka_unit_test(test_grid_with_freeze),
        cmocka_unit_test(test_parse), cmocka_unit_test(test_order),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
