/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The shipped command templates: what each becomes is kept in expected/commands.txt, and the words of our own tools are
 * read by the tools' option tables, with everything that depends on several options.
 */
#include "recipe/command.h"
#include "recipe/replicas.h"

#include "base/file.h"
#include "run/plan.h"
#include "run/resolve.h"
#include "run/target.h"
#include "run/tool.h"
#include "support/check.h"
#include "support/golden.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static struct arena arena;
static struct recipe_data data;
static struct recipe_templates templates;

static int load(void **state)
{
    struct as_error err = {0};
    struct strbuf text AS_AUTO_STRBUF;
    (void)state;
    strbuf_init(&text, 0);
    arena_init(&arena, 0, 0);
    as_status status = recipe_load("data/recipes", &arena, &data, &err);
    if (status == AS_OK)
        status = file_read("data/recipes/templates.json", &text, &err);
    struct recipe_text input = {"templates.json", strbuf_text(&text), text.len};
    if (status == AS_OK)
        status = recipe_read_templates(&input, &arena, &templates, &err);
    if (status != AS_OK)
        (void)fprintf(stderr, "%s\n", err.message);
    return status == AS_OK ? 0 : -1;
}

static int unload(void **state)
{
    (void)state;
    arena_done(&arena);
    return 0;
}

#define TEXT(a, b, l)                                                                                                  \
    {                                                                                                                  \
        .name = (a), .kind = RECIPE_TEXT, .text = (b), .layer = (l)                                                    \
    }
#define NUMBER(a, b, l)                                                                                                \
    {                                                                                                                  \
        .name = (a), .kind = RECIPE_NUMBER, .text = (b), .layer = (l)                                                  \
    }
#define FLAG(a, b, l)                                                                                                  \
    {                                                                                                                  \
        .name = (a), .kind = RECIPE_FLAG, .text = (b), .layer = (l)                                                    \
    }

static const char *const URLS[] = {"http://10.0.0.5:8000", "http://10.0.0.5:8001"};

/* What every tool needs; then what it may be given besides. `urls` and `url` come first. */
static const struct recipe_value LEAST[] = {
    {.name = "urls", .kind = RECIPE_LIST, .list = {URLS, 1}, .layer = RECIPE_FROM_PLAN},
    TEXT("url", "http://10.0.0.5:8000", RECIPE_FROM_PLAN),
    TEXT("model", "meta-llama/Llama-3.3-70B-Instruct", RECIPE_FROM_WORKLOAD),
    TEXT("prompts_file", "/work/job-7/prompts.jsonl", RECIPE_FROM_PLAN),
    TEXT("input_file", "/work/job-7/manifest.jsonl", RECIPE_FROM_PLAN),
    TEXT("work_dir", "/work/job-7", RECIPE_FROM_PLAN),
    TEXT("result_dir", "/work/job-7/results", RECIPE_FROM_PLAN),
    TEXT("job_code", "job-7", RECIPE_FROM_PLAN),
    TEXT("scenario_code", "isl512-osl128-c8", RECIPE_FROM_SCENARIO),
    NUMBER("concurrency", "8", RECIPE_FROM_SCENARIO),
    NUMBER("num_requests", "128", RECIPE_FROM_SCENARIO),
    NUMBER("isl", "512", RECIPE_FROM_SCENARIO),
    NUMBER("osl", "128", RECIPE_FROM_SCENARIO),
};

static const struct recipe_value MORE[] = {
    NUMBER("seed", "7", RECIPE_FROM_RUN),
    FLAG("ignore_eos", "true", RECIPE_FROM_RUN),
    NUMBER("temperature", "0.7", RECIPE_FROM_RUN),
    NUMBER("request_timeout_s", "600", RECIPE_FROM_RUN),
    NUMBER("warmup_requests", "4", RECIPE_FROM_RUN),
    TEXT("extra_body", "{\"top_p\": 0.9, \"user\": \"it's\"}", RECIPE_FROM_RUN),
    NUMBER("num_images_batch", "2", RECIPE_FROM_SCENARIO),
    TEXT("image_detail", "low", RECIPE_FROM_SCENARIO),
    TEXT("image_size", "512x768", RECIPE_FROM_SCENARIO),
    NUMBER("max_image_dimension", "1024", RECIPE_FROM_SCENARIO),
    TEXT("language", "en", RECIPE_FROM_WORKLOAD),
    TEXT("ground_truth_file", "/work/job-7/truth.jsonl", RECIPE_FROM_PLAN),
    NUMBER("num_inference_steps", "20", RECIPE_FROM_WORKLOAD),
    NUMBER("guidance_scale", "3.5", RECIPE_FROM_WORKLOAD),
    TEXT("negative_prompt", "blurred", RECIPE_FROM_WORKLOAD),
    TEXT("model_cache", "/srv/models", RECIPE_FROM_SERVER),
};

