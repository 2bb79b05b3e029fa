/* SPDX-License-Identifier: Apache-2.0 */
/* frameworks.json. */
#include "recipe/read_parts.h"
#include "recipe/version.h"

#include <stdio.h>

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
