/* SPDX-License-Identifier: Apache-2.0 */
/* Things made, changed and retired. */
#include "plane/audit.h"
#include "plane/resource.h"
#include "plane/route.h"
#include "plane/values.h"

#include <stdio.h>
#include <string.h>

static const char *key_text(struct plane_call *call, const struct resource *resource, const struct json_value *input)
{
    const char *text = "";
    for (size_t i = 0; i < resource_key_count(resource); i++) {
        const char *part = NULL;
        const struct field *field = shape_field(&resource->shape, resource->key[i]);
        if (!json_string(json_get(input, resource->key[i]), &part))
            part = values_initial(call, field);
        text = call_printf(call, "%s%s%s", text, i ? "/" : "", part ? part : "");
        if (!text)
            return "";
    }
    return text;
}

static as_status key_taken(struct plane_call *call, const struct resource *resource, const struct json_value *input)
{
    const char *member = resource->key[resource_key_count(resource) - 1];
    call_refuse(call, PROBLEM_EXISTS, "there is a %s \"%s\" already", resource->singular,
                key_text(call, resource, input));
    return problem_add(&call->problem, call_printf(call, "/%s", member), "exists", "is taken");
}

/* A code of the shared catalogue is not given a second meaning. */
static as_status check_not_shared(struct plane_call *call, const struct resource *resource,
                                  const struct json_value *input)
{
    const char *key[RESOURCE_KEY_MAX] = {0};
    struct sql sql AS_AUTO_SQL = {.count = 0};
    int64_t id;
    if (resource->scope != RESOURCE_VISIBLE)
        return AS_OK;
    for (size_t i = 0; i < resource_key_count(resource); i++)
        (void)json_string(json_get(input, resource->key[i]), &key[i]);
    sql_begin(&sql, call);
    sql_add(&sql, "SELECT t.id FROM %s t WHERE t.id = ", resource->table);
    sql_row_by_key(&sql, resource, key);
    as_status status = sql_one_int(&sql, call, &id);
    if (status == AS_OK)
        return key_taken(call, resource, input);
    return status == AS_E_NOTFOUND ? AS_OK : status;
}

static bool has_tenant(const struct resource *resource)
{
    return resource->scope == RESOURCE_OWN || resource->scope == RESOURCE_VISIBLE;
}

static as_status insert(struct plane_call *call, const struct resource *resource, const struct row_values *row,
                        int64_t *ret_id)
{
    struct sql sql AS_AUTO_SQL = {.count = 0};
    sql_begin(&sql, call);
    sql_add(&sql, "INSERT INTO %s (", resource->table);
    if (!resource->is_bare)
        sql_add(&sql, "created_ns, updated_ns, ");
    if (has_tenant(resource))
        sql_add(&sql, "tenant_id, ");
    for (uint32_t i = 0; i < row->count; i++)
        sql_add(&sql, "%s%s", i ? ", " : "", row->columns[i]);
    sql_add(&sql, ") VALUES (");
    for (int i = 0; !resource->is_bare && i < 2; i++) {
        sql_value(&sql, store_int(call->now_ns));
        sql_add(&sql, ", ");
    }
    if (has_tenant(resource)) {
        sql_tenant(&sql);
        sql_add(&sql, ", ");
    }
    for (uint32_t i = 0; i < row->count; i++) {
        sql_add(&sql, "%s", i ? ", " : "");
        sql_value(&sql, row->values[i]);
    }
    sql_add(&sql, ") RETURNING id");
    /* A part hangs on a row that was resolved in the caller's scope; tenants are the operator's. */
    sql.is_scoped = true;
    return sql_one_int(&sql, call, ret_id);
}

