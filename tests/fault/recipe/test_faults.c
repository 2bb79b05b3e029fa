/* SPDX-License-Identifier: Apache-2.0 */
/* Every allocation fails once: reading, checking, rendering, resolving, planning, verdicts, differences. */
#include "../../unit/recipe/facts.h"

#include "recipe/diff.h"
#include "recipe/replicas.h"
#include "support/faults.h"

static const char MODELS[] =
    "{\"schema\":\"assay.recipe-models.v1\",\"sources\":[{\"code\":\"r\",\"repository\":\"o/"
    "r\",\"commit\":\"c\",\"licence\":"
    "\"MIT\"}],\"models\":[{\"model_code\":\"o/"
    "m\",\"family\":\"M\",\"memory_floor_gb\":{\"bf16\":17},\"derived_precisions\":"
    "[\"bf16\"],\"tasks\":[\"text\"],\"config\":{\"layers\":2,\"kv_heads\":2,\"head_dim\":2,\"attention_heads\":4}}]}";
static const char GPUS[] = "{\"schema\":\"assay.recipe-gpus.v1\",\"gpus\":[{\"gpu_class\":\"h\",\"aliases\":[\"g\"],"
                           "\"vendor\":\"NVIDIA\",\"name\":"
                           "\"H\",\"memory_gib\":80,\"precisions\":[\"bf16\"]}]}";
static const char SETS[] =
    "{\"schema\":\"assay.recipe-sets.v1\",\"sets\":[{\"set_code\":\"s\",\"framework_code\":\"vllm\",\"framework_"
    "version_min\":"
    "\"0.11.0\",\"model_code\":\"o/"
    "m\",\"precision\":\"bf16\",\"gpu_classes\":[\"h\"],\"args\":[{\"key\":\"tensor_parallel_size\","
    "\"value\":2},{\"key\":\"sizes\",\"value\":[1,2]},{\"key\":\"master_addr\",\"value\":\"{head_ip}:1\"}],\"env\":{"
    "\"B\":\"1\","
    "\"A\":\"2\"},\"images\":{\"h\":\"i\"},\"verified\":{\"h\":\"verified\"}}]}";
static const char OTHER_SETS[] = "{\"schema\":\"assay.recipe-sets.v1\",\"sets\":[{\"set_code\":\"s\",\"framework_"
                                 "code\":\"vllm\",\"gpu_classes\":[\"k\"],"
                                 "\"args\":[{\"key\":\"sizes\",\"value\":[1,3],\"join\":\"=\"},{\"key\":\"max_model_"
                                 "len\",\"value\":1}],\"env\":{\"A\":\"3\"}}]}";
static const char TEMPLATES[] = "{\"schema\":\"assay.command-templates.v1\",\"templates\":[{\"code\":\"t\",\"kind\":"
                                "\"server\",\"framework_code\":\"vllm\","
                                "\"secrets\":[\"HF_TOKEN\"],\"defaults\":{\"seed\":1,\"l\":[\"a\"]},\"env\":{\"C\":\"{"
                                "seed}\"},\"argv\":[\"v\",\"{engine_args}\","
                                "\"--p={port}\",{\"each\":\"env\",\"argv\":[\"-e\",\"{item}\"]},[\"--s\",\"{seed}\"],{"
                                "\"when\":\"l\",\"argv\":[\"{l}\"]}],"
                                "\"files\":{\"f\":{\"b\":\"{port}\",\"a\":[\"{l}\",{\"x\":1}]}}}]}";

struct parts {
    struct arena arena;
    struct recipe_data data, other;
    struct recipe_templates templates;
};

static as_status read_all(struct parts *parts)
{
    struct recipe_text models = text_of(MODELS), gpus = text_of(GPUS), sets = text_of(SETS),
                       others = text_of(OTHER_SETS), frameworks = text_of(FRAMEWORKS), templates = text_of(TEMPLATES);
    struct as_error err = {0};
    as_status status = recipe_read_models(&models, &parts->arena, &parts->data, &err);
    if (status == AS_OK)
        status = recipe_read_gpus(&gpus, &parts->arena, &parts->data, &err);
    if (status == AS_OK)
        status = recipe_read_frameworks(&frameworks, &parts->arena, &parts->data, &err);
    if (status == AS_OK)
        status = recipe_read_sets(&sets, &parts->arena, &parts->data, &err);
    if (status == AS_OK)
        status = recipe_read_sets(&others, &parts->arena, &parts->other, &err);
    if (status == AS_OK)
        status = recipe_read_templates(&templates, &parts->arena, &parts->templates, &err);
    return status;
}

