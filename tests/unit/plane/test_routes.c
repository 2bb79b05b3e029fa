/* SPDX-License-Identifier: Apache-2.0 */
#include "support/check.h"

#include "plane/openapi.h"
#include "plane/plane.h"
#include "plane/route.h"
#include "plane/work.h"
#include "plane/yaml.h"

#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>

static enum route_match find(enum http_method method, const char *path, struct route_found *found)
{
    return route_find(method, (struct http_text){path, strlen(path)}, found);
}

static void paths_find_their_routes(void **state)
{
    struct route_found found;
    (void)state;
    assert_int_equal(find(HTTP_GET, "/api/v1/projects", &found), ROUTE_FOUND);
    assert_string_equal(found.route->id, "list_projects");
    assert_int_equal(find(HTTP_HEAD_METHOD, "/api/v1/projects/a%2Fb", &found), ROUTE_FOUND);
    assert_string_equal(found.route->id, "get_project");
    assert_int_equal(found.param_count, 1);
    assert_memory_equal(found.params[0].at, "a%2Fb", 5);
    assert_int_equal(find(HTTP_POST, "/api/v1/runs/r1/cancel", &found), ROUTE_FOUND);
    assert_string_equal(found.route->id, "cancel_run");
    assert_int_equal(find(HTTP_GET, "/api/v1/framework-versions/vllm/0.12.0/cuda", &found), ROUTE_FOUND);
    assert_int_equal(found.param_count, 3);
    assert_int_equal(find(HTTP_PUT, "/api/v1/projects", &found), ROUTE_OTHER_METHOD);
    assert_string_equal(found.allowed, "GET, POST");
    static const char *const none[] = {"/",
                                       "",
                                       "/api/v1",
                                       "/api/v1/projects/",
                                       "/api/v1/projects//",
                                       "/api/v1/Projects",
                                       "/api/v1/projects/a/b",
                                       "/api/v1/runs//cancel",
                                       "*"};
    for (size_t i = 0; i < ARRAY_COUNT(none); i++)
        assert_int_equal(find(HTTP_GET, none[i], &found), ROUTE_NONE);
}

static void the_tables_hold_together(void **state)
{
    size_t count;
    const struct resource *const *all = resource_list(&count);
    const struct route_table *table = route_table();
    (void)state;
    assert_non_null(table);
    for (size_t i = 0; i < count; i++) {
        const struct resource *resource = all[i];
        const bool is_reverse = resource->sort[0] == '-';
        const struct field *sort = shape_field(&resource->shape, resource->sort + is_reverse);
        assert_non_null(sort);
        assert_true(sort->flags & FIELD_SORT);
        for (size_t k = 0; k < resource_key_count(resource); k++)
            assert_non_null(shape_field(&resource->shape, resource->key[k]));
        for (size_t k = 0; k < resource->reference_count; k++) {
            const struct reference *reference = &resource->references[k];
            const struct resource *target = resource_find(reference->resource);
            assert_non_null(target);
            for (size_t m = 0; m < resource_key_count(target); m++)
                assert_non_null(shape_field(&resource->shape, reference->members[m]));
        }
        for (size_t k = 0; k < resource->shape.count; k++) {
            const struct field *field = &resource->shape.fields[k];
            assert_non_null(field->about);
            assert_ptr_equal(shape_field(&resource->shape, field->name), field);
            assert_true(field->type != FIELD_ENUM || field->choices);
        }
    }
    for (size_t i = 0; i < table->count; i++)
        for (size_t k = 0; k < i; k++)
            assert_string_not_equal(table->routes[i].id, table->routes[k].id);
}

static void writing_needs_a_right_and_templates_an_admin(void **state)
{
    const struct route_table *table = route_table();
    (void)state;
    for (size_t i = 0; i < table->count; i++) {
        const struct route *route = &table->routes[i];
        if (route->kind == ROUTE_WRITE)
            assert_true(route->right & (RIGHT_WRITE | RIGHT_ADMIN | RIGHT_OPERATOR | RIGHT_AGENT | RIGHT_JOB));
        if (route->kind == ROUTE_WRITE &&
            (strstr(route->path, "command-templates") || strstr(route->path, "providers")))
            assert_int_equal(route->right, RIGHT_ADMIN);
    }
}

static void the_option_table_is_sound(void **state)
{
    struct strbuf mistakes AS_AUTO_STRBUF;
    (void)state;
    strbuf_init(&mistakes, 0);
    options_check_tables(&plane_command, &mistakes);
    assert_string_equal(strbuf_text(&mistakes), "");
}

static void yaml_reads_back_as_what_it_was(void **state)
{
    static const char json[] =
        "{\"plain\":\"word\",\"number like\":\"1e3\",\"yes\":\"no\",\"empty\":[],\"none\":{},\"list\":[1,[2,\"a: b\"],"
        "{\"k\":null,\"t\":true}],\"small\":1e-6,\"text\":\"line\\nline \\\"x\\\"\"}";
    static const char yaml[] =
        "plain: word\n\"number like\": \"1e3\"\n\"yes\": \"no\"\nempty: []\nnone: {}\nlist:\n  - 1\n  -\n    - 2\n"
        "    - \"a: b\"\n  -\n    k: null\n    t: true\nsmall: 1.0e-6\ntext: \"line\\nline \\\"x\\\"\"\n";
    struct strbuf out AS_AUTO_STRBUF;
    const struct json_value *tree;
    struct arena arena;
    (void)state;
    strbuf_init(&out, 0);
    arena_init(&arena, 0, 0);
    assert_int_equal(json_parse(json, strlen(json), NULL, &arena, &tree, NULL), AS_OK);
    yaml_write(&out, tree);
    assert_string_equal(strbuf_text(&out), yaml);
    arena_done(&arena);
}

struct counted {
    struct work_item item;
    atomic_int *count;
};

static void count_up(struct work_item *item)
{
    atomic_fetch_add(((struct counted *)item)->count, 1);
}

static void a_pool_runs_what_it_took_and_refuses_the_rest(void **state)
{
    struct counted items[64];
    struct work_pool *pool;
    atomic_int count = 0;
    int taken = 0;
    (void)state;
    assert_int_equal(work_pool_new(2, 4, &pool), AS_OK);
    for (size_t i = 0; i < ARRAY_COUNT(items); i++) {
        items[i] = (struct counted){.item = {.run = count_up}, .count = &count};
        taken += work_submit(pool, &items[i].item);
    }
    work_pool_free(pool);
    assert_int_equal(atomic_load(&count), taken);
    assert_true(taken >= 4);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(paths_find_their_routes),
        cmocka_unit_test(the_tables_hold_together),
        cmocka_unit_test(writing_needs_a_right_and_templates_an_admin),
        cmocka_unit_test(the_option_table_is_sound),
        cmocka_unit_test(yaml_reads_back_as_what_it_was),
        cmocka_unit_test(a_pool_runs_what_it_took_and_refuses_the_rest),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
