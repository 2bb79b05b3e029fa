/* SPDX-License-Identifier: Apache-2.0 */
/* Models, GPU classes, frameworks with versions and flags, prompt sources. */
#include "plane/seed_rows.h"

#include "recipe/version.h"

#include <stdio.h>
#include <string.h>

#define COLUMNS(...) ((const char *const[]){__VA_ARGS__, NULL})

static struct store_value count_value(int64_t value)
{
    return value > 0 ? store_int(value) : store_null();
}

static struct store_value amount_value(double value)
{
    return value > 0 ? store_real(value) : store_null();
}

/* ---- models ---- */

static as_status seed_precisions(struct plane_call *call, int64_t model_id, const struct recipe_model *model)
{
    struct seed_batch batch;
    as_status status = AS_OK;
    seed_batch_begin(&batch, call, "model_precisions",
                     COLUMNS("model_id", "precision_code", "vram_minimum_gb", "is_derived"));
    for (size_t i = 0; status == AS_OK && i < model->memory_count; i++) {
        const struct store_value values[] = {store_int(model_id), store_text(model->memory[i].precision),
                                             store_real(model->memory[i].floor_gb),
                                             store_bool(model->memory[i].is_derived)};
        status = seed_batch_add(&batch, values);
    }
    return seed_batch_end(&batch, status);
}

static const char *model_facts(struct plane_call *call, const struct recipe_model *model)
{
    struct strbuf text AS_AUTO_STRBUF = {.len = 0};
    struct json_writer writer;
    strbuf_init(&text, 0);
    json_writer_init(&writer, &text, 0);
    json_open_object(&writer);
    if (model->full_attention_layers || model->latent_kv_values) {
        json_key(&writer, "config");
        json_open_object(&writer);
        if (model->full_attention_layers)
            json_member_int(&writer, "full_attention_layers", model->full_attention_layers);
        if (model->latent_kv_values)
            json_member_int(&writer, "latent_kv_values", model->latent_kv_values);
        json_close_object(&writer);
    }
    if (model->config_source)
        json_member_string(&writer, "config_source", model->config_source);
    json_close_object(&writer);
    return json_writer_status(&writer) == AS_OK ? arena_strdup(&call->arena, strbuf_text(&text)) : NULL;
}

static as_status seed_model(struct plane_call *call, const struct recipe_data *data, const struct recipe_model *model)
{
    const struct recipe_source *source = model->source ? recipe_source(data, model->source) : NULL;
    const struct store_value values[] = {
        store_text(model->code),
        store_text(model->base_code),
        store_text(model->family),
        store_text(model->display_name),
        store_text(model->architecture),
        amount_value(model->parameters),
        amount_value(model->active_parameters),
        count_value(model->context_length_tokens),
        count_value(model->layers),
        count_value(model->attention_heads),
        count_value(model->kv_heads),
        count_value(model->head_dim),
        store_text(seed_list(call, &model->tasks)),
        store_text(model_facts(call, model)),
        store_text(source ? source->repository : NULL),
        store_text(source ? source->commit : NULL),
        store_text(model->path),
        store_text(model->note),
    };
    const struct seed_row row = {
        .table = "models",
        .columns = COLUMNS("model_code", "base_model_code", "family", "display_name", "architecture", "parameter_count",
                           "active_parameter_count", "context_length_tokens", "layers", "attention_heads", "kv_heads",
                           "head_dim", "tasks", "facts", "source_repository", "source_commit", "source_path", "notes"),
        .values = values,
        .keys = 1,
        .has_tenant = true,
        .has_life = true};
    int64_t id = 0;
    bool is_new = false;
    as_status status = seed_row(call, &row, &id, &is_new);
    return status == AS_OK ? seed_precisions(call, id, model) : status;
}

as_status seed_models(struct plane_call *call, const struct recipe_data *data)
{
    as_status status = AS_OK;
    for (size_t i = 0; status == AS_OK && i < data->model_count; i++)
        status = seed_model(call, data, &data->models[i]);
    return status;
}

/* ---- GPU classes ---- */

