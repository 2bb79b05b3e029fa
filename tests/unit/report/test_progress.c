/* SPDX-License-Identifier: Apache-2.0 */
#include "report/progress.h"
#include "support/check.h"

#include <math.h>
#include <string.h>

#define UNKNOWN ((double)NAN)

static struct progress_figures running(void)
{
    return (struct progress_figures){
        .done = 120,
        .planned = 400,
        .in_flight = 8,
        .elapsed_s = 10,
        .duration_s = UNKNOWN,
        .requests_per_s = 12.3,
        .completion_tokens_per_s = 1234.56,
        .is_streaming = true,
        .latency_p50_ms = 51.234,
        .latency_p99_ms = 1080.06,
    };
}

static void assert_line(const struct progress_figures *figures, const char *expected)
{
    char line[PROGRESS_LINE_BYTES];
    size_t len = progress_format(figures, 0, line);
    assert_string_equal(line, expected);
    assert_int_equal(len, strlen(expected));
}

static void test_lines(void **state)
{
    (void)state;
    struct progress_figures f = running();
    assert_line(&f, "120/400 30% | 12.30 req/s | 1234.6 tok/s | TTFT p50 51.23 p99 1080.1 ms | 8 in flight | 0 errors "
                    "| ETA 23.3 s");
    f.errors = 1;
    f.is_draining = true;
    f.is_streaming = false;
    assert_line(
        &f,
        "120/400 30% | 12.30 req/s | 1234.6 tok/s | time p50 51.23 p99 1080.1 ms | 8 in flight | 1 error | draining");
    f = running();
    f.planned = -1;
    f.duration_s = 130;
    assert_line(&f,
                "120 done | 10.0 s of 2:10 | 12.30 req/s | 1234.6 tok/s | TTFT p50 51.23 p99 1080.1 ms | 8 in flight | "
                "0 errors | ETA 2:00");
}

static void test_nothing_known_yet(void **state)
{
    (void)state;
    struct progress_figures f = {
        .planned = 10,
        .warmup_left = 2,
        .duration_s = UNKNOWN,
        .requests_per_s = UNKNOWN,
        .completion_tokens_per_s = UNKNOWN,
        .latency_p50_ms = UNKNOWN,
        .latency_p99_ms = UNKNOWN,
    };
    assert_line(&f, "warm-up, 2 left | 0/10 0% | - req/s | time p50 - p99 - ms | 0 in flight | 0 errors | ETA -");
}

static void test_eta_takes_the_bound_that_comes_first(void **state)
{
    (void)state;
    struct progress_figures f = running();
    assert_true(fabs(progress_eta_s(&f) - 280 * 10.0 / 120) < 1e-9);
    f.duration_s = 15;
    assert_true(progress_eta_s(&f) == 5);
    f.duration_s = 5;
    assert_true(progress_eta_s(&f) == 0);
    f.done = 0;
    f.duration_s = UNKNOWN;
    assert_true(isnan(progress_eta_s(&f)));
}

static void test_never_wraps(void **state)
{
    (void)state;
    struct progress_figures f = running();
    char line[PROGRESS_LINE_BYTES];
    for (size_t columns = 1; columns < 150; columns++) {
        size_t len = progress_format(&f, columns, line);
        assert_true(len <= columns);
        assert_int_equal(len, strlen(line));
    }
    f.done = f.planned = INT64_MAX;
    f.requests_per_s = f.completion_tokens_per_s = f.latency_p50_ms = f.latency_p99_ms = 1e300;
    assert_true(progress_format(&f, 0, line) < PROGRESS_LINE_BYTES);
}

static void test_percentiles_of_the_latest(void **state)
{
    (void)state;
    int64_t recent[] = {3000000, 1000000, 2000000};
    double p50, p99;
    progress_percentiles(recent, 3, &p50, &p99);
    assert_true(p50 == 2 && p99 == 3);
    progress_percentiles(NULL, 0, &p50, &p99);
    assert_true(isnan(p50) && isnan(p99));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_lines),
        cmocka_unit_test(test_nothing_known_yet),
        cmocka_unit_test(test_eta_takes_the_bound_that_comes_first),
        cmocka_unit_test(test_never_wraps),
        cmocka_unit_test(test_percentiles_of_the_latest),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
