/* SPDX-License-Identifier: Apache-2.0 */
/* Checkpoints, backup and checks of the embedded database. */
#include "base/clock.h"
#include "store/files.h"
#include "store/sqlite.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define BACKUP_PAGES 256 /* copied at a time; others write in between */

void sqlite_checkpoint(struct sqlite_connection *writer)
{
    if (writer->log_frames < SQLITE_CHECKPOINT_FRAMES)
        return;
    const int mode = writer->log_frames < SQLITE_RESTART_FRAMES ? SQLITE_CHECKPOINT_PASSIVE : SQLITE_CHECKPOINT_RESTART;
    const int code = sqlite3_wal_checkpoint_v2(writer->db, NULL, mode, NULL, NULL);
    /* What was committed stays in the log, whatever else went wrong: the next commit tries again. */
    const as_status status = sqlite_result(code);
    (void)status;
}

/* ---- check ---- */

/* The first finding of a statement that gives no row, or one row "ok", when all is well. */
static as_status first_finding(struct store_tx *tx, const char *sql, struct as_error *err)
{
    struct store_rows *rows;
    as_status status = store_query(tx, sql, NULL, 0, &rows);
    if (status != AS_OK)
        return error_set(err, status, "%s: %s", sql, tx->error.message);
    if (store_next(rows)) {
        const char *text = store_get_text(rows, 0, NULL);
        if (!text || strcmp(text, "ok") != 0)
            status = error_set(err, AS_E_INVALID, "%s: %s", sql, text ? text : "?");
    }
    if (status == AS_OK && store_rows_status(rows) != AS_OK)
        status = error_set(err, store_rows_status(rows), "%s: %s", sql, tx->error.message);
    store_rows_free(rows);
    return status;
}

as_status sqlite_check(struct store *store, struct as_error *err)
{
    struct store_tx *tx;
    as_status status = store_read(store, &tx, err);
    if (status != AS_OK)
        return status;
    tx->is_once = true;
    status = first_finding(tx, "PRAGMA integrity_check(1)", err);
    if (status == AS_OK)
        status = first_finding(tx, "PRAGMA foreign_key_check", err);
    store_rollback(tx);
    return status;
}

/* ---- backup ---- */

struct backup {
    struct store *store;
    sqlite3 *target;
    sqlite3_backup *copy;
};

/* Some pages, in a turn of the writer: what it writes between two turns is brought into the copy by SQLite. */
static as_status copy_some(struct backup *backup, bool *ret_done, struct as_error *err)
{
    struct sqlite_database *database = backup->store->database;
    uint32_t turn;
    as_status status = pool_take(&database->writer_turn, backup->store->options.wait_ns, &turn);
    if (status != AS_OK)
        return error_set(err, status, "the backup could not get at the store");
    if (!backup->copy)
        backup->copy = sqlite3_backup_init(backup->target, "main", database->writer.db, "main");
    const int code = backup->copy ? sqlite3_backup_step(backup->copy, BACKUP_PAGES) : sqlite3_errcode(backup->target);
    *ret_done = code == SQLITE_DONE;
    if (code != SQLITE_OK && code != SQLITE_DONE)
        status = error_set(err, sqlite_status(code), "the backup: %s", sqlite3_errstr(code));
    if (backup->copy && (status != AS_OK || *ret_done)) {
        const int finish = sqlite3_backup_finish(backup->copy);
        backup->copy = NULL;
        if (status == AS_OK && finish != SQLITE_OK)
            status = error_set(err, sqlite_status(finish), "the backup: %s", sqlite3_errstr(finish));
    }
    pool_give(&database->writer_turn, turn);
    return status;
}

static as_status copy_all(struct store *store, const char *path, struct as_error *err)
{
    struct backup backup = {.store = store};
    int code = sqlite3_open_v2(path, &backup.target, SQLITE_OPEN_READWRITE | SQLITE_OPEN_CREATE | SQLITE_OPEN_NOMUTEX, NULL);
    if (code == SQLITE_OK)
        code = sqlite3_exec(backup.target, "PRAGMA synchronous = FULL", NULL, NULL, NULL);
    as_status status = code == SQLITE_OK ? AS_OK : error_set(err, sqlite_status(code), "cannot create %s: %s", path, sqlite3_errstr(code));
    for (bool is_done = false; status == AS_OK && !is_done;)
        status = copy_some(&backup, &is_done, err);
    sqlite3_close(backup.target);
    return status;
}

as_status sqlite_backup_to(struct store *store, const char *target_path, struct as_error *err)
{
    char part[PATH_MAX];
    if (snprintf(part, sizeof part, "%s.part", target_path) >= (int)sizeof part)
        return error_set(err, AS_E_LIMIT, "the backup's path is too long");
    const int fd = open(part, O_RDWR | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);
    if (fd < 0)
        return error_set_errno(err, errno, "cannot create %s", part);
    close(fd);
    as_status status = copy_all(store, part, err);
    if (status == AS_OK)
        status = file_publish(part, target_path, err);
    unlink(part);
    return status;
}
