/* SPDX-License-Identifier: Apache-2.0 */
/* What a newer file of sets changes. */
#include "facts.h"

#include "recipe/diff.h"

static struct recipe_data sets_of(struct fixture *fixture, const char *sets)
{
    struct recipe_data data = {0};
    char *text = arena_printf(&fixture->arena, "{\"schema\":\"assay.recipe-sets.v1\",\"sets\":[%s]}", sets);
    struct recipe_text input = text_of(text);
    if (recipe_read_sets(&input, &fixture->arena, &data, &fixture->err) != AS_OK)
        fail_msg("%s", fixture->err.message);
    return data;
}

#define A             "{\"key\":\"a\",\"value\":1}"
#define B             "{\"key\":\"b\",\"value\":\"x\"}"
#define S(code, more) "{\"set_code\":\"" code "\",\"framework_code\":\"vllm\"," more "}"

static const char BEFORE[] = S("gone", "\"args\":[]") "," S("order", "\"args\":[" A "," B "]") "," S(
    "same",
    "\"args\":[" A
    "],\"env\":{\"E\":\"1\",\"F\":\"2\"}") "," S("value",
                                                 "\"args\":[" A "],\"env\":{\"E\":\"1\"},\"gpu_classes\":["
                                                 "\"h100\"]") "," S("words", "\"args\":[" A "],\"variant\":\"x\"");
static const char AFTER[] =
    S("words", "\"args\":[" A "],\"variant\":\"y\",\"recommended\":true,\"verified\":{\"h100\":\"verified\"}") "," S(
        "value",
        "\"args\":[{\"key\":\"a\",\"value\":2,\"join\":\"=\"}," B
        "],\"env\":{\"G\":\"3\"},\"gpu_classes\":[\"h100\",\"h200\"],"
        "\"tensor_parallel_size\":2") "," S("same",
                                            "\"args\":[" A
                                            "],\"env\":{\"F\":\"2\",\"E\":\"1\"}") "," S("order",
                                                                                         "\"args\":[" B "," A
                                                                                         "]") "," S("new",
                                                                                                    "\"args\":[]");

static void test_text(void **state)
{
    struct fixture *fixture = *state;
    struct recipe_data before = sets_of(fixture, BEFORE), after = sets_of(fixture, AFTER);
    struct recipe_diff diff = {0};
    struct strbuf out AS_AUTO_STRBUF;
    strbuf_init(&out, 0);
    assert_int_equal(recipe_diff_sets(&before, &after, &fixture->arena, &diff), AS_OK);
    recipe_diff_text(&diff, &out);
    assert_string_equal(strbuf_text(&out), "removed  gone\n"
                                           "added    new\n"
                                           "changed  order\n"
                                           "         args (order): a b -> b a\n"
                                           "changed  value\n"
                                           "         args.a: 1 -> 2 joined by =\n"
                                           "         args.b: (none) -> x\n"
                                           "         env.E: 1 -> (none)\n"
                                           "         env.G: (none) -> 3\n"
                                           "         gpu_classes: h100 -> h100, h200\n"
                                           "         tensor_parallel_size: 1 -> 2\n"
                                           "changed  words  (same command)\n"
                                           "         variant: x -> y\n"
                                           "         recommended: false -> true\n"
                                           "         verified.h100: (none) -> verified\n"
                                           "1 added, 1 removed, 3 changed, 1 the same\n");
}

static void test_json(void **state)
{
    struct fixture *fixture = *state;
    struct recipe_data before = sets_of(fixture, S("s", "\"args\":[" A "]")),
                       after = sets_of(fixture, S("s", "\"args\":[]"));
    struct recipe_diff diff = {0};
    struct json_writer writer;
    struct strbuf out AS_AUTO_STRBUF;
    strbuf_init(&out, 0);
    json_writer_init(&writer, &out, 0);
    assert_int_equal(recipe_diff_sets(&before, &after, &fixture->arena, &diff), AS_OK);
    recipe_diff_json(&diff, &writer);
    assert_int_equal(json_writer_status(&writer), AS_OK);
    assert_string_equal(
        strbuf_text(&out),
        "{\"added\":0,\"removed\":0,\"changed\":1,\"same\":0,\"sets\":[{\"set_code\":\"s\",\"change\":\"changed\","
        "\"launch_changed\":true,\"values\":[{\"member\":\"args.a\",\"before\":\"1\",\"after\":null}]}]}");
}

static void test_same(void **state)
{
    struct fixture *fixture = *state;
    struct recipe_data data = sets_of(fixture, BEFORE), none = {0};
    struct recipe_diff diff = {0};
    assert_int_equal(recipe_diff_sets(&data, &data, &fixture->arena, &diff), AS_OK);
    assert_int_equal(diff.set_count, 0);
    assert_int_equal(diff.same, 5);
    assert_int_equal(recipe_diff_sets(&none, &data, &fixture->arena, &diff), AS_OK);
    assert_int_equal(diff.added, 5);
    assert_int_equal(recipe_diff_sets(&none, &none, &fixture->arena, &diff), AS_OK);
    assert_int_equal(diff.set_count, 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_text),
        cmocka_unit_test(test_json),
        cmocka_unit_test(test_same),
    };
    return cmocka_run_group_tests(tests, fixture_open, fixture_close);
}
