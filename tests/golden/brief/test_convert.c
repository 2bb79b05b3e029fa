/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Native files (tests/golden/brief/native) into reports (tests/golden/brief/expected), run.uid aside; and every native
 * file with each of its members removed in turn: a report, or an error that names a path, never a crash.
 */
#include "brief/convert.h"
#include "brief/write.h"

#include "support/check.h"
#include "support/golden.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define NATIVE   "tests/golden/brief/native/"
#define EXPECTED "tests/golden/brief/expected/"

struct variable {
    const char *name, *value;
};

static const struct {
    const char *name, *generator, *version, *file;
    bool is_session;
    struct variable environment[6];
} CASES[] = {
    {"vllm-0.1", "vllm-benchmark", "0.1", "vllm.json", false, {{NULL, NULL}}},
    {"vllm-0.2",
     "vllm-benchmark",
     "0.2",
     "vllm.json",
     false,
     {{"LLMDBENCH_RUN_EXPERIMENT_ID", " my-experiment "},
      {"LLMDBENCH_DESCRIPTION_KEYWORDS", "a, b,,c "},
      {NULL, NULL}}},
    {"vllm-0.2-pod",
     "vllm-benchmark",
     "0.2.1",
     "vllm.json",
     false,
     {{"LLMDBENCH_MAGIC_ENVAR", "1"},
      {"LLMDBENCH_HARNESS_ARGS", "--dataset-name random --random-input-len=256 --random-output-len 128 --flag"},
      {"LLMDBENCH_HARNESS_VERSION", "v9"},
      {"LLMDBENCH_HARNESS_LOAD_PARALLELISM", "2"},
      {"POD_UID", "pod-1"},
      {NULL, NULL}}},
    {"inferencemax-0.2",
     "inferencemax",
     "0.2.1",
     "vllm.json",
     false,
     {{"LLMDBENCH_RUN_EXPERIMENT_RESULTS_DIR", "/results/run-1786024743123-hipkpq_1/"},
      {"LLMDBENCH_DESCRIPTION_TEXT", "as it is"},
      {NULL, NULL}}},
    {"guidellm-0.1", "guidellm", "0.1", "guidellm.json", false, {{NULL, NULL}}},
    {"guidellm-0.2", "guidellm", "0.2", "guidellm.json", false, {{NULL, NULL}}},
    {"stage_2-0.1", "inference-perf", "0.1", "stage_2_lifecycle_metrics.json", false, {{NULL, NULL}}},
    {"stage_2-0.2",
     "inference-perf",
     "0.2",
     "stage_2_lifecycle_metrics.json",
     false,
     {{"LLMDBENCH_TREATMENT_NAME", "t1"},
      {"LLMDBENCH_TREATMENT_GROUP", "g"},
      {"LLMDBENCH_TREATMENT_CONCURRENT_WITH", "t2,t3"},
      {"LLMDBENCH_RUN_EXPERIMENT_ID", "e"},
      {NULL, NULL}}},
    {"stage_3-0.2", "inference-perf", "0.2", "stage_3_lifecycle_metrics.json", false, {{NULL, NULL}}},
    {"session-0.1", "vllm-benchmark", "0.1", "stage_1_session_lifecycle_metrics.json", true, {{NULL, NULL}}},
    {"session-0.2", "vllm-benchmark", "0.2", "stage_1_session_lifecycle_metrics.json", true, {{NULL, NULL}}},
    {"aiperf-0.1", "aiperf", "0.1", "aiperf.json", false, {{NULL, NULL}}},
    {"aiperf-0.2", "aiperf", "0.2", "aiperf.json", false, {{"LLMDBENCH_RUN_EXPERIMENT_ID", "e"}, {NULL, NULL}}},
    {"nop-0.1", "nop", "0.1", "nop.yaml", false, {{NULL, NULL}}},
    {"assay-0.2", "assay", "0.2.1", "../../summary/summary.json", false, {{NULL, NULL}}},
    {"assay-vlm", "assay", "0.2.1", "run-vlm/summary.json", false, {{NULL, NULL}}},
    {"assay-asr", "assay", "0.2.1", "run-asr/summary.json", false, {{NULL, NULL}}},
    {"assay-imagegen", "assay", "0.2.1", "run-imagegen/summary.json", false, {{NULL, NULL}}},
};

static const char *lookup(void *context, const char *name)
{
    for (const struct variable *variable = context; variable->name; variable++)
        if (strcmp(variable->name, name) == 0)
            return variable->value;
    return NULL;
}

