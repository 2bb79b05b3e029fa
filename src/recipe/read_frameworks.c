/* SPDX-License-Identifier: Apache-2.0 */
/* frameworks.json and the argument sets of engine_args.json. */
#include "recipe/engine_args.h"
#include "recipe/read_parts.h"
#include "recipe/version.h"

#include <stdio.h>
#include <stdlib.h>

static const struct member FRAMEWORK_MEMBERS[] = {
    {"framework_code", MEMBER_TEXT, offsetof(struct recipe_framework, code), true},
    {"name", MEMBER_TEXT, offsetof(struct recipe_framework, name), true},
    {"releases", MEMBER_OTHER, 0, false},
    {"images", MEMBER_PAIRS, offsetof(struct recipe_framework, images), false},
    {"tools", MEMBER_LIST, offsetof(struct recipe_framework, tools), true},
    {"parallel", MEMBER_PAIRS, offsetof(struct recipe_framework, parallel), true},
    {"roles", MEMBER_PAIRS, offsetof(struct recipe_framework, roles), false},
    {"readiness_path", MEMBER_TEXT, offsetof(struct recipe_framework, readiness_path), false},
    {"metrics_path", MEMBER_TEXT, offsetof(struct recipe_framework, metrics_path), false},
    {"metrics_flag", MEMBER_TEXT, offsetof(struct recipe_framework, metrics_flag), false},
    {"api_base", MEMBER_TEXT, offsetof(struct recipe_framework, api_base), false},
    {"default_port", MEMBER_INT, offsetof(struct recipe_framework, default_port), false},
    {"many_images", MEMBER_LIST, offsetof(struct recipe_framework, many_images), false},
    {"single_images", MEMBER_LIST, offsetof(struct recipe_framework, single_images), false},
    {"flags", MEMBER_OTHER, 0, true},
};

static const struct member RELEASE_MEMBERS[] = {
    {"version", MEMBER_TEXT, offsetof(struct recipe_release, version), false},
    {"build", MEMBER_TEXT, offsetof(struct recipe_release, build), true},
    {"variant", MEMBER_TEXT, offsetof(struct recipe_release, variant), false},
    {"default", MEMBER_BOOL, offsetof(struct recipe_release, is_default), false},
};

static const struct member FLAG_MEMBERS[] = {
    {"key", MEMBER_TEXT, offsetof(struct recipe_flag, key), true},
    {"type", MEMBER_OTHER, 0, true},
    {"flag", MEMBER_TEXT, offsetof(struct recipe_flag, flag), true},
    {"aliases", MEMBER_LIST, offsetof(struct recipe_flag, aliases), false},
    {"false_flag", MEMBER_TEXT, offsetof(struct recipe_flag, false_flag), false},
    {"writes_bool", MEMBER_BOOL, offsetof(struct recipe_flag, writes_bool), false},
    {"default", MEMBER_OTHER, 0, false},
    {"choices", MEMBER_LIST, offsetof(struct recipe_flag, choices), false},
    {"since", MEMBER_TEXT, offsetof(struct recipe_flag, since), false},
    {"until", MEMBER_TEXT, offsetof(struct recipe_flag, until), false},
    {"seen", MEMBER_TEXT, offsetof(struct recipe_flag, seen), false},
    {"tool", MEMBER_TEXT, offsetof(struct recipe_flag, tool), false},
    {"help", MEMBER_TEXT, offsetof(struct recipe_flag, help), false},
};

static as_status read_flag(struct reader *reader, const struct json_value *object, struct recipe_flag *flag)
{
    const char *type = NULL;
    as_status status = reader_members(reader, object, MEMBERS(FLAG_MEMBERS), flag);
    if (status != AS_OK)
        return status;
    if (!json_string(json_get(object, "type"), &type) || !recipe_type_from(type, &flag->type))
        return reader_fail(reader, json_get(object, "type"), "type is none of int, float, bool, string, json, list");
    if ((flag->since && !recipe_version_is_valid(flag->since)) ||
        (flag->until && !recipe_version_is_valid(flag->until)) || (flag->seen && !recipe_version_is_valid(flag->seen)))
        return reader_fail(reader, object, "since, until and seen are versions such as 0.24.0");
    if (flag->flag[0] != '-' || (flag->false_flag && flag->false_flag[0] != '-'))
        return reader_fail(reader, object, "the flag %.64s does not begin with a dash", flag->flag);
    const struct json_value *initial = json_get(object, "default");
    if (initial && initial->type != JSON_NULL) {
        flag->default_text = reader_value_text(reader->arena, initial);
        if (!flag->default_text && initial->type == JSON_ARRAY)
            return reader_no_memory(reader);
        if (!flag->default_text)
            return reader_fail(reader, initial, "default is no text, number, true, false or list");
    }
    return AS_OK;
}

