/* SPDX-License-Identifier: Apache-2.0 */
/* Connections of the embedded database. */
#include "store/sqlite.h"

#include "base/clock.h"
#include "base/file.h"
#include "store/lock.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define OPEN_WAIT_MS 2000

static const char *vfs_name = "unix-excl";

void sqlite_use_vfs(const char *name)
{
    vfs_name = name ? name : "unix-excl";
}

const char *sqlite_vfs(void)
{
    return vfs_name;
}

as_status sqlite_status(int code)
{
    switch (code) {
    case SQLITE_CONSTRAINT_UNIQUE:
    case SQLITE_CONSTRAINT_PRIMARYKEY:
    case SQLITE_CONSTRAINT_ROWID: return AS_E_EXISTS;
    default: break;
    }
    switch (code & 0xff) {
    case SQLITE_OK:
    case SQLITE_ROW:
    case SQLITE_DONE: return AS_OK;
    case SQLITE_CONSTRAINT:
    case SQLITE_READONLY: return AS_E_STATE;
    case SQLITE_BUSY:
    case SQLITE_LOCKED: return AS_E_TIMEOUT;
    case SQLITE_NOMEM: return AS_E_NOMEM;
    case SQLITE_TOOBIG: return AS_E_LIMIT;
    case SQLITE_INTERRUPT: return AS_E_INTERRUPTED;
    case SQLITE_FULL:
    case SQLITE_IOERR:
    case SQLITE_CORRUPT:
    case SQLITE_CANTOPEN:
    case SQLITE_PERM:
    case SQLITE_NOTADB: return AS_E_IO;
    default: return AS_E_INVALID;
    }
}

as_status sqlite_result(int code)
{
    if (code == SQLITE_IOERR_FSYNC || code == SQLITE_IOERR_DIR_FSYNC)
        store_die("writing the database to disk (fsync)");
    return sqlite_status(code);
}

as_status sqlite_do(sqlite3 *db, const char *sql, struct as_error *err)
{
    const int code = sqlite3_exec(db, sql, NULL, NULL, NULL);
    const as_status status = sqlite_result(code);
    return status == AS_OK ? AS_OK : error_set(err, status, "%s: %s", sql, sqlite3_errmsg(db));
}

/* ---- opening ---- */

static void drop_prepared(void *context, void *prepared)
{
    (void)context;
    sqlite3_finalize(prepared);
}

static void close_connection(struct sqlite_connection *connection)
{
    if (!connection->db)
        return;
    statements_clear(&connection->statements);
    sqlite3_close(connection->db);
    connection->db = NULL;
}

static as_status open_connection(struct sqlite_connection *connection, const struct store *store, struct as_error *err)
{
    statements_init(&connection->statements, drop_prepared, NULL);
    const int code = sqlite3_open_v2(store->options.address, &connection->db,
                                     SQLITE_OPEN_READWRITE | SQLITE_OPEN_NOMUTEX | SQLITE_OPEN_EXRESCODE, vfs_name);
    if (code != SQLITE_OK) {
        const as_status status = error_set(err, sqlite_status(code), "cannot open %s: %s", store->options.address,
                                           connection->db ? sqlite3_errmsg(connection->db) : sqlite3_errstr(code));
        close_connection(connection);
        return status;
    }
    sqlite3_db_config(connection->db, SQLITE_DBCONFIG_ENABLE_FKEY, 1, NULL);
    sqlite3_db_config(connection->db, SQLITE_DBCONFIG_TRUSTED_SCHEMA, 0, NULL);
    sqlite3_busy_timeout(connection->db, OPEN_WAIT_MS);
    return AS_OK;
}

static as_status pragma_int(sqlite3 *db, const char *sql, int64_t *ret, struct as_error *err)
{
    sqlite3_stmt *statement = NULL;
    int code = sqlite3_prepare_v2(db, sql, -1, &statement, NULL);
    if (code == SQLITE_OK)
        code = sqlite3_step(statement);
    if (code == SQLITE_ROW)
        *ret = sqlite3_column_int64(statement, 0);
    sqlite3_finalize(statement);
    const as_status status = sqlite_result(code);
    return status == AS_OK ? AS_OK : error_set(err, status, "%s: %s", sql, sqlite3_errmsg(db));
}

