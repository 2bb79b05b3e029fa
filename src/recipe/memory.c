/* SPDX-License-Identifier: Apache-2.0 */
/* How much memory a replica takes; the rules stand in docs/guide/engine-arguments.md. */
#include "recipe/memory.h"

#include <strings.h>

#define GIB               1073741824.0
#define FLOOR_PER_WEIGHTS 1.2         /* upstream's floor is the weights × 1.2 */
#define RESERVE_BYTES     (1.0 * GIB) /* activations, graphs, communication buffers */
#define DEFAULT_FRACTION  0.88        /* where the framework chooses the part itself */
#define TEMPLATE_TOKENS   64

static const char *precision_of(const struct recipe_facts *facts)
{
    return facts->precision ? facts->precision : facts->set ? facts->set->precision : NULL;
}

/* Bytes of one parameter with the scales of its group; below 0 for precisions that are not known. */
static double parameter_bytes(const char *precision)
{
    static const struct {
        const char *name;
        double bytes;
    } sizes[] = {{"fp32", 4},      {"bf16", 2},     {"fp16", 2},       {"fp8", 1},        {"int8", 1},
                 {"int4", 0.5625}, {"fp4", 0.5625}, {"nvfp4", 0.5625}, {"mxfp4", 0.53125}};
    for (size_t i = 0; i < sizeof(sizes) / sizeof(sizes[0]); i++)
        if (strcmp(sizes[i].name, precision) == 0)
            return sizes[i].bytes;
    return -1;
}

double recipe_weights_bytes(const struct recipe_facts *facts)
{
    const char *precision = precision_of(facts);
    const struct recipe_model *model = facts->model;
    if (!precision)
        return -1;
    for (size_t i = 0; model && i < model->memory_count; i++)
        if (strcmp(model->memory[i].precision, precision) == 0)
            return model->memory[i].floor_gb * 1e9 / FLOOR_PER_WEIGHTS;
    bool is_sets = facts->set && facts->set->memory_floor_gb > 0 && facts->set->precision &&
                   strcmp(facts->set->precision, precision) == 0;
    if (is_sets)
        return facts->set->memory_floor_gb * 1e9 / FLOOR_PER_WEIGHTS;
    double bytes = parameter_bytes(precision);
    return model && model->parameters > 0 && bytes > 0 ? model->parameters * bytes : -1;
}

double recipe_request_tokens(const struct recipe_facts *facts)
{
    if (facts->isl_tokens <= 0 || facts->osl_tokens <= 0)
        return -1;
    int64_t more = facts->template_tokens < 0 ? TEMPLATE_TOKENS : facts->template_tokens;
    return (double)facts->isl_tokens + (double)facts->osl_tokens + (double)more;
}

/* A number the set gives for a role, else its flag's documented default; below 0 when there is neither. */
static double role_number(const struct recipe_facts *facts, const char *role)
{
    const char *text = facts->set ? recipe_set_role(facts->framework, facts->set, role) : NULL;
    const char *key = recipe_pairs_get(&facts->framework->roles, role);
    double number = 0;
    if (!text && key) {
        struct recipe_flag_query query = {
            .key = key, .version = facts->framework_version, .tool = facts->set ? facts->set->tool : NULL};
        const struct recipe_flag *flag = recipe_flag(facts->framework, &query);
        text = flag ? flag->default_text : NULL;
    }
    return text && json_text_double(text, strlen(text), &number) && number >= 0 ? number : -1;
}

double recipe_context_tokens(const struct recipe_facts *facts)
{
    double of_set = role_number(facts, "context_length");
    if (of_set > 0)
        return of_set;
    return facts->model && facts->model->context_length_tokens > 0 ? (double)facts->model->context_length_tokens : -1;
}

double recipe_least_kv_tokens(const struct recipe_facts *facts)
{
    return strcmp(facts->framework->code, "vllm") == 0 ? recipe_context_tokens(facts) : -1;
}

