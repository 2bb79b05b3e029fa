/* SPDX-License-Identifier: Apache-2.0 */
#include "workload/images.h"

#include "base/arena.h"
#include "base/clock.h"
#include "base/url.h"
#include "fetch/fetch.h"

#include <errno.h>
#include <pthread.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define THREADS_MAX 16
/* Places that may be ready ahead of the requests; a power of two, as is the ring of their marks. */
#define AHEAD_PLACES 2048
#define RING_PLACES  (2 * AHEAD_PLACES)
#define NONE         UINT32_MAX
#define PROGRESS_NS  (INT64_C(500) * NS_PER_MS)

enum entry_state { ENTRY_EMPTY, ENTRY_MAKING, ENTRY_READY };

/* One reference. Links are those of the list of payloads that nobody has taken, in order of their last use. */
struct entry {
    const char *reference, *shown;
    struct image_payload payload;
    uint8_t state;
    uint32_t pins;
    uint32_t older, newer;
    uint32_t next_same; /* in the chain of equal hashes */
};

struct images {
    struct images_options options;
    struct arena arena;
    struct entry *entries;
    uint32_t count, capacity;
    uint32_t *chains; /* heads, by hash */
    uint32_t chain_count;
    /* From here on `mutex` guards everything once threads run. */
    pthread_mutex_t mutex;
    pthread_cond_t moved;
    struct images_plan plan;
    struct images_state state;
    char *first_bad;
    size_t bytes;               /* of texts kept */
    uint32_t oldest, newest;    /* of the list */
    int64_t next_place;         /* to be made ready */
    int64_t taken;              /* places taken so far */
    int64_t waiting_place;      /* the highest place that a request waits for, -1 = none */
    uint8_t ready[RING_PLACES]; /* by place: its images are pinned */
    as_status status;           /* first failure of a thread */
    bool is_stopped, is_ahead;  /* is_ahead: threads work along with the requests */
    uint32_t *order;            /* while preparing: images in order of first use */
    size_t order_count, order_next;
    uint32_t finished; /* of the threads that prepare */
    pthread_t threads[THREADS_MAX];
    uint32_t thread_count;
};

as_status images_new(const struct images_options *options, struct images **ret)
{
    struct images *images = calloc(1, sizeof *images);
    if (!images)
        return AS_E_NOMEM;
    images->options = *options;
    if (!images->options.cache_bytes)
        images->options.cache_bytes = IMAGES_CACHE_BYTES_DEFAULT;
    arena_init(&images->arena, 0, 0);
    pthread_mutex_init(&images->mutex, NULL);
    pthread_cond_init(&images->moved, NULL);
    images->oldest = images->newest = NONE;
    images->waiting_place = -1;
    *ret = images;
    return AS_OK;
}

static void stop_threads(struct images *images)
{
    pthread_mutex_lock(&images->mutex);
    images->is_stopped = true;
    pthread_cond_broadcast(&images->moved);
    pthread_mutex_unlock(&images->mutex);
    for (uint32_t i = 0; i < images->thread_count; i++)
        pthread_join(images->threads[i], NULL);
    images->thread_count = 0;
}

void images_free(struct images *images)
{
    if (!images)
        return;
    stop_threads(images);
    for (uint32_t i = 0; i < images->count; i++)
        image_payload_done(&images->entries[i].payload);
    pthread_cond_destroy(&images->moved);
    pthread_mutex_destroy(&images->mutex);
    arena_done(&images->arena);
    free(images->entries);
    free(images->chains);
    free(images->order);
    free(images->first_bad);
    free(images);
}

/* ---- references ---- */

static uint32_t hash_of(const char *text)
{
    uint32_t hash = 2166136261u; /* FNV-1a */
    for (; *text; text++)
        hash = (hash ^ (unsigned char)*text) * 16777619u;
    return hash;
}

