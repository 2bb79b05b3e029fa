/* SPDX-License-Identifier: Apache-2.0 */
#include "engine/internal.h"

#include <stdio.h>
#include <string.h>

/* ---- counters ---- */

static void count(_Atomic int64_t *counter, int64_t by)
{
    atomic_fetch_add_explicit(counter, by, memory_order_relaxed);
}

static void enter_gauge(struct engine_progress *progress)
{
    int64_t now = atomic_fetch_add_explicit(&progress->in_flight, 1, memory_order_relaxed) + 1;
    int64_t peak = atomic_load_explicit(&progress->peak_in_flight, memory_order_relaxed);
    while (now > peak && !atomic_compare_exchange_weak_explicit(&progress->peak_in_flight, &peak, now,
                                                                memory_order_relaxed, memory_order_relaxed)) {
    }
}

static void count_outcome(struct engine_progress *progress, const struct request_record *record)
{
    _Atomic int64_t *const counters[OUTCOME_COUNT] = {
        [OUTCOME_OK] = &progress->ok,
        [OUTCOME_FAILED] = &progress->failed,
        [OUTCOME_TIMED_OUT] = &progress->timed_out,
        [OUTCOME_CANCELLED] = &progress->cancelled,
        [OUTCOME_REFUSED] = &progress->refused,
    };
    count(counters[record->outcome], 1);
    if (record->outcome != OUTCOME_OK)
        return;
    if (record->completion_tokens > 0)
        count(&progress->completion_tokens, record->completion_tokens);
    int64_t recent_ns = record->ttft_ns >= 0 ? record->ttft_ns : record->response_time_ns;
    uint64_t place = atomic_fetch_add_explicit(&progress->recent_count, 1, memory_order_relaxed);
    atomic_store_explicit(&progress->recent_ns[place % (sizeof progress->recent_ns / sizeof *progress->recent_ns)],
                          recent_ns, memory_order_relaxed);
}

/* ---- begin ---- */

static void leave_endpoint(struct slot *slot, enum balance_verdict verdict, int64_t now_ns)
{
    if (slot->is_at_endpoint && balance_release(&slot->thread->engine->balance, slot->endpoint, verdict, now_ns))
        slot->flags |= RECORD_FLAG_EJECTED;
    slot->is_at_endpoint = false;
}

/* The record is made: keeps it, then frees the permit. */
static void put_record(struct slot *slot, struct request_record *record, int64_t now_ns)
{
    struct engine_thread *thread = slot->thread;
    struct engine *engine = thread->engine;
    record->phase = (uint8_t)schedule_phase(&engine->schedule, slot->seq,
                                            record->sent_ns >= 0 ? record->sent_ns : slot->start_ns, record->done_ns);
    count_outcome(&engine->progress, record);
    if (record->done_ns > thread->last_done_ns)
        thread->last_done_ns = record->done_ns;
    engine->sink.put(engine->sink.context, thread->index, record);
    slot->state = SLOT_FREE;
    slot->next_free = thread->free;
    thread->free = slot;
    thread->busy--;
    if (schedule_is_warmup(&engine->schedule, slot->seq))
        count(&engine->progress.warmup_done, 1);
    if (schedule_ended(&engine->schedule, slot->seq, now_ns)) {
        atomic_store_explicit(&engine->progress.peak_in_flight, 0, memory_order_relaxed);
        engine_wake_all(engine);
    }
}

static void fill_request(const struct slot *slot, struct request_record *record)
{
    record->seq = slot->seq;
    record->due_ns = slot->due_ns;
    record->endpoint = slot->endpoint;
    record->prompt_words = slot->payload.prompt_words;
    record->max_tokens = slot->payload.max_tokens;
    if (slot->payload.prompt_id)
        snprintf(record->prompt_id, sizeof record->prompt_id, "%s", slot->payload.prompt_id);
}

static int64_t refuse(struct slot *slot, const char *sentence)
{
    struct engine_thread *thread = slot->thread;
    const struct engine *engine = thread->engine;
    struct request_record *record = &thread->record;
    int64_t now_ns = engine_now_ns(engine);
    leave_endpoint(slot, BALANCE_UNUSED, now_ns);
    record_init(record);
    fill_request(slot, record);
    record->outcome = OUTCOME_REFUSED;
    record->error_type = ERROR_TYPE_BAD_REQUEST; /* with outcome refused and no status: no server saw it */
    record->done_ns = now_ns;
    error_text_from_plain(sentence, strlen(sentence), engine->options.secrets, &thread->error_text);
    record->error_message = (struct record_text){thread->error_text.text, thread->error_text.len};
    record->bytes_sent = record->bytes_received = 0;
    put_record(slot, record, now_ns);
    return now_ns;
}

