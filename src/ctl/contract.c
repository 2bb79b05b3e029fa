/* SPDX-License-Identifier: Apache-2.0 */
#include "ctl/contract.h"

#include <stdio.h>
#include <string.h>

#define NAME_BYTES 80

static const struct json_value *find_schema(const struct json_value *contract, const struct definition_object *object)
{
    char name[NAME_BYTES];
    snprintf(name, sizeof name, "%sCreate", object->kind ? object->kind->schema : "RunStart");
    return json_get(json_path(contract, "components.schemas"), name);
}

static bool is_type(const char *type, const struct json_value *value)
{
    int64_t whole;
    if (strcmp(type, "integer") == 0)
        return json_int64(value, &whole);
    if (strcmp(type, "null") == 0)
        return value->type == JSON_NULL;
    return strcmp(type, json_type_name(value->type)) == 0 ||
           (strcmp(type, "boolean") == 0 && value->type == JSON_BOOL);
}

/* `type` of a schema: a word, a list of words, or absent: anything. */
static bool is_allowed(const struct json_value *type, const struct json_value *value)
{
    const char *word = NULL;
    if (json_string(type, &word))
        return is_type(word, value);
    if (!type || type->type != JSON_ARRAY)
        return true;
    for (const struct json_value *item = type->first; item; item = item->next)
        if (json_string(item, &word) && is_type(word, value))
            return true;
    return false;
}

static bool has_member(const struct definition_object *object, const char *name)
{
    if (json_get(object->value, name))
        return true;
    for (size_t i = 0; object->parent && i < kind_key_count(object->parent->kind); i++)
        if (strcmp(object->parent->kind->keys[i], name) == 0)
            return true;
    return false;
}

static as_status check_required(const struct json_value *schema, const struct definition_object *object,
                                struct as_error *err)
{
    const struct json_value *required = json_get(schema, "required");
    const char *name = NULL;
    for (const struct json_value *item = required ? required->first : NULL; item; item = item->next)
        if (json_string(item, &name) && !has_member(object, name))
            return error_set(err, AS_E_INVALID, "the member %s is missing", name);
    return AS_OK;
}

as_status contract_check(const struct json_value *contract, const struct definition_object *object, bool is_new,
                         struct as_error *err)
{
    const struct json_value *schema = find_schema(contract, object);
    const struct json_value *properties = json_get(schema, "properties");
    if (!properties)
        return AS_OK;
    for (const struct json_value *member = object->value->first; member; member = member->next) {
        if (definition_is_nested(object, member->key))
            continue;
        const struct json_value *property = json_get(properties, member->key);
        const char *type = NULL;
        if (!property)
            return error_set(err, AS_E_INVALID, "%s is no member that can be given", member->key);
        (void)json_string(json_get(property, "type"), &type);
        if (!is_allowed(json_get(property, "type"), member))
            return error_set(err, AS_E_INVALID, "%s must be of %s%s", member->key, type ? "the type " : "another type",
                             type ? type : "");
    }
    return is_new ? check_required(schema, object, err) : AS_OK;
}
