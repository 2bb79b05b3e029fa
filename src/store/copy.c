/* SPDX-License-Identifier: Apache-2.0 */
#include "store/copy.h"

#include "base/strbuf.h"
#include "store/backend.h"
#include "store/files.h"
#include "store/migrate.h"

#include <inttypes.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define COLUMNS_MAX 700

/* Tables in the order in which they were made: what refers to another comes behind it. */
static const char *const tables_sql[] = {
    [STORE_SQLITE] = "SELECT name FROM sqlite_schema WHERE type = 'table' AND name <> 'schema_migrations' ORDER BY rowid",
    [STORE_POSTGRESQL] = "SELECT relname::text FROM pg_class WHERE relkind IN ('r', 'p') AND NOT relispartition "
                         "AND relnamespace = current_schema()::regnamespace AND relname <> 'schema_migrations' ORDER BY oid",
};

struct copy {
    struct store_tx *from, *to;
    struct as_error *err;
};

static as_status fail(struct copy *copy, const struct store_tx *tx, const char *table)
{
    return error_set(copy->err, store_error(tx)->status, "copying %s: %s", table, store_error(tx)->message);
}

static void insert_sql(const struct store_rows *rows, const char *table, struct strbuf *ret)
{
    strbuf_addf(ret, "INSERT INTO %s (", table);
    for (uint32_t i = 0; i < store_columns(rows); i++)
        strbuf_addf(ret, "%s%s", i ? ", " : "", store_column_name(rows, i));
    strbuf_adds(ret, ") VALUES (");
    for (uint32_t i = 0; i < store_columns(rows); i++)
        strbuf_addf(ret, "%s?%u", i ? ", " : "", i + 1);
    strbuf_adds(ret, ")");
}

/* SQLite keeps truth as 0 and 1: `is_bool` says which columns the other side wants as bool. */
static void fill_params(const struct store_rows *rows, const bool *is_bool, struct store_value *ret)
{
    for (uint32_t i = 0; i < rows->columns; i++) {
        const struct store_cell *cell = &rows->cells[i];
        ret[i] = (struct store_value){cell->type, cell->integer, cell->real, cell->text, cell->len};
        if (is_bool[i] && cell->type == STORE_INT)
            ret[i].type = STORE_BOOL;
    }
}

static as_status find_bools(struct copy *copy, const char *table, const struct store_rows *like, bool *ret)
{
    struct store_rows *rows;
    const struct store_value params[] = {store_text(table), store_text("boolean")};
    memset(ret, 0, COLUMNS_MAX * sizeof *ret);
    if (copy->to->store->kind == STORE_SQLITE)
        return AS_OK;
    if (store_query(copy->to,
                    "SELECT column_name::text FROM information_schema.columns WHERE table_schema = current_schema() "
                    "AND table_name::text = ?1 AND data_type::text = ?2",
                    params, 2, &rows) != AS_OK)
        return fail(copy, copy->to, table);
    while (store_next(rows))
        for (uint32_t i = 0; i < store_columns(like); i++)
            if (strcmp(store_column_name(like, i), store_get_text(rows, 0, NULL)) == 0)
                ret[i] = true;
    store_rows_free(rows);
    return AS_OK;
}

static as_status copy_all_rows(struct copy *copy, const char *table, struct store_rows *rows, bool *ret_any)
{
    bool is_bool[COLUMNS_MAX];
    struct store_value params[COLUMNS_MAX];
    AS_AUTO_STRBUF struct strbuf sql;
    strbuf_init(&sql, 0);
    insert_sql(rows, table, &sql);
    if (strbuf_status(&sql) != AS_OK || store_columns(rows) > COLUMNS_MAX)
        return error_set(copy->err, AS_E_NOMEM, "out of memory copying %s", table);
    as_status status = find_bools(copy, table, rows, is_bool);
    while (status == AS_OK && store_next(rows)) {
        *ret_any = true;
        fill_params(rows, is_bool, params);
        if (store_exec(copy->to, strbuf_text(&sql), params, store_columns(rows), NULL) != AS_OK)
            status = fail(copy, copy->to, table);
    }
    if (status == AS_OK && store_rows_status(rows) != AS_OK)
        status = fail(copy, copy->from, table);
    return status;
}

