/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The shipped sets: each passes its own check, needs the GPUs it says, and renders to the words of a second renderer
 * (render.py, written from the rules alone); digests are those of Python's hashlib over its own canonical JSON.
 */
#include "base/json_write.h"
#include "recipe/engine_args.h"

#include "support/check.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static struct arena arena;
static struct recipe_data data;

static int load(void **state)
{
    struct as_error err = {0};
    (void)state;
    arena_init(&arena, 0, 0);
    if (recipe_load("data/recipes", &arena, &data, &err) == AS_OK)
        return 0;
    (void)fprintf(stderr, "%s\n", err.message);
    return -1;
}

static int unload(void **state)
{
    (void)state;
    arena_done(&arena);
    return 0;
}

static void test_parts(void **state)
{
    (void)state;
    assert_true(data.set_count > 1900);
    assert_true(data.model_count > 300);
    assert_int_equal(data.gpu_count, 20);
    assert_int_equal(data.framework_count, 4);
    assert_ptr_equal(recipe_gpu(&data, "a100"), recipe_gpu(&data, "a100-80"));
    assert_null(recipe_gpu(&data, "H100"));
    /* The two codes the specification names. */
    const struct recipe_set *h100 = recipe_set(&data, "vllm-llama33-70b-instruct-h100-h200-tp8");
    const struct recipe_set *b200 = recipe_set(&data, "vllm-llama33-70b-instruct-b200-gb200-tp1-fused");
    assert_non_null(h100);
    assert_non_null(b200);
    assert_int_equal(h100->gpus_per_replica, 8);
    assert_non_null(recipe_set_arg(b200, "compilation_config"));
    assert_string_equal(recipe_set_default(&data, "sglang", "metrumbench-imagegen")->code,
                        "sglang-metrumbench-imagegen");
    assert_string_equal(recipe_set_default(&data, "vllm-omni", "metrumbench-imagegen")->code,
                        "vllm-omni-metrumbench-imagegen");
    assert_null(recipe_set_default(&data, "vllm", "metrumbench-imagegen"));
}

static void check_links(const struct recipe_set *set)
{
    if (set->model_code && !recipe_model(&data, set->model_code))
        fail_msg("%s: model %s is not there", set->code, set->model_code);
    for (size_t i = 0; i < set->gpu_classes.count; i++)
        if (!recipe_gpu(&data, set->gpu_classes.items[i]))
            fail_msg("%s: GPU class %s is not there", set->code, set->gpu_classes.items[i]);
    if (!set->is_default && (!set->source || !set->path || strlen(recipe_source(&data, set->source)->commit) != 40))
        fail_msg("%s: no source", set->code);
}

static void test_every_set(void **state)
{
    (void)state;
    for (size_t i = 0; i < data.set_count; i++) {
        const struct recipe_set *set = &data.sets[i];
        const struct recipe_framework *framework = recipe_framework(&data, set->framework_code);
        struct recipe_parallel parallel = {0};
        struct as_error err = {0};
        assert_non_null(framework);
        if (recipe_set_check(framework, set->framework_version_min, set, &err) != AS_OK)
            fail_msg("%s: %s", set->code, err.message);
        assert_int_equal(recipe_set_parallel(framework, set, &parallel, &err), AS_OK);
        if (parallel.gpus != set->gpus_per_replica || parallel.tensor != set->tensor_parallel_size)
            fail_msg("%s: %lld GPUs, %lld stated", set->code, (long long)parallel.gpus,
                     (long long)set->gpus_per_replica);
        check_links(set);
    }
}

/* One line of our own: code, digest, words, as JSON. */
static void put_set(const struct recipe_set *set, struct strbuf *out)
{
    const struct recipe_framework *framework = recipe_framework(&data, set->framework_code);
    char digest[RECIPE_DIGEST_BYTES];
    struct recipe_list words = {0};
    struct as_error err = {0};
    struct json_writer writer;
    assert_int_equal(recipe_set_render(framework, set, &arena, &words, &err), AS_OK);
    assert_int_equal(recipe_set_digest(framework, set, digest, &err), AS_OK);
    json_writer_init(&writer, out, 0);
    json_open_array(&writer);
    json_put_string(&writer, set->code);
    json_put_string(&writer, digest);
    for (size_t i = 0; i < words.count; i++)
        json_put_string(&writer, words.items[i]);
    json_close_array(&writer);
    assert_int_equal(json_writer_status(&writer), AS_OK);
    strbuf_addc(out, '\n');
}

static void test_second_renderer(void **state)
{
    char *line = NULL;
    size_t capacity = 0, count = 0;
    (void)state;
    FILE *reference = popen("python3 tests/golden/recipe/render.py data/recipes", "r");
    assert_non_null(reference);
    for (ssize_t len; (len = getline(&line, &capacity, reference)) > 0; count++) {
        struct strbuf ours AS_AUTO_STRBUF;
        strbuf_init(&ours, 0);
        assert_true(count < data.set_count);
        put_set(&data.sets[count], &ours);
        if (strcmp(strbuf_text(&ours), line) != 0)
            fail_msg("ours:   %sPython: %s", strbuf_text(&ours), line);
    }
    free(line);
    assert_int_equal(pclose(reference), 0);
    assert_int_equal(count, data.set_count);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_parts),
        cmocka_unit_test(test_every_set),
        cmocka_unit_test(test_second_renderer),
    };
    return cmocka_run_group_tests(tests, load, unload);
}
