/* SPDX-License-Identifier: Apache-2.0 */
#ifndef ASSAY_TESTS_STORE_BOTH_H
#define ASSAY_TESTS_STORE_BOTH_H

/*
 * One suite for both databases: BOTH(test) stands for a test on a SQLite file and one on the PostgreSQL server whose address is
 * in ASSAY_TEST_POSTGRES (script/with-postgres gives one); without it the second is skipped and says so. Each test gets a
 * database of its own.
 */

#include "store/store.h"

#include "support/check.h"
#include "support/temp_dir.h"

#include <libpq-fe.h>

#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

struct both {
    enum store_kind kind;
    struct temp_dir dir;
    char address[PATH_MAX];
    char database[64]; /* PostgreSQL */
    struct store *store;
    struct as_error err;
};

#define BOTH(test)                                                               \
    {#test " on SQLite", test, both_set_up, both_tear_down, both_sqlite},         \
    {                                                                            \
        #test " on PostgreSQL", test, both_set_up, both_tear_down, both_postgres \
    }

static enum store_kind both_kinds[] = {STORE_SQLITE, STORE_POSTGRESQL};
static void *const both_sqlite = &both_kinds[0];
static void *const both_postgres = &both_kinds[1];

static void both_on_server(const char *sql)
{
    PGconn *conn = PQconnectdb(getenv("ASSAY_TEST_POSTGRES"));
    PGresult *result = PQexec(conn, sql);
    if (PQresultStatus(result) != PGRES_COMMAND_OK)
        fail_msg("%s: %s", sql, PQerrorMessage(conn));
    PQclear(result);
    PQfinish(conn);
}

/* The server's address with this test's database in it. */
static void both_new_database(struct both *both)
{
    static int count;
    const char *server = getenv("ASSAY_TEST_POSTGRES");
    const char *name = strstr(server, "/postgres?");
    assert_non_null(name);
    snprintf(both->database, sizeof both->database, "assay_test_%ld_%d", (long)getpid(), count++);
    char sql[128];
    snprintf(sql, sizeof sql, "CREATE DATABASE %s", both->database);
    both_on_server(sql);
    snprintf(both->address, sizeof both->address, "%.*s/%s%s", (int)(name - server), server, both->database, name + 9);
}

static struct store *both_open(struct both *both)
{
    const struct store_options options = {.address = both->address, .create = true};
    const as_status status = store_open(&options, &both->store, &both->err);
    if (status != AS_OK)
        fail_msg("%s: %s", both->address, both->err.message);
    return both->store;
}

static void both_close(struct both *both)
{
    store_close(both->store);
    both->store = NULL;
}

static int both_set_up(void **state)
{
    struct both *both = calloc(1, sizeof *both);
    both->kind = *(const enum store_kind *)*state;
    *state = both;
    temp_dir_make(&both->dir);
    if (both->kind == STORE_SQLITE)
        temp_dir_join(&both->dir, "store.db", both->address);
    else if (getenv("ASSAY_TEST_POSTGRES"))
        both_new_database(both);
    return 0;
}

/* At the start of each test: its database, opened. */
static struct both *both_begin(void **state)
{
    struct both *both = *state;
    if (both->address[0] == '\0') {
        print_message("no PostgreSQL: ASSAY_TEST_POSTGRES is not set (script/with-postgres runs a command with one)\n");
        skip();
    }
    both_open(both);
    return both;
}

static int both_tear_down(void **state)
{
    struct both *both = *state;
    both_close(both);
    if (both->database[0]) {
        char sql[128];
        snprintf(sql, sizeof sql, "DROP DATABASE %s WITH (FORCE)", both->database);
        both_on_server(sql);
    }
    temp_dir_remove(&both->dir);
    free(both);
    return 0;
}

/* ---- short forms ---- */

#define PARAMS(...)                                                                \
    (const struct store_value[]){__VA_ARGS__},                                     \
        (uint32_t)(sizeof((const struct store_value[]){__VA_ARGS__}) / sizeof(struct store_value))

static inline struct store_tx *both_write(struct both *both)
{
    struct store_tx *tx;
    if (store_write(both->store, &tx, &both->err) != AS_OK)
        fail_msg("%s", both->err.message);
    return tx;
}

static inline struct store_tx *both_read(struct both *both)
{
    struct store_tx *tx;
    if (store_read(both->store, &tx, &both->err) != AS_OK)
        fail_msg("%s", both->err.message);
    return tx;
}

static inline void both_commit(struct both *both, struct store_tx *tx)
{
    if (store_commit(tx, &both->err) != AS_OK)
        fail_msg("%s", both->err.message);
}

static inline void must(struct store_tx *tx, as_status status)
{
    if (status != AS_OK)
        fail_msg("%s", store_error(tx)->message);
}

/* The first column of the first row, as a number. */
static inline int64_t number_of(struct store_tx *tx, const char *sql, const struct store_value *params, uint32_t count)
{
    struct store_rows *rows;
    must(tx, store_query(tx, sql, params, count, &rows));
    assert_true(store_next(rows));
    const int64_t value = store_get_int(rows, 0);
    store_rows_free(rows);
    return value;
}

#endif
