/* SPDX-License-Identifier: Apache-2.0 */
#include "plane/first.h"

#include "base/clock.h"
#include "base/file.h"
#include "plane/audit.h"
#include "plane/auth.h"
#include "plane/resources.h"
#include "plane/seed.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define ADMIN "admin"

struct plane_call *first_call_new(struct plane *plane, int64_t tenant_id)
{
    struct plane_call *call = calloc(1, sizeof *call);
    if (!call)
        return NULL;
    call->plane = plane;
    call->shared_tenant_id = plane->shared_tenant_id;
    call->who.tenant_id = tenant_id;
    call->now_ns = wall_now().ns;
    call->address = "";
    call->input = NULL;
    arena_init(&call->arena, 0, 0);
    strbuf_init(&call->out, 0);
    json_writer_init(&call->json, &call->out, 0);
    return call;
}

/* *ret stays when there is none. */
static as_status tenant_id(struct plane_call *call, const char *code, int64_t *ret)
{
    struct sql sql AS_AUTO_SQL = {.count = 0};
    sql_begin(&sql, call);
    sql.is_scoped = true; /* the tenants themselves */
    sql_add(&sql, "SELECT t.id FROM tenants t WHERE t.tenant_code = ");
    sql_value(&sql, store_text(code));
    as_status status = sql_one_int(&sql, call, ret);
    return status == AS_E_NOTFOUND ? AS_OK : status;
}

static as_status add_tenant(struct plane_call *call, int64_t *ret)
{
    struct sql sql AS_AUTO_SQL = {.count = 0};
    sql_begin(&sql, call);
    sql.is_scoped = true;
    sql_add(&sql, "INSERT INTO tenants (tenant_code, name, created_ns, updated_ns) VALUES (");
    sql_value(&sql, store_text(AUTH_FIRST_TENANT));
    sql_add(&sql, ", 'First tenant', ");
    sql_value(&sql, store_int(call->now_ns));
    sql_add(&sql, ", ");
    sql_value(&sql, store_int(call->now_ns));
    sql_add(&sql, ") RETURNING id");
    return sql_one_int(&sql, call, ret);
}

static as_status admin_id(struct plane_call *call, int64_t *ret)
{
    struct sql sql AS_AUTO_SQL = {.count = 0}, insert AS_AUTO_SQL = {.count = 0};
    sql_begin(&sql, call);
    sql_begin(&insert, call);
    sql_add(&sql, "SELECT u.id FROM users u WHERE ");
    sql_own(&sql, "u");
    sql_add(&sql, " AND u.role = 'admin' AND u.retired_ns IS NULL AND u.is_disabled = ");
    sql_value(&sql, store_bool(false));
    sql_add(&sql, " ORDER BY u.id LIMIT 1");
    as_status status = sql_one_int(&sql, call, ret);
    if (status != AS_E_NOTFOUND)
        return status;
    sql_add(&insert, "INSERT INTO users (tenant_id, user_name, role, created_ns, updated_ns) VALUES (");
    sql_tenant(&insert);
    sql_add(&insert, ", '" ADMIN "', 'admin', ");
    sql_value(&insert, store_int(call->now_ns));
    sql_add(&insert, ", ");
    sql_value(&insert, store_int(call->now_ns));
    sql_add(&insert, ") RETURNING id");
    return sql_one_int(&insert, call, ret);
}

static as_status give_token(struct plane_call *call, int64_t tenant)
{
    int64_t user = 0;
    call->who.tenant_id = tenant;
    as_status status = admin_id(call, &user);
    if (status == AS_OK)
        status = account_add_token(call, tenant, user);
    return status == AS_OK ? audit_add(call, "create", "token", "administrator's") : status;
}

/* The tenant, when it was not there, with its administrator. */
static as_status found_tenant(struct plane_call *call)
{
    int64_t tenant = 0;
    as_status status = tenant_id(call, AUTH_FIRST_TENANT, &tenant);
    if (status != AS_OK || tenant)
        return status;
    status = add_tenant(call, &tenant);
    return status == AS_OK ? give_token(call, tenant) : status;
}

/* Runs `act` in a transaction that may write. */
static as_status write_once(struct plane_call *call, as_status (*act)(struct plane_call *call), struct as_error *err)
{
    as_status status = store_write(call->plane->store, &call->tx, err);
    if (status != AS_OK)
        return status;
    status = act(call);
    if (status == AS_OK) {
        status = store_commit(call->tx, err);
    } else {
        const struct as_error *why = store_error(call->tx);
        (void)error_set(err, status, "%s: %s", call->problem.is_set ? call->problem.detail : status_sentence(status),
                        why ? why->message : "");
        store_rollback(call->tx);
    }
    call->tx = NULL;
    return status;
}

static as_status put_token(const struct plane_settings *settings, const char *token, struct strbuf *notice,
                           struct as_error *err)
{
    char line[AUTH_TOKEN_BYTES + 1];
    if (!settings->token_file) {
        strbuf_addf(notice, "first start: the administrator's token, shown only now: %s\n", token);
        return strbuf_status(notice);
    }
    int fd = open(settings->token_file, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0600);
    if (fd < 0)
        return error_set_errno(err, errno, "%s", settings->token_file);
    int len = snprintf(line, sizeof line, "%s\n", token);
    as_status status = file_write_all(fd, line, (size_t)len);
    if (close(fd) != 0 || status != AS_OK)
        return error_set(err, AS_E_IO, "%s: the token could not be written", settings->token_file);
    return AS_OK;
}

static as_status note_shared(struct plane *plane, struct as_error *err)
{
    struct plane_call *call = first_call_new(plane, 0);
    if (!call)
        return error_set(err, AS_E_NOMEM, "out of memory");
    as_status status = store_read(plane->store, &call->tx, err);
    if (status == AS_OK) {
        status = tenant_id(call, "shared", &plane->shared_tenant_id);
        if (status != AS_OK)
            (void)error_set(err, status, "the store cannot be read: %s", store_error(call->tx)->message);
        store_rollback(call->tx);
    }
    plane_call_free(call);
    return status;
}

as_status first_start(struct plane *plane, struct strbuf *notice, struct as_error *err)
{
    struct plane_call *call;
    as_status status = note_shared(plane, err);
    if (status != AS_OK)
        return status;
    call = first_call_new(plane, plane->shared_tenant_id);
    if (!call)
        return error_set(err, AS_E_NOMEM, "out of memory");
    status = write_once(call, found_tenant, err);
    if (status == AS_OK && call->secret)
        status = put_token(plane->settings, call->secret, notice, err);
    plane_call_free(call);
    return status == AS_OK ? seed_catalogue(plane, err) : status;
}

static as_status renew(struct plane_call *call)
{
    int64_t tenant = 0;
    as_status status = tenant_id(call, AUTH_FIRST_TENANT, &tenant);
    if (status == AS_OK && !tenant)
        status = add_tenant(call, &tenant);
    return status == AS_OK ? give_token(call, tenant) : status;
}

as_status first_token(struct plane *plane, struct strbuf *ret, struct as_error *err)
{
    struct plane_call *call;
    as_status status = note_shared(plane, err);
    if (status != AS_OK)
        return status;
    call = first_call_new(plane, plane->shared_tenant_id);
    if (!call)
        return error_set(err, AS_E_NOMEM, "out of memory");
    status = write_once(call, renew, err);
    if (status == AS_OK)
        strbuf_addf(ret, "%s\n", call->secret);
    plane_call_free(call);
    return status == AS_OK ? strbuf_status(ret) : status;
}
