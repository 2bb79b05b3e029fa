/* SPDX-License-Identifier: Apache-2.0 */
#ifndef ASSAY_STORE_STORE_H
#define ASSAY_STORE_STORE_H

/*
 * The system of record: one schema and one way to query it, on an embedded SQLite file or on a PostgreSQL server.
 *
 * Takes a path or a postgresql:// address; gives transactions, in which SQL statements run. Statements are written once for
 * both: parameters are ?1, ?2, … (PostgreSQL sees $1, $2), and only what both understand is used (ON CONFLICT, RETURNING,
 * LIMIT/OFFSET, CASE, common table expressions, window functions). Times are 64-bit nanoseconds since 1970 UTC, JSON is text.
 * A missing value is NULL.
 *
 * Durability. store_commit of a transaction opened by store_write returns AS_OK only when it would survive a power cut (SQLite:
 * WAL with synchronous=FULL, one writer connection that alone checkpoints; PostgreSQL: synchronous_commit on). A failed fsync
 * ends the process with a message: what the kernel holds afterwards is unknown. When the connection to PostgreSQL is lost
 * inside store_commit the outcome is unknown: AS_E_INTERRUPTED; the caller asks again by its natural key.
 *
 * Threads. Any thread may open transactions; a transaction belongs to the thread that opened it. SQLite: any number of readers
 * up to `readers` at once, one writer; others wait in order. PostgreSQL: up to `connections`.
 *
 * On PostgreSQL transactions that write run side by side (READ COMMITTED): change a state by comparing it (UPDATE … WHERE
 * state = ?1) and look at ret_changed; insert by a unique key. A deadlock is AS_E_TIMEOUT and may be tried again.
 * Rows must be freed before their transaction ends.
 *
 * Errors. AS_E_EXISTS: a unique key is taken; AS_E_STATE: a foreign key or CHECK refuses (err names the constraint);
 * AS_E_TIMEOUT: no connection or lock within the limit; AS_E_NETWORK: PostgreSQL is not reachable; AS_E_IO; AS_E_NOMEM;
 * AS_E_INVALID: the SQL itself is wrong. After an error a transaction can only be rolled back.
 */

#include "base/status.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct store;
struct store_tx;
struct store_rows;

struct store_options {
    const char *address;     /* path of the SQLite file, or postgresql://… / postgres://… */
    uint32_t readers;        /* SQLite: read connections [4]; PostgreSQL: connections in all [8] */
    int64_t wait_ns;         /* longest wait for a connection or the writer [10 s] */
    bool create;             /* SQLite: make the file when it does not exist */
    bool without_migration;  /* refuse (AS_E_STATE) a store whose schema is older, instead of migrating it */
};

/*
 * Opens, locks (SQLite: a second process is refused with AS_E_STATE and the holder's pid) and migrates. A store whose schema
 * is newer than this program is refused (AS_E_UNSUPPORTED) untouched.
 */
as_status store_open(const struct store_options *options, struct store **ret, struct as_error *err) AS_NODISCARD;
void store_close(struct store *store);

enum store_kind { STORE_SQLITE, STORE_POSTGRESQL };
enum store_kind store_kind(const struct store *store);
/* The number of the newest migration that is applied. */
int64_t store_version(const struct store *store);

/* ---- transactions ---- */

/* A read-only snapshot. */
as_status store_read(struct store *store, struct store_tx **ret, struct as_error *err) AS_NODISCARD;
/* A transaction that may write. */
as_status store_write(struct store *store, struct store_tx **ret, struct as_error *err) AS_NODISCARD;
/* Ends the transaction, whatever comes back. For a reader it only ends it. */
as_status store_commit(struct store_tx *take_tx, struct as_error *err) AS_NODISCARD;
/* NULL does nothing. */
void store_rollback(struct store_tx *take_tx);

/* ---- many small writes, one commit ---- */

/* Writes through `tx`, which it must neither commit nor roll back; what it returns is what store_group returns. */
typedef as_status (*store_work)(struct store_tx *tx, void *context, struct as_error *err);

enum store_urgency {
    STORE_SOON, /* may wait up to STORE_GROUP_NS for company: telemetry */
    STORE_NOW   /* waits for nobody, and takes those along that wait: results */
};

#define STORE_GROUP_NS     INT64_C(5000000)
#define STORE_GROUP_WEIGHT 20000

