/* SPDX-License-Identifier: Apache-2.0 */
/* SQL and JSON of one resource's rows. */
#include "plane/resource.h"

#include "base/clock.h"

#include <stdio.h>
#include <string.h>

#define ALIAS_BYTES 32

const char *field_column(const struct field *field)
{
    return field->column ? field->column : field->name;
}

size_t resource_key_count(const struct resource *resource)
{
    size_t count = 0;
    while (count < RESOURCE_KEY_MAX && resource->key[count])
        count++;
    return count;
}

const struct reference *resource_reference(const struct resource *resource, const char *member, size_t *ret_at)
{
    for (size_t i = 0; i < resource->reference_count; i++) {
        const struct reference *reference = &resource->references[i];
        for (size_t at = 0; at < RESOURCE_KEY_MAX && reference->members[at]; at++) {
            if (strcmp(reference->members[at], member) != 0)
                continue;
            *ret_at = at;
            return reference;
        }
    }
    return NULL;
}

as_status row_values_set(struct row_values *row, const char *column, struct store_value value)
{
    for (uint32_t i = 0; i < row->count; i++) {
        if (strcmp(row->columns[i], column) != 0)
            continue;
        row->values[i] = value;
        return AS_OK;
    }
    if (row->count == RESOURCE_FIELDS_MAX)
        return AS_E_LIMIT;
    row->columns[row->count] = column;
    row->values[row->count++] = value;
    return AS_OK;
}

const struct store_value *row_values_get(const struct row_values *row, const char *column)
{
    for (uint32_t i = 0; i < row->count; i++)
        if (strcmp(row->columns[i], column) == 0)
            return &row->values[i];
    return NULL;
}

void sql_scope(struct sql *sql, const struct resource *resource, const char *alias)
{
    char inner[ALIAS_BYTES];
    switch (resource->scope) {
    case RESOURCE_OWN:
        sql_own(sql, alias);
        break;
    case RESOURCE_VISIBLE:
        sql_visible(sql, alias);
        break;
    case RESOURCE_TENANT:
        if (call_has(sql->call, RIGHT_OPERATOR)) {
            sql->is_scoped = true;
            sql_add(sql, "%s.tenant_code <> 'shared'", alias);
        } else {
            sql_add(sql, "%s.id = ", alias);
            sql_tenant(sql);
        }
        break;
    case RESOURCE_PART:
        (void)snprintf(inner, sizeof inner, "%sp", alias);
        const struct resource *parent = resource_find(resource->references[0].resource);
        sql_add(sql, "%s.%s IN (SELECT %s.id FROM %s %s WHERE ", alias, resource->references[0].column, inner,
                parent->table, inner);
        sql_scope(sql, parent, inner);
        sql_add(sql, ")");
        break;
    }
}

/* " AND alias.column = value" for each member of the key that has a text. */
static void add_key_conditions(struct sql *sql, const struct resource *resource, const char *const *key)
{
    const struct reference *done = NULL;
    for (size_t i = 0; i < resource_key_count(resource); i++) {
        size_t at = 0;
        const struct reference *reference = resource_reference(resource, resource->key[i], &at);
        const struct field *field = shape_field(&resource->shape, resource->key[i]);
        const char *parent_key[RESOURCE_KEY_MAX] = {0};
        if (!key[i] || (reference && reference == done))
            continue;
        if (!reference) {
            /* Keys of outside origin are unique without regard to case. */
            sql_add(sql, field->type == FIELD_NAME ? " AND lower(k.%s) = lower(" : " AND k.%s = (",
                    field_column(field));
            sql_value(sql, store_text(key[i]));
            sql_add(sql, ")");
            continue;
        }
        done = reference;
        for (size_t other = i; other < resource_key_count(resource); other++)
            if (resource_reference(resource, resource->key[other], &at) == reference)
                parent_key[at] = key[other];
        sql_add(sql, " AND k.%s IN ", reference->column);
        sql_row_by_key(sql, resource_find(reference->resource), parent_key);
    }
}

void sql_row_by_key(struct sql *sql, const struct resource *resource, const char *const *key)
{
    const char *filled[RESOURCE_KEY_MAX];
    bool is_whole = true;
    for (size_t i = 0; i < RESOURCE_KEY_MAX; i++) {
        filled[i] = key[i];
        is_whole = is_whole && (i >= resource_key_count(resource) || key[i]);
    }
    sql_add(sql, "(SELECT k.id FROM %s k WHERE ", resource->table);
    sql_scope(sql, resource, "k");
    add_key_conditions(sql, resource, filled);
    if (is_whole && resource->scope == RESOURCE_VISIBLE) {
        sql_add(sql, " ORDER BY CASE WHEN ");
        sql_own(sql, "k");
        sql_add(sql, " THEN 0 ELSE 1 END LIMIT 1");
    }
    sql_add(sql, ")");
}

