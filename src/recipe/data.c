/* SPDX-License-Identifier: Apache-2.0 */
#include "recipe/data.h"

#include "base/file.h"

#include <limits.h>

#define FILE_BYTES_MAX ((size_t)64 * 1024 * 1024)

static const char *const VENDORS[RECIPE_VENDOR_COUNT] = {"NVIDIA", "AMD", "Google", "Intel"};
static const char *const TYPES[RECIPE_TYPE_COUNT] = {"int", "float", "bool", "string", "json", "list"};

const char *recipe_vendor_name(enum recipe_vendor vendor)
{
    return VENDORS[vendor];
}

const char *recipe_type_name(enum recipe_type type)
{
    return TYPES[type];
}

bool recipe_type_from(const char *name, enum recipe_type *ret)
{
    for (int i = 0; i < RECIPE_TYPE_COUNT; i++) {
        if (strcmp(TYPES[i], name) != 0)
            continue;
        *ret = (enum recipe_type)i;
        return true;
    }
    return false;
}

bool recipe_list_has(const struct recipe_list *list, const char *text)
{
    for (size_t i = 0; i < list->count; i++)
        if (strcmp(list->items[i], text) == 0)
            return true;
    return false;
}

const char *recipe_pairs_get(const struct recipe_pairs *pairs, const char *name)
{
    for (size_t i = 0; i < pairs->count; i++)
        if (strcmp(pairs->items[i].name, name) == 0)
            return pairs->items[i].value;
    return NULL;
}

const struct recipe_model *recipe_model(const struct recipe_data *data, const char *code)
{
    for (size_t i = 0; code && i < data->model_count; i++)
        if (strcmp(data->models[i].code, code) == 0)
            return &data->models[i];
    return NULL;
}

const struct recipe_gpu *recipe_gpu(const struct recipe_data *data, const char *code)
{
    for (size_t i = 0; code && i < data->gpu_count; i++)
        if (strcmp(data->gpus[i].code, code) == 0 || recipe_list_has(&data->gpus[i].aliases, code))
            return &data->gpus[i];
    return NULL;
}

const struct recipe_framework *recipe_framework(const struct recipe_data *data, const char *code)
{
    for (size_t i = 0; code && i < data->framework_count; i++)
        if (strcmp(data->frameworks[i].code, code) == 0)
            return &data->frameworks[i];
    return NULL;
}

const struct recipe_set *recipe_set(const struct recipe_data *data, const char *code)
{
    for (size_t i = 0; code && i < data->set_count; i++)
        if (strcmp(data->sets[i].code, code) == 0)
            return &data->sets[i];
    return NULL;
}

const struct recipe_source *recipe_source(const struct recipe_data *data, const char *code)
{
    for (size_t i = 0; code && i < data->source_count; i++)
        if (strcmp(data->sources[i].code, code) == 0)
            return &data->sources[i];
    return NULL;
}

typedef as_status read_part(const struct recipe_text *input, struct arena *arena, struct recipe_data *data,
                            struct as_error *err);

static as_status load_part(const char *path, read_part *read, struct arena *arena, struct recipe_data *data,
                           struct as_error *err)
{
    struct strbuf text AS_AUTO_STRBUF;
    strbuf_init(&text, FILE_BYTES_MAX);
    as_status status = file_read(path, &text, err);
    if (status != AS_OK)
        return status;
    struct recipe_text input = {path, strbuf_text(&text), text.len};
    return read(&input, arena, data, err);
}

as_status recipe_load(const char *folder, struct arena *arena, struct recipe_data *ret, struct as_error *err)
{
    static const struct {
        const char *name;
        read_part *read;
    } parts[] = {{"models.json", recipe_read_models},
                 {"gpus.json", recipe_read_gpus},
                 {"frameworks.json", recipe_read_frameworks},
                 {"engine_args.json", recipe_read_sets}};
    struct recipe_data data = {0};
    for (size_t i = 0; i < sizeof(parts) / sizeof(parts[0]); i++) {
        char path[PATH_MAX];
        if (!path_join(path, sizeof(path), folder, parts[i].name))
            return error_set(err, AS_E_LIMIT, "the path %.100s… is too long", folder);
        as_status status = load_part(path, parts[i].read, arena, &data, err);
        if (status != AS_OK)
            return status;
    }
    *ret = data;
    return AS_OK;
}
