/* SPDX-License-Identifier: Apache-2.0 */
#include "plane/idempotency.h"

#include "plane/route.h"

#include <string.h>

#define KEY_BYTES_MAX 128

static as_status request_digest(struct plane_call *call, const char **ret)
{
    struct strbuf text AS_AUTO_STRBUF = {.len = 0};
    char *digest = arena_alloc(&call->arena, SECRET_HASH_BYTES);
    strbuf_init(&text, 0);
    strbuf_addf(&text, "%s %s?%s\n", route_method_name(call->route->method), call->path, call->query);
    strbuf_add(&text, call->body, call->body_len);
    strbuf_adds(&text, call->upload_digest ? call->upload_digest : "");
    as_status status = strbuf_status(&text);
    if (status == AS_OK && !digest)
        status = AS_E_NOMEM;
    if (status == AS_OK)
        status = secret_hash(text.data, text.len, digest);
    if (status != AS_OK)
        return call_store_failed(call, status);
    *ret = digest;
    return AS_OK;
}

static as_status check_key(struct plane_call *call)
{
    const char *key = call->idempotency_key;
    size_t len = strlen(key);
    for (size_t i = 0; i < len; i++)
        if (key[i] < 0x21 || key[i] > 0x7e)
            len = KEY_BYTES_MAX + 1;
    return len <= KEY_BYTES_MAX ? AS_OK
                                : call_refuse(call, PROBLEM_MALFORMED,
                                              "Idempotency-Key must be 1 to 128 printable characters without spaces");
}

static as_status repeat(struct plane_call *call, const struct store_rows *rows)
{
    size_t len = 0;
    const void *answer = store_get_blob(rows, 1, &len);
    call->status = (int)store_get_int(rows, 2);
    if (!answer && call->status != 204)
        return call_refuse(call, PROBLEM_STATE, "this was done already, and what it gave is shown only once");
    strbuf_add(&call->out, answer, len);
    call->content_type = "application/json";
    call_add_field(call, "Idempotent-Replay", "true");
    return AS_OK;
}

as_status idempotency_find(struct plane_call *call, bool *ret_is_repeat)
{
    struct store_rows *rows AS_AUTO_ROWS = NULL;
    struct sql sql AS_AUTO_SQL = {.count = 0};
    const char *digest = "";
    *ret_is_repeat = false;
    if (!call->idempotency_key[0] || !call->who.is_known)
        return AS_OK;
    as_status status = check_key(call);
    if (status == AS_OK)
        status = request_digest(call, &digest);
    if (status != AS_OK)
        return status;
    sql_begin(&sql, call);
    sql_add(&sql, "SELECT i.request_digest, i.answer, i.http_status FROM idempotency_keys i WHERE ");
    sql_own(&sql, "i");
    sql_add(&sql, " AND i.actor = ");
    sql_value(&sql, store_text(call->who.user_name));
    sql_add(&sql, " AND i.idempotency_key = ");
    sql_value(&sql, store_text(call->idempotency_key));
    status = sql_query(&sql, call, &rows);
    if (status != AS_OK || !store_next(rows))
        return status != AS_OK ? status : rows_end(rows, call);
    if (strcmp(store_get_text(rows, 0, NULL), digest) != 0)
        return call_refuse(call, PROBLEM_KEY_REUSED, "this Idempotency-Key was sent with another request");
    *ret_is_repeat = true;
    return repeat(call, rows);
}

static as_status forget_old(struct plane_call *call)
{
    struct sql sql AS_AUTO_SQL = {.count = 0};
    sql_begin(&sql, call);
    sql_add(&sql, "DELETE FROM idempotency_keys WHERE created_ns < ");
    sql_value(&sql, store_int(call->now_ns - IDEMPOTENCY_LIFE_NS));
    sql.is_scoped = true; /* of all tenants */
    return sql_exec(&sql, call, NULL);
}

as_status idempotency_keep(struct plane_call *call)
{
    struct sql sql AS_AUTO_SQL = {.count = 0};
    const char *digest = "";
    if (!call->idempotency_key[0] || !call->who.is_known)
        return AS_OK;
    as_status status = request_digest(call, &digest);
    if (status == AS_OK)
        status = forget_old(call);
    if (status != AS_OK)
        return status;
    const struct store_value values[] = {
        store_text(call->who.user_name),
        store_text(call->idempotency_key),
        store_text(digest),
        store_int(call->status),
        call->shows_secret || call->status == 204 ? store_null() : store_blob(call->out.data, call->out.len),
        store_int(call->now_ns),
    };
    sql_begin(&sql, call);
    sql_add(&sql,
            "INSERT INTO idempotency_keys (tenant_id, actor, idempotency_key, request_digest, http_status, answer, "
            "created_ns) VALUES (");
    sql_tenant(&sql);
    for (size_t i = 0; i < sizeof values / sizeof values[0]; i++) {
        sql_add(&sql, ", ");
        sql_value(&sql, values[i]);
    }
    sql_add(&sql, ")");
    status = sql_exec(&sql, call, NULL);
    if (status == AS_E_EXISTS) {
        /* The first one is being done at this moment. */
        call->problem = (struct problem){.retry_after_s = 1};
        return call_refuse(call, PROBLEM_BUSY, "the first request with this Idempotency-Key is still being done");
    }
    return status;
}