struct shape {
    const char *name;
    size_t servers;
    bool has_more;
    const char *rate; /* NULL = closed loop */
};

static const struct shape SHAPES[] = {
    {"least", 1, false, NULL}, {"all", 1, true, NULL}, {"two servers", 2, true, NULL}, {"open loop", 1, true, "2.5"}};

static struct recipe_values values_of(const struct shape *shape)
{
    struct recipe_value *values = arena_calloc(&arena, ARRAY_COUNT(LEAST) + ARRAY_COUNT(MORE) + 2, sizeof(*values));
    size_t count = 0;
    assert_non_null(values);
    for (size_t i = 0; i < ARRAY_COUNT(LEAST); i++)
        if (shape->servers == 1 || strcmp(LEAST[i].name, "url") != 0)
            values[count++] = LEAST[i];
    values[0].list.count = shape->servers;
    for (size_t i = 0; shape->has_more && i < ARRAY_COUNT(MORE); i++)
        values[count++] = MORE[i];
    if (shape->rate)
        values[count++] = (struct recipe_value)NUMBER("request_rate", shape->rate, RECIPE_FROM_SCENARIO);
    else if (shape->has_more)
        values[count++] = (struct recipe_value)NUMBER("ramp_up_seconds", "5", RECIPE_FROM_SCENARIO);
    return (struct recipe_values){values, count};
}

static void add_command(const char *heading, const struct recipe_command *command, struct strbuf *out)
{
    strbuf_addf(out, "# %s\n", heading);
    recipe_command_text(command, out);
    strbuf_addc(out, '\n');
    for (size_t i = 0; i < command->secrets.count; i++)
        strbuf_addf(out, "%s%s", i ? " " : "secrets: ", command->secrets.items[i]);
    strbuf_adds(out, command->secrets.count > 0 ? "\n" : "");
    for (size_t i = 0; i < command->files.count; i++)
        strbuf_addf(out, "file %s:\n%s", command->files.items[i].name, command->files.items[i].value);
    strbuf_addc(out, '\n');
}

/* Takes out what the template refuses, but for the rate: that refusal is kept as its result. */
static void allow(const struct recipe_template *item, struct recipe_values *values)
{
    struct recipe_value *kept = arena_calloc(&arena, values->count + 1, sizeof(*kept));
    size_t count = 0;
    assert_non_null(kept);
    for (size_t i = 0; i < values->count; i++)
        if (!recipe_list_has(&item->refuses, values->items[i].name) ||
            strcmp(values->items[i].name, "request_rate") == 0)
            kept[count++] = values->items[i];
    *values = (struct recipe_values){kept, count};
}

static void add_tools(struct strbuf *out)
{
    for (size_t i = 0; i < templates.count; i++) {
        const struct recipe_template *item = &templates.items[i];
        for (size_t j = 0; item->kind == RECIPE_TOOL && j < ARRAY_COUNT(SHAPES); j++) {
            struct recipe_job job = {.item = item, .values = values_of(&SHAPES[j])};
            allow(item, &job.values);
            struct recipe_command command = {0};
            struct as_error err = {0};
            as_status status = recipe_resolve(&job, &arena, &command, &err);
            if (status == AS_OK)
                add_command(arena_printf(&arena, "%s, %s", item->code, SHAPES[j].name), &command, out);
            else
                strbuf_addf(out, "# %s, %s\n%s\n\n", item->code, SHAPES[j].name, err.message);
        }
    }
}

static const int64_t DEVICES[] = {0, 1, 2, 3, 4, 5, 6, 7};

struct start {
    const char *set_code;
    const char *tool;
    const char *version;
    const char *container_engine;
    enum recipe_vendor vendor;
    const char *gpu_class;
};

