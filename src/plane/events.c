/* SPDX-License-Identifier: Apache-2.0 */
#include "plane/events.h"

#include "base/clock.h"
#include "plane/state.h"

#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define RING        512
#define BACKLOG_MAX 1000
#define LOOPS_MAX   64
#define ENDED_MAX   64

/* One event as it is written to streams. */
struct event {
    int64_t tenant_id, sequence;
    char *text; /* id, event and data lines with the blank line */
    size_t len;
};

struct listener {
    const struct exchange_user *user; /* the first member: see there */
    struct plane_call *call;
    struct http_exchange *x;
    struct event_hub *hub;
    struct http_timer comment;
    struct mono started;
    int64_t sequence; /* of the last event sent */
    struct listener *next, *before;
    bool is_linked;
};

/* The listeners of one loop; only its thread touches the list. */
struct loop_place {
    struct event_hub *hub;
    struct http_loop *loop;
    struct http_message wake;
    struct listener *first;
    bool is_posted; /* under the hub's lock */
};

struct event_hub {
    struct plane *plane;
    pthread_mutex_t order; /* held from the rows' writing to the commit */
    pthread_mutex_t lock;  /* ring, places, ended users */
    struct event ring[RING];
    uint64_t written; /* events ever put into the ring */
    struct loop_place places[LOOPS_MAX];
    uint32_t place_count;
    struct ended_user {
        int64_t id;
        struct mono at;
    } ended_users[ENDED_MAX]; /* the latest; streams that began before end */
    uint64_t ended;
    atomic_uint listeners;
};

as_status event_hub_new(struct plane *plane, struct event_hub **ret)
{
    struct event_hub *hub = calloc(1, sizeof *hub);
    if (!hub)
        return AS_E_NOMEM;
    hub->plane = plane;
    (void)pthread_mutex_init(&hub->order, NULL);
    (void)pthread_mutex_init(&hub->lock, NULL);
    *ret = hub;
    return AS_OK;
}

void event_hub_free(struct event_hub *hub)
{
    if (!hub)
        return;
    for (size_t i = 0; i < RING; i++)
        free(hub->ring[i].text);
    (void)pthread_mutex_destroy(&hub->order);
    (void)pthread_mutex_destroy(&hub->lock);
    free(hub);
}

static void add_event_text(struct strbuf *out, int64_t sequence, const char *name, const char *data)
{
    strbuf_addf(out, "id: %lld\nevent: %s\ndata: %s\n\n", (long long)sequence, name, data);
}

/* ---- writing ---- */

static as_status next_sequence(struct plane_call *call, int64_t *ret)
{
    struct sql sql AS_AUTO_SQL = {.count = 0};
    sql_begin(&sql, call);
    sql_add(&sql, "SELECT COALESCE(MAX(e.sequence), 0) + 1 FROM events e WHERE ");
    sql_own(&sql, "e");
    return sql_one_int(&sql, call, ret);
}

static as_status store_event(struct plane_call *call, struct call_event *event)
{
    struct sql sql AS_AUTO_SQL = {.count = 0};
    const struct store_value values[] = {store_int(event->sequence), store_text(event->topic), store_text(event->code),
                                         store_text(event->name),    store_text(event->data),  store_int(call->now_ns)};
    sql_begin(&sql, call);
    sql_add(&sql, "INSERT INTO events (tenant_id, sequence, topic, object_code, kind, payload, created_ns) VALUES (");
    sql_tenant(&sql);
    for (size_t i = 0; i < sizeof values / sizeof values[0]; i++) {
        sql_add(&sql, ", ");
        sql_value(&sql, values[i]);
    }
    sql_add(&sql, ")");
    return sql_exec(&sql, call, NULL);
}

as_status events_store(struct plane_call *call)
{
    int64_t sequence = 0;
    as_status status;
    if (call->event_count == 0)
        return AS_OK;
    pthread_mutex_lock(&call->plane->events->order);
    call->holds_events = true;
    status = next_sequence(call, &sequence);
    for (uint32_t i = 0; status == AS_OK && i < call->event_count; i++) {
        call->events[i].sequence = sequence++;
        status = store_event(call, &call->events[i]);
    }
    return status;
}

/* With the lock held. */
static void put_event(struct event_hub *hub, int64_t tenant_id, const struct call_event *event)
{
    struct event *place = &hub->ring[hub->written % RING];
    struct strbuf text;
    strbuf_init(&text, 0);
    add_event_text(&text, event->sequence, event->name, event->data);
    free(place->text);
    *place = (struct event){tenant_id, event->sequence, NULL, 0};
    if (strbuf_status(&text) == AS_OK) {
        place->text = text.data;
        place->len = text.len;
    } else {
        strbuf_done(&text);
    }
    hub->written++;
}

