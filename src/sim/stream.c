/* SPDX-License-Identifier: Apache-2.0 */
#include "sim/stream.h"

#include "sim/render.h"

#include <stdlib.h>
#include <string.h>

/* Chunks that are due together share a write up to this size. */
#define WRITE_BYTES  ((size_t)32 << 10)
#define ID_BYTES_MAX 255

struct sim_stream {
    struct http_timer timer;
    struct sim_batch_place place;
    struct sim_worker *worker;
    struct http_exchange *x;
    struct sim_stream *next; /* in the free list */
    struct sim_answer answer;
    int64_t number;
    int64_t received_ns, begun_ns, head_ns, end_ns; /* -1 = not yet */
    int64_t due_ns;                                 /* of the next step, or of the one that runs */
    int64_t output_ns;                              /* last chunk, -1 = none yet */
    int64_t *chunks_ns;                             /* kept for the truth log only */
    uint32_t chunk_count, chunk_capacity;
    int32_t status;
    enum sim_end end;
    struct strbuf waiting; /* rendered, not taken: the peer reads slowly */
    enum sim_answer_action waiting_action;
    uint32_t waiting_outputs;
    bool keep_alive;
    bool keeps_instants; /* for the truth log */
    bool is_stalled;     /* silent for ever, holds what it holds */
    bool is_counted;     /* count_end has run */
    uint8_t id_len;
    char id[ID_BYTES_MAX];
};

static struct sim_stream *stream_of(struct sim_batch_place *place)
{
    return (struct sim_stream *)(void *)((char *)place - offsetof(struct sim_stream, place));
}

static struct sim_stream *take_stream(struct sim_worker *worker)
{
    struct sim_stream *stream = worker->free_list;
    if (stream) {
        worker->free_list = stream->next;
        return stream;
    }
    stream = calloc(1, sizeof(*stream));
    if (!stream)
        return NULL;
    stream->worker = worker;
    stream->answer.profile = &worker->shared->profile;
    stream->answer.vocab = worker->shared->vocab;
    stream->answer.moment = &worker->moment;
    strbuf_init(&stream->waiting, 0);
    return stream;
}

void sim_stream_free_list(struct sim_stream *first)
{
    while (first) {
        struct sim_stream *next = first->next;
        strbuf_done(&first->waiting);
        free(first->chunks_ns);
        free(first);
        first = next;
    }
}

static void count_batch(struct sim_worker *worker)
{
    atomic_store_explicit(&worker->metrics.running, worker->batch.running, memory_order_relaxed);
    atomic_store_explicit(&worker->metrics.waiting, worker->batch.waiting, memory_order_relaxed);
}

/* Ends a connection whose answer cannot go on; one whose peer is gone ends by itself. */
static void or_drop(struct sim_stream *stream, as_status status)
{
    if (status != AS_OK && !stream->x->is_aborted)
        http_drop(stream->x, true);
}

static int64_t epoch_ns(const struct sim_stream *stream)
{
    return atomic_load_explicit(&stream->worker->shared->epoch_ns, memory_order_relaxed);
}

static int64_t later(const struct sim_stream *stream, int64_t from_ns, int64_t work_ns)
{
    return sim_pace_advance(&stream->answer.profile->pace, epoch_ns(stream), from_ns, work_ns);
}

static void await(struct sim_stream *stream)
{
    or_drop(stream, http_timer_set(stream->worker->loop, &stream->timer, (struct mono){stream->due_ns}));
}

/* A slot is held from `now_ns` on: plans the first output. */
static void begin_work(struct sim_stream *stream, int64_t now_ns)
{
    stream->begun_ns = now_ns;
    stream->due_ns = later(stream, now_ns, sim_answer_delay_ns(&stream->answer, stream->worker->batch.running));
    sim_metrics_observe(&stream->worker->metrics, SIM_DURATION_QUEUE, now_ns - stream->received_ns);
}

/* Gives the slot (or the place in the queue) back; the next in the queue begins. */
static void leave_batch(struct sim_stream *stream)
{
    struct sim_worker *worker = stream->worker;
    struct sim_batch_place *next = sim_batch_leave(&worker->batch, &stream->place);
    if (next && !stream_of(next)->is_stalled) {
        begin_work(stream_of(next), mono_now().ns);
        await(stream_of(next));
    }
    count_batch(worker);
}

