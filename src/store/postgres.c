/* SPDX-License-Identifier: Apache-2.0 */
/* Connections and transactions of a PostgreSQL server. */
#include "store/postgres.h"

#include "base/clock.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define RETRY_NS       (50 * NS_PER_MS)
#define OLDEST_VERSION 130000

struct code_rule {
    const char *prefix; /* of the SQLSTATE; the first that fits counts */
    as_status status;
};

static const struct code_rule code_rules[] = {
    {"23505", AS_E_EXISTS}, /* unique_violation */
    {"23", AS_E_STATE},     /* other constraints */
    {"25006", AS_E_STATE},  /* read_only_sql_transaction */
    {"40", AS_E_TIMEOUT},   /* deadlock, serialization: may be tried again */
    {"55P03", AS_E_TIMEOUT}, /* lock_not_available */
    {"57014", AS_E_TIMEOUT}, /* statement_timeout */
    {"57P", AS_E_NETWORK},  /* shutting down, starting up */
    {"08", AS_E_NETWORK},   {"28", AS_E_DENIED}, {"3D", AS_E_NOTFOUND}, {"53200", AS_E_NOMEM},
    {"53300", AS_E_TIMEOUT}, /* too many connections */
    {"53", AS_E_IO},        /* disk full */
    {"54", AS_E_LIMIT},     {"58", AS_E_IO},     {"XX", AS_E_IO},
};

as_status postgres_status(const PGconn *conn, const PGresult *result)
{
    const char *code = result ? PQresultErrorField(result, PG_DIAG_SQLSTATE) : NULL;
    if (!code)
        return PQstatus(conn) == CONNECTION_OK ? AS_E_NOMEM : AS_E_NETWORK;
    for (size_t i = 0; i < sizeof code_rules / sizeof code_rules[0]; i++)
        if (strncmp(code, code_rules[i].prefix, strlen(code_rules[i].prefix)) == 0)
            return code_rules[i].status;
    return AS_E_INVALID;
}

void postgres_message(const PGconn *conn, const PGresult *result, char *ret, size_t size)
{
    const char *primary = result ? PQresultErrorField(result, PG_DIAG_MESSAGE_PRIMARY) : NULL;
    const char *constraint = result ? PQresultErrorField(result, PG_DIAG_CONSTRAINT_NAME) : NULL;
    if (primary && constraint)
        snprintf(ret, size, "%s (%s)", primary, constraint);
    else
        snprintf(ret, size, "%s", primary ? primary : PQerrorMessage(conn));
    for (char *at = ret; *at; at++)
        if (*at == '\n')
            *at = at[1] ? ' ' : '\0';
}

static as_status fail_result(const PGconn *conn, PGresult *take_result, const char *doing, struct as_error *err)
{
    char message[400];
    const as_status status = postgres_status(conn, take_result);
    postgres_message(conn, take_result, message, sizeof message);
    PQclear(take_result);
    return error_set(err, status, "PostgreSQL: %s: %s", doing, message);
}

/* ---- connections ---- */

static void disconnect(struct postgres_connection *connection)
{
    PGconn *conn = connection->conn;
    connection->conn = NULL; /* its prepared statements go with it */
    statements_clear(&connection->statements);
    PQfinish(conn);
}

static void say_nothing(void *context, const PGresult *notice)
{
    (void)context;
    (void)notice;
}

/*
 * One try. The session's settings do not depend on the role's or the server's. Statements are planned once a connection and text:
 * planned for each set of values, as the server would by itself, a page of results took longer to plan than to read. A page that is
 * not next to the last one costs what it does on flash: the server's default is a spinning disk's, and makes it read whole tables.
 */
static as_status connect_once(struct postgres_connection *connection, const struct store_options *options, struct as_error *err)
{
    char settings[384];
    snprintf(settings, sizeof settings,
             "-c synchronous_commit=on -c lock_timeout=%" PRId64 " -c client_min_messages=error -c timezone=UTC -c jit=off "
             "-c plan_cache_mode=force_generic_plan -c random_page_cost=1.1 -c standard_conforming_strings=on -c default_transaction_isolation=read\\ committed -c extra_float_digits=3",
             options->wait_ns / NS_PER_MS);
    const char *const names[] = {"dbname", "options", "client_encoding", "fallback_application_name", "connect_timeout", NULL};
    const char *const values[] = {options->address, settings, "UTF8", "assay", "10", NULL};
    connection->conn = PQconnectdbParams(names, values, 1);
    if (!connection->conn)
        return error_set(err, AS_E_NOMEM, "out of memory for a connection");
    if (PQstatus(connection->conn) != CONNECTION_OK) {
        const as_status status = fail_result(connection->conn, NULL, "connecting", err);
        disconnect(connection);
        return status;
    }
    PQsetNoticeReceiver(connection->conn, say_nothing, NULL);
    if (PQserverVersion(connection->conn) >= OLDEST_VERSION)
        return AS_OK;
    const int version = PQserverVersion(connection->conn);
    disconnect(connection);
    return error_set(err, AS_E_UNSUPPORTED, "the PostgreSQL server is version %d, 13 is the oldest supported", version / 10000);
}

