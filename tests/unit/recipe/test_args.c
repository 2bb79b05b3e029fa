/* SPDX-License-Identifier: Apache-2.0 */
/* What an argument may be, how it is written, what it costs in GPUs, and what its digest depends on. */
#include "facts.h"

static void expect_refused(struct fixture *fixture, const char *version, const char *args, const char *reason)
{
    const struct recipe_set *set = set_of(fixture, args);
    struct as_error err = {0};
    if (recipe_set_check(fixture->vllm, version, set, &err) == AS_OK)
        fail_msg("passes: %s", args);
    if (!strstr(err.message, reason))
        fail_msg("%s: \"%s\" does not say \"%s\"", args, err.message, reason);
}

static void test_refused(void **state)
{
    static const char *const cases[][2] = {
        {"\"args\":[{\"key\":\"max_model_length\",\"value\":1}]", "nearest is max_model_len (int)"},
        {"\"args\":[{\"key\":\"something_else\",\"value\":1}]", "is no argument of vLLM"},
        {"\"args\":[{\"key\":\"max_model_len\",\"value\":\"long\"}]", "type int, for example 8"},
        {"\"args\":[{\"key\":\"max_model_len\",\"value\":1.5}]", "type int"},
        {"\"args\":[{\"key\":\"max_model_len\",\"value\":true}]", "type int"},
        {"\"args\":[{\"key\":\"gpu_memory_utilization\",\"value\":\"0,9\"}]", "type float"},
        {"\"args\":[{\"key\":\"enforce_eager\",\"value\":\"yes\"}]", "type bool"},
        {"\"args\":[{\"key\":\"compilation_config\",\"value\":\"{level: 3}\"}]", "type json"},
        {"\"args\":[{\"key\":\"sizes\",\"value\":[1,true]}]", "type list"},
        {"\"args\":[{\"key\":\"sizes\",\"value\":4}]", "type list"},
        {"\"args\":[{\"key\":\"kv_cache_dtype\",\"value\":\"fp7\"}]", "one of auto, fp8"},
        {"\"args\":[{\"key\":\"usp\",\"value\":2}]", "only for metrumbench-imagegen"},
        {"\"tool\":\"metrumbench-imagegen\",\"args\":[{\"key\":\"max_model_len\",\"value\":2}]", "text servers"},
        {"\"args\":[{\"key\":\"max_model_len\",\"value\":8,\"flag\":\"--api\"}]", "it is --max-model-len"},
        {"\"args\":[{\"key\":\"enable_prefix_caching\",\"value\":true,\"flag\":\"--no-enable-prefix-caching\"}]",
         "says false"},
        {"\"args\":[{\"key\":\"enforce_eager\",\"value\":false,\"flag\":\"--enforce-eager\"}]", "says true"},
        {"\"args\":[{\"key\":\"gpu_memory_utilization\",\"value\":0.9,\"raw\":\"0.95\"}]", "means something else"},
        {"\"args\":[{\"key\":\"cc.fuse\",\"value\":true,\"raw\":\"False\"}]", "means something else"},
        {"\"args\":[{\"key\":\"api_key\",\"value\":\"abc\"}]", "is a secret"},
        {"\"args\":[],\"env\":{\"HF_TOKEN\":\"abc\"}", "HF_TOKEN is a secret"},
        {"\"args\":[],\"env\":{\"A B\":\"abc\"}", "no name of an environment variable"},
        {"\"args\":[],\"env\":{\"LD_PRELOAD\":\"/x.so\"}", "decides which code runs"},
        {"\"args\":[],\"env\":{\"PATH\":\"/x\"}", "decides which code runs"},
        {"\"args\":[{\"key\":\"master_addr\",\"value\":\"--api-key\"}]", "begins with a dash"},
        {"\"args\":[{\"key\":\"sizes\",\"value\":[1,\"-x\"]}]", "begins with a dash"},
        {"\"args\":[{\"key\":\"tensor_parallel_size\",\"value\":0}]", "from 1 to 65536"},
        {"\"args\":[{\"key\":\"tensor_parallel_size\",\"value\":60000},{\"key\":\"data_parallel_size\",\"value\":60000}"
         "]",
         "more than 65536 GPUs"},
    };
    for (size_t i = 0; i < ARRAY_COUNT(cases); i++)
        expect_refused(*state, "0.12.0", cases[i][0], cases[i][1]);
    expect_refused(*state, "0.11.0", "\"args\":[{\"key\":\"old_flag\",\"value\":1}]", "gone from vLLM since 0.11.0");
    expect_refused(*state, "0.11.9", "\"args\":[{\"key\":\"new_flag\",\"value\":1}]", "in vLLM from 0.12.0 on");
}

