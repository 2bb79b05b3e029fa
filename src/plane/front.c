/* SPDX-License-Identifier: Apache-2.0 */
/* The loops' side: requests become calls for the workers, calls become answers. */
#include "plane/front.h"

#include "base/log.h"
#include "plane/pieces.h"
#include "plane/state.h"
#include "plane/upload.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define CALL_CHUNK_BYTES ((size_t)16 * 1024)
#define CALL_BYTES_MAX   ((size_t)64 * 1024 * 1024)
#define AGAIN_NS         NS_PER_S
#define BODY_BYTES       ((size_t)1024 * 1024)
#define TYPE_PROBLEM     "application/problem+json"

static void add(struct http_field *fields, uint32_t *count, const char *name, const char *value)
{
    fields[(*count)++] = (struct http_field){.name = {name, strlen(name)}, .value = {value, strlen(value)}};
}

uint32_t plane_fields(const struct plane_call *call, struct http_field ret[CALL_FIELDS_MAX + PLANE_HEADERS])
{
    uint32_t count = 0;
    bool has_policy = false, has_cache = false;
    for (uint32_t i = 0; i < call->field_count; i++) {
        ret[count++] = call->fields[i];
        has_policy = has_policy || strcmp(call->fields[i].name.at, "Content-Security-Policy") == 0;
        has_cache = has_cache || strcmp(call->fields[i].name.at, "Cache-Control") == 0;
    }
    add(ret, &count, "X-Content-Type-Options", "nosniff");
    add(ret, &count, "X-Frame-Options", "DENY");
    add(ret, &count, "Referrer-Policy", "no-referrer");
    add(ret, &count, "Cross-Origin-Resource-Policy", "same-origin");
    add(ret, &count, "Cross-Origin-Opener-Policy", "same-origin");
    if (!has_policy)
        add(ret, &count, "Content-Security-Policy", "default-src 'none'; frame-ancestors 'none'; base-uri 'none'");
    if (!has_cache)
        add(ret, &count, "Cache-Control", "no-store");
    if (call->is_secure)
        add(ret, &count, "Strict-Transport-Security", "max-age=31536000");
    return count;
}

void plane_call_free(struct plane_call *call)
{
    if (!call)
        return;
    if (call->pieces.done)
        call->pieces.done(call);
    upload_free(call->upload);
    strbuf_done(&call->out);
    arena_done(&call->arena);
    free(call);
}

void plane_put_problem(struct plane_call *call)
{
    strbuf_reset(&call->out);
    json_writer_init(&call->json, &call->out, 0);
    problem_write(&call->problem, &call->json);
    call->status = problem_status(call->problem.kind);
    call->content_type = TYPE_PROBLEM;
    call->field_count = 0;
    if (call->problem.retry_after_s)
        call_add_field(call, "Retry-After", call_printf(call, "%d", call->problem.retry_after_s));
    if (call->problem.kind == PROBLEM_UNAUTHENTICATED)
        call_add_field(call, "WWW-Authenticate", "Bearer realm=\"assay\"");
    if (call->problem.kind == PROBLEM_METHOD)
        call_add_field(call, "Allow", call->allowed);
}

/* Sends the answer and frees the call; in the loop's thread. */
static void answer(struct plane_call *call)
{
    struct http_field fields[CALL_FIELDS_MAX + PLANE_HEADERS];
    struct http_exchange *x = call->exchange;
    const struct http_answer head = {.status = call->status,
                                     .content_type = call->status == 204  ? NULL
                                                     : call->content_type ? call->content_type
                                                                          : "application/json",
                                     .fields = fields,
                                     .field_count = plane_fields(call, fields)};
    if (!x->is_aborted && http_answer(x, &head, strbuf_text(&call->out), call->out.len) != AS_OK && !x->is_aborted)
        http_drop(x, true);
    plane_call_free(call);
}

static void refuse(struct plane_call *call, enum problem_kind kind, const char *sentence)
{
    (void)problem_set(&call->problem, kind, "%s", sentence);
    plane_put_problem(call);
    answer(call);
}

static void on_again(struct http_timer *timer, struct mono now);

/* A call that found nothing yet: no worker and no transaction wait with it. False: it is answered as it is. */
static bool wait_again(struct plane_call *call)
{
    const struct http_exchange *x = call->exchange;
    if (!call->is_waiting || call->problem.is_set || x->is_aborted || atomic_load(&call->plane->is_ending))
        return false;
    call->again.on_fire = on_again;
    return http_timer_set(x->loop, &call->again, mono_add_ns(mono_now(), AGAIN_NS)) == AS_OK;
}

