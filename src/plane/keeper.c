/* SPDX-License-Identifier: Apache-2.0 */
#include "plane/keeper.h"

#include "base/log.h"
#include "plane/agent.h"
#include "plane/lease.h"
#include "plane/state.h"

#include <pthread.h>
#include <stdlib.h>
#include <string.h>

#define LOOK_NS      NS_PER_S
#define SERVERS_MAX  10000 /* of one look */
#define NOTE_SEEN_NS (60 * NS_PER_S)

struct keeper {
    struct plane *plane;
    pthread_t thread;
    pthread_mutex_t lock;
    pthread_cond_t wake;
    bool is_ending;
};

/* A server whose row is to say something else. */
struct change {
    int64_t server_id;
    struct store_value seen; /* wall time when it was last heard of; null: as noted before */
    const char *state;
};

struct changes {
    struct change *items;
    size_t count;
};

/* Only what was heard of since this process began can come back from silence. */
static as_status judge(struct plane *plane, const struct store_rows *row, struct changes *changes)
{
    const int64_t id = store_get_int(row, 0);
    const bool is_silent = strcmp(store_get_text(row, 1, NULL), "silent") == 0;
    const bool has_heard = watch_has_heard(plane->servers_heard, id);
    const int64_t noted_ns = store_get_int(row, 2), now_ns = wall_now().ns;
    int64_t age_ns = 0;
    if (is_silent && !has_heard)
        return AS_OK;
    as_status status = watch_age_ns(plane->servers_heard, id, mono_now(), &age_ns);
    const bool to_silent = age_ns > AGENT_SILENT_S * NS_PER_S;
    if (status != AS_OK || (is_silent && to_silent))
        return status;
    if (is_silent == to_silent && (!has_heard || now_ns - age_ns - noted_ns < NOTE_SEEN_NS))
        return AS_OK;
    changes->items[changes->count++] = (struct change){
        .server_id = id,
        .seen = has_heard ? store_int(now_ns - age_ns) : store_null(),
        .state = to_silent ? "silent" : "online",
    };
    return AS_OK;
}

static as_status find_changes(struct plane *plane, struct changes *changes)
{
    struct store_tx *tx = NULL;
    struct store_rows *rows = NULL;
    as_status status = store_read(plane->store, &tx, NULL);
    if (status != AS_OK)
        return status;
    const struct store_value limit = store_int(SERVERS_MAX);
    status = store_query(tx,
                         "SELECT s.id, s.state, COALESCE(s.last_seen_ns, 0) FROM servers s WHERE s.state IN ('online', "
                         "'silent') AND s.retired_ns IS NULL ORDER BY s.id LIMIT ?1",
                         &limit, 1, &rows);
    while (status == AS_OK && store_next(rows))
        status = judge(plane, rows, changes);
    if (status == AS_OK)
        status = store_rows_status(rows);
    store_rows_free(rows);
    const as_status ended = store_commit(tx, NULL);
    return status == AS_OK ? ended : status;
}

static as_status write_changes(struct plane *plane, const struct changes *changes)
{
    struct store_tx *tx = NULL;
    as_status status = store_write(plane->store, &tx, NULL);
    if (status != AS_OK)
        return status;
    for (size_t i = 0; status == AS_OK && i < changes->count; i++) {
        const struct change *change = &changes->items[i];
        const struct store_value values[] = {store_text(change->state), change->seen, store_int(change->server_id)};
        status =
            store_exec(tx,
                       "UPDATE servers SET state = ?1, last_seen_ns = COALESCE(CAST(?2 AS BIGINT), last_seen_ns) WHERE "
                       "id = ?3 AND state IN ('online', 'silent')",
                       values, 3, NULL);
    }
    if (status == AS_OK)
        return store_commit(tx, NULL);
    store_rollback(tx);
    return status;
}

static void look(struct keeper *keeper)
{
    struct changes changes = {calloc(SERVERS_MAX, sizeof *changes.items), 0};
    as_status status = changes.items ? find_changes(keeper->plane, &changes) : AS_E_NOMEM;
    if (status == AS_OK && changes.count)
        status = write_changes(keeper->plane, &changes);
    if (status == AS_OK)
        status = lease_expire(keeper->plane);
    if (status != AS_OK)
        log_debug("looking after servers: %s", status_name(status));
    free(changes.items);
}

/* Sleeps until the next look; false when there is none. */
static bool wait_for_next(struct keeper *keeper)
{
    const int64_t until_ns = mono_now().ns + LOOK_NS;
    const struct timespec until = {until_ns / NS_PER_S, until_ns % NS_PER_S};
    int result = 0;
    pthread_mutex_lock(&keeper->lock);
    while (!keeper->is_ending && result == 0)
        result = pthread_cond_timedwait(&keeper->wake, &keeper->lock, &until);
    const bool goes_on = !keeper->is_ending;
    pthread_mutex_unlock(&keeper->lock);
    return goes_on;
}

static void *keep(void *context)
{
    struct keeper *keeper = context;
    while (wait_for_next(keeper))
        look(keeper);
    return NULL;
}

static int init_locks(struct keeper *keeper)
{
    pthread_condattr_t attributes;
    int result = pthread_condattr_init(&attributes);
    if (result != 0)
        return result;
    result = pthread_condattr_setclock(&attributes, CLOCK_MONOTONIC);
    if (result == 0)
        result = pthread_cond_init(&keeper->wake, &attributes);
    pthread_condattr_destroy(&attributes);
    if (result != 0)
        return result;
    result = pthread_mutex_init(&keeper->lock, NULL);
    if (result != 0)
        pthread_cond_destroy(&keeper->wake);
    return result;
}

as_status keeper_new(struct plane *plane, struct keeper **ret)
{
    struct keeper *keeper = calloc(1, sizeof *keeper);
    if (!keeper)
        return AS_E_NOMEM;
    keeper->plane = plane;
    if (init_locks(keeper) != 0) {
        free(keeper);
        return AS_E_NOMEM;
    }
    if (pthread_create(&keeper->thread, NULL, keep, keeper) != 0) {
        pthread_mutex_destroy(&keeper->lock);
        pthread_cond_destroy(&keeper->wake);
        free(keeper);
        return AS_E_NOMEM;
    }
    *ret = keeper;
    return AS_OK;
}

void keeper_free(struct keeper *keeper)
{
    if (!keeper)
        return;
    pthread_mutex_lock(&keeper->lock);
    keeper->is_ending = true;
    pthread_cond_signal(&keeper->wake);
    pthread_mutex_unlock(&keeper->lock);
    pthread_join(keeper->thread, NULL);
    pthread_cond_destroy(&keeper->wake);
    pthread_mutex_destroy(&keeper->lock);
    free(keeper);
}
