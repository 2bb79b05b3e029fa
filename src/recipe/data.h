/* SPDX-License-Identifier: Apache-2.0 */
#ifndef ASSAY_RECIPE_DATA_H
#define ASSAY_RECIPE_DATA_H

/*
 * The shipped facts: models, GPU classes, frameworks with the flags of their servers, and verified engine-argument sets
 * (data/recipes/{models,gpus,frameworks,engine_args}.json, formats in data/recipes/README.md). The readers take text
 * and give structs whose memory is all in the caller's arena; the same structs may be filled from database rows
 * instead. Texts are NUL-terminated; NULL is "unknown" or "none", 0 is "unknown" for counts and sizes unless said
 * otherwise. Errors of the readers: AS_E_INVALID with the file's name, line, path of the member
 * ("sets[3].args[0].value"), what was found and what to do; AS_E_NOMEM. No thread restrictions but one arena a thread.
 */

#include "base/arena.h"
#include "base/json.h"
#include "base/status.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct recipe_list {
    const char *const *items;
    size_t count;
};

struct recipe_pair {
    const char *name;
    const char *value;
};

struct recipe_pairs {
    const struct recipe_pair *items;
    size_t count;
};

bool recipe_list_has(const struct recipe_list *list, const char *text);
/* The value of `name`, NULL when there is none. */
const char *recipe_pairs_get(const struct recipe_pairs *pairs, const char *name);

/* Where facts were taken from. */
struct recipe_source {
    const char *code;       /* "vllm-recipes" */
    const char *repository; /* "vllm-project/recipes" */
    const char *commit;     /* 40 hexadecimal digits */
    const char *licence;    /* SPDX */
    const char *date;       /* of the commit, "2026-08-21" */
};

/* Memory that the weights of one precision need. */
struct recipe_memory {
    const char *precision; /* "bf16" */
    double floor_gb;       /* decimal GB: weights × 1.2, as upstream states it */
    bool is_derived;       /* computed here by the same rule, not stated upstream */
};

struct recipe_model {
    const char *code;      /* Hugging Face id */
    const char *base_code; /* model it was made from; its own code when there is none */
    const char *family;    /* "Llama", "Whisper" */
    const char *display_name;
    double parameters;        /* in all */
    double active_parameters; /* per token */
    const char *architecture; /* "dense", "moe" or NULL */
    int64_t context_length_tokens;
    const struct recipe_memory *memory;
    size_t memory_count;
    struct recipe_list tasks; /* "text", "multimodal", "text-to-image", … */
    int64_t layers;
    int64_t attention_heads;
    int64_t kv_heads;
    int64_t head_dim;
    int64_t full_attention_layers; /* layers whose KV cache grows with the context; 0 = all of them */
    int64_t latent_kv_values;      /* values a token and layer in all of a compressed cache (MLA); 0 = not compressed */
    const char *config_source; /* who states layers … latent_kv_values: "recipe", "general knowledge", NULL = nobody */
    const char *source;        /* code of a recipe_source */
    const char *path;          /* file in that repository */
    const char *note;
};

enum recipe_vendor { RECIPE_NVIDIA, RECIPE_AMD, RECIPE_GOOGLE, RECIPE_INTEL, RECIPE_VENDOR_COUNT };
/* "NVIDIA", "AMD", "Google", "Intel". */
const char *recipe_vendor_name(enum recipe_vendor vendor);

struct recipe_gpu {
    const char *code;           /* "h100" */
    struct recipe_list aliases; /* other spellings of the code */
    enum recipe_vendor vendor;
    const char *name;
    const char *architecture;
    const char *compute_capability; /* "9.0", "gfx942" */
    double memory_gib;              /* as the driver reports it */
    double memory_gb_nameplate;     /* decimal GB of the data sheet */
    double memory_gb_recipes;       /* decimal GB that upstream's recipes count with */
    double bandwidth_gb_per_s;      /* decimal GB */
    double max_power_w;
    struct recipe_list precisions; /* with hardware support */
    int64_t gpus_per_node;         /* usual */
    const char *confidence;        /* "high", "medium": these are vendors' specifications as generally known */
    const char *note;
};

enum recipe_type { RECIPE_INT, RECIPE_FLOAT, RECIPE_BOOL, RECIPE_STRING, RECIPE_JSON, RECIPE_ARRAY, RECIPE_TYPE_COUNT };
/* "int", "float", "bool", "string", "json", "list"; the reverse is false for any other text. */
const char *recipe_type_name(enum recipe_type type);
bool recipe_type_from(const char *name, enum recipe_type *ret);

/* One row of framework_engine_args_templates: a flag that a framework's server knows. */
struct recipe_flag {
    const char *key; /* snake_case: "tensor_parallel_size" */
    enum recipe_type type;
    const char *flag;           /* "--tensor-parallel-size" */
    struct recipe_list aliases; /* other spellings that sets may use: "--tp-size" */
    const char *false_flag;     /* what says false: "--no-x"; NULL = leaving the flag out does (bools only) */
    const char *default_text;   /* value as text, see recipe_arg; NULL = not known */
    struct recipe_list choices; /* allowed texts; empty = any */
    const char *since;          /* first version that has it, NULL = not known, taken as always */
    const char *until;          /* first version without it, NULL = still there */
    const char *seen;           /* oldest version a shipped set uses it with, NULL = none does; refuses nothing */
    const char *tool;           /* of servers for this tool ("metrumbench-imagegen"); NULL = text, vision and speech */
    bool writes_bool;           /* a bool is written with its word, True or False ("--x.y=True") */
    const char *help;           /* one sentence, NULL = none */
};

