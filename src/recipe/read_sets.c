/* SPDX-License-Identifier: Apache-2.0 */
/* engine_args.json. */
#include "recipe/engine_args.h"
#include "recipe/read_parts.h"
#include "recipe/version.h"

#include <stdio.h>
#include <stdlib.h>

static const struct member SET_MEMBERS[] = {
    {"set_code", MEMBER_TEXT, offsetof(struct recipe_set, code), true},
    {"framework_code", MEMBER_TEXT, offsetof(struct recipe_set, framework_code), true},
    {"framework_version_min", MEMBER_TEXT, offsetof(struct recipe_set, framework_version_min), false},
    {"tool", MEMBER_TEXT, offsetof(struct recipe_set, tool), false},
    {"model_code", MEMBER_TEXT, offsetof(struct recipe_set, model_code), false},
    {"base_model_code", MEMBER_TEXT, offsetof(struct recipe_set, base_model_code), false},
    {"variant", MEMBER_TEXT, offsetof(struct recipe_set, variant), false},
    {"precision", MEMBER_TEXT, offsetof(struct recipe_set, precision), false},
    {"gpu_classes", MEMBER_LIST, offsetof(struct recipe_set, gpu_classes), false},
    {"tensor_parallel_size", MEMBER_INT, offsetof(struct recipe_set, tensor_parallel_size), false},
    {"pipeline_parallel_size", MEMBER_INT, offsetof(struct recipe_set, pipeline_parallel_size), false},
    {"data_parallel_size", MEMBER_INT, offsetof(struct recipe_set, data_parallel_size), false},
    {"expert_parallel_size", MEMBER_INT, offsetof(struct recipe_set, expert_parallel_size), false},
    {"node_count", MEMBER_INT, offsetof(struct recipe_set, node_count), false},
    {"gpus_per_replica", MEMBER_INT, offsetof(struct recipe_set, gpus_per_replica), false},
    {"strategy", MEMBER_TEXT, offsetof(struct recipe_set, strategy), false},
    {"tp_source", MEMBER_TEXT, offsetof(struct recipe_set, tp_source), false},
    {"derived", MEMBER_BOOL, offsetof(struct recipe_set, is_derived), false},
    {"recommended", MEMBER_BOOL, offsetof(struct recipe_set, is_recommended), false},
    {"default", MEMBER_BOOL, offsetof(struct recipe_set, is_default), false},
    {"memory_floor_gb", MEMBER_DOUBLE, offsetof(struct recipe_set, memory_floor_gb), false},
    {"args", MEMBER_OTHER, 0, true},
    {"env", MEMBER_PAIRS, offsetof(struct recipe_set, env), false},
    {"verified", MEMBER_PAIRS, offsetof(struct recipe_set, verified), false},
    {"images", MEMBER_PAIRS, offsetof(struct recipe_set, images), false},
    {"source", MEMBER_TEXT, offsetof(struct recipe_set, source), false},
    {"path", MEMBER_TEXT, offsetof(struct recipe_set, path), false},
};

static const struct member ARG_MEMBERS[] = {
    {"key", MEMBER_TEXT, offsetof(struct recipe_arg, key), true},
    {"value", MEMBER_OTHER, 0, true},
    {"flag", MEMBER_TEXT, offsetof(struct recipe_arg, flag), false},
    {"join", MEMBER_TEXT, offsetof(struct recipe_arg, join), false},
    {"raw", MEMBER_TEXT, offsetof(struct recipe_arg, raw), false},
    {"origin", MEMBER_TEXT, offsetof(struct recipe_arg, origin), false},
};

static as_status read_arg(struct reader *reader, const struct json_value *object, struct recipe_arg *arg)
{
    as_status status = reader_members(reader, object, MEMBERS(ARG_MEMBERS), arg);
    if (status != AS_OK)
        return status;
    const struct json_value *value = json_get(object, "value");
    arg->text = reader_value_text(reader->arena, value);
    if (!arg->text && (value->type == JSON_ARRAY || value->type == JSON_OBJECT))
        return reader_no_memory(reader);
    if (!arg->text)
        return reader_fail(reader, value, "value is no text without NUL, number, true, false or list");
    if (arg->join && strcmp(arg->join, "=") != 0 && strcmp(arg->join, " ") != 0)
        return reader_fail(reader, json_get(object, "join"), "join is neither \"=\" nor \" \"");
    return AS_OK;
}

