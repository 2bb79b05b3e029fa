/* SPDX-License-Identifier: Apache-2.0 */
#ifndef ASSAY_STORE_BACKEND_H
#define ASSAY_STORE_BACKEND_H

/*
 * The seam between store.h and a database. A backend gives connections, runs statements on them and walks rows; everything
 * else (values, migrations, groups, copies) is written once above it. What each function may return is the list in store.h;
 * the sentence goes to `err` where there is one, else to tx->error.
 */

#include "store/store.h"

#include <stdbool.h>

struct store_backend;
struct group;

struct store {
    const struct store_backend *backend;
    enum store_kind kind;
    struct store_options options; /* with defaults filled in; address is ours */
    int64_t version;
    void *database; /* the backend's */
    struct group *group;
};

struct store_tx {
    struct store *store;
    bool may_write;
    bool is_once;     /* statements are not kept prepared */
    bool has_failed;  /* only a rollback is possible */
    bool is_borrowed; /* runs inside a group: commit and rollback are not the caller's */
    void *connection; /* the backend's */
    uint32_t number;  /* of the connection in its pool */
    struct as_error error;
};

struct store_cell {
    enum store_type type;
    int64_t integer;
    double real;
    const char *text;
    size_t len;
};

struct store_rows {
    struct store_tx *tx;
    as_status status;
    uint32_t columns;
    struct store_cell *cells; /* of the present row */
    int64_t changed;          /* known once all rows were read */
    void *source;             /* the backend's */
    int64_t row;              /* PostgreSQL: the next one */
};

struct store_backend {
    void (*close)(struct store *store);
    as_status (*begin)(struct store *store, struct store_tx *tx, struct as_error *err);
    /* The connection goes back whatever comes. */
    as_status (*end)(struct store_tx *tx, bool is_commit, struct as_error *err);
    /* Fills rows->source, columns; cells are made by the caller afterwards. On failure nothing is left to be freed. */
    as_status (*query)(struct store_tx *tx, const char *sql, const struct store_value *params, uint32_t count,
                       struct store_rows *rows);
    /* Fills cells; false at the end, with rows->changed, or on failure, with rows->status. */
    bool (*next)(struct store_rows *rows);
    const char *(*column_name)(const struct store_rows *rows, uint32_t column);
    void (*rows_done)(struct store_rows *rows);
    as_status (*check)(struct store *store, struct as_error *err);
};

/* Fill backend and database of a store whose options are set; nothing is left open on failure. */
as_status sqlite_open_store(struct store *store, struct as_error *err) AS_NODISCARD;
as_status postgres_open_store(struct store *store, struct as_error *err) AS_NODISCARD;

/* Sets the transaction's error and that it has failed. */
as_status tx_fail(struct store_tx *tx, as_status status, const char *fmt, ...) AS_PRINTF(3, 4);

/* The database may have lost what it was told to keep: says so and ends the process with the exit code of AS_E_IO. */
_Noreturn void store_die(const char *what);

#endif
