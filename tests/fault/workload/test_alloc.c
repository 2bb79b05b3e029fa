/* SPDX-License-Identifier: Apache-2.0 */
/* Every allocation fails once. */
#include "support/check.h"
#include "support/faults.h"
#include "workload/endpoints.h"
#include "workload/prompts.h"
#include "workload/synthetic.h"

#include <string.h>

static as_status use_prompts(void *context)
{
    const char *text = context;
    struct prompts_options options = {.skip_bad_lines = true};
    struct prompts prompts;
    struct as_error err;
    as_status status = prompts_parse(text, strlen(text), &options, &prompts, &err);
    if (status != AS_OK)
        return status;
    status = prompts_shuffle(&prompts, 1);
    prompts_done(&prompts);
    return status;
}

static as_status use_synthetic(void *context)
{
    struct prompts prompts;
    struct as_error err;
    as_status status = synthetic_prompts(context, &prompts, &err);
    if (status == AS_OK)
        prompts_done(&prompts);
    return status;
}

static as_status use_endpoints(void *context)
{
    const char *text = context;
    struct endpoint_list list;
    struct as_error err;
    endpoints_init(&list);
    as_status status = endpoints_add_url(&list, "http://a@b/", &err);
    if (status == AS_OK)
        status = endpoints_add_value(&list, "/v1/x", &err);
    if (status == AS_OK)
        status = endpoints_parse(&list, text, strlen(text), "file", &err);
    if (status == AS_OK)
        status = endpoints_finish(&list, &err);
    endpoints_done(&list);
    return status;
}

static void test_prompts(void **state)
{
    (void)state;
    assert_true(fault_each(FAULT_ALLOC, AS_E_NOMEM, use_prompts,
                           "{\"prompt\":\"a\"}\nbad\n{\"prompt\":\"b\",\"id\":1}\n") >= 4);
}

static void test_synthetic(void **state)
{
    (void)state;
    struct synthetic_spec spec = {
        .seed = 1, .count = 3, .input = {40, 5}, .output = {4, 1}, .ratio = TOKEN_RATIO_DEFAULT};
    assert_true(fault_each(FAULT_ALLOC, AS_E_NOMEM, use_synthetic, &spec) >= 3);
}

static void test_endpoints(void **state)
{
    (void)state;
    assert_true(fault_each(FAULT_ALLOC, AS_E_NOMEM, use_endpoints,
                           "[{\"url\":\"http://c\",\"api_key\":\"k\",\"name\":\"n\"},\"http://b/\"]") >= 8);
    assert_true(fault_each(FAULT_ALLOC, AS_E_NOMEM, use_endpoints, "- url: http://c\n  weight: 2\n- http://b/\n") >= 8);
    assert_true(
        fault_each(FAULT_ALLOC, AS_E_NOMEM, use_endpoints, "{\"url\":\"http://c\"}\n{\"url\":\"http://d\"}\n") >= 8);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_prompts), cmocka_unit_test(test_synthetic),
                                       cmocka_unit_test(test_endpoints)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
