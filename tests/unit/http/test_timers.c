/* SPDX-License-Identifier: Apache-2.0 */
#include "http/server_internal.h"

#include "base/rng.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>

#include <cmocka.h>

#define COUNT 3000

/* Takes the first timer out, as the loop does. */
static struct http_timer *take_first(struct timer_heap *heap)
{
    struct http_timer *timer = timer_heap_first(heap);
    if (timer)
        timer_heap_remove(heap, timer);
    return timer;
}

static void test_order(void **state)
{
    (void)state;
    static struct http_timer timers[COUNT];
    struct timer_heap heap = {0};
    struct rng rng;
    rng_init(&rng, 1, 1);
    assert_null(timer_heap_first(&heap));
    for (size_t i = 0; i < COUNT; i++)
        assert_true(timer_heap_set(&heap, &timers[i], (struct mono){(int64_t)rng_below(&rng, 500)}));
    const struct http_timer *last = NULL;
    for (size_t i = 0; i < COUNT; i++) {
        const struct http_timer *timer = take_first(&heap);
        assert_non_null(timer);
        assert_int_equal(timer->place, 0);
        if (last)
            assert_true(last->due.ns < timer->due.ns || (last->due.ns == timer->due.ns && last < timer));
        last = timer;
    }
    assert_null(take_first(&heap));
    timer_heap_free(&heap);
}

/* Random setting, moving and cancelling against a plain list. */
static void test_against_a_list(void **state)
{
    (void)state;
    static struct http_timer timers[200];
    static bool is_set[200];
    struct timer_heap heap = {0};
    struct rng rng;
    rng_init(&rng, 2, 1);
    for (size_t step = 0; step < 50000; step++) {
        size_t i = rng_below(&rng, 200);
        if (rng_below(&rng, 3)) {
            assert_true(timer_heap_set(&heap, &timers[i], (struct mono){(int64_t)rng_below(&rng, 1000)}));
            is_set[i] = true;
        } else {
            timer_heap_remove(&heap, &timers[i]);
            is_set[i] = false;
        }
        int64_t first_ns = INT64_MAX;
        uint32_t count = 0;
        for (size_t k = 0; k < 200; k++) {
            assert_int_equal(timers[k].place != 0, is_set[k]);
            count += is_set[k];
            if (is_set[k] && timers[k].due.ns < first_ns)
                first_ns = timers[k].due.ns;
        }
        assert_int_equal(heap.count, count);
        const struct http_timer *first = timer_heap_first(&heap);
        assert_int_equal(first ? first->due.ns : INT64_MAX, first_ns);
    }
    timer_heap_free(&heap);
}

/* Setting a timer again moves it, and puts it behind others that are due at the same time. */
static void test_set_again(void **state)
{
    (void)state;
    struct http_timer a = {0}, b = {0};
    struct timer_heap heap = {0};
    assert_true(timer_heap_set(&heap, &a, (struct mono){5}));
    assert_true(timer_heap_set(&heap, &b, (struct mono){5}));
    assert_ptr_equal(timer_heap_first(&heap), &a);
    assert_true(timer_heap_set(&heap, &a, (struct mono){5}));
    assert_ptr_equal(timer_heap_first(&heap), &b);
    assert_true(timer_heap_set(&heap, &a, (struct mono){4}));
    assert_ptr_equal(timer_heap_first(&heap), &a);
    assert_int_equal(heap.count, 2);
    timer_heap_remove(&heap, &a);
    timer_heap_remove(&heap, &a);
    assert_ptr_equal(timer_heap_first(&heap), &b);
    timer_heap_free(&heap);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_order),
        cmocka_unit_test(test_against_a_list),
        cmocka_unit_test(test_set_again),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
