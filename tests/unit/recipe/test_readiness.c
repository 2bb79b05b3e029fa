/* SPDX-License-Identifier: Apache-2.0 */
/* Verdicts from facts: each code passes, fails and does not know where it should, with figures worked out by hand. */
#include "facts.h"

static const struct recipe_memory MEMORY[] = {{"bf16", 19.2, false}, {"fp8", 9.6, true}}; /* 16 and 8 GB of weights */
static const char *const PRECISIONS[] = {"bf16", "fp8"};

/* An 8B model: 32 layers × 8 KV heads × 128 × 2 × 2 B = 131072 B of KV cache a token. */
static const struct recipe_model MODEL = {.code = "org/m-8b",
                                          .base_code = "org/m-8b",
                                          .family = "Llama",
                                          .parameters = 8e9,
                                          .context_length_tokens = 131072,
                                          .memory = MEMORY,
                                          .memory_count = 2,
                                          .layers = 32,
                                          .attention_heads = 32,
                                          .kv_heads = 8,
                                          .head_dim = 128};
static const struct recipe_gpu GPU = {
    .code = "h100", .vendor = RECIPE_NVIDIA, .memory_gib = 80, .precisions = {PRECISIONS, 2}};

static struct recipe_facts facts_of(struct fixture *fixture, const char *set)
{
    return (struct recipe_facts){.tool = "metrumbench-llm",
                                 .model = &MODEL,
                                 .model_code = "org/m-8b",
                                 .gpu = &GPU,
                                 .framework = fixture->vllm,
                                 .framework_version = "0.12.0",
                                 .set = set_of(fixture, set),
                                 .precision = "bf16",
                                 .host_gpus = 8,
                                 .replicas = 1,
                                 .isl_tokens = 1000,
                                 .osl_tokens = 1000,
                                 .template_tokens = 48,
                                 .concurrency = 16,
                                 .is_online = true,
                                 .seen_seconds_ago = 3,
                                 .prompt_source_code = "p",
                                 .is_prompt_source_present = true,
                                 .disk_free_bytes = 1000000000000};
}

#define SET                                                                                                            \
    "\"model_code\":\"org/"                                                                                            \
    "m-8b\",\"gpu_classes\":[\"h100\"],\"framework_version_min\":\"0.11.0\",\"precision\":\"bf16\","
#define ARG(key, value) "{\"key\":\"" key "\",\"value\":" value "}"
#define PLAIN           SET "\"args\":[" ARG("max_model_len", "8192") "]"

static struct recipe_checks all(struct fixture *fixture, const struct recipe_facts *facts)
{
    struct recipe_checks checks = {0};
    struct as_error err = {0};
    assert_int_equal(recipe_check_all(facts, &fixture->arena, &checks, &err), AS_OK);
    return checks;
}

static const struct recipe_check *one(struct fixture *fixture, const struct recipe_facts *facts,
                                      enum recipe_check_code code)
{
    struct recipe_checks checks = all(fixture, facts);
    for (size_t i = 0; i < checks.count; i++)
        if (checks.items[i].code == code)
            return &checks.items[i];
    return NULL;
}

static void expect(struct fixture *fixture, const struct recipe_facts *facts, enum recipe_check_code code,
                   enum recipe_check_state state)
{
    const struct recipe_check *check = one(fixture, facts, code);
    if (!check)
        fail_msg("no verdict %s", recipe_check_name(code));
    if (check->state != state)
        fail_msg("%s: %s (found %s, needed %s)", recipe_check_name(code), recipe_check_state_name(check->state),
                 check->found, check->needed);
    if ((check->remedy == NULL) != (state == RECIPE_PASS))
        fail_msg("%s: %s with remedy %s", recipe_check_name(code), recipe_check_state_name(state),
                 check->remedy ? check->remedy : "none");
}

static void test_all_pass(void **state)
{
    struct recipe_facts facts = facts_of(*state, PLAIN);
    struct recipe_checks checks = all(*state, &facts);
    assert_int_equal(recipe_checks_failed(&checks, NULL), 0);
    for (size_t i = 0; i < checks.count; i++) {
        if (checks.items[i].state != RECIPE_PASS)
            fail_msg("%s: %s, %s", recipe_check_name(checks.items[i].code), checks.items[i].found,
                     checks.items[i].needed);
        assert_true(i == 0 || checks.items[i].code > checks.items[i - 1].code);
    }
    assert_int_equal(checks.count, RECIPE_CHECK_COUNT - 3); /* TP 1, no speech, one image */
}

