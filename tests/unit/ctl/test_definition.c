/* SPDX-License-Identifier: Apache-2.0 */
#include "ctl/contract.h"
#include "ctl/definition.h"
#include "ctl/difference.h"
#include "support/check.h"

#include <stdio.h>
#include <string.h>

/* What was read: "kind key@document:line body" a line. */
static void check_read(const char *text, const char *wanted)
{
    struct arena arena;
    struct definition definition = {.name = "f", .arena = &arena};
    struct as_error err = {0};
    struct strbuf out;
    arena_init(&arena, 0, 0);
    strbuf_init(&out, 0);
    as_status status = definition_read(&definition, text, strlen(text), &err);
    for (size_t i = 0; status == AS_OK && i < definition.count; i++) {
        const struct definition_object *object = definition.items[i];
        struct json_writer writer;
        strbuf_adds(&out, object->kind ? object->kind->singular : "run");
        strbuf_addc(&out, ' ');
        definition_add_key(&out, object);
        strbuf_addf(&out, "@%zu:%zu ", object->document, object->line);
        json_writer_init(&writer, &out, 0);
        definition_write(&writer, object);
        strbuf_addc(&out, '\n');
    }
    if (status != AS_OK)
        strbuf_adds(&out, err.message);
    assert_string_equal(strbuf_text(&out), wanted);
    strbuf_done(&out);
    arena_done(&arena);
}

static void test_order_and_documents(void **state)
{
    (void)state;
    check_read("# heading\n---\nscenarios:\n  - workload_code: w\n    scenario_code: s\n---\nproject:\n  project_code: p\n"
               "---\nrun: {workload_code: w}\n",
               "project p@2:8 {\"project_code\":\"p\"}\n"
               "scenario w/s@1:4 {\"workload_code\":\"w\",\"scenario_code\":\"s\"}\n"
               "run @3:10 {\"workload_code\":\"w\"}\n");
    check_read("{\"schema\":\"assay.definition.v1\",\"models\":[{\"model_code\":\"a/b\",\"x\":1.0}]}",
               "model a/b@1:1 {\"model_code\":\"a/b\",\"x\":1.0}\n");
    check_read("framework_versions: [{framework_code: f, version: '1'}]",
               "framework-version f/1/cuda@1:1 {\"framework_code\":\"f\",\"version\":\"1\"}\n");
}

static void test_nesting(void **state)
{
    (void)state;
    check_read("projects:\n- project_code: p\n  workloads:\n  - workload_code: w\n    scenarios:\n    - scenario_code: s\n",
               "project p@1:2 {\"project_code\":\"p\"}\n"
               "workload w@1:4 {\"project_code\":\"p\",\"workload_code\":\"w\"}\n"
               "scenario w/s@1:6 {\"workload_code\":\"w\",\"scenario_code\":\"s\"}\n");
}

static void test_refusals(void **state)
{
    (void)state;
    check_read("", "f: it defines nothing");
    check_read("---\n- 1\n", "f, document 1, line 1: a document must be a mapping of kinds to things");
    check_read("project: {project_code: p}\n---\nprojects:\n- name: q\n",
               "f, document 2, line 4: the member project_code, which names the thing, is missing");
    check_read("project:\n  project_code: 5\n",
               "f, document 1, line 2: the member project_code must be text: put it in quotes");
    check_read("project: {project_code: p}\n---\nproject: {project_code: p}\n",
               "f, document 2, line 3: project p stands there twice, first in document 1, line 1");
    check_read("users: [{user_name: u}]\n", "f, document 1, line 1: users is nothing that a definition may hold");
    check_read("schema: other\n", "f, document 1, line 1: schema must be assay.definition.v1");
    check_read("project: p\n", "f, document 1, line 1: project must be a mapping of members");
    check_read("project: {project_code: p}\n---\na: 1\na: 2\n",
               "f, document 2, line 4: a key stands twice in one mapping");
}

static bool is_same(const char *wanted, const char *current)
{
    struct arena arena;
    const struct json_value *one = NULL, *other = NULL;
    struct as_error err;
    arena_init(&arena, 0, 0);
    assert_int_equal(json_parse(wanted, strlen(wanted), NULL, &arena, &one, &err), AS_OK);
    assert_int_equal(json_parse(current, strlen(current), NULL, &arena, &other, &err), AS_OK);
    bool result = difference_is_same(one, other);
    arena_done(&arena);
    return result;
}

static void test_difference(void **state)
{
    (void)state;
    assert_true(is_same("1", "1.0"));
    assert_false(is_same("1", "2"));
    assert_false(is_same("1", "\"1\""));
    assert_true(is_same("null", "null"));
    assert_false(is_same("false", "null"));
    assert_true(is_same("{\"a\":1,\"b\":null}", "{\"a\":1}"));
    assert_true(is_same("{\"a\":1}", "{\"b\":null,\"a\":1}"));
    assert_false(is_same("{\"a\":1}", "{\"a\":1,\"b\":2}"));
    assert_true(is_same("[{\"a\":1}]", "[{\"a\":1,\"b\":2}]"));
    assert_false(is_same("[{\"a\":1}]", "[{\"a\":1},{\"a\":2}]"));
    assert_false(is_same("[1,2]", "[2,1]"));
    assert_false(is_same("\"a\"", "\"ab\""));
}

static const char CONTRACT[] =
    "{\"components\":{\"schemas\":{\"ProjectCreate\":{\"required\":[\"project_code\",\"name\"],\"properties\":"
    "{\"project_code\":{\"type\":\"string\"},\"name\":{\"type\":\"string\"},\"size\":{\"type\":[\"integer\",\"null\"]},"
    "\"any\":{}}}}}}";

static void check_contract(const char *members, bool is_new, const char *wanted)
{
    struct arena arena;
    struct definition definition = {.name = "f", .arena = &arena};
    struct as_error err = {0};
    const struct json_value *contract = NULL;
    char text[200];
    arena_init(&arena, 0, 0);
    snprintf(text, sizeof text, "project: {project_code: p%s}", members);
    assert_int_equal(definition_read(&definition, text, strlen(text), &err), AS_OK);
    assert_int_equal(json_parse(CONTRACT, strlen(CONTRACT), NULL, &arena, &contract, &err), AS_OK);
    as_status status = contract_check(contract, definition.items[0], is_new, &err);
    assert_int_equal(status, *wanted ? AS_E_INVALID : AS_OK);
    assert_string_equal(*wanted ? err.message : "", wanted);
    arena_done(&arena);
}

static void test_contract(void **state)
{
    (void)state;
    check_contract(", name: n, size: 5, any: [1]", true, "");
    check_contract(", name: n, size: null", true, "");
    check_contract("", false, "");
    check_contract("", true, "the member name is missing");
    check_contract(", nam: n", true, "nam is no member that can be given");
    check_contract(", name: 5", true, "name must be of the type string");
    check_contract(", name: n, size: 1.5", false, "size must be of another type");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_order_and_documents), cmocka_unit_test(test_nesting),  cmocka_unit_test(test_refusals),
        cmocka_unit_test(test_difference),          cmocka_unit_test(test_contract),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