as_status resource_insert(struct plane_call *call, const struct resource *resource, const struct json_value *input,
                          int64_t *ret_id)
{
    struct row_values row = {.count = 0};
    int64_t id = 0;
    as_status status = values_read(call, resource, input, SHAPE_CREATE, &row);
    if (status == AS_OK)
        status = check_not_shared(call, resource, input);
    if (status == AS_OK && resource->hooks && resource->hooks->prepare)
        status = resource->hooks->prepare(call, 0, &row);
    if (status != AS_OK)
        return status;
    status = insert(call, resource, &row, &id);
    if (status == AS_E_EXISTS) {
        call->problem = (struct problem){.is_set = false};
        return key_taken(call, resource, input);
    }
    if (status == AS_OK && resource->hooks && resource->hooks->finish)
        status = resource->hooks->finish(call, id, &row);
    if (status == AS_OK)
        status = audit_add(call, "create", resource->singular, key_text(call, resource, input));
    if (status == AS_OK)
        *ret_id = id;
    return status;
}

as_status resource_create(struct plane_call *call)
{
    int64_t id = 0;
    as_status status = resource_insert(call, call->route->resource, call->input, &id);
    call->status = 201;
    return status == AS_OK ? resource_put(call, call->route->resource, id) : status;
}

/* Adds the row that decides whose a part is, as alias "h<depth>" hanging on "t"; the condition that it is the caller's.
 */
static void add_holder(struct sql *sql, const struct resource *resource, struct strbuf *joins)
{
    char alias[8] = "t";
    int depth = 0;
    while (resource->scope == RESOURCE_PART) {
        const struct reference *reference = &resource->references[0];
        resource = resource_find(reference->resource);
        strbuf_addf(joins, " JOIN %s h%d ON h%d.id = %s.%s", resource->table, depth, depth, alias, reference->column);
        (void)snprintf(alias, sizeof alias, "h%d", depth++);
    }
    sql_own(sql, alias);
}

/* The row of the address, which must be the tenant's own to be written. */
static as_status own_row(struct plane_call *call, const struct resource *resource, int64_t *ret_id)
{
    struct sql sql AS_AUTO_SQL = {.count = 0};
    struct strbuf joins AS_AUTO_STRBUF = {.len = 0};
    int64_t is_own = 0;
    as_status status = resource_row(call, resource, call->params, ret_id);
    if (status != AS_OK || resource->scope == RESOURCE_OWN || resource->scope == RESOURCE_TENANT)
        return status;
    strbuf_init(&joins, 0);
    sql_begin(&sql, call);
    sql_add(&sql, "SELECT CASE WHEN ");
    add_holder(&sql, resource, &joins);
    sql_add(&sql, " THEN 1 ELSE 0 END FROM %s t%s WHERE t.id = ", resource->table, strbuf_text(&joins));
    sql_of_row(&sql, *ret_id);
    if (strbuf_status(&joins) != AS_OK)
        return call_store_failed(call, strbuf_status(&joins));
    status = sql_one_int(&sql, call, &is_own);
    if (status == AS_OK && !is_own)
        return call_refuse(call, PROBLEM_FORBIDDEN, "this %s is part of the shipped catalogue; make one of your own",
                           resource->singular);
    return status;
}

/* The revision that If-Match asks for; -1 = any. */
static as_status wanted_revision(struct plane_call *call, int64_t *ret)
{
    const char *text = call->if_match;
    size_t len = strlen(text);
    *ret = -1;
    if (len == 0 || strcmp(text, "*") == 0)
        return AS_OK;
    if (len < 3 || text[0] != '"' || text[len - 1] != '"' || !json_text_int64(text + 1, len - 2, ret) || *ret < 1)
        return call_refuse(call, PROBLEM_MALFORMED, "If-Match must be the ETag of an answer, like \"3\"");
    return AS_OK;
}

