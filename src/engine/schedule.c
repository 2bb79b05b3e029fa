/* SPDX-License-Identifier: Apache-2.0 */
#include "engine/schedule.h"

#include <string.h>

/* How many numbers below `limit` belong to this shard. */
static int64_t shard_share(const struct schedule *schedule, int64_t limit)
{
    if (limit <= schedule->shard)
        return 0;
    return (limit - 1 - schedule->shard) / schedule->shard_count + 1;
}

void schedule_init(struct schedule *schedule, const struct engine_plan *plan)
{
    memset(schedule, 0, sizeof *schedule);
    schedule->plan = plan;
    schedule->shard_count = plan->shard_count ? plan->shard_count : 1;
    schedule->shard = plan->shard_count ? plan->shard : 0;
    schedule->count = shard_share(schedule, plan->request_count);
    schedule->warmup_count = shard_share(schedule, plan->warmup_count);
    atomic_init(&schedule->measured_start_ns, -1);
    atomic_init(&schedule->cap_full_until_ns, -1);
    atomic_init(&schedule->is_open, !plan->warmup_barrier || schedule->warmup_count == 0);
}

bool schedule_is_warmup(const struct schedule *schedule, int64_t seq)
{
    return seq < schedule->plan->warmup_count;
}

static int64_t limit_ns(const struct schedule *schedule)
{
    const struct engine_plan *plan = schedule->plan;
    int64_t limit = plan->stop_after_ns > 0 ? plan->stop_after_ns : SCHEDULE_FOREVER;
    int64_t start = atomic_load_explicit(&schedule->measured_start_ns, memory_order_relaxed);
    if (plan->duration_ns > 0 && start >= 0 && plan->duration_ns < limit - start)
        limit = start + plan->duration_ns;
    return limit;
}

static bool take_place(struct schedule *schedule)
{
    uint32_t max = schedule->plan->max_concurrency;
    uint32_t taken = atomic_load_explicit(&schedule->capped, memory_order_relaxed);
    while (taken < max) {
        if (atomic_compare_exchange_weak_explicit(&schedule->capped, &taken, taken + 1, memory_order_relaxed,
                                                  memory_order_relaxed))
            return true;
    }
    return false;
}

static void give_place(struct schedule *schedule, int64_t now_ns)
{
    uint32_t taken = atomic_fetch_sub_explicit(&schedule->capped, 1, memory_order_relaxed);
    if (taken == schedule->plan->max_concurrency)
        atomic_store_explicit(&schedule->cap_full_until_ns, now_ns, memory_order_relaxed);
}

static bool is_capped(const struct schedule *schedule)
{
    return schedule->plan->concurrency == 0 && schedule->plan->max_concurrency > 0;
}

/* What may be done with request `seq` now; *ret_due_ns is its due time, or when to ask again. */
static enum schedule_answer judge(const struct schedule *schedule, int64_t seq, int64_t now_ns, int64_t *ret_due_ns)
{
    const struct engine_plan *plan = schedule->plan;
    int64_t limit = limit_ns(schedule);
    *ret_due_ns = -1;
    if (now_ns >= limit)
        return SCHEDULE_OVER;
    bool is_measured = !schedule_is_warmup(schedule, seq);
    if (is_measured && !atomic_load_explicit(&schedule->is_open, memory_order_acquire)) {
        *ret_due_ns = SCHEDULE_FOREVER;
        return SCHEDULE_WAIT;
    }
    if (plan->concurrency > 0)
        return SCHEDULE_BEGIN;
    int64_t due_ns = plan->due_ns[seq];
    if (is_measured)
        due_ns += atomic_load_explicit(&schedule->shift_ns, memory_order_relaxed);
    *ret_due_ns = due_ns;
    if (due_ns >= limit)
        return SCHEDULE_OVER;
    return due_ns > now_ns ? SCHEDULE_WAIT : SCHEDULE_BEGIN;
}

enum schedule_answer schedule_take(struct schedule *schedule, int64_t now_ns, struct schedule_request *ret)
{
    int64_t index = atomic_load_explicit(&schedule->next, memory_order_relaxed);
    for (;;) {
        if (index >= schedule->count || atomic_load_explicit(&schedule->is_stopped, memory_order_relaxed))
            return SCHEDULE_OVER;
        int64_t seq = index * schedule->shard_count + schedule->shard;
        int64_t due_ns;
        enum schedule_answer answer = judge(schedule, seq, now_ns, &due_ns);
        if (answer == SCHEDULE_WAIT)
            ret->due_ns = due_ns;
        if (answer != SCHEDULE_BEGIN)
            return answer;
        if (is_capped(schedule) && !take_place(schedule)) {
            ret->due_ns = SCHEDULE_FOREVER;
            return SCHEDULE_WAIT;
        }
        if (atomic_compare_exchange_weak_explicit(&schedule->next, &index, index + 1, memory_order_relaxed,
                                                  memory_order_relaxed)) {
            *ret = (struct schedule_request){seq, due_ns};
            return SCHEDULE_BEGIN;
        }
        if (is_capped(schedule))
            atomic_fetch_sub_explicit(&schedule->capped, 1, memory_order_relaxed);
    }
}

