/* SPDX-License-Identifier: Apache-2.0 */
/* Verdicts; the memory they rest on stands in memory.c. */
#include "recipe/readiness.h"

#include "recipe/command.h"
#include "recipe/memory.h"

#include "recipe/version.h"
#include "recipe/words.h"

#include <inttypes.h>
#include <math.h>
#include <strings.h>

#define GIB 1073741824.0

static const struct {
    const char *name;
    const char *sentence;
    bool is_overridable;
} CHECKS[RECIPE_CHECK_COUNT] = {
#define RECIPE_CHECK_ROW(id, code, overridable, sentence) [RECIPE_CHECK_##id] = {code, sentence, overridable},
    RECIPE_CHECK_MAP(RECIPE_CHECK_ROW)
#undef RECIPE_CHECK_ROW
};

const char *recipe_check_state_name(enum recipe_check_state state)
{
    static const char *const names[] = {"pass", "warn", "unknown", "fail"};
    return names[state];
}

const char *recipe_check_name(enum recipe_check_code code)
{
    return CHECKS[code].name;
}

const char *recipe_check_sentence(enum recipe_check_code code)
{
    return CHECKS[code].sentence;
}

bool recipe_check_is_overridable(enum recipe_check_code code)
{
    return CHECKS[code].is_overridable;
}

bool recipe_check_from(const char *name, enum recipe_check_code *ret)
{
    for (int i = 0; i < RECIPE_CHECK_COUNT; i++) {
        if (strcmp(CHECKS[i].name, name) != 0)
            continue;
        *ret = (enum recipe_check_code)i;
        return true;
    }
    return false;
}

struct checker {
    const struct recipe_facts *facts;
    struct arena *arena;
    struct recipe_check *items;
    size_t count;
    bool is_out_of_memory;
    struct recipe_parallel parallel;
    bool has_parallel;
    const char *tool; /* of ours: foreign text tools count as metrumbench-llm */
};

/* Adds a verdict; NULL texts are short memory, but for the remedy of a pass. */
static void add(struct checker *checker, enum recipe_check_code code, enum recipe_check_state state, const char *found,
                const char *needed)
{
    if (!found || !needed)
        checker->is_out_of_memory = true;
    checker->items[checker->count++] = (struct recipe_check){
        .code = code, .state = state, .found = found, .needed = needed, .is_overridable = CHECKS[code].is_overridable};
}

/* The remedy of the verdict added last. */
static void remedy(struct checker *checker, const char *text)
{
    if (!text)
        checker->is_out_of_memory = true;
    checker->items[checker->count - 1].remedy = text;
}

static const char *or_unknown(const char *text)
{
    return text ? text : "unknown";
}

static const char *join(struct checker *checker, const struct recipe_list *list)
{
    struct strbuf out AS_AUTO_STRBUF;
    strbuf_init(&out, 4096);
    for (size_t i = 0; i < list->count; i++)
        strbuf_addf(&out, "%s%s", i ? ", " : "", list->items[i]);
    const char *text = strbuf_status(&out) == AS_E_NOMEM ? NULL : arena_strdup(checker->arena, strbuf_text(&out));
    checker->is_out_of_memory = checker->is_out_of_memory || !text;
    return text;
}

static void check_online(struct checker *checker)
{
    const struct recipe_facts *facts = checker->facts;
    const char *found = facts->seen_seconds_ago < 0
                            ? "its agent has never reported"
                            : arena_printf(checker->arena, "last report %" PRId64 " s ago", facts->seen_seconds_ago);
    add(checker, RECIPE_CHECK_SERVER_ONLINE, facts->is_online ? RECIPE_PASS : RECIPE_FAIL, found,
        "an agent that reports");
    if (!facts->is_online)
        remedy(checker, "start the agent on the server, or choose a server that is online");
}

