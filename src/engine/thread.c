/* SPDX-License-Identifier: Apache-2.0 */
#include "engine/internal.h"

#include <stdlib.h>
#include <string.h>

/* How long after a due time the threads that do not wait for it look whether it was met. */
#define BACKUP_NS (INT64_C(250) * NS_PER_US)
/* How often a thread looks when only other threads' requests hold it up. */
#define CAPPED_LOOK_NS (INT64_C(5) * NS_PER_MS)
#define IDLE_NS        NS_PER_S
/* How often a thread that is held back looks whether it still is. */
#define HELD_LOOK_NS (INT64_C(5) * NS_PER_MS)
/* Requests begun in a row before sockets are looked at again. */
#define BEGIN_IN_A_ROW_MAX 1024
#define PREWARM_MAX_NS     (INT64_C(60) * NS_PER_S)

as_status thread_init(struct engine_thread *thread, struct engine *engine, uint32_t index, struct as_error *err)
{
    uint32_t concurrency = engine->plan.concurrency;
    thread->engine = engine;
    thread->index = index;
    thread->status = AS_OK;
    thread->last_done_ns = -1;
    if (concurrency > 0)
        thread->permits = concurrency / engine->thread_count + (index < concurrency % engine->thread_count);
    return net_loop_new(&engine->options.net, engine->net_endpoints, engine->endpoint_count, &thread->loop, err);
}

/* ---- slots ---- */

/* Slots come in blocks, so that an open loop may need more at any time. */
struct slot_block {
    struct slot_block *next;
    struct slot slots[];
};

static void slot_done(struct slot *slot)
{
    const struct engine *engine = slot->thread->engine;
    if (engine->modality->answer_done)
        engine->modality->answer_done(engine->modality_context, slot->answer);
    sse_reader_done(&slot->sse);
    strbuf_done(&slot->body);
    head_buffer_done(&slot->head_bytes);
}

void thread_done(struct engine_thread *thread)
{
    net_loop_free(thread->loop);
    thread->loop = NULL;
    for (struct slot *slot = thread->all; slot; slot = slot->next_all)
        slot_done(slot);
    while (thread->blocks) {
        struct slot_block *block = thread->blocks;
        thread->blocks = block->next;
        free(block);
    }
    thread->all = thread->free = NULL;
}

static size_t round_up(size_t bytes)
{
    return (bytes + 63) / 64 * 64;
}

/* Slots, then their answers, then their lists of tries. */
static bool add_block(struct engine_thread *thread, uint32_t count)
{
    const struct engine *engine = thread->engine;
    size_t answers_at = round_up(sizeof(struct slot_block) + count * sizeof(struct slot));
    size_t tries_at = answers_at + count * engine->answer_stride;
    size_t bytes = round_up(tries_at + count * engine->tries_max * sizeof(struct record_attempt));
    char *memory = aligned_alloc(64, bytes);
    if (!memory)
        return false;
    memset(memory, 0, bytes);
    struct slot_block *block = (struct slot_block *)(void *)memory;
    block->next = thread->blocks;
    thread->blocks = block;
    for (uint32_t i = count; i-- > 0;) {
        struct slot *slot = &block->slots[i];
        slot->x.ops = &answer_ops;
        slot->thread = thread;
        slot->answer = memory + answers_at + i * engine->answer_stride;
        slot->attempts = (struct record_attempt *)(void *)(memory + tries_at) + i * engine->tries_max;
        strbuf_init(&slot->body, 0);
        slot->next_all = thread->all;
        thread->all = slot;
        slot->next_free = thread->spare;
        thread->spare = slot;
    }
    return true;
}

/* Moves a spare slot to the free ones, making spare ones when there are none. */
static bool open_slot(struct engine_thread *thread)
{
    uint32_t count = SLOT_BLOCK;
    if (thread->permits && thread->permits - thread->opened < count)
        count = thread->permits - thread->opened;
    if (!thread->spare && !add_block(thread, count)) {
        thread->status = AS_E_NOMEM;
        engine_stop(thread->engine);
        return false;
    }
    struct slot *slot = thread->spare;
    thread->spare = slot->next_free;
    slot->next_free = thread->free;
    thread->free = slot;
    thread->opened++;
    return true;
}

