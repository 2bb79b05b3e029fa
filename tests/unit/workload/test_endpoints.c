/* SPDX-License-Identifier: Apache-2.0 */
#include "support/check.h"
#include "workload/endpoints.h"

#include <stdlib.h>
#include <string.h>

static struct endpoint_list list;
static struct as_error err;

static int setup(void **state)
{
    (void)state;
    endpoints_init(&list);
    setenv("ASSAY_TEST_KEY", "sk-from-environment", 1);
    unsetenv("ASSAY_TEST_NONE");
    return 0;
}

static int teardown(void **state)
{
    (void)state;
    endpoints_done(&list);
    return 0;
}

static void parse(const char *text)
{
    if (endpoints_parse(&list, text, strlen(text), "endpoints", &err) != AS_OK)
        fail_msg("%s", err.message);
}

static void finish(void)
{
    if (endpoints_finish(&list, &err) != AS_OK)
        fail_msg("%s", err.message);
}

static void expect_three(void)
{
    finish();
    assert_int_equal(list.count, 3);
    assert_string_equal(list.items[0].url, "http://a:8000");
    assert_string_equal(list.items[0].name, "first");
    assert_int_equal(list.items[0].weight, 3);
    assert_string_equal(list.items[0].api_key, "sk-literal");
    assert_null(list.items[0].api_key_env);
    assert_string_equal(list.items[1].url, "http://b/v1");
    assert_string_equal(list.items[1].name, "http://b/v1");
    assert_int_equal(list.items[1].weight, 1);
    assert_string_equal(list.items[1].api_key, "sk-from-environment");
    assert_string_equal(list.items[1].api_key_env, "ASSAY_TEST_KEY");
    assert_string_equal(list.items[2].url, "http://c");
    assert_null(list.items[2].api_key);
}

static void test_yaml(void **state)
{
    (void)state;
    parse("# servers\nendpoints:\n  - url: http://a:8000\n    name: first\n    weight: 3\n    api_key: sk-literal\n"
          "  - url: http://b/v1\n    api_key_env: ASSAY_TEST_KEY\n  - http://c\n");
    expect_three();
}

static void test_a_plain_list(void **state)
{
    (void)state;
    parse("- {url: \"http://a:8000\", name: first, weight: 3, api_key: sk-literal}\n- url: http://b/v1\n  api_key_env: "
          "ASSAY_TEST_KEY\n- http://c\n");
    expect_three();
}

static void test_json(void **state)
{
    (void)state;
    parse("[\n {\"url\":\"http://a:8000\",\"name\":\"first\",\"weight\":3,\"api_key\":\"sk-literal\"},\n "
          "{\"url\":\"http://b/v1\",\"api_key_env\":\"ASSAY_TEST_KEY\"},\n \"http://c\"]");
    expect_three();
}

static void test_json_lines(void **state)
{
    (void)state;
    parse(
        "{\"url\":\"http://a:8000\",\"name\":\"first\",\"weight\":3,\"api_key\":\"sk-literal\"}\r\n\n{\"url\":\"http://"
        "b/v1\",\"api_key_env\":\"ASSAY_TEST_KEY\"}\n\"http://c\"");
    expect_three();
}

static void test_a_single_object(void **state)
{
    (void)state;
    parse("{\"url\":\"http://a\"}\n");
    parse("{\"endpoints\":[{\"url\":\"http://b\"}]}");
    finish();
    assert_int_equal(list.count, 2);
}