/* Tries until the store's limit: a server that starts or was restarted is worth waiting for. */
static as_status connect_patiently(struct postgres_connection *connection, const struct store_options *options, struct as_error *err)
{
    const struct mono until = mono_add_ns(mono_now(), options->wait_ns);
    for (;;) {
        const as_status status = connect_once(connection, options, err);
        const struct mono next = mono_add_ns(mono_now(), RETRY_NS);
        if (status != AS_E_NETWORK || mono_diff_ns(next, until) > 0)
            return status;
        mono_sleep_until(next);
    }
}

static as_status run_command(struct postgres_connection *connection, const char *sql, struct as_error *err)
{
    PGresult *result = PQexec(connection->conn, sql);
    if (result && PQresultStatus(result) == PGRES_COMMAND_OK) {
        PQclear(result);
        return AS_OK;
    }
    return fail_result(connection->conn, result, sql, err);
}

/* ---- transactions ---- */

static as_status begin_on(struct store *store, struct postgres_connection *connection, const char *sql, struct as_error *err)
{
    as_status status = connection->conn && PQstatus(connection->conn) == CONNECTION_OK ? AS_OK : AS_E_NETWORK;
    if (status == AS_OK)
        status = run_command(connection, sql, err);
    if (status != AS_E_NETWORK)
        return status;
    /* Nothing of this transaction was sent yet: a new connection does as well. */
    disconnect(connection);
    status = connect_patiently(connection, &store->options, err);
    return status == AS_OK ? run_command(connection, sql, err) : status;
}

static as_status postgres_begin(struct store *store, struct store_tx *tx, struct as_error *err)
{
    struct postgres_database *database = store->database;
    as_status status = pool_take(&database->turn, store->options.wait_ns, &tx->number);
    if (status != AS_OK)
        return error_set(err, status, "no connection to the store was free within %" PRId64 " ms", store->options.wait_ns / NS_PER_MS);
    tx->connection = &database->connections[tx->number];
    status = begin_on(store, tx->connection, tx->may_write ? "BEGIN" : "BEGIN ISOLATION LEVEL REPEATABLE READ READ ONLY", err);
    if (status != AS_OK)
        pool_give(&database->turn, tx->number);
    return status;
}

/*
 * The answer to COMMIT. "ROLLBACK" as the command's tag: the server had given the transaction up. No answer: only the server
 * knows.
 */
static as_status commit(struct postgres_connection *connection, struct as_error *err)
{
    PGresult *result = PQexec(connection->conn, "COMMIT");
    if (result && PQresultStatus(result) == PGRES_COMMAND_OK) {
        const bool is_kept = strcmp(PQcmdStatus(result), "COMMIT") == 0;
        PQclear(result);
        return is_kept ? AS_OK : error_set(err, AS_E_STATE, "PostgreSQL undid the transaction");
    }
    if (PQstatus(connection->conn) == CONNECTION_OK)
        return fail_result(connection->conn, result, "COMMIT", err);
    PQclear(result);
    return error_set(err, AS_E_INTERRUPTED, "the connection to PostgreSQL broke during COMMIT: ask whether it was kept");
}

static as_status postgres_end(struct store_tx *tx, bool is_commit, struct as_error *err)
{
    struct postgres_database *database = tx->store->database;
    struct postgres_connection *connection = tx->connection;
    as_status status = AS_OK;
    if (is_commit)
        status = commit(connection, err);
    if (PQtransactionStatus(connection->conn) != PQTRANS_IDLE && run_command(connection, "ROLLBACK", NULL) != AS_OK)
        disconnect(connection);
    pool_give(&database->turn, tx->number);
    return status;
}

/* ---- the store ---- */

static as_status postgres_check(struct store *store, struct as_error *err)
{
    struct store_tx *tx;
    struct store_rows *rows;
    as_status status = store_read(store, &tx, err);
    if (status != AS_OK)
        return status;
    status = store_query(tx,
                         "SELECT conrelid::regclass::text || '.' || conname FROM pg_constraint "
                         "WHERE NOT convalidated AND connamespace = current_schema()::regnamespace",
                         NULL, 0, &rows);
    if (status == AS_OK) {
        if (store_next(rows))
            status = error_set(err, AS_E_INVALID, "the constraint %s is not valid", store_get_text(rows, 0, NULL));
        store_rows_free(rows);
    } else {
        status = error_set(err, status, "%s", store_error(tx)->message);
    }
    store_rollback(tx);
    return status;
}

static void postgres_close(struct store *store)
{
    struct postgres_database *database = store->database;
    for (uint32_t i = 0; i < database->count; i++)
        disconnect(&database->connections[i]);
    pool_done(&database->turn);
    free(database);
}

static const struct store_backend postgres_backend = {
    .close = postgres_close,
    .begin = postgres_begin,
    .end = postgres_end,
    .query = postgres_query,
    .next = postgres_next,
    .column_name = postgres_column_name,
    .rows_done = postgres_rows_done,
    .check = postgres_check,
};

as_status postgres_open_store(struct store *store, struct as_error *err)
{
    struct postgres_database *database = calloc(1, sizeof *database);
    if (!database)
        return error_set(err, AS_E_NOMEM, "out of memory opening the store");
    database->count = store->options.readers;
    pool_init(&database->turn, database->count);
    for (uint32_t i = 0; i < database->count; i++)
        statements_init(&database->connections[i].statements, postgres_drop_prepared, &database->connections[i]);
    const as_status status = connect_patiently(&database->connections[0], &store->options, err);
    if (status != AS_OK) {
        pool_done(&database->turn);
        free(database);
        return status;
    }
    store->database = database;
    store->backend = &postgres_backend;
    return AS_OK;
}
