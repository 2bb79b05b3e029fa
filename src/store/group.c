/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Who comes first leads: it waits for company as long as nobody is in a hurry, takes its turn as the writer, runs the works of
 * all who came meanwhile, each in a savepoint, commits once and tells them. Who comes after that leads the next one.
 */
#include "store/group.h"

#include "base/clock.h"
#include "store/backend.h"

#include <errno.h>
#include <pthread.h>
#include <stdlib.h>
#include <time.h>

#define GROUP_MAX 1024 /* works in one commit */

struct request {
    const struct store_group_work *work;
    struct request *next;
    pthread_cond_t changed; /* done, or to lead, or (leader) company came */
    as_status status;
    bool is_done;
    bool is_leader;
    struct as_error error;
};

struct group {
    pthread_mutex_t lock;
    struct request *first, **end;
    struct request *leader; /* gathering */
    uint64_t weight;        /* of those in line */
    bool is_urgent;
};

struct group *group_new(void)
{
    struct group *group = calloc(1, sizeof *group);
    if (!group)
        return NULL;
    pthread_mutex_init(&group->lock, NULL);
    group->end = &group->first;
    return group;
}

void group_free(struct group *group)
{
    if (!group)
        return;
    pthread_mutex_destroy(&group->lock);
    free(group);
}

static void enqueue(struct group *group, struct request *request)
{
    *group->end = request;
    group->end = &request->next;
    group->weight += request->work->weight;
    group->is_urgent = group->is_urgent || request->work->urgency == STORE_NOW;
}

static bool is_enough(const struct group *group)
{
    return group->is_urgent || group->weight >= STORE_GROUP_WEIGHT;
}

static void wait_for_company(struct group *group, struct request *leader)
{
    const struct mono until = mono_add_ns(mono_now(), STORE_GROUP_NS);
    const struct timespec deadline = {until.ns / NS_PER_S, until.ns % NS_PER_S};
    while (!is_enough(group))
        if (pthread_cond_timedwait(&leader->changed, &group->lock, &deadline) == ETIMEDOUT)
            return;
}

/* Those in line, as one list; who is left over leads next. */
static struct request *take_line(struct group *group)
{
    struct request *taken = group->first, *last = taken;
    for (uint32_t n = 1; n < GROUP_MAX && last->next; n++)
        last = last->next;
    group->first = last->next;
    last->next = NULL;
    if (!group->first)
        group->end = &group->first;
    group->leader = group->first;
    group->weight = 0;
    group->is_urgent = false;
    for (struct request *left = group->first; left; left = left->next) {
        group->weight += left->work->weight;
        group->is_urgent = group->is_urgent || left->work->urgency == STORE_NOW;
    }
    if (group->leader) {
        group->leader->is_leader = true;
        pthread_cond_signal(&group->leader->changed);
    }
    return taken;
}

static void run_work(struct request *request, struct store_tx *tx)
{
    request->status = request->work->work(tx, request->work->context, &request->error);
    if (request->status == AS_OK && tx->has_failed) {
        request->status = tx->error.status;
        request->error = tx->error;
    }
}

/* Runs one work between savepoints; false when the transaction itself is gone. */
static bool run_beside_others(struct request *request, struct store_tx *tx)
{
    if (store_exec(tx, "SAVEPOINT work", NULL, 0, NULL) != AS_OK)
        return false;
    run_work(request, tx);
    if (request->status != AS_OK) {
        tx->has_failed = false;
        if (store_exec(tx, "ROLLBACK TO work", NULL, 0, NULL) != AS_OK)
            return false;
    }
    return store_exec(tx, "RELEASE work", NULL, 0, NULL) == AS_OK;
}

static as_status run_all(struct request *taken, struct store_tx *tx, struct as_error *err)
{
    tx->is_borrowed = true;
    bool is_whole = true;
    if (taken->next) {
        for (struct request *at = taken; at && is_whole; at = at->next)
            is_whole = run_beside_others(at, tx);
    } else {
        run_work(taken, tx);
        is_whole = taken->status == AS_OK;
    }
    tx->is_borrowed = false;
    if (is_whole)
        return store_commit(tx, err);
    const as_status status = tx->has_failed ? error_set(err, tx->error.status, "%s", tx->error.message)
                                            : error_set(err, AS_E_STATE, "the work was undone");
    store_rollback(tx);
    return status;
}

static void lead(struct store *store, struct request *leader)
{
    struct group *group = store->group;
    struct store_tx *tx = NULL;
    struct as_error err = {.message = ""};
    wait_for_company(group, leader);
    pthread_mutex_unlock(&group->lock);
    as_status status = store_write(store, &tx, &err);
    pthread_mutex_lock(&group->lock);
    struct request *taken = take_line(group);
    pthread_mutex_unlock(&group->lock);
    const bool is_alone = !taken->next;
    if (status == AS_OK)
        status = run_all(taken, tx, &err);
    pthread_mutex_lock(&group->lock);
    for (struct request *at = taken, *next; at; at = next) {
        next = at->next;
        /* A work that failed alone keeps its own words. */
        if (status != AS_OK && (at->status == AS_OK || !is_alone)) {
            at->status = status;
            at->error = err;
        }
        at->is_done = true;
        if (at != leader)
            pthread_cond_signal(&at->changed);
    }
}

static as_status run_grouped(struct store *store, const struct store_group_work *work, struct as_error *err)
{
    struct group *group = store->group;
    struct request request = {.work = work, .error = {.message = ""}};
    pthread_condattr_t monotonic;
    pthread_condattr_init(&monotonic);
    pthread_condattr_setclock(&monotonic, CLOCK_MONOTONIC);
    pthread_cond_init(&request.changed, &monotonic);
    pthread_condattr_destroy(&monotonic);
    pthread_mutex_lock(&group->lock);
    enqueue(group, &request);
    if (!group->leader) {
        group->leader = &request;
        request.is_leader = true;
    } else if (is_enough(group)) {
        pthread_cond_signal(&group->leader->changed);
    }
    while (!request.is_leader && !request.is_done)
        pthread_cond_wait(&request.changed, &group->lock);
    if (!request.is_done)
        lead(store, &request);
    pthread_mutex_unlock(&group->lock);
    pthread_cond_destroy(&request.changed);
    if (request.status != AS_OK && err)
        *err = request.error;
    return request.status;
}

static as_status run_alone(struct store *store, const struct store_group_work *work, struct as_error *err)
{
    struct store_tx *tx;
    as_status status = store_write(store, &tx, err);
    if (status != AS_OK)
        return status;
    tx->is_borrowed = true;
    status = work->work(tx, work->context, err);
    tx->is_borrowed = false;
    if (status == AS_OK)
        return store_commit(tx, err);
    store_rollback(tx);
    return status;
}

as_status store_group(struct store *store, const struct store_group_work *work, struct as_error *err)
{
    return store->kind == STORE_SQLITE ? run_grouped(store, work, err) : run_alone(store, work, err);
}
