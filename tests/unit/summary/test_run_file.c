/* SPDX-License-Identifier: Apache-2.0 */
#include "summary/run_file.h"

#include "made_run.h"

#include <math.h>
#include <stdio.h>

/* Every member differs from its default. */
static struct run_facts full_facts(void)
{
    struct run_facts f = made_facts(7);
    f.commit = "abc1234";
    f.compiler = "gcc 12.2.0";
    f.human_id = "llm-quiet-otter";
    f.timestamp = "2026-11-30T19:05:33.000000Z";
    f.scenario = "night \"load\"\n";
    f.description = "a run";
    f.keywords = "a,b";
    f.shard = 1;
    f.shard_count = 3;
    f.endpoint_count = 2;
    f.rules.is_open_loop = f.rules.expects_full_length = f.rules.has_unique_prompts = true;
    f.rules.request_rate_per_s = 12.5;
    f.rules.ramp_up_ns = 3 * MS;
    f.rules.prompt_count = 99;
    f.rules.slo = (struct run_slo){1, 2, 3, 4};
    f.rules.percentile_method = PERCENTILE_LINEAR;
    f.rules.lag_share = 0.3;
    f.rules.late_share = 0.02;
    f.rules.delivered_share = 0.8;
    f.environment = (struct run_environment){"host", "6.1", "cpu", "performance", "tsc", 2, 1024, 20000, 32768, 60999};
    f.ntp = (struct run_ntp){"ok", "time.example", "fine", -1500000, 2 * MS};
    f.journal_full_waits = 4;
    f.result.measured_start_ns = 11;
    f.result.skipped = 2;
    f.result.stopped_by_signal = f.result.drain_expired = true;
    f.result.late_sends = 5;
    f.result.clock_step_ns = -6;
    f.result.ejections = 8;
    f.result.epoch_offset.error_ns = 9;
    f.result.net.connects = 10;
    f.result.net.open_peak = 12;
    f.result.net.max_loop_lag_ns = 13;
    return f;
}

static void test_reads_back_what_it_wrote(void **state)
{
    (void)state;
    struct run_facts before = full_facts(), after;
    AS_AUTO_STRBUF struct strbuf first, second;
    strbuf_init(&first, 0);
    strbuf_init(&second, 0);
    struct arena arena;
    arena_init(&arena, 0, 0);
    struct as_error err = {0};
    assert_int_equal(run_facts_format(&before, &first), AS_OK);
    if (run_facts_parse(strbuf_text(&first), first.len, &arena, &after, &err) != AS_OK)
        fail_msg("%s", err.message);
    assert_string_equal(after.scenario, before.scenario);
    assert_string_equal(after.config_json, before.config_json);
    assert_string_equal(after.endpoints[1].url, before.endpoints[1].url);
    assert_int_equal(after.rules.percentile_method, PERCENTILE_LINEAR);
    assert_true(after.rules.request_rate_per_s == 12.5);
    assert_int_equal(after.rules.slo.itl_ns, 4);
    assert_int_equal(after.environment.port_high, 60999);
    assert_int_equal(after.ntp.offset_ns, -1500000);
    assert_true(after.has_result && after.result.drain_expired);
    assert_int_equal(after.result.net.open_peak, 12);
    assert_int_equal(after.epoch_utc_ns, before.epoch_utc_ns);
    assert_int_equal(run_facts_format(&after, &second), AS_OK);
    assert_string_equal(strbuf_text(&first), strbuf_text(&second));
    arena_done(&arena);
}

