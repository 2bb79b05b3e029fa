/* SPDX-License-Identifier: Apache-2.0 */
#include "engine/internal.h"

#include <string.h>

static struct slot *slot_of(struct net_exchange *x)
{
    return (struct slot *)x; /* its first member */
}

void answer_reset(struct slot *slot)
{
    slot->reading = READING_NOTHING;
    slot->abort = ABORT_NONE;
    slot->flags &= RECORD_FLAG_RECONNECTED | RECORD_FLAG_LATE_SEND;
    slot->answered_ns = slot->last_ns = slot->last_lag_ns = -1;
    slot->last_is_kernel = false;
    slot->has_head = slot->has_begun = slot->is_stream = slot->is_answered = slot->is_read_open = false;
    slot->drained_bytes = 0;
    strbuf_reset(&slot->body);
    sse_reader_init(&slot->sse, SSE_EVENT_MAX_DEFAULT);
    slot->head.status = 0;
}

static void begin(struct slot *slot, bool is_stream)
{
    struct engine *engine = slot->thread->engine;
    slot->has_begun = true;
    slot->is_stream = is_stream;
    engine->modality->begin(engine->modality_context, slot->answer, &slot->head, is_stream);
}

static struct arrival note_read(struct slot *slot, const struct net_stamp *stamp)
{
    const struct engine *engine = slot->thread->engine;
    bool is_kernel = stamp->kernel_ns >= 0;
    struct arrival arrival = {
        .ns = engine_since_epoch(engine, is_kernel ? stamp->kernel_ns : stamp->user_ns),
        .user_ns = engine_since_epoch(engine, stamp->user_ns),
        .is_kernel = is_kernel,
    };
    slot->last_ns = arrival.ns;
    /* The kernel's stamp comes over the wall clock and may be ahead by its conversion's error. */
    int64_t lag_ns = arrival.user_ns - arrival.ns;
    slot->last_lag_ns = !is_kernel ? -1 : lag_ns > 0 ? lag_ns : 0;
    slot->last_is_kernel = is_kernel;
    return arrival;
}

static struct arrival last_arrival(const struct slot *slot)
{
    int64_t lag_ns = slot->last_lag_ns > 0 ? slot->last_lag_ns : 0;
    return (struct arrival){slot->last_ns, slot->last_ns + lag_ns, slot->last_is_kernel};
}

/* Has the exchange cancelled as soon as the transport is done with this round. */
static void doom(struct slot *slot, enum slot_abort why)
{
    slot->abort = (uint8_t)why;
    slot->reading = READING_OVER;
    timer_set(&slot->thread->waits, &slot->wait, 0);
}

/* ---- events ---- */

static void begin_events(struct slot *slot)
{
    if (!slot->payload.expects_stream)
        slot->flags |= RECORD_FLAG_STREAM_FOR_JSON;
    slot->reading = READING_EVENTS;
    begin(slot, true);
}

/* The end marker came: from here on the connection is only drained. */
static void answered(struct slot *slot, const struct arrival *arrival)
{
    slot->is_answered = true;
    slot->answered_ns = arrival->ns;
    timer_clear(&slot->thread->deadlines, &slot->deadline);
    timer_set(&slot->thread->waits, &slot->wait, arrival->user_ns + DRAIN_NS);
}

static void drain(struct slot *slot, size_t len)
{
    slot->drained_bytes += len;
    if (slot->drained_bytes > DRAIN_BYTES)
        doom(slot, ABORT_DRAINED);
}

static bool is_line_ends(const char *at, const char *end)
{
    while (at < end && (*at == '\n' || *at == '\r'))
        at++;
    return at == end;
}

