/* SPDX-License-Identifier: Apache-2.0 */
#include "plane/shape.h"

#include "base/clock.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#define TEXT_MAX_DEFAULT 200
#define CODE_MAX         100
#define LIST_MAX_DEFAULT 1000
#define INTEGER_MAX      INT64_C(9007199254740991)
#define POINTER_BYTES    160

size_t field_text_max(const struct field *field)
{
    if (field->max > 0)
        return (size_t)field->max;
    return field_is_code(field->type) && field->type != FIELD_NAME ? CODE_MAX : TEXT_MAX_DEFAULT;
}

const struct field *shape_field(const struct shape *shape, const char *name)
{
    for (size_t i = 0; i < shape->count; i++)
        if (strcmp(shape->fields[i].name, name) == 0)
            return &shape->fields[i];
    return NULL;
}

static bool is_lower(char c)
{
    return (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9');
}

bool field_is_code(enum field_type type)
{
    return type >= FIELD_CODE && type <= FIELD_NAME;
}

/* What may follow the first character besides letters and digits. */
static const char *marks_of(enum field_type type)
{
    switch (type) {
    case FIELD_VERSION:
        return "._+-";
    case FIELD_LOGIN:
        return "._+@-";
    case FIELD_NAME:
        return "._:/+@-";
    default:
        return "._-";
    }
}

bool field_spells(enum field_type type, const char *text, size_t len)
{
    const char *marks = marks_of(type);
    for (size_t i = 0; i < len; i++) {
        const char c = text[i];
        bool fits = is_lower(c) || (type == FIELD_NAME && c >= 'A' && c <= 'Z') || (type == FIELD_KEY && c == '_');
        if (!fits && (i == 0 || !c || !strchr(marks, c)))
            return false;
    }
    return len > 0;
}

const char *field_pattern(enum field_type type)
{
    switch (type) {
    case FIELD_CODE:
        return "^[a-z0-9][a-z0-9._-]*$";
    case FIELD_KEY:
        return "^[a-z0-9_][a-z0-9._-]*$";
    case FIELD_VERSION:
        return "^[a-z0-9][a-z0-9._+-]*$";
    case FIELD_LOGIN:
        return "^[a-z0-9][a-z0-9._+@-]*$";
    case FIELD_NAME:
        return "^[A-Za-z0-9][A-Za-z0-9._:/+@-]*$";
    case FIELD_TEXT:
        return "^[^\\u0000-\\u001f\\u007f]*$";
    case FIELD_PROSE:
        return "^[^\\u0000-\\u0008\\u000b-\\u001f\\u007f]*$";
    default:
        return NULL;
    }
}

static size_t characters(const char *text, size_t len)
{
    size_t count = 0;
    for (size_t i = 0; i < len; i++)
        count += ((unsigned char)text[i] & 0xC0) != 0x80;
    return count;
}

static bool has_control(const struct json_value *value, bool allows_lines)
{
    for (size_t i = 0; i < value->len; i++) {
        unsigned char c = (unsigned char)value->text[i];
        if ((c < 0x20 && !(allows_lines && (c == '\n' || c == '\t'))) || c == 0x7f)
            return true;
    }
    return false;
}

static as_status wrong_type(const struct json_value *value, const char *expected, const char *pointer,
                            struct problem *problem)
{
    return problem_add(problem, pointer, "type", "must be %s, is %s %s", expected,
                       value->type == JSON_ARRAY || value->type == JSON_OBJECT ? "an" : "a",
                       json_type_name(value->type));
}

static as_status check_text(const struct field *field, const struct json_value *value, const char *pointer,
                            struct problem *problem)
{
    size_t count, max = field_text_max(field), min = field->min > 0 ? (size_t)field->min : 0;
    if (value->type != JSON_STRING)
        return wrong_type(value, "a string", pointer, problem);
    count = characters(value->text, value->len);
    if (count > max)
        return problem_add(problem, pointer, "length", "has %zu characters, at most %zu", count, max);
    if (count < min || ((field->flags & FIELD_REQUIRED) && count == 0))
        return problem_add(problem, pointer, "length", "has %zu characters, at least %zu", count, min ? min : 1);
    if (field_is_code(field->type) && !field_spells(field->type, value->text, value->len))
        return problem_add(problem, pointer, "spelling", "must be %s, digits and %s, beginning with a letter or digit",
                           field->type == FIELD_NAME ? "letters" : "lower-case letters", marks_of(field->type));
    if (has_control(value, field->type == FIELD_PROSE))
        return problem_add(problem, pointer, "spelling", "holds a control character");
    return AS_OK;
}

static as_status check_choice(const struct field *field, const struct json_value *value, const char *pointer,
                              struct problem *problem)
{
    char allowed[200] = "";
    size_t len = 0;
    const char *text;
    if (!json_string(value, &text))
        return wrong_type(value, "a string", pointer, problem);
    for (const char *const *choice = field->choices; *choice; choice++) {
        if (strcmp(*choice, text) == 0 && value->len == strlen(text))
            return AS_OK;
        if (len < sizeof allowed)
            len += (size_t)snprintf(allowed + len, sizeof allowed - len, "%s%s", len ? ", " : "", *choice);
    }
    return problem_add(problem, pointer, "choice", "must be one of %s", allowed);
}

static as_status check_number(const struct field *field, const struct json_value *value, const char *pointer,
                              struct problem *problem)
{
    double number = 0;
    int64_t whole = 0;
    if (value->type != JSON_NUMBER)
        return wrong_type(value, field->type == FIELD_INT ? "an integer" : "a number", pointer, problem);
    if (field->type == FIELD_INT && (!json_int64(value, &whole) || whole > INTEGER_MAX || whole < -INTEGER_MAX))
        return problem_add(problem, pointer, "type", "must be an integer within ±(2^53 - 1)");
    if (!json_double(value, &number))
        return problem_add(problem, pointer, "range", "must be a finite number");
    if ((field->min != 0 || field->max != 0) && (number < field->min || (field->max != 0 && number > field->max)))
        return field->max != 0
                   ? problem_add(problem, pointer, "range", "must be from %.15g to %.15g", field->min, field->max)
                   : problem_add(problem, pointer, "range", "must be at least %.15g", field->min);
    return AS_OK;
}

static as_status check_list(const struct field *field, const struct json_value *value, const char *pointer,
                            struct problem *problem)
{
    const size_t max = field->max > 0 ? (size_t)field->max : LIST_MAX_DEFAULT;
    const struct field item = {.name = field->name, .type = field->item, .max = 2000};
    as_status result = AS_OK;
    size_t index = 0;
    if (value->type != JSON_ARRAY)
        return wrong_type(value, "an array", pointer, problem);
    if (value->len > max)
        return problem_add(problem, pointer, "length", "has %zu items, at most %zu", value->len, max);
    if ((double)value->len < field->min)
        return problem_add(problem, pointer, "length", "has %zu items, at least %.0f", value->len, field->min);
    for (const struct json_value *child = value->first; child; child = child->next, index++) {
        char place[POINTER_BYTES];
        (void)snprintf(place, sizeof place, "%s/%zu", pointer, index);
        as_status status = field->shape ? shape_check(field->shape, child, SHAPE_CREATE, place, problem)
                                        : field_check(&item, child, place, problem);
        result = result == AS_OK ? status : result;
    }
    return result;
}

as_status field_check(const struct field *field, const struct json_value *value, const char *pointer,
                      struct problem *problem)
{
    struct wall time;
    if (value->type == JSON_NULL && (field->flags & FIELD_NULLABLE))
        return AS_OK;
    switch (field->type) {
    case FIELD_TEXT:
    case FIELD_PROSE:
    case FIELD_CODE:
    case FIELD_KEY:
    case FIELD_VERSION:
    case FIELD_LOGIN:
    case FIELD_NAME:
    case FIELD_SECRET:
        return check_text(field, value, pointer, problem);
    case FIELD_INT:
    case FIELD_NUMBER:
        return check_number(field, value, pointer, problem);
    case FIELD_BOOL:
        return value->type == JSON_BOOL ? AS_OK : wrong_type(value, "true or false", pointer, problem);
    case FIELD_ENUM:
        return check_choice(field, value, pointer, problem);
    case FIELD_TIME:
        if (value->type != JSON_STRING || wall_parse(value->text, value->len, &time) != 0)
            return problem_add(problem, pointer, "type", "must be a time like 2026-11-30T19:05:33Z");
        return AS_OK;
    case FIELD_JSON:
        if (value->type != JSON_OBJECT && !(field->flags & FIELD_ANY))
            return wrong_type(value, "an object", pointer, problem);
        return AS_OK;
    case FIELD_OBJECT:
        return shape_check(field->shape, value, SHAPE_CREATE, pointer, problem);
    case FIELD_LIST:
        return check_list(field, value, pointer, problem);
    }
    return AS_E_INTERNAL;
}

/* "/member" below `pointer`, with ~ and / escaped as RFC 6901 says. */
static void add_member(char ret[POINTER_BYTES], const char *pointer, const char *name)
{
    size_t len = (size_t)snprintf(ret, POINTER_BYTES, "%s/", pointer);
    for (; *name && len + 3 < POINTER_BYTES; name++) {
        if (*name == '~' || *name == '/') {
            ret[len++] = '~';
            ret[len++] = *name == '~' ? '0' : '1';
        } else {
            ret[len++] = (unsigned char)*name < 0x20 ? '?' : *name;
        }
    }
    if (len < POINTER_BYTES)
        ret[len] = '\0';
}

/* One member of an object; `place` is its pointer. */
static as_status check_member(const struct field *field, enum shape_mode mode, const struct json_value *member,
                              const char *place, struct problem *problem)
{
    if (!field)
        return problem_add(problem, place, "unknown", "there is no such member");
    if ((field->flags & FIELD_GIVEN) || field->sql)
        return problem_add(problem, place, "read-only", "is given by the server");
    if (mode == SHAPE_CHANGE && (field->flags & FIELD_FIXED))
        return problem_add(problem, place, "fixed", "cannot be changed after it was made");
    return field_check(field, member, place, problem);
}

static as_status check_required(const struct shape *shape, const struct json_value *object, const char *pointer,
                                struct problem *problem)
{
    as_status result = AS_OK;
    for (size_t i = 0; i < shape->count; i++) {
        const struct field *field = &shape->fields[i];
        char place[POINTER_BYTES];
        if (!(field->flags & FIELD_REQUIRED) || (field->flags & FIELD_GIVEN) || json_get(object, field->name))
            continue;
        add_member(place, pointer, field->name);
        result = problem_add(problem, place, "required", "is missing");
    }
    return result;
}

as_status shape_check(const struct shape *shape, const struct json_value *object, enum shape_mode mode,
                      const char *pointer, struct problem *problem)
{
    as_status result = AS_OK;
    if (object->type != JSON_OBJECT)
        return wrong_type(object, "an object", pointer, problem);
    for (const struct json_value *member = object->first; member; member = member->next) {
        char place[POINTER_BYTES];
        as_status status;
        add_member(place, pointer, member->key);
        if (strlen(member->key) != member->key_len)
            status = problem_add(problem, place, "unknown", "there is no such member");
        else if (json_get(object, member->key) != member)
            status = problem_add(problem, place, "twice", "is given twice");
        else
            status = check_member(shape_field(shape, member->key), mode, member, place, problem);
        result = result == AS_OK ? status : result;
    }
    if (mode == SHAPE_CREATE) {
        as_status status = check_required(shape, object, pointer, problem);
        result = result == AS_OK ? status : result;
    }
    return result;
}
