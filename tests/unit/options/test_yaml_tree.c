/* SPDX-License-Identifier: Apache-2.0 */
#include "options/yaml_tree.h"
#include "sample.h"

static const struct json_value *tree(struct arena *arena, const char *text)
{
    const struct json_value *root = NULL;
    struct as_error err = {0};
    assert_int_equal(yaml_parse(text, strlen(text), arena, &root, &err), AS_OK);
    assert_non_null(root);
    return root;
}

static void scalars_have_types(void **state)
{
    (void)state;
    struct arena arena;
    arena_init(&arena, 0, 0);
    const struct json_value *root =
        tree(&arena, "a: 1\nb: -1.5e3\nc: true\nd: 'true'\ne:\nf: 1_000\ng: 0x10\nh: [1, {i: x}]\nj: |\n  text\n");
    assert_int_equal(root->type, JSON_OBJECT);
    assert_int_equal(root->len, 9);
    assert_int_equal(json_get(root, "a")->type, JSON_NUMBER);
    assert_string_equal(json_get(root, "b")->text, "-1.5e3");
    assert_int_equal(json_get(root, "c")->type, JSON_BOOL);
    assert_true(json_get(root, "c")->boolean);
    assert_string_equal(json_get(root, "c")->text, "true");
    assert_int_equal(json_get(root, "d")->type, JSON_STRING);
    assert_int_equal(json_get(root, "e")->type, JSON_NULL);
    assert_int_equal(json_get(root, "f")->type, JSON_STRING);
    assert_int_equal(json_get(root, "g")->type, JSON_STRING);
    assert_int_equal(json_get(root, "h")->len, 2);
    assert_string_equal(json_get(json_get(root, "h")->first->next, "i")->text, "x");
    assert_string_equal(json_get(root, "j")->text, "text\n");
    assert_int_equal(yaml_line("a: 1\nb: 2\n", 10, json_get(root, "b")), 2);
    assert_int_equal(tree(&arena, "")->type, JSON_NULL);
    assert_int_equal(tree(&arena, "# only a comment\n")->type, JSON_NULL);
    arena_done(&arena);
}

static void refuses(const char *text, int64_t line, const char *sentence)
{
    struct arena arena;
    const struct json_value *root = NULL;
    struct as_error err = {0};
    arena_init(&arena, 0, 0);
    assert_int_equal(yaml_parse(text, strlen(text), &arena, &root, &err), AS_E_INVALID);
    assert_null(root);
    assert_int_equal(err.line, line);
    assert_string_equal(err.message, sentence);
    arena_done(&arena);
}

static void what_is_refused(void **state)
{
    (void)state;
    refuses("a: &x 1\nb: *x\n", 1, "line 1: anchors (&) are not used here");
    refuses("a: 1\nb: *x\n", 2, "line 2: aliases (*) are not used here");
    refuses("a: !!int 1\n", 1, "line 1: tags (!) are not used here");
    refuses("a: &m {b: 1}\n", 1, "line 1: tags and anchors are not used here");
    refuses("a: 1\nb: 2\na: 3\n", 3, "line 3: a key stands twice in one mapping");
    refuses("? [1]\n: 2\n", 1, "line 1: a key is not a plain text");
    refuses("a: 1\n---\nb: 2\n", 2, "line 2: holds more than one document");
    refuses("a: [1\n", 2, "line 2: did not find expected ',' or ']'");
    char deep[200];
    memset(deep, '[', sizeof deep - 1);
    deep[sizeof deep - 1] = '\0';
    refuses(deep, 1, "line 1: is nested too deeply");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(scalars_have_types),
        cmocka_unit_test(what_is_refused),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
