/* SPDX-License-Identifier: Apache-2.0 */
#ifndef ASSAY_TESTS_WIRE_MODALITY_HARNESS_H
#define ASSAY_TESTS_WIRE_MODALITY_HARNESS_H

/*
 * The engine's part without a network: bytes of a response in pieces, each with its arrival time, go through the HTTP
 * and event-stream readers to a modality, by the rules of engine/modality.h.
 */

#include "engine/error_text.h"
#include "engine/modality.h"
#include "http/response.h"
#include "http/sse.h"

#include <stdlib.h>
#include <string.h>

enum harness_end { HARNESS_KEEP, HARNESS_CLOSE, HARNESS_RESET, HARNESS_STALL };

struct harness {
    const struct modality *modality;
    void *context;
    void *answer;
    struct payload payload;
    struct request_record record;
    struct http_response response;
    struct sse_reader sse;
    struct strbuf body;
    struct error_text message;
    int64_t ns; /* time of the current read */
    bool has_begun, is_stream, is_answered, is_complete, is_broken, has_head, has_events;
};

static inline void harness_open(struct harness *harness, const struct modality *modality, void *context)
{
    *harness = (struct harness){.modality = modality, .context = context, .answer = calloc(1, modality->answer_bytes)};
    if (!harness->answer)
        abort();
}

static inline void harness_close(struct harness *harness)
{
    if (harness->modality->answer_done)
        harness->modality->answer_done(harness->context, harness->answer);
    free(harness->answer);
    http_response_done(&harness->response);
    sse_reader_done(&harness->sse);
    strbuf_done(&harness->body);
}

static inline void harness_request(struct harness *harness, int64_t seq)
{
    struct as_error err;
    http_response_done(&harness->response);
    http_response_init(&harness->response);
    sse_reader_done(&harness->sse);
    sse_reader_init(&harness->sse, SSE_EVENT_MAX_DEFAULT);
    strbuf_done(&harness->body);
    strbuf_init(&harness->body, 0);
    harness->has_begun = harness->is_stream = harness->is_answered = harness->is_complete = harness->is_broken = false;
    harness->has_head = harness->has_events = false;
    harness->ns = 0;
    record_init(&harness->record);
    if (harness->modality->build(harness->context, harness->answer, seq, &harness->payload, &err) != AS_OK)
        abort();
}

static inline void harness_begin(struct harness *harness, bool is_stream)
{
    harness->has_begun = true;
    harness->is_stream = is_stream;
    harness->modality->begin(harness->context, harness->answer, &harness->response.head, is_stream);
}

static inline void harness_head(struct harness *harness)
{
    const struct http_response_head *head = &harness->response.head;
    bool may_be_stream =
        harness->payload.expects_stream && head->media != HTTP_MEDIA_JSON && head->media != HTTP_MEDIA_HTML;
    harness->has_head = true;
    harness_begin(harness, head->status / 100 == 2 && head->coding == HTTP_CODING_IDENTITY &&
                               (head->media == HTTP_MEDIA_EVENT_STREAM || may_be_stream) && head->status != 204);
}

static inline void harness_span(struct harness *harness, const char *at, size_t len, const struct arrival *arrival)
{
    const char *end = at + len;
    struct sse_event event;
    if (!harness->is_stream) {
        strbuf_add(&harness->body, at, len);
        return;
    }
    while (!harness->is_answered && sse_next(&harness->sse, &at, end, &event) == SSE_EVENT)
        harness->is_answered = harness->modality->event(harness->context, harness->answer, &event, arrival);
    harness->has_events = true;
}

/* One read: bytes that arrived at `ns`. */
static inline void harness_read(struct harness *harness, const char *bytes, size_t len, int64_t ns)
{
    const char *at = bytes, *span;
    size_t span_len;
    struct arrival arrival = {.ns = ns, .user_ns = ns + 1000, .is_kernel = true};
    harness->ns = ns;
    while (!harness->is_complete && !harness->is_broken) {
        enum http_result result = http_response_next(&harness->response, &at, bytes + len, &span, &span_len);
        if (result == HTTP_MORE)
            break;
        if (result == HTTP_HEAD)
            harness_head(harness);
        if (result == HTTP_SPAN)
            harness_span(harness, span, span_len, &arrival);
        harness->is_complete = result == HTTP_END;
        harness->is_broken = result == HTTP_BAD;
    }
    if (harness->has_events && harness->modality->read_end)
        harness->modality->read_end(harness->context, harness->answer,
                                    http_response_is_between(&harness->response) && sse_is_between(&harness->sse));
    harness->has_events = false;
}