static void test_never_overridable(void **state)
{
    static const enum recipe_check_code firm[] = {RECIPE_CHECK_SERVER_ONLINE, RECIPE_CHECK_TOKENS_PRESENT,
                                                  RECIPE_CHECK_COMMAND_RESOLVED};
    static const char *const names[] = {"server_online", "tokens_present", "command_resolved", "weights_fit"};
    static const struct recipe_token tokens[] = {{"HF_TOKEN", true, false}, {"OTHER", false, false}};
    static const char *const open[] = {"isl"};
    struct recipe_facts facts = facts_of(*state, PLAIN);
    struct recipe_list overridden = {names, 4};
    facts.is_online = false;
    facts.seen_seconds_ago = -1;
    facts.tokens = tokens;
    facts.token_count = 2;
    facts.unresolved = (struct recipe_list){open, 1};
    for (size_t i = 0; i < ARRAY_COUNT(firm); i++) {
        expect(*state, &facts, firm[i], RECIPE_FAIL);
        assert_false(recipe_check_is_overridable(firm[i]));
    }
    struct recipe_checks checks = all(*state, &facts);
    assert_int_equal(recipe_checks_failed(&checks, &overridden), 3);
    const struct recipe_check *check = one(*state, &facts, RECIPE_CHECK_TOKENS_PRESENT);
    assert_string_equal(check->found, "missing: HF_TOKEN");
    assert_non_null(strstr(one(*state, &facts, RECIPE_CHECK_COMMAND_RESOLVED)->remedy, "isl comes from the scenario"));
}

static void test_weights(void **state)
{
    struct recipe_facts facts = facts_of(*state, PLAIN);
    struct recipe_gpu small = GPU;
    struct recipe_memory_estimate memory;
    static const char *const names[] = {"weights_fit", "kv_cache_fits"};
    struct recipe_list overridden = {names, 2};
    recipe_estimate_memory(&facts, &memory);
    /* 19.2 / 1.2 GB on one GPU; 80 GiB × 0.9 - 1 GiB. */
    assert_true(memory.weights_bytes > 15.999e9 && memory.weights_bytes < 16.001e9);
    assert_true(memory.usable_bytes > 71.0 * 1073741824 - 1 && memory.usable_bytes < 71.0 * 1073741824 + 1);
    assert_true(memory.kv_bytes_per_token > 131071 && memory.kv_bytes_per_token < 131073);
    small.memory_gib = 16; /* 13.4 GiB usable, 14.9 needed */
    facts.gpu = &small;
    expect(*state, &facts, RECIPE_CHECK_WEIGHTS_FIT, RECIPE_FAIL);
    expect(*state, &facts, RECIPE_CHECK_KV_CACHE_FITS, RECIPE_FAIL);
    struct recipe_checks checks = all(*state, &facts);
    assert_int_equal(recipe_checks_failed(&checks, NULL), 2);
    assert_int_equal(recipe_checks_failed(&checks, &overridden), 0);
    facts.precision = "fp8"; /* 8 GB: fits, and 5.9 GiB of cache hold 48,700 tokens */
    expect(*state, &facts, RECIPE_CHECK_WEIGHTS_FIT, RECIPE_PASS);
    expect(*state, &facts, RECIPE_CHECK_KV_CACHE_FITS, RECIPE_PASS);
    facts.precision = "bf16";
    facts.set = set_of(*state, SET "\"args\":[" ARG("tensor_parallel_size", "2") "," ARG("max_model_len", "8192") "]");
    expect(*state, &facts, RECIPE_CHECK_WEIGHTS_FIT, RECIPE_PASS);
    facts.set = set_of(*state, SET "\"args\":[" ARG("cpu_offload_gb", "4") "," ARG("max_model_len", "4096") "]");
    expect(*state, &facts, RECIPE_CHECK_WEIGHTS_FIT, RECIPE_PASS);
    facts.precision = "fp5";
    expect(*state, &facts, RECIPE_CHECK_WEIGHTS_FIT, RECIPE_UNKNOWN);
    facts.precision = "bf16";
    facts.gpu = NULL;
    expect(*state, &facts, RECIPE_CHECK_WEIGHTS_FIT, RECIPE_UNKNOWN);
    facts.gpu = &GPU;
    facts.model = NULL;
    expect(*state, &facts, RECIPE_CHECK_WEIGHTS_FIT, RECIPE_UNKNOWN);
}

