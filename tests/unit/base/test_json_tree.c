/* SPDX-License-Identifier: Apache-2.0 */
#include "base/json.h"
#include "base/json_write.h"

#include "support/check.h"

#include <string.h>

static const struct json_value *parse(struct arena *arena, const char *text)
{
    const struct json_value *root = NULL;
    struct as_error err;
    if (json_parse(text, strlen(text), NULL, arena, &root, &err) != AS_OK)
        fail_msg("%s: %s", text, err.message);
    return root;
}

static void keeps_values_order_and_places(void **state)
{
    (void)state;
    struct arena arena;
    arena_init(&arena, 0, 0);
    const char *text = "{\"a\": [1, 2.50, \"x\\ny\"],\n \"b\": {\"c\": true, \"d\": null}, \"a\\u0041\": \"\"}";
    const struct json_value *root = parse(&arena, text);
    assert_int_equal(root->type, JSON_OBJECT);
    assert_int_equal(root->len, 3);
    assert_null(root->key);
    const struct json_value *array = root->first;
    assert_string_equal(array->key, "a");
    assert_int_equal(array->len, 3);
    const struct json_value *number = array->first->next;
    assert_string_equal(number->text, "2.50");
    assert_int_equal(number->offset, strstr(text, "2.50") - text);
    assert_null(number->key);
    const struct json_value *string = number->next;
    assert_string_equal(string->text, "x\ny");
    assert_int_equal(string->len, 3);
    assert_int_equal(string->offset, strchr(text, 'x') - 1 - text);
    assert_null(string->next);
    bool boolean = false;
    assert_true(json_bool(json_path(root, "b.c"), &boolean));
    assert_true(boolean);
    assert_true(json_is_null(json_path(root, "b.d")));
    assert_false(json_is_null(json_path(root, "b.e")));
    assert_null(json_path(root, "b.c.d"));
    assert_null(json_path(root, "a.0"));
    const struct json_value *last = json_get(root, "aA");
    assert_non_null(last);
    assert_int_equal(last->len, 0);
    assert_string_equal(last->text, "");
    arena_done(&arena);
}

static void the_last_of_equal_keys_wins(void **state)
{
    (void)state;
    struct arena arena;
    arena_init(&arena, 0, 0);
    const struct json_value *root = parse(&arena, "{\"k\":1,\"k\":2,\"kk\":3,\"\":4}");
    int64_t value = 0;
    assert_true(json_int64(json_get(root, "k"), &value));
    assert_int_equal(value, 2);
    assert_true(json_int64(json_get(root, ""), &value));
    assert_int_equal(value, 4);
    assert_null(json_get(root, "kkk"));
    assert_null(json_get(NULL, "k"));
    assert_null(json_get(root->first, "k"));
    arena_done(&arena);
}

static void getters_refuse_other_types(void **state)
{
    (void)state;
    struct arena arena;
    arena_init(&arena, 0, 0);
    const struct json_value *root = parse(&arena, "[\"1\", 1, true, null, 1.5, 1e400]");
    const struct json_value *string = root->first;
    const struct json_value *number = string->next;
    const struct json_value *boolean = number->next;
    const struct json_value *fraction = boolean->next->next;
    const char *text = "unchanged";
    int64_t whole = -7;
    double real = -7;
    bool flag = true;
    assert_false(json_string(number, &text));
    assert_false(json_string(NULL, &text));
    assert_string_equal(text, "unchanged");
    assert_false(json_int64(string, &whole));
    assert_false(json_int64(NULL, &whole));
    assert_false(json_int64(fraction, &whole));
    assert_int_equal(whole, -7);
    assert_false(json_double(string, &real));
    assert_false(json_double(fraction->next, &real));
    assert_true(real == -7);
    assert_true(json_double(fraction, &real));
    assert_true(real == 1.5);
    assert_false(json_bool(number, &flag));
    assert_false(json_bool(NULL, &flag));
    assert_true(flag);
    assert_true(json_string(string, &text));
    assert_string_equal(text, "1");
    assert_false(json_is_null(boolean));
    arena_done(&arena);
}

static void names_its_types(void **state)
{
    (void)state;
    assert_string_equal(json_type_name(JSON_NULL), "null");
    assert_string_equal(json_type_name(JSON_BOOL), "boolean");
    assert_string_equal(json_type_name(JSON_OBJECT), "object");
    assert_string_equal(json_type_name((enum json_type)77), "nothing");
}

struct bad_case {
    const char *text;
    int64_t line, column, offset;
    const char *sentence;
};

