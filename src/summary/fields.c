/* SPDX-License-Identifier: Apache-2.0 */
#include "summary/fields.h"

#include <stdbool.h>
#include <stdint.h>

void fields_write(struct json_writer *writer, const void *base, struct field_table table)
{
    for (size_t i = 0; i < table.count; i++) {
        const void *at = (const char *)base + table.fields[i].at;
        json_key(writer, table.fields[i].name);
        switch (table.fields[i].type) {
        case FIELD_TEXT:
            json_put_string(writer, *(const char *const *)at);
            break;
        case FIELD_INT64:
            json_put_int(writer, *(const int64_t *)at);
            break;
        case FIELD_UINT64:
            json_put_uint(writer, *(const uint64_t *)at);
            break;
        case FIELD_UINT32:
            json_put_uint(writer, *(const uint32_t *)at);
            break;
        case FIELD_DOUBLE:
            json_put_double(writer, *(const double *)at);
            break;
        case FIELD_BOOL:
            json_put_bool(writer, *(const bool *)at);
            break;
        }
    }
}

static bool read_integer(const struct json_value *value, const struct field *field, void *at)
{
    int64_t number;
    if (!json_int64(value, &number))
        return false;
    if (field->type == FIELD_INT64) {
        *(int64_t *)at = number;
        return true;
    }
    if (number < 0 || (field->type == FIELD_UINT32 && number > UINT32_MAX))
        return false;
    if (field->type == FIELD_UINT32)
        *(uint32_t *)at = (uint32_t)number;
    else
        *(uint64_t *)at = (uint64_t)number;
    return true;
}

static as_status read_text(const struct json_value *value, struct arena *arena, const char **at)
{
    const char *text;
    if (!json_string(value, &text))
        return AS_E_INVALID;
    const char *copy = arena_strdup(arena, text);
    if (!copy)
        return AS_E_NOMEM;
    *at = copy;
    return AS_OK;
}

as_status fields_read(const struct json_value *object, void *base, struct field_table table, struct arena *arena,
                      struct as_error *err)
{
    for (size_t i = 0; i < table.count; i++) {
        const struct json_value *value = json_get(object, table.fields[i].name);
        void *at = (char *)base + table.fields[i].at;
        if (!value || json_is_null(value))
            continue;
        as_status status;
        switch (table.fields[i].type) {
        case FIELD_TEXT:
            status = read_text(value, arena, at);
            break;
        case FIELD_DOUBLE:
            status = json_double(value, at) ? AS_OK : AS_E_INVALID;
            break;
        case FIELD_BOOL:
            status = json_bool(value, at) ? AS_OK : AS_E_INVALID;
            break;
        default:
            status = read_integer(value, &table.fields[i], at) ? AS_OK : AS_E_INVALID;
            break;
        }
        if (status == AS_E_NOMEM)
            return error_set(err, status, "out of memory");
        if (status != AS_OK) {
            return error_set_at(err, status, 0, value->offset, "member \"%s\" is a %s, which does not fit",
                                table.fields[i].name, json_type_name(value->type));
        }
    }
    return AS_OK;
}
