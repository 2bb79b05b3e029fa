/* SPDX-License-Identifier: Apache-2.0 */
/* What readers refuse, with file, line, place and remedy; and what they make of what they take. */
#include "facts.h"

typedef as_status read_part(const struct recipe_text *input, struct arena *arena, struct recipe_data *data,
                            struct as_error *err);

static const struct {
    read_part *read;
    const char *text;
    const char *says;
} BAD[] = {
    {recipe_read_models, "[", "test.json: "},
    {recipe_read_models, "[]", "test.json:1: array where an object"},
    {recipe_read_models, "{}", "the member \"schema\" is missing"},
    {recipe_read_models, "{\"schema\":\"assay.recipe-models.v2\",\"models\":[]}", "another version"},
    {recipe_read_models, "{\"schema\":\"assay.recipe-models.v1\"}", "the member \"models\" is missing"},
    {recipe_read_models, "{\"schema\":\"assay.recipe-models.v1\",\"models\":{}}", "models is object"},
    {recipe_read_models,
     "{\"schema\":\"assay.recipe-models.v1\",\n\"models\":[\n{\"model_code\":\"a\",\"famly\":\"b\"}]}",
     "test.json:3: models[0]: the member \"famly\" is not known; nearest is \"family\""},
    {recipe_read_models, "{\"schema\":\"assay.recipe-models.v1\",\"models\":[{\"model_code\":\"a\"}]}",
     "the member \"family\" is missing"},
    {recipe_read_models, "{\"schema\":\"assay.recipe-models.v1\",\"models\":[{\"model_code\":\"\",\"family\":\"b\"}]}",
     "a text that is not empty"},
    {recipe_read_models,
     "{\"schema\":\"assay.recipe-models.v1\",\"models\":[{\"model_code\":\"a\\u0000b\",\"family\":\"b\"}]}",
     "model_code is string"},
    {recipe_read_models,
     "{\"schema\":\"assay.recipe-models.v1\",\"models\":[{\"model_code\":\"a\",\"family\":\"b\"},{\"model_code\":\"a\","
     "\"family\":\"b\"}]}",
     "models[1]: the model_code a is there twice"},
    {recipe_read_models,
     "{\"schema\":\"assay.recipe-models.v1\",\"models\":[{\"model_code\":\"a\",\"family\":\"b\",\"context_length_"
     "tokens\":-1}]}",
     "a whole number from 0"},
    {recipe_read_models,
     "{\"schema\":\"assay.recipe-models.v1\",\"models\":[{\"model_code\":\"a\",\"family\":\"b\",\"memory_floor_gb\":{"
     "\"bf16\":0}}]}",
     "memory_floor_gb.bf16"},
    {recipe_read_models,
     "{\"schema\":\"assay.recipe-models.v1\",\"models\":[{\"model_code\":\"a\",\"family\":\"b\",\"config\":{\"layer\":"
     "4}}]}",
     "nearest is \"layers\""},
    {recipe_read_gpus,
     "{\"schema\":\"assay.recipe-gpus.v1\",\"gpus\":[{\"gpu_class\":\"x\",\"name\":\"X\",\"vendor\":\"Nvidia\","
     "\"memory_gib\":1}]}",
     "vendor is none of"},
    {recipe_read_gpus,
     "{\"schema\":\"assay.recipe-gpus.v1\",\"gpus\":[{\"gpu_class\":\"x\",\"name\":\"X\",\"vendor\":\"AMD\",\"memory_"
     "gib\":1,"
     "\"aliases\":[\"y\"]},{\"gpu_class\":\"y\",\"name\":\"Y\",\"vendor\":\"AMD\",\"memory_gib\":1}]}",
     "the gpu_class y is there twice"},
    {recipe_read_frameworks,
     "{\"schema\":\"assay.recipe-frameworks.v1\",\"frameworks\":[{\"framework_code\":\"f\",\"name\":\"F\",\"tools\":[],"
     "\"parallel\":{},\"flags\":[{\"key\":\"a\",\"type\":\"number\",\"flag\":\"--a\"}]}]}",
     "f.flags[0]: type is none of"},
    {recipe_read_frameworks,
     "{\"schema\":\"assay.recipe-frameworks.v1\",\"frameworks\":[{\"framework_code\":\"f\",\"name\":\"F\",\"tools\":[],"
     "\"parallel\":{},\"flags\":[{\"key\":\"a\",\"type\":\"int\",\"flag\":\"--a\"},{\"key\":\"a\",\"type\":\"int\","
     "\"flag\":\"--b\"}]}]}",
     "the key a is there twice"},
    {recipe_read_frameworks,
     "{\"schema\":\"assay.recipe-frameworks.v1\",\"frameworks\":[{\"framework_code\":\"f\",\"name\":\"F\",\"tools\":[],"
     "\"parallel\":{},\"flags\":[{\"key\":\"a\",\"type\":\"int\",\"flag\":\"a\"}]}]}",
     "does not begin with a dash"},
    {recipe_read_sets,
     "{\"schema\":\"assay.recipe-sets.v1\",\"sets\":[{\"set_code\":\"s\",\"framework_code\":\"f\",\"args\":[{\"key\":"
     "\"a\",\"value\":null}]}]}",
     "s.args[0]: the member \"value\" is missing"},
    {recipe_read_sets,
     "{\"schema\":\"assay.recipe-sets.v1\",\"sets\":[{\"set_code\":\"s\",\"framework_code\":\"f\",\"args\":[{\"key\":"
     "\"a\",\"value\":1,\"join\":\":\"}]}]}",
     "join is neither"},
    {recipe_read_sets,
     "{\"schema\":\"assay.recipe-sets.v1\",\"sets\":[{\"set_code\":\"s\",\"framework_code\":\"f\",\"args\":[],"
     "\"source\":\"x\"}]}",
     "names none of the file's sources"},
    {recipe_read_sets,
     "{\"schema\":\"assay.recipe-sets.v1\",\"sets\":[{\"set_code\":\"s\",\"framework_code\":\"f\",\"args\":[]},"
     "{\"set_code\":\"s\",\"framework_code\":\"f\",\"args\":[]}]}",
     "the set_code s is there twice"},
    {recipe_read_sets,
     "{\"schema\":\"assay.recipe-sets.v1\",\"sets\":[{\"set_code\":\"s\",\"framework_code\":\"f\",\"args\":[],"
     "\"framework_version_min\":\"soon\"}]}",
     "no version such as"},
    {recipe_read_sets,
     "{\"schema\":\"assay.recipe-sets.v1\",\"sets\":[{\"set_code\":\"s\",\"framework_code\":\"f\",\"args\":[],\"env\":{"
     "\"A\":1}}]}",
     "env.A is no text"},
    {recipe_read_sets,
     "{\"schema\":\"assay.recipe-sets.v1\",\"sets\":[{\"set_code\":\"s\",\"framework_code\":\"f\",\"args\":[],\"env\":{"
     "\"A\":\"1\",\"A\":\"1\"}}]}",
     "env.A is there twice"},
    {recipe_read_sets,
     "{\"schema\":\"assay.recipe-sets.v1\",\"sets\":[{\"set_code\":\"s\",\"framework_code\":\"f\",\"args\":[{\"key\":"
     "\"a\",\"value\":1},"
     "{\"key\":\"a\",\"value\":1}]}]}",
     "s.args[1]: the key a is there twice"},
};

