/* SPDX-License-Identifier: Apache-2.0 */
#include "plane/parts.h"
#include "plane/resources.h"

const char *const choices_tool[] = {"metrumbench-llm", "metrumbench-vlm", "metrumbench-asr", "metrumbench-imagegen",
                                    "vllm-bench",      "guidellm",        "inference-perf",  NULL};

#define OPTIONAL_TEXT(member, sentence)                                                                                \
    {                                                                                                                  \
        .name = (member), .type = FIELD_TEXT, .flags = FIELD_NULLABLE, .max = 500, .about = (sentence)                 \
    }
#define OPTIONAL_COUNT(member, sentence)                                                                               \
    {                                                                                                                  \
        .name = (member), .type = FIELD_INT, .flags = FIELD_NULLABLE, .min = 1, .max = 1e12, .about = (sentence)       \
    }
#define FACTS                                                                                                          \
    {                                                                                                                  \
        .name = "facts", .type = FIELD_JSON, .flags = FIELD_DETAIL, .initial = "{}",                                   \
        .about = "Whatever else is known."                                                                             \
    }

/* ---- models ---- */

static const struct field PRECISION_FIELDS[] = {
    {.name = "precision_code", .type = FIELD_CODE, .flags = FIELD_REQUIRED, .about = "bf16, fp8, …"},
    {.name = "vram_minimum_gb",
     .type = FIELD_NUMBER,
     .flags = FIELD_NULLABLE,
     .min = 0,
     .max = 1e6,
     .about = "Decimal GB that the weights need (× 1.2)."},
    {.name = "is_derived", .type = FIELD_BOOL, .initial = "false", .about = "Computed, not stated upstream."},
};
static const struct shape PRECISION = {
    .name = "ModelPrecision", .about = "Memory of a model's weights.", SHAPE_FIELDS(PRECISION_FIELDS)};

static const struct field MODEL_FIELDS[] = {
    {.name = "model_code",
     .type = FIELD_NAME,
     .flags = FIELD_REQUIRED | FIELD_FIXED | FIELD_SORT,
     .about = "Natural key: the id on its hub."},
    {.name = "base_model_code", .type = FIELD_NAME, .flags = FIELD_NULLABLE, .about = "The model it was made from."},
    {.name = "family",
     .type = FIELD_TEXT,
     .flags = FIELD_NULLABLE | FIELD_FILTER | FIELD_SORT,
     .about = "Llama, Whisper, …"},
    {.name = "display_name", .type = FIELD_TEXT, .flags = FIELD_NULLABLE | FIELD_SORT, .about = "What people call it."},
    {.name = "architecture", .type = FIELD_TEXT, .flags = FIELD_NULLABLE | FIELD_FILTER, .about = "dense, moe, …"},
    {.name = "parameter_count",
     .type = FIELD_NUMBER,
     .flags = FIELD_NULLABLE | FIELD_SORT,
     .min = 0,
     .max = 1e15,
     .about = "Parameters in all."},
    {.name = "active_parameter_count",
     .type = FIELD_NUMBER,
     .flags = FIELD_NULLABLE,
     .min = 0,
     .max = 1e15,
     .about = "Parameters a token uses."},
    OPTIONAL_COUNT("context_length_tokens", "Longest context, in tokens."),
    OPTIONAL_COUNT("layers", "Transformer layers."),
    OPTIONAL_COUNT("attention_heads", "Query heads."),
    OPTIONAL_COUNT("kv_heads", "Key-value heads."),
    OPTIONAL_COUNT("head_dim", "Values a head has."),
    {.name = "is_gated",
     .type = FIELD_BOOL,
     .flags = FIELD_NULLABLE,
     .about = "Whether a token is needed to fetch it."},
    {.name = "tasks",
     .type = FIELD_LIST,
     .item = FIELD_TEXT,
     .max = 50,
     .initial = "[]",
     .about = "text, multimodal, text-to-image, …"},
    FACTS,
    OPTIONAL_TEXT("source_repository", "Where these facts come from."),
    OPTIONAL_TEXT("source_commit", "Its commit."),
    OPTIONAL_TEXT("source_path", "The file there."),
    {.name = "notes", .type = FIELD_PROSE, .flags = FIELD_NULLABLE | FIELD_DETAIL, .max = 4000, .about = "Remarks."},
    {.name = "precisions",
     .type = FIELD_LIST,
     .shape = &PRECISION,
     .flags = FIELD_VIRTUAL,
     .max = 40,
     .about = "Memory of the weights by precision."},
    FIELD_SHIPPED,
    FIELDS_OF_LIFE,
};
static const struct part MODEL_PARTS[] = {
    {"precisions", "model_precisions", "model_id", &PRECISION, NULL, 0, "precision_code"}};