static void says_where_and_why(void **state)
{
    (void)state;
    static const struct bad_case cases[] = {
        {"", 1, 1, 0, "line 1, column 1: expected a value, found the end"},
        {" \n", 2, 1, 2, "line 2, column 1: expected a value, found the end"},
        {"{\n  \"a\": 1,\n  }", 3, 3, 14, "line 3, column 3: expected a key in quotes, found \"}\""},
        {"{\"a\" 1}", 1, 6, 5, "line 1, column 6: expected \":\" after the key, found \"1\""},
        {"[1 2]", 1, 4, 3, "line 1, column 4: expected \",\" or \"]\", found \"2\""},
        {"{\"a\":1 \"b\":2}", 1, 8, 7, "line 1, column 8: expected \",\" or \"}\", found \"\"\""},
        {"[1,]", 1, 4, 3, "line 1, column 4: expected a value, found \"]\""},
        {"[1", 1, 3, 2, "line 1, column 3: expected the \"]\" of an array, found the end"},
        {"{\"a\":1", 1, 7, 6, "line 1, column 7: expected the \"}\" of an object, found the end"},
        {"{a:1}", 1, 2, 1, "line 1, column 2: expected a key in quotes or \"}\", found \"a\""},
        {"\"a", 1, 3, 2, "line 1, column 3: expected the closing quote of a string, found the end"},
        {"\"a\tb\"", 1, 3, 2, "line 1, column 3: a control character in a string is not escaped"},
        {"\"a\\x\"", 1, 3, 2, "line 1, column 3: a string holds an invalid escape"},
        {"\"a\\u12G4\"", 1, 3, 2, "line 1, column 3: a string holds an invalid escape"},
        {"\"\xC3\x28\"", 1, 2, 1, "line 1, column 2: a string holds invalid UTF-8"},
        {"\"\\ud800 \"", 1, 2, 1, "line 1, column 2: a surrogate escape lacks its partner"},
        {"\"ab\\udc00\"", 1, 4, 3, "line 1, column 4: a surrogate escape lacks its partner"},
        {"01", 1, 2, 1, "line 1, column 2: expected the end after the value, found \"1\""},
        {"-", 1, 2, 1, "line 1, column 2: expected a digit, found the end"},
        {"[1.e3]", 1, 4, 3, "line 1, column 4: expected a digit, found \"e\""},
        {"[NaN]", 1, 2, 1, "line 1, column 2: expected a value, found \"N\""},
        {"[nul]", 1, 5, 4, "line 1, column 5: expected true, false or null, found \"]\""},
        {"{} {}", 1, 4, 3, "line 1, column 4: expected the end after the value, found \"{\""},
        {"\xEF\xBB\xBF{}", 1, 1, 0, "line 1, column 1: expected a value, found byte 0xEF"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        struct arena arena;
        arena_init(&arena, 0, 0);
        const struct json_value *root = NULL;
        struct as_error err = {0};
        as_status status = json_parse(cases[i].text, strlen(cases[i].text), NULL, &arena, &root, &err);
        assert_int_equal(status, AS_E_INVALID);
        assert_int_equal(err.status, AS_E_INVALID);
        assert_null(root);
        assert_string_equal(err.message, cases[i].sentence);
        assert_int_equal(err.line, cases[i].line);
        assert_int_equal(err.column, cases[i].column);
        assert_int_equal(err.offset, cases[i].offset);
        assert_int_equal(json_parse(cases[i].text, strlen(cases[i].text), NULL, &arena, &root, NULL), AS_E_INVALID);
        arena_done(&arena);
    }
}

static void repairs_strings_when_lossy(void **state)
{
    (void)state;
    static const struct {
        const char *text, *decoded;
    } cases[] = {
        {"\"a\xC3(b\"", "a\xEF\xBF\xBD(b"},
        {"\"\xF0\x9F\x98\"", "\xEF\xBF\xBD"},
        {"\"\xED\xA0\x80\"", "\xEF\xBF\xBD\xEF\xBF\xBD\xEF\xBF\xBD"},
        {"\"\xC0\x80\"", "\xEF\xBF\xBD\xEF\xBF\xBD"},
        {"\"\\ud800\\ud83d\\ude00\\udc00\"", "\xEF\xBF\xBD\xF0\x9F\x98\x80\xEF\xBF\xBD"},
        {"\"\\ud800\\n\"", "\xEF\xBF\xBD\n"},
        {"\"\\ud800\"", "\xEF\xBF\xBD"},
        {"\"\\ud800\xC3\xA9\"", "\xEF\xBF\xBD\xC3\xA9"},
    };
    struct json_limits limits = {.lossy = true};
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        struct arena arena;
        arena_init(&arena, 0, 0);
        const struct json_value *root = NULL;
        assert_int_equal(json_parse(cases[i].text, strlen(cases[i].text), &limits, &arena, &root, NULL), AS_OK);
        assert_string_equal(root->text, cases[i].decoded);
        arena_done(&arena);
    }
}

