/* SPDX-License-Identifier: Apache-2.0 */
#ifndef ASSAY_PLANE_WORK_H
#define ASSAY_PLANE_WORK_H

/*
 * Threads that run calls which touch the store, so that the loops never wait. A queue with a limit: what does not fit
 * is refused at once, and the caller says so to its client. Any thread may submit.
 */

#include "base/status.h"

#include <stdbool.h>
#include <stdint.h>

struct work_pool;

/* Embedded in what is to be done; lives until `run` was called, which owns it from then on. */
struct work_item {
    void (*run)(struct work_item *item);
    struct work_item *next; /* the pool's */
};

/* `limit`: items that may wait; those being run do not count. */
as_status work_pool_new(uint32_t threads, uint32_t limit, struct work_pool **ret) AS_NODISCARD;
/* False when the queue is full or the pool is ending: the item is still the caller's. */
bool work_submit(struct work_pool *pool, struct work_item *item);
/* Runs what waits to its end, then ends the threads. NULL does nothing. */
void work_pool_free(struct work_pool *pool);

#endif
