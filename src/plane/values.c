/* SPDX-License-Identifier: Apache-2.0 */
#include "plane/values.h"

#include "base/clock.h"

#include <string.h>

const char *values_json(struct plane_call *call, const struct json_value *value)
{
    struct strbuf text AS_AUTO_STRBUF = {.len = 0};
    struct json_writer writer;
    strbuf_init(&text, 0);
    json_writer_init(&writer, &text, 0);
    json_put_value(&writer, value);
    if (json_writer_status(&writer) != AS_OK) {
        (void)call_store_failed(call, json_writer_status(&writer));
        return NULL;
    }
    return arena_strndup(&call->arena, strbuf_text(&text), text.len);
}

/* A checked JSON value as the value of the field's column. */
static as_status column_value(struct plane_call *call, const struct field *field, const struct json_value *value,
                              struct store_value *ret)
{
    int64_t whole = 0;
    double number = 0;
    struct wall time = {0};
    const char *text;
    if (value->type == JSON_NULL) {
        *ret = store_null();
        return AS_OK;
    }
    switch (field->type) {
    case FIELD_INT:
        (void)json_int64(value, &whole);
        *ret = store_int(whole);
        break;
    case FIELD_NUMBER:
        (void)json_double(value, &number);
        *ret = store_real(number);
        break;
    case FIELD_BOOL:
        *ret = store_bool(value->boolean);
        break;
    case FIELD_TIME:
        (void)wall_parse(value->text, value->len, &time);
        *ret = store_int(time.ns);
        break;
    case FIELD_JSON:
    case FIELD_OBJECT:
    case FIELD_LIST:
        text = values_json(call, value);
        if (!text)
            return AS_E_NOMEM;
        *ret = store_text(text);
        break;
    default:
        *ret = store_text_n(value->text, value->len);
        break;
    }
    return AS_OK;
}

static bool has_column(const struct resource *resource, const struct field *field)
{
    size_t at = 0;
    return !(field->flags & (FIELD_GIVEN | FIELD_VIRTUAL | FIELD_ABSENT)) && !field->sql &&
           field->type != FIELD_SECRET && !resource_reference(resource, field->name, &at);
}

static as_status add_initial(struct plane_call *call, const struct field *field, struct row_values *row)
{
    const struct json_value *value;
    struct store_value stored;
    as_status status = json_parse(field->initial, strlen(field->initial), NULL, &call->arena, &value, NULL);
    if (status == AS_OK)
        status = column_value(call, field, value, &stored);
    return status == AS_OK ? row_values_set(row, field_column(field), stored) : call_store_failed(call, status);
}

static as_status add_columns(struct plane_call *call, const struct resource *resource, const struct json_value *input,
                             enum shape_mode mode, struct row_values *row)
{
    as_status status = AS_OK;
    for (size_t i = 0; status == AS_OK && i < resource->shape.count; i++) {
        const struct field *field = &resource->shape.fields[i];
        const struct json_value *value = json_get(input, field->name);
        struct store_value stored;
        if (!has_column(resource, field))
            continue;
        if (value) {
            status = column_value(call, field, value, &stored);
            if (status == AS_OK)
                status = row_values_set(row, field_column(field), stored);
        } else if (mode == SHAPE_CREATE && field->initial) {
            status = add_initial(call, field, row);
        }
    }
    return status;
}

const char *values_initial(struct plane_call *call, const struct field *field)
{
    const struct json_value *value = NULL;
    if (!field->initial ||
        json_parse(field->initial, strlen(field->initial), NULL, &call->arena, &value, NULL) != AS_OK)
        return NULL;
    return value->type == JSON_STRING ? value->text : NULL;
}

/* Row of a reference by key: it must be there and in use. */
static as_status resolve(struct plane_call *call, const struct reference *reference, const char *const *key,
                         int64_t *ret)
{
    const struct resource *target = resource_find(reference->resource);
    const size_t last = resource_key_count(target) - 1;
    const char *pointer = call_printf(call, "/%s", reference->members[last]);
    struct store_rows *rows AS_AUTO_ROWS = NULL;
    struct sql sql AS_AUTO_SQL = {.count = 0};
    sql_begin(&sql, call);
    sql_add(&sql, "SELECT t.id, %s FROM %s t WHERE t.id = ",
            target->is_permanent || target->is_bare ? "NULL" : "t.retired_ns", target->table);
    sql_row_by_key(&sql, target, key);
    as_status status = sql_query(&sql, call, &rows);
    if (status != AS_OK)
        return status;
    if (!store_next(rows)) {
        status = rows_end(rows, call);
        return status != AS_OK
                   ? status
                   : problem_add(&call->problem, pointer, "reference", "there is no %s \"%s%s%s\"", target->singular,
                                 last > 0 && key[0] ? key[0] : "", last > 0 ? "/" : "", key[last]);
    }
    if (!store_is_null(rows, 1))
        return problem_add(&call->problem, pointer, "retired", "the %s \"%s\" is retired", target->singular, key[last]);
    *ret = store_get_int(rows, 0);
    return AS_OK;
}

static as_status add_reference(struct plane_call *call, const struct resource *resource,
                               const struct reference *reference, const struct json_value *input,
                               struct row_values *row)
{
    const char *key[RESOURCE_KEY_MAX] = {0}, *missing = NULL;
    bool is_given = false, is_null = false;
    int64_t id = 0;
    for (size_t i = 0; i < RESOURCE_KEY_MAX && reference->members[i]; i++) {
        const struct json_value *value = json_get(input, reference->members[i]);
        const struct field *field = shape_field(&resource->shape, reference->members[i]);
        size_t at = 0;
        /* A member that belongs to an earlier reference alone does not ask for this one. */
        is_given = is_given || (value && resource_reference(resource, reference->members[i], &at) == reference);
        is_null = is_null || (value && value->type == JSON_NULL);
        if (value && value->type == JSON_STRING)
            key[i] = value->text;
        else if (!value)
            key[i] = values_initial(call, field);
        if (!key[i] && !missing)
            missing = reference->members[i];
    }
    if (!is_given)
        return AS_OK;
    if (is_null)
        return row_values_set(row, reference->column, store_null());
    if (missing)
        return problem_add(&call->problem, call_printf(call, "/%s", missing), "required", "is needed to name the %s",
                           resource_find(reference->resource)->singular);
    as_status status = resolve(call, reference, key, &id);
    return status == AS_OK ? row_values_set(row, reference->column, store_int(id)) : status;
}

as_status values_read(struct plane_call *call, const struct resource *resource, const struct json_value *input,
                      enum shape_mode mode, struct row_values *row)
{
    as_status status = shape_check(&resource->shape, input, mode, "", &call->problem), result = AS_OK;
    if (status != AS_OK)
        return status;
    status = add_columns(call, resource, input, mode, row);
    if (status != AS_OK)
        return call_store_failed(call, status);
    for (size_t i = 0; i < resource->reference_count; i++) {
        status = add_reference(call, resource, &resource->references[i], input, row);
        if (status != AS_OK && status != AS_E_INVALID)
            return status;
        result = result == AS_OK ? status : result;
    }
    return result;
}