static as_status read_args(struct reader *reader, const struct json_value *object, struct recipe_set *set)
{
    const struct json_value *array = json_get(object, "args");
    if (array->type != JSON_ARRAY)
        return reader_fail(reader, array, "args is %s where an array is expected", json_type_name(array->type));
    if (array->len > RECIPE_ARGS_MAX)
        return reader_fail(reader, array, "more than %d arguments", RECIPE_ARGS_MAX);
    struct recipe_arg *args = arena_calloc(reader->arena, array->len + 1, sizeof(*args));
    if (!args)
        return reader_no_memory(reader);
    size_t count = 0;
    for (const struct json_value *value = array->first; value; value = value->next, count++) {
        (void)snprintf(reader->place, sizeof(reader->place), "%.96s.args[%zu]", set->code, count);
        as_status status = read_arg(reader, value, &args[count]);
        if (status != AS_OK)
            return status;
        set->args = (struct recipe_args){args, count};
        if (recipe_set_arg(set, args[count].key))
            return reader_fail(reader, value, "the key %.64s is there twice: keep one", args[count].key);
    }
    set->args = (struct recipe_args){args, count};
    return AS_OK;
}

static as_status read_set(struct reader *reader, const struct json_value *object, struct recipe_set *set)
{
    *set = (struct recipe_set){
        .tensor_parallel_size = 1, .pipeline_parallel_size = 1, .data_parallel_size = 1, .node_count = 1};
    as_status status = reader_members(reader, object, MEMBERS(SET_MEMBERS), set);
    if (status != AS_OK)
        return status;
    if (set->framework_version_min && !recipe_version_is_valid(set->framework_version_min))
        return reader_fail(reader, json_get(object, "framework_version_min"),
                           "framework_version_min is no version such as 0.24.0 or nightly");
    return read_args(reader, object, set);
}

static int by_code(const void *a, const void *b)
{
    return strcmp((*(const struct recipe_set *const *)a)->code, (*(const struct recipe_set *const *)b)->code);
}

static as_status refuse_twins(struct reader *reader, const struct recipe_set *sets, size_t count)
{
    const struct recipe_set **sorted = arena_calloc(reader->arena, count + 1, sizeof(const struct recipe_set *));
    if (!sorted)
        return reader_no_memory(reader);
    for (size_t i = 0; i < count; i++)
        sorted[i] = &sets[i];
    qsort(sorted, count, sizeof(const struct recipe_set *), by_code);
    reader->place[0] = '\0';
    for (size_t i = 1; i < count; i++)
        if (strcmp(sorted[i - 1]->code, sorted[i]->code) == 0)
            return reader_fail(reader, NULL, "the set_code %.120s is there twice", sorted[i]->code);
    return AS_OK;
}

as_status recipe_read_sets(const struct recipe_text *input, struct arena *arena, struct recipe_data *data,
                           struct as_error *err)
{
    struct reader reader = {.input = input, .arena = arena, .err = err};
    const struct json_value *root = NULL, *array = NULL;
    struct recipe_data result = *data;
    as_status status = reader_open(&reader, "assay.recipe-sets.v1", &root);
    if (status == AS_OK)
        status = read_sources(&reader, root, &result);
    if (status == AS_OK)
        status = reader_array(&reader, root, "sets", &array);
    if (status != AS_OK)
        return status;
    struct recipe_set *sets = arena_calloc(arena, array->len + 1, sizeof(*sets));
    if (!sets)
        return reader_no_memory(&reader);
    size_t count = 0;
    for (const struct json_value *value = array->first; value; value = value->next, count++) {
        reader_at(&reader, "sets", count);
        status = read_set(&reader, value, &sets[count]);
        if (status != AS_OK)
            return status;
        if (sets[count].source && !recipe_source(&result, sets[count].source))
            return reader_fail(&reader, json_get(value, "source"), "source names none of the file's sources");
    }
    status = refuse_twins(&reader, sets, count);
    if (status != AS_OK)
        return status;
    result.sets = sets;
    result.set_count = count;
    *data = result;
    return AS_OK;
}
