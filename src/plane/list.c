/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Lists: filters, order, pages. A page's rows are chosen in a sub-select that reads one table (and its indexes) only;
 * joins follow for those rows. Pages go on after the last row's sort value and id, which the client keeps as a sealed
 * cursor.
 */
#include "plane/cursor.h"
#include "plane/query.h"
#include "plane/resource.h"
#include "plane/state.h"

#include "base/clock.h"

#include <stdio.h>
#include <string.h>

#define LIMIT_DEFAULT 50
#define LIMIT_MAX     500
#define NAMES_MAX     (RESOURCE_FIELDS_MAX * 2 + 8)

static const char *const PAGING[] = {"limit", "cursor", "sort", "retired", "q"};

/* How a list is ordered. */
struct order {
    const struct field *field;
    bool is_descending;
};

static bool is_listed(const struct field *field)
{
    return field->type != FIELD_SECRET && !(field->flags & (FIELD_ABSENT | FIELD_VIRTUAL | FIELD_DETAIL));
}

static as_status check_names(struct plane_call *call, const struct resource *resource)
{
    const char *names[NAMES_MAX];
    size_t count = 0;
    for (size_t i = 0; i < sizeof PAGING / sizeof PAGING[0]; i++)
        names[count++] = PAGING[i];
    for (size_t i = 0; i < resource->shape.count; i++) {
        const struct field *field = &resource->shape.fields[i];
        if (!(field->flags & FIELD_FILTER))
            continue;
        if (field->type != FIELD_TIME) {
            names[count++] = field->name;
            continue;
        }
        names[count++] = call_printf(call, "%s_from", field->name);
        names[count++] = call_printf(call, "%s_to", field->name);
    }
    return call->problem.is_set ? AS_E_NOMEM : call_query_check(call, names, count);
}

/* " AND s.column IN (…)" for the parts of `text` between commas. */
static as_status add_choices(struct plane_call *call, struct sql *sql, const struct field *field, const char *text)
{
    const char *separator = "";
    if (field->sql) {
        sql_add(sql, " AND (");
        for (const char *at = field->sql; *at; at++)
            sql_add(sql, *at == '$' ? "s" : "%c", *at);
        sql_add(sql, ") IN (");
    } else {
        sql_add(sql, " AND s.%s IN (", field_column(field));
    }
    for (const char *at = text;; at++) {
        struct store_value value;
        size_t len = strcspn(at, ",");
        char *part = arena_strndup(&call->arena, at, len);
        if (!part)
            return call_store_failed(call, AS_E_NOMEM);
        as_status status = call_query_value(call, field, part, &value);
        if (status != AS_OK)
            return status;
        sql_add(sql, "%s", separator);
        sql_value(sql, value);
        separator = ", ";
        at += len;
        if (!*at)
            break;
    }
    sql_add(sql, ")");
    return AS_OK;
}

static as_status add_times(struct plane_call *call, struct sql *sql, const struct field *field)
{
    static const struct {
        const char *suffix, *comparison;
    } ENDS[] = {{"from", ">="}, {"to", "<"}};
    for (size_t i = 0; i < 2; i++) {
        struct store_value value;
        const char *text, *name = call_printf(call, "%s_%s", field->name, ENDS[i].suffix);
        as_status status = name ? call_query(call, name, &text) : AS_E_NOMEM;
        if (status == AS_OK && text) {
            const struct field named = {.name = name, .type = FIELD_TIME};
            status = call_query_value(call, &named, text, &value);
        }
        if (status != AS_OK)
            return status;
        if (!text)
            continue;
        sql_add(sql, " AND s.%s %s ", field_column(field), ENDS[i].comparison);
        sql_value(sql, value);
    }
    return AS_OK;
}

/* The filters on members of one reference, as one condition on its column. */
static as_status add_reference_filter(struct plane_call *call, struct sql *sql, const struct resource *resource,
                                      const struct reference *reference)
{
    const char *key[RESOURCE_KEY_MAX] = {0};
    bool is_given = false;
    for (size_t i = 0; i < RESOURCE_KEY_MAX && reference->members[i]; i++) {
        size_t at = 0;
        as_status status = call_query(call, reference->members[i], &key[i]);
        if (status != AS_OK)
            return status;
        is_given = is_given || (key[i] && resource_reference(resource, reference->members[i], &at) == reference);
    }
    if (!is_given)
        return AS_OK;
    sql_add(sql, " AND s.%s IN ", reference->column);
    sql_row_by_key(sql, resource_find(reference->resource), key);
    return AS_OK;
}

static as_status add_filters(struct plane_call *call, struct sql *sql, const struct resource *resource)
{
    as_status status = AS_OK;
    for (size_t i = 0; status == AS_OK && i < resource->reference_count; i++)
        status = add_reference_filter(call, sql, resource, &resource->references[i]);
    for (size_t i = 0; status == AS_OK && i < resource->shape.count; i++) {
        const struct field *field = &resource->shape.fields[i];
        const char *text;
        size_t at = 0;
        if (!(field->flags & FIELD_FILTER) || resource_reference(resource, field->name, &at))
            continue;
        if (field->type == FIELD_TIME) {
            status = add_times(call, sql, field);
            continue;
        }
        status = call_query(call, field->name, &text);
        if (status == AS_OK && text)
            status = add_choices(call, sql, field, text);
    }
    return status;
}