/* The worker is done: back in the loop. */
static void on_message(struct http_message *message, struct http_loop *loop)
{
    struct plane_call *call = (struct plane_call *)((char *)message - offsetof(struct plane_call, message));
    struct http_exchange *x = call->exchange;
    (void)loop;
    if (wait_again(call))
        return;
    if (call->is_waiting && !call->problem.is_set)
        call->status = 204;
    if (call->route->kind == ROUTE_EVENTS && !call->problem.is_set && !x->is_aborted)
        events_begin(call);
    else if (call->pieces.next && !call->problem.is_set && !x->is_aborted)
        pieces_begin(call);
    else
        answer(call);
    http_release(x);
}

static void on_work(struct work_item *item)
{
    struct plane_call *call = (struct plane_call *)((char *)item - offsetof(struct plane_call, work));
    dispatch(call);
    http_loop_post(call->exchange->loop, &call->message);
}

static const char *copy(struct plane_call *call, struct http_text text)
{
    const char *ret = text.len ? arena_strndup(&call->arena, text.at, text.len) : "";
    if (!ret)
        problem_from_status(&call->problem, AS_E_NOMEM, NULL);
    return ret ? ret : "";
}

static const char *copy_field(struct plane_call *call, const char *name)
{
    return copy(call, http_request_field(call->exchange->request, name));
}

/* The peer without its port; behind a proxy the last address that the proxy has added. */
static void take_address(struct plane_call *call)
{
    char peer[HTTP_PEER_BYTES];
    struct http_text forwarded = http_request_field(call->exchange->request, "x-forwarded-for"), item;
    struct http_text last = {"", 0};
    http_peer(call->exchange, peer);
    char *colon = strrchr(peer, ':');
    if (colon)
        *colon = '\0';
    if (call->plane->settings->behind_proxy)
        while (http_list_next(&forwarded, &item))
            last = item;
    call->address = last.len > 0 && last.len < HTTP_PEER_BYTES ? copy(call, last)
                                                               : copy(call, (struct http_text){peer, strlen(peer)});
    call->is_secure = call->exchange->is_tls;
    if (call->plane->settings->behind_proxy)
        call->is_secure = http_text_equals(http_request_field(call->exchange->request, "x-forwarded-proto"), "https");
}

static void take_request(struct plane_call *call)
{
    const struct http_request *request = call->exchange->request;
    call->path = copy(call, request->path);
    call->query = copy(call, request->query);
    call->host = copy(call, request->host);
    call->authorization = copy_field(call, "authorization");
    call->cookie = copy_field(call, "cookie");
    call->origin = copy_field(call, "origin");
    call->fetch_site = copy_field(call, "sec-fetch-site");
    call->if_match = copy_field(call, "if-match");
    call->idempotency_key = copy_field(call, "idempotency-key");
    call->last_event_id = copy_field(call, "last-event-id");
    call->is_json =
        http_text_equals(http_without_parameters(http_request_field(request, "content-type")), "application/json");
    call->content_kind = copy_field(call, "content-type");
    call->accept = copy_field(call, "accept");
    call->body_len = call->exchange->stream_body ? 0 : call->exchange->body_len;
    call->body = copy(call, (struct http_text){call->exchange->body, call->body_len});
    take_address(call);
}

static as_status take_params(struct plane_call *call, const struct route_found *found)
{
    for (uint32_t i = 0; i < found->param_count; i++) {
        const struct http_text text = found->params[i];
        char *decoded = arena_alloc(&call->arena, text.len + 1);
        if (!decoded)
            return AS_E_NOMEM;
        as_status status = http_percent_decode(text, false, decoded, text.len + 1);
        if (status != AS_OK)
            return status;
        call->params[i] = decoded;
    }
    return AS_OK;
}

static void submit(struct plane_call *call)
{
    struct plane *plane = call->plane;
    struct http_exchange *x = call->exchange;
    const bool hashes = call->route->hashes;
    call->work.run = on_work;
    call->message.on_message = on_message;
    http_hold(x);
    if (work_submit(hashes ? plane->hashers : plane->workers, &call->work))
        return;
    call->problem.retry_after_s = 1;
    refuse(call, hashes ? PROBLEM_TOO_MANY : PROBLEM_BUSY, "too much is waiting already");
    http_release(x);
}

