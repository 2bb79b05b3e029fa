/* SPDX-License-Identifier: Apache-2.0 */
#include "brief/schema.h"

#include "brief/scalar.h"
#include "brief/value.h"
#include "brief/write.h"

#include <ctype.h>
#include <stdlib.h>
#include <string.h>

/* "dp_local" → "Dp Local", "p99p9" → "P99P9". */
static struct value *title(struct tree *tree, const char *name)
{
    struct value *text = value_text(tree, name);
    char *at = text ? (char *)(uintptr_t)text->text : NULL;
    bool was_letter = false;
    for (; at && *at; at++) {
        bool is_letter = (*at >= 'a' && *at <= 'z') || (*at >= 'A' && *at <= 'Z');
        if (*at == '_')
            *at = ' ';
        else if (is_letter && !was_letter)
            *at = (char)toupper((unsigned char)*at);
        was_letter = is_letter;
    }
    return text;
}

static struct value *one(struct tree *tree, const char *key, const char *text)
{
    struct value *map = value_map(tree);
    value_put(map, key, value_text(tree, text));
    return map;
}

static struct value *reference(struct tree *tree, const char *name)
{
    struct value *map = value_map(tree);
    value_put(map, "$ref", value_textf(tree, "#/$defs/%s", name));
    return map;
}

static void put_types(struct tree *tree, struct value *map, const char *const *types)
{
    struct value *list = value_list(tree);
    for (; *types; types++)
        value_add(list, one(tree, "type", *types));
    value_put(map, "anyOf", list);
}

static struct value *bound(struct tree *tree, double min)
{
    return value_int(tree, (int64_t)min);
}

static struct value *variant_type(struct tree *tree, const struct model_field *field)
{
    struct value *map = value_map(tree), *choices = value_list(tree), *discriminator = value_map(tree),
                 *mapping = value_map(tree);
    for (const struct model_object *const *variant = field->variants; *variant; variant++) {
        value_put(mapping, model_field(*variant, "kind")->choices->words[0],
                  value_textf(tree, "#/$defs/%s", (*variant)->name));
        value_add(choices, reference(tree, (*variant)->name));
    }
    value_put(discriminator, "mapping", mapping);
    value_put(discriminator, "propertyName", value_text(tree, "kind"));
    value_put(map, "discriminator", discriminator);
    value_put(map, "oneOf", choices);
    return map;
}

static struct value *args_type(struct tree *tree, bool is_text_only)
{
    struct value *map = one(tree, "type", "object");
    value_put(map, "additionalProperties", is_text_only ? one(tree, "type", "string") : value_bool(tree, true));
    return map;
}

static struct value *plain_type(struct tree *tree, const struct model_field *field)
{
    static const char *const int_number[] = {"integer", "number", NULL}, *const number_int[] = {"number", "integer",
                                                                                                NULL};
    static const char *const point[] = {"string", "number", "integer", "boolean", NULL};
    struct value *map = value_map(tree);
    switch (field->type) {
    case FIELD_TEXT:
        value_put(map, "type", value_text(tree, "string"));
        break;
    case FIELD_INT:
        value_put(map, "type", value_text(tree, "integer"));
        break;
    case FIELD_FLOAT:
        value_put(map, "type", value_text(tree, "number"));
        break;
    case FIELD_BOOL:
        value_put(map, "type", value_text(tree, "boolean"));
        break;
    case FIELD_TIME:
        value_put(map, "format", value_text(tree, "date-time"));
        value_put(map, "type", value_text(tree, "string"));
        break;
    case FIELD_CONST:
        value_put(map, "const", value_text(tree, field->choices->words[0]));
        value_put(map, "type", value_text(tree, "string"));
        break;
    case FIELD_INT_NUMBER:
    case FIELD_CONCURRENCY:
        put_types(tree, map, int_number);
        break;
    case FIELD_NUMBER:
        put_types(tree, map, number_int);
        break;
    case FIELD_POINT:
        put_types(tree, map, point);
        break;
    case FIELD_ANY:
    case FIELD_ARGS:
    case FIELD_TEXT_PAIRS:
    case FIELD_CHOICE:
    case FIELD_OBJECT:
    case FIELD_VARIANT:
        break;
    }
    if (field->has_min)
        value_put(map, field->is_above_min ? "exclusiveMinimum" : "minimum", bound(tree, field->min));
    return map;
}