static void check_tokens(struct checker *checker)
{
    const struct recipe_facts *facts = checker->facts;
    struct words missing, needed;
    struct recipe_list missing_list = {0}, needed_list = {0};
    words_init(&missing, checker->arena);
    words_init(&needed, checker->arena);
    for (size_t i = 0; i < facts->token_count; i++) {
        if (!facts->tokens[i].is_needed)
            continue;
        words_add(&needed, facts->tokens[i].name);
        if (!facts->tokens[i].is_present)
            words_add(&missing, facts->tokens[i].name);
    }
    if (words_finish(&missing, &missing_list, NULL) != AS_OK || words_finish(&needed, &needed_list, NULL) != AS_OK) {
        checker->is_out_of_memory = true;
        return;
    }
    bool is_missing = missing_list.count > 0;
    const char *names = join(checker, &missing_list);
    add(checker, RECIPE_CHECK_TOKENS_PRESENT, is_missing ? RECIPE_FAIL : RECIPE_PASS,
        is_missing ? arena_printf(checker->arena, "missing: %s", or_unknown(names)) : "all there",
        needed_list.count > 0 ? join(checker, &needed_list) : "none");
    if (is_missing)
        remedy(checker, arena_printf(checker->arena, "store %s with the project, or set it in the worker's environment",
                                     or_unknown(names)));
}

static void check_command(struct checker *checker)
{
    const struct recipe_list *unresolved = &checker->facts->unresolved;
    bool is_open = unresolved->count > 0;
    add(checker, RECIPE_CHECK_COMMAND_RESOLVED, is_open ? RECIPE_FAIL : RECIPE_PASS,
        is_open ? arena_printf(checker->arena, "without a value: %s", or_unknown(join(checker, unresolved)))
                : "every placeholder has a value",
        "a value for every placeholder");
    if (!is_open)
        return;
    const struct recipe_placeholder *known = recipe_placeholder(unresolved->items[0]);
    remedy(checker, known ? arena_printf(checker->arena, "%s comes from the %s: %s", known->name,
                                         recipe_layer_name(known->layer), known->sentence)
                          : arena_printf(checker->arena, "give %s in the run's settings", unresolved->items[0]));
}

static void check_set_is_valid(struct checker *checker)
{
    const struct recipe_facts *facts = checker->facts;
    struct as_error err = {0};
    if (!facts->set)
        return;
    as_status status = recipe_set_check(facts->framework, facts->framework_version, facts->set, &err);
    add(checker, RECIPE_CHECK_ENGINE_ARGS_VALID, status == AS_OK ? RECIPE_PASS : RECIPE_FAIL,
        status == AS_OK ? arena_printf(checker->arena, "%zu arguments known", facts->set->args.count)
                        : arena_strdup(checker->arena, err.message),
        arena_printf(checker->arena, "arguments of %s %s", facts->framework->name,
                     or_unknown(facts->framework_version)));
    if (status != AS_OK)
        remedy(checker, "change the set (a new revision), or choose another version");
    status = recipe_set_check_tool(facts->set, facts->framework->code, checker->tool, &err);
    add(checker, RECIPE_CHECK_ENGINE_ARGS_SCOPE, status == AS_OK ? RECIPE_PASS : RECIPE_FAIL,
        status == AS_OK ? facts->set->code : arena_strdup(checker->arena, err.message),
        arena_printf(checker->arena, "a set of %s for %s", facts->framework->code, checker->tool));
    if (status != AS_OK)
        remedy(checker, "choose a set that is made for this tool and framework");
}

static void check_framework(struct checker *checker)
{
    const struct recipe_facts *facts = checker->facts;
    bool serves = recipe_list_has(&facts->framework->tools, checker->tool);
    add(checker, RECIPE_CHECK_FRAMEWORK_TOOL, serves ? RECIPE_PASS : RECIPE_FAIL,
        arena_printf(checker->arena, "%s serves %s", facts->framework->name,
                     or_unknown(join(checker, &facts->framework->tools))),
        checker->tool);
    if (!serves)
        remedy(checker, "choose a framework that serves this tool");
    const char *of_set = facts->set ? facts->set->framework_version_min : NULL;
    const char *least = of_set ? of_set : facts->least_version;
    if (!least) {
        add(checker, RECIPE_CHECK_FRAMEWORK_VERSION, RECIPE_UNKNOWN, or_unknown(facts->framework_version),
            "no verified set says which version this model needs");
        remedy(checker, "see that the framework's notes name the model for this version");
        return;
    }
    if (!recipe_version_is_valid(facts->framework_version)) {
        add(checker, RECIPE_CHECK_FRAMEWORK_VERSION, RECIPE_UNKNOWN, or_unknown(facts->framework_version), least);
        remedy(checker, "name the framework's version in the workload");
        return;
    }
    bool is_new_enough = recipe_version_compare(facts->framework_version, least) >= 0;
    add(checker, RECIPE_CHECK_FRAMEWORK_VERSION, is_new_enough ? RECIPE_PASS : RECIPE_FAIL, facts->framework_version,
        arena_printf(checker->arena, "%s or newer", least));
    if (!is_new_enough)
        remedy(checker, arena_printf(checker->arena, "use %s %s or newer, or a set for %s", facts->framework->name,
                                     least, facts->framework_version));
}