static as_status finish_model(struct plane_call *call, int64_t id, const struct row_values *row)
{
    (void)row;
    return parts_write(call, MODEL_PARTS, sizeof MODEL_PARTS / sizeof MODEL_PARTS[0], id);
}

static as_status put_model(struct plane_call *call, int64_t id)
{
    return parts_put(call, MODEL_PARTS, sizeof MODEL_PARTS / sizeof MODEL_PARTS[0], id);
}

static const struct resource_hooks MODEL_HOOKS = {.finish = finish_model, .put = put_model};

const struct resource resource_models = {
    .shape = {.name = "Model", .about = "A model that can be served.", SHAPE_FIELDS(MODEL_FIELDS)},
    .path = "models",
    .singular = "model",
    .table = "models",
    .key = {"model_code"},
    .scope = RESOURCE_VISIBLE,
    .read = RIGHT_READ,
    .create = RIGHT_WRITE,
    .change = RIGHT_WRITE,
    .sort = "model_code",
    .hooks = &MODEL_HOOKS,
};

/* ---- GPU classes ---- */

static const struct field GPU_FIELDS[] = {
    {.name = "gpu_class_code",
     .type = FIELD_CODE,
     .flags = FIELD_REQUIRED | FIELD_FIXED | FIELD_SORT,
     .about = "Natural key: h100, mi300x, …"},
    {.name = "aliases",
     .type = FIELD_LIST,
     .item = FIELD_TEXT,
     .max = 20,
     .initial = "[]",
     .about = "Other spellings."},
    {.name = "vendor",
     .type = FIELD_TEXT,
     .flags = FIELD_NULLABLE | FIELD_FILTER,
     .about = "NVIDIA, AMD, Google, Intel."},
    {.name = "marketing_name",
     .type = FIELD_TEXT,
     .flags = FIELD_NULLABLE | FIELD_SORT,
     .about = "What the vendor calls it."},
    OPTIONAL_TEXT("architecture", "Hopper, CDNA3, …"),
    OPTIONAL_TEXT("compute_capability", "9.0, gfx942, …"),
    {.name = "memory_gib",
     .type = FIELD_NUMBER,
     .flags = FIELD_NULLABLE | FIELD_SORT,
     .min = 0,
     .max = 1e6,
     .about = "GiB as drivers report it."},
    {.name = "memory_bandwidth_gb_s",
     .type = FIELD_NUMBER,
     .flags = FIELD_NULLABLE,
     .min = 0,
     .max = 1e7,
     .about = "Decimal GB a second."},
    {.name = "max_power_w",
     .type = FIELD_NUMBER,
     .flags = FIELD_NULLABLE,
     .min = 0,
     .max = 1e5,
     .about = "Watts a GPU."},
    {.name = "supported_precisions",
     .type = FIELD_LIST,
     .item = FIELD_TEXT,
     .max = 40,
     .initial = "[]",
     .about = "With hardware support."},
    OPTIONAL_COUNT("typical_gpus_per_node", "GPUs a host usually has."),
    FACTS,
    OPTIONAL_TEXT("source", "Where these facts come from."),
    FIELD_SHIPPED,
    FIELDS_OF_LIFE,
};

const struct resource resource_gpu_classes = {
    .shape = {.name = "GpuClass", .about = "A kind of accelerator.", SHAPE_FIELDS(GPU_FIELDS)},
    .path = "gpu-classes",
    .singular = "GPU class",
    .table = "gpu_classes",
    .key = {"gpu_class_code"},
    .scope = RESOURCE_VISIBLE,
    .read = RIGHT_READ,
    .create = RIGHT_WRITE,
    .change = RIGHT_WRITE,
    .sort = "gpu_class_code",
};