static void test_kv_cache(void **state)
{
    struct recipe_facts facts = facts_of(*state, PLAIN);
    struct recipe_model model = MODEL;
    struct recipe_memory_estimate bf16, fp8;
    /* 56.1 GiB of cache hold 459,574 tokens: 224 requests of 2048. */
    facts.concurrency = 224;
    expect(*state, &facts, RECIPE_CHECK_KV_CACHE_FITS, RECIPE_PASS);
    facts.concurrency = 225;
    expect(*state, &facts, RECIPE_CHECK_KV_CACHE_FITS, RECIPE_WARN);
    facts.replicas = 2;
    expect(*state, &facts, RECIPE_CHECK_KV_CACHE_FITS, RECIPE_PASS);
    recipe_estimate_memory(&facts, &bf16);
    facts.set = set_of(*state, SET "\"args\":[" ARG("kv_cache_dtype", "\"fp8\"") "]");
    recipe_estimate_memory(&facts, &fp8);
    assert_true(fp8.kv_tokens > 1.999 * bf16.kv_tokens && fp8.kv_tokens < 2.001 * bf16.kv_tokens);
    /* vLLM wants room for one request of the whole context to start. */
    model.context_length_tokens = 1000000;
    facts.model = &model;
    expect(*state, &facts, RECIPE_CHECK_KV_CACHE_FITS, RECIPE_FAIL);
    facts.set = set_of(*state, PLAIN);
    expect(*state, &facts, RECIPE_CHECK_KV_CACHE_FITS, RECIPE_PASS);
    model.kv_heads = 0;
    expect(*state, &facts, RECIPE_CHECK_KV_CACHE_FITS, RECIPE_UNKNOWN);
    assert_string_equal(one(*state, &facts, RECIPE_CHECK_KV_CACHE_FITS)->found,
                        "kv_heads and head_dim of the model are not known");
    model.latent_kv_values = 576;
    recipe_estimate_memory(&facts, &fp8);
    assert_true(fp8.kv_bytes_per_token > 36863 && fp8.kv_bytes_per_token < 36865); /* 576 × 32 × 2 */
    model.layers = 0;
    expect(*state, &facts, RECIPE_CHECK_KV_CACHE_FITS, RECIPE_UNKNOWN);
}

/* More GPUs than KV heads: heads are copied. */
static void test_kv_copies(void **state)
{
    struct recipe_facts facts = facts_of(*state, SET "\"args\":[" ARG("tensor_parallel_size", "16") "]");
    struct recipe_memory_estimate memory;
    recipe_estimate_memory(&facts, &memory);
    assert_true(memory.kv_bytes_per_token > 16383 && memory.kv_bytes_per_token < 16385); /* 2 × 1 × 128 × 32 × 2 */
    facts.set =
        set_of(*state, SET "\"args\":[" ARG("tensor_parallel_size", "2") "," ARG("data_parallel_size", "3") "]");
    recipe_estimate_memory(&facts, &memory);
    assert_true(memory.kv_bytes_per_token > 65535 && memory.kv_bytes_per_token < 65537);
    assert_true(memory.weights_bytes > 7.999e9 && memory.weights_bytes < 8.001e9); /* copies, no shards */
    facts.set =
        set_of(*state, SET "\"args\":[" ARG("data_parallel_size", "4") "," ARG("enable_expert_parallel", "true") "]");
    recipe_estimate_memory(&facts, &memory);
    assert_true(memory.weights_bytes > 3.999e9 && memory.weights_bytes < 4.001e9); /* experts are spread */
    facts.set =
        set_of(*state, SET "\"args\":[" ARG("tensor_parallel_size", "2") "," ARG("data_parallel_size", "3") "]");
    recipe_estimate_memory(&facts, &memory);
    assert_true(memory.requests > 2.999 * memory.kv_tokens / 2048 && memory.requests < 3.001 * memory.kv_tokens / 2048);
}