static as_status update(struct plane_call *call, const struct resource *resource, int64_t id,
                        const struct row_values *row)
{
    struct sql sql AS_AUTO_SQL = {.count = 0};
    int64_t changed = 0, revision;
    as_status status = wanted_revision(call, &revision);
    if (status != AS_OK)
        return status;
    if (resource->is_bare && row->count == 0)
        return AS_OK;
    sql_begin(&sql, call);
    sql_add(&sql, "UPDATE %s SET ", resource->table);
    if (!resource->is_bare) {
        sql_add(&sql, "row_version = row_version + 1, updated_ns = ");
        sql_value(&sql, store_int(call->now_ns));
    }
    for (uint32_t i = 0; i < row->count; i++) {
        sql_add(&sql, "%s%s = ", i || !resource->is_bare ? ", " : "", row->columns[i]);
        sql_value(&sql, row->values[i]);
    }
    sql_add(&sql, " WHERE id = ");
    sql_of_row(&sql, id);
    if (revision > 0 && !resource->is_bare) {
        sql_add(&sql, " AND row_version = ");
        sql_value(&sql, store_int(revision));
    }
    status = sql_exec(&sql, call, &changed);
    if (status == AS_OK && changed == 0)
        return call_refuse(call, PROBLEM_REVISION, "the %s was changed meanwhile; read it again", resource->singular);
    return status;
}

static const char *address_text(struct plane_call *call, const struct resource *resource)
{
    const char *text = "";
    for (size_t i = 0; text && i < resource_key_count(resource); i++)
        text = call_printf(call, "%s%s%s", text, i ? "/" : "", call->params[i]);
    return text ? text : "";
}

as_status resource_change(struct plane_call *call)
{
    const struct resource *resource = call->route->resource;
    struct row_values row = {.count = 0};
    int64_t id = 0;
    as_status status = own_row(call, resource, &id);
    if (status == AS_OK)
        status = values_read(call, resource, call->input, SHAPE_CHANGE, &row);
    if (status == AS_OK && resource->hooks && resource->hooks->prepare)
        status = resource->hooks->prepare(call, id, &row);
    if (status == AS_OK)
        status = update(call, resource, id, &row);
    if (status == AS_OK && resource->hooks && resource->hooks->finish)
        status = resource->hooks->finish(call, id, &row);
    if (status == AS_OK)
        status = audit_add(call, "change", resource->singular, address_text(call, resource));
    return status == AS_OK ? resource_put(call, resource, id) : status;
}

/* A part without a life of its own. */
static as_status remove_row(struct plane_call *call, const struct resource *resource, int64_t id)
{
    struct sql sql AS_AUTO_SQL = {.count = 0};
    sql_begin(&sql, call);
    sql_add(&sql, "DELETE FROM %s WHERE id = ", resource->table);
    sql_of_row(&sql, id);
    return sql_exec(&sql, call, NULL);
}

as_status resource_retire(struct plane_call *call)
{
    const struct resource *resource = call->route->resource;
    struct row_values row = {.count = 0};
    int64_t id = 0;
    as_status status = own_row(call, resource, &id);
    if (status == AS_OK && resource->is_bare && call->if_match[0] && strcmp(call->if_match, "*") != 0)
        return call_refuse(call, PROBLEM_REVISION, "a %s has no revisions", resource->singular);
    if (status == AS_OK && resource->hooks && resource->hooks->retire)
        status = resource->hooks->retire(call, id);
    if (status == AS_OK)
        status = row_values_set(&row, "retired_ns", store_int(call->now_ns));
    if (status == AS_OK && !resource->is_bare)
        status = update(call, resource, id, &row);
    if (status == AS_OK)
        status = audit_add(call, "retire", resource->singular, address_text(call, resource));
    if (status == AS_OK)
        status = resource_put(call, resource, id);
    return status == AS_OK && resource->is_bare ? remove_row(call, resource, id) : status;
}

as_status resource_get(struct plane_call *call)
{
    int64_t id = 0;
    as_status status = resource_row(call, call->route->resource, call->params, &id);
    return status == AS_OK ? resource_put(call, call->route->resource, id) : status;
}
