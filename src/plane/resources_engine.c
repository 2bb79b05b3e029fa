/* SPDX-License-Identifier: Apache-2.0 */
#include "plane/engine.h"
#include "plane/resources.h"

#define COUNT(member, sentence)                                                                                        \
    {                                                                                                                  \
        .name = (member), .type = FIELD_INT, .min = 1, .max = 65536, .initial = "1", .about = (sentence)               \
    }
#define OPTIONAL_COUNT(member, sentence)                                                                               \
    {                                                                                                                  \
        .name = (member), .type = FIELD_INT, .flags = FIELD_NULLABLE, .min = 1, .max = 65536, .about = (sentence)      \
    }
#define OPTIONAL_TEXT(member, sentence)                                                                                \
    {                                                                                                                  \
        .name = (member), .type = FIELD_TEXT, .flags = FIELD_NULLABLE, .max = 500, .about = (sentence)                 \
    }

static const char *const VALUE_TYPES[] = {"int", "float", "bool", "string", "json", "list", NULL};

/* ---- templates: the flags that exist ---- */

static const struct field TEMPLATE_FIELDS[] = {
    {.name = "framework_code",
     .type = FIELD_CODE,
     .flags = FIELD_REQUIRED | FIELD_FIXED | FIELD_FILTER,
     .about = "The framework."},
    {.name = "version",
     .type = FIELD_VERSION,
     .flags = FIELD_REQUIRED | FIELD_FIXED | FIELD_FILTER,
     .about = "Its version."},
    {.name = "build",
     .type = FIELD_CODE,
     .flags = FIELD_FIXED | FIELD_FILTER,
     .initial = "\"cuda\"",
     .about = "Its build."},
    {.name = "arg_key",
     .type = FIELD_KEY,
     .flags = FIELD_REQUIRED | FIELD_FIXED | FIELD_FILTER | FIELD_SORT,
     .about = "tensor_parallel_size, …"},
    {.name = "flag", .type = FIELD_TEXT, .flags = FIELD_REQUIRED, .about = "--tensor-parallel-size, …"},
    {.name = "value_type",
     .type = FIELD_ENUM,
     .flags = FIELD_REQUIRED,
     .choices = VALUE_TYPES,
     .about = "Type of its value."},
    {.name = "default_value",
     .type = FIELD_TEXT,
     .flags = FIELD_NULLABLE,
     .max = 2000,
     .about = "As text; null: not known."},
    {.name = "choices",
     .type = FIELD_LIST,
     .item = FIELD_TEXT,
     .flags = FIELD_NULLABLE,
     .max = 200,
     .about = "Allowed texts; null: any."},
    {.name = "description", .type = FIELD_PROSE, .flags = FIELD_NULLABLE, .max = 4000, .about = "What it does."},
};
static const struct reference TEMPLATE_REFERENCES[] = {
    {"framework_version_id", "framework-versions", {"framework_code", "version", "build"}}};

const struct resource resource_engine_args_templates = {
    .shape = {.name = "EngineArgsTemplate",
              .about = "A flag that a framework's version knows.",
              SHAPE_FIELDS(TEMPLATE_FIELDS)},
    .path = "engine-args-templates",
    .singular = "engine-argument template",
    .table = "framework_engine_args_templates",
    .key = {"framework_code", "version", "build", "arg_key"},
    .references = TEMPLATE_REFERENCES,
    .reference_count = 1,
    .scope = RESOURCE_PART,
    .read = RIGHT_READ,
    .create = RIGHT_ADMIN,
    .change = RIGHT_ADMIN,
    .is_bare = true,
    .sort = "arg_key",
};

/* ---- sets ---- */

static const char *const SCOPES[] = {"llm", "vlm", "asr", "imagegen", NULL};
static const char *const STATUSES[] = {"verified", "unverified", "listed", "not_listed", NULL};
static const char *const JOINERS[] = {"=", " ", NULL};

static const struct field ARG_FIELDS[] = {
    {.name = "arg_key", .type = FIELD_KEY, .flags = FIELD_REQUIRED, .about = "A flag of the framework's templates."},
    {.name = "value",
     .type = FIELD_JSON,
     .flags = FIELD_REQUIRED | FIELD_ANY | FIELD_NULLABLE,
     .about = "Its value, of the flag's type."},
    {.name = "flag",
     .type = FIELD_TEXT,
     .flags = FIELD_NULLABLE,
     .about = "Spelling of the flag; null: the template's."},
    {.name = "joiner",
     .type = FIELD_ENUM,
     .flags = FIELD_NULLABLE,
     .choices = JOINERS,
     .about = "= writes flag=value."},
    {.name = "raw_value",
     .type = FIELD_TEXT,
     .flags = FIELD_NULLABLE,
     .max = 60000,
     .about = "The value exactly as it is written."},
    {.name = "origin",
     .type = FIELD_TEXT,
     .flags = FIELD_NULLABLE,
     .max = 40,
     .about = "null: the recipe; parallelism, feature, user."},
};
const struct shape shape_engine_arg = {.name = "EngineArg", .about = "A value of a set.", SHAPE_FIELDS(ARG_FIELDS)};