static void count_end(struct sim_stream *stream)
{
    struct sim_metrics *metrics = &stream->worker->metrics;
    if (stream->is_counted)
        return;
    stream->is_counted = true;
    if (stream->status >= 400) {
        sim_metrics_add(&metrics->http_errors, 1);
        return;
    }
    enum sim_finish finish = stream->answer.is_cut ? SIM_FINISH_LENGTH : SIM_FINISH_STOP;
    sim_metrics_add(&metrics->finished[stream->end == SIM_END_COMPLETE ? finish : SIM_FINISH_ABORT], 1);
    sim_metrics_add(&metrics->prompt_tokens, stream->answer.prompt_tokens);
    if (stream->answer.chunks > 0)
        sim_metrics_add(&metrics->generation_tokens, stream->answer.tokens_done * stream->answer.ask.choices);
    if (stream->end == SIM_END_COMPLETE)
        sim_metrics_observe(metrics, SIM_DURATION_E2E, stream->end_ns - stream->received_ns);
}

static void finish(struct sim_stream *stream, enum sim_answer_action action)
{
    stream->end = action == SIM_ANSWER_END     ? SIM_END_COMPLETE
                  : action == SIM_ANSWER_RESET ? SIM_END_RESET
                                               : SIM_END_CLOSED;
    count_end(stream);
    leave_batch(stream);
    if (action == SIM_ANSWER_RESET || stream->head_ns < 0)
        http_drop(stream->x, action == SIM_ANSWER_RESET);
    else
        or_drop(stream, http_raw_end(stream->x, action == SIM_ANSWER_END && stream->keep_alive));
}

/* Gives instants to what is about to be sent: the head, the chunks since the last send, what may be the end. */
static void stamp(struct sim_stream *stream, uint32_t outputs, int64_t now_ns)
{
    struct sim_metrics *metrics = &stream->worker->metrics;
    if (stream->head_ns < 0)
        stream->head_ns = now_ns;
    stream->end_ns = now_ns;
    if (outputs == 0)
        return;
    if (stream->output_ns < 0)
        sim_metrics_observe(metrics, SIM_DURATION_TTFT, now_ns - stream->received_ns);
    else
        sim_metrics_observe(metrics, SIM_DURATION_ITL, now_ns - stream->output_ns);
    stream->output_ns = now_ns;
    for (uint32_t i = 0; i < outputs && stream->keeps_instants; i++)
        stream->chunks_ns[stream->chunk_count++] = now_ns;
}

/* The peer reads slowly: keeps what the server did not take, to be sent and given its instants later. */
static void keep_waiting(struct sim_stream *stream, uint32_t outputs, enum sim_answer_action action)
{
    struct strbuf *out = &stream->worker->out;
    strbuf_add(&stream->waiting, out->data, out->len);
    stream->waiting_action = action;
    stream->waiting_outputs = outputs;
    if (stream->keeps_instants)
        stream->chunk_count -= outputs;
}

/* Sends what was rendered and does what the answer wants next. False when the stream does not go on now. */
static bool send_out(struct sim_stream *stream, uint32_t outputs, enum sim_answer_action action)
{
    struct strbuf *out = &stream->worker->out;
    if (strbuf_status(out) != AS_OK) {
        http_drop(stream->x, true);
        return false;
    }
    if (out->len > 0) {
        const struct iovec part = {out->data, out->len};
        stamp(stream, outputs, mono_now().ns);
        as_status status = http_raw_send(stream->x, &part, 1);
        if (status == AS_E_LIMIT)
            keep_waiting(stream, outputs, action);
        if (status != AS_OK)
            return false; /* on_writable follows, or on_abort and on_done when the peer is gone */
    }
    stream->is_stalled = action == SIM_ANSWER_STALL;
    if (action != SIM_ANSWER_GO_ON && action != SIM_ANSWER_STALL)
        finish(stream, action);
    return action == SIM_ANSWER_GO_ON;
}