static void check_framework_gpu(struct checker *checker)
{
    const struct recipe_facts *facts = checker->facts;
    if (!facts->gpu) {
        add(checker, RECIPE_CHECK_FRAMEWORK_GPU, RECIPE_UNKNOWN, "the GPU class has no facts", facts->framework->name);
        remedy(checker, "give the server a GPU class that is known");
        return;
    }
    const char *build = recipe_vendor_build(facts->gpu->vendor);
    bool has_build = recipe_pairs_get(&facts->framework->images, build) != NULL, is_named = false, is_listed = false;
    for (size_t i = 0; i < facts->framework->release_count; i++) {
        const struct recipe_release *release = &facts->framework->releases[i];
        if (strcmp(release->build, build) != 0)
            continue;
        has_build = true;
        is_named = is_named || release->version;
        is_listed =
            is_listed || !release->version ||
            (facts->framework_version && recipe_version_compare(release->version, facts->framework_version) == 0);
    }
    enum recipe_check_state state = !has_build ? RECIPE_FAIL : is_named && !is_listed ? RECIPE_WARN : RECIPE_PASS;
    add(checker, RECIPE_CHECK_FRAMEWORK_GPU, state,
        arena_printf(checker->arena, "%s is by %s: build %s", facts->gpu->code, recipe_vendor_name(facts->gpu->vendor),
                     build),
        arena_printf(checker->arena, "a %s build of %s %s", build, facts->framework->name,
                     or_unknown(facts->framework_version)));
    if (state == RECIPE_FAIL)
        remedy(checker, "choose another server or framework");
    if (state == RECIPE_WARN)
        remedy(checker, "this build is not among the releases that are known: name its image, and see that it starts");
}

static void check_set_gpu(struct checker *checker)
{
    const struct recipe_facts *facts = checker->facts;
    if (!facts->set || facts->set->gpu_classes.count == 0)
        return;
    const char *made_for = join(checker, &facts->set->gpu_classes);
    if (!facts->gpu) {
        add(checker, RECIPE_CHECK_SET_GPU, RECIPE_UNKNOWN, "the GPU class has no facts", made_for);
        remedy(checker, "give the server a GPU class that is known");
        return;
    }
    if (!recipe_list_has(&facts->set->gpu_classes, facts->gpu->code)) {
        add(checker, RECIPE_CHECK_SET_GPU, RECIPE_WARN, facts->gpu->code, made_for);
        remedy(checker, "choose a set that was made for this GPU class");
        return;
    }
    const char *claim = recipe_pairs_get(&facts->set->verified, facts->gpu->code);
    bool is_doubtful = claim && (strcmp(claim, "not_listed") == 0 || strcmp(claim, "unverified") == 0);
    add(checker, RECIPE_CHECK_SET_GPU, is_doubtful ? RECIPE_WARN : RECIPE_PASS,
        arena_printf(checker->arena, "%s: %s upstream", facts->gpu->code, claim ? claim : "listed"), made_for);
    if (is_doubtful)
        remedy(checker, "upstream does not say that it tested this; look at the first start");
}

static bool same(const char *a, const char *b)
{
    return a && b && strcmp(a, b) == 0;
}

static void check_set_model(struct checker *checker)
{
    const struct recipe_facts *facts = checker->facts;
    if (!facts->set || !facts->set->model_code)
        return;
    const char *base = facts->model ? facts->model->base_code : NULL;
    const char *set_base = facts->set->base_model_code ? facts->set->base_model_code : facts->set->model_code;
    enum recipe_check_state state = same(facts->model_code, facts->set->model_code) ? RECIPE_PASS
                                    : same(base, set_base)                          ? RECIPE_WARN
                                                                                    : RECIPE_FAIL;
    add(checker, RECIPE_CHECK_SET_MODEL, state, or_unknown(facts->model_code), facts->set->model_code);
    if (state != RECIPE_PASS)
        remedy(checker, state == RECIPE_WARN
                            ? "the set is for another variant of this model: check precision and memory"
                            : "choose a set that was made for this model");
}