static const struct start STARTS[] = {
    {"vllm-llama33-70b-instruct-h100-h200-tp8", "metrumbench-llm", "0.12.0", NULL, RECIPE_NVIDIA, "h100"},
    {"vllm-llama33-70b-instruct-b200-gb200-tp1-fused", "metrumbench-llm", "0.12.0", "docker", RECIPE_NVIDIA, "b200"},
    {"vllm-llama33-70b-instruct-mi300x-mi325x-mi355x-tp1", "metrumbench-llm", "0.12.0", "podman", RECIPE_AMD, "mi300x"},
    {"vllm-qwen38-2p4t-a95b-nvfp4-gb300-tp8-n2", "metrumbench-llm", "nightly", "docker", RECIPE_NVIDIA, "gb300"},
    {"sglang-llama33-70b-instruct-mi300x-mi325x-mi355x-tp1", "metrumbench-vlm", "0.5.15.post1", NULL, RECIPE_AMD,
     "mi300x"},
    {"sglang-llama33-70b-instruct-mi300x-mi325x-mi355x-tp1", "metrumbench-llm", "0.5.15.post1", "podman", RECIPE_NVIDIA,
     "h100"},
    {"sglang-metrumbench-imagegen", "metrumbench-imagegen", "0.5.15.post1", NULL, RECIPE_NVIDIA, "h100"},
    {"sglang-metrumbench-imagegen", "metrumbench-imagegen", "0.5.15.post1", "docker", RECIPE_NVIDIA, "h100"},
    {"vllm-omni-metrumbench-imagegen", "metrumbench-imagegen", "0.24.0", NULL, RECIPE_NVIDIA, "h100"},
    {"vllm-omni-metrumbench-imagegen", "metrumbench-imagegen", "0.24.0", "docker", RECIPE_NVIDIA, "h100"},
    {"tensorrt-llm", "metrumbench-llm", "1.0.0", NULL, RECIPE_NVIDIA, "h100"},
    {"tensorrt-llm", "metrumbench-llm", "1.0.0", "docker", RECIPE_NVIDIA, "h100"},
};

/* TensorRT-LLM ships without sets. */
static const struct recipe_arg TRT_ARGS[] = {{.key = "tp_size", .text = "4"}, {.key = "max_seq_len", .text = "8192"}};
static const struct recipe_set TRT_SET = {.code = "tensorrt-llm",
                                          .framework_code = "tensorrt-llm",
                                          .tensor_parallel_size = 4,
                                          .node_count = 1,
                                          .gpus_per_replica = 4,
                                          .args = {TRT_ARGS, 2}};

static struct recipe_values server_values(const struct recipe_instance *instance, const char *image)
{
    struct recipe_value *values = arena_calloc(&arena, instance->values.count + 3, sizeof(*values));
    size_t count = instance->values.count;
    assert_non_null(values);
    memcpy(values, instance->values.items, count * sizeof(*values));
    values[count++] = (struct recipe_value)TEXT("model", "org/model", RECIPE_FROM_WORKLOAD);
    values[count++] = (struct recipe_value)TEXT("model_cache", "/srv/models", RECIPE_FROM_SERVER);
    if (image)
        values[count++] = (struct recipe_value)TEXT("image", image, RECIPE_FROM_WORKLOAD);
    return (struct recipe_values){values, count};
}

static void add_instance(const struct start *start, const struct recipe_set *set,
                         const struct recipe_instance *instance, struct strbuf *out)
{
    const struct recipe_framework *framework = recipe_framework(&data, set->framework_code);
    struct recipe_template_query query = {.kind = RECIPE_SERVER,
                                          .framework_code = set->framework_code,
                                          .version = start->version,
                                          .tool = start->tool,
                                          .runtime = start->container_engine ? "container" : "process"};
    struct recipe_image_query image = {set, recipe_gpu(&data, start->gpu_class), start->version};
    struct recipe_job job = {.item = recipe_template_for(&templates, &query),
                             .values = server_values(instance, recipe_container_image(framework, &image, &arena)),
                             .framework = framework,
                             .set = set,
                             .env = instance->env};
    struct recipe_command command = {0};
    struct as_error err = {0};
    assert_non_null(job.item);
    if (recipe_resolve(&job, &arena, &command, &err) != AS_OK)
        fail_msg("%s: %s", set->code, err.message);
    add_command(arena_printf(&arena, "%s: %s, replica %d, node %d", job.item->code, set->code, (int)instance->replica,
                             (int)instance->node_rank),
                &command, out);
}

static void add_servers(struct strbuf *out)
{
    for (size_t i = 0; i < ARRAY_COUNT(STARTS); i++) {
        const struct start *start = &STARTS[i];
        const struct recipe_set *set = recipe_set(&data, start->set_code);
        struct as_error err = {0};
        struct recipe_plan plan = {0};
        set = set ? set : &TRT_SET;
        struct recipe_host hosts[] = {
            {.address = "10.0.0.5",
             .devices = DEVICES,
             .device_count = set->gpus_per_replica < 8 ? 2 : 8,
             .interface = "eth0"},
            {.address = "10.0.0.6", .devices = DEVICES, .device_count = 8, .interface = "eth0"}};
        if (set == &TRT_SET)
            hosts[0].device_count = 8;
        struct recipe_replica_request request = {.hosts = hosts,
                                                 .host_count = 2,
                                                 .vendor = start->vendor,
                                                 .gpus_per_replica = set->gpus_per_replica,
                                                 .node_count = set->node_count,
                                                 .container_engine = start->container_engine};
        if (recipe_plan_replicas(&request, &arena, &plan, &err) != AS_OK)
            fail_msg("%s: %s", set->code, err.message);
        for (size_t j = 0; j < plan.instance_count; j++)
            add_instance(start, set, &plan.instances[j], out);
    }
}

