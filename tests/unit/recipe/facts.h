/* SPDX-License-Identifier: Apache-2.0 */
#ifndef ASSAY_TESTS_UNIT_RECIPE_FACTS_H
#define ASSAY_TESTS_UNIT_RECIPE_FACTS_H

/* A small framework and readers of JSON texts for the tests of the module. */

#include "recipe/command.h"
#include "recipe/readiness.h"

#include "support/check.h"

#include <stdio.h>
#include <string.h>

static const char FRAMEWORKS[] =
    "{\"schema\":\"assay.recipe-frameworks.v1\",\"frameworks\":[{\"framework_code\":\"vllm\",\"name\":\"vLLM\","
    "\"releases\":[{\"build\":\"cuda\"}],\"images\":{\"cuda\":\"vllm/vllm-openai:v{version}\"},"
    "\"tools\":[\"metrumbench-llm\",\"metrumbench-vlm\",\"metrumbench-asr\"],"
    "\"parallel\":{\"tensor\":\"tensor_parallel_size\",\"pipeline\":\"pipeline_parallel_size\",\"data\":"
    "\"data_parallel_size\",\"expert\":\"enable_expert_parallel\"},"
    "\"roles\":{\"context_length\":\"max_model_len\",\"memory_fraction\":\"gpu_memory_utilization\","
    "\"kv_cache_dtype\":\"kv_cache_dtype\",\"cpu_offload_gb\":\"cpu_offload_gb\"},\"flags\":["
    "{\"key\":\"tensor_parallel_size\",\"type\":\"int\",\"flag\":\"--tensor-parallel-size\",\"aliases\":[\"-tp\"]},"
    "{\"key\":\"pipeline_parallel_size\",\"type\":\"int\",\"flag\":\"--pipeline-parallel-size\"},"
    "{\"key\":\"data_parallel_size\",\"type\":\"int\",\"flag\":\"--data-parallel-size\"},"
    "{\"key\":\"enable_expert_parallel\",\"type\":\"bool\",\"flag\":\"--enable-expert-parallel\"},"
    "{\"key\":\"max_model_len\",\"type\":\"int\",\"flag\":\"--max-model-len\"},"
    "{\"key\":\"gpu_memory_utilization\",\"type\":\"float\",\"flag\":\"--gpu-memory-utilization\",\"default\":0.9},"
    "{\"key\":\"cpu_offload_gb\",\"type\":\"float\",\"flag\":\"--cpu-offload-gb\",\"default\":0},"
    "{\"key\":\"kv_cache_dtype\",\"type\":\"string\",\"flag\":\"--kv-cache-dtype\",\"choices\":[\"auto\",\"fp8\"]},"
    "{\"key\":\"enable_prefix_caching\",\"type\":\"bool\",\"flag\":\"--enable-prefix-caching\",\"false_flag\":"
    "\"--no-enable-prefix-caching\"},"
    "{\"key\":\"enforce_eager\",\"type\":\"bool\",\"flag\":\"--enforce-eager\"},"
    "{\"key\":\"cc.fuse\",\"type\":\"bool\",\"flag\":\"-cc.fuse\",\"writes_bool\":true},"
    "{\"key\":\"compilation_config\",\"type\":\"json\",\"flag\":\"--compilation-config\"},"
    "{\"key\":\"sizes\",\"type\":\"list\",\"flag\":\"--sizes\"},"
    "{\"key\":\"node_rank\",\"type\":\"int\",\"flag\":\"--node-rank\"},"
    "{\"key\":\"master_addr\",\"type\":\"string\",\"flag\":\"--master-addr\"},"
    "{\"key\":\"old_flag\",\"type\":\"int\",\"flag\":\"--old-flag\",\"until\":\"0.11.0\"},"
    "{\"key\":\"new_flag\",\"type\":\"int\",\"flag\":\"--new-flag\",\"since\":\"0.12.0\"},"
    "{\"key\":\"usp\",\"type\":\"int\",\"flag\":\"--usp\",\"tool\":\"metrumbench-imagegen\"}"
    "]}]}";

struct fixture {
    struct arena arena;
    struct recipe_data data;
    const struct recipe_framework *vllm;
    struct as_error err;
};

static inline struct recipe_text text_of(const char *text)
{
    return (struct recipe_text){"test.json", text, strlen(text)};
}

static inline int fixture_open(void **state)
{
    static struct fixture fixture;
    struct recipe_text input = text_of(FRAMEWORKS);
    memset(&fixture, 0, sizeof(fixture));
    arena_init(&fixture.arena, 0, 0);
    if (recipe_read_frameworks(&input, &fixture.arena, &fixture.data, &fixture.err) != AS_OK)
        fail_msg("%s", fixture.err.message);
    fixture.vllm = recipe_framework(&fixture.data, "vllm");
    *state = &fixture;
    return 0;
}

static inline int fixture_close(void **state)
{
    struct fixture *fixture = *state;
    arena_done(&fixture->arena);
    return 0;
}

/* A set with these members (JSON without braces: "\"args\":[…]"). */
static inline const struct recipe_set *set_of(struct fixture *fixture, const char *members)
{
    char *text = arena_printf(&fixture->arena,
                              "{\"schema\":\"assay.recipe-sets.v1\",\"sets\":[{\"set_code\":\"s\",\"framework_code\":"
                              "\"vllm\",%s}]}",
                              members);
    struct recipe_text input = text_of(text);
    if (recipe_read_sets(&input, &fixture->arena, &fixture->data, &fixture->err) != AS_OK)
        fail_msg("%s", fixture->err.message);
    return &fixture->data.sets[0];
}

#endif
