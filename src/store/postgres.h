/* SPDX-License-Identifier: Apache-2.0 */
#ifndef ASSAY_STORE_POSTGRES_H
#define ASSAY_STORE_POSTGRES_H

/*
 * A PostgreSQL server, 13 or newer: a pool of connections, each with its prepared statements. A connection that broke is
 * opened anew when the next transaction begins on it.
 */

#include "store/backend.h"
#include "store/pool.h"
#include "store/statements.h"

#include <libpq-fe.h>

/* Type numbers of the server's catalogue that never change. */
enum {
    PG_BOOL = 16,
    PG_BYTEA = 17,
    PG_INT8 = 20,
    PG_INT2 = 21,
    PG_INT4 = 23,
    PG_TEXT = 25,
    PG_OID = 26,
    PG_FLOAT4 = 700,
    PG_FLOAT8 = 701,
    PG_NUMERIC = 1700
};

struct postgres_connection {
    PGconn *conn;
    struct statements statements;
    uint64_t next_name;
};

struct postgres_database {
    struct pool turn;
    struct postgres_connection connections[POOL_MAX];
    uint32_t count;
};

/* What the failed result, or the broken connection, is in our list. */
as_status postgres_status(const PGconn *conn, const PGresult *result) AS_NODISCARD;
/* The server's words without its line ends. */
void postgres_message(const PGconn *conn, const PGresult *result, char *ret, size_t size);

/* Frees a prepared statement; its name dies with the connection or is deallocated. */
void postgres_drop_prepared(void *context, void *prepared);

as_status postgres_query(struct store_tx *tx, const char *sql, const struct store_value *params, uint32_t count,
                         struct store_rows *rows) AS_NODISCARD;
bool postgres_next(struct store_rows *rows);
const char *postgres_column_name(const struct store_rows *rows, uint32_t column);
void postgres_rows_done(struct store_rows *rows);

#endif