static int64_t next_permit_ns(const struct engine_thread *thread)
{
    if (thread->opened >= thread->permits)
        return SCHEDULE_FOREVER;
    return schedule_permit_opens_ns(&thread->engine->plan,
                                    thread->opened * thread->engine->thread_count + thread->index);
}

/* True when a slot is free: a permit (closed loop), or room for one more request (open loop). */
static bool have_slot(struct engine_thread *thread, int64_t now_ns)
{
    if (thread->free)
        return true;
    bool may_open = thread->engine->plan.concurrency == 0 || next_permit_ns(thread) <= now_ns;
    return may_open && open_slot(thread);
}

/* ---- begin what may begin ---- */

/*
 * When this thread asks the schedule again for a request due at due_ns. One thread at a time waits for exactly that
 * moment, so that a due time does not wake all; the others look a little later whether it was met.
 */
static int64_t wait_for_due(struct engine_thread *thread, int64_t due_ns, int64_t now_ns)
{
    struct engine *engine = thread->engine;
    int32_t none = -1;
    if (engine->plan.concurrency > 0)
        return due_ns;
    if (due_ns == SCHEDULE_FOREVER)
        return now_ns + CAPPED_LOOK_NS;
    bool is_waiter = atomic_compare_exchange_strong_explicit(&engine->waiter, &none, (int32_t)thread->index,
                                                             memory_order_relaxed, memory_order_relaxed) ||
                     none == (int32_t)thread->index;
    return is_waiter ? due_ns : due_ns + BACKUP_NS;
}

/* A run that is being stopped begins nothing anyway: it must not wait for room to notice. */
static bool is_held_back(const struct engine_thread *thread)
{
    const struct engine_options *options = &thread->engine->options;
    return options->may_begin && !thread->is_stop_seen &&
           !options->may_begin(options->may_begin_context, thread->index);
}

/*
 * Begins whatever may begin now. Called between two looks at the sockets and not where a request ends: sends in a row
 * find the server awake, where a send after each answer would wake it every time.
 */
static void fill(struct engine_thread *thread, int64_t now_ns)
{
    if (thread->is_over)
        return;
    thread->wake_ns = 0;
    for (int i = 0; i < BEGIN_IN_A_ROW_MAX; i++) {
        struct schedule_request request;
        if (!have_slot(thread, now_ns)) {
            thread->wake_ns = next_permit_ns(thread);
            break;
        }
        if (is_held_back(thread)) {
            thread->wake_ns = now_ns + HELD_LOOK_NS;
            break;
        }
        enum schedule_answer answer = schedule_take(&thread->engine->schedule, now_ns, &request);
        if (answer == SCHEDULE_OVER)
            thread->is_over = true;
        if (answer == SCHEDULE_WAIT)
            thread->wake_ns = wait_for_due(thread, request.due_ns, now_ns);
        if (answer != SCHEDULE_BEGIN)
            break;
        struct slot *slot = thread->free;
        thread->free = slot->next_free;
        now_ns = request_begin(slot, &request, now_ns);
    }
}

/* ---- timers and stop ---- */

static struct slot *slot_of_deadline(struct timer *timer)
{
    return (struct slot *)(void *)((char *)timer - offsetof(struct slot, deadline));
}

static struct slot *slot_of_wait(struct timer *timer)
{
    return (struct slot *)(void *)((char *)timer - offsetof(struct slot, wait));
}

static void run_timers(struct engine_thread *thread, int64_t now_ns)
{
    struct timer *timer;
    while ((timer = timer_take_due(&thread->deadlines, now_ns)) != NULL)
        request_abort(slot_of_deadline(timer), ABORT_TIMEOUT);
    while ((timer = timer_take_due(&thread->waits, now_ns)) != NULL) {
        struct slot *slot = slot_of_wait(timer);
        if (slot->state == SLOT_BACKOFF)
            request_retry(slot);
        else
            request_abort(slot, (enum slot_abort)slot->abort);
    }
}

static void abort_all(struct engine_thread *thread)
{
    for (struct slot *slot = thread->all; slot; slot = slot->next_all) {
        if (slot->state != SLOT_FREE)
            request_abort(slot, ABORT_STOP);
    }
}

