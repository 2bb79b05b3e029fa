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
struct sim_batch_place {
    struct sim_batch_place *next, *previous;
    bool is_running, is_waiting;
};

struct sim_batch {
    uint32_t slots;      /* 0 = no limit */
    int64_t queue_limit; /* longest queue, -1 = no limit */
    uint32_t running;
    uint32_t waiting;
    struct sim_batch_place *first, *last; /* the queue */
};

enum sim_batch_verdict { SIM_BATCH_RUN, SIM_BATCH_WAIT, SIM_BATCH_REFUSE };

/* Takes a slot, or a place in the queue, or neither when the queue is full. */
enum sim_batch_verdict sim_batch_enter(struct sim_batch *batch, struct sim_batch_place *place);

/*
 * Gives back what `place` holds, slot or place in the queue; nothing when it holds neither. Returns the next
 * one, which now runs, or NULL.
 */
struct sim_batch_place *sim_batch_leave(struct sim_batch *batch, struct sim_batch_place *place);

#endif