static void test_context(void **state)
{
    struct recipe_facts facts = facts_of(*state, SET "\"args\":[" ARG("max_model_len", "2048") "]");
    struct recipe_model model = MODEL;
    expect(*state, &facts, RECIPE_CHECK_CONTEXT_LENGTH, RECIPE_PASS); /* 1000 + 1000 + 48 */
    facts.template_tokens = 49;
    expect(*state, &facts, RECIPE_CHECK_CONTEXT_LENGTH, RECIPE_FAIL);
    facts.template_tokens = -1; /* 64 are taken */
    expect(*state, &facts, RECIPE_CHECK_CONTEXT_LENGTH, RECIPE_FAIL);
    facts.set = set_of(*state, SET "\"args\":[" ARG("max_model_len", "200000") "]");
    expect(*state, &facts, RECIPE_CHECK_CONTEXT_LENGTH, RECIPE_WARN);
    facts.set = set_of(*state, SET "\"args\":[]");
    expect(*state, &facts, RECIPE_CHECK_CONTEXT_LENGTH, RECIPE_PASS);
    model.context_length_tokens = 0;
    facts.model = &model;
    expect(*state, &facts, RECIPE_CHECK_CONTEXT_LENGTH, RECIPE_UNKNOWN);
    facts.model = &MODEL;
    facts.osl_tokens = 0;
    expect(*state, &facts, RECIPE_CHECK_CONTEXT_LENGTH, RECIPE_UNKNOWN);
    facts.tool = "metrumbench-asr";
    assert_null(one(*state, &facts, RECIPE_CHECK_CONTEXT_LENGTH));
}

static void test_parallel(void **state)
{
    struct recipe_facts facts = facts_of(*state, SET "\"args\":[" ARG("tensor_parallel_size", "4") "]");
    struct recipe_model model = MODEL;
    expect(*state, &facts, RECIPE_CHECK_GPU_COUNT, RECIPE_PASS);
    expect(*state, &facts, RECIPE_CHECK_TP_DIVIDES_HEADS, RECIPE_PASS);
    facts.host_gpus = 3;
    expect(*state, &facts, RECIPE_CHECK_GPU_COUNT, RECIPE_FAIL);
    facts.host_gpus = -1;
    expect(*state, &facts, RECIPE_CHECK_GPU_COUNT, RECIPE_UNKNOWN);
    facts.set = set_of(*state, SET "\"args\":[" ARG("tensor_parallel_size", "6") "]");
    facts.host_gpus = 8;
    expect(*state, &facts, RECIPE_CHECK_TP_DIVIDES_HEADS, RECIPE_FAIL);
    model.attention_heads = 0;
    facts.model = &model;
    expect(*state, &facts, RECIPE_CHECK_TP_DIVIDES_HEADS, RECIPE_UNKNOWN);
    facts.set = set_of(*state, SET "\"node_count\":2,\"args\":[" ARG("tensor_parallel_size",
                                                                     "8") "," ARG("pipeline_parallel_size", "2") "]");
    expect(*state, &facts, RECIPE_CHECK_GPU_COUNT, RECIPE_PASS);
}

static void test_framework(void **state)
{
    struct recipe_facts facts = facts_of(*state, PLAIN);
    struct recipe_gpu other = GPU;
    facts.framework_version = "0.10.2";
    expect(*state, &facts, RECIPE_CHECK_FRAMEWORK_VERSION, RECIPE_FAIL);
    facts.framework_version = "nightly";
    expect(*state, &facts, RECIPE_CHECK_FRAMEWORK_VERSION, RECIPE_PASS);
    facts.framework_version = NULL;
    expect(*state, &facts, RECIPE_CHECK_FRAMEWORK_VERSION, RECIPE_UNKNOWN);
    facts.framework_version = "0.12.0";
    facts.set = set_of(*state, "\"args\":[]");
    expect(*state, &facts, RECIPE_CHECK_FRAMEWORK_VERSION, RECIPE_UNKNOWN);
    facts.least_version = "0.12.1";
    expect(*state, &facts, RECIPE_CHECK_FRAMEWORK_VERSION, RECIPE_FAIL);
    facts.set = set_of(*state, PLAIN);
    expect(*state, &facts, RECIPE_CHECK_FRAMEWORK_VERSION, RECIPE_PASS);
    facts.tool = "metrumbench-imagegen";
    expect(*state, &facts, RECIPE_CHECK_FRAMEWORK_TOOL, RECIPE_FAIL);
    expect(*state, &facts, RECIPE_CHECK_ENGINE_ARGS_SCOPE, RECIPE_FAIL);
    facts.tool = "guidellm";
    expect(*state, &facts, RECIPE_CHECK_FRAMEWORK_TOOL, RECIPE_PASS);
    other.vendor = RECIPE_AMD;
    other.code = "mi300x";
    facts.gpu = &other;
    expect(*state, &facts, RECIPE_CHECK_FRAMEWORK_GPU, RECIPE_FAIL);
    expect(*state, &facts, RECIPE_CHECK_SET_GPU, RECIPE_WARN);
    facts.gpu = NULL;
    expect(*state, &facts, RECIPE_CHECK_FRAMEWORK_GPU, RECIPE_UNKNOWN);
    expect(*state, &facts, RECIPE_CHECK_SET_GPU, RECIPE_UNKNOWN);
    facts.gpu = &GPU;
    facts.precision = "nvfp4";
    expect(*state, &facts, RECIPE_CHECK_GPU_PRECISION, RECIPE_WARN);
    facts.set = set_of(*state, SET "\"args\":[" ARG("max_model_length", "1") "]");
    expect(*state, &facts, RECIPE_CHECK_ENGINE_ARGS_VALID, RECIPE_FAIL);
    facts.set = set_of(*state, PLAIN ",\"verified\":{\"h100\":\"unverified\"}");
    expect(*state, &facts, RECIPE_CHECK_SET_GPU, RECIPE_WARN);
    facts.set = set_of(*state, PLAIN ",\"verified\":{\"h100\":\"verified\"}");
    expect(*state, &facts, RECIPE_CHECK_SET_GPU, RECIPE_PASS);
}

