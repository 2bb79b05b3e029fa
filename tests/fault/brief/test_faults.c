/* SPDX-License-Identifier: Apache-2.0 */
/* Memory and reads that fail, one after the other: the right status and no block left. */
#include "brief/convert.h"

#include "support/check.h"
#include "support/faults.h"

#include <string.h>

static const char YAML[] = "version: 0.2.1\nrun: {uid: u, keywords: &k [a, b, c]}\nscenario: {load: {metadata: "
                           "{concurrent_with: *k}, native: {config: {when: 2026-01-01}}, standardized: "
                           "{tool: t, tool_version: '', source: random, input_seq_len: {distribution: fixed, value: "
                           "'5'}}}}\nresults: {observability: {extra: [1, {a: b}]}}\n";

static as_status read_and_write(void *context)
{
    struct brief_report report;
    struct as_error err = {0};
    struct strbuf yaml AS_AUTO_STRBUF, json AS_AUTO_STRBUF;
    (void)context;
    strbuf_init(&yaml, 0);
    strbuf_init(&json, 0);
    brief_init(&report);
    as_status status = brief_read_text(&report, YAML, sizeof YAML - 1, &err);
    if (status == AS_OK) {
        brief_write_yaml(&report, &yaml);
        brief_write_json(&report, &json);
        status = strbuf_status(&yaml) != AS_OK ? strbuf_status(&yaml) : strbuf_status(&json);
    }
    brief_done(&report);
    return status;
}

static as_status change(void *context)
{
    struct brief_report report;
    struct tree tree;
    struct as_error err = {0};
    (void)context;
    brief_init(&report);
    tree_init(&tree, 0);
    as_status status = brief_read_text(&report, YAML, sizeof YAML - 1, &err);
    struct value *text = status == AS_OK ? value_text(&tree, "changed") : NULL;
    if (status == AS_OK)
        status = text ? brief_set(&report, "run.description", text, &err) : AS_E_NOMEM;
    if (status != AS_OK && report.root)
        assert_null(value_at(report.root, "run.description"));
    tree_done(&tree);
    brief_done(&report);
    return status;
}

static as_status convert_one(void *context)
{
    struct conversion conversion;
    struct as_error err = {0};
    conversion_init(&conversion);
    as_status status = convert_file(context, &conversion, &err);
    if (status == AS_OK)
        status = strbuf_status(&conversion.warnings);
    conversion_done(&conversion);
    return status;
}

static struct convert_request guidellm = {
    .generator = "guidellm", .version = "0.2", .path = "tests/golden/brief/native/guidellm.json"};
static struct convert_request nop = {
    .generator = "nop", .version = "0.1", .path = "tests/golden/brief/native/nop.yaml"};

static void test_memory(void **state)
{
    (void)state;
    assert_true(fault_each(FAULT_ALLOC, AS_E_NOMEM, read_and_write, NULL) > 2);
    assert_true(fault_each(FAULT_ALLOC, AS_E_NOMEM, change, NULL) > 2);
    assert_true(fault_each(FAULT_ALLOC, AS_E_NOMEM, convert_one, &guidellm) > 2);
    assert_true(fault_each(FAULT_ALLOC, AS_E_NOMEM, convert_one, &nop) > 2);
}

static void test_reads(void **state)
{
    (void)state;
    assert_true(fault_each(FAULT_READ, AS_E_IO, convert_one, &guidellm) > 0);
    assert_true(fault_each(FAULT_READ, AS_E_IO, convert_one, &nop) > 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_memory), cmocka_unit_test(test_reads)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