static as_status prepare_parts(struct slot *slot)
{
    const struct request_head *head = &slot->thread->engine->heads[slot->endpoint];
    const struct payload *payload = &slot->payload;
    struct net_exchange *x = &slot->x;
    size_t head_len;
    for (uint32_t i = 0; i < payload->part_count; i++)
        x->parts[2 + i] = payload->parts[i];
    as_status status = request_head_write(head, payload, slot->seq, &slot->head_bytes, &head_len);
    if (status != AS_OK)
        return status;
    x->parts[0] = (struct iovec){slot->head_bytes.data, head_len};
    x->parts[1] = (struct iovec){head->fixed, head->fixed_len};
    x->part_count = 2 + payload->part_count;
    x->endpoint = slot->endpoint;
    return AS_OK;
}

static void begin_try(struct slot *slot)
{
    answer_reset(slot);
    slot->tries++;
    slot->state = SLOT_ACTIVE;
    slot->try_start_ns = engine_now_ns(slot->thread->engine);
}

static void note_sent(struct slot *slot)
{
    struct engine_thread *thread = slot->thread;
    struct engine *engine = thread->engine;
    slot->start_ns = slot->try_start_ns;
    if (engine->options.request_timeout_ns > 0)
        timer_set(&thread->deadlines, &slot->deadline, slot->start_ns + engine->options.request_timeout_ns);
    schedule_sent(&engine->schedule, slot->seq, slot->start_ns);
    if (schedule_is_late(&engine->schedule, slot->due_ns, slot->start_ns)) {
        slot->flags |= RECORD_FLAG_LATE_SEND;
        thread->late_sends += !schedule_is_warmup(&engine->schedule, slot->seq);
    }
    count(&engine->progress.sent, 1);
    enter_gauge(&engine->progress);
}

/* Copies what is about to be sent, once in a run. */
static void take_echo(const struct slot *slot, struct request_echo *echo)
{
    if (atomic_load_explicit(&echo->is_taken, memory_order_relaxed) || atomic_exchange(&echo->is_taken, true))
        return;
    for (uint32_t i = 0; i < slot->x.part_count; i++) {
        const struct iovec *part = &slot->x.parts[i];
        size_t left = echo->capacity - echo->len, len = part->iov_len < left ? part->iov_len : left;
        if (len > 0)
            memcpy(echo->bytes + echo->len, part->iov_base, len);
        echo->len += len;
        echo->whole_bytes += (int64_t)part->iov_len;
    }
}

int64_t request_begin(struct slot *slot, const struct schedule_request *request, int64_t now_ns)
{
    struct engine *engine = slot->thread->engine;
    struct as_error err = {.message = ""};
    slot->thread->busy++;
    slot->state = SLOT_ACTIVE;
    slot->seq = request->seq;
    slot->due_ns = request->due_ns;
    slot->start_ns = now_ns;
    slot->tries = slot->flags = 0;
    slot->bytes_sent = slot->bytes_received = 0;
    slot->endpoint = balance_pick(&engine->balance, slot->seq, slot->start_ns);
    slot->is_at_endpoint = true;
    slot->payload = (struct payload){.path = "", .prompt_words = -1, .max_tokens = -1};
    if (engine->modality->build(engine->modality_context, slot->answer, slot->seq, &slot->payload, &err) != AS_OK)
        return refuse(slot, err.message);
    if (prepare_parts(slot) != AS_OK)
        return refuse(slot, "no memory for the request's head");
    if (engine->options.echo)
        take_echo(slot, engine->options.echo);
    begin_try(slot);
    note_sent(slot);
    net_exchange_start(slot->thread->loop, &slot->x);
    return slot->try_start_ns;
}

/* ---- end ---- */

/* What the status line of a whole answer says. */
static struct verdict status_verdict(const struct slot *slot, struct error_text *text)
{
    int status = slot->head.status;
    struct verdict verdict = {OUTCOME_FAILED, error_type_of_status(status), true, NULL};
    if (verdict.error_type == ERROR_TYPE_REDIRECT) {
        const char *to = slot->head.location[0] ? slot->head.location : "no Location";
        snprintf(text->text, sizeof text->text, "HTTP %d redirects to %s; measured traffic does not follow redirects",
                 status, to);
        verdict.message = text->text;
    }
    return verdict;
}

