/* SPDX-License-Identifier: Apache-2.0 */
#ifndef ASSAY_STORE_SQLITE_H
#define ASSAY_STORE_SQLITE_H

/*
 * The embedded database: one connection writes, checkpoints and backs up; `readers` others only read. What the numbers are
 * and why: docs/decisions/0020-embedded-store.md.
 */

#include "store/backend.h"
#include "store/pool.h"
#include "store/statements.h"

#include <sqlite3.h>

#define SQLITE_APPLICATION_ID       0x41534159 /* "ASAY", in the file's header */
#define SQLITE_CHECKPOINT_FRAMES    1000       /* in the log: checkpoint what readers allow */
#define SQLITE_RESTART_FRAMES       4000       /* in the log: wait for readers, so that it starts over */
#define SQLITE_RESTART_WAIT_MS      20
#define SQLITE_LOG_KEPT_BYTES       (32 << 20) /* of the log's file, once it has started over */
#define SQLITE_WRITER_CACHE_KIB     32768
#define SQLITE_READER_CACHE_KIB     8192

struct sqlite_connection {
    sqlite3 *db;
    struct statements statements;
    int log_frames; /* writer: in the log after the last commit */
};

struct sqlite_database {
    int lock_fd;
    struct pool writer_turn;
    struct pool reader_turn;
    struct sqlite_connection writer;
    struct sqlite_connection readers[POOL_MAX];
    uint32_t reader_count;
};

/* The VFS that databases are opened with from now on; NULL: "unix-excl", which keeps other processes out. For tests. */
void sqlite_use_vfs(const char *name);
const char *sqlite_vfs(void);

/* What a result code of SQLite is in our list. */
as_status sqlite_status(int code) AS_NODISCARD;
/* Ends the process when a sync has failed; else the status. */
as_status sqlite_result(int code) AS_NODISCARD;

/* One statement without parameters or rows of interest. */
as_status sqlite_do(sqlite3 *db, const char *sql, struct as_error *err) AS_NODISCARD;
/* After a commit: moves the log into the file when it is long enough. */
void sqlite_checkpoint(struct sqlite_connection *writer);

as_status sqlite_query(struct store_tx *tx, const char *sql, const struct store_value *params, uint32_t count,
                       struct store_rows *rows) AS_NODISCARD;
bool sqlite_next(struct store_rows *rows);
const char *sqlite_column_name(const struct store_rows *rows, uint32_t column);
void sqlite_rows_done(struct store_rows *rows);
as_status sqlite_check(struct store *store, struct as_error *err) AS_NODISCARD;
as_status sqlite_backup_to(struct store *store, const char *target_path, struct as_error *err) AS_NODISCARD;

#endif