static inline void harness_fail(struct harness *harness, enum outcome outcome, enum error_type type, const char *reason)
{
    harness->record.outcome = (uint8_t)outcome;
    harness->record.error_type = (uint8_t)type;
    error_text_from_plain(reason, strlen(reason), NULL, &harness->message);
}

/* The verdict of transport and status, as the engine gives it. */
static inline void harness_verdict(struct harness *harness, enum harness_end end)
{
    int status = harness->response.head.status;
    bool is_over = harness->is_complete || harness->is_answered;
    harness->message.len = 0;
    harness->message.is_oom = false;
    if (harness->has_head && status / 100 != 2) {
        harness->record.outcome = OUTCOME_FAILED;
        harness->record.error_type = (uint8_t)error_type_of_status(status);
        error_text_from_body(strbuf_text(&harness->body), harness->body.len, NULL, &harness->message);
    } else if (!is_over && end == HARNESS_STALL) {
        harness_fail(harness, OUTCOME_TIMED_OUT, ERROR_TYPE_TIMEOUT, "no complete answer in time");
    } else if (!is_over && http_response_is_untouched(&harness->response)) {
        harness_fail(harness, OUTCOME_FAILED, ERROR_TYPE_CONNECTION, "closed before any byte");
    } else if (!is_over) {
        harness_fail(harness, OUTCOME_FAILED, ERROR_TYPE_BODY, "cut off");
    } else if (harness->response.head.coding != HTTP_CODING_IDENTITY) {
        harness_fail(harness, OUTCOME_FAILED, ERROR_TYPE_DECODE, "the body is coded");
    }
}

static inline void harness_give_rest(struct harness *harness)
{
    struct arrival arrival = {.ns = harness->ns, .user_ns = harness->ns + 1000, .is_kernel = true};
    struct sse_event event;
    bool is_read = harness->response.head.coding == HTTP_CODING_IDENTITY;
    if (!harness->has_begun) {
        memset(&harness->response.head, 0, sizeof harness->response.head);
        harness_begin(harness, false);
    } else if (harness->is_stream) {
        bool is_pending = !harness->is_answered && sse_finish(&harness->sse, &event) == SSE_EVENT;
        if (is_pending && (harness->is_complete || (event.len == 6 && memcmp(event.data, "[DONE]", 6) == 0)))
            harness->is_answered = harness->modality->event(harness->context, harness->answer, &event, &arrival);
    } else if (is_read && (harness->is_complete || harness->response.head.status / 100 != 2)) {
        harness->modality->body(harness->context, harness->answer, strbuf_text(&harness->body), harness->body.len,
                                &arrival);
    }
}

/* No more bytes come. harness->record is then complete. */
static inline void harness_finish(struct harness *harness, enum harness_end end)
{
    if (!harness->is_complete && !harness->is_broken && end == HARNESS_CLOSE)
        harness->is_complete = http_response_eof(&harness->response) == HTTP_END;
    harness_give_rest(harness);
    harness->record.http_status = harness->has_head ? harness->response.head.status : -1;
    harness->record.done_ns = harness->ns;
    harness->record.sent_ns = 0;
    harness_verdict(harness, end);
    harness->record.error_message =
        (struct record_text){harness->message.len ? harness->message.text : NULL, harness->message.len};
    harness->record.oom = harness->message.is_oom;
    struct answer_close close = {.body_complete = harness->is_complete,
                                 .drained_early = harness->is_answered && !harness->is_complete,
                                 .reason = harness->message.len ? harness->message.text : ""};
    harness->modality->end(harness->context, harness->answer, &close, &harness->sse, &harness->record);
    record_derive(&harness->record, harness->is_stream);
}

#endif