static void test_mistakes_name_their_line(void **state)
{
    (void)state;
    static const struct {
        const char *text, *words;
        int64_t line;
    } cases[] = {
        {"- url: http://a\n- name: x\n", "no url", 2},
        {"- url: http://a\n  wieght: 2\n", "no wieght", 2},
        {"- url: http://a\n  weight: 0\n", "weight", 2},
        {"- url: http://a\n  weight: 1.5\n", "weight", 2},
        {"- url: http://a\n  weight: \"2\"\n", "weight", 2},
        {"- url: http://a\n  weight: 1000001\n", "weight", 2},
        {"- url: http://a\n  api_key_env: ASSAY_TEST_NONE\n", "api_key_env", 2},
        {"- url: http://a\n  api_key: k\n  api_key_env: ASSAY_TEST_KEY\n", "give one of them", 1},
        {"- url: http://a\n  api_key: \"\"\n", "not empty", 2},
        {"- url: http://a b\n", "no URL", 1},
        {"- url: 5\n", "text", 1},
        {"- 5\n", "URL", 1},
        {"endpoints: http://a\n", "list", 1},
        {"endpoints: [http://a]\nother: 1\n", "nothing else", 1},
        {"{\"url\":\"http://a\"}\n{\"url\":\"http://b\",\"x\":1}\n", "no x", 2},
        {"{\"url\":\"http://a\"}\n{\"url\":\n", "line 2: column 8: ", 0},
    };
    for (size_t i = 0; i < ARRAY_COUNT(cases); i++) {
        assert_int_equal(endpoints_parse(&list, cases[i].text, strlen(cases[i].text), "endpoints", &err), AS_E_INVALID);
        if (!strstr(err.message, cases[i].words) || strncmp(err.message, "endpoints", 9) != 0)
            fail_msg("\"%s\" is not in \"%s\"", cases[i].words, err.message);
        if (cases[i].line)
            assert_int_equal(err.line, cases[i].line);
        assert_int_equal(list.count, 0);
    }
}

static void test_what_is_no_list(void **state)
{
    (void)state;
    static const char *const texts[] = {"",        "# nothing\n",           "[]",      "5",    "text", "endpoints: []",
                                        "&a [*a]", "- &x http://a\n- *x\n", "a: b: c", "[[[[", "\t- x"};
    for (size_t i = 0; i < ARRAY_COUNT(texts); i++) {
        as_status status = endpoints_parse(&list, texts[i], strlen(texts[i]), "endpoints", &err);
        if (status == AS_OK)
            fail_msg("taken: %s", texts[i]);
        assert_int_equal(list.count, 0);
    }
}

static void test_deep_nesting_is_refused_at_once(void **state)
{
    (void)state;
    size_t depth = 200000;
    char *text = malloc(depth);
    assert_non_null(text);
    memset(text, '[', depth);
    assert_int_not_equal(endpoints_parse(&list, text, depth, "endpoints", &err), AS_OK);
    free(text);
}

static void test_keys_are_in_no_message(void **state)
{
    (void)state;
    static const char *const texts[] = {"- url: http://a\n  api_key: sk-literal\n  x: 1\n",
                                        "- url: http://a\n  api_key_env: ASSAY_TEST_KEY\n  weight: x\n",
                                        "- url: http://a\n  api_key: [sk-literal]\n"};
    for (size_t i = 0; i < ARRAY_COUNT(texts); i++) {
        assert_int_equal(endpoints_parse(&list, texts[i], strlen(texts[i]), "endpoints", &err), AS_E_INVALID);
        assert_null(strstr(err.message, "sk-"));
    }
}

