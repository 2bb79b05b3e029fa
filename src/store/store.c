/* SPDX-License-Identifier: Apache-2.0 */
#include "store/store.h"

#include "base/clock.h"
#include "store/backend.h"
#include "store/copy.h"
#include "store/group.h"
#include "store/migrate.h"
#include "store/pool.h"
#include "store/schema.h"
#include "store/sqlite.h"
#include "store/value.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define DEFAULT_READERS     4
#define DEFAULT_CONNECTIONS 8
#define DEFAULT_WAIT_NS     (10 * NS_PER_S)

static bool is_postgres_address(const char *address)
{
    return strncmp(address, "postgresql://", 13) == 0 || strncmp(address, "postgres://", 11) == 0;
}

static void free_store(struct store *store)
{
    group_free(store->group);
    free((char *)(uintptr_t)store->options.address);
    free(store);
}

static as_status make_store(const struct store_options *options, struct store **ret)
{
    struct store *store = calloc(1, sizeof *store);
    if (!store)
        return AS_E_NOMEM;
    store->options = *options;
    store->kind = is_postgres_address(options->address) ? STORE_POSTGRESQL : STORE_SQLITE;
    if (store->options.readers == 0)
        store->options.readers = store->kind == STORE_SQLITE ? DEFAULT_READERS : DEFAULT_CONNECTIONS;
    if (store->options.readers > POOL_MAX)
        store->options.readers = POOL_MAX;
    if (store->options.wait_ns <= 0)
        store->options.wait_ns = DEFAULT_WAIT_NS;
    store->options.address = strdup(options->address);
    store->group = group_new();
    if (!store->options.address || !store->group) {
        free_store(store);
        return AS_E_NOMEM;
    }
    *ret = store;
    return AS_OK;
}

as_status store_open_at(const struct store_options *options, uint32_t migrations, struct store **ret, struct as_error *err)
{
    struct store *store;
    if (make_store(options, &store) != AS_OK)
        return error_set(err, AS_E_NOMEM, "out of memory opening the store");
    as_status status = store->kind == STORE_SQLITE ? sqlite_open_store(store, err) : postgres_open_store(store, err);
    if (status != AS_OK) {
        free_store(store);
        return status;
    }
    status = store_migrate(store, migrations, err);
    if (status == AS_OK && migrations == store_migration_count && !options->without_migration)
        status = store_telemetry_prepare(store, wall_now().ns, err);
    if (status != AS_OK) {
        store_close(store);
        return status;
    }
    *ret = store;
    return AS_OK;
}

as_status store_open(const struct store_options *options, struct store **ret, struct as_error *err)
{
    return store_open_at(options, store_migration_count, ret, err);
}

void store_close(struct store *store)
{
    if (!store)
        return;
    store->backend->close(store);
    free_store(store);
}

enum store_kind store_kind(const struct store *store)
{
    return store->kind;
}

int64_t store_version(const struct store *store)
{
    return store->version;
}

/* ---- transactions ---- */

static as_status begin(struct store *store, bool may_write, struct store_tx **ret, struct as_error *err)
{
    struct store_tx *tx = calloc(1, sizeof *tx);
    if (!tx)
        return error_set(err, AS_E_NOMEM, "out of memory for a transaction");
    tx->store = store;
    tx->may_write = may_write;
    const as_status status = store->backend->begin(store, tx, err);
    if (status != AS_OK) {
        free(tx);
        return status;
    }
    *ret = tx;
    return AS_OK;
}

as_status store_read(struct store *store, struct store_tx **ret, struct as_error *err)
{
    return begin(store, false, ret, err);
}

as_status store_write(struct store *store, struct store_tx **ret, struct as_error *err)
{
    return begin(store, true, ret, err);
}

as_status store_commit(struct store_tx *take_tx, struct as_error *err)
{
    as_status status;
    if (take_tx->is_borrowed)
        return error_set(err, AS_E_STATE, "a work in a group does not commit");
    if (take_tx->has_failed) {
        status = take_tx->error.status;
        if (err)
            *err = take_tx->error;
        store_rollback(take_tx);
        return status;
    }
    status = take_tx->store->backend->end(take_tx, true, err);
    free(take_tx);
    return status;
}

