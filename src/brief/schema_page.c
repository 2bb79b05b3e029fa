/* SPDX-License-Identifier: Apache-2.0 */
#include "brief/schema.h"

#include <stdlib.h>
#include <string.h>

static const char *type_word(const struct model_field *field)
{
    switch (field->type) {
    case FIELD_TEXT:
        return "text";
    case FIELD_INT:
        return "integer";
    case FIELD_FLOAT:
        return "float";
    case FIELD_NUMBER:
        return "float or integer";
    case FIELD_INT_NUMBER:
        return "integer or float";
    case FIELD_CONCURRENCY:
        return "integer or infinite";
    case FIELD_BOOL:
        return "boolean";
    case FIELD_TIME:
        return "time";
    case FIELD_CONST:
    case FIELD_CHOICE:
        return field->choices->name ? field->choices->name : field->choices->words[0];
    case FIELD_POINT:
        return "text, float, integer or boolean";
    case FIELD_ANY:
        return "anything";
    case FIELD_ARGS:
        return "mapping";
    case FIELD_TEXT_PAIRS:
        return "mapping of text";
    case FIELD_OBJECT:
        return field->object->name;
    case FIELD_VARIANT:
        break;
    }
    return "by kind";
}

static void put_type(const struct model_field *field, struct strbuf *out)
{
    strbuf_addf(out, "%s%s", field->is_list ? "list of " : "", type_word(field));
    if (field->type == FIELD_VARIANT)
        for (const struct model_object *const *variant = field->variants; *variant; variant++)
            strbuf_addf(out, "%s %s", variant == field->variants ? ":" : ",", (*variant)->name);
    if (field->has_min)
        strbuf_addf(out, " %s %g", field->is_above_min ? ">" : ">=", field->min);
    if (field->units != UNITS_ANY)
        strbuf_addf(out, " in %s", unit_category_name(field->units));
}

void schema_write_rules(const struct model *model, struct strbuf *out)
{
    for (const struct model_object *const *at = model->objects;; at++) {
        const struct model_object *object = *at ? *at : model->top;
        static const char *const extras[] = {"refused", "dropped", "kept"};
        strbuf_addf(out, "%s: other members %s\n", object->name, extras[object->extra]);
        for (size_t i = 0; i < object->count; i++) {
            const struct model_field *field = &object->fields[i];
            strbuf_addf(out, "%s.%s: ", object->name, field->name);
            put_type(field, out);
            if (field->initial)
                strbuf_addf(out, ", default %s", field->initial);
            strbuf_adds(out, field->is_required ? ", required\n" : "\n");
        }
        if (!*at)
            break;
    }
    for (const struct model_choices *const *choices = model->choices; *choices; choices++) {
        strbuf_addf(out, "%s:", (*choices)->name);
        for (const char *const *word = (*choices)->words; *word; word++)
            strbuf_addf(out, " %s", *word);
        strbuf_addc(out, '\n');
    }
}

static void put_heading(int level, const char *text, struct strbuf *out)
{
    for (int i = 0; i < level; i++)
        strbuf_addc(out, '#');
    strbuf_addf(out, " %s\n\n", text);
}

static void put_link(const struct model_field *field, struct strbuf *out)
{
    strbuf_addf(out, "%s[%s](#", field->is_list ? "list of " : "", field->object->name);
    for (const char *at = field->object->name; *at; at++)
        strbuf_addc(out, *at >= 'A' && *at <= 'Z' ? (char)(*at + 32) : *at);
    strbuf_addc(out, ')');
    if (field->units != UNITS_ANY)
        strbuf_addf(out, " in %s", unit_category_name(field->units));
}

static void put_row(const struct model_field *field, struct strbuf *out)
{
    strbuf_addf(out, "| `%s` | ", field->name);
    if (field->type == FIELD_OBJECT)
        put_link(field, out);
    else
        put_type(field, out);
    strbuf_addf(out, " | %s | %s",
                field->is_required ? "yes"
                : field->initial   ? field->initial
                                   : "",
                field->sentence ? field->sentence : field->object->sentence);
    if (field->since)
        strbuf_addf(out, " (since %s)", field->since);
    strbuf_adds(out, " |\n");
}

static void put_object(const struct model_object *object, int level, struct strbuf *out)
{
    put_heading(level, object->name, out);
    strbuf_addf(out, "%s\n\n| field | type | required or default | meaning |\n|---|---|---|---|\n", object->sentence);
    for (size_t i = 0; i < object->count; i++)
        put_row(&object->fields[i], out);
    strbuf_addc(out, '\n');
}

static void put_units(struct strbuf *out)
{
    strbuf_adds(out, "| category | units |\n|---|---|\n");
    for (int category = UNITS_ANY; category <= UNITS_POWER; category++) {
        strbuf_addf(out, "| %s |", category == UNITS_ANY ? "(none)" : unit_category_name((enum unit_category)category));
        for (int unit = 0; unit < UNIT_NUMBER; unit++)
            if (unit_category((enum model_unit)unit) == (enum unit_category)category)
                strbuf_addf(out, " `%s`", unit_name((enum model_unit)unit));
        strbuf_adds(out, " |\n");
    }
    strbuf_addc(out, '\n');
}

void schema_write_page(const struct model *model, int level, struct strbuf *out)
{
    put_object(model->top, level, out);
    for (const struct model_object *const *object = model->objects; *object; object++)
        put_object(*object, level, out);
    for (const struct model_choices *const *choices = model->choices; *choices; choices++) {
        put_heading(level, (*choices)->name, out);
        strbuf_addf(out, "%s\n\n", (*choices)->sentence);
        if (*choices == &model_units) {
            put_units(out);
            continue;
        }
        for (const char *const *word = (*choices)->words; *word; word++)
            strbuf_addf(out, "- `%s`\n", *word);
        strbuf_addc(out, '\n');
    }
}