static void test_values_of_endpoint(void **state)
{
    (void)state;
    assert_int_equal(endpoints_add_value(&list, "/v1/completions", &err), AS_OK);
    assert_int_equal(list.count, 0);
    assert_int_equal(endpoints_add_value(&list, "http://a:1", &err), AS_OK);
    assert_int_equal(endpoints_add_url(&list, "http://b:1/v1/", &err), AS_OK);
    assert_int_equal(endpoints_add_url(&list, "http://c:1/base", &err), AS_OK);
    assert_int_equal(endpoints_add_url(&list, "unix:/run/s.sock", &err), AS_OK);
    assert_int_equal(endpoints_add_url(&list, "unix:/run/s.sock:/v1", &err), AS_OK);
    finish();
    assert_string_equal(list.items[3].url, "unix:/run/s.sock:/v1/completions");
    assert_string_equal(list.items[4].url, "unix:/run/s.sock:/v1/completions");
    assert_string_equal(list.items[0].url, "http://a:1/v1/completions");
    assert_string_equal(list.items[1].url, "http://b:1/v1/completions");
    assert_string_equal(list.items[2].url, "http://c:1/base/v1/completions");
    assert_int_equal(endpoints_add_url(&list, "", &err), AS_E_USAGE);
    assert_int_equal(endpoints_add_url(&list, "http://a b", &err), AS_E_USAGE);
    assert_int_equal(endpoints_add_url(&list, "http://user:key@/x", &err), AS_E_USAGE);
    assert_int_equal(endpoints_add_value(&list, "/a b", &err), AS_E_USAGE);
}

static void test_queries_are_kept(void **state)
{
    (void)state;
    assert_int_equal(endpoints_add_value(&list, "/v1/completions?b=2", &err), AS_OK);
    assert_int_equal(endpoints_add_url(&list, "http://a:1/v1/?api-version=1&key=s3cret", &err), AS_OK);
    assert_int_equal(endpoints_add_url(&list, "http://a:1/v1/?api-version=1&key=0ther", &err), AS_OK);
    assert_int_equal(endpoints_add_url(&list, "http://b:1?a=/v1/", &err), AS_OK);
    assert_int_equal(endpoints_add_url(&list, "http://c:1", &err), AS_OK);
    finish();
    assert_string_equal(list.items[0].url, "http://a:1/v1/completions?api-version=1&key=s3cret&b=2");
    assert_string_equal(list.items[0].name, "http://a:1/v1/completions?api-version=1&key=***&b=2");
    assert_string_equal(list.items[1].name, "http://a:1/v1/completions?api-version=1&key=***&b=2#2");
    assert_string_equal(list.items[2].url, "http://b:1/v1/completions?a=/v1/&b=2");
    assert_string_equal(list.items[3].url, "http://c:1/v1/completions?b=2");
}

static void test_names_are_unique(void **state)
{
    (void)state;
    static const char *const urls[] = {"http://user:secret@a/", "http://a/", "http://a/", "http://b/p@q"};
    for (size_t i = 0; i < ARRAY_COUNT(urls); i++)
        assert_int_equal(endpoints_add_url(&list, urls[i], &err), AS_OK);
    finish();
    assert_string_equal(list.items[0].name, "http://a/");
    assert_string_equal(list.items[1].name, "http://a/#2");
    assert_string_equal(list.items[2].name, "http://a/#3");
    assert_string_equal(list.items[3].name, "http://b/p@q");
}

static void test_given_names_must_differ(void **state)
{
    (void)state;
    parse("- {url: http://a, name: same}\n- {url: http://b, name: same}\n");
    assert_int_equal(endpoints_finish(&list, &err), AS_E_USAGE);
    assert_non_null(strstr(err.message, "same"));
}

static void test_none_at_all(void **state)
{
    (void)state;
    assert_int_equal(endpoints_finish(&list, &err), AS_E_USAGE);
    assert_non_null(strstr(err.message, "--url"));
}

#define TEST(function) cmocka_unit_test_setup_teardown(function, setup, teardown)

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(test_yaml),
        TEST(test_a_plain_list),
        TEST(test_json),
        TEST(test_json_lines),
        TEST(test_a_single_object),
        TEST(test_mistakes_name_their_line),
        TEST(test_what_is_no_list),
        TEST(test_deep_nesting_is_refused_at_once),
        TEST(test_keys_are_in_no_message),
        TEST(test_values_of_endpoint),
        TEST(test_queries_are_kept),
        TEST(test_names_are_unique),
        TEST(test_given_names_must_differ),
        TEST(test_none_at_all),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
