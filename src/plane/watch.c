/* SPDX-License-Identifier: Apache-2.0 */
#include "plane/watch.h"

#include <pthread.h>
#include <stdlib.h>

#define FIRST_ROOM 64

struct heard {
    int64_t id;
    struct mono at;
    bool is_heard;
};

struct watch {
    pthread_mutex_t lock;
    struct heard *items; /* in the order of id */
    size_t count, room;
};

as_status watch_new(struct watch **ret)
{
    struct watch *watch = calloc(1, sizeof *watch);
    if (!watch)
        return AS_E_NOMEM;
    if (pthread_mutex_init(&watch->lock, NULL) != 0) {
        free(watch);
        return AS_E_NOMEM;
    }
    *ret = watch;
    return AS_OK;
}

void watch_free(struct watch *watch)
{
    if (!watch)
        return;
    pthread_mutex_destroy(&watch->lock);
    free(watch->items);
    free(watch);
}

/* The first place whose id is not below. */
static size_t place_of(const struct watch *watch, int64_t id)
{
    size_t low = 0, high = watch->count;
    while (low < high) {
        const size_t middle = low + (high - low) / 2;
        if (watch->items[middle].id < id)
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

/* The item of an id, made with `now` when there is none; NULL without memory. */
static struct heard *item_of(struct watch *watch, int64_t id, struct mono now)
{
    const size_t at = place_of(watch, id);
    if (at < watch->count && watch->items[at].id == id)
        return &watch->items[at];
    if (watch->count == watch->room) {
        const size_t room = watch->room ? watch->room * 2 : FIRST_ROOM;
        struct heard *items = realloc(watch->items, room * sizeof *items);
        if (!items)
            return NULL;
        watch->items = items;
        watch->room = room;
    }
    for (size_t i = watch->count; i > at; i--)
        watch->items[i] = watch->items[i - 1];
    watch->count++;
    watch->items[at] = (struct heard){.id = id, .at = now};
    return &watch->items[at];
}

as_status watch_heard(struct watch *watch, int64_t id, struct mono now)
{
    pthread_mutex_lock(&watch->lock);
    struct heard *item = item_of(watch, id, now);
    if (item) {
        item->at = now;
        item->is_heard = true;
    }
    pthread_mutex_unlock(&watch->lock);
    return item ? AS_OK : AS_E_NOMEM;
}

as_status watch_age_ns(struct watch *watch, int64_t id, struct mono now, int64_t *ret)
{
    pthread_mutex_lock(&watch->lock);
    const struct heard *item = item_of(watch, id, now);
    if (item)
        *ret = now.ns - item->at.ns;
    pthread_mutex_unlock(&watch->lock);
    return item ? AS_OK : AS_E_NOMEM;
}

bool watch_has_heard(struct watch *watch, int64_t id)
{
    pthread_mutex_lock(&watch->lock);
    const size_t at = place_of(watch, id);
    const bool has_heard = at < watch->count && watch->items[at].id == id && watch->items[at].is_heard;
    pthread_mutex_unlock(&watch->lock);
    return has_heard;
}

void watch_forget(struct watch *watch, int64_t id)
{
    pthread_mutex_lock(&watch->lock);
    const size_t at = place_of(watch, id);
    if (at < watch->count && watch->items[at].id == id) {
        watch->count--;
        for (size_t i = at; i < watch->count; i++)
            watch->items[i] = watch->items[i + 1];
    }
    pthread_mutex_unlock(&watch->lock);
}
