/* SPDX-License-Identifier: Apache-2.0 */
/* Texts that other readers could take for something else are quoted, and every text reads back as itself. */
#include "brief/read.h"
#include "brief/write.h"

#include "support/check.h"

#include <stdio.h>
#include <string.h>

static const char *const TEXTS[] = {"",
                                    " ",
                                    "a",
                                    "a b",
                                    "a: b",
                                    "a:b",
                                    "a:",
                                    ":a",
                                    "a #b",
                                    "a#b",
                                    "#a",
                                    "- a",
                                    "-a",
                                    "-",
                                    "? a",
                                    "yes",
                                    "Yes",
                                    "y",
                                    "n",
                                    "null",
                                    "~",
                                    "1",
                                    "1.0",
                                    "1e5",
                                    "1e-05",
                                    ".5",
                                    "0x1f",
                                    "0o17",
                                    "012",
                                    "1_000",
                                    "12:30",
                                    "1:2:3",
                                    "2026-01-01",
                                    "2026-01-01T00:00:00Z",
                                    "0.2",
                                    "0.2.1",
                                    "v1",
                                    "NaN",
                                    ".nan",
                                    "inf",
                                    "-inf",
                                    "=",
                                    "<<",
                                    "'",
                                    "\"",
                                    "it's",
                                    "a\nb",
                                    "\n",
                                    "a\tb",
                                    "\x01",
                                    "\x7F",
                                    "caf\xC3\xA9",
                                    "\xE2\x80\xA8",
                                    "\xF0\x9F\x98\x80",
                                    "[a]",
                                    "{a}",
                                    "a, b",
                                    "&a",
                                    "*a",
                                    "!a",
                                    "%a",
                                    "@a",
                                    "`a",
                                    "|",
                                    ">",
                                    "a ",
                                    "...",
                                    "---",
                                    "--- a",
                                    "/v1/models",
                                    "http://h:80/x?y=z&w",
                                    "PT5.5S",
                                    "--max-model-len",
                                    "5ee6b9cd-7b49-5ad2-b37c-5d425fb535de",
                                    "44136e355",
                                    "true",
                                    "True",
                                    "off",
                                    "e1",
                                    "+1",
                                    "+a",
                                    "1 2",
                                    "\\",
                                    "a\\nb",
                                    "$x",
                                    "a'b\"c"};

static void test_texts(void **state)
{
    (void)state;
    for (size_t i = 0; i < ARRAY_COUNT(TEXTS); i++) {
        struct tree tree;
        struct strbuf yaml AS_AUTO_STRBUF, json AS_AUTO_STRBUF;
        tree_init(&tree, 0);
        strbuf_init(&yaml, 0);
        strbuf_init(&json, 0);
        struct value *map = value_map(&tree), *list = value_list(&tree), *back = NULL;
        value_add(list, value_text(&tree, TEXTS[i]));
        value_put(map, TEXTS[i], value_text(&tree, TEXTS[i]));
        value_put(map, "zz list", list);
        write_yaml(map, &yaml);
        write_json(map, 2, &json);
        for (const char *at = yaml.data; *at; at++)
            assert_true((*at >= 0x20 && *at < 0x7F) || *at == '\n');
        if (read_text(yaml.data, yaml.len, &tree, &back, NULL) != AS_OK || !value_equal(map, back))
            fail_msg("as YAML: %s", yaml.data);
        if (read_text(json.data, json.len, &tree, &back, NULL) != AS_OK || !value_equal(map, back))
            fail_msg("as JSON: %s", json.data);
        tree_done(&tree);
    }
}

static void check_plain(const char *text, const char *expected)
{
    struct tree tree;
    struct strbuf yaml AS_AUTO_STRBUF;
    tree_init(&tree, 0);
    strbuf_init(&yaml, 0);
    write_yaml(value_text(&tree, text), &yaml);
    assert_string_equal(yaml.data, expected);
    tree_done(&tree);
}

static void test_forms(void **state)
{
    (void)state;
    check_plain("0.2.1", "0.2.1\n");
    check_plain("0.2", "'0.2'\n");
    check_plain("it's", "'it''s'\n");
    check_plain("caf\xC3\xA9", "\"caf\\xE9\"\n");
    check_plain("\xF0\x9F\x98\x80", "\"\\U0001F600\"\n");
    check_plain("1e5", "'1e5'\n");
    check_plain("yes", "'yes'\n");
    check_plain("", "''\n");
    check_plain("Qwen/Qwen3-32B (best)", "Qwen/Qwen3-32B (best)\n");
}

static void test_layout(void **state)
{
    (void)state;
    static const char text[] = "{\"b\":[{\"y\":1,\"x\":[]},[1,[2]],{}],\"a\":{},\"B\":{\"n\":null,\"f\":1.0}}";
    static const char expected[] = "B:\n  f: 1.0\n  'n': null\na: {}\nb:\n- x: []\n  'y': 1\n- - 1\n  - - 2\n- {}\n";
    static const char json[] =
        "{\n  \"b\": [\n    {\n      \"y\": 1,\n      \"x\": []\n    },\n    [\n      1,\n      [\n        2\n      "
        "]\n    ],\n    {}\n  ],\n  \"a\": {},\n  \"B\": {\n    \"n\": null,\n    \"f\": 1.0\n  }\n}";
    struct tree tree;
    struct value *value = NULL;
    struct strbuf out AS_AUTO_STRBUF, pretty AS_AUTO_STRBUF;
    tree_init(&tree, 0);
    strbuf_init(&out, 0);
    strbuf_init(&pretty, 0);
    assert_int_equal(read_text(text, strlen(text), &tree, &value, NULL), AS_OK);
    write_yaml(value, &out);
    assert_string_equal(out.data, expected);
    write_json(value, 2, &pretty);
    assert_string_equal(pretty.data, json);
    tree_done(&tree);
}

static void test_long_keys(void **state)
{
    (void)state;
    char key[2001];
    struct tree tree;
    struct strbuf out AS_AUTO_STRBUF;
    tree_init(&tree, 0);
    strbuf_init(&out, 0);
    memset(key, 'k', sizeof key - 1);
    key[sizeof key - 1] = '\0';
    struct value *map = value_map(&tree), *inner = value_map(&tree), *back = NULL;
    value_put(inner, key, value_int(&tree, 1));
    value_put(map, key, inner);
    write_yaml(map, &out);
    assert_int_equal(read_text(out.data, out.len, &tree, &back, NULL), AS_OK);
    assert_true(value_equal(map, back));
    tree_done(&tree);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_texts), cmocka_unit_test(test_forms),
                                       cmocka_unit_test(test_layout), cmocka_unit_test(test_long_keys)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