static as_status grow(struct images *images)
{
    uint32_t capacity = images->capacity ? images->capacity * 2 : 64;
    struct entry *entries = realloc(images->entries, capacity * sizeof *entries);
    if (!entries)
        return AS_E_NOMEM;
    images->entries = entries;
    uint32_t *chains = malloc(capacity * sizeof *chains);
    if (!chains)
        return AS_E_NOMEM;
    free(images->chains);
    memset(chains, 0xff, capacity * sizeof *chains);
    images->chains = chains;
    images->chain_count = images->capacity = capacity;
    for (uint32_t i = 0; i < images->count; i++) {
        uint32_t *head = &chains[hash_of(entries[i].reference) & (capacity - 1)];
        entries[i].next_same = *head;
        *head = i;
    }
    return AS_OK;
}

static const char *shown_text(struct images *images, const char *reference)
{
    struct strbuf text AS_AUTO_STRBUF;
    strbuf_init(&text, 0);
    if (strncasecmp(reference, "data:", 5) == 0)
        strbuf_add(&text, reference, strcspn(reference, ";,") < 80 ? strcspn(reference, ";,") : 80);
    else if (fetch_is_url(reference))
        url_add_shown(&text, reference);
    else
        strbuf_adds(&text, reference);
    return strbuf_status(&text) == AS_OK ? arena_strdup(&images->arena, strbuf_text(&text)) : NULL;
}

as_status images_add(struct images *images, const char *reference, uint32_t *ret)
{
    uint32_t hash = hash_of(reference);
    uint32_t at = images->chain_count ? images->chains[hash & (images->chain_count - 1)] : NONE;
    for (; at != NONE; at = images->entries[at].next_same)
        if (strcmp(images->entries[at].reference, reference) == 0) {
            *ret = at;
            return AS_OK;
        }
    if (images->count == images->capacity && grow(images) != AS_OK)
        return AS_E_NOMEM;
    struct entry entry = {.reference = arena_strdup(&images->arena, reference),
                          .shown = shown_text(images, reference),
                          .older = NONE,
                          .newer = NONE};
    if (!entry.reference || !entry.shown)
        return AS_E_NOMEM;
    uint32_t *head = &images->chains[hash & (images->chain_count - 1)];
    entry.next_same = *head;
    *head = images->count;
    images->entries[images->count] = entry;
    *ret = images->count++;
    return AS_OK;
}

size_t images_count(const struct images *images)
{
    return images->count;
}

const char *images_shown(const struct images *images, uint32_t image)
{
    return images->entries[image].shown;
}

const struct image_payload *images_get(const struct images *images, uint32_t image)
{
    const struct entry *entry = &images->entries[image];
    return entry->state == ENTRY_READY ? &entry->payload : NULL;
}

/* ---- making; the mutex is held on entry and on return ---- */

static void unlink_entry(struct images *images, uint32_t image)
{
    struct entry *entry = &images->entries[image];
    *(entry->older == NONE ? &images->oldest : &images->entries[entry->older].newer) = entry->newer;
    *(entry->newer == NONE ? &images->newest : &images->entries[entry->newer].older) = entry->older;
    entry->older = entry->newer = NONE;
}

static void link_newest(struct images *images, uint32_t image)
{
    struct entry *entry = &images->entries[image];
    entry->older = images->newest;
    *(images->newest == NONE ? &images->oldest : &images->entries[images->newest].newer) = image;
    images->newest = image;
}

static void pin(struct images *images, uint32_t image)
{
    if (images->entries[image].pins++ == 0)
        unlink_entry(images, image);
}

static void unpin(struct images *images, uint32_t image)
{
    if (--images->entries[image].pins == 0)
        link_newest(images, image);
}

/* EMPTY → READY; the mutex is let go meanwhile. The entry is then in the list, taken by nobody. */
static void make(struct images *images, uint32_t image)
{
    struct entry *entry = &images->entries[image];
    struct image_payload payload;
    entry->state = ENTRY_MAKING;
    pthread_mutex_unlock(&images->mutex);
    as_status status = image_payload_make(entry->reference, &images->options, &payload);
    pthread_mutex_lock(&images->mutex);
    if (status == AS_OK) {
        entry->payload = payload;
        images->bytes += payload.len;
        if (!images->is_ahead) {
            images->state.bytes += payload.len;
            images->state.done++;
            images->state.bad += !payload.text;
        }
    } else if (images->status == AS_OK) {
        images->status = status;
    }
    entry->state = status == AS_OK ? ENTRY_READY : ENTRY_EMPTY;
    if (status == AS_OK)
        link_newest(images, image);
    pthread_cond_broadcast(&images->moved);
}

