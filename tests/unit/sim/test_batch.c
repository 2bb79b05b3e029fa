/* SPDX-License-Identifier: Apache-2.0 */
#include "sim/batch.h"

#include "base/rng.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>

static void test_first_in_first_out(void **state)
{
    (void)state;
    struct sim_batch batch = {.slots = 2, .queue_limit = -1};
    struct sim_batch_place p[5];
    assert_int_equal(sim_batch_enter(&batch, &p[0]), SIM_BATCH_RUN);
    assert_int_equal(sim_batch_enter(&batch, &p[1]), SIM_BATCH_RUN);
    for (int i = 2; i < 5; i++)
        assert_int_equal(sim_batch_enter(&batch, &p[i]), SIM_BATCH_WAIT);
    assert_int_equal(batch.waiting, 3);
    assert_ptr_equal(sim_batch_leave(&batch, &p[1]), &p[2]);
    assert_null(sim_batch_leave(&batch, &p[3])); /* gives up while waiting */
    assert_ptr_equal(sim_batch_leave(&batch, &p[0]), &p[4]);
    assert_null(sim_batch_leave(&batch, &p[4]));
    assert_null(sim_batch_leave(&batch, &p[2]));
    assert_null(sim_batch_leave(&batch, &p[2])); /* holds nothing any more */
    assert_int_equal(batch.running, 0);
}

static void test_limits(void **state)
{
    (void)state;
    struct sim_batch batch = {.slots = 1, .queue_limit = 1};
    struct sim_batch_place p[3];
    assert_int_equal(sim_batch_enter(&batch, &p[0]), SIM_BATCH_RUN);
    assert_int_equal(sim_batch_enter(&batch, &p[1]), SIM_BATCH_WAIT);
    assert_int_equal(sim_batch_enter(&batch, &p[2]), SIM_BATCH_REFUSE);
    assert_null(sim_batch_leave(&batch, &p[2]));
    struct sim_batch open = {.slots = 0, .queue_limit = 0};
    struct sim_batch_place many[100];
    for (int i = 0; i < 100; i++)
        assert_int_equal(sim_batch_enter(&open, &many[i]), SIM_BATCH_RUN);
    assert_int_equal(open.running, 100);
}

static void test_identity_at_random(void **state)
{
    (void)state;
    struct sim_batch batch = {.slots = 7, .queue_limit = 20};
    struct sim_batch_place p[64] = {0};
    bool inside[64] = {0};
    struct rng rng;
    rng_init(&rng, 3, 0);
    for (int step = 0; step < 20000; step++) {
        size_t i = (size_t)rng_below(&rng, 64);
        if (inside[i]) {
            (void)sim_batch_leave(&batch, &p[i]);
            inside[i] = false;
        } else {
            inside[i] = sim_batch_enter(&batch, &p[i]) != SIM_BATCH_REFUSE;
        }
        uint32_t running = 0, waiting = 0;
        for (size_t k = 0; k < 64; k++) {
            running += p[k].is_running;
            waiting += p[k].is_waiting;
        }
        assert_int_equal(batch.running, running);
        assert_int_equal(batch.waiting, waiting);
        assert_true(running <= 7 && waiting <= 20);
        assert_true(waiting == 0 || running == 7);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_first_in_first_out),
        cmocka_unit_test(test_limits),
        cmocka_unit_test(test_identity_at_random),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