static void test_commands(void **state)
{
    struct strbuf out AS_AUTO_STRBUF;
    (void)state;
    strbuf_init(&out, 0);
    add_servers(&out);
    add_tools(&out);
    assert_int_equal(strbuf_status(&out), AS_OK);
    golden_check("tests/golden/recipe/expected/commands.txt", strbuf_text(&out), out.len);
}

/* Reads words after `assay` with the tool's own tables. */
static void check_line(const struct run_tool *tool, const struct recipe_command *command, const char *shape)
{
    static struct run_config config;
    struct opt_parsed parsed;
    struct targets targets;
    struct run_shape run_shape = {0};
    struct as_error err = {0};
    struct arena memory;
    char *words[256];
    size_t count = 0;
    assert_true(command->argv.count < ARRAY_COUNT(words));
    for (size_t i = 1; i < command->argv.count; i++)
        words[count++] = arena_strdup(&arena, command->argv.items[i]);
    words[count] = NULL;
    memset(&config, 0, sizeof(config));
    arena_init(&memory, 0, 0);
    targets_init(&targets);
    struct resolving what = {&config, &parsed, &targets.list, &run_shape};
    struct opt_input input = {(int)count, words, NULL, &config, &memory};
    as_status status = options_read(tool->line, &input, &parsed, &err);
    if (status == AS_OK)
        status = targets_list(&targets, &config.endpoint, &err);
    if (status == AS_OK)
        status = run_resolve(tool, &what, &err);
    if (status != AS_OK)
        fail_msg("%s, %s: %s", command->template_code, shape, err.message);
    assert_string_equal(command->argv.items[0], "assay");
    assert_string_equal(command->argv.items[1], tool->name);
    targets_done(&targets);
    arena_done(&memory);
}

static void test_our_tools(void **state)
{
    static const struct {
        const char *code;
        const struct run_tool *tool;
    } tools[] = {{"metrumbench-llm", &TOOL_LLM},
                 {"metrumbench-vlm", &TOOL_VLM},
                 {"metrumbench-asr", &TOOL_ASR},
                 {"metrumbench-imagegen", &TOOL_IMAGEGEN}};
    (void)state;
    for (size_t i = 0; i < ARRAY_COUNT(tools); i++) {
        struct recipe_template_query query = {.kind = RECIPE_TOOL, .tool = tools[i].code};
        for (size_t j = 0; j < ARRAY_COUNT(SHAPES); j++) {
            struct recipe_job job = {.item = recipe_template_for(&templates, &query), .values = values_of(&SHAPES[j])};
            struct recipe_command command = {0};
            struct as_error err = {0};
            assert_non_null(job.item);
            if (recipe_resolve(&job, &arena, &command, &err) != AS_OK)
                fail_msg("%s", err.message);
            check_line(tools[i].tool, &command, SHAPES[j].name);
        }
    }
}

/* Every placeholder is told of on the page, and the page tells of no other. */
static void test_page(void **state)
{
    size_t len = 0, count = 0, told = 0;
    (void)state;
    char *page = golden_read("docs/guide/command-templates.md", &len);
    const struct recipe_placeholder *known = recipe_placeholders(&count);
    for (size_t i = 0; i < count; i++) {
        const char *row = arena_printf(&arena, "| `{%s}` |", known[i].name);
        const char *at = strstr(page, row);
        if (!at)
            fail_msg("the page has no row %s", row);
        const char *layer = arena_printf(&arena, "%s %s |", row, recipe_layer_name(known[i].layer));
        if (strncmp(at, layer, strlen(layer)) != 0)
            fail_msg("the row of {%s} does not say %s", known[i].name, recipe_layer_name(known[i].layer));
        if (!strstr(at, known[i].sentence))
            fail_msg("the row of {%s} does not say: %s", known[i].name, known[i].sentence);
    }
    for (const char *at = strstr(page, "\n| `{"); at; at = strstr(at + 1, "\n| `{"))
        told += at[5] != '"';
    assert_int_equal(told, count);
    free(page);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_commands),
        cmocka_unit_test(test_our_tools),
        cmocka_unit_test(test_page),
    };
    return cmocka_run_group_tests(tests, load, unload);
}