static struct verdict connection_verdict(const struct slot *slot)
{
    return (struct verdict){OUTCOME_FAILED, ERROR_TYPE_CONNECTION, true, slot->x.error};
}

static struct verdict cut_verdict(const struct slot *slot, struct error_text *text)
{
    if (slot->has_head && slot->head.status / 100 != 2)
        return status_verdict(slot, text);
    return (struct verdict){OUTCOME_FAILED, ERROR_TYPE_BODY, !slot->has_head, slot->x.error};
}

static struct verdict timeout_verdict(const struct slot *slot, struct error_text *text)
{
    snprintf(text->text, sizeof text->text, "no complete answer within the limit of %.6g s",
             (double)slot->thread->engine->options.request_timeout_ns / 1e9);
    return (struct verdict){OUTCOME_TIMED_OUT, ERROR_TYPE_TIMEOUT, true, text->text};
}

/* Messages may be made in `text`. */
static struct verdict judge_try(const struct slot *slot, enum net_end end, struct error_text *text)
{
    static const struct verdict fine = {OUTCOME_OK, ERROR_TYPE_NONE, false, NULL};
    static const struct verdict cancelled = {OUTCOME_CANCELLED, ERROR_TYPE_NONE, true, NULL};
    static const struct verdict coded = {OUTCOME_FAILED, ERROR_TYPE_DECODE, true,
                                         "the answer has a Content-Encoding though only identity was accepted"};
    static const struct verdict too_large = {OUTCOME_FAILED, ERROR_TYPE_BODY, true,
                                             "the answer is larger than what is read of one"};
    if (slot->is_answered)
        return fine;
    if (slot->abort == ABORT_TIMEOUT)
        return timeout_verdict(slot, text);
    if (slot->abort == ABORT_STOP)
        return cancelled;
    if (slot->abort == ABORT_TOO_LARGE)
        return too_large;
    switch (end) {
    case NET_END_COMPLETE:
        if (slot->head.status / 100 != 2)
            return status_verdict(slot, text);
        return slot->head.coding == HTTP_CODING_IDENTITY ? fine : coded;
    case NET_END_CONNECT:
    case NET_END_CONNECT_TIMEOUT:
    case NET_END_CLOSED:
        return connection_verdict(slot);
    case NET_END_TRUNCATED:
    case NET_END_MALFORMED:
        return cut_verdict(slot, text);
    case NET_END_CANCELLED:
        return cancelled;
    }
    return cancelled;
}

/* The instant that ends the try: the end marker, else the read that held the end of the body, else now. */
static int64_t try_done_ns(const struct slot *slot, enum net_end end, int64_t now_ns)
{
    if (slot->is_answered)
        return slot->answered_ns;
    bool is_framed =
        slot->head.chunked || slot->head.content_length >= 0 || slot->head.status == 204 || slot->head.status == 304;
    return end == NET_END_COMPLETE && is_framed && slot->last_ns >= 0 ? slot->last_ns : now_ns;
}

static enum balance_verdict endpoint_verdict(const struct verdict *verdict)
{
    if (verdict->outcome == OUTCOME_CANCELLED)
        return BALANCE_UNUSED;
    switch (verdict->error_type) {
    case ERROR_TYPE_CONNECTION:
        return BALANCE_UNREACHABLE;
    case ERROR_TYPE_TIMEOUT:
    case ERROR_TYPE_BODY:
    case ERROR_TYPE_SERVER_ERROR:
        return BALANCE_FAILED;
    default:
        return BALANCE_FINE;
    }
}

static void note_attempt(struct slot *slot, const struct verdict *verdict, int64_t done_ns)
{
    slot->attempts[slot->tries - 1] = (struct record_attempt){
        .start_ns = slot->try_start_ns,
        .done_ns = done_ns,
        .http_status = slot->head.status ? slot->head.status : -1,
        .error_type = (uint8_t)verdict->error_type,
        .reused = slot->x.reused,
        .endpoint = (uint16_t)slot->endpoint,
    };
}