static void limits_are_exact(void **state)
{
    (void)state;
    struct arena arena;
    arena_init(&arena, 0, 0);
    const struct json_value *root = NULL;
    struct as_error err;
    struct json_limits limits = {.max_depth = 3, .max_string_bytes = 4};
    assert_int_equal(json_parse("[[[1]]]", 7, &limits, &arena, &root, NULL), AS_OK);
    assert_int_equal(json_parse("[[[[1]]]]", 9, &limits, &arena, &root, &err), AS_E_LIMIT);
    assert_int_equal(err.offset, 3);
    assert_int_equal(json_parse("\"abcd\"", 6, &limits, &arena, &root, NULL), AS_OK);
    assert_int_equal(json_parse("\"a\\nb\\n\"", 8, &limits, &arena, &root, NULL), AS_OK);
    assert_int_equal(json_parse("\"abcde\"", 7, &limits, &arena, &root, NULL), AS_E_LIMIT);
    assert_int_equal(json_parse("{\"abcd\\n\":1}", 12, &limits, &arena, &root, NULL), AS_E_LIMIT);
    assert_int_equal(json_parse("12345", 5, &limits, &arena, &root, NULL), AS_E_LIMIT);
    char deep[2 * (JSON_DEPTH_MAX + 1)];
    memset(deep, '[', JSON_DEPTH_MAX + 1);
    memset(deep + JSON_DEPTH_MAX + 1, ']', JSON_DEPTH_MAX + 1);
    limits = (struct json_limits){.max_depth = SIZE_MAX};
    assert_int_equal(json_parse(deep + 1, 2 * JSON_DEPTH_MAX, &limits, &arena, &root, NULL), AS_OK);
    assert_int_equal(json_parse(deep, sizeof deep, &limits, &arena, &root, NULL), AS_E_LIMIT);
    assert_int_equal(json_parse(deep + JSON_DEPTH_MAX - 127, 256, NULL, &arena, &root, NULL), AS_OK);
    assert_int_equal(json_parse(deep + JSON_DEPTH_MAX - 128, 258, NULL, &arena, &root, NULL), AS_E_LIMIT);
    arena_done(&arena);
    arena_init(&arena, 0, 256);
    root = NULL;
    assert_int_equal(json_parse("[1,2,3,4,5,6]", 13, NULL, &arena, &root, &err), AS_E_LIMIT);
    assert_null(root);
    arena_done(&arena);
}

static void strings_may_hold_nul(void **state)
{
    (void)state;
    struct arena arena;
    arena_init(&arena, 0, 0);
    const struct json_value *root = parse(&arena, "{\"a\\u0000b\":\"c\\u0000d\"}");
    assert_int_equal(root->first->key_len, 3);
    assert_memory_equal(root->first->key, "a\0b", 4);
    assert_int_equal(root->first->len, 3);
    assert_memory_equal(root->first->text, "c\0d", 4);
    assert_null(json_get(root, "a"));
    const struct json_value *bad = NULL;
    assert_int_equal(json_parse("[1]\0", 4, NULL, &arena, &bad, NULL), AS_E_INVALID);
    arena_done(&arena);
}

/* A line of a file: another "line 1" beside the file's own number would only mislead. */
static void a_line_names_its_column(void **state)
{
    (void)state;
    struct arena arena;
    struct as_error err = {0};
    const struct json_value *root = NULL;
    char deep[300];
    memset(deep, '[', sizeof deep);
    arena_init(&arena, 0, 0);
    assert_int_equal(json_parse_line("{\"a\":1}", 7, &arena, &root, &err), AS_OK);
    assert_int_equal(root->type, JSON_OBJECT);
    assert_int_equal(json_parse_line("{\"a\":}", 6, &arena, &root, &err), AS_E_INVALID);
    assert_int_equal(strncmp(err.message, "column 6: ", 10), 0);
    assert_int_equal(err.column, 6);
    assert_int_equal(json_parse_line("{", 1, &arena, &root, NULL), AS_E_INVALID);
    assert_int_equal(json_parse_line(deep, sizeof deep, &arena, &root, &err), AS_E_INVALID);
    assert_int_equal(err.status, AS_E_INVALID);
    arena_done(&arena);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(keeps_values_order_and_places),
        cmocka_unit_test(the_last_of_equal_keys_wins),
        cmocka_unit_test(getters_refuse_other_types),
        cmocka_unit_test(names_its_types),
        cmocka_unit_test(says_where_and_why),
        cmocka_unit_test(repairs_strings_when_lossy),
        cmocka_unit_test(limits_are_exact),
        cmocka_unit_test(strings_may_hold_nul),
        cmocka_unit_test(a_line_names_its_column),
    };
    return cmocka_run_group_tests_name("json_tree", tests, NULL, NULL);
}
