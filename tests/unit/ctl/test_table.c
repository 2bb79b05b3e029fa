/* SPDX-License-Identifier: Apache-2.0 */
#include "ctl/kinds.h"
#include "ctl/problem.h"
#include "ctl/table.h"
#include "support/check.h"

#include <string.h>

static const struct json_value *parse(struct arena *arena, const char *text)
{
    const struct json_value *value = NULL;
    struct as_error err;
    assert_int_equal(json_parse(text, strlen(text), NULL, arena, &value, &err), AS_OK);
    return value;
}

static void check_table(const char *rows, const char *columns, size_t width, const char *wanted)
{
    struct arena arena;
    struct strbuf out;
    struct table_columns list = {.count = 0};
    arena_init(&arena, 0, 0);
    strbuf_init(&out, 0);
    assert_int_equal(table_columns_add(&list, columns, &arena), AS_OK);
    assert_int_equal(table_write(&out, parse(&arena, rows), &list, width, &arena), AS_OK);
    assert_string_equal(strbuf_text(&out), wanted);
    strbuf_done(&out);
    arena_done(&arena);
}

static void test_alignment(void **state)
{
    (void)state;
    check_table("[{\"a\":\"x\",\"n\":5},{\"a\":\"long\",\"n\":1234},{\"n\":null}]", "a, n", 0,
                "A        N\nx        5\nlong  1234\n-        -\n");
    check_table("[]", "a b", 0, "A  B\n");
    check_table("[{\"a\":true,\"b\":[1,{\"c\":null}]}]", "a b missing", 0,
                "A     B               MISSING\ntrue  [1,{\"c\":null}]        -\n");
}

static void test_controls_are_visible(void **state)
{
    (void)state;
    check_table("[{\"a\":\"x\\n\\t\\u001b[31m\\u007f\\u009b\"}]", "a", 0, "A\nx\\n\\t\\x1b[31m\\x7f\\x9b\n");
}

static void test_lines_fit(void **state)
{
    (void)state;
    check_table("[{\"a\":\"abcdefghijklmnop\",\"n\":12345678}]", "a n", 20,
                "A                  N\nabcdefghi\xE2\x80\xA6  12345678\n");
    /* Nothing is cut below six, and numbers never. */
    check_table("[{\"a\":\"abcdefgh\",\"n\":12345678}]", "a n", 3, "A              N\nabcde\xE2\x80\xA6  12345678\n");
    check_table("[{\"a\":\"\xC3\xA9\xC3\xA9\",\"b\":\"x\"}]", "a b", 80, "A   B\n\xC3\xA9\xC3\xA9  x\n");
}

static void check_problem(long http_status, const char *body, as_status status, const char *sentence)
{
    struct arena arena;
    struct as_error err = {0};
    arena_init(&arena, 0, 0);
    assert_int_equal(problem_status(http_status, body ? parse(&arena, body) : NULL, &err), status);
    assert_string_equal(err.message, sentence);
    arena_done(&arena);
}

static void test_problems(void **state)
{
    (void)state;
    check_problem(422,
                  "{\"detail\":\"d\",\"errors\":[{\"pointer\":\"/gpus/0/gpu_index\",\"code\":\"c\",\"detail\":\"must be a "
                  "number\"},{\"pointer\":\"?limit\",\"code\":\"c\",\"detail\":\"is\\u001b bad\"}]}",
                  AS_E_INVALID, "gpus.0.gpu_index must be a number; limit is\\x1b bad");
    check_problem(409, "{\"type\":\"urn:assay:problem:exists\",\"detail\":\"taken\"}", AS_E_EXISTS, "taken");
    check_problem(409, "{\"type\":\"urn:assay:problem:state\",\"detail\":\"ended\"}", AS_E_STATE, "ended");
    check_problem(412, "{\"title\":\"changed\"}", AS_E_STATE, "changed");
    check_problem(404, "{\"detail\":\"none\"}", AS_E_NOTFOUND, "none");
    check_problem(403, "{\"detail\":\"no\"}", AS_E_DENIED, "no");
    check_problem(401, NULL, AS_E_DENIED,
                  "the server does not know who asks (no token): give --token-file or ASSAY_TOKEN");
    check_problem(502, NULL, AS_E_NETWORK, "the server answered with status 502 and no reason");
    check_problem(500, "[]", AS_E_NETWORK, "the server answered with status 500 and no reason");
}

static void test_paths(void **state)
{
    struct strbuf path;
    const char *const keys[] = {"a/b c\xC3\xA9", ".."};
    (void)state;
    strbuf_init(&path, 0);
    kind_add_path(&path, kind_find("servers"), keys, 2);
    assert_string_equal(strbuf_text(&path), "/api/v1/servers/a%2Fb%20c%C3%A9/%2E%2E");
    strbuf_done(&path);
    assert_ptr_equal(kind_find("engine_args_sets"), kind_find("Engine-Args-Set"));
    assert_null(kind_find("engine"));
    assert_null(kind_find(""));
    assert_int_equal(kind_key_count(kind_find("framework-versions")), 3);
    assert_int_equal(kind_key_count(kind_find("audit-log")), 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_alignment), cmocka_unit_test(test_controls_are_visible), cmocka_unit_test(test_lines_fit),
        cmocka_unit_test(test_problems),  cmocka_unit_test(test_paths),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