static const struct field SET_GPU_FIELDS[] = {
    {.name = "gpu_class_code", .type = FIELD_CODE, .flags = FIELD_REQUIRED, .about = "The class."},
    {.name = "status",
     .type = FIELD_ENUM,
     .choices = STATUSES,
     .initial = "\"not_listed\"",
     .about = "What upstream says of it."},
};
static const struct shape SET_GPU = {
    .name = "EngineArgsSetGpu", .about = "A GPU class that a set is for.", SHAPE_FIELDS(SET_GPU_FIELDS)};
static const struct reference SET_GPU_REFERENCES[] = {{"gpu_class_id", "gpu-classes", {"gpu_class_code"}}};
const struct part engine_set_parts[1] = {
    {"gpu_classes", "framework_engine_args_set_gpu_classes", "set_id", &SET_GPU, SET_GPU_REFERENCES, 1, "id"}};

static const struct field SET_FIELDS[] = {
    {.name = "set_code",
     .type = FIELD_CODE,
     .flags = FIELD_REQUIRED | FIELD_FIXED | FIELD_SORT,
     .about = "Natural key of the set."},
    {.name = "framework_code",
     .type = FIELD_CODE,
     .flags = FIELD_REQUIRED | FIELD_FIXED | FIELD_FILTER,
     .about = "Framework it is for."},
    {.name = "framework_version",
     .type = FIELD_VERSION,
     .flags = FIELD_NULLABLE,
     .about = "The one version it is for; null: from the minimum on."},
    {.name = "framework_build",
     .type = FIELD_CODE,
     .flags = FIELD_NULLABLE,
     .initial = "\"cuda\"",
     .about = "Build of that version."},
    {.name = "framework_version_min", .type = FIELD_TEXT, .flags = FIELD_NULLABLE, .about = "Oldest version."},
    {.name = "tool_scope",
     .type = FIELD_ENUM,
     .flags = FIELD_FIXED | FIELD_FILTER,
     .choices = SCOPES,
     .initial = "\"llm\"",
     .about = "What it serves; imagegen sets serve images only."},
    {.name = "model_code",
     .type = FIELD_NAME,
     .flags = FIELD_NULLABLE | FIELD_FILTER,
     .about = "Model it is for; null: any."},
    {.name = "precision_code",
     .type = FIELD_TEXT,
     .flags = FIELD_NULLABLE | FIELD_FILTER,
     .max = 100,
     .about = "Precision of the weights."},
    OPTIONAL_TEXT("model_variant", "Variant upstream."),
    COUNT("tensor_parallel_size", "GPUs that share each layer."),
    COUNT("pipeline_parallel_size", "Stages of layers."),
    COUNT("data_parallel_size", "Copies inside one server."),
    OPTIONAL_COUNT("expert_parallel_size", "GPUs that share experts; null: off."),
    OPTIONAL_COUNT("ulysses_size", "Image generation: sequence parallel."),
    OPTIONAL_COUNT("ring_size", "Image generation: ring parallel."),
    COUNT("node_count", "Hosts that one server spans."),
    COUNT("gpus_per_replica", "GPUs of one server over all its hosts."),
    {.name = "vram_minimum_gb",
     .type = FIELD_NUMBER,
     .flags = FIELD_NULLABLE,
     .min = 0,
     .max = 1e6,
     .about = "Decimal GB that the weights need."},
    {.name = "is_recommended",
     .type = FIELD_BOOL,
     .flags = FIELD_FILTER,
     .initial = "false",
     .about = "The launch upstream opens with."},
    OPTIONAL_TEXT("strategy", "Strategy upstream."),
    {.name = "facts", .type = FIELD_JSON, .flags = FIELD_DETAIL, .initial = "{}", .about = "Whatever else is known."},
    OPTIONAL_TEXT("source_repository", "Where it comes from."),
    OPTIONAL_TEXT("source_commit", "Its commit."),
    OPTIONAL_TEXT("source_path", "The file there."),
    {.name = "current_revision", .type = FIELD_INT, .flags = FIELD_GIVEN, .about = "Newest revision of its values."},
    {.name = "gpu_classes",
     .type = FIELD_LIST,
     .shape = &SET_GPU,
     .flags = FIELD_VIRTUAL,
     .max = 100,
     .about = "GPU classes it is for."},
    {.name = "args",
     .type = FIELD_LIST,
     .shape = &shape_engine_arg,
     .flags = FIELD_VIRTUAL,
     .max = 256,
     .about = "Values in order; sending them makes a revision."},
    {.name = "environment",
     .type = FIELD_JSON,
     .flags = FIELD_VIRTUAL,
     .about = "Environment of the server; sending it makes a revision."},
    {.name = "images", .type = FIELD_JSON, .flags = FIELD_VIRTUAL, .about = "Container image by GPU class."},
    {.name = "revision_note",
     .type = FIELD_TEXT,
     .flags = FIELD_VIRTUAL | FIELD_NULLABLE,
     .max = 500,
     .about = "Why the revision was made."},
    {.name = "digest",
     .type = FIELD_TEXT,
     .flags = FIELD_GIVEN | FIELD_VIRTUAL | FIELD_NULLABLE,
     .about = "SHA-256 of what the newest revision launches."},
    FIELD_SHIPPED,
    FIELDS_OF_LIFE,
};
static const struct reference SET_REFERENCES[] = {
    {"framework_id", "frameworks", {"framework_code"}},
    {"framework_version_id", "framework-versions", {"framework_code", "framework_version", "framework_build"}},
    {"model_id", "models", {"model_code"}},
};
static const struct resource_hooks SET_HOOKS = {.finish = engine_set_finish, .put = engine_set_put};