static as_status resolve(struct parts *parts, const struct recipe_set *set, const struct recipe_plan *plan)
{
    struct recipe_job job = {.item = &parts->templates.items[0],
                             .values = plan->instances[0].values,
                             .framework = &parts->data.frameworks[0],
                             .set = set,
                             .env = plan->instances[0].env};
    struct recipe_command command = {0};
    struct recipe_list open = {0};
    struct as_error err = {0};
    char digest[RECIPE_DIGEST_BYTES];
    struct strbuf text AS_AUTO_STRBUF;
    strbuf_init(&text, 0);
    as_status status = recipe_resolve(&job, &parts->arena, &command, &err);
    if (status == AS_OK)
        status = recipe_unresolved(&job, &parts->arena, &open, &err);
    if (status == AS_OK)
        status = recipe_command_digest(&command, digest);
    if (status == AS_OK)
        status = recipe_template_canonical(job.item, &text);
    return status;
}

static as_status plan_and_resolve(struct parts *parts, const struct recipe_set *set)
{
    static const int64_t devices[] = {0, 1, 2, 3};
    struct recipe_host host = {.address = "h", .devices = devices, .device_count = 4};
    struct recipe_replica_request request = {
        .hosts = &host, .host_count = 1, .gpus_per_replica = 2, .node_count = 1, .container_engine = "docker"};
    struct recipe_plan plan = {0};
    struct as_error err = {0};
    as_status status = recipe_plan_replicas(&request, &parts->arena, &plan, &err);
    return status == AS_OK ? resolve(parts, set, &plan) : status;
}

static as_status judge(struct parts *parts, const struct recipe_set *set)
{
    static const struct recipe_token tokens[] = {{"HF_TOKEN", true, false}};
    static const char *const open[] = {"isl", "mine"};
    struct recipe_facts facts = {.tool = "metrumbench-llm",
                                 .model = &parts->data.models[0],
                                 .model_code = "o/m",
                                 .gpu = &parts->data.gpus[0],
                                 .framework = &parts->data.frameworks[0],
                                 .framework_version = "0.12.0",
                                 .set = set,
                                 .host_gpus = 8,
                                 .replicas = 1,
                                 .isl_tokens = 10,
                                 .osl_tokens = 10,
                                 .concurrency = 1,
                                 .tokens = tokens,
                                 .token_count = 1,
                                 .unresolved = {open, 2},
                                 .disk_free_bytes = 1000};
    struct recipe_checks checks = {0};
    struct as_error err = {0};
    return recipe_check_all(&facts, &parts->arena, &checks, &err);
}

static as_status everything(void *context)
{
    struct parts parts = {0};
    struct recipe_diff diff = {0};
    struct as_error err = {0};
    char digest[RECIPE_DIGEST_BYTES];
    (void)context;
    arena_init(&parts.arena, 64, 0);
    as_status status = read_all(&parts);
    const struct recipe_set *set = status == AS_OK ? &parts.data.sets[0] : NULL;
    if (status == AS_OK)
        status = recipe_set_check(&parts.data.frameworks[0], "0.12.0", set, &err);
    if (status == AS_OK)
        status = recipe_set_digest(&parts.data.frameworks[0], set, digest, &err);
    if (status == AS_OK)
        status = plan_and_resolve(&parts, set);
    if (status == AS_OK)
        status = judge(&parts, set);
    if (status == AS_OK)
        status = recipe_diff_sets(&parts.data, &parts.other, &parts.arena, &diff);
    arena_done(&parts.arena);
    return status;
}

static void test_allocations(void **state)
{
    (void)state;
    assert_true(fault_each(FAULT_ALLOC, AS_E_NOMEM, everything, NULL) > 200);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_allocations)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
