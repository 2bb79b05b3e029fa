/* SPDX-License-Identifier: Apache-2.0 */
/* A corpus of reports: one that breaks each rule, with the path of the problem, and odd ones that are valid. */
#include "brief/brief.h"

#include "support/check.h"

#include <string.h>

/* The least report of 0.2.1, with `run` and `results` members filled in. */
#define RUN             "\"run\":{\"uid\":\"u\"}"
#define REPORT(text)    "{\"version\":\"0.2.1\"," RUN "," text "}"
#define RESULTS(text)   REPORT("\"results\":{" text "}")
#define AGGREGATE(text) RESULTS("\"request_performance\":{\"aggregate\":{" text "}}")
#define LATENCY(text)   AGGREGATE("\"latency\":{" text "}")
#define SCENARIO(text)  REPORT("\"results\":{},\"scenario\":{" text "}")
#define STANDARD(text)                                                                                                 \
    SCENARIO("\"load\":{\"metadata\":{},\"native\":{},\"standardized\":{\"tool\":\"t\",\"tool_version\":\"\","         \
             "\"source\":\"random\"," text "}}")
#define INPUT "\"input_seq_len\":{\"distribution\":\"fixed\",\"value\":1}"
#define ENGINE(text)                                                                                                   \
    SCENARIO("\"stack\":[{\"metadata\":{\"label\":\"l\",\"cfg_id\":\"c\"},\"native\":{},\"standardized\":{" text "}}"  \
                                                                                                                 "]")
#define FULL_ENGINE                                                                                                    \
    "\"kind\":\"inference_engine\",\"tool\":\"t\",\"tool_version\":\"v\",\"role\":\"replica\",\"replicas\":1,"         \
    "\"model\":{\"name\":\"m\"}"
#define OLD(scenario, metrics)                                                                                         \
    "{\"version\":\"0.1\",\"scenario\":{\"model\":{\"name\":\"m\"},\"load\":{\"name\":\"nop\"}" scenario               \
    "},\"metrics\":{" OLD_METRICS metrics "}}"
#define OLD_METRICS                                                                                                    \
    "\"time\":{\"duration\":1},\"requests\":{\"total\":-1,\"input_length\":{\"units\":\"count\",\"mean\":1},\"output_" \
    "length\":{\"units\":\"count\",\"mean\":1}},"                                                                      \
    "\"latency\":{\"time_to_first_token\":{\"units\":\"s\",\"mean\":1}},\"throughput\":{\"total_tokens_per_sec\":1}"
#define ACCELERATOR "{\"model\":\"a\",\"count\":1}"