/* Keys made from now on follow those copied. */
static as_status follow_keys(struct copy *copy, const char *table)
{
    char sql[512];
    struct store_rows *rows;
    if (copy->to->store->kind == STORE_SQLITE)
        return AS_OK;
    const struct store_value params[] = {store_text(table)};
    if (store_query(copy->to,
                    "SELECT column_name::text FROM information_schema.columns WHERE table_schema = current_schema() "
                    "AND table_name::text = ?1 AND is_identity::text = 'YES'",
                    params, 1, &rows) != AS_OK)
        return fail(copy, copy->to, table);
    const bool has_identity = store_next(rows);
    store_rows_free(rows);
    if (!has_identity)
        return AS_OK;
    snprintf(sql, sizeof sql, "SELECT setval(pg_get_serial_sequence('%s', 'id'), coalesce(max(id), 0) + 1, false) FROM %s", table, table);
    return store_exec(copy->to, sql, NULL, 0, NULL) == AS_OK ? AS_OK : fail(copy, copy->to, table);
}

/* SQLite walks its rows; PostgreSQL would send them all at once, so that it is asked for some at a time. */
static as_status copy_in_pieces(struct copy *copy, const char *table, const char *select)
{
    char sql[512];
    bool is_more = true;
    as_status status = AS_OK;
    struct store_rows *rows;
    snprintf(sql, sizeof sql, "DECLARE rows_to_copy NO SCROLL CURSOR FOR %s", select);
    if (store_exec(copy->from, sql, NULL, 0, NULL) != AS_OK)
        return fail(copy, copy->from, table);
    while (is_more && status == AS_OK) {
        if (store_query(copy->from, "FETCH 500 FROM rows_to_copy", NULL, 0, &rows) != AS_OK)
            return fail(copy, copy->from, table);
        is_more = false;
        status = copy_all_rows(copy, table, rows, &is_more);
        store_rows_free(rows);
    }
    if (status == AS_OK && store_exec(copy->from, "CLOSE rows_to_copy", NULL, 0, NULL) != AS_OK)
        status = fail(copy, copy->from, table);
    return status;
}

static as_status copy_at_once(struct copy *copy, const char *table, const char *select)
{
    bool is_more;
    struct store_rows *rows;
    if (store_query(copy->from, select, NULL, 0, &rows) != AS_OK)
        return fail(copy, copy->from, table);
    const as_status status = copy_all_rows(copy, table, rows, &is_more);
    store_rows_free(rows);
    return status;
}

static as_status copy_table(struct copy *copy, const char *table)
{
    char sql[256];
    snprintf(sql, sizeof sql, "DELETE FROM %s", table); /* what migrations put into a new store */
    if (store_exec(copy->to, sql, NULL, 0, NULL) != AS_OK)
        return fail(copy, copy->to, table);
    snprintf(sql, sizeof sql, "SELECT * FROM %s ORDER BY 1, 2", table);
    const as_status status =
        copy->from->store->kind == STORE_SQLITE ? copy_at_once(copy, table, sql) : copy_in_pieces(copy, table, sql);
    return status == AS_OK ? follow_keys(copy, table) : status;
}

static as_status copy_tables(struct copy *copy)
{
    struct store_rows *tables;
    if (store_query(copy->from, tables_sql[copy->from->store->kind], NULL, 0, &tables) != AS_OK)
        return fail(copy, copy->from, "the list of tables");
    as_status status = AS_OK;
    while (status == AS_OK && store_next(tables))
        status = copy_table(copy, store_get_text(tables, 0, NULL));
    if (status == AS_OK && store_rows_status(tables) != AS_OK)
        status = fail(copy, copy->from, "the list of tables");
    store_rows_free(tables);
    return status;
}

