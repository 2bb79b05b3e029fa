/* SPDX-License-Identifier: Apache-2.0 */
#ifndef ASSAY_SIM_BATCH_H
#define ASSAY_SIM_BATCH_H

/*
 * Saturation: a number of batch slots and a first-in-first-out queue before them. A request runs when it has a slot;
 * the more run, the slower each may be (the caller's model). One thread.
 *
 * Identity: running ≤ slots, and waiting > 0 only while running = slots.
 */

#include <stdbool.h>
#include <stdint.h>

/* Embedded in what waits. */
struct batch_place {
    struct batch_place *next, *previous;
    bool is_running, is_waiting;
};

struct batch {
    uint32_t slots;      /* 0 = no limit */
    int64_t queue_limit; /* longest queue, -1 = no limit */
    uint32_t running;
    uint32_t waiting;
    struct batch_place *first, *last; /* the queue */
};

enum batch_verdict { BATCH_RUN, BATCH_WAIT, BATCH_REFUSE };

/* Takes a slot, or a place in the queue, or neither when the queue is full. */
enum batch_verdict batch_enter(struct batch *batch, struct batch_place *place);

/*
 * Gives back what `place` holds, slot or place in the queue; nothing when it holds neither. Returns the next
 * one, which now runs, or NULL.
 */
struct batch_place *batch_leave(struct batch *batch, struct batch_place *place);

#endif
