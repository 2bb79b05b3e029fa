/* SPDX-License-Identifier: Apache-2.0 */
#include "run/extra_inputs.h"

#include "support/check.h"

#include <string.h>

static void joined(void **state)
{
    (void)state;
    static const struct {
        const char *items[3], *body, *wanted;
    } rows[] = {
        {{"top_p:0.9"}, NULL, "{\"top_p\":0.9}"},
        {{"a:1", "b:true", "c:null"}, NULL, "{\"a\":1,\"b\":true,\"c\":null}"},
        {{"word:some text", "path:a:b"}, NULL, "{\"word\":\"some text\",\"path\":\"a:b\"}"},
        {{"quoted:\"1\""}, NULL, "{\"quoted\":\"1\"}"},
        {{"list:[1,{\"x\":2}]"}, NULL, "{\"list\":[1,{\"x\":2}]}"},
        {{"{\"d\":2,\"e\":\"f\"}", "g:3"}, NULL, "{\"d\":2,\"e\":\"f\",\"g\":3}"},
        {{"a:1"}, "{\"b\":{\"c\":[]}}", "{\"b\":{\"c\":[]},\"a\":1}"},
        {{NULL}, "{}", "{}"},
    };
    for (size_t i = 0; i < ARRAY_COUNT(rows); i++) {
        struct opt_list list = {.items = (const char **)(uintptr_t)rows[i].items};
        struct as_error err = {0};
        struct arena arena;
        const char *text = NULL;
        while (list.count < 3 && rows[i].items[list.count])
            list.count++;
        arena_init(&arena, 0, 0);
        for (size_t j = 0; j < list.count; j++)
            assert_int_equal(extra_inputs_check(list.items[j], &err), AS_OK);
        assert_int_equal(extra_inputs_join(&list, rows[i].body, &arena, &text, &err), AS_OK);
        assert_string_equal(text, rows[i].wanted);
        arena_done(&arena);
    }
}

static void refused(void **state)
{
    (void)state;
    static const char *const bad[] = {"", "name", ":1", "name:", "{\"a\":1", "{\"a\":1} x"};
    for (size_t i = 0; i < ARRAY_COUNT(bad); i++) {
        struct as_error err = {0};
        assert_int_equal(extra_inputs_check(bad[i], &err), AS_E_USAGE);
        assert_true(err.message[0] != '\0');
    }
}

static void given_twice(void **state)
{
    (void)state;
    static const char *const twice[] = {"a:1", "{\"b\":1,\"a\":2}"};
    static const char *const body[] = {"a:1"};
    struct opt_list items = {(const char **)(uintptr_t)twice, 2}, one = {(const char **)(uintptr_t)body, 1};
    struct as_error err = {0};
    struct arena arena;
    const char *text = "untouched";
    arena_init(&arena, 0, 0);
    assert_int_equal(extra_inputs_join(&items, NULL, &arena, &text, &err), AS_E_USAGE);
    assert_non_null(strstr(err.message, "\"a\" is given twice"));
    assert_int_equal(extra_inputs_join(&one, "{\"a\":null}", &arena, &text, &err), AS_E_USAGE);
    assert_string_equal(text, "untouched");
    arena_done(&arena);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(joined), cmocka_unit_test(refused), cmocka_unit_test(given_twice)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
