/* SPDX-License-Identifier: Apache-2.0 */
#include "sim/fault.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <string.h>

#include <cmocka.h>

static struct sim_fault parsed(const char *text)
{
    struct sim_fault fault;
    struct as_error err = {0};
    if (sim_fault_parse(text, &fault, &err) != AS_OK)
        fail_msg("'%s': %s", text, err.message);
    return fault;
}

static void test_kinds(void **state)
{
    (void)state;
    struct sim_fault f = parsed("429:2@0.1");
    assert_int_equal(f.kind, SIM_FAULT_STATUS);
    assert_int_equal(f.status, 429);
    assert_int_equal(f.argument, 2);
    assert_int_equal(f.when, SIM_FAULT_PROBABILITY);
    f = parsed("503@every=10");
    assert_int_equal(f.argument, -1);
    assert_int_equal(f.from, 10);
    f = parsed("reset:3@first=5");
    assert_int_equal(f.kind, SIM_FAULT_RESET);
    assert_int_equal(f.argument, 3);
    f = parsed("slow-headers:250ms@at=7");
    assert_int_equal(f.argument, 250000000);
    assert_int_equal(f.from, 7);
    assert_int_equal(f.to, 7);
    f = parsed("slow-headers@at=7-9");
    assert_int_equal(f.argument, 1000000000);
    assert_int_equal(f.to, 9);
    static const char *const plain[] = {
        "oom@1",       "html@1",       "close@1",   "truncate@1",     "stall@1", "error-in-stream@1",
        "bad-event@1", "unfinished@1", "no-done@1", "no-last-chunk@1"};
    for (size_t i = 0; i < sizeof(plain) / sizeof(plain[0]); i++) {
        f = parsed(plain[i]);
        assert_int_equal(strncmp(sim_fault_name(f.kind), plain[i], strlen(sim_fault_name(f.kind))), 0);
    }
}

static void test_refused(void **state)
{
    (void)state;
    static const char *const bad[] = {"",
                                      "429",
                                      "429@",
                                      "429@1.5",
                                      "200@0.1",
                                      "600@0.1",
                                      "reset:x@0.1",
                                      "oom:3@1",
                                      "429@every=0",
                                      "429@every=1-2",
                                      "429@at=5-3",
                                      "nosuch@1",
                                      "429@soon",
                                      "429@every=",
                                      "429:@1",
                                      "@0.5",
                                      "slow-headers:250@1",
                                      "reset:3@-1",
                                      "429@nan",
                                      "42x@1",
                                      "reset:99999999999999999999@1"};
    for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++) {
        struct sim_fault fault = {.status = 77};
        struct as_error err;
        if (sim_fault_parse(bad[i], &fault, &err) != AS_E_USAGE)
            fail_msg("'%s' was taken", bad[i]);
        assert_non_null(strstr(err.message, "KIND[:ARG]@WHEN"));
        assert_int_equal(fault.status, 77);
    }
}

static int count_fates(const struct sim_fault *faults, size_t n, uint64_t seed, int64_t requests)
{
    int hit = 0;
    for (int64_t i = 1; i <= requests; i++)
        hit += sim_fault_choose(faults, n, seed, i) != NULL;
    return hit;
}

static void test_schedule(void **state)
{
    (void)state;
    struct sim_fault every = parsed("503@every=10"), first = parsed("503@first=5"), at = parsed("503@at=7-9");
    assert_int_equal(count_fates(&every, 1, 1, 100), 10);
    assert_null(sim_fault_choose(&every, 1, 1, 9));
    assert_non_null(sim_fault_choose(&every, 1, 1, 10));
    assert_int_equal(count_fates(&first, 1, 1, 100), 5);
    assert_non_null(sim_fault_choose(&first, 1, 1, 1));
    assert_null(sim_fault_choose(&first, 1, 1, 6));
    assert_int_equal(count_fates(&at, 1, 1, 100), 3);
    assert_null(sim_fault_choose(&at, 1, 1, 6));
    assert_null(sim_fault_choose(NULL, 0, 1, 1));
}

static void test_probability(void **state)
{
    (void)state;
    struct sim_fault rare = parsed("429@0.1"), never = parsed("429@0"), always = parsed("429@1");
    int hit = count_fates(&rare, 1, 42, 20000);
    assert_in_range(hit, 1850, 2150);
    assert_int_equal(count_fates(&rare, 1, 42, 20000), hit);
    assert_int_equal(count_fates(&never, 1, 42, 1000), 0);
    assert_int_equal(count_fates(&always, 1, 42, 1000), 1000);
    int same = 0;
    for (int64_t i = 1; i <= 1000; i++)
        same += (sim_fault_choose(&rare, 1, 1, i) != NULL) && (sim_fault_choose(&rare, 1, 2, i) != NULL);
    assert_in_range(same, 0, 30);
}

static void test_first_of_list_wins(void **state)
{
    (void)state;
    struct sim_fault list[2] = {parsed("503@every=2"), parsed("reset@1")};
    assert_int_equal(sim_fault_choose(list, 2, 1, 1)->kind, SIM_FAULT_RESET);
    assert_int_equal(sim_fault_choose(list, 2, 1, 2)->kind, SIM_FAULT_STATUS);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_kinds),
        cmocka_unit_test(test_refused),
        cmocka_unit_test(test_schedule),
        cmocka_unit_test(test_probability),
        cmocka_unit_test(test_first_of_list_wins),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