static const struct {
    const char *text, *path;
} INVALID[] = {
    {"[]", ""},
    {"null", ""},
    {"{\"run\":{\"uid\":\"u\"},\"results\":{}}", "version"},
    {"{\"version\":0.2," RUN ",\"results\":{}}", "version"},
    {"{\"version\":\"0.3\"," RUN ",\"results\":{}}", "version"},
    {"{\"version\":\"0.2.1\",\"results\":{}}", "run"},
    {"{\"version\":\"0.2.1\"," RUN "}", "results"},
    {"{\"version\":\"0.2.1\",\"run\":{},\"results\":{}}", "run.uid"},
    {"{\"version\":\"0.2.1\",\"run\":{\"uid\":null},\"results\":{}}", "run.uid"},
    {"{\"version\":\"0.2.1\",\"run\":{\"uid\":1},\"results\":{}}", "run.uid"},
    {"{\"version\":\"0.2.1\",\"run\":{\"uid\":\"u\",\"user\":true},\"results\":{}}", "run.user"},
    {"{\"version\":\"0.2.1\",\"run\":{\"uid\":\"u\",\"submitter\":\"x\"},\"results\":{}}", "run.submitter"},
    {"{\"version\":\"0.2.1\",\"run\":{\"uid\":\"u\",\"keywords\":\"a,b\"},\"results\":{}}", "run.keywords"},
    {"{\"version\":\"0.2.1\",\"run\":{\"uid\":\"u\",\"keywords\":[\"a\",2]},\"results\":{}}", "run.keywords.1"},
    {"{\"version\":\"0.2.1\",\"run\":{\"uid\":\"u\",\"time\":{\"start\":\"\"}},\"results\":{}}", "run.time.start"},
    {"{\"version\":\"0.2.1\",\"run\":{\"uid\":\"u\",\"time\":{\"end\":\"yesterday\"}},\"results\":{}}", "run.time.end"},
    {"{\"version\":\"0.2.1\",\"run\":{\"uid\":\"u\",\"time\":{\"duration\":5}},\"results\":{}}", "run.time.duration"},
    {"{\"version\":\"0.2.1\",\"run\":[],\"results\":{}}", "run"},
    {REPORT("\"results\":{},\"more\":1"), "more"},
    {REPORT("\"results\":[]"), "results"},
    {RESULTS("\"extra\":1"), "results.extra"},
    {AGGREGATE("\"requests\":{}"), "results.request_performance.aggregate.requests.total"},
    {AGGREGATE("\"requests\":{\"total\":-1}"), "results.request_performance.aggregate.requests.total"},
    {AGGREGATE("\"requests\":{\"total\":1.5}"), "results.request_performance.aggregate.requests.total"},
    {AGGREGATE("\"requests\":{\"total\":\"x\"}"), "results.request_performance.aggregate.requests.total"},
    {AGGREGATE("\"requests\":{\"total\":1,\"failures\":-1}"),
     "results.request_performance.aggregate.requests.failures"},
    {AGGREGATE("\"requests\":{\"total\":1,\"input_length\":{\"units\":\"s\",\"mean\":1}}"),
     "results.request_performance.aggregate.requests.input_length.units"},
    {AGGREGATE("\"requests\":{\"total\":1,\"request_size\":{\"units\":\"count\",\"mean\":1}}"),
     "results.request_performance.aggregate.requests.request_size.units"},
    {AGGREGATE("\"requests\":{\"total\":1,\"multimodal\":{\"audio\":{\"pixels\":{\"units\":\"pixels\",\"mean\":1}}}}"),
     "results.request_performance.aggregate.requests.multimodal.audio.pixels"},
    {AGGREGATE("\"requests\":{\"total\":1,\"multimodal\":{\"image\":{\"aspect_ratio\":{\"units\":\"fraction\",\"mean\":"
               "1}}}}"),
     "results.request_performance.aggregate.requests.multimodal.image.aspect_ratio.units"},
    {AGGREGATE("\"throughput\":{\"request_rate\":{\"units\":\"images/s\",\"mean\":1}}"),
     "results.request_performance.aggregate.throughput.request_rate.units"},
    {AGGREGATE("\"throughput\":{\"image_rate\":{\"units\":\"queries/s\",\"mean\":1}}"),
     "results.request_performance.aggregate.throughput.image_rate.units"},
    {LATENCY("\"time_to_first_token\":{\"units\":\"s\"}"),
     "results.request_performance.aggregate.latency.time_to_first_token.mean"},
    {LATENCY("\"time_to_first_token\":{\"mean\":1}"),
     "results.request_performance.aggregate.latency.time_to_first_token.units"},
    {LATENCY("\"time_to_first_token\":{\"units\":\"S\",\"mean\":1}"),
     "results.request_performance.aggregate.latency.time_to_first_token.units"},
    {LATENCY("\"time_to_first_token\":{\"units\":\"ms/token\",\"mean\":1}"),
     "results.request_performance.aggregate.latency.time_to_first_token.units"},
    {LATENCY("\"inter_token_latency\":{\"units\":\"ms\",\"mean\":1}"),
     "results.request_performance.aggregate.latency.inter_token_latency.units"},
    {LATENCY("\"request_latency\":{\"units\":\"s\",\"mean\":1,\"stddev\":-1}"),
     "results.request_performance.aggregate.latency.request_latency.stddev"},
    {LATENCY("\"request_latency\":{\"units\":\"s\",\"mean\":1,\"stddev\":\"nan\"}"),
     "results.request_performance.aggregate.latency.request_latency.stddev"},
    {LATENCY("\"request_latency\":{\"units\":\"s\",\"mean\":\"fast\"}"),
     "results.request_performance.aggregate.latency.request_latency.mean"},
    {RESULTS("\"request_performance\":{\"time_series\":{\"latency\":{\"request_latency\":{\"units\":\"s\"}}}}"),
     "results.request_performance.time_series.latency.request_latency.series"},
    {RESULTS("\"request_performance\":{\"time_series\":{\"latency\":{\"request_latency\":{\"units\":\"s\",\"series\":[{"
             "}]}}}}"),
     "results.request_performance.time_series.latency.request_latency.series.0.ts"},
    {RESULTS("\"request_performance\":{\"time_series\":{\"latency\":{\"request_latency\":{\"units\":\"s\",\"series\":[{"
             "\"ts\":1,\"other\":1}]}}}}"),
     "results.request_performance.time_series.latency.request_latency.series.0.other"},
    {RESULTS("\"request_performance\":{\"time_series\":{\"latency\":{\"request_latency\":{\"units\":\"count\","
             "\"series\":[]}}}}"),
     "results.request_performance.time_series.latency.request_latency.units"},
    {RESULTS("\"session_performance\":{\"sessions\":{}}"), "results.session_performance.sessions.total"},
    {RESULTS(
         "\"session_performance\":{\"sessions\":{\"total\":1,\"session_duration\":{\"units\":\"count\",\"mean\":1}}}"),
     "results.session_performance.sessions.session_duration.units"},
    {RESULTS("\"observability\":{\"drop_rate\":{\"units\":\"count\",\"mean\":1}}"),
     "results.observability.drop_rate.units"},
    {RESULTS("\"observability\":{\"components\":[{\"aggregate\":{}}]}"),
     "results.observability.components.0.component_label"},
    {RESULTS("\"observability\":{\"components\":[{\"component_label\":\"l\",\"aggregate\":{\"power_consumption\":{"
             "\"units\":\"W\",\"mean\":1}}}]}"),
     "results.observability.components.0.aggregate.power_consumption.units"},
    {RESULTS("\"observability\":{\"pod_startup_times\":{\"pods\":[{\"name\":\"p\",\"startup_seconds\":-1}]}}"),
     "results.observability.pod_startup_times.pods.0.startup_seconds"},
    {RESULTS("\"observability\":{\"replica_status\":{\"controllers\":[{\"kind\":\"k\",\"name\":\"n\",\"desired_"
             "replicas\":1,\"available_replicas\":1}]}}"),
     "results.observability.replica_status.controllers.0.ready_replicas"},
    {RESULTS("\"component_health\":{}"), "results.component_health"},
    {RESULTS("\"component_health\":[{\"component_label\":\"l\",\"replica_health\":[{\"replica_id\":\"r\",\"healthy\":"
             "\"maybe\"}]}]"),
     "results.component_health.0.replica_health.0.healthy"},
    {SCENARIO("\"stack\":{}"), "scenario.stack"},
    {SCENARIO("\"stack\":[{}]"), "scenario.stack.0.metadata"},
    {ENGINE("\"tool\":\"t\",\"tool_version\":\"v\""), "scenario.stack.0.standardized.kind"},
    {ENGINE("\"kind\":\"router\",\"tool\":\"t\",\"tool_version\":\"v\""), "scenario.stack.0.standardized.kind"},
    {ENGINE("\"kind\":\"generic\",\"tool_version\":\"v\""), "scenario.stack.0.standardized.tool"},
    {ENGINE(FULL_ENGINE), "scenario.stack.0.standardized.accelerator"},
    {ENGINE(FULL_ENGINE ",\"accelerator\":{\"model\":\"a\",\"count\":1}"),
     "scenario.stack.0.standardized.accelerator.parallelism"},
    {ENGINE(FULL_ENGINE ",\"accelerator\":{\"model\":\"a\",\"count\":-1,\"parallelism\":{}}"),
     "scenario.stack.0.standardized.accelerator.count"},
    {ENGINE(FULL_ENGINE ",\"accelerator\":{\"model\":\"a\",\"count\":1,\"parallelism\":{\"ep\":0}}"),
     "scenario.stack.0.standardized.accelerator.parallelism.ep"},
    {ENGINE(FULL_ENGINE ",\"extra\":1,\"accelerator\":{\"model\":\"a\",\"count\":1,\"parallelism\":{}}"),
     "scenario.stack.0.standardized.extra"},
    {ENGINE("\"kind\":\"inference_engine\",\"tool\":\"t\",\"tool_version\":\"v\",\"role\":\"Replica\",\"replicas\":1,"
            "\"model\":{\"name\":\"m\"},\"accelerator\":{\"model\":\"a\",\"count\":1,\"parallelism\":{}}"),
     "scenario.stack.0.standardized.role"},
    {ENGINE("\"kind\":\"inference_engine\",\"tool\":\"t\",\"tool_version\":\"v\",\"role\":\"decode\",\"replicas\":0,"
            "\"model\":{\"name\":\"m\"},\"accelerator\":{\"model\":\"a\",\"count\":1,\"parallelism\":{}}"),
     "scenario.stack.0.standardized.replicas"},
    {SCENARIO("\"load\":{\"metadata\":{},\"native\":{}}"), "scenario.load.standardized"},
    {SCENARIO("\"load\":{\"metadata\":{},\"native\":{\"args\":[]},\"standardized\":{\"tool\":\"t\",\"tool_version\":"
              "\"\",\"source\":\"random\"," INPUT "}}"),
     "scenario.load.native.args"},
    {SCENARIO("\"load\":{\"metadata\":{\"concurrent_with\":\"a\"},\"native\":{},\"standardized\":{\"tool\":\"t\","
              "\"tool_version\":\"\",\"source\":\"random\"," INPUT "}}"),
     "scenario.load.metadata.concurrent_with"},
    {STANDARD("\"stage\":0"), "scenario.load.standardized.input_seq_len"},
    {STANDARD(INPUT ",\"stage\":-1"), "scenario.load.standardized.stage"},
    {STANDARD(INPUT ",\"parallelism\":0"), "scenario.load.standardized.parallelism"},
    {STANDARD(INPUT ",\"rate_qps\":0"), "scenario.load.standardized.rate_qps"},
    {STANDARD(INPUT ",\"rate_qps\":\"nan\""), "scenario.load.standardized.rate_qps"},
    {STANDARD(INPUT ",\"concurrency\":5.0"), "scenario.load.standardized.concurrency"},
    {STANDARD(INPUT ",\"concurrency\":0"), "scenario.load.standardized.concurrency"},
    {STANDARD(INPUT ",\"concurrency\":\"-inf\""), "scenario.load.standardized.concurrency"},
    {STANDARD("\"input_seq_len\":{\"distribution\":\"zipf\",\"value\":1}"),
     "scenario.load.standardized.input_seq_len.distribution"},
    {STANDARD("\"input_seq_len\":{\"distribution\":\"fixed\",\"value\":-1}"),
     "scenario.load.standardized.input_seq_len.value"},
    {STANDARD("\"input_seq_len\":{\"distribution\":\"fixed\",\"value\":1,\"max\":0}"),
     "scenario.load.standardized.input_seq_len.max"},
    {STANDARD("\"input_seq_len\":{\"distribution\":\"fixed\",\"value\":1,\"min\":1.5}"),
     "scenario.load.standardized.input_seq_len.min"},
    {STANDARD(INPUT ",\"prefix\":{\"prefix_len\":{\"distribution\":\"fixed\",\"value\":1},\"num_groups\":0,\"num_users_"
                    "per_group\":1,\"num_prefixes\":1}"),
     "scenario.load.standardized.prefix.num_groups"},
    {"{\"version\":\"0.1\",\"metrics\":{}}", "scenario"},
    {"{\"version\":\"0.1\",\"scenario\":{\"model\":{\"name\":\"m\"},\"load\":{\"name\":\"assay\"}},\"metrics\":"
     "{" OLD_METRICS "}}",
     "scenario.load.name"},
    {OLD(",\"host\":{\"type\":[\"replica\",\"decode\"],\"accelerator\":[" ACCELERATOR "," ACCELERATOR "]}", ""),
     "scenario.host.type"},
    {OLD(",\"host\":{\"type\":[\"replica\"],\"accelerator\":[" ACCELERATOR "," ACCELERATOR "]}", ""),
     "scenario.host.type"},
    {OLD(",\"host\":{\"type\":[\"replica\"],\"accelerator\":[" ACCELERATOR "]},\"platform\":{\"engine\":[]}", ""),
     "scenario.platform.engine"},
    {OLD(",\"platform\":{\"engine\":[{\"name\":\"e\"}]}", ",\"resources\":{\"accelerator\":[{},{}]}"),
     "metrics.resources.accelerator"},
    {OLD(",\"model\":{\"name\":\"m\",\"adapters\":[{\"lora\":1}]}", ""), "scenario.model.adapters.0"},
    {OLD("", ",\"resources\":{\"accelerator\":[{\"power\":{\"units\":\"s\",\"mean\":1}}]}"),
     "metrics.resources.accelerator.0.power.units"},
    {OLD("", ",\"throughput\":{}"), "metrics.throughput.total_tokens_per_sec"},
};

