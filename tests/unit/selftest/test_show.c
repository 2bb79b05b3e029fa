/* SPDX-License-Identifier: Apache-2.0 */
#include "selftest/selftest.h"

#include "base/json.h"
#include "support/check.h"

#include <math.h>
#include <string.h>

static struct selftest_report a_report(enum selftest_limit limit)
{
    struct selftest_report report = {.cpu_count = 2,
                                     .sim_cpu = 0,
                                     .client_cpu = 1,
                                     .load_count = 2,
                                     .limit = limit,
                                     .held_chunks_per_s = 40000,
                                     .over_chunks_per_s = 80000};
    report.loads[0] = (struct selftest_load){.name = "requests",
                                             .connections = 256,
                                             .ok = 1000,
                                             .requests_per_s = 140000,
                                             .chunks_per_s = NAN,
                                             .cpu_ratio = 0.97,
                                             .cpu_us_per_request = 6.5,
                                             .cpu_us_per_chunk = NAN,
                                             .read_lag_p99_us = NAN};
    report.loads[1] = (struct selftest_load){.name = "paced",
                                             .connections = 2000,
                                             .ok = 2000,
                                             .chunks = 80000,
                                             .requests_per_s = 900,
                                             .chunks_per_s = 39000,
                                             .cpu_ratio = 0.4,
                                             .cpu_us_per_request = 300,
                                             .cpu_us_per_chunk = 9.25,
                                             .read_lag_p99_us = 400,
                                             .has_timing = true};
    report.loads[1].timing = (struct timing){.requests = 2000,
                                             .chunks = 80000,
                                             .shared = 800,
                                             .ttft_p50_us = 4.4,
                                             .ttft_p99_us = 27,
                                             .chunk_p50_us = 3.1,
                                             .chunk_p99_us = 14.5,
                                             .chunk_max_us = 385,
                                             .user_ttft_p99_us = 420,
                                             .sim_late_p99_us = 900};
    return report;
}

static void shows(enum selftest_limit limit, const char *line)
{
    struct selftest_report report = a_report(limit);
    struct strbuf out;
    strbuf_init(&out, 0);
    selftest_show(&report, &out);
    if (!strstr(strbuf_text(&out), line))
        fail_msg("'%s' is not in:\n%s", line, strbuf_text(&out));
    strbuf_done(&out);
}

static void test_table(void **state)
{
    (void)state;
    shows(SELFTEST_LIMIT_NONE,
          "requests             256      140000           -        6.50           -          97\n");
    shows(SELFTEST_LIMIT_NONE,
          "paced               2000         900       39000           -        9.25          40\n");
    shows(SELFTEST_LIMIT_NONE,
          "2000                 4.4        27.0         3.1        14.5       420.0       400.0        1.00\n");
    shows(SELFTEST_LIMIT_NONE, "held 40000 chunks/s as offered, the largest that was tried\n");
    shows(SELFTEST_LIMIT_CLIENT, "held 40000 chunks/s as offered; at 80000 it was the bottleneck\n");
    shows(SELFTEST_LIMIT_SIMULATOR, "beyond that the simulator was the bottleneck\n");
}

static void test_json(void **state)
{
    (void)state;
    struct selftest_report report = a_report(SELFTEST_LIMIT_CLIENT);
    struct strbuf out;
    struct arena arena;
    const struct json_value *root;
    const char *text;
    double value;
    strbuf_init(&out, 0);
    arena_init(&arena, 0, 0);
    selftest_json(&report, &out);
    assert_int_equal(json_parse(strbuf_text(&out), out.len, NULL, &arena, &root, NULL), AS_OK);
    assert_true(json_string(json_get(root, "schema"), &text));
    assert_string_equal(text, "assay-selftest.v1");
    assert_true(json_string(json_get(root, "limit"), &text));
    assert_string_equal(text, "client");
    const struct json_value *loads = json_get(root, "loads");
    assert_int_equal(loads->len, 2);
    assert_true(json_is_null(json_get(loads->first, "client_cpu_us_per_chunk"))); /* unknown is null, never 0 */
    assert_null(json_get(loads->first, "timing"));
    assert_true(json_double(json_path(loads->first->next, "timing.chunk_error_p99_us"), &value));
    assert_true(value == 14.5);
    arena_done(&arena);
    strbuf_done(&out);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_table), cmocka_unit_test(test_json)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
