/* SPDX-License-Identifier: Apache-2.0 */
/* Readers: JSON and YAML to the same tree, aliases and merges, what is refused and where, limits, skipped parts. */
#include "brief/read.h"
#include "brief/write.h"

#include "support/check.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static as_status read_string(struct tree *tree, const char *text, read_skip_list skip, struct value **ret,
                             struct as_error *err)
{
    tree_init(tree, READ_TREE_BYTES_MAX);
    return read_parts(&(struct read_parts){text, strlen(text), skip}, tree, ret, err);
}

/* The tree, on one line. */
static void check_tree(const char *text, read_skip_list skip, const char *expected)
{
    struct tree tree;
    struct value *value = NULL;
    struct as_error err = {0};
    struct strbuf json AS_AUTO_STRBUF;
    strbuf_init(&json, 0);
    if (read_string(&tree, text, skip, &value, &err) != AS_OK)
        fail_msg("%s\nrefused: %s", text, err.message);
    write_canonical(value, &json);
    assert_string_equal(json.data, expected);
    tree_done(&tree);
}

static void check_refused(const char *text, as_status expected, int64_t line)
{
    struct tree tree;
    struct value *value = NULL;
    struct as_error err = {0};
    as_status status = read_string(&tree, text, NULL, &value, &err);
    if (status != expected)
        fail_msg("%.200s\ngave %s: %s", text, status_name(status), err.message);
    if (line > 0)
        assert_int_equal(err.line, line);
    assert_true(err.message[0] != '\0');
    tree_done(&tree);
}

static void test_same_tree(void **state)
{
    (void)state;
    check_tree("{\"b\": [1, 2.5, \"x\"], \"a\": {\"c\": null, \"d\": true}}", NULL,
               "{\"a\": {\"c\": null, \"d\": true}, \"b\": [1, 2.5, \"x\"]}");
    check_tree("b:\n- 1\n- 2.5\n- x\na: {c: ~, d: yes}\n", NULL,
               "{\"a\": {\"c\": null, \"d\": true}, \"b\": [1, 2.5, \"x\"]}");
    check_tree("\xEF\xBB\xBF{\"a\": 1}", NULL, "{\"a\": 1}");
    check_tree("\xEF\xBB\xBF"
               "a: 1\n",
               NULL, "{\"a\": 1}");
    check_tree("", NULL, "null");
    check_tree("8080: x\nyes: y\n", NULL, "{\"8080\": \"x\", \"yes\": \"y\"}");
    check_tree("a: '1'\nb: \"2\"\nc: |\n  3\n", NULL, "{\"a\": \"1\", \"b\": \"2\", \"c\": \"3\\n\"}");
}

static void test_numbers(void **state)
{
    (void)state;
    check_tree("[1e-05, 2E10, 1e400, -0, 12345678901234567890123]", NULL,
               "[1e-05, 20000000000.0, Infinity, 0, 12345678901234567890123]");
    check_tree("[1e-05, x]", NULL, "[\"1e-05\", \"x\"]");
    check_tree("{\"a\": NaN, \"b\": -Infinity, \"c\": \"NaN\"}", NULL,
               "{\"a\": NaN, \"b\": -Infinity, \"c\": \"NaN\"}");
    check_tree("a: NaN\n", NULL, "{\"a\": \"NaN\"}");
}

static void test_equal_keys(void **state)
{
    (void)state;
    char text[4096] = "{", *at = text + 1;
    check_tree("{\"a\": 1, \"b\": 2, \"a\": 3}", NULL, "{\"a\": 3, \"b\": 2}");
    check_tree("a: 1\na: 2\n", NULL, "{\"a\": 2}");
    for (int i = 0; i < 40; i++)
        at += snprintf(at, 64, "%s\"k%d\":%d", i ? "," : "", i % 20, i);
    (void)snprintf(at, 8, "}");
    struct tree tree;
    struct value *value = NULL;
    assert_int_equal(read_string(&tree, text, NULL, &value, NULL), AS_OK);
    assert_int_equal(value->len, 20);
    assert_int_equal(value_get(value, "k7")->integer, 27);
    tree_done(&tree);
}

static void test_aliases(void **state)
{
    (void)state;
    check_tree("a: &x {b: 1}\nc: *x\nd: [*x, *x]\n", NULL,
               "{\"a\": {\"b\": 1}, \"c\": {\"b\": 1}, \"d\": [{\"b\": 1}, {\"b\": 1}]}");
    check_tree("base: &b {x: 1, y: 2}\nmore:\n  <<: *b\n  y: 3\n", NULL,
               "{\"base\": {\"x\": 1, \"y\": 2}, \"more\": {\"x\": 1, \"y\": 3}}");
    check_tree("p: &p {x: 1}\nq: &q {x: 2, z: 4}\nm: {<<: [*p, *q]}\n", NULL,
               "{\"m\": {\"x\": 1, \"z\": 4}, \"p\": {\"x\": 1}, \"q\": {\"x\": 2, \"z\": 4}}");
    check_refused("a: *nobody\n", AS_E_INVALID, 1);
    check_refused("a: &x\n  b: *x\n", AS_E_INVALID, 2);
}