/*
 * Runs `work` in a transaction and returns when that would survive a power cut. On SQLite it shares one commit with the works
 * of other threads that wait at the same time, and may run on one of those threads; a work that fails is undone alone. When
 * the commit fails, all of it failed. `weight`: samples, say; STORE_GROUP_WEIGHT of them end the waiting. On PostgreSQL each
 * work is a transaction of its own, which the server groups. Errors: the work's, or those of store_write and store_commit.
 */
struct store_group_work {
    store_work work;
    void *context;
    enum store_urgency urgency;
    uint32_t weight;
};
as_status store_group(struct store *store, const struct store_group_work *work, struct as_error *err) AS_NODISCARD;

/* ---- statements ---- */

enum store_type { STORE_NULL, STORE_BOOL, STORE_INT, STORE_REAL, STORE_TEXT, STORE_BLOB };

/* One parameter; text and bytes are the caller's and must live until the call returns. */
struct store_value {
    enum store_type type;
    int64_t integer; /* STORE_INT; STORE_BOOL: 0 or 1 */
    double real;
    const char *text; /* STORE_TEXT, STORE_BLOB */
    size_t len;       /* bytes of text */
};

struct store_value store_null(void);
struct store_value store_bool(bool value);
struct store_value store_int(int64_t value);
struct store_value store_real(double value); /* NaN and infinities become NULL */
struct store_value store_text(const char *text); /* NULL becomes STORE_NULL */
struct store_value store_text_n(const char *text, size_t len);
struct store_value store_blob(const void *data, size_t len);

/* Runs a statement without rows of interest; ret_changed (may be NULL) gets the number of rows inserted, changed or removed. */
as_status store_exec(struct store_tx *tx, const char *sql, const struct store_value *params, uint32_t count,
                     int64_t *ret_changed) AS_NODISCARD;
/* Runs a statement that gives rows; statements are prepared once per connection and text. */
as_status store_query(struct store_tx *tx, const char *sql, const struct store_value *params, uint32_t count,
                      struct store_rows **ret) AS_NODISCARD;
/* The sentence, constraint name and place of the transaction's last failure. */
const struct as_error *store_error(const struct store_tx *tx);

/* Goes to the next row: true while there is one. After false, store_rows_status says whether all were read. */
bool store_next(struct store_rows *rows);
as_status store_rows_status(const struct store_rows *rows) AS_NODISCARD;
void store_rows_free(struct store_rows *rows);

uint32_t store_columns(const struct store_rows *rows);
const char *store_column_name(const struct store_rows *rows, uint32_t column);
bool store_is_null(const struct store_rows *rows, uint32_t column);
/* Of the present row, columns from 0. A NULL gives 0, false, NULL. Text is NUL-terminated and valid until store_next. */
int64_t store_get_int(const struct store_rows *rows, uint32_t column);
bool store_get_bool(const struct store_rows *rows, uint32_t column);
double store_get_real(const struct store_rows *rows, uint32_t column);
const char *store_get_text(const struct store_rows *rows, uint32_t column, size_t *ret_len);
const void *store_get_blob(const struct store_rows *rows, uint32_t column, size_t *ret_len);

/* ---- care ---- */

/*
 * A SQLite file with the store's rows at one moment, made while it serves; the target must not exist (AS_E_EXISTS). Of a
 * PostgreSQL store too: the same file restores into either.
 */
as_status store_backup(struct store *store, const char *target_path, struct as_error *err) AS_NODISCARD;
/*
 * Makes a store from such a file: a SQLite file that must not exist yet, or a PostgreSQL database without tenants and users
 * (AS_E_EXISTS). A backup of an older version is migrated on the way. The backup itself stays as it is.
 */
as_status store_restore(const struct store_options *options, const char *backup_path, struct as_error *err) AS_NODISCARD;
/*
 * Before raw telemetry of times around now_ns is written, once a day and at start: PostgreSQL gets partitions of a week each,
 * from the week before to five weeks on; what lies outside goes to a partition of its own. SQLite: nothing to do.
 */
as_status store_telemetry_prepare(struct store *store, int64_t now_ns, struct as_error *err) AS_NODISCARD;
/*
 * Drops raw telemetry of minutes before before_ns, in short transactions; roll-ups stay, and with them every view's figures.
 * ret_chunks (may be NULL): how many device minutes went, as far as they were counted (whole partitions are not).
 */
as_status store_telemetry_retain(struct store *store, int64_t before_ns, int64_t *ret_chunks, struct as_error *err) AS_NODISCARD;
/* Checks the whole store (SQLite: integrity_check and foreign_key_check). AS_E_INVALID with the first finding. */
as_status store_check(struct store *store, struct as_error *err) AS_NODISCARD;

#endif
