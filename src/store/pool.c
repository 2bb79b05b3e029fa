/* SPDX-License-Identifier: Apache-2.0 */
#include "store/pool.h"

#include "base/clock.h"

#include <errno.h>
#include <stdbool.h>
#include <time.h>

struct pool_waiter {
    struct pool_waiter *previous, *next;
    pthread_cond_t granted;
    bool has_one;
    uint32_t number;
};

void pool_init(struct pool *pool, uint32_t count)
{
    *pool = (struct pool){.idle_count = count};
    pthread_mutex_init(&pool->lock, NULL);
    for (uint32_t i = 0; i < count; i++)
        pool->idle[i] = count - 1 - i;
}

void pool_done(struct pool *pool)
{
    pthread_mutex_destroy(&pool->lock);
}

static void enqueue(struct pool *pool, struct pool_waiter *waiter)
{
    waiter->previous = pool->last;
    if (pool->last)
        pool->last->next = waiter;
    else
        pool->first = waiter;
    pool->last = waiter;
}

static void dequeue(struct pool *pool, struct pool_waiter *waiter)
{
    if (waiter->previous)
        waiter->previous->next = waiter->next;
    else
        pool->first = waiter->next;
    if (waiter->next)
        waiter->next->previous = waiter->previous;
    else
        pool->last = waiter->previous;
}

/* In line until a number is handed over or the time is up; the lock is held. */
static void wait_in_line(struct pool *pool, struct pool_waiter *waiter, int64_t wait_ns)
{
    const struct mono until = mono_add_ns(mono_now(), wait_ns);
    const struct timespec deadline = {until.ns / NS_PER_S, until.ns % NS_PER_S};
    pthread_condattr_t monotonic;
    pthread_condattr_init(&monotonic);
    pthread_condattr_setclock(&monotonic, CLOCK_MONOTONIC);
    pthread_cond_init(&waiter->granted, &monotonic);
    pthread_condattr_destroy(&monotonic);
    enqueue(pool, waiter);
    int error = 0;
    while (!waiter->has_one && error != ETIMEDOUT)
        error = pthread_cond_timedwait(&waiter->granted, &pool->lock, &deadline);
    if (!waiter->has_one)
        dequeue(pool, waiter);
    pthread_cond_destroy(&waiter->granted);
}

as_status pool_take(struct pool *pool, int64_t wait_ns, uint32_t *ret)
{
    as_status status = AS_OK;
    pthread_mutex_lock(&pool->lock);
    if (pool->idle_count > 0 && !pool->first) {
        *ret = pool->idle[--pool->idle_count];
    } else {
        struct pool_waiter waiter = {.has_one = false};
        wait_in_line(pool, &waiter, wait_ns);
        if (waiter.has_one)
            *ret = waiter.number;
        else
            status = AS_E_TIMEOUT;
    }
    pthread_mutex_unlock(&pool->lock);
    return status;
}

void pool_give(struct pool *pool, uint32_t number)
{
    pthread_mutex_lock(&pool->lock);
    struct pool_waiter *waiter = pool->first;
    if (waiter) {
        dequeue(pool, waiter);
        waiter->number = number;
        waiter->has_one = true;
        pthread_cond_signal(&waiter->granted);
    } else {
        pool->idle[pool->idle_count++] = number;
    }
    pthread_mutex_unlock(&pool->lock);
}