static void test_model_of_set(void **state)
{
    struct recipe_facts facts = facts_of(*state, PLAIN);
    struct recipe_model variant = MODEL;
    variant.code = facts.model_code = "org/m-8b-fp8";
    facts.model = &variant;
    expect(*state, &facts, RECIPE_CHECK_SET_MODEL, RECIPE_WARN);
    variant.base_code = "org/other";
    expect(*state, &facts, RECIPE_CHECK_SET_MODEL, RECIPE_FAIL);
}

static void test_speech(void **state)
{
    struct recipe_facts facts = facts_of(*state, "\"args\":[]");
    struct recipe_model whisper = MODEL;
    facts.tool = "metrumbench-asr";
    expect(*state, &facts, RECIPE_CHECK_ASR_SCOPE, RECIPE_FAIL);
    whisper.family = "Whisper";
    facts.model = &whisper;
    expect(*state, &facts, RECIPE_CHECK_ASR_SCOPE, RECIPE_PASS);
    facts.model = NULL;
    facts.model_code = "openai/whisper-large-v3";
    expect(*state, &facts, RECIPE_CHECK_ASR_SCOPE, RECIPE_PASS);
    facts.model_code = "org/else";
    expect(*state, &facts, RECIPE_CHECK_ASR_SCOPE, RECIPE_UNKNOWN);
    struct recipe_framework other = *((struct fixture *)*state)->vllm;
    other.code = "sglang";
    facts.framework = &other;
    facts.set = NULL;
    facts.model_code = "openai/whisper-large-v3";
    expect(*state, &facts, RECIPE_CHECK_ASR_SCOPE, RECIPE_FAIL);
}

static void test_images(void **state)
{
    static const char *const many[] = {"FLUX.1-dev"}, *const single[] = {"Qwen-Image"}, *const any[] = {"*"};
    struct recipe_framework framework = *((struct fixture *)*state)->vllm;
    struct recipe_facts facts = facts_of(*state, "\"args\":[]");
    framework.many_images = (struct recipe_list){many, 1};
    framework.single_images = (struct recipe_list){single, 1};
    facts.framework = &framework;
    facts.tool = "metrumbench-imagegen";
    facts.set = NULL;
    facts.images_per_request = 1;
    assert_null(one(*state, &facts, RECIPE_CHECK_IMAGES_PER_REQUEST));
    facts.images_per_request = 2;
    facts.model_code = "black-forest-labs/FLUX.1-dev";
    expect(*state, &facts, RECIPE_CHECK_IMAGES_PER_REQUEST, RECIPE_PASS);
    facts.model_code = "lmsys/qwen-image-2512";
    expect(*state, &facts, RECIPE_CHECK_IMAGES_PER_REQUEST, RECIPE_FAIL);
    facts.model_code = "org/new";
    expect(*state, &facts, RECIPE_CHECK_IMAGES_PER_REQUEST, RECIPE_WARN);
    framework.many_images = (struct recipe_list){any, 1};
    expect(*state, &facts, RECIPE_CHECK_IMAGES_PER_REQUEST, RECIPE_PASS);
}

