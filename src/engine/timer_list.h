/* SPDX-License-Identifier: Apache-2.0 */
#ifndef ASSAY_ENGINE_TIMER_LIST_H
#define ASSAY_ENGINE_TIMER_LIST_H

/*
 * Times in ascending order, linked through their owners. Made for times that come nearly in order (each is "now" plus a
 * constant): adding looks from the end. Nothing is allocated; one thread.
 */

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct timer {
    int64_t at_ns;
    struct timer *previous, *next;
    bool is_set;
};

struct timer_list {
    struct timer *first, *last;
};

static inline void timer_clear(struct timer_list *list, struct timer *timer)
{
    if (!timer->is_set)
        return;
    *(timer->previous ? &timer->previous->next : &list->first) = timer->next;
    *(timer->next ? &timer->next->previous : &list->last) = timer->previous;
    timer->is_set = false;
}

/* Sets it, or moves it when it is set. */
static inline void timer_set(struct timer_list *list, struct timer *timer, int64_t at_ns)
{
    timer_clear(list, timer);
    struct timer *before = list->last;
    while (before && before->at_ns > at_ns)
        before = before->previous;
    struct timer *after = before ? before->next : list->first;
    *timer = (struct timer){at_ns, before, after, true};
    *(before ? &before->next : &list->first) = timer;
    *(after ? &after->previous : &list->last) = timer;
}

/* The earliest time, INT64_MAX when the list is empty. */
static inline int64_t timer_first_ns(const struct timer_list *list)
{
    return list->first ? list->first->at_ns : INT64_MAX;
}

/* Takes the earliest timer when it is due at now_ns, else NULL. */
static inline struct timer *timer_take_due(struct timer_list *list, int64_t now_ns)
{
    struct timer *timer = list->first;
    if (!timer || timer->at_ns > now_ns)
        return NULL;
    timer_clear(list, timer);
    return timer;
}

#endif
