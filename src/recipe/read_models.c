/* SPDX-License-Identifier: Apache-2.0 */
/* models.json and gpus.json. */
#include "recipe/read_parts.h"

static const struct member SOURCE_MEMBERS[] = {
    {"code", MEMBER_TEXT, offsetof(struct recipe_source, code), true},
    {"repository", MEMBER_TEXT, offsetof(struct recipe_source, repository), true},
    {"commit", MEMBER_TEXT, offsetof(struct recipe_source, commit), true},
    {"licence", MEMBER_TEXT, offsetof(struct recipe_source, licence), true},
    {"date", MEMBER_TEXT, offsetof(struct recipe_source, date), false},
};

static const struct member MODEL_MEMBERS[] = {
    {"model_code", MEMBER_TEXT, offsetof(struct recipe_model, code), true},
    {"base_model_code", MEMBER_TEXT, offsetof(struct recipe_model, base_code), false},
    {"family", MEMBER_TEXT, offsetof(struct recipe_model, family), true},
    {"display_name", MEMBER_TEXT, offsetof(struct recipe_model, display_name), false},
    {"parameters", MEMBER_DOUBLE, offsetof(struct recipe_model, parameters), false},
    {"active_parameters", MEMBER_DOUBLE, offsetof(struct recipe_model, active_parameters), false},
    {"architecture", MEMBER_TEXT, offsetof(struct recipe_model, architecture), false},
    {"context_length_tokens", MEMBER_INT, offsetof(struct recipe_model, context_length_tokens), false},
    {"memory_floor_gb", MEMBER_OTHER, 0, false},
    {"derived_precisions", MEMBER_OTHER, 0, false},
    {"tasks", MEMBER_LIST, offsetof(struct recipe_model, tasks), false},
    {"config", MEMBER_OTHER, 0, false},
    {"config_source", MEMBER_TEXT, offsetof(struct recipe_model, config_source), false},
    {"source", MEMBER_TEXT, offsetof(struct recipe_model, source), false},
    {"path", MEMBER_TEXT, offsetof(struct recipe_model, path), false},
    {"note", MEMBER_TEXT, offsetof(struct recipe_model, note), false},
};

static const struct member CONFIG_MEMBERS[] = {
    {"layers", MEMBER_INT, offsetof(struct recipe_model, layers), false},
    {"attention_heads", MEMBER_INT, offsetof(struct recipe_model, attention_heads), false},
    {"kv_heads", MEMBER_INT, offsetof(struct recipe_model, kv_heads), false},
    {"head_dim", MEMBER_INT, offsetof(struct recipe_model, head_dim), false},
    {"full_attention_layers", MEMBER_INT, offsetof(struct recipe_model, full_attention_layers), false},
    {"latent_kv_values", MEMBER_INT, offsetof(struct recipe_model, latent_kv_values), false},
};

static const struct member GPU_MEMBERS[] = {
    {"gpu_class", MEMBER_TEXT, offsetof(struct recipe_gpu, code), true},
    {"aliases", MEMBER_LIST, offsetof(struct recipe_gpu, aliases), false},
    {"vendor", MEMBER_OTHER, 0, true},
    {"name", MEMBER_TEXT, offsetof(struct recipe_gpu, name), true},
    {"architecture", MEMBER_TEXT, offsetof(struct recipe_gpu, architecture), false},
    {"compute_capability", MEMBER_TEXT, offsetof(struct recipe_gpu, compute_capability), false},
    {"memory_gib", MEMBER_DOUBLE, offsetof(struct recipe_gpu, memory_gib), true},
    {"memory_gb_nameplate", MEMBER_DOUBLE, offsetof(struct recipe_gpu, memory_gb_nameplate), false},
    {"memory_gb_recipes", MEMBER_DOUBLE, offsetof(struct recipe_gpu, memory_gb_recipes), false},
    {"bandwidth_gb_per_s", MEMBER_DOUBLE, offsetof(struct recipe_gpu, bandwidth_gb_per_s), false},
    {"max_power_w", MEMBER_DOUBLE, offsetof(struct recipe_gpu, max_power_w), false},
    {"precisions", MEMBER_LIST, offsetof(struct recipe_gpu, precisions), false},
    {"gpus_per_node", MEMBER_INT, offsetof(struct recipe_gpu, gpus_per_node), false},
    {"confidence", MEMBER_TEXT, offsetof(struct recipe_gpu, confidence), false},
    {"note", MEMBER_TEXT, offsetof(struct recipe_gpu, note), false},
};

as_status read_sources(struct reader *reader, const struct json_value *root, struct recipe_data *data)
{
    const struct json_value *array = json_get(root, "sources");
    if (!array)
        return AS_OK;
    if (array->type != JSON_ARRAY)
        return reader_fail(reader, array, "sources is %s where an array is expected", json_type_name(array->type));
    struct recipe_source *items = arena_calloc(reader->arena, data->source_count + array->len + 1, sizeof(*items));
    if (!items)
        return reader_no_memory(reader);
    size_t count = data->source_count, index = 0;
    for (size_t i = 0; i < count; i++)
        items[i] = data->sources[i];
    for (const struct json_value *value = array->first; value; value = value->next) {
        struct recipe_source source = {0};
        reader_at(reader, "sources", index++);
        as_status status = reader_members(reader, value, MEMBERS(SOURCE_MEMBERS), &source);
        if (status != AS_OK)
            return status;
        struct recipe_data known = {.sources = items, .source_count = count};
        if (!recipe_source(&known, source.code))
            items[count++] = source;
    }
    reader->place[0] = '\0';
    data->sources = items;
    data->source_count = count;
    return AS_OK;
}