/* Rows of a database may hold what a file cannot. */
static void test_twice(void **state)
{
    static const struct recipe_arg twice[] = {{.key = "enforce_eager", .text = "true"},
                                              {.key = "enforce_eager", .text = "false"}};
    static const struct recipe_pair env[] = {{"A", "1"}, {"A", "2"}};
    struct fixture *fixture = *state;
    struct recipe_set set = {.code = "s", .framework_code = "vllm", .args = {twice, 2}};
    struct as_error err = {0};
    assert_int_equal(recipe_set_check(fixture->vllm, NULL, &set, &err), AS_E_INVALID);
    assert_non_null(strstr(err.message, "twice"));
    set.args.count = 1;
    set.env = (struct recipe_pairs){env, 2};
    assert_int_equal(recipe_set_check(fixture->vllm, NULL, &set, &err), AS_E_INVALID);
    assert_non_null(strstr(err.message, "A is there twice"));
    set.env.count = 1;
    assert_int_equal(recipe_set_check(fixture->vllm, NULL, &set, &err), AS_OK);
}

static void test_allowed(void **state)
{
    struct fixture *fixture = *state;
    static const char *const cases[] = {
        "\"args\":[{\"key\":\"node_rank\",\"value\":\"{node_rank}\"}]",
        "\"args\":[{\"key\":\"master_addr\",\"value\":\"{head_ip}:1\"}]",
        "\"args\":[{\"key\":\"old_flag\",\"value\":-5}]",
        "\"args\":[{\"key\":\"master_addr\",\"value\":\"-x\",\"join\":\"=\"}]",
        "\"args\":[{\"key\":\"sizes\",\"value\":[1,-2,\"x-\"]}]",
        "\"args\":[{\"key\":\"gpu_memory_utilization\",\"value\":0.9,\"raw\":\"0.90\"}]",
        "\"args\":[{\"key\":\"tensor_parallel_size\",\"value\":4,\"flag\":\"-tp\"}]",
        "\"args\":[{\"key\":\"compilation_config\",\"value\":{\"level\":3}}]",
        "\"args\":[],\"env\":{\"TOKENIZERS_PARALLELISM\":\"false\",\"OPENAI_API_KEY_FILE\":\"/run/key\"}",
    };
    for (size_t i = 0; i < ARRAY_COUNT(cases); i++) {
        const struct recipe_set *set = set_of(fixture, cases[i]);
        if (recipe_set_check(fixture->vllm, "0.10.0", set, &fixture->err) != AS_OK)
            fail_msg("%s: %s", cases[i], fixture->err.message);
    }
}

static void expect_words(struct fixture *fixture, const char *args, const char *expected)
{
    const struct recipe_set *set = set_of(fixture, args);
    struct recipe_list words = {0};
    char line[512] = "";
    if (recipe_set_render(fixture->vllm, set, &fixture->arena, &words, &fixture->err) != AS_OK)
        fail_msg("%s", fixture->err.message);
    for (size_t i = 0; i < words.count; i++)
        (void)snprintf(line + strlen(line), sizeof(line) - strlen(line), "%s%s", i ? "|" : "", words.items[i]);
    assert_string_equal(line, expected);
}