static void drop(struct images *images, uint32_t image)
{
    struct entry *entry = &images->entries[image];
    unlink_entry(images, image);
    images->bytes -= entry->payload.len;
    image_payload_done(&entry->payload);
    entry->state = ENTRY_EMPTY;
}

/* ---- before the run ---- */

static void *prepare_main(void *argument)
{
    struct images *images = argument;
    pthread_mutex_lock(&images->mutex);
    while (!images->is_stopped && images->status == AS_OK && images->order_next < images->order_count &&
           images->bytes < images->options.cache_bytes)
        make(images, images->order[images->order_next++]);
    images->finished++;
    pthread_cond_broadcast(&images->moved);
    pthread_mutex_unlock(&images->mutex);
    return NULL;
}

/* Images of the plan in the order in which they are needed, each once. */
static as_status make_order(struct images *images)
{
    uint32_t some[IMAGES_A_REQUEST_MAX];
    uint8_t *is_listed = calloc(images->count + 1, 1);
    images->order = malloc((images->count + 1) * sizeof *images->order);
    if (!is_listed || !images->order) {
        free(is_listed);
        return AS_E_NOMEM;
    }
    for (int64_t place = 0; place < images->plan.cycle && images->order_count < images->count; place++) {
        uint32_t count = images->plan.of(images->plan.context, place, some);
        for (uint32_t i = 0; i < count; i++) {
            if (!is_listed[some[i]])
                images->order[images->order_count++] = some[i];
            is_listed[some[i]] = 1;
        }
    }
    free(is_listed);
    images->state.wanted = images->order_count;
    return AS_OK;
}

static uint32_t threads_wanted(const struct images *images)
{
    long processors = sysconf(_SC_NPROCESSORS_ONLN);
    uint32_t wanted = images->options.threads ? images->options.threads : processors > 0 ? (uint32_t)processors : 1;
    return wanted > THREADS_MAX ? THREADS_MAX : wanted;
}

/* Signals are for the main thread. */
static as_status start_threads(struct images *images, void *(*main)(void *), struct as_error *err)
{
    sigset_t all, before;
    int failure = 0;
    sigfillset(&all);
    pthread_sigmask(SIG_SETMASK, &all, &before);
    for (uint32_t wanted = threads_wanted(images); images->thread_count < wanted && !failure;) {
        failure = pthread_create(&images->threads[images->thread_count], NULL, main, images);
        images->thread_count += !failure;
    }
    pthread_sigmask(SIG_SETMASK, &before, NULL);
    return images->thread_count ? AS_OK : error_set_errno(err, failure, "no thread to prepare images with");
}

static void join_with_progress(struct images *images, void (*progress)(const struct images_state *state))
{
    struct mono next = mono_add_ns(mono_now(), PROGRESS_NS);
    pthread_mutex_lock(&images->mutex);
    while (images->finished < images->thread_count) {
        struct timespec at = {.tv_sec = next.ns / NS_PER_S, .tv_nsec = next.ns % NS_PER_S};
        if (pthread_cond_clockwait(&images->moved, &images->mutex, CLOCK_MONOTONIC, &at) != ETIMEDOUT)
            continue;
        next = mono_add_ns(next, PROGRESS_NS);
        struct images_state state = images->state;
        pthread_mutex_unlock(&images->mutex);
        if (progress)
            progress(&state);
        pthread_mutex_lock(&images->mutex);
    }
    pthread_mutex_unlock(&images->mutex);
    for (uint32_t i = 0; i < images->thread_count; i++)
        pthread_join(images->threads[i], NULL);
    images->thread_count = 0;
}

/* The first in the plan's order, whichever thread found it. */
static void find_first_bad(struct images *images)
{
    for (size_t i = 0; i < images->order_count && !images->first_bad; i++) {
        const struct entry *entry = &images->entries[images->order[i]];
        if (entry->state != ENTRY_READY || entry->payload.text)
            continue;
        if (asprintf(&images->first_bad, "%.200s: %.300s", entry->shown, entry->payload.error) < 0)
            images->first_bad = NULL;
        break;
    }
    images->state.first_bad = images->first_bad;
}

