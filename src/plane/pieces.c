/* SPDX-License-Identifier: Apache-2.0 */
#include "plane/pieces.h"

#include "base/clock.h"
#include "plane/state.h"

#include <stddef.h>

#define RETRY_NS (20 * NS_PER_MS)

static struct plane_call *call_of(const struct http_exchange *x)
{
    return (struct plane_call *)((char *)x->user - offsetof(struct plane_call, pieces));
}

static void go_on(struct plane_call *call);

static void on_made(struct http_message *message, struct http_loop *loop)
{
    struct plane_call *call = (struct plane_call *)((char *)message - offsetof(struct plane_call, message));
    struct http_exchange *x = call->exchange;
    (void)loop;
    if (!x->is_aborted) {
        if (call->problem.is_set)
            http_drop(x, true);
        else
            go_on(call);
    }
    http_release(x);
}

static void make(struct work_item *item)
{
    struct plane_call *call = (struct plane_call *)((char *)item - offsetof(struct plane_call, work));
    dispatch_piece(call);
    http_loop_post(call->exchange->loop, &call->message);
}

/* When all workers are busy others go first. */
static void ask_for_next(struct plane_call *call)
{
    http_hold(call->exchange);
    call->work.run = make;
    call->message.on_message = on_made;
    if (work_submit(call->plane->workers, &call->work))
        return;
    http_release(call->exchange);
    if (http_timer_set(call->exchange->loop, &call->pieces.retry, mono_add_ns(mono_now(), RETRY_NS)) != AS_OK)
        http_drop(call->exchange, true);
}

static void on_retry(struct http_timer *timer, struct mono now)
{
    struct plane_call *call = (struct plane_call *)((char *)timer - offsetof(struct plane_call, pieces.retry));
    (void)now;
    if (!call->exchange->is_aborted)
        ask_for_next(call);
}

/* Sends what is made; when too much waits already, on_writable comes back here. */
static void go_on(struct plane_call *call)
{
    struct http_exchange *x = call->exchange;
    as_status status = AS_OK;
    if (call->out.len)
        status = http_answer_piece(x, call->out.data, call->out.len);
    if (status == AS_OK) {
        strbuf_reset(&call->out);
        call->pieces.is_ending = !call->pieces.next;
    }
    if (status == AS_OK && call->pieces.is_ending)
        status = http_answer_end(x);
    else if (status == AS_OK)
        ask_for_next(call);
    if (status != AS_OK && status != AS_E_LIMIT && !x->is_aborted)
        http_drop(x, true);
}

static void on_writable(struct http_exchange *x)
{
    if (!x->is_aborted)
        go_on(call_of(x));
}

static void on_abort(struct http_exchange *x)
{
    http_timer_cancel(x->loop, &call_of(x)->pieces.retry);
}

static void on_closed(struct http_exchange *x)
{
    struct plane_call *call = call_of(x);
    http_timer_cancel(x->loop, &call->pieces.retry);
    x->user = NULL;
    plane_call_free(call);
}

static const struct exchange_user pieces_user = {on_writable, on_abort, on_closed};

void pieces_begin(struct plane_call *take_call)
{
    struct http_field fields[CALL_FIELDS_MAX + PLANE_HEADERS];
    struct http_exchange *x = take_call->exchange;
    const struct http_answer head = {.status = take_call->status,
                                     .content_type = take_call->content_type,
                                     .fields = fields,
                                     .field_count = plane_fields(take_call, fields)};
    take_call->pieces.user = &pieces_user;
    take_call->pieces.retry.on_fire = on_retry;
    x->user = &take_call->pieces;
    if (http_answer_begin(x, &head) == AS_OK)
        go_on(take_call);
    else if (!x->is_aborted)
        http_drop(x, true);
}