as_status seed_gpus(struct plane_call *call, const struct recipe_data *data)
{
    as_status status = AS_OK;
    for (size_t i = 0; status == AS_OK && i < data->gpu_count; i++) {
        const struct recipe_gpu *gpu = &data->gpus[i];
        const struct store_value values[] = {
            store_text(gpu->code),
            store_text(seed_list(call, &gpu->aliases)),
            store_text(recipe_vendor_name(gpu->vendor)),
            store_text(gpu->name),
            store_text(gpu->architecture),
            store_text(gpu->compute_capability),
            amount_value(gpu->memory_gib),
            amount_value(gpu->bandwidth_gb_per_s),
            amount_value(gpu->max_power_w),
            store_text(seed_list(call, &gpu->precisions)),
            count_value(gpu->gpus_per_node),
            store_text(gpu->confidence ? call_printf(call, "vendor specifications as generally known (confidence %s)",
                                                     gpu->confidence)
                                       : NULL),
        };
        const struct seed_row row = {.table = "gpu_classes",
                                     .columns = COLUMNS("gpu_class_code", "aliases", "vendor", "marketing_name",
                                                        "architecture", "compute_capability", "memory_gib",
                                                        "memory_bandwidth_gb_s", "max_power_w", "supported_precisions",
                                                        "typical_gpus_per_node", "source"),
                                     .values = values,
                                     .keys = 1,
                                     .has_tenant = true,
                                     .has_life = true};
        int64_t id;
        bool is_new;
        status = seed_row(call, &row, &id, &is_new);
    }
    return status;
}

/* ---- frameworks ---- */

#define VERSIONS_MAX 256

struct version {
    const char *version, *build;
    bool is_default;
};

struct versions {
    struct version items[VERSIONS_MAX];
    size_t count;
};

static void add_version(struct versions *versions, const char *version, const char *build, bool is_default)
{
    if (!version || !recipe_version_is_valid(version) || version[0] < '0' || version[0] > '9')
        return; /* "nightly" is no version that can be had again */
    for (size_t i = 0; i < versions->count; i++) {
        if (strcmp(versions->items[i].version, version) != 0 || strcmp(versions->items[i].build, build) != 0)
            continue;
        versions->items[i].is_default = versions->items[i].is_default || is_default;
        return;
    }
    if (versions->count < VERSIONS_MAX)
        versions->items[versions->count++] = (struct version){version, build, is_default};
}

static const char *build_of(const struct recipe_data *data, const char *gpu_class)
{
    const struct recipe_gpu *gpu = recipe_gpu(data, gpu_class);
    static const char *const builds[] = {
        [RECIPE_NVIDIA] = "cuda", [RECIPE_AMD] = "rocm", [RECIPE_GOOGLE] = "tpu", [RECIPE_INTEL] = NULL};
    return gpu ? builds[gpu->vendor] : NULL;
}

/* Releases that the framework names, and the oldest versions that its sets ask for. */
static void find_versions(const struct recipe_data *data, const struct recipe_framework *framework,
                          struct versions *ret)
{
    bool has_default = false;
    for (size_t i = 0; i < framework->release_count; i++) {
        const struct recipe_release *release = &framework->releases[i];
        add_version(ret, release->version, release->build, release->is_default);
        has_default = has_default || (release->version && release->is_default);
    }
    for (size_t i = 0; i < data->set_count; i++) {
        const struct recipe_set *set = &data->sets[i];
        if (strcmp(set->framework_code, framework->code) != 0)
            continue;
        for (size_t k = 0; k < set->gpu_classes.count; k++) {
            const char *build = build_of(data, set->gpu_classes.items[k]);
            if (build)
                add_version(ret, set->framework_version_min, build, false);
        }
    }
    struct version *newest = NULL;
    for (size_t i = 0; !has_default && i < ret->count; i++)
        if (strcmp(ret->items[i].build, "cuda") == 0 &&
            (!newest || recipe_version_compare(ret->items[i].version, newest->version) > 0))
            newest = &ret->items[i];
    if (newest)
        newest->is_default = true;
}

/* The image's name with the version in it; NULL when there is none for the build. */
static const char *image_of(struct plane_call *call, const struct recipe_framework *framework,
                            const struct version *version)
{
    const char *image = recipe_pairs_get(&framework->images, version->build);
    const char *place = image ? strstr(image, "{version}") : NULL;
    if (!place)
        return image;
    return call_printf(call, "%.*s%s%s", (int)(place - image), image, version->version, place + strlen("{version}"));
}

static as_status seed_flags(struct plane_call *call, const struct recipe_framework *framework, int64_t version_id,
                            const char *version)
{
    struct seed_batch batch;
    as_status status = AS_OK;
    seed_batch_begin(
        &batch, call, "framework_engine_args_templates",
        COLUMNS("framework_version_id", "arg_key", "flag", "value_type", "default_value", "choices", "description"));
    for (size_t i = 0; status == AS_OK && i < framework->flag_count; i++) {
        const struct recipe_flag *flag = &framework->flags[i];
        const struct store_value values[] = {
            store_int(version_id),
            store_text(flag->key),
            store_text(flag->flag),
            store_text(recipe_type_name(flag->type)),
            store_text(flag->default_text),
            flag->choices.count ? store_text(seed_list(call, &flag->choices)) : store_null(),
            store_text(flag->help),
        };
        if (recipe_version_within(version, flag->since, flag->until))
            status = seed_batch_add(&batch, values);
    }
    return seed_batch_end(&batch, status);
}