static void test_alias_bomb(void **state)
{
    (void)state;
    char text[2048] = "a0: &a0 [x,x,x,x,x,x,x,x,x,x]\n", *at = text + strlen(text);
    for (int i = 1; i < 12; i++)
        at += snprintf(at, 128, "a%d: &a%d [*a%d,*a%d,*a%d,*a%d,*a%d,*a%d,*a%d,*a%d,*a%d,*a%d]\n", i, i, i - 1, i - 1,
                       i - 1, i - 1, i - 1, i - 1, i - 1, i - 1, i - 1, i - 1);
    check_refused(text, AS_E_LIMIT, 0);
}

static void test_refused(void **state)
{
    (void)state;
    check_refused("{\"a\": 1", AS_E_INVALID, 1);
    check_refused("{\"a\":\n tru}}", AS_E_INVALID, 2);
    check_refused("a: 1\n--- \nb: 2\n", AS_E_INVALID, 2);
    check_refused("a: !!python/object:os.system x\n", AS_E_INVALID, 1);
    check_refused("a: !!int x\n", AS_E_INVALID, 1);
    check_refused("? [1, 2]\n: x\n", AS_E_INVALID, 1);
    check_refused("a: [1\nb: 2\n", AS_E_INVALID, 0);
    check_refused("a: \"\xFF\"\n", AS_E_INVALID, 0);
    check_refused("a:\n\t- b\n", AS_E_INVALID, 2);
}

static void check_deep(const char *open, const char *close, size_t levels, as_status expected)
{
    size_t len = levels * (strlen(open) + strlen(close)) + 2;
    char *text = calloc(1, len), *at = text;
    assert_non_null(text);
    for (size_t i = 0; i < levels; i++)
        at = stpcpy(at, open);
    *at++ = '1';
    for (size_t i = 0; i < levels; i++)
        at = stpcpy(at, close);
    struct tree tree;
    struct value *value;
    struct as_error err = {0};
    assert_int_equal(read_string(&tree, text, NULL, &value, &err), expected);
    tree_done(&tree);
    free(text);
}

static void test_depth(void **state)
{
    (void)state;
    check_deep("[", "]", READ_DEPTH_MAX, AS_OK);
    check_deep("[", "]", READ_DEPTH_MAX + 1, AS_E_LIMIT);
    check_deep("{\"a\":", "}", 100000, AS_E_LIMIT);
    check_deep("- ", "", READ_DEPTH_MAX, AS_OK);
    check_deep("- ", "", READ_DEPTH_MAX + 1, AS_E_LIMIT);
    check_deep("{a: ", "}", 50000, AS_E_LIMIT);
}

static void test_long_texts(void **state)
{
    (void)state;
    size_t len = READ_YAML_BYTES_MAX + 64;
    char *text = malloc(len + 1);
    assert_non_null(text);
    memset(text, 'x', len);
    memcpy(text, "a: ", 3);
    text[len] = '\0';
    check_refused(text, AS_E_LIMIT, 0);
    memcpy(text, "{\"a\":\"", 6);
    memcpy(text + len - 2, "\"}", 2);
    check_refused(text, AS_E_LIMIT, 1);
    free(text);
}

static void test_skipping(void **state)
{
    (void)state;
    static const char *const skip[] = {"runs.*.requests", "runs.*.metrics.*.pdf", "text", NULL};
    static const char *const json = "{\"runs\":[{\"requests\":[[1,{\"pdf\":2}]],\"n\":1,\"metrics\":{\"a\":{\"pdf\":[1]"
                                    ",\"mean\":2},\"pdf\":3}},{\"requests\":null}],\"text\":\"t\",\"pdf\":4}";
    static const char *const yaml = "runs:\n- requests: [[1, {pdf: 2}]]\n  n: 1\n  metrics: {a: {pdf: [1], mean: 2}, "
                                    "pdf: 3}\n- requests:\ntext: t\npdf: 4\n";
    static const char *const expected =
        "{\"pdf\": 4, \"runs\": [{\"metrics\": {\"a\": {\"mean\": 2}, \"pdf\": 3}, \"n\": 1}, {}]}";
    check_tree(json, skip, expected);
    check_tree(yaml, skip, expected);
    struct tree tree;
    struct value *value;
    assert_int_equal(read_string(&tree, "{\"text\": [1,}]}", skip, &value, NULL), AS_E_INVALID);
    tree_done(&tree);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_same_tree), cmocka_unit_test(test_numbers),    cmocka_unit_test(test_equal_keys),
        cmocka_unit_test(test_aliases),   cmocka_unit_test(test_alias_bomb), cmocka_unit_test(test_refused),
        cmocka_unit_test(test_depth),     cmocka_unit_test(test_long_texts), cmocka_unit_test(test_skipping)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
