/* SPDX-License-Identifier: Apache-2.0 */
#ifndef TESTS_UNIT_ENGINE_FAKE_NET_H
#define TESTS_UNIT_ENGINE_FAKE_NET_H

/*
 * A transport and a clock for tests of the engine: both are defined here, so the linker takes them instead of net's and
 * base/clock's. Time moves only in net_loop_poll, to the next thing that happens. Each exchange plays a list of steps
 * that the test's `serve` function gives it. One thread, one loop. Include it from one file of a test.
 */

#include "engine/engine.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#define US               NS_PER_US
#define MS               NS_PER_MS
#define S                NS_PER_S
#define FAKE_RUNNING_MAX 4096
#define FAKE_EPOCH_NS    INT64_C(1000000000000)

enum fake_kind { FAKE_HEAD, FAKE_DATA, FAKE_END };

/* What happens `after_ns` after the step before; steps at one instant are one read. */
struct fake_step {
    int64_t after_ns;
    enum fake_kind kind;
    const char *data;               /* FAKE_DATA; FAKE_END: the sentence of a failure */
    size_t len;                     /* 0 = strlen(data) */
    enum net_end end;               /* FAKE_END */
    struct http_response_head head; /* FAKE_HEAD */
    bool is_inside_chunk;           /* FAKE_DATA: the read ends inside an HTTP chunk */
};

struct fake_exchange {
    struct net_exchange *x;
    const struct fake_step *steps;
    int64_t next_ns;
};

static struct {
    int64_t now_ns;
    /* The steps of a try that was just started; they stay valid. Bytes of the request are in x->parts. */
    const struct fake_step *(*serve)(struct net_exchange *x);
    void (*at_poll)(void); /* before each poll; NULL = nothing */
    int64_t alarm_ns;      /* since the epoch: a poll lasts no longer than until then */
    struct fake_exchange running[FAKE_RUNNING_MAX];
    size_t running_count, peak;
    uint64_t started, cancelled, polls;
    bool is_woken;
    int64_t lag_ns; /* user stamp − kernel stamp of every read; < 0 = no kernel stamps */
} fake;

static inline void fake_reset(const struct fake_step *(*serve)(struct net_exchange *x))
{
    memset(&fake, 0, sizeof fake);
    fake.now_ns = FAKE_EPOCH_NS;
    fake.serve = serve;
    fake.lag_ns = -1;
}

/* ns since the engine's epoch, which is when it was run. */
static inline int64_t fake_now(void)
{
    return fake.now_ns - FAKE_EPOCH_NS;
}

/* ---- base/clock.h ---- */

struct mono mono_now(void)
{
    return (struct mono){fake.now_ns};
}
struct wall wall_now(void)
{
    return (struct wall){fake.now_ns};
}
int64_t cpu_process_ns(void)
{
    return 0;
}
int64_t cpu_thread_ns(void)
{
    return 0;
}
struct clock_offset clock_offset_measure(int rounds)
{
    (void)rounds;
    return (struct clock_offset){0, 0, {fake.now_ns}};
}
void mono_sleep_until(struct mono t)
{
    fake.now_ns = t.ns;
}

/* ---- net/net.h ---- */

struct net_loop {
    int unused;
};

bool net_loop_await_stamps(struct net_loop *loop, int64_t timeout_ns)
{
    (void)loop, (void)timeout_ns;
    return true;
}

as_status net_loop_new(const struct net_options *options, struct net_endpoint *const *endpoints,
                       uint32_t endpoint_count, struct net_loop **ret, struct as_error *err)
{
    static struct net_loop loop;
    (void)options, (void)endpoints, (void)endpoint_count, (void)err;
    *ret = &loop;
    return AS_OK;
}

static inline void fake_forget(struct net_exchange *x)
{
    for (size_t i = 0; i < fake.running_count; i++) {
        if (fake.running[i].x == x) {
            fake.running[i] = fake.running[--fake.running_count];
            return;
        }
    }
    fail_msg("an exchange that is not running");
}