as_status copy_rows(struct store *from, struct store *to, struct as_error *err)
{
    struct copy copy = {.err = err};
    if (store_version(from) != store_version(to))
        return error_set(err, AS_E_STATE, "the schema versions differ: %" PRId64 " and %" PRId64, store_version(from), store_version(to));
    as_status status = store_read(from, &copy.from, err);
    if (status != AS_OK)
        return status;
    status = store_write(to, &copy.to, err);
    if (status == AS_OK) {
        copy.from->is_once = true;
        status = copy_tables(&copy);
        if (status == AS_OK)
            status = store_commit(copy.to, err);
        else
            store_rollback(copy.to);
    }
    store_rollback(copy.from);
    return status;
}

as_status copy_to_file(struct store *from, const char *path, struct as_error *err)
{
    struct store *to;
    char lock[PATH_MAX];
    const struct store_options options = {.address = path, .readers = 1, .create = true};
    as_status status = store_open_at(&options, (uint32_t)store_version(from), &to, err);
    if (status != AS_OK)
        return status;
    status = copy_rows(from, to, err);
    store_close(to);
    if (snprintf(lock, sizeof lock, "%s.lock", path) < (int)sizeof lock)
        unlink(lock);
    if (status != AS_OK)
        unlink(path);
    return status;
}

/* ---- restore ---- */

static as_status refuse_used(struct store *to, struct as_error *err)
{
    struct store_tx *tx;
    struct store_rows *rows;
    as_status status = store_read(to, &tx, err);
    if (status != AS_OK)
        return status;
    status = store_query(tx, "SELECT (SELECT count(*) FROM tenants) + (SELECT count(*) FROM users)", NULL, 0, &rows);
    if (status == AS_OK) {
        if (store_next(rows) && store_get_int(rows, 0) > 1)
            status = error_set(err, AS_E_EXISTS, "the database to restore into is in use: it has tenants or users");
        store_rows_free(rows);
    } else {
        status = error_set(err, status, "%s", store_error(tx)->message);
    }
    store_rollback(tx);
    return status;
}

static as_status restore_rows(struct store *from, const struct store_options *options, struct as_error *err)
{
    struct store *to;
    as_status status = store_open(options, &to, err);
    if (status != AS_OK)
        return status;
    status = refuse_used(to, err);
    if (status == AS_OK)
        status = copy_rows(from, to, err);
    store_close(to);
    return status;
}

/* Opens the copy as a store would be: it gets the present schema, and is checked whole. */
static as_status open_checked(const char *path, struct store **ret, struct as_error *err)
{
    const struct store_options options = {.address = path, .readers = 2};
    as_status status = store_open(&options, ret, err);
    if (status != AS_OK)
        return status;
    status = store_check(*ret, err);
    if (status != AS_OK)
        store_close(*ret);
    return status;
}

static void remove_beside(const char *path, const char *suffix)
{
    char name[PATH_MAX];
    if (snprintf(name, sizeof name, "%s%s", path, suffix) < (int)sizeof name)
        unlink(name);
}

static as_status restore_from_copy(const char *copy_path, const struct store_options *options, struct as_error *err)
{
    struct store *from;
    as_status status = open_checked(copy_path, &from, err);
    if (status != AS_OK)
        return status;
    const bool is_server = strstr(options->address, "://") != NULL;
    if (is_server)
        status = restore_rows(from, options, err);
    store_close(from);
    return status == AS_OK && !is_server ? file_publish(copy_path, options->address, err) : status;
}

as_status store_restore(const struct store_options *options, const char *backup_path, struct as_error *err)
{
    char copy_path[PATH_MAX];
    const bool is_server = strstr(options->address, "://") != NULL;
    if (!is_server && access(options->address, F_OK) == 0)
        return error_set(err, AS_E_EXISTS, "%s exists already", options->address);
    if (snprintf(copy_path, sizeof copy_path, "%s.restoring", is_server ? backup_path : options->address) >= (int)sizeof copy_path)
        return error_set(err, AS_E_LIMIT, "the path is too long");
    as_status status = file_copy(backup_path, copy_path, err);
    if (status == AS_OK)
        status = restore_from_copy(copy_path, options, err);
    static const char *const left[] = {"", "-wal", "-shm", ".lock"};
    for (size_t i = 0; i < sizeof left / sizeof left[0]; i++)
        remove_beside(copy_path, left[i]);
    return status;
}