static struct convert_request request_of(size_t index, const char *path)
{
    return (struct convert_request){.generator = CASES[index].generator,
                                    .version = CASES[index].version,
                                    .path = path,
                                    .is_session = CASES[index].is_session,
                                    .getenv = lookup,
                                    .context = (void *)(uintptr_t)CASES[index].environment};
}

static void pin_uid(struct brief_report *report)
{
    struct tree tree;
    if (report->model == &model_0_1)
        return;
    tree_init(&tree, 0);
    assert_int_equal(brief_set(report, "run.uid", value_text(&tree, "00000000-0000-0000-0000-000000000000"), NULL),
                     AS_OK);
    tree_done(&tree);
}

static void check_case(size_t index)
{
    char path[256], expected[256];
    struct conversion conversion;
    struct as_error err = {0};
    struct strbuf out AS_AUTO_STRBUF;
    strbuf_init(&out, 0);
    (void)snprintf(path, sizeof path, NATIVE "%s", CASES[index].file);
    (void)snprintf(expected, sizeof expected, EXPECTED "%s.yaml", CASES[index].name);
    const struct convert_request request = request_of(index, path);
    conversion_init(&conversion);
    if (convert_file(&request, &conversion, &err) != AS_OK)
        fail_msg("%s: %s", CASES[index].name, err.message);
    for (size_t i = 0; i < conversion.count; i++) {
        pin_uid(&conversion.reports[i]);
        strbuf_addf(&out, "# report %zu\n", i);
        brief_write_yaml(&conversion.reports[i], &out);
    }
    for (const char *at = strbuf_text(&conversion.warnings); *at; at = strchr(at, '\n') + 1)
        strbuf_addf(&out, "# %.*s\n", (int)strcspn(at, "\n"), at);
    golden_check(expected, out.data, out.len);
    conversion_done(&conversion);
}

static void test_cases(void **state)
{
    (void)state;
    for (size_t i = 0; i < ARRAY_COUNT(CASES); i++)
        check_case(i);
}

/* Removes the `target`-th member or item of the tree, counted depth first; false when there is none. */
static bool remove_nth(struct tree *tree, struct value *at, size_t target, size_t *count)
{
    if (!value_is(at, VALUE_MAP) && !value_is(at, VALUE_LIST))
        return false;
    struct value *before = NULL;
    for (struct value *child = at->first; child; before = child, child = child->next) {
        if ((*count)++ == target) {
            if (before)
                before->next = child->next;
            else
                at->first = child->next;
            if (at->last == child)
                at->last = before;
            at->len--;
            return true;
        }
        if (remove_nth(tree, child, target, count))
            return true;
    }
    return false;
}

static size_t convert_without_each(size_t index)
{
    char path[256];
    size_t total = 0;
    (void)snprintf(path, sizeof path, NATIVE "%s", CASES[index].file);
    for (bool is_found = true; is_found; total++) {
        struct tree tree;
        struct value *native = NULL;
        struct conversion conversion;
        struct as_error err = {0};
        struct strbuf text AS_AUTO_STRBUF;
        size_t count = 0;
        strbuf_init(&text, 0);
        tree_init(&tree, READ_TREE_BYTES_MAX);
        assert_int_equal(read_path(path, NULL, &tree, &native, &err), AS_OK);
        is_found = remove_nth(&tree, native, total, &count);
        write_json(native, 0, &text);
        conversion_init(&conversion);
        const struct convert_request request = request_of(index, path);
        as_status status = convert_text(&request, text.data, text.len, &conversion, &err);
        if (status != AS_OK) {
            assert_int_equal(status, AS_E_INVALID);
            assert_non_null(strstr(err.message, ": "));
        } else {
            assert_true(conversion.count > 0);
        }
        conversion_done(&conversion);
        tree_done(&tree);
    }
    return total;
}

static void test_missing_members(void **state)
{
    (void)state;
    for (size_t i = 0; i < ARRAY_COUNT(CASES); i++)
        assert_true(convert_without_each(i) > 10);
}