static const char *const VALID[] = {
    "{\"version\":\"0.2\",\"run\":{\"uid\":\"\"},\"results\":{}}",
    "{\"version\":\"0.2\"," RUN ",\"results\":{\"request_performance\":{\"aggregate\":{\"requests\":{\"total\":1,"
                                "\"request_size\":{\"units\":\"GiB\",\"mean\":1}}}}}}",
    REPORT("\"results\":{},\"scenario\":null"),
    REPORT("\"results\":{},\"scenario\":{\"stack\":[],\"load\":null}"),
    "{\"version\":\"0.2.1\",\"run\":{\"uid\":\"u\",\"keywords\":[],\"time\":{\"start\":1760000000,\"end\":\"2026-01-"
    "01\"}},\"results\":{}}",
    AGGREGATE("\"requests\":{\"total\":\"3.0\",\"failures\":true,\"incomplete\":2.0}"),
    AGGREGATE("\"requests\":{\"total\":1,\"input_length\":{\"units\":\"pixels\",\"mean\":\"1_000\"}}"),
    AGGREGATE("\"throughput\":{\"image_rate\":{\"units\":\"videos/s\",\"mean\":\" 7 \"}}"),
    LATENCY("\"request_latency\":{\"units\":\"s\",\"mean\":\"inf\",\"min\":9,\"max\":1,\"p05\":3,\"median\":2}"),
    RESULTS("\"observability\":{\"anything\":{\"deep\":[1,null]},\"null\":null}"),
    RESULTS("\"observability\":{\"pod_startup_times\":{\"aggregate\":{\"units\":\"Watts\",\"mean\":1}}}"),
    RESULTS("\"profiling\":[1,{\"a\":null}]"),
    RESULTS("\"request_performance\":{\"time_series\":{\"throughput\":{}}}"),
    ENGINE("\"kind\":\"generic\",\"tool\":\"\",\"tool_version\":\"\",\"more\":{\"x\":1},\"none\":null"),
    ENGINE(FULL_ENGINE ",\"accelerator\":{\"model\":\"\",\"count\":\"0\",\"parallelism\":{\"tp\":0,\"dp\":null}}"),
    STANDARD(INPUT ",\"concurrency\":\"inf\",\"rate_qps\":\"inf\",\"parallelism\":null"),
    STANDARD("\"input_seq_len\":{\"distribution\":\"uniform\",\"value\":2.5,\"min\":9,\"max\":3,\"std_dev\":0},\"multi_"
             "turn\":{\"enabled\":\"off\"}"),
    OLD(",\"unknown\":1,\"metadata\":[1,null]",
        ",\"description\":\"d\",\"resources\":{\"accelerator\":[{\"compute\":{},\"bogus\":1}]}"),
    OLD(",\"platform\":{\"engine\":[{\"name\":\"e\",\"args\":{\"a\":null}},{\"name\":\"f\",\"args\":null}]}", ""),
};