/* Room for the instants of this answer. */
static bool reserve_instants(struct sim_stream *stream)
{
    int64_t most = stream->answer.tokens + stream->answer.reasoning_tokens;
    if (!stream->worker->shared->truth || !stream->answer.ask.stream)
        return false;
    if (most <= stream->chunk_capacity)
        return true;
    int64_t *larger = realloc(stream->chunks_ns, (size_t)most * sizeof(*larger));
    if (!larger)
        return false;
    stream->chunks_ns = larger;
    stream->chunk_capacity = (uint32_t)most;
    return true;
}

/* One step, and those that are due at the same instant. */
static void step(struct sim_stream *stream)
{
    struct sim_worker *worker = stream->worker;
    struct sim_answer *answer = &stream->answer;
    enum sim_answer_action action;
    int64_t due_ns = stream->due_ns;
    int64_t before = answer->chunks;
    strbuf_reset(&worker->out);
    do {
        action = sim_answer_step(answer, &worker->out);
        if (action != SIM_ANSWER_GO_ON)
            break;
        stream->due_ns = later(stream, due_ns, sim_answer_delay_ns(answer, worker->batch.running));
    } while (stream->due_ns <= due_ns && worker->out.len < WRITE_BYTES);
    if (send_out(stream, (uint32_t)(answer->chunks - before), action))
        await(stream);
}

static void on_fire(struct http_timer *timer, struct mono now)
{
    (void)now;
    step((struct sim_stream *)(void *)((char *)timer - offsetof(struct sim_stream, timer)));
}

/* The number at the end of "run-7", so that a request's fate does not depend on the order of arrival; else `number`. */
static uint64_t key_of(const char *id, size_t len, int64_t number)
{
    size_t digits = 0;
    uint64_t value = 0, unit = 1;
    while (digits < len && digits < 18 && id[len - 1 - digits] >= '0' && id[len - 1 - digits] <= '9') {
        value += unit * (uint64_t)(id[len - 1 - digits] - '0');
        unit *= 10;
        digits++;
    }
    return digits > 0 && digits < len && id[len - 1 - digits] == '-' ? value : (uint64_t)number;
}

static void take_id(struct sim_stream *stream)
{
    struct http_text id = http_request_field(stream->x->request, "x-assay-id");
    stream->id_len = (uint8_t)(id.len < ID_BYTES_MAX ? id.len : ID_BYTES_MAX);
    if (stream->id_len)
        memcpy(stream->id, id.at, stream->id_len);
}

/* The date that answers show, made anew when the second changes. */
static void update_moment(struct sim_worker *worker, int64_t now_ns)
{
    int64_t unix_s = (now_ns + worker->shared->wall_offset_ns) / NS_PER_S;
    if (unix_s == worker->moment.unix_s)
        return;
    worker->moment.unix_s = unix_s;
    http_date_format(unix_s, worker->moment.date);
}

static void refuse(struct sim_stream *stream)
{
    struct strbuf body AS_AUTO_STRBUF;
    const struct http_answer answer = {.status = 503, .content_type = "application/json"};
    strbuf_init(&body, 0);
    stream->end = SIM_END_REFUSED;
    stream->status = 503;
    stream->head_ns = stream->end_ns = mono_now().ns;
    count_end(stream);
    sim_render_error(&body, 503, "the queue is full");
    or_drop(stream, http_answer(stream->x, &answer, strbuf_text(&body), body.len));
}

static void enter_batch(struct sim_stream *stream)
{
    struct sim_worker *worker = stream->worker;
    enum sim_batch_verdict verdict = sim_batch_enter(&worker->batch, &stream->place);
    count_batch(worker);
    if (verdict == SIM_BATCH_REFUSE) {
        refuse(stream);
        return;
    }
    strbuf_reset(&worker->out);
    if (!send_out(stream, 0, sim_answer_start(&stream->answer, &worker->out)) || verdict == SIM_BATCH_WAIT)
        return;
    begin_work(stream, stream->received_ns);
    if (stream->due_ns <= stream->received_ns)
        step(stream);
    else
        await(stream);
}

