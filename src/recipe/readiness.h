/* SPDX-License-Identifier: Apache-2.0 */
#ifndef ASSAY_RECIPE_READINESS_H
#define ASSAY_RECIPE_READINESS_H

/*
 * What must hold before the first job of a run. Facts in, verdicts out; no clock, net or disk: the caller says what it
 * saw. Each verdict has a code that never changes its meaning, the values that were compared, and what to do. A fact
 * that is not known gives `unknown` and says which one; it is never guessed. How memory is estimated:
 * docs/guide/engine-arguments.md. A run may start when no verdict is `fail` except overridden ones; codes that are not
 * overridable never are.
 */

#include "base/json_write.h"
#include "recipe/engine_args.h"

enum recipe_check_state { RECIPE_PASS, RECIPE_WARN, RECIPE_UNKNOWN, RECIPE_FAIL };
/* "pass", "warn", "unknown", "fail". */
const char *recipe_check_state_name(enum recipe_check_state state);

/* code, may be overridden, what it asks */
#define RECIPE_CHECK_MAP(X)                                                                                            \
    X(SERVER_ONLINE, "server_online", false, "the server's agent reports")                                             \
    X(TOKENS_PRESENT, "tokens_present", false, "every token that is needed is there")                                  \
    X(COMMAND_RESOLVED, "command_resolved", false, "every placeholder has a value")                                    \
    X(ENGINE_ARGS_VALID, "engine_args_valid", false, "the framework's version knows every argument")                   \
    X(ENGINE_ARGS_SCOPE, "engine_args_scope", false, "the set is made for the tool and framework")                     \
    X(FRAMEWORK_TOOL, "framework_tool", true, "the framework serves what the tool measures")                           \
    X(FRAMEWORK_VERSION, "framework_version", true, "the version is no older than the set asks for")                   \
    X(FRAMEWORK_GPU, "framework_gpu", true, "the framework has a build for the GPU's vendor")                          \
    X(SET_GPU, "set_gpu", true, "the set was made for the GPU class")                                                  \
    X(SET_MODEL, "set_model", true, "the set was made for the model")                                                  \
    X(GPU_PRECISION, "gpu_precision", true, "the GPU computes in the weights' precision")                              \
    X(GPU_COUNT, "gpu_count", false, "TP x PP x DP lies within the GPUs")                                              \
    X(TP_DIVIDES_HEADS, "tp_divides_heads", true, "TP divides the attention heads")                                    \
    X(WEIGHTS_FIT, "weights_fit", true, "the weights fit the GPUs' memory")                                            \
    X(KV_CACHE_FITS, "kv_cache_fits", true, "the KV cache for context and concurrency fits beside them")               \
    X(CONTEXT_LENGTH, "context_length", true, "max_model_len holds prompt and answer")                                 \
    X(ASR_SCOPE, "asr_scope", true, "speech is served by vLLM with the Whisper family")                                \
    X(IMAGES_PER_REQUEST, "images_per_request", true, "the pipeline serves several images a request")                  \
    X(PROMPT_SOURCE, "prompt_source", false, "the prompt source is there")                                             \
    X(DISK_SPACE, "disk_space", true, "model, prompts and results fit on the disk")

enum recipe_check_code {
#define RECIPE_CHECK_ENUM(name, code, overridable, sentence) RECIPE_CHECK_##name,
    RECIPE_CHECK_MAP(RECIPE_CHECK_ENUM)
#undef RECIPE_CHECK_ENUM
        RECIPE_CHECK_COUNT
};
/* "weights_fit"; what it asks; whether a named user may override a failure. */
const char *recipe_check_name(enum recipe_check_code code);
const char *recipe_check_sentence(enum recipe_check_code code);
bool recipe_check_is_overridable(enum recipe_check_code code);
/* False when no check is called so. */
bool recipe_check_from(const char *name, enum recipe_check_code *ret);

struct recipe_check {
    enum recipe_check_code code;
    enum recipe_check_state state;
    const char *found;  /* "weights 141.7 GB on 1 GPU" */
    const char *needed; /* "at most 71.6 GiB a GPU (79.6 × 0.9)" */
    const char *remedy; /* NULL when it passed */
    bool is_overridable;
};

/* A token (HF_TOKEN, key of an endpoint) by name; never its value. */
struct recipe_token {
    const char *name;
    bool is_needed;
    bool is_present;
};

/* What is known. NULL, 0 and negative numbers as said; everything else is required. */
struct recipe_facts {
    const char *tool;                 /* "metrumbench-llm" */
    const struct recipe_model *model; /* NULL = the model has no facts */
    const char *model_code;
    const struct recipe_gpu *gpu; /* NULL = the GPU class has no facts */
    const struct recipe_framework *framework;
    const char *framework_version;
    const struct recipe_set *set;   /* NULL = no set */
    const char *least_version;      /* where the set names none: recipe_least_version; NULL = not known */
    const char *precision;          /* of the weights; NULL = the set's */
    int64_t host_gpus;              /* GPUs of one host; < 0 = unknown */
    int64_t replicas;               /* servers that share the load, ≥ 1 */
    int64_t isl_tokens, osl_tokens; /* 0 = not known */
    int64_t template_tokens;        /* added by chat template and system prompt; < 0 = 64 */
    int64_t concurrency;            /* over all replicas */
    int64_t images_per_request;     /* image generation; 0 = 1 */
    bool is_online;
    int64_t seen_seconds_ago; /* last word of the agent; < 0 = never */
    const struct recipe_token *tokens;
    size_t token_count;
    const char *prompt_source_code;   /* NULL = the tool needs none */
    bool is_prompt_source_present;    /* its bytes, not just its row */
    const char *prompt_source_remedy; /* the import command, NULL = a general sentence */
    struct recipe_list unresolved;    /* placeholders without a value (recipe_unresolved) */
    int64_t disk_free_bytes;          /* where models and results go; < 0 = unknown */
    int64_t disk_extra_bytes;         /* prompts, media and results; the model is added from its facts */
    bool is_model_cached;             /* its weights lie on the host already */
};

struct recipe_checks {
    const struct recipe_check *items; /* in the order of RECIPE_CHECK_MAP; those that do not apply are left out */
    size_t count;
};

/* The oldest version that a verified set of the framework asks for with this model; NULL when there is no such set. */
const char *recipe_least_version(const struct recipe_data *data, const char *framework_code, const char *model_code);

as_status recipe_check_all(const struct recipe_facts *facts, struct arena *arena, struct recipe_checks *ret,
                           struct as_error *err) AS_NODISCARD;
/* How many are `fail`, those named in `overridden` (where overridable) not counted. */
size_t recipe_checks_failed(const struct recipe_checks *checks, const struct recipe_list *overridden);
/* An array of {code, state, found, needed, remedy, overridable}. */
void recipe_checks_json(const struct recipe_checks *checks, struct json_writer *writer);

/* Parts of the memory estimate, for people who want to see it; bytes of one GPU. < 0 = unknown. */
struct recipe_memory_estimate {
    double usable_bytes;       /* GPU memory × the fraction the server may take, less a reserve */
    double weights_bytes;      /* of this GPU's share */
    double kv_bytes_per_token; /* of this GPU's share */
    double kv_bytes;           /* usable less weights */
    double kv_tokens;          /* tokens that fit */
    double requests;           /* of ISL + OSL + template tokens at once, a replica */
};
void recipe_estimate_memory(const struct recipe_facts *facts, struct recipe_memory_estimate *ret);

#endif