void net_loop_free(struct net_loop *loop)
{
    (void)loop;
    assert_int_equal(fake.running_count, 0);
}

void net_exchange_start(struct net_loop *loop, struct net_exchange *x)
{
    (void)loop;
    for (size_t i = 0; i < fake.running_count; i++)
        assert_ptr_not_equal(fake.running[i].x, x);
    assert_in_range(fake.running_count, 0, FAKE_RUNNING_MAX - 1);
    x->connect_start_ns = x->connected_ns = x->tls_done_ns = x->first_byte_ns = -1;
    x->written_ns = fake.now_ns;
    x->bytes_sent = x->bytes_received = 0;
    x->reused = x->reconnected = x->unclean = x->local_limit = false;
    x->error_number = 0;
    x->error[0] = '\0';
    const struct fake_step *steps = fake.serve(x);
    fake.running[fake.running_count++] = (struct fake_exchange){x, steps, fake.now_ns + steps->after_ns};
    fake.started++;
    if (fake.running_count > fake.peak)
        fake.peak = fake.running_count;
}

void net_exchange_cancel(struct net_loop *loop, struct net_exchange *x)
{
    (void)loop;
    fake_forget(x);
    fake.cancelled++;
    x->ops->on_end(x, NET_END_CANCELLED);
}

/* Plays the steps of one exchange that are due now, as one read. */
static inline void fake_play(struct fake_exchange *running)
{
    struct net_exchange *x = running->x;
    const struct net_stamp stamp = {fake.lag_ns < 0 ? -1 : fake.now_ns - fake.lag_ns, fake.now_ns, -1};
    bool is_read = false, is_inside = false;
    for (;;) {
        const struct fake_step *step = running->steps++;
        running->next_ns = INT64_MAX;
        switch (step->kind) {
        case FAKE_HEAD:
            x->first_byte_ns = fake.now_ns;
            x->ops->on_head(x, &step->head, &stamp);
            is_read = true;
            break;
        case FAKE_DATA: {
            size_t len = step->len ? step->len : strlen(step->data);
            x->bytes_received += len;
            x->ops->on_span(x, step->data, len, &stamp);
            is_read = true;
            is_inside = step->is_inside_chunk;
            break;
        }
        case FAKE_END:
            if (is_read)
                x->ops->on_read_end(x, &stamp, true);
            if (step->data)
                snprintf(x->error, sizeof x->error, "%s", step->data);
            fake_forget(x);
            x->ops->on_end(x, step->end);
            return;
        }
        if (running->steps->after_ns > 0) {
            running->next_ns = fake.now_ns + running->steps->after_ns;
            x->ops->on_read_end(x, &stamp, !is_inside);
            return;
        }
    }
}

struct mono net_loop_poll(struct net_loop *loop, struct mono until)
{
    (void)loop;
    fake.polls++;
    if (fake.at_poll)
        fake.at_poll();
    int64_t next_ns = until.ns;
    for (size_t i = 0; i < fake.running_count; i++)
        next_ns = fake.running[i].next_ns < next_ns ? fake.running[i].next_ns : next_ns;
    if (fake_now() < fake.alarm_ns && FAKE_EPOCH_NS + fake.alarm_ns < next_ns)
        next_ns = FAKE_EPOCH_NS + fake.alarm_ns;
    if (fake.is_woken)
        next_ns = fake.now_ns;
    fake.is_woken = false;
    if (next_ns > fake.now_ns)
        fake.now_ns = next_ns;
    struct mono returned = {fake.now_ns};
    for (size_t i = 0; i < fake.running_count;) {
        struct net_exchange *x = fake.running[i].x;
        if (fake.running[i].next_ns > fake.now_ns) {
            i++;
            continue;
        }
        fake_play(&fake.running[i]);
        i = i < fake.running_count && fake.running[i].x == x && fake.running[i].next_ns > fake.now_ns ? i + 1 : i;
    }
    return returned;
}

void net_loop_wake(struct net_loop *loop)
{
    (void)loop;
    fake.is_woken = true;
}

void net_loop_prewarm(struct net_loop *loop, uint32_t endpoint, uint32_t count)
{
    (void)loop, (void)endpoint, (void)count;
}