static void feed_events(struct slot *slot, const char *at, size_t len, const struct arrival *arrival)
{
    struct engine *engine = slot->thread->engine;
    const char *end = at + len;
    struct sse_event event;
    enum sse_result result;
    slot->is_read_open = true;
    slot->is_event_last = false;
    while ((result = sse_next(&slot->sse, &at, end, &event)) == SSE_EVENT) {
        slot->is_event_last = is_line_ends(at, end);
        if (engine->modality->event(engine->modality_context, slot->answer, &event, arrival)) {
            answered(slot, arrival);
            drain(slot, (size_t)(end - at));
            return;
        }
    }
    if (result == SSE_BAD)
        doom(slot, ABORT_TOO_LARGE);
}

static void end_read(struct slot *slot, bool between)
{
    const struct engine *engine = slot->thread->engine;
    if (!slot->is_read_open)
        return;
    slot->is_read_open = false;
    if (engine->modality->read_end)
        engine->modality->read_end(engine->modality_context, slot->answer,
                                   between && slot->is_event_last && sse_is_between(&slot->sse));
}

static bool is_end_marker(const struct sse_event *event)
{
    return event->len == 6 && memcmp(event->data, "[DONE]", 6) == 0;
}

/* A last event without its blank line counts when the body ended well; of a cut body only the end marker does. */
static void finish_events(struct slot *slot, bool is_whole)
{
    struct engine *engine = slot->thread->engine;
    struct sse_event event;
    if (sse_finish(&slot->sse, &event) == SSE_EVENT && (is_whole || is_end_marker(&event))) {
        struct arrival arrival = last_arrival(slot);
        slot->is_read_open = true;
        if (engine->modality->event(engine->modality_context, slot->answer, &event, &arrival))
            answered(slot, &arrival);
    }
    end_read(slot, false);
}

/* ---- bodies ---- */

static void give_body(struct slot *slot, const char *data, size_t len, const struct arrival *arrival)
{
    struct engine *engine = slot->thread->engine;
    const char *first = data;
    while (first < data + len && (*first == ' ' || *first == '\n' || *first == '\r' || *first == '\t'))
        first++;
    bool is_json = slot->head.media == HTTP_MEDIA_JSON || (first < data + len && (*first == '{' || *first == '['));
    if (slot->reading == READING_BODY && slot->payload.expects_stream && len > 0 && is_json)
        slot->flags |= RECORD_FLAG_JSON_FOR_STREAM;
    slot->reading = READING_OVER;
    engine->modality->body(engine->modality_context, slot->answer, data, len, arrival);
}

static void begin_body(struct slot *slot)
{
    slot->reading = READING_BODY;
    begin(slot, false);
}

static void collect_body(struct slot *slot, const char *data, size_t len, const struct arrival *arrival)
{
    size_t max = slot->thread->engine->modality->max_body_bytes;
    if (slot->body.len == 0 && slot->head.content_length == (int64_t)len && len <= max) {
        give_body(slot, data, len, arrival);
        return;
    }
    if (len > max - slot->body.len) {
        doom(slot, ABORT_TOO_LARGE);
        return;
    }
    strbuf_add(&slot->body, data, len);
    if (strbuf_status(&slot->body) != AS_OK)
        doom(slot, ABORT_TOO_LARGE);
}

static void collect_error(struct slot *slot, const char *data, size_t len)
{
    size_t room = ERROR_BODY_BYTES - slot->body.len;
    strbuf_add(&slot->body, data, len < room ? len : room);
}

/* ---- stream or not ---- */

/* 1: the text begins like an event stream, 0: it does not, -1: too short to tell. */
static int looks_like_events(const char *text, size_t len)
{
    static const char *const starts[] = {":", "data:", "event:", "id:", "retry:", "data\n", "data\r"};
    const char *end = text + len;
    if (len > 0 && (unsigned char)*text == 0xEF) {
        if (len < 3)
            return -1;
        text += memcmp(text, "\xEF\xBB\xBF", 3) == 0 ? 3 : 0;
    }
    while (text < end && (*text == '\n' || *text == '\r'))
        text++;
    len = (size_t)(end - text);
    for (size_t i = 0; i < sizeof starts / sizeof *starts; i++) {
        size_t want = strlen(starts[i]);
        if (memcmp(text, starts[i], len < want ? len : want) == 0)
            return len < want ? -1 : 1;
    }
    return 0;
}