static struct plane_call *call_new(struct plane *plane, struct http_exchange *x)
{
    struct plane_call *call = calloc(1, sizeof *call);
    if (!call)
        return NULL;
    call->plane = plane;
    call->exchange = x;
    call->begun = mono_now();
    call->shared_tenant_id = plane->shared_tenant_id;
    arena_init(&call->arena, CALL_CHUNK_BYTES, CALL_BYTES_MAX);
    strbuf_init(&call->out, PLANE_ANSWER_MAX);
    json_writer_init(&call->json, &call->out, 0);
    return call;
}

/* The exchange was held all the time. */
static void on_again(struct http_timer *timer, struct mono now)
{
    struct plane_call *call = (struct plane_call *)((char *)timer - offsetof(struct plane_call, again));
    struct http_exchange *x = call->exchange;
    (void)now;
    if (x->is_aborted || atomic_load(&call->plane->is_ending)) {
        call->status = 204;
        answer(call);
    } else {
        call->is_waiting = false;
        submit(call);
    }
    http_release(x);
}

static void on_request(void *context, struct http_exchange *x)
{
    struct route_found found;
    struct upload *upload = upload_take(x);
    struct plane_call *call = call_new(context, x);
    if (!call) {
        upload_free(upload);
        http_drop(x, true);
        return;
    }
    call->upload = upload;
    take_request(call);
    enum route_match match = route_find(x->request->method, x->request->path, &found);
    if (call->problem.is_set) {
        refuse(call, PROBLEM_BUSY, "");
        return;
    }
    if (match == ROUTE_OTHER_METHOD) {
        call->allowed = copy(call, (struct http_text){found.allowed, strlen(found.allowed)});
        refuse(call, PROBLEM_METHOD, "this address has other methods");
        return;
    }
    if (match == ROUTE_NONE) {
        refuse(call, PROBLEM_NOTFOUND, "there is no such thing, or it is not yours");
        return;
    }
    call->route = found.route;
    if (take_params(call, &found) != AS_OK) {
        refuse(call, PROBLEM_MALFORMED, "the address holds a malformed escape");
        return;
    }
    if (found.route->kind != ROUTE_FIXED) {
        submit(call);
        return;
    }
    call->status = 200;
    if (found.route->handle(call) != AS_OK)
        plane_put_problem(call);
    answer(call);
}

/* Before its body was read. */
static void refuse_upload(struct plane *plane, struct http_exchange *x, as_status status)
{
    struct plane_call *call = call_new(plane, x);
    if (!call) {
        http_drop(x, true);
        return;
    }
    take_request(call);
    call->problem.retry_after_s = 1;
    refuse(call, PROBLEM_BUSY,
           status == AS_E_LIMIT ? "too many files are being sent already" : "there is no room to take the file");
}

static void on_head(void *context, struct http_exchange *x)
{
    struct route_found found;
    const bool has_credential =
        http_request_field(x->request, "authorization").len > 0 || http_request_field(x->request, "cookie").len > 0;
    x->max_body_bytes = BODY_BYTES;
    if (!has_credential || route_find(x->request->method, x->request->path, &found) != ROUTE_FOUND)
        return;
    if (found.route->body_bytes_max)
        x->max_body_bytes = found.route->body_bytes_max;
    as_status status = found.route->input_media ? upload_begin(context, x) : AS_OK;
    if (status != AS_OK)
        refuse_upload(context, x, status);
}

static void on_body(void *context, struct http_exchange *x, const char *data, size_t len)
{
    (void)context;
    upload_add(x, data, len);
}

static void on_writable(void *context, struct http_exchange *x)
{
    const struct exchange_user *const *user = x->user;
    (void)context;
    if (user)
        (*user)->writable(x);
}

static void on_abort(void *context, struct http_exchange *x)
{
    const struct exchange_user *const *user = x->user;
    (void)context;
    if (user)
        (*user)->abort(x);
}

static void on_done(void *context, struct http_exchange *x)
{
    const struct exchange_user *const *user = x->user;
    (void)context;
    if (user)
        (*user)->closed(x);
}

static void on_loop(void *context, struct http_loop *loop, bool begins)
{
    const struct plane *plane = context;
    event_hub_loop(plane->events, loop, begins);
}

const struct http_handler plane_handler = {
    .on_loop = on_loop,
    .on_head = on_head,
    .on_body = on_body,
    .on_request = on_request,
    .on_writable = on_writable,
    .on_abort = on_abort,
    .on_done = on_done,
};