static void test_refused_requests(void **state)
{
    (void)state;
    static const struct {
        struct convert_request request;
        as_status status;
        const char *message;
    } cases[] = {
        {{.generator = "nop", .version = "0.2", .path = NATIVE "nop.yaml"}, AS_E_UNSUPPORTED, "not supported"},
        {{.generator = "assay", .version = "0.1", .path = NATIVE "vllm.json"}, AS_E_UNSUPPORTED, "not supported"},
        {{.generator = "other", .version = "0.2", .path = NATIVE "vllm.json"},
         AS_E_USAGE,
         "Unsupported workload generator"},
        {{.generator = "nop", .version = "0.3", .path = NATIVE "vllm.json"},
         AS_E_USAGE,
         "Invalid benchmark report version: 0.3"},
        {{.generator = "guidellm", .version = "0.2", .path = NATIVE "vllm.json"}, AS_E_INVALID, "benchmarks"},
        {{.generator = "guidellm", .version = "0.2", .path = NATIVE "guidellm.json", .has_index = true, .index = 2},
         AS_E_INVALID,
         "no index 2"},
        {{.generator = "guidellm", .version = "0.2", .path = NATIVE "guidellm.json", .has_index = true, .index = -1},
         AS_E_INVALID,
         "stage"},
        {{.generator = "vllm-benchmark", .version = "0.2", .path = NATIVE "none.json"}, AS_E_NOTFOUND, "none.json"},
        {{.generator = "vllm-benchmark", .version = "0.2", .path = "tests/golden/brief"}, AS_E_INVALID, "regular file"},
    };
    for (size_t i = 0; i < ARRAY_COUNT(cases); i++) {
        struct conversion conversion;
        struct as_error err = {0};
        conversion_init(&conversion);
        assert_int_equal(convert_file(&cases[i].request, &conversion, &err), cases[i].status);
        if (!strstr(err.message, cases[i].message))
            fail_msg("%s", err.message);
        conversion_done(&conversion);
    }
}

/* What a run writes itself is what the converter makes of its files. */
static void test_native_export(void **state)
{
    (void)state;
    static const char path[] = NATIVE "run-vlm/summary.json";
    struct strbuf out AS_AUTO_STRBUF, warnings AS_AUTO_STRBUF, converted AS_AUTO_STRBUF;
    const struct convert_request request = {.generator = "assay", .version = "0.2.1", .path = path};
    struct conversion conversion;
    struct as_error err = {0};
    strbuf_init(&out, 0);
    strbuf_init(&warnings, 0);
    strbuf_init(&converted, 0);
    if (brief_from_summary(path, &out, &warnings, &err) != AS_OK)
        fail_msg("%s", err.message);
    conversion_init(&conversion);
    assert_int_equal(convert_file(&request, &conversion, &err), AS_OK);
    brief_write_yaml(&conversion.reports[0], &converted);
    assert_string_equal(out.data, converted.data);
    assert_string_equal(warnings.data, strbuf_text(&conversion.warnings));
    conversion_done(&conversion);
    assert_int_equal(brief_from_summary(NATIVE "none/summary.json", &out, NULL, &err), AS_E_NOTFOUND);
}

/* Two runs with the same settings have the same cfg_id, whatever they are called. */
static void test_same_settings(void **state)
{
    (void)state;
    static const char *const runs[] = {"11111111-1111-4111-8111-111111111111", "22222222-2222-4222-8222-222222222222"};
    char texts[2][600], ids[2][80];
    for (size_t i = 0; i < 2; i++) {
        struct conversion conversion;
        struct as_error err = {0};
        const struct convert_request request = {.generator = "assay", .version = "0.2.1"};
        (void)snprintf(texts[i], sizeof texts[i],
                       "{\"schema\":\"metrumbench-llm.summary.v1\",\"unique_id\":\"%s\",\"config\":{\"model\":\"m\","
                       "\"result_dir\":\"r%zu\",\"origins\":{\"x\":%zu},\"body_template\":[\"a %s/0 b %s\",7]}}",
                       runs[i], i, i, runs[i], runs[i]);
        conversion_init(&conversion);
        if (convert_text(&request, texts[i], strlen(texts[i]), &conversion, &err) != AS_OK)
            fail_msg("%s", err.message);
        const struct value *load = value_at(conversion.reports[0].root, "scenario.load");
        assert_string_equal(value_string(value_at(load, "native.config.options.body_template.0")), "a {run}/0 b {run}");
        assert_null(value_at(load, "native.config.options.result_dir"));
        (void)snprintf(ids[i], sizeof ids[i], "%s", value_string(value_at(load, "metadata.cfg_id")));
        conversion_done(&conversion);
    }
    assert_string_equal(ids[0], ids[1]);
}

static int pin_zone(void **state)
{
    (void)state;
    return setenv("TZ", "UTC", 1);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_cases), cmocka_unit_test(test_missing_members),
                                       cmocka_unit_test(test_refused_requests), cmocka_unit_test(test_native_export),
                                       cmocka_unit_test(test_same_settings)};
    return cmocka_run_group_tests(tests, pin_zone, NULL);
}
