/* SPDX-License-Identifier: Apache-2.0 */
/* Leases that nobody renews. */
#include "plane/lease.h"
#include "plane/state.h"

#include "base/arena.h"

#define EXPIRED_MAX 64 /* of one look; the others come next */

struct expired {
    struct lease items[EXPIRED_MAX];
    size_t count;
};

static const char *copy(struct arena *arena, const struct store_rows *rows, uint32_t column)
{
    size_t len = 0;
    const char *text = store_get_text(rows, column, &len);
    return text ? arena_strndup(arena, text, len) : NULL;
}

/* Adds the row when its term and the fifth after it are over. */
static as_status judge(struct plane *plane, const struct store_rows *rows, struct arena *arena, struct expired *expired)
{
    const int64_t id = store_get_int(rows, 3), term_ns = store_get_int(rows, 9) * NS_PER_S;
    int64_t age_ns = 0;
    as_status status = watch_age_ns(plane->attempts_heard, id, mono_now(), &age_ns);
    if (status != AS_OK || age_ns <= term_ns + term_ns / 5 || expired->count == EXPIRED_MAX)
        return status;
    struct lease *lease = &expired->items[expired->count++];
    *lease = (struct lease){
        .tenant_id = store_get_int(rows, 0),
        .job_id = store_get_int(rows, 1),
        .run_id = store_get_int(rows, 2),
        .attempt_id = id,
        .attempt = store_get_int(rows, 4),
        .retries = store_get_int(rows, 5),
        .server_id = store_get_int(rows, 6),
        .state = copy(arena, rows, 7),
        .job_state = copy(arena, rows, 8),
        .last_reason = copy(arena, rows, 10),
    };
    return lease->state && lease->job_state ? AS_OK : AS_E_NOMEM;
}

static as_status find(struct plane *plane, struct arena *arena, struct expired *expired)
{
    struct store_tx *tx = NULL;
    struct store_rows *rows = NULL;
    as_status status = store_read(plane->store, &tx, NULL);
    if (status != AS_OK)
        return status;
    status =
        store_query(tx,
                    "SELECT j.tenant_id, j.id, j.run_id, a.id, a.attempt, j.automatic_retries, a.server_id, a.state, "
                    "j.state, a.lease_term_s, (SELECT t.reason_code FROM job_transitions t WHERE t.job_id = j.id AND "
                    "t.to_state = 'queued' AND t.from_state IS NOT NULL ORDER BY t.ordinal DESC LIMIT 1) FROM "
                    "jobs j JOIN job_attempts a ON a.job_id = j.id AND a.attempt = j.attempt WHERE a.state IN "
                    "(" LEASE_LIVE ") AND j.state IN ('cancelling', " LEASE_LIVE ") AND j.origin = 'measured' AND "
                    "a.lease_nonce IS NOT NULL ORDER BY a.id",
                    NULL, 0, &rows);
    while (status == AS_OK && store_next(rows))
        status = judge(plane, rows, arena, expired);
    if (status == AS_OK)
        status = store_rows_status(rows);
    store_rows_free(rows);
    const as_status ended = store_commit(tx, NULL);
    return status == AS_OK ? ended : status;
}

/* One transaction each: AS_E_STATE, something else was faster: the next look sees what is left. */
static as_status end_one(struct plane *plane, const struct lease *lease)
{
    struct lease_end end = {.state = "lost",
                            .reason_code = "lease_expired",
                            .reason = "its agent was not heard of within the lease",
                            .actor = "system",
                            .at_ns = wall_now().ns};
    struct store_tx *tx = NULL;
    as_status status = store_write(plane->store, &tx, NULL);
    if (status != AS_OK)
        return status;
    status = lease_end(tx, lease, &end);
    if (status == AS_OK)
        status = store_commit(tx, NULL);
    else
        store_rollback(tx);
    if (status == AS_OK)
        watch_forget(plane->attempts_heard, lease->attempt_id);
    return status == AS_E_STATE ? AS_OK : status;
}

as_status lease_expire(struct plane *plane)
{
    struct expired expired = {.count = 0};
    struct arena arena;
    arena_init(&arena, 0, 0);
    as_status status = find(plane, &arena, &expired);
    for (size_t i = 0; status == AS_OK && i < expired.count; i++)
        status = end_one(plane, &expired.items[i]);
    arena_done(&arena);
    return status;
}