static void test_invalid(void **state)
{
    (void)state;
    for (size_t i = 0; i < ARRAY_COUNT(INVALID); i++) {
        struct brief_report report;
        struct as_error err = {0};
        brief_init(&report);
        as_status status = brief_read_text(&report, INVALID[i].text, strlen(INVALID[i].text), &err);
        if (status != AS_E_INVALID || !report.problems.first)
            fail_msg("accepted: %s", INVALID[i].text);
        if (strcmp(report.problems.first->path, INVALID[i].path) != 0)
            fail_msg("%s\n%s: %s", INVALID[i].text, report.problems.first->path, report.problems.first->message);
        assert_true(strlen(report.problems.first->message) > 5);
        brief_done(&report);
    }
}

static char *text_of(const struct brief_report *report,
                     void (*write)(const struct brief_report *report, struct strbuf *out), struct strbuf *out)
{
    strbuf_init(out, 0);
    write(report, out);
    assert_int_equal(strbuf_status(out), AS_OK);
    return out->data;
}

/* Reading what was written gives an equal report, by YAML and by JSON. */
static void check_round_trip(const char *text)
{
    struct brief_report first, again;
    struct as_error err = {0};
    struct strbuf written[2];
    brief_init(&first);
    if (brief_read_text(&first, text, strlen(text), &err) != AS_OK)
        fail_msg("%s\nrefused: %s", text, err.message);
    (void)text_of(&first, brief_write_yaml, &written[0]);
    (void)text_of(&first, brief_write_json, &written[1]);
    for (size_t i = 0; i < 2; i++) {
        brief_init(&again);
        if (brief_read_text(&again, written[i].data, written[i].len, &err) != AS_OK)
            fail_msg("%s\nrefused: %s", written[i].data, err.message);
        if (!value_equal(first.root, again.root))
            fail_msg("%s\nreads back otherwise", written[i].data);
        brief_done(&again);
        strbuf_done(&written[i]);
    }
    brief_done(&first);
}