void net_loop_counters(const struct net_loop *loop, struct net_counters *ret)
{
    (void)loop;
    memset(ret, 0, sizeof *ret);
    ret->requests = fake.started;
}

/* ---- a modality and a sink ---- */

struct fake_answer {
    int64_t seq;
    bool is_begun, is_stream, is_done;
    int64_t events, bodies, read_ends;
    int last_read_end; /* what the last one said: 1 = exact */
    char text[256];    /* of the body or all events */
    struct arrival last;
    char id[32];
};

struct fake_run {
    /* settings */
    struct engine_plan plan;
    struct engine_options options;
    uint32_t endpoint_count;
    struct engine_endpoint endpoints[8];
    struct net_endpoint nets[8];
    bool expects_stream;
    int64_t build_ns; /* how long building takes */
    bool (*refuses)(int64_t seq);
    void (*judge)(struct fake_answer *answer, struct request_record *record, const struct answer_close *close);
    void (*on_record)(const struct request_record *record);
    /* results */
    struct request_record records[8192];
    char messages[8192][128];
    size_t record_count;
    struct fake_answer answers[64]; /* of the first requests, as they were at the end */
    struct engine_result result;
    struct engine *engine;
    int64_t built, begun, ended;
    bool is_started;
};

static struct fake_run run;

static inline as_status fake_build(void *context, void *answer, int64_t seq, struct payload *ret, struct as_error *err)
{
    struct fake_answer *a = answer;
    (void)context;
    memset(a, 0, sizeof *a);
    a->seq = seq;
    run.built++;
    fake.now_ns += run.build_ns;
    snprintf(a->id, sizeof a->id, "p%lld", (long long)seq);
    ret->path = "/test";
    ret->content_type = "application/json";
    ret->accept = "*/*";
    ret->prompt_id = a->id;
    ret->parts[0] = (struct iovec){(void *)(uintptr_t) "{}", 2};
    ret->part_count = 1;
    ret->expects_stream = run.expects_stream;
    if (run.refuses && run.refuses(seq))
        return error_set(err, AS_E_INVALID, "sample %lld cannot be read", (long long)seq);
    return AS_OK;
}

static inline void fake_begin(void *context, void *answer, const struct http_response_head *head, bool is_stream)
{
    struct fake_answer *a = answer;
    int64_t seq = a->seq;
    (void)context, (void)head;
    memset(a, 0, offsetof(struct fake_answer, id));
    a->seq = seq;
    a->is_begun = true;
    a->is_stream = is_stream;
    run.begun++;
}

static inline void fake_add_text(struct fake_answer *a, const char *data, size_t len)
{
    size_t had = strlen(a->text), room = sizeof a->text - 1 - had;
    memcpy(a->text + had, data, len < room ? len : room);
}

static inline bool fake_event(void *context, void *answer, const struct sse_event *event, const struct arrival *arrival)
{
    struct fake_answer *a = answer;
    (void)context;
    assert_true(a->is_begun && a->is_stream && !a->is_done);
    a->last = *arrival;
    if (event->len == 6 && memcmp(event->data, "[DONE]", 6) == 0) {
        a->is_done = true;
        return true;
    }
    a->events++;
    fake_add_text(a, event->data, event->len);
    return false;
}

static inline void fake_body(void *context, void *answer, const char *data, size_t len, const struct arrival *arrival)
{
    struct fake_answer *a = answer;
    (void)context;
    assert_true(a->is_begun && !a->is_stream);
    a->bodies++;
    a->last = *arrival;
    fake_add_text(a, data, len);
}

static inline void fake_read_end(void *context, void *answer, bool last_is_exact)
{
    struct fake_answer *a = answer;
    (void)context;
    a->read_ends++;
    a->last_read_end = last_is_exact;
}