static struct value *item_type(struct tree *tree, const struct model_field *field)
{
    switch (field->type) {
    case FIELD_CHOICE:
        return reference(tree, field->choices->name);
    case FIELD_OBJECT:
        return reference(tree, field->object->name);
    case FIELD_VARIANT:
        return variant_type(tree, field);
    case FIELD_ARGS:
        return args_type(tree, false);
    case FIELD_TEXT_PAIRS:
        return args_type(tree, true);
    case FIELD_TEXT:
    case FIELD_INT:
    case FIELD_FLOAT:
    case FIELD_NUMBER:
    case FIELD_INT_NUMBER:
    case FIELD_CONCURRENCY:
    case FIELD_BOOL:
    case FIELD_TIME:
    case FIELD_CONST:
    case FIELD_POINT:
    case FIELD_ANY:
        break;
    }
    return plain_type(tree, field);
}

static bool is_nullable(const struct model_field *field)
{
    return !field->is_required && !field->is_strict;
}

/* Types are flattened into one anyOf, unless they share a bound. */
static void put_nullable(struct tree *tree, struct value *map, struct value *type)
{
    struct value *choices = value_get(type, "anyOf");
    struct value *list = value_list(tree);
    if (choices && type->len == 1)
        for (const struct value *choice = choices->first; choice; choice = choice->next)
            value_add(list, value_share(tree, choice));
    else
        value_add(list, type);
    value_add(list, one(tree, "type", "null"));
    value_put(map, "anyOf", list);
}

static struct value *initial(struct tree *tree, const struct model_field *field)
{
    int64_t integer;
    if (!field->initial)
        return value_null(tree);
    if (strcmp(field->initial, "{}") == 0)
        return value_map(tree);
    if (field->type == FIELD_BOOL)
        return value_bool(tree, true);
    if (field->type == FIELD_INT && scalar_int(field->initial, strlen(field->initial), &integer))
        return value_int(tree, integer);
    return value_text(tree, field->initial);
}

static struct value *field_schema(struct tree *tree, const struct model_field *field)
{
    struct value *type = item_type(tree, field);
    bool is_reference = value_get(type, "$ref") != NULL;
    if (field->is_list) {
        struct value *list = one(tree, "type", "array");
        value_put(list, "items", type);
        type = list;
        is_reference = false;
    }
    struct value *map = value_map(tree);
    if (is_nullable(field))
        put_nullable(tree, map, type);
    else
        map = type;
    if (!field->is_required)
        value_put(map, "default", initial(tree, field));
    if (field->sentence)
        value_put(map, "description", value_text(tree, field->sentence));
    if (!is_reference)
        value_put(map, "title", title(tree, field->name));
    return map;
}

static void put_object(struct tree *tree, struct value *map, const struct model_object *object, const char *name)
{
    struct value *properties = value_map(tree), *required = value_list(tree);
    if (object->extra != EXTRA_DROPPED)
        value_put(map, "additionalProperties", value_bool(tree, object->extra == EXTRA_KEPT));
    value_put(map, "description", value_text(tree, object->sentence));
    for (size_t i = 0; i < object->count; i++) {
        value_put(properties, object->fields[i].name, field_schema(tree, &object->fields[i]));
        if (object->fields[i].is_required)
            value_add(required, value_text(tree, object->fields[i].name));
    }
    value_put(map, "properties", properties);
    if (required && required->len > 0)
        value_put(map, "required", required);
    value_put(map, "title", value_text(tree, name));
    value_put(map, "type", value_text(tree, "object"));
}

static struct value *choices_schema(struct tree *tree, const struct model_choices *choices)
{
    struct value *map = value_map(tree), *list = value_list(tree);
    value_put(map, "description", value_text(tree, choices->sentence));
    for (const char *const *word = choices->words; *word; word++)
        value_add(list, value_text(tree, *word));
    value_put(map, "enum", list);
    value_put(map, "title", value_text(tree, choices->name));
    value_put(map, "type", value_text(tree, "string"));
    return map;
}

void schema_write(const struct model *model, struct strbuf *out)
{
    struct tree tree;
    tree_init(&tree, 0);
    struct value *top = value_map(&tree), *definitions = value_map(&tree);
    for (const struct model_object *const *object = model->objects; *object; object++) {
        struct value *map = value_map(&tree);
        put_object(&tree, map, *object, (*object)->name);
        value_put(definitions, (*object)->name, map);
    }
    for (const struct model_choices *const *choices = model->choices; *choices; choices++)
        value_put(definitions, (*choices)->name, choices_schema(&tree, *choices));
    value_put(top, "$defs", definitions);
    put_object(&tree, top, model->top, model->title);
    if (tree.failed)
        out->status = AS_E_NOMEM;
    else
        write_json(top, 2, out);
    strbuf_addc(out, '\n');
    tree_done(&tree);
}
