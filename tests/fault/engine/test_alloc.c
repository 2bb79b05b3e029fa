/* SPDX-License-Identifier: Apache-2.0 */
/* Memory that runs out, and memory that is not asked for: nothing is allocated per request once the slots are there. */
#include "unit/engine/fake_net.h"

#include "support/faults.h"

static const struct fake_step answer[] = {
    {.after_ns = 5 * MS, .kind = FAKE_HEAD, .head = FAKE_STREAM_HEAD},
    {.after_ns = MS, .kind = FAKE_DATA, .data = "data: a\n\n"},
    {.after_ns = MS, .kind = FAKE_DATA, .data = "data: b\n\ndata: [DONE]\n\n"},
    {.kind = FAKE_END, .end = NET_END_COMPLETE},
};
static const struct fake_step in_pieces[] = {
    {.after_ns = 5 * MS, .kind = FAKE_HEAD, .head = FAKE_ERROR_HEAD(200, -1)},
    {.after_ns = MS, .kind = FAKE_DATA, .data = "{\"a\""},
    {.after_ns = MS, .kind = FAKE_DATA, .data = ":1}"},
    {.kind = FAKE_END, .end = NET_END_COMPLETE},
};
static const struct fake_step failing[] = {
    {.after_ns = MS, .kind = FAKE_HEAD, .head = FAKE_ERROR_HEAD(503, 0)},
    {.kind = FAKE_DATA, .data = "{\"error\":{\"message\":\"busy\"}}"},
    {.kind = FAKE_END, .end = NET_END_COMPLETE},
};

static const struct fake_step *serve(struct net_exchange *x)
{
    return x->endpoint == 0 ? answer : x->endpoint == 1 ? in_pieces : failing;
}

static void settings(int64_t requests)
{
    fake_settings(serve);
    run.endpoint_count = 3;
    run.expects_stream = true;
    run.plan.concurrency = 100;
    run.plan.request_count = requests;
    run.options.retries = 2;
    run.options.request_timeout_ns = 10 * S;
}

static size_t allocations(int64_t requests)
{
    settings(requests);
    fault_arm(FAULT_ALLOC, 0);
    fake_engine_run();
    assert_int_equal(run.record_count, requests);
    return fault_calls(FAULT_ALLOC);
}

static void test_none_per_request(void **state)
{
    (void)state;
    size_t few = allocations(1000), many = allocations(8000);
    assert_true(few > 0);
    assert_int_equal(many, few);
}

static as_status make_and_free(void *context)
{
    static const struct modality modality = {.tool = "test", .answer_bytes = 100};
    const struct record_sink sink = {NULL, NULL, fake_put};
    const uint32_t *policy = context;
    struct engine_options options = {
        .threads = 3, .balance = (enum engine_balance) * policy, .run_id = "r", .user_agent = "a"};
    struct engine_plan plan = {.request_count = 10, .concurrency = 4};
    struct net_endpoint net = {
        .name = (char *)(uintptr_t) "n", .host_header = (char *)(uintptr_t) "h", .path_prefix = (char *)(uintptr_t) ""};
    const struct engine_endpoint endpoints[2] = {{&net, 1, NULL}, {&net, 2, "X-A: b\r\n"}};
    struct engine *engine;
    const struct engine_setup setup = {&plan, &options, endpoints, 2, &modality, NULL, sink};
    as_status status = engine_prepare(&setup, &engine, NULL);
    if (status == AS_OK)
        engine_free(engine);
    return status;
}

static void test_making_an_engine(void **state)
{
    (void)state;
    uint32_t policies[] = {BALANCE_WEIGHTED_ROUND_ROBIN, BALANCE_LEAST_INFLIGHT};
    fake_reset(serve);
    for (int i = 0; i < 2; i++)
        assert_true(fault_each(FAULT_ALLOC, AS_E_NOMEM, make_and_free, &policies[i]) > 8);
}

/* Runs out in the middle of a run: every request that was begun has its record, the run says why it ended. */
static void test_during_a_run(void **state)
{
    (void)state;
    static const struct modality modality = {"test",     sizeof(struct fake_answer),
                                             4096,       fake_build,
                                             fake_begin, fake_event,
                                             fake_body,  fake_read_end,
                                             fake_end,   NULL};
    const struct record_sink sink = {NULL, fake_start, fake_put};
    size_t out_of_memory = 0;
    for (size_t nth = 1;; nth++) {
        struct as_error err = {.message = ""};
        settings(300);
        for (uint32_t i = 0; i < run.endpoint_count; i++) {
            run.nets[i].name = run.nets[i].host_header = run.nets[i].path_prefix = (char *)(uintptr_t) "h";
            run.endpoints[i] = (struct engine_endpoint){&run.nets[i], 1, NULL};
        }
        const struct engine_setup setup = {&run.plan, &run.options, run.endpoints, 3, &modality, NULL, sink};
        assert_int_equal(engine_prepare(&setup, &run.engine, &err), AS_OK);
        fault_arm(FAULT_ALLOC, nth);
        as_status status = engine_run(run.engine, &run.result, &err);
        bool was_met = fault_calls(FAULT_ALLOC) >= nth;
        fault_disarm();
        const struct engine_progress *progress = engine_progress(run.engine);
        assert_int_equal(run.record_count, progress->sent + progress->refused);
        assert_int_equal(run.result.planned, progress->sent + progress->refused + run.result.skipped);
        assert_int_equal(progress->in_flight, 0);
        assert_true(status == AS_OK || status == AS_E_NOMEM);
        out_of_memory += status == AS_E_NOMEM;
        engine_free(run.engine);
        if (!was_met) {
            assert_int_equal(run.record_count, 300);
            break;
        }
    }
    assert_true(out_of_memory > 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_none_per_request),
        cmocka_unit_test(test_making_an_engine),
        cmocka_unit_test(test_during_a_run),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