const struct resource resource_engine_args_sets = {
    .shape = {.name = "EngineArgsSet",
              .about = "Arguments that start a server, as one named and versioned thing.",
              SHAPE_FIELDS(SET_FIELDS)},
    .path = "engine-args-sets",
    .singular = "engine-argument set",
    .table = "framework_engine_args_sets",
    .key = {"set_code"},
    .references = SET_REFERENCES,
    .reference_count = 3,
    .scope = RESOURCE_VISIBLE,
    .read = RIGHT_READ,
    .create = RIGHT_WRITE,
    .change = RIGHT_WRITE,
    .sort = "set_code",
    .hooks = &SET_HOOKS,
};

/* ---- command templates ---- */

static const char *const TEMPLATE_KINDS[] = {"server", "tool", NULL};
static const char *const LAUNCHERS[] = {"process", "container", NULL};
static const struct field COMMAND_FIELDS[] = {
    {.name = "template_code",
     .type = FIELD_CODE,
     .flags = FIELD_REQUIRED | FIELD_FIXED | FIELD_SORT,
     .about = "Natural key of the template."},
    {.name = "kind",
     .type = FIELD_ENUM,
     .flags = FIELD_REQUIRED | FIELD_FIXED | FIELD_FILTER,
     .choices = TEMPLATE_KINDS,
     .about = "What it starts."},
    {.name = "framework_code",
     .type = FIELD_CODE,
     .flags = FIELD_FIXED | FIELD_NULLABLE | FIELD_FILTER,
     .about = "A server's framework."},
    {.name = "tool",
     .type = FIELD_ENUM,
     .flags = FIELD_FIXED | FIELD_NULLABLE | FIELD_FILTER,
     .choices = choices_tool,
     .about = "A tool's name."},
    {.name = "launcher",
     .type = FIELD_ENUM,
     .flags = FIELD_FIXED | FIELD_FILTER,
     .choices = LAUNCHERS,
     .initial = "\"process\"",
     .about = "How it is started."},
    {.name = "description", .type = FIELD_PROSE, .flags = FIELD_NULLABLE, .max = 4000, .about = "When to use it."},
    {.name = "current_revision", .type = FIELD_INT, .flags = FIELD_GIVEN, .about = "Newest revision."},
    {.name = "argv",
     .type = FIELD_JSON,
     .flags = FIELD_VIRTUAL | FIELD_ANY | FIELD_REQUIRED,
     .about = "Words with {placeholders}; see docs/guide/command-templates.md."},
    {.name = "environment",
     .type = FIELD_JSON,
     .flags = FIELD_VIRTUAL,
     .about = "Variables with {placeholders}; no secrets."},
    {.name = "settings",
     .type = FIELD_JSON,
     .flags = FIELD_VIRTUAL,
     .about = "The template's other members: since, until, files, secrets, defaults, results, tool."},
    {.name = "revision_note",
     .type = FIELD_TEXT,
     .flags = FIELD_VIRTUAL | FIELD_NULLABLE,
     .max = 500,
     .about = "Why the revision was made."},
    {.name = "digest",
     .type = FIELD_TEXT,
     .flags = FIELD_GIVEN | FIELD_VIRTUAL | FIELD_NULLABLE,
     .about = "SHA-256 of the newest revision."},
    FIELD_SHIPPED,
    FIELDS_OF_LIFE,
};
static const struct reference COMMAND_REFERENCES[] = {{"framework_id", "frameworks", {"framework_code"}}};
static const struct resource_hooks COMMAND_HOOKS = {
    .prepare = engine_template_prepare, .finish = engine_template_finish, .put = engine_template_put};

const struct resource resource_command_templates = {
    .shape = {.name = "CommandTemplate",
              .about = "How a server or a tool is started on a worker.",
              SHAPE_FIELDS(COMMAND_FIELDS)},
    .path = "command-templates",
    .singular = "command template",
    .table = "command_templates",
    .key = {"template_code"},
    .references = COMMAND_REFERENCES,
    .reference_count = 1,
    .scope = RESOURCE_VISIBLE,
    .read = RIGHT_READ,
    .create = RIGHT_ADMIN,
    .change = RIGHT_ADMIN,
    .sort = "template_code",
    .hooks = &COMMAND_HOOKS,
};