static void check_precision(struct checker *checker)
{
    const struct recipe_facts *facts = checker->facts;
    const char *precision = facts->precision ? facts->precision : facts->set ? facts->set->precision : NULL;
    if (!precision || !facts->gpu || facts->gpu->precisions.count == 0) {
        add(checker, RECIPE_CHECK_GPU_PRECISION, RECIPE_UNKNOWN,
            precision ? precision : "the precision of the weights is not known",
            facts->gpu ? facts->gpu->code : "a GPU class with facts");
        remedy(checker, "name the quantisation in the workload and the GPU class of the server");
        return;
    }
    bool has_it = recipe_list_has(&facts->gpu->precisions, precision);
    add(checker, RECIPE_CHECK_GPU_PRECISION, has_it ? RECIPE_PASS : RECIPE_WARN, precision,
        arena_printf(checker->arena, "%s has %s", facts->gpu->code,
                     or_unknown(join(checker, &facts->gpu->precisions))));
    if (!has_it)
        remedy(checker, "the weights are widened while computing, or the start fails: prefer a precision of the GPU");
}

static void check_parallel(struct checker *checker)
{
    const struct recipe_facts *facts = checker->facts;
    const struct recipe_parallel *parallel = &checker->parallel;
    if (!checker->has_parallel)
        return;
    int64_t nodes = facts->set && facts->set->node_count > 1 ? facts->set->node_count : 1;
    int64_t share = (parallel->gpus + nodes - 1) / nodes;
    enum recipe_check_state state = facts->host_gpus < 0        ? RECIPE_UNKNOWN
                                    : share <= facts->host_gpus ? RECIPE_PASS
                                                                : RECIPE_FAIL;
    add(checker, RECIPE_CHECK_GPU_COUNT, state,
        facts->host_gpus < 0 ? "the GPUs of the server are not known"
                             : arena_printf(checker->arena, "%" PRId64 " GPUs on a host", facts->host_gpus),
        arena_printf(checker->arena,
                     "%" PRId64 " GPUs a host: %" PRId64 " for a replica (TP %" PRId64 ", PP %" PRId64 ", DP %" PRId64
                     ", Ulysses %" PRId64 ", ring %" PRId64 ") on %" PRId64 " host(s)",
                     share, parallel->gpus, parallel->tensor, parallel->pipeline, parallel->data, parallel->ulysses,
                     parallel->ring, nodes));
    if (state != RECIPE_PASS)
        remedy(checker, "choose a set for fewer GPUs, or a server with more");
    int64_t heads = facts->model ? facts->model->attention_heads : 0;
    if (parallel->attention <= 1)
        return;
    state = heads == 0 ? RECIPE_UNKNOWN : heads % parallel->attention == 0 ? RECIPE_PASS : RECIPE_FAIL;
    add(checker, RECIPE_CHECK_TP_DIVIDES_HEADS, state,
        heads == 0 ? "the attention heads of the model are not known"
                   : arena_printf(checker->arena, "%" PRId64 " attention heads", heads),
        arena_printf(checker->arena, "a multiple of %" PRId64, parallel->attention));
    if (state != RECIPE_PASS)
        remedy(checker, "choose a tensor-parallel size that divides the attention heads");
}

static const char *gib(struct checker *checker, double bytes)
{
    const char *text = arena_printf(checker->arena, "%.1f GiB", bytes / GIB);
    checker->is_out_of_memory = checker->is_out_of_memory || !text;
    return text;
}

static const char *missing_kv_facts(const struct recipe_model *model)
{
    if (!model)
        return "the model has no facts";
    if (model->layers == 0)
        return "the layers of the model are not known";
    if (model->latent_kv_values == 0 && (model->kv_heads == 0 || model->head_dim == 0))
        return "kv_heads and head_dim of the model are not known";
    return "the memory for weights or of the GPU is not known";
}