/* ---- frameworks ---- */

static const struct field FRAMEWORK_FIELDS[] = {
    {.name = "framework_code",
     .type = FIELD_CODE,
     .flags = FIELD_REQUIRED | FIELD_FIXED | FIELD_SORT,
     .about = "Natural key: vllm, sglang, …"},
    {.name = "display_name", .type = FIELD_TEXT, .flags = FIELD_REQUIRED | FIELD_SORT, .about = "What people call it."},
    FACTS,
    FIELD_SHIPPED,
    FIELDS_OF_LIFE,
};

const struct resource resource_frameworks = {
    .shape = {.name = "Framework", .about = "A program that serves models.", SHAPE_FIELDS(FRAMEWORK_FIELDS)},
    .path = "frameworks",
    .singular = "framework",
    .table = "frameworks",
    .key = {"framework_code"},
    .scope = RESOURCE_VISIBLE,
    .read = RIGHT_READ,
    .create = RIGHT_ADMIN,
    .change = RIGHT_ADMIN,
    .sort = "framework_code",
};

static const struct field VERSION_FIELDS[] = {
    {.name = "framework_code",
     .type = FIELD_CODE,
     .flags = FIELD_REQUIRED | FIELD_FIXED | FIELD_FILTER,
     .about = "The framework."},
    {.name = "version",
     .type = FIELD_VERSION,
     .flags = FIELD_REQUIRED | FIELD_FIXED | FIELD_FILTER | FIELD_SORT,
     .about = "0.24.0, 0.5.15.post1, …"},
    {.name = "build",
     .type = FIELD_CODE,
     .flags = FIELD_FIXED | FIELD_FILTER,
     .initial = "\"cuda\"",
     .about = "cuda, rocm, tpu, cpu."},
    {.name = "image", .type = FIELD_TEXT, .flags = FIELD_NULLABLE, .max = 500, .about = "Container image."},
    {.name = "is_default", .type = FIELD_BOOL, .initial = "false", .about = "What new workloads take."},
    {.name = "gpu_classes",
     .type = FIELD_LIST,
     .item = FIELD_CODE,
     .max = 100,
     .initial = "[]",
     .about = "Classes it runs on; none: not known."},
    FACTS,
    FIELDS_OF_LIFE,
};
static const struct reference VERSION_REFERENCES[] = {{"framework_id", "frameworks", {"framework_code"}}};

const struct resource resource_framework_versions = {
    .shape = {.name = "FrameworkVersion", .about = "A released build of a framework.", SHAPE_FIELDS(VERSION_FIELDS)},
    .path = "framework-versions",
    .singular = "framework version",
    .table = "framework_versions",
    .key = {"framework_code", "version", "build"},
    .references = VERSION_REFERENCES,
    .reference_count = 1,
    .scope = RESOURCE_PART,
    .read = RIGHT_READ,
    .create = RIGHT_ADMIN,
    .change = RIGHT_ADMIN,
    .sort = "-created_at",
};

/* ---- prompt sources ---- */

static const char *const SOURCE_TYPES[] = {"prompt_library", "metrumbench_vlm_snapshot", "metrumbench_asr_snapshot",
                                           "metrumbench_imagegen_snapshot", NULL};
static const char *const SOURCE_STATES[] = {"ready", "importing", "bytes_missing", NULL};
/* Of the file that was sent; null before. */
#define OF_FILE(member, kind, column, sentence)                                                                        \
    {                                                                                                                  \
        .name = (member), .type = (kind), .flags = FIELD_GIVEN | FIELD_NULLABLE, .about = (sentence),                  \
        .sql = "(SELECT x." column " FROM prompt_source_files x WHERE x.prompt_source_id = $.id)"                      \
    }