static void test_rendering(void **state)
{
    expect_words(*state, "\"args\":[]", "");
    expect_words(*state, "\"args\":[{\"key\":\"max_model_len\",\"value\":8192}]", "--max-model-len|8192");
    expect_words(*state, "\"args\":[{\"key\":\"max_model_len\",\"value\":8192,\"join\":\"=\"}]",
                 "--max-model-len=8192");
    expect_words(*state, "\"args\":[{\"key\":\"gpu_memory_utilization\",\"value\":0.9,\"raw\":\"0.90\"}]",
                 "--gpu-memory-utilization|0.90");
    expect_words(*state, "\"args\":[{\"key\":\"enforce_eager\",\"value\":true}]", "--enforce-eager");
    expect_words(*state, "\"args\":[{\"key\":\"enforce_eager\",\"value\":false}]", "");
    expect_words(*state, "\"args\":[{\"key\":\"enable_prefix_caching\",\"value\":false}]",
                 "--no-enable-prefix-caching");
    expect_words(*state, "\"args\":[{\"key\":\"cc.fuse\",\"value\":false}]", "-cc.fuse=False");
    expect_words(*state, "\"args\":[{\"key\":\"cc.fuse\",\"value\":true,\"raw\":\"true\",\"join\":\" \"}]",
                 "-cc.fuse|true");
    expect_words(*state, "\"args\":[{\"key\":\"sizes\",\"value\":[1,2,\"x y\"]}]", "--sizes|1|2|x y");
    expect_words(*state, "\"args\":[{\"key\":\"sizes\",\"value\":[1,2],\"join\":\"=\"}]", "--sizes=1,2");
    expect_words(*state, "\"args\":[{\"key\":\"compilation_config\",\"value\":\"{\\\"a\\\": 1}\"}]",
                 "--compilation-config|{\"a\": 1}");
    expect_words(*state, "\"args\":[{\"key\":\"master_addr\",\"value\":\"$(id); rm -rf '*'\"}]",
                 "--master-addr|$(id); rm -rf '*'");
}

static void digest_of(struct fixture *fixture, const char *args, char ret[RECIPE_DIGEST_BYTES])
{
    const struct recipe_set *set = set_of(fixture, args);
    if (recipe_set_digest(fixture->vllm, set, ret, &fixture->err) != AS_OK)
        fail_msg("%s", fixture->err.message);
}

static void test_digest(void **state)
{
    static const char base[] =
        "\"args\":[{\"key\":\"enforce_eager\",\"value\":true},{\"key\":\"max_model_len\",\"value\":8}],"
        "\"env\":{\"A\":\"1\",\"B\":\"2\"}";
    static const char *const equal[] = {
        "\"args\":[{\"key\":\"enforce_eager\",\"value\":true},{\"key\":\"max_model_len\",\"value\":8,\"flag\":"
        "\"--max-model-len\",\"join\":\" "
        "\"}],\"env\":{\"B\":\"2\",\"A\":\"1\"},\"strategy\":\"x\",\"recommended\":true"};
    static const char *const other[] = {
        "\"args\":[{\"key\":\"max_model_len\",\"value\":8},{\"key\":\"enforce_eager\",\"value\":true}],\"env\":{\"A\":"
        "\"1\",\"B\":\"2\"}",
        "\"args\":[{\"key\":\"enforce_eager\",\"value\":true},{\"key\":\"max_model_len\",\"value\":9}],\"env\":{\"A\":"
        "\"1\",\"B\":\"2\"}",
        "\"args\":[{\"key\":\"enforce_eager\",\"value\":true},{\"key\":\"max_model_len\",\"value\":8}],\"env\":{\"A\":"
        "\"1\"}",
        "\"args\":[{\"key\":\"enforce_eager\",\"value\":true},{\"key\":\"max_model_len\",\"value\":8}],\"env\":{\"A\":"
        "\"1\",\"B\":\"2\"},"
        "\"images\":{\"h100\":\"x\"}",
    };
    char first[RECIPE_DIGEST_BYTES], next[RECIPE_DIGEST_BYTES];
    digest_of(*state, base, first);
    /* sha256sum of the canonical text, written by hand. */
    assert_string_equal(first, "83c61506c4d0d61d129952372c4ac4c40ecb317dfc1f1c05fd0a0217204db8a3");
    for (size_t i = 0; i < ARRAY_COUNT(equal); i++) {
        digest_of(*state, equal[i], next);
        assert_string_equal(first, next);
    }
    for (size_t i = 0; i < ARRAY_COUNT(other); i++) {
        digest_of(*state, other[i], next);
        assert_string_not_equal(first, next);
    }
}