static as_status seed_versions(struct plane_call *call, const struct recipe_data *data,
                               const struct recipe_framework *framework, int64_t framework_id)
{
    struct versions versions = {.count = 0};
    as_status status = AS_OK;
    find_versions(data, framework, &versions);
    for (size_t i = 0; status == AS_OK && i < versions.count; i++) {
        const struct version *version = &versions.items[i];
        const struct store_value values[] = {store_int(framework_id), store_text(version->version),
                                             store_text(version->build), store_text(image_of(call, framework, version)),
                                             store_bool(version->is_default)};
        const struct seed_row row = {.table = "framework_versions",
                                     .columns = COLUMNS("framework_id", "version", "build", "image", "is_default"),
                                     .values = values,
                                     .keys = 3,
                                     .has_life = true};
        int64_t id = 0;
        bool is_new = false;
        status = seed_row(call, &row, &id, &is_new);
        if (status == AS_OK)
            status = seed_flags(call, framework, id, version->version);
    }
    return status;
}

static const char *framework_facts(struct plane_call *call, const struct json_value *file, const char *code)
{
    struct strbuf text AS_AUTO_STRBUF = {.len = 0};
    struct json_writer writer;
    const struct json_value *list = json_get(file, "frameworks"), *found = NULL;
    for (const struct json_value *item = list ? list->first : NULL; item; item = item->next) {
        const char *name = "";
        if (json_string(json_get(item, "framework_code"), &name) && strcmp(name, code) == 0)
            found = item;
    }
    strbuf_init(&text, 0);
    json_writer_init(&writer, &text, 0);
    json_put_value(&writer, found);
    return found && json_writer_status(&writer) == AS_OK ? arena_strdup(&call->arena, strbuf_text(&text)) : "{}";
}

as_status seed_frameworks(struct plane_call *call, const struct recipe_data *data, const struct json_value *file)
{
    as_status status = AS_OK;
    for (size_t i = 0; status == AS_OK && i < data->framework_count; i++) {
        const struct recipe_framework *framework = &data->frameworks[i];
        const struct store_value values[] = {store_text(framework->code), store_text(framework->name),
                                             store_text(framework_facts(call, file, framework->code))};
        const struct seed_row row = {.table = "frameworks",
                                     .columns = COLUMNS("framework_code", "display_name", "facts"),
                                     .values = values,
                                     .keys = 1,
                                     .has_tenant = true,
                                     .has_life = true};
        int64_t id = 0;
        bool is_new = false;
        status = seed_row(call, &row, &id, &is_new);
        if (status == AS_OK)
            status = seed_versions(call, data, framework, id);
    }
    return status;
}

/* ---- prompt sources ---- */

static const struct {
    const char *code, *type, *name, *origin, *licence, *command;
} SOURCES[] = {
    {"metrumbench-vlm-4k-v1", "metrumbench_vlm_snapshot", "Photographs with description prompts", NULL, NULL,
     "assay ctl prompts upload metrumbench-vlm-4k-v1 FILE && assay ctl prompts store metrumbench-vlm-4k-v1 FOLDER"},
    {"librispeech-test-clean", "metrumbench_asr_snapshot", "LibriSpeech test-clean: clear, read English",
     "https://www.openslr.org/12 test-clean.tar.gz", "CC-BY-4.0",
     "assay ctl prompts upload librispeech-test-clean FILE && assay ctl prompts store librispeech-test-clean FOLDER"},
    {"librispeech-test-other", "metrumbench_asr_snapshot", "LibriSpeech test-other: harder speech",
     "https://www.openslr.org/12 test-other.tar.gz", "CC-BY-4.0",
     "assay ctl prompts upload librispeech-test-other FILE && assay ctl prompts store librispeech-test-other FOLDER"},
    {"text2image-multiprompt-1024", "metrumbench_imagegen_snapshot", "1,024 prompts for image generation", NULL,
     "Apache-2.0", "assay ctl prompts upload text2image-multiprompt-1024 FILE"},
};

as_status seed_prompt_sources(struct plane_call *call)
{
    as_status status = AS_OK;
    for (size_t i = 0; status == AS_OK && i < sizeof SOURCES / sizeof SOURCES[0]; i++) {
        const struct store_value values[] = {store_text(SOURCES[i].code),   store_text(SOURCES[i].type),
                                             store_text("bytes_missing"),   store_text(SOURCES[i].name),
                                             store_text(SOURCES[i].origin), store_text(SOURCES[i].licence),
                                             store_text(SOURCES[i].command)};
        const struct seed_row row = {
            .table = "prompt_sources",
            .columns = COLUMNS("source_code", "source_type", "state", "name", "origin", "licence", "import_command"),
            .values = values,
            .keys = 1,
            .has_tenant = true,
            .has_life = true};
        int64_t id;
        bool is_new;
        status = seed_row(call, &row, &id, &is_new);
    }
    return status;
}
