/* SPDX-License-Identifier: Apache-2.0 */
#include "support/check.h"

#include "plane/watch.h"

static int64_t age_ns(struct watch *watch, int64_t id, int64_t at_ns)
{
    int64_t age = -1;
    assert_int_equal(watch_age_ns(watch, id, (struct mono){at_ns}, &age), AS_OK);
    return age;
}

static void ages_count_from_the_last_word(void **state)
{
    struct watch *watch = NULL;
    (void)state;
    assert_int_equal(watch_new(&watch), AS_OK);
    assert_int_equal(watch_heard(watch, 7, (struct mono){100}), AS_OK);
    assert_int_equal(age_ns(watch, 7, 350), 250);
    assert_int_equal(watch_heard(watch, 7, (struct mono){400}), AS_OK);
    assert_int_equal(age_ns(watch, 7, 450), 50);
    watch_free(watch);
}

static void what_is_not_known_counts_as_heard_when_it_is_first_asked_about(void **state)
{
    struct watch *watch = NULL;
    (void)state;
    assert_int_equal(watch_new(&watch), AS_OK);
    assert_int_equal(age_ns(watch, 9, 1000), 0);
    assert_false(watch_has_heard(watch, 9));
    assert_int_equal(age_ns(watch, 9, 1700), 700);
    watch_forget(watch, 9);
    watch_forget(watch, 9);
    assert_false(watch_has_heard(watch, 9));
    assert_int_equal(age_ns(watch, 9, 2000), 0);
    watch_free(watch);
    watch_free(NULL);
}

static void many_are_kept_apart_in_any_order(void **state)
{
    struct watch *watch = NULL;
    (void)state;
    assert_int_equal(watch_new(&watch), AS_OK);
    for (int64_t i = 0; i < 1009; i++) /* 389 and 1009 have no common factor: each id once */
        assert_int_equal(watch_heard(watch, i * 389 % 1009, (struct mono){i * 389 % 1009}), AS_OK);
    for (int64_t id = 0; id < 1009; id += 3)
        watch_forget(watch, id);
    for (int64_t id = 0; id < 1009; id++)
        assert_int_equal(watch_has_heard(watch, id), id % 3 != 0);
    for (int64_t id = 1; id < 1009; id += 3)
        assert_int_equal(age_ns(watch, id, 2000), 2000 - id);
    watch_free(watch);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(ages_count_from_the_last_word),
        cmocka_unit_test(what_is_not_known_counts_as_heard_when_it_is_first_asked_about),
        cmocka_unit_test(many_are_kept_apart_in_any_order),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
