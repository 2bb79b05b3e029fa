/* SPDX-License-Identifier: Apache-2.0 */
/* The installed C interface: the objects that the documentation of the format builds, changes, errors, conversions. */
#include <assay/report.h>

#include "support/check.h"

#include <stdlib.h>
#include <string.h>

static const char EXAMPLE[] =
    "{\"run\":{\"uid\":\"38b1f169ca178b756f7483523b17de61\"},\"scenario\":{\"stack\":[{\"metadata\":{\"schema_"
    "version\":\"0.0.1\",\"label\":\"vllm-svc-0\","
    "\"cfg_id\":\"cc73fc6b51a1d3b8128f312d70476d7c\"},\"standardized\":{\"kind\":\"inference_engine\",\"tool\":\"llm-"
    "d\",\"tool_version\":"
    "\"ghcr.io/llm-d/llm-d-cuda:0.3.1\",\"role\":\"decode\",\"replicas\":2,\"model\":{\"name\":\"Qwen/"
    "Qwen3-0.6B\"},\"accelerator\":{\"model\":"
    "\"NVIDIA-H100-80GB-HBM3\",\"count\":8,\"parallelism\":{\"tp\":8}}},\"native\":{}}],\"load\":{\"metadata\":{"
    "\"schema_version\":\"0.0.1\",\"cfg_id\":"
    "\"a4e18f265cc33786a42b8a3f7ac2edcb\"},\"standardized\":{\"tool\":\"inference-perf\",\"tool_version\":\"0.3.0\","
    "\"input_seq_len\":{\"distribution\":"
    "\"fixed\",\"value\":2148},\"source\":\"sampled\"},\"native\":{}}},\"results\":{\"request_performance\":{"
    "\"aggregate\":{\"latency\":{\"request_latency\":"
    "{\"units\":\"s\",\"mean\":0.0368578234128654}}}}}}";

static struct assay_report *build_example(void)
{
    struct assay_report *report = NULL;
    struct assay_errors *errors = NULL;
    enum assay_result result = assay_report_build("0.2.1", EXAMPLE, sizeof EXAMPLE - 1, &report, &errors);
    if (result != ASSAY_OK)
        fail_msg("%s: %s", assay_errors_path(errors, 0), assay_errors_message(errors, 0));
    return report;
}

static void test_example(void **state)
{
    (void)state;
    double mean = 0;
    struct assay_report *report = build_example(), *again = NULL;
    assert_string_equal(assay_report_get_version(report), "0.2.1");
    assert_string_equal(assay_report_get_text(report, "scenario.stack.0.standardized.model.name"), "Qwen/Qwen3-0.6B");
    assert_true(
        assay_report_get_number(report, "results.request_performance.aggregate.latency.request_latency.mean", &mean));
    assert_true(mean >= 0.0368578234128654 && mean <= 0.0368578234128654);
    char *yaml = assay_report_yaml(report), *json = assay_report_json(report);
    assert_non_null(strstr(yaml, "dp_local: 1\n"));
    assert_int_equal(assay_report_read_text(yaml, strlen(yaml), &again, NULL), ASSAY_OK);
    char *json_again = assay_report_json(again);
    assert_string_equal(json, json_again);
    assay_text_free(yaml);
    assay_text_free(json);
    assay_text_free(json_again);
    assay_report_free(again);
    assay_report_free(report);
}

static void test_changes(void **state)
{
    (void)state;
    struct assay_report *report = build_example();
    struct assay_errors *errors = NULL;
    assert_int_equal(assay_report_set(report, "run.description", "\"mine\"", NULL), ASSAY_OK);
    assert_int_equal(assay_report_set(report, "run.keywords", "[a, b]", NULL), ASSAY_OK);
    assert_int_equal(assay_report_set(report, "run.keywords.1", "c", NULL), ASSAY_OK);
    assert_int_equal(assay_report_set(report, "run.time.start", "1760000000", NULL), ASSAY_OK);
    assert_string_equal(assay_report_get_text(report, "run.time.start"), "2025-10-09T08:53:20Z");
    assert_string_equal(assay_report_get_text(report, "run.keywords.1"), "c");
    assert_int_equal(assay_report_set(report, "results.request_performance.aggregate.latency.request_latency.units",
                                      "count", &errors),
                     ASSAY_INVALID);
    assert_int_equal(assay_errors_count(errors), 1);
    assert_string_equal(assay_errors_path(errors, 0),
                        "results.request_performance.aggregate.latency.request_latency.units");
    assay_errors_free(errors);
    assert_string_equal(
        assay_report_get_text(report, "results.request_performance.aggregate.latency.request_latency.units"), "s");
    assert_int_equal(assay_report_set(report, "run.uid", NULL, NULL), ASSAY_INVALID);
    assert_int_equal(assay_report_set(report, "run.keywords.9", "c", NULL), ASSAY_NOT_FOUND);
    assert_int_equal(assay_report_set(report, "run.uid", "{", NULL), ASSAY_INVALID);
    assert_int_equal(assay_report_set(report, "run.description", NULL, NULL), ASSAY_OK);
    assert_null(assay_report_get_text(report, "run.description"));
    char *keywords = assay_report_get(report, "run.keywords");
    assert_string_equal(keywords, "[\"a\", \"c\"]");
    assay_text_free(keywords);
    assert_null(assay_report_get(report, "run.nothing"));
    assay_report_free(report);
}

static void test_errors(void **state)
{
    (void)state;
    static const char bad[] = "version: 0.2.1\nrun: {}\nresults:\n  x: 1\n";
    struct assay_report *report = NULL;
    struct assay_errors *errors = NULL;
    assert_int_equal(assay_report_read_text(bad, sizeof bad - 1, &report, &errors), ASSAY_INVALID);
    assert_null(report);
    assert_int_equal(assay_errors_count(errors), 2);
    assert_string_equal(assay_errors_path(errors, 0), "run.uid");
    assert_string_equal(assay_errors_path(errors, 1), "results.x");
    assert_int_equal(assay_errors_line(errors, 1), 4);
    assert_null(assay_errors_path(errors, 2));
    assay_errors_free(errors);
    assert_int_equal(assay_report_read_text("{", 1, &report, &errors), ASSAY_INVALID);
    assert_string_equal(assay_errors_path(errors, 0), "");
    assay_errors_free(errors);
    assert_int_equal(assay_report_build("0.3", "{}", 2, &report, NULL), ASSAY_USAGE);
    assert_null(assay_report_schema("0.3"));
    assert_null(assay_report_page("1"));
    assert_string_equal(assay_report_version(), ASSAY_REPORT_VERSION);
    assert_string_equal(assay_result_text(ASSAY_OK), "success");
    assay_report_free(NULL);
    assay_errors_free(NULL);
    assay_reports_free(NULL);
}

static void test_schemas(void **state)
{
    (void)state;
    static const char *const versions[] = {"0.1", "0.2", "0.2.1"};
    for (size_t i = 0; i < ARRAY_COUNT(versions); i++) {
        char *schema = assay_report_schema(versions[i]), *page = assay_report_page(versions[i]);
        assert_non_null(strstr(schema, "\"$defs\""));
        assert_non_null(strstr(page, "## Statistics"));
        assay_text_free(schema);
        assay_text_free(page);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_example), cmocka_unit_test(test_changes),
                                       cmocka_unit_test(test_errors), cmocka_unit_test(test_schemas)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