static void test_valid(void **state)
{
    (void)state;
    for (size_t i = 0; i < ARRAY_COUNT(VALID); i++)
        check_round_trip(VALID[i]);
}

static void test_all_problems(void **state)
{
    (void)state;
    static const char text[] = "version: 0.2.1\nrun:\n  uid: 5\n  bad: 1\nresults:\n  request_performance:\n    "
                               "aggregate:\n      requests: {total: -1}\n"
                               "      latency:\n        request_latency: {units: s, mean: x}\n";
    static const struct {
        const char *path;
        int64_t line;
    } expected[] = {{"run.uid", 3},
                    {"run.bad", 4},
                    {"results.request_performance.aggregate.requests.total", 8},
                    {"results.request_performance.aggregate.latency.request_latency.mean", 10}};
    struct brief_report report;
    brief_init(&report);
    assert_int_equal(brief_read_text(&report, text, strlen(text), NULL), AS_E_INVALID);
    assert_int_equal(report.problems.count, ARRAY_COUNT(expected));
    const struct problem *problem = report.problems.first;
    for (size_t i = 0; i < ARRAY_COUNT(expected); i++, problem = problem->next) {
        assert_string_equal(problem->path, expected[i].path);
        assert_int_equal(problem->line, expected[i].line);
    }
    brief_done(&report);
}