static void check_kv(struct checker *checker, const struct recipe_memory_estimate *memory)
{
    const struct recipe_facts *facts = checker->facts;
    double length = recipe_request_tokens(facts), least = recipe_least_kv_tokens(facts);
    double requests = ceil((double)facts->concurrency /
                           (double)((facts->replicas > 0 ? facts->replicas : 1) * recipe_kv_ranks(&checker->parallel)));
    if (memory->kv_tokens < 0 || length < 0) {
        add(checker, RECIPE_CHECK_KV_CACHE_FITS, RECIPE_UNKNOWN,
            memory->kv_tokens < 0 ? missing_kv_facts(facts->model) : "ISL and OSL are not known",
            length < 0 ? "ISL and OSL of the scenario" : arena_printf(checker->arena, "%.0f tokens a request", length));
        remedy(checker, "look at the number of KV cache tokens the server logs when it starts");
        return;
    }
    bool holds_one = memory->kv_tokens >= length && memory->kv_tokens >= least;
    bool holds_all = memory->kv_tokens >= requests * length;
    add(checker, RECIPE_CHECK_KV_CACHE_FITS,
        !holds_one  ? RECIPE_FAIL
        : holds_all ? RECIPE_PASS
                    : RECIPE_WARN,
        arena_printf(checker->arena, "about %.0f tokens of %.0f B fit in %.1f GiB a GPU", floor(memory->kv_tokens),
                     memory->kv_bytes_per_token, memory->kv_bytes / GIB),
        arena_printf(checker->arena, "%.0f requests of %.0f tokens at a time; at least %.0f tokens to start", requests,
                     length, least > length ? least : length));
    if (!holds_one)
        remedy(checker, "lower max_model_len, store the KV cache in FP8, or use more GPUs a replica");
    else if (!holds_all)
        remedy(checker, "requests will wait in the server: lower the concurrency, or use more GPUs or replicas");
}

static void check_memory(struct checker *checker)
{
    const struct recipe_facts *facts = checker->facts;
    struct recipe_memory_estimate memory;
    if (!checker->has_parallel)
        return;
    recipe_estimate_memory(facts, &memory);
    bool is_known = memory.weights_bytes >= 0 && memory.usable_bytes >= 0;
    bool fits = is_known && memory.weights_bytes <= memory.usable_bytes;
    add(checker, RECIPE_CHECK_WEIGHTS_FIT,
        !is_known ? RECIPE_UNKNOWN
        : fits    ? RECIPE_PASS
                  : RECIPE_FAIL,
        memory.weights_bytes < 0
            ? "the size of the weights in this precision is not known"
            : arena_printf(checker->arena, "weights %s a GPU", or_unknown(gib(checker, memory.weights_bytes))),
        memory.usable_bytes < 0 ? "the memory of the GPU is not known"
                                : arena_printf(checker->arena, "at most %s of a GPU's %.1f GiB",
                                               or_unknown(gib(checker, memory.usable_bytes)), facts->gpu->memory_gib));
    if (!is_known)
        remedy(checker, "give the model's weights a precision that is known, and the server a GPU class");
    else if (!fits)
        remedy(checker, "use more GPUs a replica (tensor parallel), a smaller precision, or GPUs with more memory");
    if (strcmp(checker->tool, RECIPE_TOOL_IMAGEGEN) != 0 && strcmp(checker->tool, RECIPE_TOOL_ASR) != 0)
        check_kv(checker, &memory);
}

static void check_context(struct checker *checker)
{
    const struct recipe_facts *facts = checker->facts;
    bool is_vlm = strcmp(checker->tool, RECIPE_TOOL_VLM) == 0;
    if (!is_vlm && strcmp(checker->tool, RECIPE_TOOL_LLM) != 0)
        return;
    double length = recipe_request_tokens(facts), limit = recipe_context_tokens(facts);
    double of_model = facts->model ? (double)facts->model->context_length_tokens : 0;
    if (length < 0 || limit < 0) {
        add(checker, RECIPE_CHECK_CONTEXT_LENGTH, RECIPE_UNKNOWN,
            limit < 0 ? "neither the set nor the model's facts give a context length"
                      : arena_printf(checker->arena, "%.0f tokens", limit),
            length < 0 ? "ISL and OSL of the scenario" : arena_printf(checker->arena, "%.0f tokens", length));
        remedy(checker, "set max_model_len in the engine arguments");
        return;
    }
    bool holds = limit >= length, is_beyond = of_model > 0 && limit > of_model;
    add(checker, RECIPE_CHECK_CONTEXT_LENGTH,
        !holds      ? RECIPE_FAIL
        : is_beyond ? RECIPE_WARN
                    : RECIPE_PASS,
        arena_printf(checker->arena, "%.0f tokens%s", limit, is_beyond ? ", more than the model's own" : ""),
        arena_printf(checker->arena, "%.0f tokens: ISL %" PRId64 " + OSL %" PRId64 " + %.0f of the chat template%s",
                     length, facts->isl_tokens, facts->osl_tokens,
                     length - (double)facts->isl_tokens - (double)facts->osl_tokens,
                     is_vlm ? " (tokens of images not counted)" : ""));
    if (!holds)
        remedy(checker, "raise max_model_len (or context_length), or shorten prompts or answers");
    else if (is_beyond)
        remedy(checker, "the server refuses a length beyond the model's unless it is told how to stretch it");
}