void schedule_sent(struct schedule *schedule, int64_t seq, int64_t sent_ns)
{
    if (schedule_is_warmup(schedule, seq) ||
        atomic_load_explicit(&schedule->measured_start_ns, memory_order_relaxed) >= 0)
        return;
    int64_t unset = -1;
    int64_t start = sent_ns > schedule->plan->ramp_up_ns ? sent_ns : schedule->plan->ramp_up_ns;
    atomic_compare_exchange_strong_explicit(&schedule->measured_start_ns, &unset, start, memory_order_relaxed,
                                            memory_order_relaxed);
}

bool schedule_is_late(const struct schedule *schedule, int64_t due_ns, int64_t sent_ns)
{
    const struct engine_plan *plan = schedule->plan;
    if (due_ns < 0)
        return false;
    if (plan->request_count > 1 && plan->due_ns[plan->request_count - 1] == plan->due_ns[0])
        return false; /* all are due at once: no rate is kept or missed */
    int64_t free_ns = atomic_load_explicit(&schedule->cap_full_until_ns, memory_order_relaxed);
    return sent_ns - (free_ns > due_ns ? free_ns : due_ns) > SCHEDULE_LATE_NS;
}

static bool open_barrier(struct schedule *schedule, int64_t now_ns)
{
    const struct engine_plan *plan = schedule->plan;
    if (atomic_load_explicit(&schedule->is_open, memory_order_relaxed))
        return false;
    int64_t first = schedule->warmup_count * schedule->shard_count + schedule->shard;
    if (plan->concurrency == 0 && first < plan->request_count && plan->due_ns[first] < now_ns)
        atomic_store_explicit(&schedule->shift_ns, now_ns - plan->due_ns[first], memory_order_relaxed);
    atomic_store_explicit(&schedule->is_open, true, memory_order_release);
    return true;
}

bool schedule_ended(struct schedule *schedule, int64_t seq, int64_t now_ns)
{
    if (is_capped(schedule))
        give_place(schedule, now_ns);
    if (!schedule_is_warmup(schedule, seq))
        return false;
    int64_t done = atomic_fetch_add_explicit(&schedule->warmup_done, 1, memory_order_acq_rel) + 1;
    return done == schedule->warmup_count && open_barrier(schedule, now_ns);
}

void schedule_stop(struct schedule *schedule)
{
    atomic_store_explicit(&schedule->is_stopped, true, memory_order_relaxed);
}

int64_t schedule_permit_opens_ns(const struct engine_plan *plan, uint32_t index)
{
    if (plan->ramp_up_ns <= 0 || index == 0 || plan->concurrency < 2)
        return 0;
    uint32_t steps = plan->concurrency - 1;
    int64_t whole = plan->ramp_up_ns / steps * index;
    return whole + (plan->ramp_up_ns % steps * index + steps - 1) / steps;
}

enum phase schedule_phase(const struct schedule *schedule, int64_t seq, int64_t start_ns, int64_t done_ns)
{
    if (schedule_is_warmup(schedule, seq))
        return PHASE_WARMUP;
    if (schedule->plan->ramp_up_ns <= 0 || start_ns >= schedule->plan->ramp_up_ns)
        return PHASE_MEASURED;
    return done_ns < schedule->plan->ramp_up_ns ? PHASE_RAMP_UP : PHASE_BOUNDARY;
}

int64_t schedule_planned(const struct schedule *schedule)
{
    return schedule->plan->request_count == INT64_MAX ? atomic_load_explicit(&schedule->next, memory_order_relaxed)
                                                      : schedule->count;
}

int64_t schedule_skipped(const struct schedule *schedule)
{
    return schedule_planned(schedule) - atomic_load_explicit(&schedule->next, memory_order_relaxed);
}

struct schedule_unsent schedule_unsent(const struct schedule *schedule, int64_t stopped_ns)
{
    const struct engine_plan *plan = schedule->plan;
    struct schedule_unsent unsent = {plan->concurrency > 0 ? -1 : 0, -1};
    int64_t end_ns = limit_ns(schedule);
    if (stopped_ns >= 0 && stopped_ns < end_ns)
        end_ns = stopped_ns;
    if (plan->concurrency > 0 || end_ns == SCHEDULE_FOREVER)
        return unsent;
    bool is_open = atomic_load_explicit(&schedule->is_open, memory_order_relaxed);
    int64_t shift_ns = atomic_load_explicit(&schedule->shift_ns, memory_order_relaxed);
    for (int64_t i = atomic_load_explicit(&schedule->next, memory_order_relaxed); i < schedule->count; i++) {
        int64_t seq = i * schedule->shard_count + schedule->shard;
        bool is_measured = !schedule_is_warmup(schedule, seq);
        int64_t due_ns = plan->due_ns[seq] + (is_measured ? shift_ns : 0);
        if (due_ns >= end_ns || (is_measured && !is_open))
            break;
        if (unsent.count++ == 0)
            unsent.longest_wait_ns = end_ns - due_ns;
    }
    return unsent;
}