static void test_parallel(void **state)
{
    struct fixture *fixture = *state;
    struct recipe_parallel parallel = {0};
    const struct recipe_set *set =
        set_of(fixture,
               "\"args\":[{\"key\":\"tensor_parallel_size\",\"value\":4},{\"key\":\"data_parallel_size\",\"value\":2},"
               "{\"key\":\"enable_expert_parallel\",\"value\":true}]");
    assert_int_equal(recipe_set_parallel(fixture->vllm, set, &parallel, &fixture->err), AS_OK);
    assert_int_equal(parallel.gpus, 8);
    assert_int_equal(parallel.expert, 8);
    assert_int_equal(parallel.attention, 4);
    set = set_of(fixture, "\"args\":[]");
    assert_int_equal(recipe_set_parallel(fixture->vllm, set, &parallel, &fixture->err), AS_OK);
    assert_int_equal(parallel.gpus, 1);
    assert_int_equal(parallel.expert, 0);
}

static void test_tool_scope(void **state)
{
    struct fixture *fixture = *state;
    const struct recipe_set *text = set_of(fixture, "\"args\":[]");
    const struct recipe_set *images = set_of(fixture, "\"args\":[],\"tool\":\"metrumbench-imagegen\"");
    struct as_error err = {0};
    assert_int_equal(recipe_set_check_tool(text, "vllm", "metrumbench-llm", &err), AS_OK);
    assert_int_equal(recipe_set_check_tool(text, "vllm", "metrumbench-imagegen", &err), AS_E_INVALID);
    assert_non_null(strstr(err.message, "vllm-metrumbench-imagegen"));
    assert_int_equal(recipe_set_check_tool(images, "vllm", "metrumbench-imagegen", &err), AS_OK);
    assert_int_equal(recipe_set_check_tool(images, "vllm", "metrumbench-llm", &err), AS_E_INVALID);
    assert_int_equal(recipe_set_check_tool(text, "sglang", "metrumbench-llm", &err), AS_E_INVALID);
}

static void test_secret_names(void **state)
{
    static const char *const secret[] = {"HF_TOKEN",    "api_key", "api-key",       "OPENAI_API_KEY",
                                         "DB_PASSWORD", "apikey",  "client_secret", "SSH_KEY"};
    static const char *const open[] = {"max_tokens", "tokens_per_word",        "api_key_env", "api-key-file",
                                       "key_value",  "TOKENIZERS_PARALLELISM", "keyboard",    "tokenizer"};
    (void)state;
    for (size_t i = 0; i < ARRAY_COUNT(secret); i++)
        if (!recipe_is_secret_name(secret[i]))
            fail_msg("%s passes", secret[i]);
    for (size_t i = 0; i < ARRAY_COUNT(open); i++)
        if (recipe_is_secret_name(open[i]))
            fail_msg("%s is taken for a secret", open[i]);
}

static void test_images(void **state)
{
    struct fixture *fixture = *state;
    struct recipe_gpu h100 = {.code = "h100", .vendor = RECIPE_NVIDIA}, mi = {.code = "mi300x", .vendor = RECIPE_AMD};
    struct recipe_image_query query = {.gpu = &h100, .version = "0.12.0"};
    assert_string_equal(recipe_container_image(fixture->vllm, &query, &fixture->arena), "vllm/vllm-openai:v0.12.0");
    query.version = "nightly";
    assert_string_equal(recipe_container_image(fixture->vllm, &query, &fixture->arena), "vllm/vllm-openai:nightly");
    query.version = NULL;
    assert_null(recipe_container_image(fixture->vllm, &query, &fixture->arena));
    query.gpu = &mi;
    assert_null(recipe_container_image(fixture->vllm, &query, &fixture->arena));
    query.set = set_of(fixture, "\"args\":[],\"images\":{\"mi300x\":\"pinned:1\"}");
    assert_string_equal(recipe_container_image(fixture->vllm, &query, &fixture->arena), "pinned:1");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_refused),    cmocka_unit_test(test_allowed),      cmocka_unit_test(test_twice),
        cmocka_unit_test(test_rendering),  cmocka_unit_test(test_digest),       cmocka_unit_test(test_parallel),
        cmocka_unit_test(test_tool_scope), cmocka_unit_test(test_secret_names), cmocka_unit_test(test_images),
    };
    return cmocka_run_group_tests(tests, fixture_open, fixture_close);
}
