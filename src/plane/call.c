/* SPDX-License-Identifier: Apache-2.0 */
#include "plane/call.h"

#include "plane/state.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#define SQL_BYTES_MAX ((size_t)64 * 1024)

static const char *const ROLES[] = {"viewer", "member", "admin", "agent"};

const char *role_name(enum role role)
{
    return ROLES[role];
}

bool role_from(const char *name, enum role *ret)
{
    for (size_t i = 0; i < ROLE_COUNT; i++) {
        if (strcmp(ROLES[i], name) != 0)
            continue;
        *ret = (enum role)i;
        return true;
    }
    return false;
}

bool call_has(const struct plane_call *call, enum right right)
{
    return right == RIGHT_NONE || (call->who.rights & (uint32_t)right);
}

char *call_printf(struct plane_call *call, const char *fmt, ...)
{
    char *text = NULL;
    char small[256];
    va_list args;
    va_start(args, fmt);
    int len = vsnprintf(small, sizeof small, fmt, args);
    va_end(args);
    if (len >= 0)
        text = arena_alloc(&call->arena, (size_t)len + 1);
    if (!text) {
        problem_from_status(&call->problem, AS_E_NOMEM, NULL);
        return NULL;
    }
    va_start(args, fmt);
    (void)vsnprintf(text, (size_t)len + 1, fmt, args);
    va_end(args);
    return text;
}

void call_add_field(struct plane_call *call, const char *name, const char *value)
{
    if (call->field_count == CALL_FIELDS_MAX || !value)
        return;
    call->fields[call->field_count++] =
        (struct http_field){.name = {name, strlen(name)}, .value = {value, strlen(value)}};
}

as_status call_add_event(struct plane_call *call, const struct call_event *event)
{
    if (call->event_count == CALL_EVENTS_MAX)
        return AS_E_LIMIT;
    call->events[call->event_count++] = *event;
    return AS_OK;
}

as_status call_store_failed(struct plane_call *call, as_status status)
{
    const struct as_error *err = call->tx ? store_error(call->tx) : NULL;
    if (call->problem.is_set)
        return status;
    if (status != AS_E_STATE && status != AS_E_EXISTS && status != AS_E_NOTFOUND && call->plane->settings->failed) {
        char sentence[700];
        (void)snprintf(sentence, sizeof sentence, "%s: %s: %s", call->route ? call->route->id : "start",
                       status_name(status), err ? err->message : "");
        call->plane->settings->failed(sentence);
    }
    if (status == AS_E_STATE) /* a constraint's name is not for callers */
        call_refuse(call, PROBLEM_STATE, "other things depend on it, or a value is beyond what the store takes");
    else
        problem_from_status(&call->problem, status, err);
    return status;
}

void sql_begin(struct sql *sql, const struct plane_call *call)
{
    *sql = (struct sql){.call = call};
    strbuf_init(&sql->text, SQL_BYTES_MAX);
}

void sql_done(struct sql *sql)
{
    strbuf_done(&sql->text);
}

void sql_add(struct sql *sql, const char *fmt, ...)
{
    char text[2048];
    va_list args;
    va_start(args, fmt);
    int len = vsnprintf(text, sizeof text, fmt, args);
    va_end(args);
    if (len < 0 || (size_t)len >= sizeof text)
        sql->is_full = true;
    else
        strbuf_add(&sql->text, text, (size_t)len);
}

uint32_t sql_param(struct sql *sql, struct store_value value)
{
    if (sql->count == SQL_PARAMS_MAX) {
        sql->is_full = true;
        return sql->count;
    }
    sql->params[sql->count++] = value;
    return sql->count;
}

void sql_value(struct sql *sql, struct store_value value)
{
    sql_add(sql, "?%u", sql_param(sql, value));
}

static uint32_t own_param(struct sql *sql)
{
    if (!sql->own_param)
        sql->own_param = sql_param(sql, store_int(sql->call->who.tenant_id));
    sql->is_scoped = true;
    return sql->own_param;
}

void sql_own(struct sql *sql, const char *alias)
{
    sql_add(sql, "%s.tenant_id = ?%u", alias, own_param(sql));
}

void sql_visible(struct sql *sql, const char *alias)
{
    const uint32_t own = own_param(sql);
    if (!sql->shared_param)
        sql->shared_param = sql_param(sql, store_int(sql->call->shared_tenant_id));
    sql_add(sql, "%s.tenant_id IN (?%u, ?%u)", alias, own, sql->shared_param);
}

void sql_of_row(struct sql *sql, int64_t id)
{
    sql->is_scoped = true;
    sql_value(sql, store_int(id));
}

void sql_tenant(struct sql *sql)
{
    sql_add(sql, "?%u", own_param(sql));
}

int64_t sql_limit_step(int64_t rows)
{
    static const int64_t steps[] = {3, 11, 51, 101, 251, 501};
    for (size_t i = 0; i < sizeof steps / sizeof steps[0]; i++)
        if (rows <= steps[i])
            return steps[i];
    return rows;
}

static as_status sql_status(struct sql *sql, struct plane_call *call)
{
    if (!sql->is_scoped || !call->tx)
        return call_store_failed(call, AS_E_INTERNAL);
    if (sql->is_full)
        return call_store_failed(call, AS_E_LIMIT);
    return strbuf_status(&sql->text) == AS_OK ? AS_OK : call_store_failed(call, strbuf_status(&sql->text));
}

as_status sql_query(struct sql *sql, struct plane_call *call, struct store_rows **ret)
{
    as_status status = sql_status(sql, call);
    if (status != AS_OK)
        return status;
    status = store_query(call->tx, strbuf_text(&sql->text), sql->params, sql->count, ret);
    return status == AS_OK ? AS_OK : call_store_failed(call, status);
}

as_status sql_exec(struct sql *sql, struct plane_call *call, int64_t *ret_changed)
{
    as_status status = sql_status(sql, call);
    if (status != AS_OK)
        return status;
    status = store_exec(call->tx, strbuf_text(&sql->text), sql->params, sql->count, ret_changed);
    return status == AS_OK ? AS_OK : call_store_failed(call, status);
}

as_status sql_one_int(struct sql *sql, struct plane_call *call, int64_t *ret)
{
    struct store_rows *rows AS_AUTO_ROWS = NULL;
    as_status status = sql_query(sql, call, &rows);
    if (status != AS_OK)
        return status;
    if (!store_next(rows)) {
        status = rows_end(rows, call);
        return status == AS_OK ? AS_E_NOTFOUND : status;
    }
    *ret = store_get_int(rows, 0);
    return AS_OK;
}

void rows_done(struct store_rows **rows)
{
    store_rows_free(*rows);
    *rows = NULL;
}

as_status rows_end(const struct store_rows *rows, struct plane_call *call)
{
    as_status status = store_rows_status(rows);
    return status == AS_OK ? AS_OK : call_store_failed(call, status);
}

const char *rows_copy(struct plane_call *call, const struct store_rows *rows, uint32_t column)
{
    size_t len = 0;
    const char *text = store_get_text(rows, column, &len);
    return text ? arena_strndup(&call->arena, text, len) : NULL;
}