void store_rollback(struct store_tx *take_tx)
{
    if (!take_tx || take_tx->is_borrowed)
        return;
    const as_status status = take_tx->store->backend->end(take_tx, false, NULL);
    (void)status; /* a connection that cannot roll back is opened anew */
    free(take_tx);
}

const struct as_error *store_error(const struct store_tx *tx)
{
    return &tx->error;
}

as_status tx_fail(struct store_tx *tx, as_status status, const char *fmt, ...)
{
    va_list args;
    va_start(args, fmt);
    tx->error = (struct as_error){.status = status, .offset = -1};
    vsnprintf(tx->error.message, sizeof tx->error.message, fmt, args);
    va_end(args);
    tx->has_failed = true;
    return status;
}

/* ---- statements ---- */

static as_status start_query(struct store_tx *tx, const char *sql, const struct store_value *params, uint32_t count,
                             struct store_rows *rows)
{
    if (tx->has_failed)
        return tx->error.status;
    for (uint32_t i = 0; i < count; i++)
        if (params[i].type == STORE_TEXT && !text_is_sound(params[i].text, params[i].len))
            return tx_fail(tx, AS_E_INVALID, "parameter %u is not UTF-8 text without NUL", i + 1);
    *rows = (struct store_rows){.tx = tx};
    const as_status status = tx->store->backend->query(tx, sql, params, count, rows);
    if (status != AS_OK)
        return status;
    rows->cells = calloc(rows->columns ? rows->columns : 1, sizeof *rows->cells);
    if (rows->cells)
        return AS_OK;
    tx->store->backend->rows_done(rows);
    return tx_fail(tx, AS_E_NOMEM, "out of memory for a row");
}

static void end_query(struct store_rows *rows)
{
    rows->tx->store->backend->rows_done(rows);
    free(rows->cells);
}

as_status store_exec(struct store_tx *tx, const char *sql, const struct store_value *params, uint32_t count,
                     int64_t *ret_changed)
{
    struct store_rows rows;
    const as_status status = start_query(tx, sql, params, count, &rows);
    if (status != AS_OK)
        return status;
    while (store_next(&rows))
        ;
    if (rows.status == AS_OK && ret_changed)
        *ret_changed = rows.changed;
    end_query(&rows);
    return rows.status;
}

as_status store_query(struct store_tx *tx, const char *sql, const struct store_value *params, uint32_t count,
                      struct store_rows **ret)
{
    struct store_rows *rows = malloc(sizeof *rows);
    if (!rows)
        return tx_fail(tx, AS_E_NOMEM, "out of memory for rows");
    const as_status status = start_query(tx, sql, params, count, rows);
    if (status == AS_OK)
        *ret = rows;
    else
        free(rows);
    return status;
}

bool store_next(struct store_rows *rows)
{
    return rows->status == AS_OK && rows->tx->store->backend->next(rows);
}

as_status store_rows_status(const struct store_rows *rows)
{
    return rows->status;
}

void store_rows_free(struct store_rows *rows)
{
    if (!rows)
        return;
    end_query(rows);
    free(rows);
}

uint32_t store_columns(const struct store_rows *rows)
{
    return rows->columns;
}

const char *store_column_name(const struct store_rows *rows, uint32_t column)
{
    return rows->tx->store->backend->column_name(rows, column);
}

/* ---- care ---- */

as_status store_check(struct store *store, struct as_error *err)
{
    return store->backend->check(store, err);
}

as_status store_backup(struct store *store, const char *target_path, struct as_error *err)
{
    if (access(target_path, F_OK) == 0)
        return error_set(err, AS_E_EXISTS, "%s exists already", target_path);
    return store->kind == STORE_SQLITE ? sqlite_backup_to(store, target_path, err) : copy_to_file(store, target_path, err);
}