static const struct field SOURCE_FIELDS[] = {
    {.name = "source_code",
     .type = FIELD_CODE,
     .flags = FIELD_REQUIRED | FIELD_FIXED | FIELD_SORT,
     .about = "Natural key of the library or snapshot."},
    {.name = "source_type",
     .type = FIELD_ENUM,
     .flags = FIELD_REQUIRED | FIELD_FIXED | FIELD_FILTER,
     .choices = SOURCE_TYPES,
     .about = "What it holds."},
    {.name = "state",
     .type = FIELD_ENUM,
     .flags = FIELD_GIVEN | FIELD_FILTER,
     .choices = SOURCE_STATES,
     .about = "bytes_missing: its importer must run first."},
    {.name = "name", .type = FIELD_TEXT, .flags = FIELD_REQUIRED | FIELD_SORT, .about = "What people call it."},
    {.name = "description", .type = FIELD_PROSE, .flags = FIELD_NULLABLE, .max = 4000, .about = "What is in it."},
    OPTIONAL_TEXT("origin", "Where it comes from: an address or a seed."),
    OPTIONAL_TEXT("licence", "Its licence."),
    {.name = "kind",
     .type = FIELD_TEXT,
     .flags = FIELD_NULLABLE | FIELD_FILTER,
     .about = "random, fixed, medical, legal, code, long_context, own."},
    {.name = "content_digest",
     .type = FIELD_TEXT,
     .flags = FIELD_GIVEN | FIELD_NULLABLE,
     .about = "SHA-256 over its rows in order."},
    {.name = "row_count",
     .type = FIELD_INT,
     .flags = FIELD_GIVEN | FIELD_SORT,
     .about = "Prompts, images or recordings."},
    OF_FILE("file_digest", FIELD_TEXT, "digest", "SHA-256 of its file as it was sent."),
    OF_FILE("file_bytes", FIELD_INT, "size_bytes", "Size of its file."),
    OF_FILE("with_expected_tokens", FIELD_INT, "with_expected_tokens", "Rows that say how long the answer is."),
    OF_FILE("words_total", FIELD_INT, "words_total", "White-space-separated words of all prompts."),
    OF_FILE("words_min", FIELD_INT, "words_min", "Words of the shortest prompt."),
    OF_FILE("words_p50", FIELD_INT, "words_p50", "Words of the prompt in the middle."),
    OF_FILE("words_p95", FIELD_INT, "words_p95", "Words that 95 of 100 prompts do not exceed."),
    OF_FILE("words_max", FIELD_INT, "words_max", "Words of the longest prompt."),
    {.name = "restic_repository",
     .type = FIELD_TEXT,
     .flags = FIELD_GIVEN | FIELD_NULLABLE,
     .about = "Where the images or recordings lie."},
    {.name = "restic_snapshot", .type = FIELD_TEXT, .flags = FIELD_GIVEN | FIELD_NULLABLE, .about = "Which snapshot."},
    {.name = "bytes_total", .type = FIELD_INT, .flags = FIELD_GIVEN | FIELD_NULLABLE, .about = "Bytes of them."},
    {.name = "import_command", .type = FIELD_TEXT, .flags = FIELD_GIVEN | FIELD_NULLABLE, .about = "What fills it."},
    FIELD_SHIPPED,
    FIELDS_OF_LIFE,
};

/* A new source has nothing in it. */
static as_status prepare_source(struct plane_call *call, int64_t id, struct row_values *row)
{
    const struct store_value *code = row_values_get(row, "source_code");
    if (id || !code)
        return AS_OK;
    const char *command = call_printf(call, "assay ctl prompts upload %.*s FILE", (int)code->len, code->text);
    as_status status = command ? row_values_set(row, "state", store_text("bytes_missing")) : AS_E_NOMEM;
    return status == AS_OK ? row_values_set(row, "import_command", store_text(command)) : status;
}

static const struct resource_hooks SOURCE_HOOKS = {.prepare = prepare_source};

const struct resource resource_prompt_sources = {
    .shape = {.name = "PromptSource",
              .about = "Prompts, images or recordings that a workload sends.",
              SHAPE_FIELDS(SOURCE_FIELDS)},
    .path = "prompt-sources",
    .singular = "prompt source",
    .table = "prompt_sources",
    .key = {"source_code"},
    .scope = RESOURCE_VISIBLE,
    .read = RIGHT_READ,
    .create = RIGHT_WRITE,
    .change = RIGHT_WRITE,
    .sort = "source_code",
    .hooks = &SOURCE_HOOKS,
};