static void test_bad(void **state)
{
    struct fixture *fixture = *state;
    for (size_t i = 0; i < ARRAY_COUNT(BAD); i++) {
        struct recipe_data data = {0};
        struct recipe_text input = text_of(BAD[i].text);
        struct as_error err = {0};
        assert_int_equal(BAD[i].read(&input, &fixture->arena, &data, &err), AS_E_INVALID);
        if (!strstr(err.message, BAD[i].says))
            fail_msg("\"%s\" does not say \"%s\"", err.message, BAD[i].says);
        assert_int_equal(data.model_count + data.gpu_count + data.framework_count + data.set_count, 0);
    }
}

static void test_values(void **state)
{
    struct fixture *fixture = *state;
    const struct recipe_set *set = set_of(
        fixture,
        "\"args\":[{\"key\":\"a\",\"value\":0.90},{\"key\":\"b\",\"value\":true},{\"key\":\"c\",\"value\":[1,\"x\"]},"
        "{\"key\":\"d\",\"value\":{\"z\":1,\"a\":[2]}},{\"key\":\"e\",\"value\":\"\"}],\"precision\":null");
    static const char *const texts[] = {"0.90", "true", "[1,\"x\"]", "{\"z\":1,\"a\":[2]}", ""};
    assert_int_equal(set->args.count, ARRAY_COUNT(texts));
    for (size_t i = 0; i < ARRAY_COUNT(texts); i++)
        assert_string_equal(set->args.items[i].text, texts[i]);
    assert_int_equal(set->tensor_parallel_size, 1);
    assert_int_equal(set->node_count, 1);
    assert_int_equal(set->expert_parallel_size, 0);
    assert_null(set->precision);
    assert_null(set->tool);
}

static void test_model(void **state)
{
    struct fixture *fixture = *state;
    struct recipe_text input = text_of(
        "{\"schema\":\"assay.recipe-models.v1\",\"sources\":[{\"code\":\"r\",\"repository\":\"o/r\",\"commit\":\"c\","
        "\"licence\":\"MIT\"}],\"models\":[{\"model_code\":\"o/m\",\"family\":\"M\",\"parameters\":7e9,"
        "\"memory_floor_gb\":{\"bf16\":17,\"fp8\":8.5},\"derived_precisions\":[\"fp8\"],\"config\":{\"layers\":32},"
        "\"source\":\"r\"}]}");
    assert_int_equal(recipe_read_models(&input, &fixture->arena, &fixture->data, &fixture->err), AS_OK);
    const struct recipe_model *model = recipe_model(&fixture->data, "o/m");
    assert_non_null(model);
    assert_string_equal(model->base_code, "o/m");
    assert_true(model->parameters > 6.9e9 && model->parameters < 7.1e9);
    assert_int_equal(model->memory_count, 2);
    assert_false(model->memory[0].is_derived);
    assert_true(model->memory[1].is_derived);
    assert_int_equal(model->layers, 32);
    assert_int_equal(model->kv_heads, 0);
    assert_string_equal(recipe_source(&fixture->data, "r")->licence, "MIT");
    assert_null(recipe_model(&fixture->data, NULL));
    assert_null(recipe_source(&fixture->data, "q"));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_bad),
        cmocka_unit_test(test_values),
        cmocka_unit_test(test_model),
    };
    return cmocka_run_group_tests(tests, fixture_open, fixture_close);
}
