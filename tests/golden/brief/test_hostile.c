/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Native files (tests/golden/brief/native) with each of their values replaced by values that nobody writes: a report
 * that reads back as it was written, or an error of one line that names the place.
 */
#include "brief/convert.h"
#include "brief/write.h"

#include "support/check.h"

#include <stdint.h>
#include <stdio.h>
#include <string.h>

#define NATIVE "tests/golden/brief/native/"

static const struct {
    const char *generator, *version, *file;
    bool is_session;
} CASES[] = {
    {"vllm-benchmark", "0.1", "vllm.json", false},
    {"inferencemax", "0.2", "vllm.json", false},
    {"guidellm", "0.1", "guidellm.json", false},
    {"guidellm", "0.2", "guidellm.json", false},
    {"inference-perf", "0.1", "stage_2_lifecycle_metrics.json", false},
    {"inference-perf", "0.2", "stage_2_lifecycle_metrics.json", false},
    {"inference-perf", "0.2", "stage_1_session_lifecycle_metrics.json", true},
    {"aiperf", "0.1", "aiperf.json", false},
    {"aiperf", "0.2", "aiperf.json", false},
    {"nop", "0.1", "nop.yaml", false},
    {"assay", "0.2", "run-asr/summary.json", false},
};

static const char *const VALUES[] = {"1e999",
                                     "-1e999",
                                     "9223372036854775807",
                                     "-1",
                                     "123456789012345678901234567890",
                                     "\"a\\nb: c \\u001b[31m\"",
                                     "[1,\"a\",{}]",
                                     "{\"mean\":{\"mean\":1}}"};

/* The `target`-th value of the tree, counted depth first; its place in the map or list above is what is returned. */
static struct value **find_nth(struct value **at, size_t target, size_t *count)
{
    struct value **found = NULL;
    if ((*count)++ == target)
        return at;
    if (!value_is(*at, VALUE_MAP) && !value_is(*at, VALUE_LIST))
        return NULL;
    for (struct value **child = &(*at)->first; *child && !found; child = &(*child)->next)
        found = find_nth(child, target, count);
    return found;
}

/* The native file with one value replaced; false when it has not so many. */
static bool change(const char *path, size_t target, const char *text, struct strbuf *out)
{
    struct tree tree;
    struct as_error err = {0};
    struct value *native = NULL, *other = NULL;
    size_t count = 0;
    tree_init(&tree, READ_TREE_BYTES_MAX);
    assert_int_equal(read_path(path, NULL, &tree, &native, &err), AS_OK);
    assert_int_equal(read_text(text, strlen(text), &tree, &other, &err), AS_OK);
    struct value **place = find_nth(&native, target, &count);
    if (place) {
        other->key = (*place)->key;
        other->next = (*place)->next;
        *place = other;
        write_json(native, 0, out);
    }
    tree_done(&tree);
    return place != NULL;
}

static void check_reads_back(const struct brief_report *report)
{
    struct brief_report again;
    struct as_error err = {0};
    struct strbuf first AS_AUTO_STRBUF, second AS_AUTO_STRBUF;
    strbuf_init(&first, 0);
    strbuf_init(&second, 0);
    brief_write_yaml(report, &first);
    brief_init(&again);
    if (brief_read_text(&again, first.data, first.len, &err) != AS_OK)
        fail_msg("%s\n%s", err.message, strbuf_text(&first));
    brief_write_yaml(&again, &second);
    assert_string_equal(strbuf_text(&first), strbuf_text(&second));
    brief_done(&again);
}

static void check_line(const char *message)
{
    for (const char *at = message; *at; at++)
        if ((unsigned char)*at < ' ')
            fail_msg("byte %d in: %s", *at, message);
}

static bool convert_changed(size_t index, size_t target, const char *value)
{
    char path[256];
    struct conversion conversion;
    struct as_error err = {0};
    struct strbuf text AS_AUTO_STRBUF;
    strbuf_init(&text, 0);
    (void)snprintf(path, sizeof path, NATIVE "%s", CASES[index].file);
    if (!change(path, target, value, &text))
        return false;
    const struct convert_request request = {.generator = CASES[index].generator,
                                            .version = CASES[index].version,
                                            .path = path,
                                            .is_session = CASES[index].is_session};
    conversion_init(&conversion);
    as_status status = convert_text(&request, text.data, text.len, &conversion, &err);
    if (status == AS_OK) {
        assert_true(conversion.count > 0);
        for (size_t i = 0; i < conversion.count; i++)
            check_reads_back(&conversion.reports[i]);
    } else {
        assert_int_equal(status, AS_E_INVALID);
        assert_non_null(strstr(err.message, CASES[index].file));
        check_line(err.message);
    }
    conversion_done(&conversion);
    return true;
}

static void test_values_that_nobody_writes(void **state)
{
    size_t count = 0;
    (void)state;
    for (size_t i = 0; i < ARRAY_COUNT(CASES); i++)
        for (size_t target = 0, is_found = 1; is_found; target++)
            for (size_t k = 0; k < ARRAY_COUNT(VALUES) && is_found; k++, count++)
                is_found = convert_changed(i, target, VALUES[k]);
    assert_true(count > 3000);
}

static struct convert_kind kind_of(const char *file)
{
    char path[256];
    (void)snprintf(path, sizeof path, NATIVE "%s", file);
    return convert_recognise(path);
}

static void test_results_are_recognised(void **state)
{
    (void)state;
    for (size_t i = 0; i < ARRAY_COUNT(CASES); i++) {
        const struct convert_kind kind = kind_of(CASES[i].file);
        if (strcmp(CASES[i].generator, "inferencemax") == 0)
            continue; /* its results look like those of vllm-benchmark */
        assert_string_equal(kind.generator, CASES[i].generator);
        assert_int_equal(kind.is_session, CASES[i].is_session);
    }
    assert_null(kind_of("run-vlm/sut.json").generator);
    assert_null(kind_of("none.json").generator);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_values_that_nobody_writes),
                                       cmocka_unit_test(test_results_are_recognised)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
