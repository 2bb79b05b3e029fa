/* SPDX-License-Identifier: Apache-2.0 */
#include "line.h"

static void make(struct line *line, struct run_plan *plan, char *const *words)
{
    line_accept(line, words);
    assert_int_equal(plan_make(&line->config, &line->shape, plan, &line->err), AS_OK);
}

static void closed_by_number(void **state)
{
    (void)state;
    struct line line;
    struct run_plan plan;
    make(&line, &plan,
         WORDS(BASE, "--num-requests", "10", "--warmup-requests", "3", "--concurrency", "2", "--ramp-up-seconds", "4"));
    assert_int_equal(plan.engine.request_count, 13);
    assert_int_equal(plan.engine.warmup_count, 3);
    assert_int_equal(plan.engine.concurrency, 2);
    assert_int_equal(plan.engine.ramp_up_ns, 4 * NS_PER_S);
    assert_int_equal(plan.engine.duration_ns, 0);
    assert_int_equal(plan.planned_requests, 13);
    assert_null(plan.due_ns);
    plan_done(&plan);
    line_done(&line);
}

static void closed_by_time(void **state)
{
    (void)state;
    struct line line;
    struct run_plan plan;
    make(&line, &plan, WORDS(BASE, "--duration", "10", "--stop-after-seconds", "1m"));
    assert_true(plan.engine.request_count == INT64_MAX);
    assert_int_equal(plan.engine.duration_ns, 10 * NS_PER_S);
    assert_int_equal(plan.engine.stop_after_ns, 60 * NS_PER_S);
    assert_int_equal(plan.planned_requests, -1);
    plan_done(&plan);
    line_done(&line);
}

static void open_by_number(void **state)
{
    (void)state;
    struct line line;
    struct run_plan plan;
    make(&line, &plan, WORDS(BASE, "--request-rate", "10", "--arrival", "constant", "--num-requests", "5"));
    assert_int_equal(plan.engine.request_count, 5);
    for (int64_t i = 0; i < 5; i++)
        assert_int_equal(plan.due_ns[i], i * 100 * NS_PER_MS);
    assert_ptr_equal(plan.engine.due_ns, plan.due_ns);
    assert_int_equal(plan.engine.concurrency, 0);
    plan_done(&plan);
    line_done(&line);
}

static void open_by_time_counts_from_the_measured_part(void **state)
{
    (void)state;
    struct line line;
    struct run_plan plan;
    make(&line, &plan,
         WORDS(BASE, "--request-rate", "10", "--arrival", "constant", "--duration", "1", "--warmup-requests", "5"));
    assert_int_equal(plan.engine.request_count, 15); /* measured: due at 500, 600, … 1400 ms */
    plan_done(&plan);
    line_done(&line);
    make(&line, &plan,
         WORDS(BASE, "--request-rate", "10", "--arrival", "constant", "--stop-after-seconds", "1", "--warmup-requests",
               "5"));
    assert_int_equal(plan.engine.request_count, 10);
    plan_done(&plan);
    line_done(&line);
    make(&line, &plan,
         WORDS(BASE, "--request-rate", "10", "--arrival", "constant", "--duration", "1", "--num-requests", "3"));
    assert_int_equal(plan.engine.request_count, 3);
    plan_done(&plan);
    line_done(&line);
}

static void shards_make_up_the_plan(void **state)
{
    (void)state;
    int64_t sum = 0;
    for (int i = 0; i < 3; i++) {
        char shard[8];
        struct line line;
        struct run_plan plan;
        snprintf(shard, sizeof shard, "%d/3", i);
        make(&line, &plan, WORDS(BASE, "--num-requests", "10", "--shard", shard));
        assert_int_equal(plan.engine.request_count, 10);
        assert_int_equal(plan.engine.shard, (uint32_t)i);
        sum += plan.planned_requests;
        plan_done(&plan);
        line_done(&line);
    }
    assert_int_equal(sum, 10);
}

static void plans_that_cannot_be(void **state)
{
    (void)state;
    static const struct {
        char *words[16];
        const char *sentence;
    } cases[] = {
        {{"llm", BASE, "--request-rate", "1e6", "--duration", "1000", NULL},
         "the plan has more than 100000000 send times; lower --request-rate, --num-requests or the time"},
        {{"llm", BASE, "--request-rate", "10", "--arrival", "constant", "--stop-after-seconds", "1",
          "--warmup-requests", "10", NULL},
         "no request to measure: all 10 that are due in time are warm-up"},
        {{"llm", BASE, "--num-requests", "4", "--shard", "4/5", NULL},
         "--shard: the plan has 4 requests, none of them in this shard"},
    };
    for (size_t i = 0; i < ARRAY_COUNT(cases); i++) {
        struct line line;
        struct run_plan plan;
        line_accept(&line, (char *const *)cases[i].words);
        assert_int_equal(plan_make(&line.config, &line.shape, &plan, &line.err), AS_E_USAGE);
        assert_string_equal(line.err.message, cases[i].sentence);
        line_done(&line);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(closed_by_number),        cmocka_unit_test(closed_by_time),
        cmocka_unit_test(open_by_number),          cmocka_unit_test(open_by_time_counts_from_the_measured_part),
        cmocka_unit_test(shards_make_up_the_plan), cmocka_unit_test(plans_that_cannot_be),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