/* How long to wait before another try; -1 = there is none. */
static int64_t retry_wait_ns(const struct slot *slot, const struct verdict *verdict, int64_t now_ns)
{
    const struct engine *engine = slot->thread->engine;
    enum error_type type = verdict->error_type;
    bool is_retried = type == ERROR_TYPE_CONNECTION || type == ERROR_TYPE_RATE_LIMIT || type == ERROR_TYPE_SERVER_ERROR;
    if (verdict->outcome != OUTCOME_FAILED || !is_retried || slot->tries >= engine->tries_max)
        return -1;
    int64_t wait_ns = engine->options.retry_backoff_ns;
    for (uint32_t i = 1; i < slot->tries && wait_ns < RETRY_WAIT_MAX_NS; i++)
        wait_ns *= 2;
    if (slot->has_head && slot->head.retry_after_s >= 0)
        wait_ns = slot->head.retry_after_s < 30 ? (int64_t)(slot->head.retry_after_s * 1e9) : RETRY_WAIT_MAX_NS;
    if (wait_ns > RETRY_WAIT_MAX_NS)
        wait_ns = RETRY_WAIT_MAX_NS;
    bool is_too_late = slot->deadline.is_set && now_ns + wait_ns >= slot->deadline.at_ns;
    return is_too_late ? -1 : wait_ns;
}

/* Everything the engine knows, before the modality judges. */
static void fill_record(const struct slot *slot, const struct verdict *verdict, int64_t done_ns,
                        struct request_record *record)
{
    const struct engine *engine = slot->thread->engine;
    const struct net_exchange *x = &slot->x;
    record_init(record);
    fill_request(slot, record);
    record->outcome = (uint8_t)verdict->outcome;
    record->error_type = (uint8_t)verdict->error_type;
    record->flags = slot->flags;
    record->http_status = slot->head.status ? slot->head.status : -1;
    record->retry_after_s = slot->has_head ? slot->head.retry_after_s : -1;
    record->reused = x->reused;
    record->sent_ns = slot->start_ns;
    record->written_ns = engine_since_epoch(engine, x->written_ns);
    record->first_byte_ns = engine_since_epoch(engine, x->first_byte_ns);
    record->done_ns = done_ns;
    if (x->connected_ns >= 0)
        record->connect_duration_ns = x->connected_ns - x->connect_start_ns;
    if (x->tls_done_ns >= 0)
        record->tls_duration_ns = x->tls_done_ns - x->connected_ns;
    if (slot->last_ns >= 0)
        record->stamp = slot->last_is_kernel ? RECORD_STAMP_KERNEL : RECORD_STAMP_USER;
    record->client_lag_ns = slot->last_lag_ns;
    record->bytes_sent = (int64_t)slot->bytes_sent;
    record->bytes_received = (int64_t)slot->bytes_received;
    record->attempt_count = slot->tries;
    memcpy(record->attempts, slot->attempts, slot->tries * sizeof *slot->attempts);
}

/* The sentence of a verdict in *ret; of an error status it is what the server said. */
static void make_message(const struct slot *slot, const struct verdict *verdict, struct error_text *ret)
{
    const char *const *secrets = slot->thread->engine->options.secrets;
    ret->len = 0;
    ret->is_oom = false;
    if (verdict->message) {
        error_text_from_plain(verdict->message, strlen(verdict->message), secrets, ret);
    } else if (verdict->outcome == OUTCOME_FAILED) {
        error_text_from_body(strbuf_text(&slot->body), slot->body.len, secrets, ret);
        if (ret->len == 0)
            ret->len = (size_t)snprintf(ret->text, sizeof ret->text, "HTTP %d without a message", slot->head.status);
    }
}

/* The modality has judged: sets right what was not its to change and cleans its sentence. */
static void enforce(const struct slot *slot, const struct verdict *verdict, struct request_record *record)
{
    struct error_text *text = &slot->thread->error_text;
    bool is_ours = verdict->outcome != OUTCOME_OK &&
                   (verdict->is_final || record->outcome == OUTCOME_OK || record->error_type == ERROR_TYPE_NONE);
    if (is_ours) {
        record->outcome = (uint8_t)verdict->outcome;
        record->error_type = (uint8_t)verdict->error_type;
        record->error_message = (struct record_text){text->len ? text->text : NULL, text->len};
    }
    if (record->outcome == OUTCOME_OK || record->outcome == OUTCOME_CANCELLED) {
        record->error_type = ERROR_TYPE_NONE;
        record->error_message = (struct record_text){NULL, 0};
        return;
    }
    if (record->error_message.at != text->text && record->error_message.at) {
        error_text_from_plain(record->error_message.at, record->error_message.len,
                              slot->thread->engine->options.secrets, text);
        record->error_message = (struct record_text){text->text, text->len};
    }
    record->oom = record->oom || (record->error_message.at && text->is_oom);
}