static bool has_text(const char *text, const char *part)
{
    return text && part && strcasestr(text, part) != NULL;
}

static void check_asr(struct checker *checker)
{
    const struct recipe_facts *facts = checker->facts;
    if (strcmp(checker->tool, RECIPE_TOOL_ASR) != 0)
        return;
    bool is_vllm = strcmp(facts->framework->code, "vllm") == 0;
    bool is_whisper = facts->model ? same(facts->model->family, "Whisper") : has_text(facts->model_code, "whisper");
    enum recipe_check_state state = is_vllm && is_whisper      ? RECIPE_PASS
                                    : is_vllm && !facts->model ? RECIPE_UNKNOWN
                                                               : RECIPE_FAIL;
    add(checker, RECIPE_CHECK_ASR_SCOPE, state,
        arena_printf(checker->arena, "%s on %s", or_unknown(facts->model_code), facts->framework->name),
        "a model of the Whisper family on vLLM");
    if (state != RECIPE_PASS)
        remedy(checker, "use a Whisper model, for example openai/whisper-large-v3, on vLLM");
}

static const char *first_part(const struct recipe_list *parts, const char *model)
{
    for (size_t i = 0; i < parts->count; i++)
        if (strcmp(parts->items[i], "*") == 0 || has_text(model, parts->items[i]))
            return parts->items[i];
    return NULL;
}

static void check_images(struct checker *checker)
{
    const struct recipe_facts *facts = checker->facts;
    if (strcmp(checker->tool, RECIPE_TOOL_IMAGEGEN) != 0 || facts->images_per_request <= 1)
        return;
    const char *many = first_part(&facts->framework->many_images, facts->model_code);
    const char *single = first_part(&facts->framework->single_images, facts->model_code);
    enum recipe_check_state state = single ? RECIPE_FAIL : many ? RECIPE_PASS : RECIPE_WARN;
    add(checker, RECIPE_CHECK_IMAGES_PER_REQUEST, state,
        arena_printf(checker->arena, "%" PRId64 " images a request of %s on %s", facts->images_per_request,
                     or_unknown(facts->model_code), facts->framework->name),
        "a pipeline that spreads its text over several images");
    if (state == RECIPE_FAIL)
        remedy(checker, arena_printf(checker->arena, "set num_images_batch to 1: %s fails at more", single));
    if (state == RECIPE_WARN)
        remedy(checker,
               "it is not known whether this pipeline can: prefer num_images_batch 1, or try one request first");
}

static void check_prompts(struct checker *checker)
{
    const struct recipe_facts *facts = checker->facts;
    if (!facts->prompt_source_code)
        return;
    bool is_present = facts->is_prompt_source_present;
    add(checker, RECIPE_CHECK_PROMPT_SOURCE, is_present ? RECIPE_PASS : RECIPE_FAIL,
        is_present ? "there" : "bytes missing", facts->prompt_source_code);
    if (!is_present)
        remedy(checker, facts->prompt_source_remedy ? facts->prompt_source_remedy
                                                    : "import the prompt source, or choose another");
}