/* One row of framework_engine_args_values. */
struct recipe_arg {
    const char *key;
    /*
     * The value as text: an integer, a number, "true"/"false", the string itself, JSON text, or (list) a JSON array of
     * strings and numbers. A text that holds {node_rank}, {head_ip} or another placeholder is allowed for any type but
     * JSON and lists, and resolved with the command.
     */
    const char *text;
    const char *flag;   /* spelling used by this set, NULL = the template's */
    const char *join;   /* "=": flag=value in one word; " " or NULL: two words */
    const char *raw;    /* value exactly as it is written on the command line, NULL = the text */
    const char *origin; /* "parallelism", "feature" or NULL (the recipe itself) */
};

struct recipe_args {
    const struct recipe_arg *items;
    size_t count;
};

/* One row of framework_engine_args_sets with its values. */
struct recipe_set {
    const char *code;
    const char *framework_code;
    const char *framework_version_min; /* may be "nightly" */
    const char *tool;       /* only for this tool ("metrumbench-imagegen"); NULL = text, vision and speech servers */
    const char *model_code; /* NULL = any model */
    const char *base_model_code;
    const char *variant;
    const char *precision;          /* of the weights */
    struct recipe_list gpu_classes; /* empty = any */
    int64_t tensor_parallel_size;
    int64_t pipeline_parallel_size;
    int64_t data_parallel_size;
    int64_t expert_parallel_size; /* 0 = off */
    int64_t node_count;           /* hosts that one server spans */
    int64_t gpus_per_replica;     /* over all its nodes */
    const char *strategy;
    const char *tp_source;  /* who decided the parallelism, see data/recipes/README.md */
    bool is_derived;        /* the parallelism is not stated upstream */
    bool is_recommended;    /* the launch upstream opens with */
    bool is_default;        /* the framework's default set for its tool */
    double memory_floor_gb; /* decimal GB */
    struct recipe_args args;
    struct recipe_pairs env;
    struct recipe_pairs verified; /* GPU class → "verified", "listed", "not_listed", "unverified" */
    struct recipe_pairs images;   /* GPU class → container image that upstream pins */
    const char *source;           /* code of a recipe_source, NULL = the framework's own default */
    const char *path;
};

/* A released build of a framework. */
struct recipe_release {
    const char *version; /* NULL = none is named */
    const char *build;   /* "cuda", "rocm", "tpu" */
    const char *variant; /* "amd-mi300", NULL = none */
    bool is_default;
};

struct recipe_framework {
    const char *code; /* "vllm" */
    const char *name;
    const struct recipe_release *releases;
    size_t release_count;
    struct recipe_pairs images;   /* build → image; {version} stands for the version */
    struct recipe_list tools;     /* tools it can be measured with */
    struct recipe_pairs parallel; /* "tensor", "pipeline", "data", "expert", "ulysses", "ring", "cfg" → key */
    struct recipe_pairs roles;    /* "context_length", "memory_fraction", "kv_cache_dtype" → key */
    const char *readiness_path;   /* "/health" */
    const char *metrics_path;     /* "/metrics" */
    const char *metrics_flag;     /* key that must be set for metrics, NULL = always served */
    const char *api_base;         /* "/v1" */
    int64_t default_port;
    struct recipe_list many_images;   /* parts of model names whose pipeline serves n > 1 images; "*" = all */
    struct recipe_list single_images; /* parts of model names whose pipeline fails at n > 1 */
    const struct recipe_flag *flags;
    size_t flag_count;
};

/* All of it; each part may be empty. */
struct recipe_data {
    const struct recipe_source *sources;
    size_t source_count;
    const struct recipe_model *models;
    size_t model_count;
    const struct recipe_gpu *gpus;
    size_t gpu_count;
    const struct recipe_framework *frameworks;
    size_t framework_count;
    const struct recipe_set *sets;
    size_t set_count;
};

/* Text of a file to be read, and the name that errors give it. */
struct recipe_text {
    const char *name;
    const char *text;
    size_t len;
};

/* Each fills its part of *data (sources of models and sets are added up) and leaves the others alone. */
as_status recipe_read_models(const struct recipe_text *input, struct arena *arena, struct recipe_data *data,
                             struct as_error *err) AS_NODISCARD;
as_status recipe_read_gpus(const struct recipe_text *input, struct arena *arena, struct recipe_data *data,
                           struct as_error *err) AS_NODISCARD;
as_status recipe_read_frameworks(const struct recipe_text *input, struct arena *arena, struct recipe_data *data,
                                 struct as_error *err) AS_NODISCARD;
/* Sets need no frameworks to be read; recipe_set_check (engine_args.h) holds them against the flags. */
as_status recipe_read_sets(const struct recipe_text *input, struct arena *arena, struct recipe_data *data,
                           struct as_error *err) AS_NODISCARD;
/* Reads the four files of a folder into *ret. AS_E_NOTFOUND, AS_E_IO besides. */
as_status recipe_load(const char *folder, struct arena *arena, struct recipe_data *ret,
                      struct as_error *err) AS_NODISCARD;

/* By code; NULL when there is none. A GPU class is found by its aliases too. */
const struct recipe_model *recipe_model(const struct recipe_data *data, const char *code);
const struct recipe_gpu *recipe_gpu(const struct recipe_data *data, const char *code);
const struct recipe_framework *recipe_framework(const struct recipe_data *data, const char *code);
const struct recipe_set *recipe_set(const struct recipe_data *data, const char *code);
const struct recipe_source *recipe_source(const struct recipe_data *data, const char *code);

#endif