static void finish(struct slot *slot, const struct verdict *verdict, enum net_end end, int64_t now_ns)
{
    struct engine_thread *thread = slot->thread;
    struct engine *engine = thread->engine;
    struct request_record *record = &thread->record;
    struct error_text *text = &thread->error_text;
    timer_clear(&thread->deadlines, &slot->deadline);
    timer_clear(&thread->waits, &slot->wait);
    fill_record(slot, verdict, slot->state == SLOT_ACTIVE ? try_done_ns(slot, end, now_ns) : now_ns, record);
    make_message(slot, verdict, text);
    record->error_message = (struct record_text){text->len ? text->text : NULL, text->len};
    struct answer_close close = {
        .body_complete = end == NET_END_COMPLETE,
        .drained_early = slot->is_answered && end != NET_END_COMPLETE,
        .reason = text->len ? text->text : slot->x.error,
    };
    engine->modality->end(engine->modality_context, slot->answer, &close, &slot->sse, record);
    enforce(slot, verdict, record);
    record_derive(record, slot->is_stream);
    if (record->attempt_count > 0)
        record->attempts[record->attempt_count - 1].error_type = record->error_type;
    struct verdict last = {(enum outcome)record->outcome, (enum error_type)record->error_type, true, NULL};
    leave_endpoint(slot, endpoint_verdict(&last), now_ns);
    record->flags |= slot->flags & RECORD_FLAG_EJECTED;
    atomic_fetch_sub_explicit(&engine->progress.in_flight, 1, memory_order_relaxed);
    put_record(slot, record, now_ns);
    sse_reader_done(&slot->sse);
}

void request_try_ended(struct slot *slot, enum net_end end, int64_t now_ns)
{
    struct engine_thread *thread = slot->thread;
    answer_finish(slot, end == NET_END_COMPLETE && slot->abort == ABORT_NONE);
    timer_clear(&thread->waits, &slot->wait);
    slot->bytes_sent += slot->x.bytes_sent;
    slot->bytes_received += slot->x.bytes_received;
    if (slot->x.reconnected)
        slot->flags |= RECORD_FLAG_RECONNECTED;
    if (slot->x.local_limit)
        slot->flags |= RECORD_FLAG_LOCAL_LIMIT;
    if (slot->is_answered && end != NET_END_COMPLETE)
        slot->flags |= RECORD_FLAG_UNCLEAN_CLOSE;
    struct verdict verdict = judge_try(slot, end, &thread->error_text);
    note_attempt(slot, &verdict, try_done_ns(slot, end, now_ns));
    int64_t wait_ns = retry_wait_ns(slot, &verdict, now_ns);
    if (wait_ns < 0) {
        finish(slot, &verdict, end, now_ns);
        return;
    }
    leave_endpoint(slot, endpoint_verdict(&verdict), now_ns);
    sse_reader_done(&slot->sse);
    slot->state = SLOT_BACKOFF;
    timer_set(&thread->waits, &slot->wait, now_ns + wait_ns);
}

void request_retry(struct slot *slot)
{
    struct engine *engine = slot->thread->engine;
    slot->endpoint = balance_pick_again(&engine->balance, slot->endpoint, slot->seq, engine_now_ns(engine));
    slot->is_at_endpoint = true;
    if (prepare_parts(slot) != AS_OK) {
        slot->abort = ABORT_STOP;
        slot->thread->status = AS_E_NOMEM;
        request_abort(slot, ABORT_STOP);
        return;
    }
    begin_try(slot);
    net_exchange_start(slot->thread->loop, &slot->x);
}

void request_abort(struct slot *slot, enum slot_abort why)
{
    if (slot->state == SLOT_ACTIVE) {
        slot->abort = (uint8_t)(slot->is_answered ? ABORT_DRAINED : why);
        net_exchange_cancel(slot->thread->loop, &slot->x);
        return;
    }
    slot->abort = (uint8_t)why;
    struct verdict verdict = judge_try(slot, NET_END_CANCELLED, &slot->thread->error_text);
    finish(slot, &verdict, NET_END_CANCELLED, engine_now_ns(slot->thread->engine));
}
