/* SPDX-License-Identifier: Apache-2.0 */
#include "sim/batch.h"

#include <stddef.h>

enum sim_batch_verdict sim_batch_enter(struct sim_batch *batch, struct sim_batch_place *place)
{
    *place = (struct sim_batch_place){0};
    if (batch->slots == 0 || batch->running < batch->slots) {
        batch->running++;
        place->is_running = true;
        return SIM_BATCH_RUN;
    }
    if (batch->queue_limit >= 0 && batch->waiting >= batch->queue_limit)
        return SIM_BATCH_REFUSE;
    place->previous = batch->last;
    if (batch->last)
        batch->last->next = place;
    else
        batch->first = place;
    batch->last = place;
    batch->waiting++;
    place->is_waiting = true;
    return SIM_BATCH_WAIT;
}

static void queue_remove(struct sim_batch *batch, struct sim_batch_place *place)
{
    if (place->previous)
        place->previous->next = place->next;
    else
        batch->first = place->next;
    if (place->next)
        place->next->previous = place->previous;
    else
        batch->last = place->previous;
    place->next = place->previous = NULL;
    place->is_waiting = false;
    batch->waiting--;
}

struct sim_batch_place *sim_batch_leave(struct sim_batch *batch, struct sim_batch_place *place)
{
    if (place->is_waiting) {
        queue_remove(batch, place);
        return NULL;
    }
    if (!place->is_running)
        return NULL;
    place->is_running = false;
    batch->running--;
    struct sim_batch_place *next = batch->first;
    if (!next)
        return NULL;
    queue_remove(batch, next);
    next->is_running = true;
    batch->running++;
    return next;
}
