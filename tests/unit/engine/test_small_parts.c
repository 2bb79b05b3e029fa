/* SPDX-License-Identifier: Apache-2.0 */
#include "base/rng.h"
#include "engine/lag.h"
#include "engine/request_head.h"
#include "engine/timer_list.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

static void test_timers_in_order(void **state)
{
    (void)state;
    struct timer timers[50] = {0};
    struct timer_list list = {0};
    struct rng rng;
    rng_init(&rng, 3, 0);
    for (int round = 0; round < 200; round++) {
        struct timer *timer = &timers[rng_below(&rng, 50)];
        if (rng_below(&rng, 4) == 0)
            timer_clear(&list, timer);
        else
            timer_set(&list, timer, (int64_t)rng_below(&rng, 1000));
        int64_t last = -1;
        size_t linked = 0, set = 0;
        for (const struct timer *at = list.first; at; at = at->next, linked++) {
            assert_true(at->at_ns >= last && at->is_set);
            last = at->at_ns;
        }
        for (int i = 0; i < 50; i++)
            set += timers[i].is_set;
        assert_int_equal(linked, set);
        assert_int_equal(list.last ? list.last->at_ns : -1, last);
    }
    assert_null(timer_take_due(&list, -1));
    int64_t first = timer_first_ns(&list);
    struct timer *due = timer_take_due(&list, first);
    assert_non_null(due);
    assert_int_equal(due->at_ns, first);
    assert_false(due->is_set);
    while (timer_take_due(&list, INT64_MAX)) {
    }
    assert_int_equal(timer_first_ns(&list), INT64_MAX);
}

static int compare(const void *a, const void *b)
{
    int64_t x = *(const int64_t *)a, y = *(const int64_t *)b;
    return (x > y) - (x < y);
}

static void test_lag_percentiles(void **state)
{
    (void)state;
    static struct lag lag, sum;
    int64_t values[1000];
    struct rng rng;
    rng_init(&rng, 5, 0);
    assert_int_equal(lag_percentile_ns(&lag, 50), -1);
    for (int i = 0; i < 1000; i++) {
        values[i] = (int64_t)(rng_u64(&rng) >> rng_below(&rng, 60)) & INT64_MAX;
        lag_add(&lag, values[i]);
    }
    lag_add(&lag, -5);
    qsort(values, 1000, sizeof *values, compare);
    lag_merge(&sum, &lag);
    assert_int_equal(sum.reads, 1001);
    assert_int_equal(sum.max_ns, values[999]);
    assert_int_equal(lag_percentile_ns(&sum, 100), values[999]);
    for (int percent = 1; percent <= 99; percent++) {
        int64_t rank = (1001 * percent + 99) / 100, exact = rank == 1 ? 0 : values[rank - 2];
        int64_t got = lag_percentile_ns(&sum, percent);
        assert_true(got >= exact && got - exact <= exact / 32 + 1);
    }
}

static void test_head(void **state)
{
    (void)state;
    struct net_endpoint net = {.name = (char[]){"a"},
                               .host_header = (char[]){"h.invalid:8"},
                               .path_prefix = (char[]){"/v1"},
                               .query = (char[]){"?api-version=1"}};
    struct engine_endpoint endpoint = {.net = &net, .weight = 1, .headers = "Authorization: Bearer k\r\n"};
    struct engine_options options = {.run_id = "run", .user_agent = "assay/1"};
    struct payload payload = {
        .path = "/chat/completions", .content_type = "application/json", .accept = "text/event-stream"};
    struct request_head head;
    struct head_buffer buffer = {0};
    char whole[1024], body[1234];
    size_t len = 0;
    payload.parts[0] = (struct iovec){body, 1000};
    payload.parts[1] = (struct iovec){body, 234};
    payload.part_count = 2;
    assert_int_equal(request_head_init(&head, &endpoint, &options, NULL), AS_OK);
    assert_int_equal(request_head_write(&head, &payload, 42, &buffer, &len), AS_OK);
    memcpy(whole, buffer.data, len);
    memcpy(whole + len, head.fixed, head.fixed_len + 1);
    assert_string_equal(
        whole, "POST /v1/chat/completions?api-version=1 HTTP/1.1\r\nHost: h.invalid:8\r\nAccept: text/event-stream\r\n"
               "Content-Type: application/json\r\nContent-Length: 1234\r\nx-assay-id: run-42\r\n"
               "User-Agent: assay/1\r\nAccept-Encoding: identity\r\nAuthorization: Bearer k\r\n\r\n");
    const char *kept = buffer.data;
    payload.parts[0].iov_len = (size_t)INT64_MAX - 234;
    assert_int_equal(request_head_write(&head, &payload, INT64_MAX, &buffer, &len), AS_OK);
    assert_ptr_equal(buffer.data, kept);
    assert_true(len <= buffer.capacity);
    head_buffer_done(&buffer);
    request_head_done(&head);
}

static void test_head_lines_replace_ours(void **state)
{
    (void)state;
    struct net_endpoint net = {.name = (char[]){"a"}, .host_header = (char[]){"h"}, .path_prefix = (char[]){""}};
    struct engine_endpoint endpoint = {
        .net = &net,
        .headers = "host: other\r\nUSER-AGENT: me\r\nAccept: x/y\r\nContent-Type: a/b\r\nX-Assay-Id: 1\r\n"};
    struct engine_options options = {.run_id = "run", .user_agent = "assay/1", .net.no_reuse = true};
    struct payload payload = {.path = "/x", .content_type = "application/json", .accept = "*/*"};
    struct request_head head;
    struct head_buffer buffer = {0};
    size_t len = 0;
    assert_int_equal(request_head_init(&head, &endpoint, &options, NULL), AS_OK);
    assert_int_equal(request_head_write(&head, &payload, 1, &buffer, &len), AS_OK);
    assert_int_equal(len, strlen("POST /x HTTP/1.1\r\nContent-Length: 0\r\n"));
    assert_memory_equal(buffer.data, "POST /x HTTP/1.1\r\nContent-Length: 0\r\n", len);
    assert_string_equal(
        head.fixed, "Accept-Encoding: identity\r\nConnection: close\r\nhost: other\r\nUSER-AGENT: me\r\nAccept: x/y\r\n"
                    "Content-Type: a/b\r\nX-Assay-Id: 1\r\n\r\n");
    head_buffer_done(&buffer);
    request_head_done(&head);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_timers_in_order),
        cmocka_unit_test(test_lag_percentiles),
        cmocka_unit_test(test_head),
        cmocka_unit_test(test_head_lines_replace_ours),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