/* "q": texts that hold it, in the members of the natural key and in name. */
static as_status add_search(struct plane_call *call, struct sql *sql, const struct resource *resource)
{
    const char *text, *separator = "";
    as_status status = call_query(call, "q", &text);
    if (status != AS_OK || !text || !*text)
        return status;
    char *pattern = arena_alloc(&call->arena, 2 * strlen(text) + 3), *to = pattern;
    if (!pattern)
        return call_store_failed(call, AS_E_NOMEM);
    *to++ = '%';
    for (const char *at = text; *at; at++) {
        if (strchr("%_\\", *at))
            *to++ = '\\';
        *to++ = *at;
    }
    *to++ = '%';
    *to = '\0';
    sql_add(sql, " AND (");
    for (size_t i = 0; i < resource->shape.count; i++) {
        const struct field *field = &resource->shape.fields[i];
        size_t at = 0;
        const bool is_text = field_is_code(field->type) || field->type == FIELD_TEXT;
        if (!is_text || field->sql || !(field->flags & FIELD_SORT) || resource_reference(resource, field->name, &at))
            continue;
        sql_add(sql, "%slower(s.%s) LIKE lower(", separator, field_column(field));
        sql_value(sql, store_text(pattern));
        sql_add(sql, ") ESCAPE '\\'");
        separator = " OR ";
    }
    sql_add(sql, "%s)", *separator ? "" : "1 = 1");
    return AS_OK;
}

static as_status read_order(struct plane_call *call, const struct resource *resource, struct order *ret)
{
    const char *text;
    size_t at = 0;
    as_status status = call_query(call, "sort", &text);
    if (status != AS_OK)
        return status;
    text = text ? text : resource->sort;
    ret->is_descending = text[0] == '-';
    ret->field = shape_field(&resource->shape, text + ret->is_descending);
    if (!ret->field || !(ret->field->flags & FIELD_SORT) || resource_reference(resource, ret->field->name, &at))
        return problem_add(&call->problem, "?sort", "choice", "lists are not sorted by this member");
    return AS_OK;
}

static void add_order_value(struct sql *sql, const struct order *order, const char *alias)
{
    const char *column = field_column(order->field);
    if (!(order->field->flags & FIELD_NULLABLE))
        sql_add(sql, "%s.%s", alias, column);
    else if (order->field->type == FIELD_INT || order->field->type == FIELD_TIME || order->field->type == FIELD_NUMBER)
        sql_add(sql, "COALESCE(%s.%s, 0)", alias, column);
    else
        sql_add(sql, "COALESCE(%s.%s, '')", alias, column);
}

static void add_order(struct sql *sql, const struct order *order, const char *alias)
{
    const char *way = order->is_descending ? " DESC" : "";
    sql_add(sql, " ORDER BY ");
    add_order_value(sql, order, alias);
    sql_add(sql, "%s, %s.id%s", way, alias, way);
}

/* Which list a cursor is of. */
static const char *order_scope(struct plane_call *call, const struct order *order)
{
    return call_printf(call, "%s %s%s", call->route->resource->path, order->is_descending ? "-" : "",
                       order->field->name);
}

/* What a cursor holds: the last row's sort value and id. */
static as_status add_cursor(struct plane_call *call, struct sql *sql, const struct order *order, const char *scope)
{
    const struct json_value *tree = NULL, *value;
    int64_t id = 0;
    struct store_value last;
    as_status status = cursor_read(call, scope, &tree);
    if (status != AS_OK || !tree)
        return status;
    value = json_get(tree, "value");
    if (!value || !json_int64(json_get(tree, "id"), &id))
        return problem_add(&call->problem, "?cursor", "cursor", "is of another list or order");
    if (value->type == JSON_STRING) {
        last = store_text_n(value->text, value->len);
    } else if (order->field->type == FIELD_NUMBER) {
        (void)json_double(value, &last.real);
        last = store_real(last.real);
    } else {
        (void)json_int64(value, &last.integer);
        last = order->field->type == FIELD_BOOL ? store_bool(last.integer != 0) : store_int(last.integer);
    }
    sql_add(sql, " AND (");
    add_order_value(sql, order, "s");
    sql_add(sql, ", s.id) %s (", order->is_descending ? "<" : ">");
    sql_value(sql, last);
    sql_add(sql, ", ");
    sql_value(sql, store_int(id));
    sql_add(sql, ")");
    return AS_OK;
}

