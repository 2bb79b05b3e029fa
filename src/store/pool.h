/* SPDX-License-Identifier: Apache-2.0 */
#ifndef ASSAY_STORE_POOL_H
#define ASSAY_STORE_POOL_H

/*
 * Hands out the numbers 0 … count-1 of connections; who asks first gets one first. Any thread. Allocates nothing.
 */

#include "base/status.h"

#include <pthread.h>
#include <stdint.h>

#define POOL_MAX 256

struct pool_waiter;

struct pool {
    pthread_mutex_t lock;
    uint32_t idle[POOL_MAX]; /* a stack: the one used last comes first */
    uint32_t idle_count;
    struct pool_waiter *first, *last;
};

/* count 1 … POOL_MAX. */
void pool_init(struct pool *pool, uint32_t count);
/* Nobody may hold or wait for one. */
void pool_done(struct pool *pool);
/* AS_E_TIMEOUT when none is free within wait_ns. */
as_status pool_take(struct pool *pool, int64_t wait_ns, uint32_t *ret) AS_NODISCARD;
void pool_give(struct pool *pool, uint32_t number);

#endif
