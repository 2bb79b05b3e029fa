/* SPDX-License-Identifier: Apache-2.0 */
/* The guide: every readiness check is told of, and the worked figures are those the shipped facts give. */
#include "recipe/readiness.h"

#include "support/check.h"
#include "support/golden.h"

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

static void expect_on_page(const char *page, const char *text)
{
    if (!strstr(page, text))
        fail_msg("the page does not say: %s", text);
}

static void test_checks(void **state)
{
    size_t len = 0;
    (void)state;
    char *page = golden_read("docs/guide/lifecycle.md", &len);
    for (int i = 0; i < RECIPE_CHECK_COUNT; i++) {
        enum recipe_check_code code = (enum recipe_check_code)i;
        expect_on_page(page,
                       arena_printf(&arena, "| `%s` | %s | %s |", recipe_check_name(code), recipe_check_sentence(code),
                                    recipe_check_is_overridable(code) ? "yes" : "no"));
    }
    free(page);
}

/* The figures of one line of the page: set, weights a GPU, bytes a token, tokens, requests of 2,112 tokens. */
static const char *estimate_line(const char *set_code, const char *gpu)
{
    const struct recipe_set *set = recipe_set(&data, set_code);
    assert_non_null(set);
    struct recipe_facts facts = {.tool = "metrumbench-llm",
                                 .model = recipe_model(&data, set->model_code),
                                 .model_code = set->model_code,
                                 .gpu = recipe_gpu(&data, gpu),
                                 .framework = recipe_framework(&data, set->framework_code),
                                 .framework_version = "0.24.0",
                                 .set = set,
                                 .host_gpus = 8,
                                 .replicas = 1,
                                 .isl_tokens = 1024,
                                 .osl_tokens = 1024,
                                 .template_tokens = -1,
                                 .concurrency = 1};
    struct recipe_memory_estimate memory;
    recipe_estimate_memory(&facts, &memory);
    return arena_printf(&arena, "| `%s` on %s | %.1f | %.1f | %.0f | %.0f | %.0f |", set_code, gpu,
                        memory.usable_bytes / 1073741824.0, memory.weights_bytes / 1073741824.0,
                        memory.kv_bytes_per_token, memory.kv_tokens, memory.requests);
}

static void test_estimates(void **state)
{
    static const char *const cases[][2] = {{"vllm-llama33-70b-instruct-h100-h200-tp8", "h100"},
                                           {"vllm-llama33-70b-instruct-h200-tp2", "h200"},
                                           {"vllm-llama33-70b-instruct-fp8-h100-tp2", "h100"},
                                           {"vllm-llama33-70b-instruct-b200-gb200-tp1-fused", "b200"}};
    size_t len = 0;
    (void)state;
    char *page = golden_read("docs/guide/engine-arguments.md", &len);
    for (size_t i = 0; i < ARRAY_COUNT(cases); i++)
        expect_on_page(page, estimate_line(cases[i][0], cases[i][1]));
    free(page);
}

static void test_counts(void **state)
{
    size_t len = 0, known = 0;
    (void)state;
    char *page = golden_read("docs/guide/engine-arguments.md", &len);
    for (size_t i = 0; i < data.model_count; i++) {
        const struct recipe_model *model = &data.models[i];
        known += model->layers > 0 && (model->latent_kv_values > 0 || (model->kv_heads > 0 && model->head_dim > 0));
    }
    expect_on_page(page, arena_printf(&arena, "known for %zu of %zu\nmodels", known, data.model_count));
    expect_on_page(page, arena_printf(&arena, "holds %zu,%03zu sets", data.set_count / 1000, data.set_count % 1000));
    free(page);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_checks),
        cmocka_unit_test(test_estimates),
        cmocka_unit_test(test_counts),
    };
    return cmocka_run_group_tests(tests, load, unload);
}
