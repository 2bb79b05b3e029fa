/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The worked examples of docs/guide/command-templates.md: each JSON block of the page is the file in examples/templates
 * that the line above it names, and the sh block after it holds the commands that its sets resolve to.
 */
#include "recipe/command.h"
#include "recipe/readiness.h"

#include "base/file.h"
#include "support/check.h"
#include "support/golden.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define PAGE "docs/guide/command-templates.md"

static struct arena arena;
static struct recipe_data data;
static struct recipe_templates templates;

static const char *read_text(const char *path)
{
    struct strbuf text AS_AUTO_STRBUF;
    struct as_error err = {0};
    strbuf_init(&text, 0);
    if (file_read(path, &text, &err) != AS_OK)
        fail_msg("%s", err.message);
    return arena_strndup(&arena, strbuf_text(&text), text.len);
}

static int load(void **state)
{
    struct as_error err = {0};
    (void)state;
    arena_init(&arena, 0, 0);
    const char *text = read_text("data/recipes/templates.json");
    struct recipe_text input = {"templates.json", text, strlen(text)};
    if (recipe_load("data/recipes", &arena, &data, &err) == AS_OK &&
        recipe_read_templates(&input, &arena, &templates, &err) == AS_OK)
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

/* The block after `at` that opens with the fence; *ret_end is behind it. */
static const char *block_after(const char *at, const char *fence, const char **ret_end)
{
    const char *open = strstr(at, fence);
    if (!open)
        fail_msg("no block %s", fence);
    open += strlen(fence);
    const char *close = strstr(open, "```\n");
    assert_non_null(close);
    *ret_end = close + 4;
    return arena_strndup(&arena, open, (size_t)(close - open));
}

static enum recipe_layer layer_of(const char *name)
{
    for (int i = 0; i < RECIPE_LAYER_COUNT; i++)
        if (strcmp(recipe_layer_name((enum recipe_layer)i), name) == 0)
            return (enum recipe_layer)i;
    fail_msg("%s is no layer", name);
    return RECIPE_LAYER_COUNT;
}

static struct recipe_value value_of(const struct json_value *json, enum recipe_layer layer)
{
    struct recipe_value value = {.name = json->key, .kind = RECIPE_TEXT, .text = json->text, .layer = layer};
    if (json->type == JSON_NUMBER)
        value.kind = RECIPE_NUMBER;
    if (json->type != JSON_ARRAY)
        return value;
    const char **items = arena_calloc(&arena, json->len + 1, sizeof(*items));
    assert_non_null(items);
    for (const struct json_value *item = json->first; item; item = item->next)
        items[value.list.count++] = item->text;
    value.kind = RECIPE_LIST;
    value.list.items = items;
    return value;
}

static struct recipe_values values_of(const struct json_value *layers)
{
    struct recipe_value *values = arena_calloc(&arena, 64, sizeof(*values));
    size_t count = 0;
    assert_non_null(values);
    for (const struct json_value *layer = layers->first; layer; layer = layer->next)
        for (const struct json_value *value = layer->first; value; value = value->next) {
            assert_true(count < 64);
            values[count++] = value_of(value, layer_of(layer->key));
        }
    return (struct recipe_values){values, count};
}

/* The sets of the example, read and checked as shipped ones are. */
static struct recipe_data sets_of(const struct json_value *example, const char *name)
{
    struct strbuf text AS_AUTO_STRBUF;
    struct json_writer writer;
    struct recipe_data sets = {0};
    struct as_error err = {0};
    strbuf_init(&text, 0);
    json_writer_init(&writer, &text, 0);
    json_open_object(&writer);
    json_member_string(&writer, "schema", "assay.recipe-sets.v1");
    json_key(&writer, "sets");
    json_put_value(&writer, json_get(example, "sets"));
    json_close_object(&writer);
    struct recipe_text input = {name, strbuf_text(&text), text.len};
    if (recipe_read_sets(&input, &arena, &sets, &err) != AS_OK)
        fail_msg("%s", err.message);
    return sets;
}

/* By the shipped facts the set fits its GPUs, with prompts and answers of 1,024 tokens. */
static void check_fit(const struct recipe_set *set, const char *gpu, const char *version)
{
    struct recipe_facts facts = {.tool = "metrumbench-llm",
                                 .model = recipe_model(&data, set->model_code),
                                 .model_code = set->model_code,
                                 .gpu = recipe_gpu(&data, gpu),
                                 .framework = recipe_framework(&data, set->framework_code),
                                 .framework_version = version,
                                 .set = set,
                                 .host_gpus = 8,
                                 .replicas = 1,
                                 .isl_tokens = 1024,
                                 .osl_tokens = 1024,
                                 .template_tokens = -1,
                                 .concurrency = 1,
                                 .is_online = true,
                                 .disk_free_bytes = -1};
    struct recipe_checks checks = {0};
    struct as_error err = {0};
    assert_non_null(facts.model);
    assert_non_null(facts.gpu);
    assert_int_equal(recipe_check_all(&facts, &arena, &checks, &err), AS_OK);
    for (size_t i = 0; i < checks.count; i++) {
        const struct recipe_check *check = &checks.items[i];
        bool may_be_open = check->code == RECIPE_CHECK_FRAMEWORK_VERSION || check->code == RECIPE_CHECK_DISK_SPACE;
        if (check->state != RECIPE_PASS && !may_be_open)
            fail_msg("%s: %s: found %s, needed %s", set->code, recipe_check_name(check->code), check->found,
                     check->needed);
    }
}

static void add_command(const struct json_value *example, const struct recipe_set *set, struct strbuf *out)
{
    const char *template_code = NULL, *version = NULL;
    struct recipe_command command = {0};
    struct as_error err = {0};
    assert_true(json_string(json_get(example, "template"), &template_code));
    assert_true(json_string(json_get(example, "framework_version"), &version));
    struct recipe_job job = {.item = recipe_template(&templates, template_code),
                             .values = values_of(json_get(example, "values")),
                             .framework = recipe_framework(&data, set->framework_code),
                             .set = set};
    assert_non_null(job.item);
    assert_non_null(job.framework);
    for (size_t i = 0; i < set->gpu_classes.count; i++)
        check_fit(set, set->gpu_classes.items[i], version);
    if (recipe_set_check(job.framework, version, set, &err) != AS_OK ||
        recipe_resolve(&job, &arena, &command, &err) != AS_OK)
        fail_msg("%s: %s", set->code, err.message);
    recipe_command_text(&command, out);
    strbuf_addc(out, '\n');
}

/* Continued lines joined. */
static const char *joined(const char *text)
{
    char *result = arena_strdup(&arena, text), *to = result;
    assert_non_null(result);
    for (const char *at = text; *at; at++) {
        if (at[0] == '\\' && at[1] == '\n') {
            at++;
            while (at[1] == ' ')
                at++;
            continue;
        }
        *to++ = *at;
    }
    *to = '\0';
    return result;
}

static void check_example(const char *name, const char *input, const char *commands)
{
    const char *path = arena_printf(&arena, "examples/templates/%s", name);
    const struct json_value *example = NULL;
    struct as_error err = {0};
    struct strbuf out AS_AUTO_STRBUF;
    strbuf_init(&out, 0);
    assert_string_equal(input, read_text(path));
    if (json_parse(input, strlen(input), NULL, &arena, &example, &err) != AS_OK)
        fail_msg("%s: %s", name, err.message);
    struct recipe_data sets = sets_of(example, name);
    for (size_t i = 0; i < sets.set_count; i++)
        add_command(example, &sets.sets[i], &out);
    if (strcmp(strbuf_text(&out), joined(commands)) != 0)
        fail_msg("%s becomes\n%sbut the page says\n%s", name, strbuf_text(&out), joined(commands));
}

static void test_page(void **state)
{
    static const char link[] = "(../../examples/templates/";
    const char *page = read_text(PAGE), *at = page;
    size_t count = 0;
    (void)state;
    for (at = strstr(at, link); at; at = strstr(at, link), count++) {
        const char *name = arena_strndup(&arena, at + strlen(link), strcspn(at + strlen(link), ")"));
        const char *input = block_after(at, "```json\n", &at);
        check_example(name, input, block_after(at, "```sh\n", &at));
    }
    assert_int_equal(count, 5);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_page)};
    return cmocka_run_group_tests(tests, load, unload);
}