static as_status read_memory(struct reader *reader, const struct json_value *object, struct recipe_model *model)
{
    const struct json_value *floors = json_get(object, "memory_floor_gb"),
                            *derived = json_get(object, "derived_precisions");
    struct recipe_list derived_list = {0};
    if (derived && derived->type != JSON_NULL) {
        as_status status = reader_list(reader, derived, &derived_list);
        if (status != AS_OK)
            return status;
    }
    if (!floors || floors->type == JSON_NULL)
        return AS_OK;
    if (floors->type != JSON_OBJECT)
        return reader_fail(reader, floors, "memory_floor_gb is %s where an object is expected",
                           json_type_name(floors->type));
    struct recipe_memory *items = arena_calloc(reader->arena, floors->len + 1, sizeof(*items));
    if (!items)
        return reader_no_memory(reader);
    for (const struct json_value *value = floors->first; value; value = value->next) {
        double gb = 0;
        if (!json_double(value, &gb) || gb <= 0 || value->key_len == 0)
            return reader_fail(reader, value, "memory_floor_gb.%s is no number above 0", value->key);
        items[model->memory_count++] =
            (struct recipe_memory){value->key, gb, recipe_list_has(&derived_list, value->key)};
    }
    model->memory = items;
    return AS_OK;
}

static as_status read_model(struct reader *reader, const struct json_value *object, struct recipe_model *model)
{
    as_status status = reader_members(reader, object, MEMBERS(MODEL_MEMBERS), model);
    if (status == AS_OK)
        status = read_memory(reader, object, model);
    const struct json_value *config = json_get(object, "config");
    if (status == AS_OK && config && config->type != JSON_NULL)
        status = reader_members(reader, config, MEMBERS(CONFIG_MEMBERS), model);
    if (!model->base_code)
        model->base_code = model->code;
    return status;
}

as_status recipe_read_models(const struct recipe_text *input, struct arena *arena, struct recipe_data *data,
                             struct as_error *err)
{
    struct reader reader = {.input = input, .arena = arena, .err = err};
    const struct json_value *root = NULL, *array = NULL;
    struct recipe_data result = *data;
    as_status status = reader_open(&reader, "assay.recipe-models.v1", &root);
    if (status == AS_OK)
        status = read_sources(&reader, root, &result);
    if (status == AS_OK)
        status = reader_array(&reader, root, "models", &array);
    if (status != AS_OK)
        return status;
    struct recipe_model *models = arena_calloc(arena, array->len + 1, sizeof(*models));
    if (!models)
        return reader_no_memory(&reader);
    size_t count = 0;
    for (const struct json_value *value = array->first; value; value = value->next) {
        reader_at(&reader, "models", count);
        status = read_model(&reader, value, &models[count]);
        if (status != AS_OK)
            return status;
        result.models = models;
        result.model_count = count;
        if (recipe_model(&result, models[count].code))
            return reader_fail(&reader, value, "the model_code %s is there twice", models[count].code);
        count++;
    }
    result.models = models;
    result.model_count = count;
    *data = result;
    return AS_OK;
}

static as_status read_gpu(struct reader *reader, const struct json_value *object, struct recipe_gpu *gpu)
{
    const char *vendor = NULL;
    as_status status = reader_members(reader, object, MEMBERS(GPU_MEMBERS), gpu);
    if (status != AS_OK)
        return status;
    const struct json_value *value = json_get(object, "vendor");
    for (int i = 0; json_string(value, &vendor) && i < RECIPE_VENDOR_COUNT; i++) {
        if (strcmp(recipe_vendor_name((enum recipe_vendor)i), vendor) != 0)
            continue;
        gpu->vendor = (enum recipe_vendor)i;
        return AS_OK;
    }
    return reader_fail(reader, value, "vendor is none of NVIDIA, AMD, Google, Intel");
}

as_status recipe_read_gpus(const struct recipe_text *input, struct arena *arena, struct recipe_data *data,
                           struct as_error *err)
{
    struct reader reader = {.input = input, .arena = arena, .err = err};
    const struct json_value *root = NULL, *array = NULL;
    as_status status = reader_open(&reader, "assay.recipe-gpus.v1", &root);
    if (status == AS_OK)
        status = reader_array(&reader, root, "gpus", &array);
    if (status != AS_OK)
        return status;
    struct recipe_gpu *gpus = arena_calloc(arena, array->len + 1, sizeof(*gpus));
    struct recipe_data known = {.gpus = gpus};
    if (!gpus)
        return reader_no_memory(&reader);
    for (const struct json_value *value = array->first; value; value = value->next) {
        reader_at(&reader, "gpus", known.gpu_count);
        status = read_gpu(&reader, value, &gpus[known.gpu_count]);
        if (status != AS_OK)
            return status;
        if (recipe_gpu(&known, gpus[known.gpu_count].code))
            return reader_fail(&reader, value, "the gpu_class %s is there twice", gpus[known.gpu_count].code);
        known.gpu_count++;
    }
    data->gpus = gpus;
    data->gpu_count = known.gpu_count;
    return AS_OK;
}