static inline void fake_end(void *context, void *answer, const struct answer_close *close, const struct sse_reader *sse,
                            struct request_record *record)
{
    struct fake_answer *a = answer;
    (void)context;
    assert_non_null(sse);
    assert_true(a->is_begun);
    run.ended++;
    record->done_seen = a->is_done;
    if (run.judge)
        run.judge(a, record, close);
    if (record->seq < 64)
        run.answers[record->seq] = *a;
}

static inline void fake_start(void *context, struct mono epoch, const struct clock_offset *offset)
{
    (void)context, (void)offset;
    assert_int_equal(epoch.ns, FAKE_EPOCH_NS);
    assert_int_equal(run.record_count, 0);
    run.is_started = true;
}

static inline void fake_put(void *context, uint32_t thread, const struct request_record *record)
{
    (void)context;
    assert_int_equal(thread, 0);
    assert_true(run.is_started);
    assert_in_range(run.record_count, 0, 8191);
    if (record->error_message.at)
        snprintf(run.messages[run.record_count], sizeof run.messages[0], "%.*s", (int)record->error_message.len,
                 record->error_message.at);
    run.records[run.record_count++] = *record;
    if (run.on_record)
        run.on_record(record);
}

static inline struct fake_run *fake_settings(const struct fake_step *(*serve)(struct net_exchange *x))
{
    memset(&run, 0, sizeof run);
    fake_reset(serve);
    run.endpoint_count = 1;
    run.options.threads = 1;
    run.options.run_id = "r";
    run.options.balance = BALANCE_ROUND_ROBIN;
    run.options.drain_ns = 10 * S;
    run.plan.concurrency = 1;
    run.plan.request_count = 1;
    return &run;
}

static inline void fake_engine_run(void)
{
    static const struct modality modality = {"test",     sizeof(struct fake_answer),
                                             4096,       fake_build,
                                             fake_begin, fake_event,
                                             fake_body,  fake_read_end,
                                             fake_end,   NULL};
    const struct record_sink sink = {NULL, fake_start, fake_put};
    struct as_error err = {.message = ""};
    for (uint32_t i = 0; i < run.endpoint_count; i++) {
        run.nets[i].name = run.nets[i].host_header = run.nets[i].path_prefix = (char *)(uintptr_t) "h";
        run.endpoints[i].net = &run.nets[i];
        run.endpoints[i].weight = run.endpoints[i].weight ? run.endpoints[i].weight : 1;
    }
    const struct engine_setup setup = {&run.plan, &run.options, run.endpoints, run.endpoint_count,
                                       &modality, NULL,         sink};
    if (engine_prepare(&setup, &run.engine, &err) != AS_OK)
        fail_msg("engine_prepare: %s", err.message);
    assert_int_equal(engine_run(run.engine, &run.result, &err), AS_OK);
    const struct engine_progress *progress = engine_progress(run.engine);
    assert_int_equal(progress->in_flight, 0);
    assert_int_equal(progress->sent, progress->ok + progress->failed + progress->timed_out + progress->cancelled);
    assert_int_equal(run.record_count, progress->sent + progress->refused);
    assert_int_equal(run.result.planned, progress->sent + progress->refused + run.result.skipped);
    assert_int_equal(run.ended, progress->sent);
    assert_int_equal(engine_run(run.engine, &run.result, &err), AS_E_STATE);
    engine_free(run.engine);
    run.engine = NULL;
}

/* Heads for steps. */
#define FAKE_STREAM_HEAD                                                                                               \
    {                                                                                                                  \
        .status = 200, .minor = 1, .chunked = true, .content_length = -1, .media = HTTP_MEDIA_EVENT_STREAM,            \
        .retry_after_s = -1                                                                                            \
    }
#define FAKE_JSON_HEAD(bytes)                                                                                          \
    {                                                                                                                  \
        .status = 200, .minor = 1, .content_length = (bytes), .media = HTTP_MEDIA_JSON, .retry_after_s = -1            \
    }
#define FAKE_ERROR_HEAD(code, after_s)                                                                                 \
    {                                                                                                                  \
        .status = (code), .minor = 1, .chunked = true, .content_length = -1, .media = HTTP_MEDIA_JSON,                 \
        .retry_after_s = (after_s)                                                                                     \
    }

#endif