void sim_stream_begin(struct sim_worker *worker, struct http_exchange *x, const struct sim_ask *ask)
{
    struct sim_shared *shared = worker->shared;
    struct sim_stream *stream = take_stream(worker);
    int64_t none = 0;
    if (!stream) {
        http_drop(x, true);
        return;
    }
    x->user = stream;
    stream->x = x;
    stream->timer.on_fire = on_fire;
    stream->place = (struct sim_batch_place){0};
    stream->number = 1 + atomic_fetch_add_explicit(&shared->arrivals, 1, memory_order_relaxed);
    stream->received_ns = x->received.ns;
    (void)atomic_compare_exchange_strong_explicit(&shared->epoch_ns, &none, x->received.ns, memory_order_relaxed,
                                                  memory_order_relaxed);
    stream->begun_ns = stream->head_ns = stream->end_ns = stream->output_ns = -1;
    stream->chunk_count = 0;
    stream->is_stalled = stream->is_counted = false;
    stream->status = 200;
    stream->end = SIM_END_ABORTED;
    stream->keep_alive = x->request->keep_alive;
    update_moment(worker, stream->received_ns);
    take_id(stream);
    sim_answer_init(&stream->answer, ask, stream->number, key_of(stream->id, stream->id_len, stream->number));
    stream->answer.close = !stream->keep_alive;
    stream->keeps_instants = reserve_instants(stream);
    if (sim_answer_is_error(&stream->answer)) {
        stream->status = stream->answer.fault->status;
        strbuf_reset(&worker->out);
        (void)send_out(stream, 0, sim_answer_start(&stream->answer, &worker->out));
        return;
    }
    enter_batch(stream);
}

void sim_stream_writable(struct sim_stream *stream)
{
    struct sim_worker *worker = stream->worker;
    if (stream->waiting.len == 0)
        return;
    strbuf_reset(&worker->out);
    strbuf_add(&worker->out, stream->waiting.data, stream->waiting.len);
    strbuf_reset(&stream->waiting);
    if (send_out(stream, stream->waiting_outputs, stream->waiting_action))
        await(stream);
}

void sim_stream_abort(struct sim_stream *stream)
{
    http_timer_cancel(stream->worker->loop, &stream->timer);
    stream->end = SIM_END_ABORTED;
    count_end(stream);
    leave_batch(stream);
}

static void report(const struct sim_stream *stream)
{
    const struct sim_answer *answer = &stream->answer;
    int64_t done = answer->chunks > 0 ? answer->tokens_done : 0;
    int64_t reasoning = done < answer->reasoning_tokens ? done : answer->reasoning_tokens;
    uint32_t reasoning_chunks = (uint32_t)answer->reasoning_chunks;
    const struct sim_truth_record record = {
        .id = stream->id,
        .id_len = stream->id_len,
        .number = stream->number,
        .received_ns = stream->received_ns,
        .begun_ns = stream->begun_ns,
        .head_ns = stream->head_ns,
        .end_ns = stream->end == SIM_END_ABORTED ? -1 : stream->end_ns,
        .chunks_ns = stream->chunks_ns,
        .chunk_count = stream->chunk_count,
        .reasoning_chunk_count = reasoning_chunks < stream->chunk_count ? reasoning_chunks : stream->chunk_count,
        .tokens = done - reasoning,
        .reasoning_tokens = reasoning,
        .prompt_tokens = answer->prompt_tokens,
        .status = stream->status,
        .choices = (int32_t)answer->ask.choices,
        .fault = answer->fault ? (int32_t)answer->fault->kind : -1,
        .end = stream->end,
        .stream = answer->ask.stream,
    };
    (void)sim_truth_put(stream->worker->shared->truth, stream->worker->index, &record);
}

void sim_stream_done(struct sim_stream *stream)
{
    struct sim_worker *worker = stream->worker;
    http_timer_cancel(worker->loop, &stream->timer);
    leave_batch(stream);
    if (worker->shared->truth)
        report(stream);
    strbuf_reset(&stream->waiting);
    stream->x = NULL;
    stream->next = worker->free_list;
    worker->free_list = stream;
}