/* With the lock held. */
static void wake_loops(struct event_hub *hub)
{
    for (uint32_t i = 0; i < hub->place_count; i++) {
        struct loop_place *place = &hub->places[i];
        if (place->is_posted || !place->loop)
            continue;
        place->is_posted = true;
        http_loop_post(place->loop, &place->wake);
    }
}

void events_done(struct plane_call *call, bool is_committed)
{
    struct event_hub *hub = call->plane->events;
    if (!call->holds_events)
        return;
    call->holds_events = false;
    if (is_committed) {
        pthread_mutex_lock(&hub->lock);
        for (uint32_t i = 0; i < call->event_count; i++)
            put_event(hub, call->who.tenant_id, &call->events[i]);
        wake_loops(hub);
        pthread_mutex_unlock(&hub->lock);
    }
    pthread_mutex_unlock(&hub->order);
}

void events_end_user(struct event_hub *hub, int64_t user_id)
{
    pthread_mutex_lock(&hub->lock);
    hub->ended_users[hub->ended++ % ENDED_MAX] = (struct ended_user){user_id, mono_now()};
    wake_loops(hub);
    pthread_mutex_unlock(&hub->lock);
}

/* ---- listening ---- */

as_status events_backlog(struct plane_call *call)
{
    struct store_rows *rows AS_AUTO_ROWS = NULL;
    struct sql sql AS_AUTO_SQL = {.count = 0};
    int64_t from = 0;
    as_status status;
    if (!call->last_event_id[0]) {
        status = next_sequence(call, &from);
        call->last_sequence = from - 1;
        return status;
    }
    if (!json_text_int64(call->last_event_id, strlen(call->last_event_id), &from) || from < 0)
        return call_refuse(call, PROBLEM_MALFORMED, "Last-Event-ID must be the id of an event");
    sql_begin(&sql, call);
    sql_add(&sql, "SELECT e.sequence, e.kind, e.payload FROM events e WHERE ");
    sql_own(&sql, "e");
    sql_add(&sql, " AND e.sequence > ");
    sql_value(&sql, store_int(from));
    sql_add(&sql, " ORDER BY e.sequence LIMIT %d", BACKLOG_MAX);
    status = sql_query(&sql, call, &rows);
    call->last_sequence = from;
    while (status == AS_OK && store_next(rows)) {
        call->last_sequence = store_get_int(rows, 0);
        add_event_text(&call->out, call->last_sequence, store_get_text(rows, 1, NULL), store_get_text(rows, 2, NULL));
    }
    return status == AS_OK ? rows_end(rows, call) : status;
}

static bool send(struct listener *listener, const char *text, size_t len)
{
    if (http_answer_piece(listener->x, text, len) == AS_OK)
        return true;
    /* Too slow, or gone: it comes again with Last-Event-ID. */
    if (!listener->x->is_aborted)
        http_drop(listener->x, false);
    return false;
}

static bool is_ended(const struct event_hub *hub, const struct listener *listener)
{
    for (size_t i = 0; i < ENDED_MAX; i++)
        if (hub->ended_users[i].id == listener->call->who.user_id && hub->ended_users[i].at.ns >= listener->started.ns)
            return true;
    return false;
}

/* What is new for one listener is gathered under the lock, sent without it. */
static void serve(struct listener *listener)
{
    struct event_hub *hub = listener->hub;
    struct strbuf text AS_AUTO_STRBUF = {.len = 0};
    bool is_late = false, must_end;
    strbuf_init(&text, 0);
    pthread_mutex_lock(&hub->lock);
    must_end = is_ended(hub, listener);
    const uint64_t first = hub->written > RING ? hub->written - RING : 0;
    for (uint64_t i = first; i < hub->written; i++) {
        const struct event *event = &hub->ring[i % RING];
        if (event->tenant_id != listener->call->who.tenant_id || event->sequence <= listener->sequence)
            continue;
        is_late = is_late || event->sequence != listener->sequence + 1 || !event->text;
        if (is_late)
            break;
        strbuf_add(&text, event->text, event->len);
        listener->sequence = event->sequence;
    }
    pthread_mutex_unlock(&hub->lock);
    if (strbuf_status(&text) != AS_OK || is_late || must_end) {
        http_drop(listener->x, false);
        return;
    }
    if (text.len)
        (void)send(listener, text.data, text.len);
}