static void sniff(struct slot *slot, const char *data, size_t len, const struct arrival *arrival)
{
    if (slot->body.len > 0) {
        strbuf_add(&slot->body, data, len);
        data = slot->body.data;
        len = slot->body.len;
    }
    int answer = looks_like_events(data, len);
    if (answer < 0) {
        if (slot->body.len == 0)
            strbuf_add(&slot->body, data, len);
    } else if (answer == 1) {
        begin_events(slot);
        feed_events(slot, data, len, arrival);
    } else {
        begin_body(slot);
        if (slot->body.len == 0)
            collect_body(slot, data, len, arrival);
    }
}

/* ---- what the transport says ---- */

static void on_head(struct net_exchange *x, const struct http_response_head *head, const struct net_stamp *stamp)
{
    struct slot *slot = slot_of(x);
    note_read(slot, stamp);
    memcpy(&slot->head, head, offsetof(struct http_response_head, location));
    memcpy(slot->head.location, head->location, strlen(head->location) + 1);
    slot->has_head = true;
    if (head->status / 100 != 2) {
        slot->reading = READING_ERROR;
        begin(slot, false);
    } else if (head->coding != HTTP_CODING_IDENTITY) {
        slot->reading = READING_OVER;
        begin(slot, false);
    } else if (head->media == HTTP_MEDIA_EVENT_STREAM) {
        begin_events(slot);
    } else if (slot->payload.expects_stream && (head->media == HTTP_MEDIA_TEXT || head->media == HTTP_MEDIA_OTHER)) {
        slot->reading = READING_SNIFF;
    } else {
        begin_body(slot);
    }
}

static void on_span(struct net_exchange *x, const char *data, size_t len, const struct net_stamp *stamp)
{
    struct slot *slot = slot_of(x);
    struct arrival arrival = note_read(slot, stamp);
    if (slot->is_answered) {
        drain(slot, len);
        return;
    }
    switch ((enum reading)slot->reading) {
    case READING_EVENTS:
        feed_events(slot, data, len, &arrival);
        break;
    case READING_BODY:
        collect_body(slot, data, len, &arrival);
        break;
    case READING_ERROR:
        collect_error(slot, data, len);
        break;
    case READING_SNIFF:
        sniff(slot, data, len, &arrival);
        break;
    case READING_NOTHING:
    case READING_OVER:
        break;
    }
}

static void on_read_end(struct net_exchange *x, const struct net_stamp *stamp, bool between)
{
    struct slot *slot = slot_of(x);
    note_read(slot, stamp);
    if (slot->last_is_kernel)
        lag_add(&slot->thread->lag, slot->last_lag_ns);
    end_read(slot, between);
}

static void on_end(struct net_exchange *x, enum net_end end)
{
    struct slot *slot = slot_of(x);
    request_try_ended(slot, end, engine_now_ns(slot->thread->engine));
}

const struct net_exchange_ops answer_ops = {on_head, on_span, on_read_end, on_end};

void answer_finish(struct slot *slot, bool is_whole)
{
    struct arrival arrival = last_arrival(slot);
    if (slot->reading == READING_SNIFF && is_whole)
        begin_body(slot);
    if (slot->is_answered)
        end_read(slot, true);
    else if (slot->reading == READING_EVENTS)
        finish_events(slot, is_whole);
    else if (slot->reading == READING_ERROR || (slot->reading == READING_BODY && is_whole))
        give_body(slot, strbuf_text(&slot->body), slot->body.len, &arrival);
    if (!slot->has_head)
        memset(&slot->head, 0, sizeof slot->head);
    if (!slot->has_begun)
        begin(slot, false);
}