static void test_source_and_disk(void **state)
{
    struct recipe_facts facts = facts_of(*state, PLAIN);
    facts.is_prompt_source_present = false;
    facts.prompt_source_remedy = "assay ctl import p";
    expect(*state, &facts, RECIPE_CHECK_PROMPT_SOURCE, RECIPE_FAIL);
    assert_string_equal(one(*state, &facts, RECIPE_CHECK_PROMPT_SOURCE)->remedy, "assay ctl import p");
    facts.prompt_source_code = NULL;
    assert_null(one(*state, &facts, RECIPE_CHECK_PROMPT_SOURCE));
    facts.disk_free_bytes = 15900000000; /* the weights are 16 GB */
    expect(*state, &facts, RECIPE_CHECK_DISK_SPACE, RECIPE_FAIL);
    facts.is_model_cached = true;
    expect(*state, &facts, RECIPE_CHECK_DISK_SPACE, RECIPE_PASS);
    facts.disk_extra_bytes = 16000000000;
    expect(*state, &facts, RECIPE_CHECK_DISK_SPACE, RECIPE_FAIL);
    facts.disk_free_bytes = -1;
    expect(*state, &facts, RECIPE_CHECK_DISK_SPACE, RECIPE_UNKNOWN);
}

static void test_least_version(void **state)
{
    struct fixture *fixture = *state;
    struct recipe_data data = {0};
    struct recipe_text input =
        text_of("{\"schema\":\"assay.recipe-sets.v1\",\"sets\":["
                "{\"set_code\":\"a\",\"framework_code\":\"vllm\",\"model_code\":\"m\",\"framework_version_min\":\"0.12."
                "0\",\"args\":[]},"
                "{\"set_code\":\"b\",\"framework_code\":\"vllm\",\"model_code\":\"m\",\"framework_version_min\":\"0.9."
                "1\",\"args\":[]},"
                "{\"set_code\":\"c\",\"framework_code\":\"sglang\",\"model_code\":\"m\",\"framework_version_min\":\"0."
                "5.6\",\"args\":[]},"
                "{\"set_code\":\"d\",\"framework_code\":\"vllm\",\"model_code\":\"m\",\"args\":[]}]}");
    assert_int_equal(recipe_read_sets(&input, &fixture->arena, &data, &fixture->err), AS_OK);
    assert_string_equal(recipe_least_version(&data, "vllm", "m"), "0.9.1");
    assert_string_equal(recipe_least_version(&data, "sglang", "m"), "0.5.6");
    assert_null(recipe_least_version(&data, "vllm", "n"));
}

static void test_codes(void **state)
{
    (void)state;
    for (int i = 0; i < RECIPE_CHECK_COUNT; i++) {
        enum recipe_check_code code = RECIPE_CHECK_COUNT;
        assert_true(recipe_check_from(recipe_check_name((enum recipe_check_code)i), &code));
        assert_int_equal(code, i);
        assert_true(strlen(recipe_check_sentence(code)) > 10);
    }
    enum recipe_check_code code = RECIPE_CHECK_COUNT;
    assert_false(recipe_check_from("no_such", &code));
}

static void test_json(void **state)
{
    struct recipe_facts facts = facts_of(*state, PLAIN);
    struct recipe_checks checks = all(*state, &facts);
    struct json_writer writer;
    struct strbuf out AS_AUTO_STRBUF;
    strbuf_init(&out, 0);
    json_writer_init(&writer, &out, 0);
    recipe_checks_json(&checks, &writer);
    assert_int_equal(json_writer_status(&writer), AS_OK);
    static const char first[] = "[{\"code\":\"server_online\",\"state\":\"pass\",\"found\":\"last report 3 s ago\","
                                "\"needed\":\"an agent that reports\",\"remedy\":null,\"overridable\":false},";
    assert_memory_equal(strbuf_text(&out), first, sizeof(first) - 1);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_all_pass),     cmocka_unit_test(test_never_overridable),
        cmocka_unit_test(test_weights),      cmocka_unit_test(test_kv_cache),
        cmocka_unit_test(test_context),      cmocka_unit_test(test_kv_copies),
        cmocka_unit_test(test_parallel),     cmocka_unit_test(test_framework),
        cmocka_unit_test(test_model_of_set), cmocka_unit_test(test_speech),
        cmocka_unit_test(test_images),       cmocka_unit_test(test_source_and_disk),
        cmocka_unit_test(test_codes),        cmocka_unit_test(test_least_version),
        cmocka_unit_test(test_json),
    };
    return cmocka_run_group_tests(tests, fixture_open, fixture_close);
}