static void check_disk(struct checker *checker)
{
    const struct recipe_facts *facts = checker->facts;
    double weights = facts->is_model_cached ? 0 : recipe_weights_bytes(facts);
    double extra = (double)(facts->disk_extra_bytes > 0 ? facts->disk_extra_bytes : 0);
    double needed = extra + (weights > 0 ? weights : 0);
    bool is_short = facts->disk_free_bytes >= 0 && (double)facts->disk_free_bytes < needed;
    bool is_known = facts->disk_free_bytes >= 0 && weights >= 0;
    add(checker, RECIPE_CHECK_DISK_SPACE,
        is_short   ? RECIPE_FAIL
        : is_known ? RECIPE_PASS
                   : RECIPE_UNKNOWN,
        facts->disk_free_bytes < 0
            ? "the free space is not known"
            : arena_printf(checker->arena, "%s free", or_unknown(gib(checker, (double)facts->disk_free_bytes))),
        arena_printf(checker->arena, "%s%s", or_unknown(gib(checker, needed)),
                     weights < 0 ? " and the weights, whose size is not known" : ""));
    if (is_short)
        remedy(checker, "free space on the server, or put the model cache on a larger disk");
    else if (!is_known)
        remedy(checker, "see that the model and the results fit before the run");
}

static const char *own_tool(const char *tool)
{
    static const char *const own[] = {RECIPE_TOOL_LLM, RECIPE_TOOL_VLM, RECIPE_TOOL_ASR, RECIPE_TOOL_IMAGEGEN};
    for (size_t i = 0; i < sizeof(own) / sizeof(own[0]); i++)
        if (strcmp(own[i], tool) == 0)
            return own[i];
    return RECIPE_TOOL_LLM;
}

const char *recipe_least_version(const struct recipe_data *data, const char *framework_code, const char *model_code)
{
    const char *least = NULL;
    for (size_t i = 0; i < data->set_count; i++) {
        const struct recipe_set *set = &data->sets[i];
        if (!set->framework_version_min || !same(set->framework_code, framework_code) ||
            !same(set->model_code, model_code))
            continue;
        if (!least || recipe_version_compare(set->framework_version_min, least) < 0)
            least = set->framework_version_min;
    }
    return least;
}

as_status recipe_check_all(const struct recipe_facts *facts, struct arena *arena, struct recipe_checks *ret,
                           struct as_error *err)
{
    static void (*const checks[])(struct checker *) = {
        check_online,  check_tokens,    check_command,   check_set_is_valid, check_framework, check_framework_gpu,
        check_set_gpu, check_set_model, check_precision, check_parallel,     check_memory,    check_context,
        check_asr,     check_images,    check_prompts,   check_disk};
    struct checker checker = {.facts = facts, .arena = arena, .tool = own_tool(facts->tool)};
    checker.items = arena_calloc(arena, RECIPE_CHECK_COUNT, sizeof(*checker.items));
    if (!checker.items)
        return error_set(err, AS_E_NOMEM, "no memory");
    checker.parallel = (struct recipe_parallel){
        .tensor = 1, .attention = 1, .pipeline = 1, .data = 1, .ulysses = 1, .ring = 1, .cfg = 1, .gpus = 1};
    checker.has_parallel =
        !facts->set || recipe_set_parallel(facts->framework, facts->set, &checker.parallel, NULL) == AS_OK;
    for (size_t i = 0; i < sizeof(checks) / sizeof(checks[0]); i++)
        checks[i](&checker);
    if (checker.is_out_of_memory)
        return error_set(err, AS_E_NOMEM, "no memory");
    *ret = (struct recipe_checks){checker.items, checker.count};
    return AS_OK;
}

size_t recipe_checks_failed(const struct recipe_checks *checks, const struct recipe_list *overridden)
{
    size_t failed = 0;
    for (size_t i = 0; i < checks->count; i++) {
        const struct recipe_check *check = &checks->items[i];
        bool is_let_off = check->is_overridable && overridden && recipe_list_has(overridden, CHECKS[check->code].name);
        failed += check->state == RECIPE_FAIL && !is_let_off;
    }
    return failed;
}

void recipe_checks_json(const struct recipe_checks *checks, struct json_writer *writer)
{
    json_open_array(writer);
    for (size_t i = 0; i < checks->count; i++) {
        const struct recipe_check *check = &checks->items[i];
        json_open_object(writer);
        json_member_string(writer, "code", CHECKS[check->code].name);
        json_member_string(writer, "state", recipe_check_state_name(check->state));
        json_member_string(writer, "found", check->found);
        json_member_string(writer, "needed", check->needed);
        json_member_string(writer, "remedy", check->remedy);
        json_member_bool(writer, "overridable", check->is_overridable);
        json_close_object(writer);
    }
    json_close_array(writer);
}