static void heed_stop(struct engine_thread *thread, int64_t now_ns)
{
    struct engine *engine = thread->engine;
    int stops = atomic_load_explicit(&engine->stops, memory_order_relaxed);
    if (stops == 0)
        return;
    if (!thread->is_stop_seen) {
        int64_t unset = -1;
        thread->is_stop_seen = true;
        schedule_stop(&engine->schedule);
        atomic_compare_exchange_strong_explicit(&engine->drain_until_ns, &unset, now_ns + engine->options.drain_ns,
                                                memory_order_relaxed, memory_order_relaxed);
    }
    bool is_drained = now_ns >= atomic_load_explicit(&engine->drain_until_ns, memory_order_relaxed);
    if (thread->busy == 0 || (stops < 2 && !is_drained))
        return;
    thread->has_drain_expired = stops < 2;
    abort_all(thread);
}

static struct mono next_wake(const struct engine_thread *thread, int64_t now_ns)
{
    const struct engine *engine = thread->engine;
    int64_t at_ns = timer_first_ns(&thread->deadlines);
    int64_t others[] = {
        timer_first_ns(&thread->waits),
        thread->is_over ? INT64_MAX : thread->wake_ns,
        thread->is_stop_seen ? atomic_load_explicit(&engine->drain_until_ns, memory_order_relaxed) : INT64_MAX,
        now_ns + IDLE_NS,
    };
    for (size_t i = 0; i < sizeof others / sizeof *others; i++)
        at_ns = others[i] < at_ns ? others[i] : at_ns;
    return mono_add_ns(engine->epoch, at_ns);
}

/* ---- the loop ---- */

/* Connections opened ahead, split over endpoints by weight and rounded up. */
static void prewarm(struct engine_thread *thread)
{
    const struct engine *engine = thread->engine;
    struct net_counters counters;
    uint64_t wanted = thread->permits;
    if (engine->plan.concurrency == 0)
        wanted = (engine->plan.max_concurrency + engine->thread_count - 1) / engine->thread_count;
    for (uint32_t i = 0; wanted > 0 && i < engine->endpoint_count; i++)
        net_loop_prewarm(thread->loop, i,
                         (uint32_t)((wanted * engine->weights[i] + engine->weight_sum - 1) / engine->weight_sum));
    struct mono until = mono_add_ns(mono_now(), PREWARM_MAX_NS);
    do {
        struct mono now = net_loop_poll(thread->loop, mono_add_ns(mono_now(), IDLE_NS / 100));
        net_loop_counters(thread->loop, &counters);
        if (mono_diff_ns(now, until) > 0 || atomic_load_explicit(&thread->engine->stops, memory_order_relaxed))
            break;
    } while (counters.connecting_now > 0);
}

/* Says that this thread is ready and waits for the others; false when the run is off. */
static bool pass_gate(struct engine *engine)
{
    pthread_mutex_lock(&engine->gate_mutex);
    engine->gate_ready++;
    pthread_cond_broadcast(&engine->gate_moved);
    while (engine->gate == GATE_SHUT)
        pthread_cond_wait(&engine->gate_moved, &engine->gate_mutex);
    bool is_open = engine->gate == GATE_OPEN;
    pthread_mutex_unlock(&engine->gate_mutex);
    return is_open;
}

static void thread_loop(struct engine_thread *thread)
{
    struct engine *engine = thread->engine;
    for (;;) {
        int64_t now_ns = engine_now_ns(engine);
        heed_stop(thread, now_ns);
        fill(thread, now_ns);
        if (thread->is_over && thread->busy == 0)
            break;
        struct mono woken = net_loop_poll(thread->loop, next_wake(thread, now_ns));
        int32_t self = (int32_t)thread->index;
        if (engine->plan.concurrency == 0)
            atomic_compare_exchange_strong_explicit(&engine->waiter, &self, -1, memory_order_relaxed,
                                                    memory_order_relaxed);
        run_timers(thread, mono_diff_ns(woken, engine->epoch));
    }
}

void thread_run(struct engine_thread *thread)
{
    if (thread->engine->options.prewarm)
        prewarm(thread);
    if (thread->index == 0 ? engine_open_gate(thread->engine) : pass_gate(thread->engine))
        thread_loop(thread);
}