static bool has_flag(const struct recipe_flag *flags, size_t count, const struct recipe_flag *flag)
{
    for (size_t i = 0; i < count; i++) {
        bool is_same_tool =
            flags[i].tool && flag->tool ? strcmp(flags[i].tool, flag->tool) == 0 : flags[i].tool == flag->tool;
        bool is_apart = flags[i].until && flag->since && recipe_version_compare(flags[i].until, flag->since) <= 0;
        if (is_same_tool && !is_apart && strcmp(flags[i].key, flag->key) == 0)
            return true;
    }
    return false;
}

static as_status read_flags(struct reader *reader, const struct json_value *object, struct recipe_framework *framework)
{
    const struct json_value *array = json_get(object, "flags");
    if (array->type != JSON_ARRAY)
        return reader_fail(reader, array, "flags is %s where an array is expected", json_type_name(array->type));
    struct recipe_flag *flags = arena_calloc(reader->arena, array->len + 1, sizeof(*flags));
    if (!flags)
        return reader_no_memory(reader);
    size_t count = 0;
    for (const struct json_value *value = array->first; value; value = value->next) {
        (void)snprintf(reader->place, sizeof(reader->place), "%.64s.flags[%zu]", framework->code, count);
        as_status status = read_flag(reader, value, &flags[count]);
        if (status != AS_OK)
            return status;
        if (has_flag(flags, count, &flags[count]))
            return reader_fail(reader, value, "the key %.64s is there twice", flags[count].key);
        count++;
    }
    framework->flags = flags;
    framework->flag_count = count;
    return AS_OK;
}

static as_status read_releases(struct reader *reader, const struct json_value *object,
                               struct recipe_framework *framework)
{
    const struct json_value *array = json_get(object, "releases");
    if (!array || array->type == JSON_NULL)
        return AS_OK;
    if (array->type != JSON_ARRAY)
        return reader_fail(reader, array, "releases is %s where an array is expected", json_type_name(array->type));
    struct recipe_release *releases = arena_calloc(reader->arena, array->len + 1, sizeof(*releases));
    if (!releases)
        return reader_no_memory(reader);
    for (const struct json_value *value = array->first; value; value = value->next) {
        as_status status =
            reader_members(reader, value, MEMBERS(RELEASE_MEMBERS), &releases[framework->release_count++]);
        if (status != AS_OK)
            return status;
    }
    framework->releases = releases;
    return AS_OK;
}

as_status recipe_read_frameworks(const struct recipe_text *input, struct arena *arena, struct recipe_data *data,
                                 struct as_error *err)
{
    struct reader reader = {.input = input, .arena = arena, .err = err};
    const struct json_value *root = NULL, *array = NULL;
    as_status status = reader_open(&reader, "assay.recipe-frameworks.v1", &root);
    if (status == AS_OK)
        status = reader_array(&reader, root, "frameworks", &array);
    if (status != AS_OK)
        return status;
    struct recipe_framework *frameworks = arena_calloc(arena, array->len + 1, sizeof(*frameworks));
    if (!frameworks)
        return reader_no_memory(&reader);
    size_t count = 0;
    for (const struct json_value *value = array->first; value; value = value->next, count++) {
        reader_at(&reader, "frameworks", count);
        status = reader_members(&reader, value, MEMBERS(FRAMEWORK_MEMBERS), &frameworks[count]);
        if (status == AS_OK)
            status = read_releases(&reader, value, &frameworks[count]);
        if (status == AS_OK)
            status = read_flags(&reader, value, &frameworks[count]);
        if (status != AS_OK)
            return status;
    }
    data->frameworks = frameworks;
    data->framework_count = count;
    return AS_OK;
}

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