/* The cursor after the present row; NULL (the problem is set) on a failure. */
static const char *make_cursor(struct plane_call *call, const struct order *order, const struct store_rows *rows,
                               const char *scope)
{
    struct strbuf plain AS_AUTO_STRBUF = {.len = 0};
    struct json_writer writer;
    strbuf_init(&plain, 4096);
    json_writer_init(&writer, &plain, 0);
    json_open_object(&writer);
    json_member_string(&writer, "scope", scope);
    json_key(&writer, "value");
    switch (order->field->type) {
    case FIELD_INT:
    case FIELD_TIME:
    case FIELD_BOOL:
        json_put_int(&writer, store_get_int(rows, 1));
        break;
    case FIELD_NUMBER:
        json_put_double(&writer, store_get_real(rows, 1));
        break;
    default:
        json_put_string(&writer, store_get_text(rows, 1, NULL));
        break;
    }
    json_member_int(&writer, "id", store_get_int(rows, 0));
    json_close_object(&writer);
    return cursor_seal(call, &plain);
}

static as_status add_retired(struct plane_call *call, struct sql *sql, const struct resource *resource)
{
    const char *text;
    as_status status = call_query(call, "retired", &text);
    if (status != AS_OK || resource->is_permanent || resource->is_bare)
        return status;
    if (!text || strcmp(text, "false") == 0)
        sql_add(sql, " AND s.retired_ns IS NULL");
    else if (strcmp(text, "true") == 0)
        sql_add(sql, " AND s.retired_ns IS NOT NULL");
    else if (strcmp(text, "all") != 0)
        return problem_add(&call->problem, "?retired", "choice", "must be true, false or all");
    return AS_OK;
}

static void add_members(struct sql *sql, const struct resource *resource)
{
    for (size_t i = 0; i < resource->shape.count; i++) {
        if (!is_listed(&resource->shape.fields[i]))
            continue;
        sql_add(sql, ", ");
        sql_member(sql, resource, &resource->shape.fields[i], "t");
    }
}

static as_status build(struct plane_call *call, struct sql *sql, const struct order *order, int64_t limit)
{
    const struct resource *resource = call->route->resource;
    const char *scope = order_scope(call, order);
    sql_add(sql, "SELECT t.id, ");
    add_order_value(sql, order, "t");
    add_members(sql, resource);
    sql_add(sql, " FROM (SELECT * FROM %s s WHERE ", resource->table);
    sql_scope(sql, resource, "s");
    as_status status = add_retired(call, sql, resource);
    if (status == AS_OK)
        status = add_filters(call, sql, resource);
    if (status == AS_OK)
        status = add_search(call, sql, resource);
    if (status == AS_OK)
        status = scope ? add_cursor(call, sql, order, scope) : AS_E_NOMEM;
    if (status != AS_OK)
        return status;
    add_order(sql, order, "s");
    sql_add(sql, " LIMIT %lld) t", (long long)sql_limit_step(limit + 1));
    sql_joins(sql, resource, "t");
    add_order(sql, order, "t");
    return AS_OK;
}

static void put_row(struct plane_call *call, const struct resource *resource, const struct store_rows *rows)
{
    uint32_t column = 2;
    json_open_object(&call->json);
    for (size_t i = 0; i < resource->shape.count; i++) {
        if (!is_listed(&resource->shape.fields[i]))
            continue;
        json_key(&call->json, resource->shape.fields[i].name);
        resource_put_value(&call->json, &resource->shape.fields[i], rows, column++);
    }
    json_close_object(&call->json);
}

/* Up to `limit` rows, and the cursor after the last one when there is one more. */
static as_status put_rows(struct plane_call *call, struct sql *sql, const struct order *order, int64_t limit)
{
    const struct resource *resource = call->route->resource;
    const char *next = NULL, *scope = order_scope(call, order);
    struct store_rows *rows AS_AUTO_ROWS = NULL;
    int64_t count = 0;
    as_status status = scope ? sql_query(sql, call, &rows) : AS_E_NOMEM;
    if (status != AS_OK)
        return status;
    json_open_object(&call->json);
    json_key(&call->json, "items");
    json_open_array(&call->json);
    while (count < limit && store_next(rows)) {
        put_row(call, resource, rows);
        if (++count == limit)
            next = make_cursor(call, order, rows, scope);
    }
    if (call->problem.is_set)
        return AS_E_NOMEM;
    if (next && !store_next(rows))
        next = NULL;
    json_close_array(&call->json);
    json_member_string(&call->json, "next", next);
    json_close_object(&call->json);
    return rows_end(rows, call);
}

as_status resource_get_list(struct plane_call *call)
{
    const struct resource *resource = call->route->resource;
    struct sql sql AS_AUTO_SQL = {.count = 0};
    struct order order;
    int64_t limit = LIMIT_DEFAULT;
    sql_begin(&sql, call);
    as_status status = check_names(call, resource);
    if (status == AS_OK)
        status = call_query_int(call, "limit", LIMIT_MAX, &limit);
    if (status == AS_OK)
        status = read_order(call, resource, &order);
    if (status == AS_OK)
        status = build(call, &sql, &order, limit);
    return status == AS_OK ? put_rows(call, &sql, &order, limit) : status;
}
