/* SPDX-License-Identifier: Apache-2.0 */
/* Statements and rows of the embedded database. */
#include "store/sqlite.h"

#include <ctype.h>

enum { ROW_NONE, ROW_PENDING, ROW_END }; /* store_rows.row: what the last step found and nobody has read */

static as_status fail(struct store_tx *tx, int code)
{
    struct sqlite_connection *connection = tx->connection;
    const as_status status = sqlite_result(code);
    return tx_fail(tx, status, "%s", sqlite3_errmsg(connection->db));
}

static bool has_more_sql(const char *tail)
{
    while (*tail && (isspace((unsigned char)*tail) || *tail == ';'))
        tail++;
    return *tail != '\0';
}

/* A prepared statement with this text that nobody reads from; NULL: the transaction has failed. */
static struct statement *prepare(struct store_tx *tx, const char *sql)
{
    struct sqlite_connection *connection = tx->connection;
    struct statement *found = statements_find(&connection->statements, sql, NULL);
    if (found) {
        statements_use(&connection->statements, found);
        return found;
    }
    sqlite3_stmt *prepared = NULL;
    const char *tail = "";
    const int code = sqlite3_prepare_v3(connection->db, sql, -1, tx->is_once ? 0 : SQLITE_PREPARE_PERSISTENT, &prepared, &tail);
    as_status status = code == SQLITE_OK ? AS_OK : fail(tx, code);
    if (code != SQLITE_OK)
        return NULL;
    if (!prepared || has_more_sql(tail)) {
        sqlite3_finalize(prepared);
        status = tx_fail(tx, AS_E_INVALID, "one statement a call: %.80s", sql);
        (void)status; /* it stands in the transaction */
        return NULL;
    }
    struct statement *added = statements_add(&connection->statements, sql, prepared);
    if (!added)
        status = tx_fail(tx, AS_E_NOMEM, "out of memory for a statement");
    (void)status;
    return added;
}

static int bind(sqlite3_stmt *prepared, int at, const struct store_value *value)
{
    switch (value->type) {
    case STORE_BOOL:
    case STORE_INT: return sqlite3_bind_int64(prepared, at, value->integer);
    case STORE_REAL: return sqlite3_bind_double(prepared, at, value->real);
    case STORE_TEXT: return sqlite3_bind_text64(prepared, at, value->text ? value->text : "", value->len, SQLITE_STATIC, SQLITE_UTF8);
    case STORE_BLOB: return sqlite3_bind_blob64(prepared, at, value->text ? value->text : "", value->len, SQLITE_STATIC);
    case STORE_NULL:
    default: return sqlite3_bind_null(prepared, at);
    }
}

static void release(struct store_tx *tx, struct statement *statement)
{
    struct sqlite_connection *connection = tx->connection;
    sqlite3_reset(statement->prepared);
    sqlite3_clear_bindings(statement->prepared);
    if (tx->is_once)
        statements_remove(&connection->statements, statement);
    else
        statements_release(statement);
}

static as_status bind_all(struct store_tx *tx, sqlite3_stmt *prepared, const struct store_value *params, uint32_t count)
{
    if ((uint32_t)sqlite3_bind_parameter_count(prepared) != count)
        return tx_fail(tx, AS_E_INVALID, "the statement takes %d parameters, not %u", sqlite3_bind_parameter_count(prepared), count);
    int code = SQLITE_OK;
    for (uint32_t i = 0; i < count && code == SQLITE_OK; i++)
        code = bind(prepared, (int)i + 1, &params[i]);
    return code == SQLITE_OK ? AS_OK : fail(tx, code);
}

/* Goes on by one row and notes what was found. */
static as_status step(struct store_rows *rows)
{
    struct statement *statement = rows->source;
    const int code = sqlite3_step(statement->prepared);
    if (code == SQLITE_ROW) {
        rows->row = ROW_PENDING;
        return AS_OK;
    }
    rows->row = ROW_END;
    if (code != SQLITE_DONE)
        return fail(rows->tx, code);
    if (!sqlite3_stmt_readonly(statement->prepared))
        rows->changed = sqlite3_changes64(sqlite3_db_handle(statement->prepared));
    return AS_OK;
}

as_status sqlite_query(struct store_tx *tx, const char *sql, const struct store_value *params, uint32_t count,
                       struct store_rows *rows)
{
    struct statement *statement = prepare(tx, sql);
    if (!statement)
        return tx->error.status;
    rows->source = statement;
    rows->columns = (uint32_t)sqlite3_column_count(statement->prepared);
    as_status status = bind_all(tx, statement->prepared, params, count);
    if (status == AS_OK)
        status = step(rows);
    if (status != AS_OK)
        release(tx, statement);
    return status;
}

static bool read_cell(sqlite3_stmt *prepared, int column, struct store_cell *ret)
{
    *ret = (struct store_cell){.type = STORE_NULL};
    switch (sqlite3_column_type(prepared, column)) {
    case SQLITE_INTEGER: *ret = (struct store_cell){.type = STORE_INT, .integer = sqlite3_column_int64(prepared, column)}; break;
    case SQLITE_FLOAT: *ret = (struct store_cell){.type = STORE_REAL, .real = sqlite3_column_double(prepared, column)}; break;
    case SQLITE_TEXT:
        ret->type = STORE_TEXT;
        ret->text = (const char *)sqlite3_column_text(prepared, column);
        ret->len = (size_t)sqlite3_column_bytes(prepared, column);
        return ret->text != NULL;
    case SQLITE_BLOB:
        ret->type = STORE_BLOB;
        ret->text = sqlite3_column_blob(prepared, column);
        ret->len = (size_t)sqlite3_column_bytes(prepared, column);
        if (!ret->text)
            ret->text = ""; /* of no bytes */
        break;
    default: break;
    }
    return true;
}

bool sqlite_next(struct store_rows *rows)
{
    struct statement *statement = rows->source;
    if (rows->row == ROW_NONE)
        rows->status = step(rows);
    if (rows->status != AS_OK || rows->row == ROW_END)
        return false;
    rows->row = ROW_NONE;
    for (uint32_t i = 0; i < rows->columns; i++) {
        if (!read_cell(statement->prepared, (int)i, &rows->cells[i])) {
            rows->status = tx_fail(rows->tx, AS_E_NOMEM, "out of memory for a text");
            return false;
        }
    }
    return true;
}

const char *sqlite_column_name(const struct store_rows *rows, uint32_t column)
{
    const struct statement *statement = rows->source;
    const char *name = sqlite3_column_name(statement->prepared, (int)column);
    return name ? name : "";
}

void sqlite_rows_done(struct store_rows *rows)
{
    release(rows->tx, rows->source);
}