/* A new file gets our mark; a file with another program's mark, or with tables and none, is refused. */
static as_status check_owner(const struct store *store, sqlite3 *db, struct as_error *err)
{
    int64_t mark = 0, objects = 0;
    as_status status = pragma_int(db, "PRAGMA application_id", &mark, err);
    if (status == AS_OK)
        status = pragma_int(db, "SELECT count(*) FROM sqlite_schema", &objects, err);
    if (status != AS_OK || mark == SQLITE_APPLICATION_ID)
        return status;
    if (mark != 0 || objects != 0)
        return error_set(err, AS_E_UNSUPPORTED, "%s is another program's database", store->options.address);
    return sqlite_do(db, "PRAGMA application_id = 0x41534159", err);
}

static int on_commit(void *context, sqlite3 *db, const char *name, int frames)
{
    (void)db;
    (void)name;
    ((struct sqlite_connection *)context)->log_frames = frames;
    return SQLITE_OK;
}

#define TEXT_OF(number)      #number
#define PRAGMA(name, number) "PRAGMA " name " = " TEXT_OF(number)

static as_status open_writer(const struct store *store, struct sqlite_connection *writer, struct as_error *err)
{
    static const char *const settings[] = {
        PRAGMA("page_size", 4096),    PRAGMA("journal_mode", WAL),        PRAGMA("synchronous", FULL),
        PRAGMA("mmap_size", 0),       PRAGMA("wal_autocheckpoint", 0),    PRAGMA("cache_size", -32768),
        PRAGMA("temp_store", MEMORY), PRAGMA("journal_size_limit", 33554432),
    };
    as_status status = open_connection(writer, store, err);
    for (size_t i = 0; i < sizeof settings / sizeof settings[0] && status == AS_OK; i++)
        status = sqlite_do(writer->db, settings[i], err);
    if (status == AS_OK)
        status = check_owner(store, writer->db, err);
    if (status != AS_OK)
        return status;
    sqlite3_wal_hook(writer->db, on_commit, writer);
    sqlite3_busy_timeout(writer->db, SQLITE_RESTART_WAIT_MS);
    return AS_OK;
}

static as_status open_reader(const struct store *store, struct sqlite_connection *reader, struct as_error *err)
{
    static const char *const settings[] = {
        PRAGMA("query_only", 1), PRAGMA("mmap_size", 0),       PRAGMA("wal_autocheckpoint", 0),
        PRAGMA("cache_size", -8192), PRAGMA("temp_store", MEMORY),
    };
    as_status status = open_connection(reader, store, err);
    for (size_t i = 0; i < sizeof settings / sizeof settings[0] && status == AS_OK; i++)
        status = sqlite_do(reader->db, settings[i], err);
    if (status == AS_OK)
        sqlite3_db_config(reader->db, SQLITE_DBCONFIG_NO_CKPT_ON_CLOSE, 1, NULL);
    return status;
}

