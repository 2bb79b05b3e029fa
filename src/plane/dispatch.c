/* SPDX-License-Identifier: Apache-2.0 */
/* A call in a worker thread: who asks, may they, what is in the body, the handler in its transaction, the commit. */
#include "plane/auth.h"
#include "plane/idempotency.h"
#include "plane/state.h"

#include "base/log.h"

#include <string.h>

static as_status read_body(struct plane_call *call)
{
    static const struct json_limits limits = {.max_depth = 32, .max_string_bytes = 1 << 20};
    struct as_error err = {0};
    if (!call->route->input)
        return AS_OK;
    if (call->body_len == 0)
        return call_refuse(call, PROBLEM_MALFORMED, "a JSON body is needed");
    if (!call->is_json)
        return call_refuse(call, PROBLEM_MEDIA, "the body must be sent as application/json");
    as_status status = json_parse(call->body, call->body_len, &limits, &call->arena, &call->input, &err);
    if (status == AS_E_NOMEM)
        return call_store_failed(call, status);
    if (status != AS_OK)
        return call_refuse(call, PROBLEM_MALFORMED, "the body is no JSON: %s", err.message);
    /* A resource's handler checks what it takes itself, when the row is known. */
    return call->route->input == (call->route->resource ? &call->route->resource->shape : NULL)
               ? AS_OK
               : shape_check(call->route->input, call->input, call->route->input_mode, "", &call->problem);
}

/* Passwords are hashed before the writer is taken. */
static as_status hash_password(struct plane_call *call)
{
    const struct json_value *value = call->route->hashes ? json_get(call->input, "password") : NULL;
    const char *password;
    if (!value || !call->route->resource || !json_string(value, &password))
        return AS_OK;
    const char *reason = secret_password_refusal(password, value->len, NULL);
    if (reason)
        return problem_add(&call->problem, "/password", "password", "%s", reason);
    char *hash = arena_alloc(&call->arena, SECRET_PASSWORD_BYTES);
    as_status status = hash ? secret_password_hash(password, hash) : AS_E_NOMEM;
    if (status != AS_OK)
        return call_store_failed(call, status);
    call->password_hash = hash;
    return AS_OK;
}

static as_status check_call(struct plane_call *call)
{
    as_status status = AS_OK;
    if (call->route->right != RIGHT_NONE || call->route->kind == ROUTE_OWN)
        status = auth_identify(call);
    if (status == AS_OK)
        status = auth_require(call, call->route->right);
    if (status == AS_OK && call->route->method != HTTP_GET)
        status = auth_check_origin(call);
    return status == AS_OK ? read_body(call) : status;
}

static void end_read(struct plane_call *call)
{
    /* Nothing was written: how it ends is of no account. */
    if (store_commit(call->tx, NULL) != AS_OK)
        log_debug("a read transaction did not end well");
    call->tx = NULL;
}

static as_status begin(struct plane_call *call, bool writes)
{
    struct as_error err = {0};
    as_status status =
        writes ? store_write(call->plane->store, &call->tx, &err) : store_read(call->plane->store, &call->tx, &err);
    if (status != AS_OK) {
        call->tx = NULL;
        problem_from_status(&call->problem, status, &err);
    }
    return status;
}

static as_status finish_answer(struct plane_call *call)
{
    as_status status = AS_OK;
    if (!call->content_type && call->status != 204)
        status = json_writer_status(&call->json);
    if (status == AS_OK)
        status = strbuf_status(&call->out);
    if (status == AS_OK || call->problem.is_set)
        return status;
    if (status == AS_E_LIMIT)
        call_refuse(call, PROBLEM_TOO_LARGE, "the answer is larger than allowed; ask for less");
    return call_store_failed(call, status);
}

static as_status run_write(struct plane_call *call)
{
    struct as_error err = {0};
    bool is_repeat = false;
    as_status status = hash_password(call);
    if (status == AS_OK)
        status = begin(call, true);
    if (status != AS_OK)
        return status;
    status = idempotency_find(call, &is_repeat);
    if (status == AS_OK && !is_repeat) {
        status = call->route->handle(call);
        if (status == AS_OK)
            status = finish_answer(call);
        if (status == AS_OK)
            status = idempotency_keep(call);
        if (status == AS_OK && call->ended_user_id)
            status = auth_end_sessions(call, call->ended_user_id, call->ended_user_id == call->who.user_id);
        if (status == AS_OK)
            status = events_store(call);
    }
    if (status == AS_OK) {
        status = store_commit(call->tx, &err);
        if (status != AS_OK)
            problem_from_status(&call->problem, status, &err);
    } else {
        store_rollback(call->tx);
    }
    call->tx = NULL;
    events_done(call, status == AS_OK);
    if (status == AS_OK && call->ended_user_id)
        events_end_user(call->plane->events, call->ended_user_id);
    return status;
}

static as_status run(struct plane_call *call)
{
    const struct route *route = call->route;
    as_status status = begin(call, false);
    if (status != AS_OK)
        return status;
    status = check_call(call);
    if (status == AS_OK && route->prepare)
        status = route->prepare(call);
    if (status == AS_OK && call->is_waiting) {
        end_read(call);
        return AS_OK;
    }
    if (status == AS_OK && route->kind == ROUTE_READ)
        status = route->handle(call);
    if (status == AS_OK && route->kind == ROUTE_EVENTS)
        status = events_backlog(call);
    end_read(call);
    if (status == AS_OK && route->kind == ROUTE_WRITE)
        return run_write(call);
    if (status == AS_OK && route->kind == ROUTE_OWN)
        status = route->handle(call);
    return status == AS_OK && route->kind != ROUTE_EVENTS ? finish_answer(call) : status;
}

void dispatch(struct plane_call *call)
{
    call->now_ns = wall_now().ns;
    call->status = call->route->status ? call->route->status : 200;
    as_status status = run(call);
    auth_touch(call);
    if (status == AS_OK)
        return;
    if (!call->problem.is_set)
        problem_from_status(&call->problem, status, NULL);
    if (call->problem.kind == PROBLEM_INTERNAL)
        log_debug("%s: %s", call->route->id, status_name(status));
    plane_put_problem(call);
}

void dispatch_piece(struct plane_call *call)
{
    strbuf_reset(&call->out);
    as_status status = begin(call, false);
    if (status == AS_OK) {
        status = call->pieces.next(call);
        end_read(call);
    }
    if (status == AS_OK)
        status = strbuf_status(&call->out);
    if (status == AS_OK)
        return;
    if (!call->problem.is_set)
        problem_from_status(&call->problem, status, NULL);
    log_debug("%s: a piece: %s", call->route->id, status_name(status));
}
