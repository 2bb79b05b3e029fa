/* SPDX-License-Identifier: Apache-2.0 */
/* Partitions of raw telemetry, and its end. */
#include "base/clock.h"
#include "store/backend.h"
#include "store/store.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define WEEK_NS      (INT64_C(7) * 24 * 3600 * NS_PER_S)
#define WEEKS_BEHIND 1
#define WEEKS_AHEAD  5
#define NAME_BYTES   64
#define PIECE        "2000" /* chunks deleted in one transaction */

static const char *const chunk_tables[] = {"telemetry_gpu_chunks", "telemetry_cpu_chunks", "telemetry_system_chunks",
                                           "telemetry_tpu_chunks"};
#define CHUNK_TABLES (sizeof chunk_tables / sizeof chunk_tables[0])

/* One statement, with one parameter or none, in a transaction of its own. */
static as_status run_once(struct store *store, const char *sql, const struct store_value *param, int64_t *ret_changed, struct as_error *err)
{
    struct store_tx *tx;
    as_status status = store_write(store, &tx, err);
    if (status != AS_OK)
        return status;
    tx->is_once = param == NULL;
    status = store_exec(tx, sql, param, param ? 1 : 0, ret_changed);
    if (status == AS_OK)
        return store_commit(tx, err);
    status = error_set(err, status, "%s", store_error(tx)->message);
    store_rollback(tx);
    return status;
}

static as_status table_exists(struct store *store, const char *name, bool *ret, struct as_error *err)
{
    struct store_tx *tx;
    struct store_rows *rows;
    as_status status = store_read(store, &tx, err);
    if (status != AS_OK)
        return status;
    const struct store_value params[] = {store_text(name)};
    status = store_query(tx, "SELECT to_regclass(?1) IS NOT NULL", params, 1, &rows);
    if (status == AS_OK) {
        *ret = store_next(rows) && store_get_bool(rows, 0);
        store_rows_free(rows);
    } else {
        status = error_set(err, status, "%s", store_error(tx)->message);
    }
    store_rollback(tx);
    return status;
}

/* A week that already has rows in the default partition cannot get its own: they stay where they are. */
static as_status make_partition(struct store *store, const char *table, const char *suffix, const char *bounds, struct as_error *err)
{
    char name[NAME_BYTES], sql[256];
    bool exists = false;
    snprintf(name, sizeof name, "%s_%s", table, suffix);
    as_status status = table_exists(store, name, &exists, err);
    if (status != AS_OK || exists)
        return status;
    snprintf(sql, sizeof sql, "CREATE TABLE IF NOT EXISTS %s PARTITION OF %s %s", name, table, bounds);
    status = run_once(store, sql, NULL, NULL, err);
    return status == AS_E_STATE ? AS_OK : status;
}

as_status store_telemetry_prepare(struct store *store, int64_t now_ns, struct as_error *err)
{
    char suffix[24], bounds[96];
    as_status status = AS_OK;
    if (store->kind == STORE_SQLITE)
        return AS_OK;
    const int64_t this_week = now_ns / WEEK_NS;
    for (size_t i = 0; i < CHUNK_TABLES && status == AS_OK; i++)
        status = make_partition(store, chunk_tables[i], "other", "DEFAULT", err);
    for (int64_t week = this_week > WEEKS_BEHIND ? this_week - WEEKS_BEHIND : 0; week <= this_week + WEEKS_AHEAD && status == AS_OK; week++) {
        snprintf(suffix, sizeof suffix, "w%" PRId64, week);
        snprintf(bounds, sizeof bounds, "FOR VALUES FROM (%" PRId64 ") TO (%" PRId64 ")", week * WEEK_NS, (week + 1) * WEEK_NS);
        for (size_t i = 0; i < CHUNK_TABLES && status == AS_OK; i++)
            status = make_partition(store, chunk_tables[i], suffix, bounds, err);
    }
    return status;
}

/* ---- retention ---- */

/* The oldest partition of a table that ends by before_ns; "" when there is none. */
static as_status old_partition(struct store *store, const char *table, int64_t before_ns, char ret[static NAME_BYTES], struct as_error *err)
{
    struct store_tx *tx;
    struct store_rows *rows;
    ret[0] = '\0';
    as_status status = store_read(store, &tx, err);
    if (status != AS_OK)
        return status;
    const struct store_value params[] = {store_text(table)};
    status = store_query(tx, "SELECT c.relname::text FROM pg_inherits i JOIN pg_class c ON c.oid = i.inhrelid "
                             "WHERE i.inhparent = to_regclass(?1) ORDER BY length(c.relname::text), 1",
                         params, 1, &rows);
    if (status != AS_OK) {
        status = error_set(err, status, "%s", store_error(tx)->message);
        store_rollback(tx);
        return status;
    }
    while (!ret[0] && store_next(rows)) {
        const char *name = store_get_text(rows, 0, NULL);
        const size_t prefix = strlen(table) + 2; /* "_w" */
        char *end = NULL;
        const int64_t week = strlen(name) > prefix && name[prefix - 1] == 'w' ? strtoll(name + prefix, &end, 10) : 0;
        if (end && *end == '\0' && (week + 1) * WEEK_NS <= before_ns)
            snprintf(ret, NAME_BYTES, "%s", name);
    }
    store_rows_free(rows);
    store_rollback(tx);
    return AS_OK;
}

static as_status drop_partitions(struct store *store, const char *table, int64_t before_ns, struct as_error *err)
{
    char name[NAME_BYTES], sql[128];
    as_status status = old_partition(store, table, before_ns, name, err);
    while (status == AS_OK && name[0]) {
        snprintf(sql, sizeof sql, "DROP TABLE %s", name);
        status = run_once(store, sql, NULL, NULL, err);
        if (status == AS_OK)
            status = old_partition(store, table, before_ns, name, err);
    }
    return status;
}

static as_status delete_chunks(struct store *store, const char *table, int64_t before_ns, int64_t *chunks, struct as_error *err)
{
    char sql[256];
    int64_t deleted = 1;
    as_status status = AS_OK;
    const struct store_value before = store_int(before_ns);
    snprintf(sql, sizeof sql,
             "DELETE FROM %s WHERE (rollup_id, minute_ns) IN (SELECT rollup_id, minute_ns FROM %s WHERE minute_ns < ?1 LIMIT " PIECE ")",
             table, table);
    while (status == AS_OK && deleted > 0) {
        status = run_once(store, sql, &before, &deleted, err);
        *chunks += status == AS_OK ? deleted : 0;
    }
    return status;
}

as_status store_telemetry_retain(struct store *store, int64_t before_ns, int64_t *ret_chunks, struct as_error *err)
{
    int64_t chunks = 0;
    as_status status = AS_OK;
    const int64_t minute_ns = 60 * NS_PER_S;
    const int64_t boundary_ns = before_ns - before_ns % minute_ns;
    for (size_t i = 0; i < CHUNK_TABLES && status == AS_OK; i++) {
        if (store->kind == STORE_POSTGRESQL)
            status = drop_partitions(store, chunk_tables[i], boundary_ns, err);
        if (status == AS_OK)
            status = delete_chunks(store, chunk_tables[i], boundary_ns, &chunks, err);
    }
    if (status == AS_OK && ret_chunks)
        *ret_chunks = chunks;
    return status;
}
