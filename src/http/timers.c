/* SPDX-License-Identifier: Apache-2.0 */
#include "http/server_internal.h"

#include <stdlib.h>

/* A heap of four children a node: half the levels of a binary one, and siblings share cache lines. */
#define CHILDREN 4

static bool is_before(const struct timer_entry *a, const struct timer_entry *b)
{
    return a->due_ns != b->due_ns ? a->due_ns < b->due_ns : a->order < b->order;
}

static void put(struct timer_heap *heap, uint32_t place, struct timer_entry entry)
{
    heap->entries[place] = entry;
    entry.timer->place = place + 1;
}

static void sift_up(struct timer_heap *heap, uint32_t place, struct timer_entry entry)
{
    while (place > 0) {
        uint32_t parent = (place - 1) / CHILDREN;
        if (!is_before(&entry, &heap->entries[parent]))
            break;
        put(heap, place, heap->entries[parent]);
        place = parent;
    }
    put(heap, place, entry);
}

static void sift_down(struct timer_heap *heap, uint32_t place, struct timer_entry entry)
{
    for (;;) {
        uint32_t child = place * CHILDREN + 1;
        uint32_t end = child + CHILDREN < heap->count ? child + CHILDREN : heap->count;
        if (child >= end)
            break;
        uint32_t first = child;
        for (uint32_t i = child + 1; i < end; i++) {
            if (is_before(&heap->entries[i], &heap->entries[first]))
                first = i;
        }
        if (!is_before(&heap->entries[first], &entry))
            break;
        put(heap, place, heap->entries[first]);
        place = first;
    }
    put(heap, place, entry);
}

/* Puts `entry` at `place`, whose old content is gone, and restores the order. */
static void settle(struct timer_heap *heap, uint32_t place, struct timer_entry entry)
{
    if (place > 0 && is_before(&entry, &heap->entries[(place - 1) / CHILDREN]))
        sift_up(heap, place, entry);
    else
        sift_down(heap, place, entry);
}

bool timer_heap_set(struct timer_heap *heap, struct http_timer *timer, struct mono due)
{
    struct timer_entry entry = {due.ns, heap->next_order++, timer};
    if (timer->place) {
        timer->due = due;
        settle(heap, timer->place - 1, entry);
        return true;
    }
    if (heap->count == heap->capacity) {
        uint32_t capacity = heap->capacity ? heap->capacity * 2 : 64;
        struct timer_entry *grown = realloc(heap->entries, capacity * sizeof *grown);
        if (!grown)
            return false;
        heap->entries = grown;
        heap->capacity = capacity;
    }
    timer->due = due;
    sift_up(heap, heap->count++, entry);
    return true;
}

void timer_heap_remove(struct timer_heap *heap, struct http_timer *timer)
{
    if (!timer->place)
        return;
    uint32_t place = timer->place - 1;
    timer->place = 0;
    struct timer_entry last = heap->entries[--heap->count];
    if (place != heap->count)
        settle(heap, place, last);
}

struct http_timer *timer_heap_first(const struct timer_heap *heap)
{
    return heap->count ? heap->entries[0].timer : NULL;
}

void timer_heap_free(struct timer_heap *heap)
{
    free(heap->entries);
    *heap = (struct timer_heap){0};
}