static void on_wake(struct http_message *message, struct http_loop *loop)
{
    struct loop_place *place = (struct loop_place *)((char *)message - offsetof(struct loop_place, wake));
    struct event_hub *hub = place->hub;
    (void)loop;
    pthread_mutex_lock(&hub->lock);
    place->is_posted = false;
    pthread_mutex_unlock(&hub->lock);
    for (struct listener *listener = place->first, *next; listener; listener = next) {
        next = listener->next;
        if (!listener->x->is_aborted)
            serve(listener);
    }
}

static void on_comment(struct http_timer *timer, struct mono now)
{
    struct listener *listener = (struct listener *)((char *)timer - offsetof(struct listener, comment));
    if (listener->x->is_aborted || !send(listener, ":\n\n", 3))
        return;
    if (http_timer_set(listener->x->loop, timer, mono_add_ns(now, EVENTS_COMMENT_NS)) != AS_OK)
        http_drop(listener->x, false);
}

static void link_listener(struct listener *listener)
{
    struct loop_place *place = &listener->hub->places[http_loop_index(listener->x->loop)];
    listener->next = place->first;
    if (place->first)
        place->first->before = listener;
    place->first = listener;
    listener->is_linked = true;
}

static void unlink_listener(struct listener *listener)
{
    struct loop_place *place = &listener->hub->places[http_loop_index(listener->x->loop)];
    if (!listener->is_linked)
        return;
    if (listener->before)
        listener->before->next = listener->next;
    else
        place->first = listener->next;
    if (listener->next)
        listener->next->before = listener->before;
    listener->is_linked = false;
}

static as_status begin_stream(struct listener *listener)
{
    struct plane_call *call = listener->call;
    struct http_field fields[CALL_FIELDS_MAX + PLANE_HEADERS];
    const struct http_answer head = {.status = 200,
                                     .content_type = "text/event-stream",
                                     .fields = fields,
                                     .field_count = plane_fields(call, fields)};
    as_status status = http_answer_begin(listener->x, &head);
    if (status == AS_OK)
        status = http_answer_piece(listener->x, "retry: 2000\n\n", 13);
    if (status == AS_OK && call->out.len)
        status = http_answer_piece(listener->x, call->out.data, call->out.len);
    strbuf_done(&call->out);
    if (status != AS_OK)
        return status;
    return http_timer_set(listener->x->loop, &listener->comment, mono_add_ns(mono_now(), EVENTS_COMMENT_NS));
}

static void listener_writable(struct http_exchange *x)
{
    struct listener *listener = x->user;
    if (!x->is_aborted)
        serve(listener);
}

static void listener_abort(struct http_exchange *x)
{
    struct listener *listener = x->user;
    http_timer_cancel(x->loop, &listener->comment);
    unlink_listener(listener);
}

static void listener_closed(struct http_exchange *x)
{
    struct listener *listener = x->user;
    http_timer_cancel(x->loop, &listener->comment);
    unlink_listener(listener);
    (void)atomic_fetch_sub(&listener->hub->listeners, 1);
    plane_call_free(listener->call);
    free(listener);
    x->user = NULL;
}

static const struct exchange_user listener_user = {listener_writable, listener_abort, listener_closed};

void events_begin(struct plane_call *take_call)
{
    struct event_hub *hub = take_call->plane->events;
    struct http_exchange *x = take_call->exchange;
    struct listener *listener = calloc(1, sizeof *listener);
    if (!listener || atomic_fetch_add(&hub->listeners, 1) >= EVENTS_LISTENERS) {
        if (listener)
            (void)atomic_fetch_sub(&hub->listeners, 1);
        free(listener);
        plane_call_free(take_call);
        http_drop(x, false);
        return;
    }
    *listener = (struct listener){.user = &listener_user,
                                  .call = take_call,
                                  .x = x,
                                  .hub = hub,
                                  .comment = {.on_fire = on_comment},
                                  .started = mono_now(),
                                  .sequence = take_call->last_sequence};
    x->user = listener;
    link_listener(listener);
    if (begin_stream(listener) != AS_OK) {
        if (!x->is_aborted)
            http_drop(x, false);
        return;
    }
    serve(listener);
}

void event_hub_loop(struct event_hub *hub, struct http_loop *loop, bool begins)
{
    struct loop_place *place = &hub->places[http_loop_index(loop)];
    pthread_mutex_lock(&hub->lock);
    place->hub = hub;
    place->wake.on_message = on_wake;
    place->loop = begins ? loop : NULL;
    if (begins && hub->place_count <= http_loop_index(loop))
        hub->place_count = http_loop_index(loop) + 1;
    pthread_mutex_unlock(&hub->lock);
}