/* Makes the file, readable by its owner alone, and its folder's entry durable. */
static as_status create_file(const char *path, struct as_error *err)
{
    char folder[PATH_MAX];
    const int fd = open(path, O_RDWR | O_CREAT | O_CLOEXEC, 0600);
    if (fd < 0)
        return error_set_errno(err, errno, "cannot create %s", path);
    close(fd);
    if (!path_dir(folder, sizeof folder, path))
        return error_set(err, AS_E_LIMIT, "the store's path is too long");
    const int folder_fd = open(folder, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    const bool is_synced = folder_fd >= 0 && fsync(folder_fd) == 0;
    const int error = errno;
    if (folder_fd >= 0)
        close(folder_fd);
    return is_synced ? AS_OK : error_set_errno(err, error, "cannot sync the folder of %s", path);
}

static void close_database(struct sqlite_database *database)
{
    for (uint32_t i = 0; i < database->reader_count; i++)
        close_connection(&database->readers[i]);
    close_connection(&database->writer);
    lock_release(database->lock_fd);
    pool_done(&database->reader_turn);
    pool_done(&database->writer_turn);
    free(database);
}

static void sqlite_close_store(struct store *store)
{
    close_database(store->database);
}

static as_status open_all(struct store *store, struct sqlite_database *database, struct as_error *err)
{
    const char *path = store->options.address;
    if (access(path, F_OK) != 0) {
        if (!store->options.create)
            return error_set(err, AS_E_NOTFOUND, "there is no store at %s", path);
        const as_status made = create_file(path, err);
        if (made != AS_OK)
            return made;
    }
    as_status status = open_writer(store, &database->writer, err);
    for (uint32_t i = 0; i < store->options.readers && status == AS_OK; i++) {
        database->reader_count = i + 1;
        status = open_reader(store, &database->readers[i], err);
    }
    return status;
}

/* ---- transactions ---- */

/*
 * By the database's own call, not store_exec: that can run out of memory after the statement was run, and a BEGIN or COMMIT that was
 * done must not be told as a failure.
 */
static as_status sqlite_begin(struct store *store, struct store_tx *tx, struct as_error *err)
{
    struct sqlite_database *database = store->database;
    struct pool *pool = tx->may_write ? &database->writer_turn : &database->reader_turn;
    as_status status = pool_take(pool, store->options.wait_ns, &tx->number);
    if (status != AS_OK)
        return error_set(err, status, "no connection to the store was free within %" PRId64 " ms", store->options.wait_ns / NS_PER_MS);
    tx->connection = tx->may_write ? &database->writer : &database->readers[tx->number];
    sqlite3 *db = ((struct sqlite_connection *)tx->connection)->db;
    /* What could not be undone when it ended, without memory, is undone now. */
    if (!sqlite3_get_autocommit(db))
        status = sqlite_do(db, "ROLLBACK", err);
    if (status == AS_OK)
        status = sqlite_do(db, tx->may_write ? "BEGIN IMMEDIATE" : "BEGIN", err);
    if (status != AS_OK)
        pool_give(pool, tx->number);
    return status;
}

static as_status sqlite_end(struct store_tx *tx, bool is_commit, struct as_error *err)
{
    struct sqlite_database *database = tx->store->database;
    struct sqlite_connection *connection = tx->connection;
    as_status status = AS_OK;
    if (is_commit)
        status = sqlite_do(connection->db, "COMMIT", err);
    if (!sqlite3_get_autocommit(connection->db)) {
        const int code = sqlite3_exec(connection->db, "ROLLBACK", NULL, NULL, NULL);
        const as_status undone = sqlite_result(code);
        status = status == AS_OK ? undone : status;
    }
    if (tx->may_write && is_commit && status == AS_OK)
        sqlite_checkpoint(connection);
    pool_give(tx->may_write ? &database->writer_turn : &database->reader_turn, tx->number);
    return status;
}

static const struct store_backend sqlite_backend = {
    .close = sqlite_close_store,
    .begin = sqlite_begin,
    .end = sqlite_end,
    .query = sqlite_query,
    .next = sqlite_next,
    .column_name = sqlite_column_name,
    .rows_done = sqlite_rows_done,
    .check = sqlite_check,
};

as_status sqlite_open_store(struct store *store, struct as_error *err)
{
    struct sqlite_database *database = calloc(1, sizeof *database);
    if (!database)
        return error_set(err, AS_E_NOMEM, "out of memory opening the store");
    database->lock_fd = -1;
    pool_init(&database->writer_turn, 1);
    pool_init(&database->reader_turn, store->options.readers);
    as_status status = lock_take(store->options.address, &database->lock_fd, err);
    if (status == AS_OK)
        status = open_all(store, database, err);
    if (status != AS_OK) {
        close_database(database);
        return status;
    }
    store->database = database;
    store->backend = &sqlite_backend;
    return AS_OK;
}