void sql_joins(struct sql *sql, const struct resource *resource, const char *alias)
{
    for (size_t i = 0; i < resource->reference_count; i++) {
        const struct reference *reference = &resource->references[i];
        const struct resource *target = resource_find(reference->resource);
        char inner[ALIAS_BYTES];
        (void)snprintf(inner, sizeof inner, "%s_%zu", alias, i);
        sql_add(sql, " LEFT JOIN %s %s ON %s.id = %s.%s", target->table, inner, inner, alias, reference->column);
        for (size_t k = 0; k < resource_key_count(target); k++) {
            size_t at = 0;
            if (!resource_reference(target, target->key[k], &at))
                continue;
            sql_joins(sql, target, inner);
            break;
        }
    }
}

static void add_expression(struct sql *sql, const char *text, const char *alias)
{
    for (const char *at = text; *at; at++) {
        if (*at == '$')
            sql_add(sql, "%s", alias);
        else
            sql_add(sql, "%c", *at);
    }
}

void sql_member(struct sql *sql, const struct resource *resource, const struct field *field, const char *alias)
{
    size_t at = 0;
    const struct reference *reference = field->sql ? NULL : resource_reference(resource, field->name, &at);
    if (field->sql) {
        add_expression(sql, field->sql, alias);
    } else if (reference) {
        const struct resource *target = resource_find(reference->resource);
        char inner[ALIAS_BYTES];
        (void)snprintf(inner, sizeof inner, "%s_%td", alias, reference - resource->references);
        sql_member(sql, target, shape_field(&target->shape, target->key[at]), inner);
    } else {
        sql_add(sql, "%s.%s", alias, field_column(field));
    }
}

as_status resource_row(struct plane_call *call, const struct resource *resource, const char *const *key, int64_t *ret)
{
    struct sql sql AS_AUTO_SQL = {.count = 0};
    const char *padded[RESOURCE_KEY_MAX] = {0};
    for (size_t i = 0; i < resource_key_count(resource); i++)
        padded[i] = key[i];
    sql_begin(&sql, call);
    sql_add(&sql, "SELECT t.id FROM %s t WHERE t.id = ", resource->table);
    sql_row_by_key(&sql, resource, padded);
    as_status status = sql_one_int(&sql, call, ret);
    if (status == AS_E_NOTFOUND)
        problem_from_status(&call->problem, status, NULL);
    return status;
}

void resource_put_value(struct json_writer *writer, const struct field *field, const struct store_rows *rows,
                        uint32_t column)
{
    char time[WALL_TEXT_BYTES];
    const char *text;
    size_t len = 0;
    if (store_is_null(rows, column)) {
        json_put_null(writer);
        return;
    }
    switch (field->type) {
    case FIELD_INT:
        json_put_int(writer, store_get_int(rows, column));
        break;
    case FIELD_NUMBER:
        json_put_double(writer, store_get_real(rows, column));
        break;
    case FIELD_BOOL:
        json_put_bool(writer, store_get_bool(rows, column));
        break;
    case FIELD_TIME:
        wall_format((struct wall){store_get_int(rows, column)}, time);
        json_put_string(writer, time);
        break;
    case FIELD_JSON:
    case FIELD_OBJECT:
    case FIELD_LIST:
        text = store_get_text(rows, column, &len);
        json_put_raw(writer, text, len);
        break;
    default:
        text = store_get_text(rows, column, &len);
        json_put_stringn(writer, text, len);
        break;
    }
}

static bool is_answered(const struct field *field)
{
    return field->type != FIELD_SECRET && !(field->flags & (FIELD_ABSENT | FIELD_VIRTUAL));
}

as_status resource_put(struct plane_call *call, const struct resource *resource, int64_t id)
{
    struct sql sql AS_AUTO_SQL = {.count = 0};
    struct store_rows *rows AS_AUTO_ROWS = NULL;
    uint32_t column = 0;
    sql_begin(&sql, call);
    sql_add(&sql, "SELECT ");
    for (size_t i = 0; i < resource->shape.count; i++) {
        if (!is_answered(&resource->shape.fields[i]))
            continue;
        sql_add(&sql, "%s", column++ ? ", " : "");
        sql_member(&sql, resource, &resource->shape.fields[i], "t");
    }
    sql_add(&sql, " FROM %s t", resource->table);
    sql_joins(&sql, resource, "t");
    sql_add(&sql, " WHERE t.id = ");
    sql_of_row(&sql, id);
    as_status status = sql_query(&sql, call, &rows);
    if (status != AS_OK)
        return status;
    if (!store_next(rows))
        return call_store_failed(call, AS_E_NOTFOUND);
    json_open_object(&call->json);
    column = 0;
    for (size_t i = 0; i < resource->shape.count; i++) {
        const struct field *field = &resource->shape.fields[i];
        if (!is_answered(field))
            continue;
        json_key(&call->json, field->name);
        resource_put_value(&call->json, field, rows, column);
        if (strcmp(field->name, "revision") == 0)
            call_add_field(call, "ETag", call_printf(call, "\"%lld\"", (long long)store_get_int(rows, column)));
        column++;
    }
    rows_done(&rows);
    if (resource->hooks && resource->hooks->put)
        status = resource->hooks->put(call, id);
    json_close_object(&call->json);
    return status;
}
