/* SPDX-License-Identifier: Apache-2.0 */
#include "support/check.h"

#include "plane/shape.h"

#include <stdio.h>
#include <string.h>

static const char *const COLOURS[] = {"red", "green", NULL};
static const struct field PART_FIELDS[] = {
    {.name = "key", .type = FIELD_KEY, .flags = FIELD_REQUIRED},
    {.name = "count", .type = FIELD_INT, .min = 1, .max = 10},
};
static const struct shape PART = {.name = "Part", SHAPE_FIELDS(PART_FIELDS)};
static const struct field FIELDS[] = {
    {.name = "code", .type = FIELD_CODE, .flags = FIELD_REQUIRED | FIELD_FIXED},
    {.name = "name", .type = FIELD_TEXT, .max = 5},
    {.name = "prose", .type = FIELD_PROSE},
    {.name = "model", .type = FIELD_NAME},
    {.name = "count", .type = FIELD_INT, .min = 1, .max = 10},
    {.name = "ratio", .type = FIELD_NUMBER, .flags = FIELD_NULLABLE},
    {.name = "flag", .type = FIELD_BOOL},
    {.name = "colour", .type = FIELD_ENUM, .choices = COLOURS},
    {.name = "at", .type = FIELD_TIME},
    {.name = "any", .type = FIELD_JSON, .flags = FIELD_ANY},
    {.name = "object", .type = FIELD_JSON},
    {.name = "parts", .type = FIELD_LIST, .shape = &PART, .max = 2},
    {.name = "given", .type = FIELD_TEXT, .flags = FIELD_GIVEN},
};
static const struct shape SHAPE = {.name = "Thing", SHAPE_FIELDS(FIELDS)};

/* What a body is answered: pointers and codes, "" when it fits. */
static void expect(enum shape_mode mode, const char *body, const char *findings)
{
    struct arena arena;
    struct problem problem = {.is_set = false};
    const struct json_value *tree;
    char found[600] = "";
    size_t len = 0;
    arena_init(&arena, 0, 0);
    assert_int_equal(json_parse(body, strlen(body), NULL, &arena, &tree, NULL), AS_OK);
    as_status status = shape_check(&SHAPE, tree, mode, "", &problem);
    for (uint32_t i = 0; i < problem.error_count; i++)
        len += (size_t)snprintf(found + len, sizeof found - len, "%s%s %s", i ? ", " : "", problem.errors[i].pointer,
                                problem.errors[i].code);
    assert_string_equal(found, findings);
    assert_int_equal(status == AS_OK, findings[0] == '\0');
    arena_done(&arena);
}

static void what_fits_is_taken(void **state)
{
    (void)state;
    expect(SHAPE_CREATE,
           "{\"code\":\"a.b-1\",\"name\":\"\\u00e4\\u00f6\\u00fcxy\",\"prose\":\"a\\nb\",\"model\":\"Org/"
           "Name-7B\",\"count\":10,"
           "\"ratio\":null,\"flag\":true,\"colour\":\"red\",\"at\":\"2026-11-30T19:05:33Z\",\"any\":[1],\"object\":{},"
           "\"parts\":[{\"key\":\"_x\"}]}",
           "");
    expect(SHAPE_CHANGE, "{}", "");
}

static void what_does_not_is_named(void **state)
{
    static const struct {
        const char *body, *findings;
    } cases[] = {
        {"{}", "/code required"},
        {"[]", " type"},
        {"{\"code\":\"x\",\"nope\":1}", "/nope unknown"},
        {"{\"code\":\"x\",\"a/b~c\":1}", "/a~1b~0c unknown"},
        {"{\"code\":\"x\",\"given\":\"x\"}", "/given read-only"},
        {"{\"code\":\"x\",\"name\":\"1\",\"name\":\"2\"}", "/name twice"},
        {"{\"code\":\"X\"}", "/code spelling"},
        {"{\"code\":\"-x\"}", "/code spelling"},
        {"{\"code\":\"\"}", "/code length"},
        {"{\"code\":\"x\",\"name\":\"123456\"}", "/name length"},
        {"{\"code\":\"x\",\"name\":\"a\\nb\"}", "/name spelling"},
        {"{\"code\":\"x\",\"name\":\"a\\u0000\"}", "/name spelling"},
        {"{\"code\":\"x\",\"prose\":\"\\u001b\"}", "/prose spelling"},
        {"{\"code\":\"x\",\"count\":0}", "/count range"},
        {"{\"code\":\"x\",\"count\":1.5}", "/count type"},
        {"{\"code\":\"x\",\"count\":\"1\"}", "/count type"},
        {"{\"code\":\"x\",\"count\":null}", "/count type"},
        {"{\"code\":\"x\",\"ratio\":1e999}", "/ratio range"},
        {"{\"code\":\"x\",\"flag\":0}", "/flag type"},
        {"{\"code\":\"x\",\"colour\":\"blue\"}", "/colour choice"},
        {"{\"code\":\"x\",\"at\":\"yesterday\"}", "/at type"},
        {"{\"code\":\"x\",\"object\":[]}", "/object type"},
        {"{\"code\":\"x\",\"parts\":{}}", "/parts type"},
        {"{\"code\":\"x\",\"parts\":[{},{\"key\":\"a\",\"count\":11}]}", "/parts/0/key required, /parts/1/count range"},
        {"{\"code\":\"x\",\"parts\":[1,2,3]}", "/parts length"},
        {"{\"code\":1,\"name\":2}", "/code type, /name type"},
    };
    (void)state;
    for (size_t i = 0; i < ARRAY_COUNT(cases); i++)
        expect(SHAPE_CREATE, cases[i].body, cases[i].findings);
}

static void what_is_fixed_is_not_changed(void **state)
{
    (void)state;
    expect(SHAPE_CHANGE, "{\"code\":\"x\"}", "/code fixed");
    expect(SHAPE_CHANGE, "{\"name\":\"x\"}", "");
}

static void many_findings_do_not_overflow(void **state)
{
    char body[1200];
    size_t len = (size_t)snprintf(body, sizeof body, "{\"code\":\"x\"");
    struct arena arena;
    struct problem problem = {.is_set = false};
    const struct json_value *tree;
    (void)state;
    for (int i = 0; i < 40; i++)
        len += (size_t)snprintf(body + len, sizeof body - len, ",\"unknown%d\":1", i);
    (void)snprintf(body + len, sizeof body - len, "}");
    arena_init(&arena, 0, 0);
    assert_int_equal(json_parse(body, strlen(body), NULL, &arena, &tree, NULL), AS_OK);
    assert_int_equal(shape_check(&SHAPE, tree, SHAPE_CREATE, "", &problem), AS_E_INVALID);
    assert_int_equal(problem.error_count, PROBLEM_ERRORS_MAX);
    arena_done(&arena);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(what_fits_is_taken),
        cmocka_unit_test(what_does_not_is_named),
        cmocka_unit_test(what_is_fixed_is_not_changed),
        cmocka_unit_test(many_findings_do_not_overflow),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