static void *ahead_main(void *argument);

as_status images_prepare(struct images *images, const struct images_plan *plan,
                         void (*progress)(const struct images_state *state), struct images_state *ret,
                         struct as_error *err)
{
    images->plan = *plan;
    as_status status = make_order(images);
    if (status == AS_OK && images->order_count)
        status = start_threads(images, prepare_main, err);
    if (status == AS_OK)
        join_with_progress(images, progress);
    if (status == AS_OK)
        status = images->status;
    if (status != AS_OK)
        return status == AS_E_NOMEM ? error_set(err, status, "no memory for the images") : status;
    images->state.is_resident = images->order_next == images->order_count;
    find_first_bad(images);
    *ret = images->state;
    if (images->state.is_resident)
        return AS_OK;
    images->is_ahead = true;
    return start_threads(images, ahead_main, err);
}

/* ---- along with the requests; the mutex is held ---- */

/* Whether another payload may be made for the request at `place` now: drops what it can until there is room. */
static bool has_room(struct images *images, int64_t place)
{
    while (images->bytes >= images->options.cache_bytes && images->oldest != NONE)
        drop(images, images->oldest);
    return images->bytes < images->options.cache_bytes || place <= images->waiting_place;
}

/* Makes or waits for one image of a place and pins it; false when the run is over. */
static bool hold(struct images *images, int64_t place, uint32_t image)
{
    struct entry *entry = &images->entries[image];
    while (!images->is_stopped && images->status == AS_OK) {
        if (entry->state == ENTRY_READY) {
            pin(images, image);
            return true;
        }
        if (entry->state == ENTRY_EMPTY && has_room(images, place))
            make(images, image);
        else
            pthread_cond_wait(&images->moved, &images->mutex);
    }
    return false;
}

static bool hold_place(struct images *images, int64_t place)
{
    uint32_t some[IMAGES_A_REQUEST_MAX];
    uint32_t count = images->plan.of(images->plan.context, place, some);
    for (uint32_t i = 0; i < count; i++)
        if (!hold(images, place, some[i]))
            return false;
    return true;
}

static void *ahead_main(void *argument)
{
    struct images *images = argument;
    pthread_mutex_lock(&images->mutex);
    while (!images->is_stopped && images->status == AS_OK) {
        if (images->next_place >= images->taken + AHEAD_PLACES) {
            pthread_cond_wait(&images->moved, &images->mutex);
            continue;
        }
        int64_t place = images->next_place++;
        if (!hold_place(images, place))
            break;
        images->ready[place % RING_PLACES] = 1;
        pthread_cond_broadcast(&images->moved);
    }
    pthread_cond_broadcast(&images->moved);
    pthread_mutex_unlock(&images->mutex);
    return NULL;
}

as_status images_take(struct images *images, int64_t place, int64_t *ret_waited_ns)
{
    *ret_waited_ns = 0;
    if (images->state.is_resident)
        return AS_OK;
    pthread_mutex_lock(&images->mutex);
    uint8_t *ready = &images->ready[place % RING_PLACES];
    if (!*ready) {
        struct mono start = mono_now();
        if (place > images->waiting_place)
            images->waiting_place = place;
        pthread_cond_broadcast(&images->moved);
        while (!*ready && images->status == AS_OK && !images->is_stopped)
            pthread_cond_wait(&images->moved, &images->mutex);
        *ret_waited_ns = mono_diff_ns(mono_now(), start);
    }
    as_status status = *ready ? AS_OK : AS_E_NOMEM;
    *ready = 0;
    images->taken++;
    pthread_cond_broadcast(&images->moved);
    pthread_mutex_unlock(&images->mutex);
    return status;
}

void images_give_back(struct images *images, int64_t place)
{
    uint32_t some[IMAGES_A_REQUEST_MAX];
    if (images->state.is_resident)
        return;
    uint32_t count = images->plan.of(images->plan.context, place, some);
    pthread_mutex_lock(&images->mutex);
    for (uint32_t i = 0; i < count; i++)
        unpin(images, some[i]);
    pthread_cond_broadcast(&images->moved);
    pthread_mutex_unlock(&images->mutex);
}