int64_t recipe_kv_ranks(const struct recipe_parallel *parallel)
{
    return parallel->data * (parallel->tensor / parallel->attention);
}

static double kv_value_bytes(const struct recipe_facts *facts)
{
    const char *type = facts->set ? recipe_set_role(facts->framework, facts->set, "kv_cache_dtype") : NULL;
    if (!type)
        return 2;
    if (strncasecmp(type, "fp8", 3) == 0 || strncasecmp(type, "int8", 4) == 0)
        return 1;
    if (strstr(type, "fp4"))
        return 0.5625;
    return 2;
}

/* Bytes of KV cache a token takes on one GPU. */
static double kv_bytes_per_token(const struct recipe_facts *facts, const struct recipe_parallel *parallel)
{
    const struct recipe_model *model = facts->model;
    if (!model || model->layers == 0)
        return -1;
    double layers = (double)(model->full_attention_layers > 0 ? model->full_attention_layers : model->layers) /
                    (double)parallel->pipeline;
    if (model->latent_kv_values > 0)
        return (double)model->latent_kv_values * layers * kv_value_bytes(facts);
    if (model->kv_heads == 0 || model->head_dim == 0)
        return -1;
    int64_t heads = (model->kv_heads + parallel->attention - 1) / parallel->attention;
    return 2.0 * (double)heads * (double)model->head_dim * layers * kv_value_bytes(facts);
}

static double weights_share(const struct recipe_facts *facts, const struct recipe_parallel *parallel)
{
    double total = recipe_weights_bytes(facts), offload_gib = role_number(facts, "cpu_offload_gb");
    const struct recipe_arg *sharded = facts->set ? recipe_set_arg(facts->set, "use_hsdp") : NULL;
    int64_t gpus = parallel->tensor * parallel->pipeline * (parallel->expert > 0 ? parallel->data : 1);
    if (total < 0)
        return -1;
    if (sharded && strcmp(sharded->text, "true") == 0)
        gpus = parallel->gpus;
    double share = total / (double)gpus;
    if (offload_gib > 0)
        share = share > offload_gib * GIB ? share - offload_gib * GIB : 0;
    return share;
}

void recipe_estimate_memory(const struct recipe_facts *facts, struct recipe_memory_estimate *ret)
{
    struct recipe_parallel parallel = {
        .tensor = 1, .attention = 1, .pipeline = 1, .data = 1, .ulysses = 1, .ring = 1, .cfg = 1, .gpus = 1};
    struct recipe_memory_estimate estimate = {-1, -1, -1, -1, -1, -1};
    double fraction = role_number(facts, "memory_fraction"), length = recipe_request_tokens(facts);
    *ret = estimate;
    if (facts->set && recipe_set_parallel(facts->framework, facts->set, &parallel, NULL) != AS_OK)
        return;
    if (facts->gpu && facts->gpu->memory_gib > 0)
        estimate.usable_bytes =
            facts->gpu->memory_gib * GIB * (fraction > 0 ? fraction : DEFAULT_FRACTION) - RESERVE_BYTES;
    estimate.weights_bytes = weights_share(facts, &parallel);
    estimate.kv_bytes_per_token = kv_bytes_per_token(facts, &parallel);
    if (estimate.usable_bytes >= 0 && estimate.weights_bytes >= 0)
        estimate.kv_bytes =
            estimate.usable_bytes > estimate.weights_bytes ? estimate.usable_bytes - estimate.weights_bytes : 0;
    if (estimate.kv_bytes >= 0 && estimate.kv_bytes_per_token > 0)
        estimate.kv_tokens = estimate.kv_bytes / estimate.kv_bytes_per_token;
    if (estimate.kv_tokens >= 0 && length > 0)
        estimate.requests = estimate.kv_tokens / length * (double)recipe_kv_ranks(&parallel);
    *ret = estimate;
}