/* What `assay summarize` rests on. */
static void test_summary_from_the_file_is_the_same(void **state)
{
    (void)state;
    struct run_facts before = full_facts(), after;
    before.result.planned = 4;
    before.result.skipped = 1;
    struct request_record records[] = {made_ok(0, 0, 100), made_ok(1, 20, 333),
                                       made_error(2, 50, 10, OUTCOME_FAILED, ERROR_TYPE_AUTH, 401)};
    AS_AUTO_STRBUF struct strbuf file, one, two;
    strbuf_init(&file, 0);
    strbuf_init(&one, 0);
    strbuf_init(&two, 0);
    struct arena arena;
    arena_init(&arena, 0, 0);
    assert_int_equal(run_facts_format(&before, &file), AS_OK);
    assert_int_equal(run_facts_parse(strbuf_text(&file), file.len, &arena, &after, NULL), AS_OK);
    struct summary s = made_summary(&before, records, 3);
    assert_int_equal(summary_write_json(&s, 2, &one), AS_OK);
    summary_done(&s);
    s = made_summary(&after, records, 3);
    assert_int_equal(summary_write_json(&s, 2, &two), AS_OK);
    summary_done(&s);
    assert_string_equal(strbuf_text(&one), strbuf_text(&two));
    arena_done(&arena);
}

static void test_unknown_stays_unknown(void **state)
{
    (void)state;
    struct run_facts before, after;
    run_facts_init(&before);
    AS_AUTO_STRBUF struct strbuf text;
    strbuf_init(&text, 0);
    struct arena arena;
    arena_init(&arena, 0, 0);
    assert_int_equal(run_facts_format(&before, &text), AS_OK);
    assert_null(strstr(strbuf_text(&text), "\"result\""));
    assert_int_equal(run_facts_parse(strbuf_text(&text), text.len, &arena, &after, NULL), AS_OK);
    assert_null(after.tool);
    assert_null(after.config_json);
    assert_false(after.has_result);
    assert_int_equal(after.rules.planned_requests, -1);
    assert_true(isnan(after.rules.request_rate_per_s));
    assert_int_equal(after.endpoint_count, 0);
    arena_done(&arena);
}

static void test_bad_files_are_refused(void **state)
{
    (void)state;
    static const struct {
        const char *text, *reason;
    } cases[] = {
        {"", ""},
        {"[]", "schema"},
        {"{\"schema\":\"assay.run.v2\"}", "schema"},
        {"{\"schema\":\"assay.run.v1\",\"shard\":\"x\"}", "shard"},
        {"{\"schema\":\"assay.run.v1\",\"rules\":{\"percentile_method\":\"mode\"}}", "percentile_method"},
        {"{\"schema\":\"assay.run.v1\",\"endpoints\":{}}", "endpoints"},
        {"{\"schema\":\"assay.run.v1\",\"endpoints\":[{\"weight\":1.5}]}", "weight"},
        {"{\"schema\":\"assay.run.v1\",\"result\":{\"open_peak\":-1}}", "open_peak"},
        {"{\"schema\":\"assay.run.v1\",\"result\":{\"open_peak\":4294967296}}", "open_peak"},
        {"{\"schema\":\"assay.run.v1\"", ""},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct arena arena;
        arena_init(&arena, 0, 0);
        struct run_facts facts = {.shard = 77};
        struct as_error err = {0};
        assert_int_equal(run_facts_parse(cases[i].text, strlen(cases[i].text), &arena, &facts, &err), AS_E_INVALID);
        assert_int_equal(facts.shard, 77);
        if (!strstr(err.message, cases[i].reason))
            fail_msg("case %zu: %s", i, err.message);
        arena_done(&arena);
    }
}

static void test_config_that_is_no_json_cannot_be_written(void **state)
{
    (void)state;
    struct run_facts facts = made_facts(1);
    facts.config_json = "model=m";
    AS_AUTO_STRBUF struct strbuf text;
    strbuf_init(&text, 0);
    assert_int_equal(run_facts_format(&facts, &text), AS_E_INVALID);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_reads_back_what_it_wrote),
        cmocka_unit_test(test_summary_from_the_file_is_the_same),
        cmocka_unit_test(test_unknown_stays_unknown),
        cmocka_unit_test(test_bad_files_are_refused),
        cmocka_unit_test(test_config_that_is_no_json_cannot_be_written),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