/* Units are looked at once an object is valid, up to the first that is wrong. */
static void test_units_come_last(void **state)
{
    (void)state;
    static const char two[] = LATENCY("\"time_to_first_token\":{\"units\":\"count\",\"mean\":1},\"request_latency\":{"
                                      "\"units\":\"count\",\"mean\":1}");
    static const char mixed[] =
        LATENCY("\"time_to_first_token\":{\"units\":\"count\",\"mean\":1},\"request_latency\":{\"units\":\"s\"}");
    struct brief_report report;
    brief_init(&report);
    assert_int_equal(brief_read_text(&report, two, strlen(two), NULL), AS_E_INVALID);
    assert_int_equal(report.problems.count, 1);
    brief_done(&report);
    brief_init(&report);
    assert_int_equal(brief_read_text(&report, mixed, strlen(mixed), NULL), AS_E_INVALID);
    assert_int_equal(report.problems.count, 1);
    assert_string_equal(report.problems.first->path,
                        "results.request_performance.aggregate.latency.request_latency.mean");
    brief_done(&report);
}

static void test_normal_form(void **state)
{
    (void)state;
    static const char text[] =
        ENGINE(FULL_ENGINE ",\"accelerator\":{\"model\":\"a\",\"count\":1,\"parallelism\":{\"tp\":8}}");
    struct brief_report report;
    struct strbuf yaml;
    brief_init(&report);
    assert_int_equal(brief_read_text(&report, text, strlen(text), NULL), AS_OK);
    assert_non_null(strstr(text_of(&report, brief_write_yaml, &yaml),
                           "dp_local: 1\n          ep: 1\n          pp: 1\n          tp: 8\n          workers: 1\n"));
    assert_non_null(strstr(yaml.data, "      schema_version: 0.0.1\n"));
    assert_non_null(strstr(yaml.data, "results: {}\n"));
    assert_non_null(strstr(yaml.data, "version: 0.2.1\n"));
    strbuf_done(&yaml);
    brief_done(&report);
}

static void test_kinds_of_numbers(void **state)
{
    (void)state;
    static const char text[] =
        LATENCY("\"request_latency\":{\"units\":\"s\",\"mean\":5,\"min\":5,\"max\":5.0,\"p50\":\"5\",\"stddev\":1}");
    struct brief_report report;
    brief_init(&report);
    assert_int_equal(brief_read_text(&report, text, strlen(text), NULL), AS_OK);
    const struct value *statistics =
        value_at(report.root, "results.request_performance.aggregate.latency.request_latency");
    assert_int_equal(value_get(statistics, "mean")->type, VALUE_FLOAT);
    assert_int_equal(value_get(statistics, "min")->type, VALUE_INT);
    assert_int_equal(value_get(statistics, "max")->type, VALUE_FLOAT);
    assert_int_equal(value_get(statistics, "p50")->type, VALUE_FLOAT);
    assert_int_equal(value_get(statistics, "stddev")->type, VALUE_FLOAT);
    brief_done(&report);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_invalid),      cmocka_unit_test(test_valid),
                                       cmocka_unit_test(test_all_problems), cmocka_unit_test(test_units_come_last),
                                       cmocka_unit_test(test_normal_form),  cmocka_unit_test(test_kinds_of_numbers)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
