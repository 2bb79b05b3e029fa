/* SPDX-License-Identifier: Apache-2.0 */
#include "plane/work.h"

#include <pthread.h>
#include <signal.h>
#include <stdlib.h>

#define STACK_BYTES ((size_t)512 * 1024)

struct work_pool {
    pthread_mutex_t lock;
    pthread_cond_t wake;
    struct work_item *first, *last;
    uint32_t waiting, limit, idle;
    bool is_ending;
    uint32_t thread_count;
    pthread_t threads[];
};

static void *run(void *context)
{
    struct work_pool *pool = context;
    pthread_mutex_lock(&pool->lock);
    for (;;) {
        while (!pool->first && !pool->is_ending)
            pthread_cond_wait(&pool->wake, &pool->lock);
        struct work_item *item = pool->first;
        if (!item)
            break;
        pool->first = item->next;
        if (!pool->first)
            pool->last = NULL;
        pool->waiting--;
        pool->idle--;
        pthread_mutex_unlock(&pool->lock);
        item->run(item);
        pthread_mutex_lock(&pool->lock);
        pool->idle++;
    }
    pthread_mutex_unlock(&pool->lock);
    return NULL;
}

static bool start_threads(struct work_pool *pool, uint32_t threads)
{
    pthread_attr_t attributes;
    sigset_t all, before;
    bool ok = pthread_attr_init(&attributes) == 0;
    if (!ok)
        return false;
    (void)pthread_attr_setstacksize(&attributes, STACK_BYTES);
    /* Signals are the main thread's. */
    (void)sigfillset(&all);
    (void)pthread_sigmask(SIG_SETMASK, &all, &before);
    for (uint32_t i = 0; ok && i < threads; i++) {
        ok = pthread_create(&pool->threads[i], &attributes, run, pool) == 0;
        pool->thread_count += ok;
    }
    (void)pthread_sigmask(SIG_SETMASK, &before, NULL);
    (void)pthread_attr_destroy(&attributes);
    return ok;
}

as_status work_pool_new(uint32_t threads, uint32_t limit, struct work_pool **ret)
{
    struct work_pool *pool = calloc(1, sizeof *pool + threads * sizeof pool->threads[0]);
    if (!pool)
        return AS_E_NOMEM;
    pool->limit = limit;
    pool->idle = threads;
    (void)pthread_mutex_init(&pool->lock, NULL);
    (void)pthread_cond_init(&pool->wake, NULL);
    if (!start_threads(pool, threads)) {
        work_pool_free(pool);
        return AS_E_NOMEM;
    }
    *ret = pool;
    return AS_OK;
}

bool work_submit(struct work_pool *pool, struct work_item *item)
{
    bool fits;
    item->next = NULL;
    pthread_mutex_lock(&pool->lock);
    fits = !pool->is_ending && pool->waiting < pool->limit + pool->idle;
    if (fits) {
        if (pool->last)
            pool->last->next = item;
        else
            pool->first = item;
        pool->last = item;
        pool->waiting++;
        pthread_cond_signal(&pool->wake);
    }
    pthread_mutex_unlock(&pool->lock);
    return fits;
}

void work_pool_free(struct work_pool *pool)
{
    if (!pool)
        return;
    pthread_mutex_lock(&pool->lock);
    pool->is_ending = true;
    pthread_cond_broadcast(&pool->wake);
    pthread_mutex_unlock(&pool->lock);
    for (uint32_t i = 0; i < pool->thread_count; i++)
        (void)pthread_join(pool->threads[i], NULL);
    (void)pthread_cond_destroy(&pool->wake);
    (void)pthread_mutex_destroy(&pool->lock);
    free(pool);
}
