/* SPDX-License-Identifier: Apache-2.0 */
#ifndef ASSAY_TESTS_FAULT_STORE_SHIM_H
#define ASSAY_TESTS_FAULT_STORE_SHIM_H

/*
 * A VFS over "unix-excl" that knows what is on disk and what only the kernel has: for each file the bytes that were there at its
 * last sync are kept for every sector written since. At the call that is asked for it cuts the power (what was not synced is lost,
 * wholly or by chance sector by sector, and the process ends), or makes a sync or a write fail. One store a process.
 */

#include "base/rng.h"
#include "store/sqlite.h"

#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define SHIM_SECTOR 512
#define SHIM_FILES  24
#define SHIM_STATUS 99 /* exit status of a power cut */
#define SHIM_FULL_CALLS 40

enum shim_fault { SHIM_NONE, SHIM_CUT_CLEAN, SHIM_CUT_TORN, SHIM_SYNC_FAILS, SHIM_DISK_FULL, SHIM_WRITE_FAILS };

struct shim_sector {
    sqlite3_int64 number;
    size_t len; /* that the file had of it */
    unsigned char before[SHIM_SECTOR];
};

struct shim_file {
    sqlite3_file base;
    sqlite3_file *real;
    struct shim_sector *dirty;
    size_t dirty_count, dirty_room;
    sqlite3_int64 synced_bytes;
    bool is_known; /* in shim.files */
};

static struct {
    sqlite3_vfs vfs, *real;
    enum shim_fault fault;
    size_t at, calls; /* the fault comes with the at-th write, truncation or sync */
    size_t *shared_calls;
    struct rng rng;
    struct shim_file *files[SHIM_FILES];
    sqlite3_io_methods methods;
} shim;

static struct shim_file *shim_of(sqlite3_file *file)
{
    return (struct shim_file *)file;
}

static void shim_remember(struct shim_file *file, sqlite3_int64 number)
{
    for (size_t i = 0; i < file->dirty_count; i++)
        if (file->dirty[i].number == number)
            return;
    if (file->dirty_count == file->dirty_room) {
        file->dirty_room = file->dirty_room ? 2 * file->dirty_room : 256;
        file->dirty = realloc(file->dirty, file->dirty_room * sizeof *file->dirty);
        if (!file->dirty)
            abort();
    }
    struct shim_sector *sector = &file->dirty[file->dirty_count++];
    const sqlite3_int64 from = number * SHIM_SECTOR;
    *sector = (struct shim_sector){.number = number};
    if (from >= file->synced_bytes)
        return;
    sector->len = (size_t)(file->synced_bytes - from < SHIM_SECTOR ? file->synced_bytes - from : SHIM_SECTOR);
    if (file->real->pMethods->xRead(file->real, sector->before, (int)sector->len, from) != SQLITE_OK)
        abort();
}

static void shim_remember_range(struct shim_file *file, sqlite3_int64 from, sqlite3_int64 to)
{
    for (sqlite3_int64 number = from / SHIM_SECTOR; number * SHIM_SECTOR < to; number++)
        shim_remember(file, number);
}

/* What the disk holds when the power comes back. */
static void shim_lose(struct shim_file *file)
{
    for (size_t i = 0; i < file->dirty_count; i++) {
        const struct shim_sector *sector = &file->dirty[i];
        unsigned char bytes[SHIM_SECTOR] = {0};
        if (shim.fault == SHIM_CUT_TORN && rng_u64(&shim.rng) % 2)
            continue;
        memcpy(bytes, sector->before, sector->len);
        (void)file->real->pMethods->xWrite(file->real, bytes, SHIM_SECTOR, sector->number * SHIM_SECTOR);
    }
    if (file->dirty_count && (shim.fault == SHIM_CUT_CLEAN || rng_u64(&shim.rng) % 2))
        (void)file->real->pMethods->xTruncate(file->real, file->synced_bytes);
}

/* Counts a call; true when it is the one that fails. */
static bool shim_fails(void)
{
    shim.calls++;
    if (shim.shared_calls)
        *shim.shared_calls = shim.calls;
    if (!shim.at || shim.calls < shim.at)
        return false;
    if (shim.fault == SHIM_CUT_CLEAN || shim.fault == SHIM_CUT_TORN) {
        for (size_t i = 0; i < SHIM_FILES; i++)
            if (shim.files[i])
                shim_lose(shim.files[i]);
        _exit(SHIM_STATUS);
    }
    return true;
}

static int shim_close(sqlite3_file *file)
{
    for (size_t i = 0; i < SHIM_FILES; i++)
        if (shim.files[i] == shim_of(file))
            shim.files[i] = NULL;
    free(shim_of(file)->dirty);
    const int code = shim_of(file)->real->pMethods->xClose(shim_of(file)->real);
    free(shim_of(file)->real);
    return code;
}

static int shim_read(sqlite3_file *file, void *data, int len, sqlite3_int64 at)
{
    return shim_of(file)->real->pMethods->xRead(shim_of(file)->real, data, len, at);
}

/* A full disk stays full for SHIM_FULL_CALLS; a write fails once. */
static int shim_write(sqlite3_file *file, const void *data, int len, sqlite3_int64 at)
{
    struct shim_file *own = shim_of(file);
    const bool fails = shim_fails();
    if (fails && shim.fault == SHIM_DISK_FULL && shim.calls < shim.at + SHIM_FULL_CALLS)
        return SQLITE_FULL;
    if (fails && shim.fault == SHIM_WRITE_FAILS && shim.calls == shim.at)
        return SQLITE_IOERR_WRITE;
    shim_remember_range(own, at, at + len);
    return own->real->pMethods->xWrite(own->real, data, len, at);
}

static int shim_truncate(sqlite3_file *file, sqlite3_int64 size)
{
    struct shim_file *own = shim_of(file);
    (void)shim_fails();
    shim_remember_range(own, size, own->synced_bytes);
    return own->real->pMethods->xTruncate(own->real, size);
}

static int shim_sync(sqlite3_file *file, int flags)
{
    struct shim_file *own = shim_of(file);
    if (shim_fails() && shim.fault == SHIM_SYNC_FAILS)
        return SQLITE_IOERR_FSYNC;
    const int code = own->real->pMethods->xSync(own->real, flags);
    if (code != SQLITE_OK)
        return code;
    own->dirty_count = 0;
    return own->real->pMethods->xFileSize(own->real, &own->synced_bytes);
}

static int shim_size(sqlite3_file *file, sqlite3_int64 *ret)
{
    return shim_of(file)->real->pMethods->xFileSize(shim_of(file)->real, ret);
}

static int shim_lock(sqlite3_file *file, int level)
{
    return shim_of(file)->real->pMethods->xLock(shim_of(file)->real, level);
}

static int shim_unlock(sqlite3_file *file, int level)
{
    return shim_of(file)->real->pMethods->xUnlock(shim_of(file)->real, level);
}

static int shim_check_lock(sqlite3_file *file, int *ret)
{
    return shim_of(file)->real->pMethods->xCheckReservedLock(shim_of(file)->real, ret);
}

static int shim_control(sqlite3_file *file, int code, void *argument)
{
    return shim_of(file)->real->pMethods->xFileControl(shim_of(file)->real, code, argument);
}

static int shim_sector_size(sqlite3_file *file)
{
    return shim_of(file)->real->pMethods->xSectorSize(shim_of(file)->real);
}

static int shim_characteristics(sqlite3_file *file)
{
    return shim_of(file)->real->pMethods->xDeviceCharacteristics(shim_of(file)->real);
}

static int shim_shm_map(sqlite3_file *file, int region, int size, int extends, void volatile **ret)
{
    return shim_of(file)->real->pMethods->xShmMap(shim_of(file)->real, region, size, extends, ret);
}

static int shim_shm_lock(sqlite3_file *file, int offset, int count, int flags)
{
    return shim_of(file)->real->pMethods->xShmLock(shim_of(file)->real, offset, count, flags);
}

static void shim_shm_barrier(sqlite3_file *file)
{
    shim_of(file)->real->pMethods->xShmBarrier(shim_of(file)->real);
}

static int shim_shm_unmap(sqlite3_file *file, int deletes)
{
    return shim_of(file)->real->pMethods->xShmUnmap(shim_of(file)->real, deletes);
}

/* Files that connections of one process share are written by the writer alone: each is known once. */
static int shim_open(sqlite3_vfs *vfs, const char *name, sqlite3_file *file, int flags, int *ret_flags)
{
    struct shim_file *own = shim_of(file);
    (void)vfs;
    memset(own, 0, sizeof *own);
    own->real = calloc(1, (size_t)shim.real->szOsFile);
    if (!own->real)
        return SQLITE_NOMEM;
    const int code = shim.real->xOpen(shim.real, name, own->real, flags, ret_flags);
    if (code != SQLITE_OK || !own->real->pMethods) {
        free(own->real);
        return code == SQLITE_OK ? SQLITE_CANTOPEN : code;
    }
    own->base.pMethods = &shim.methods;
    (void)own->real->pMethods->xFileSize(own->real, &own->synced_bytes);
    for (size_t i = 0; i < SHIM_FILES && !own->is_known; i++) {
        if (shim.files[i])
            continue;
        shim.files[i] = own;
        own->is_known = true;
    }
    return SQLITE_OK;
}

/* Once a process: databases are opened through it from now on. */
static void shim_install(enum shim_fault fault, size_t at, uint64_t seed)
{
    shim.real = sqlite3_vfs_find("unix-excl");
    shim.vfs = *shim.real;
    shim.vfs.zName = "shim";
    shim.vfs.szOsFile = (int)sizeof(struct shim_file);
    shim.vfs.xOpen = shim_open;
    shim.methods = (sqlite3_io_methods){.iVersion = 2,
                                        .xClose = shim_close,
                                        .xRead = shim_read,
                                        .xWrite = shim_write,
                                        .xTruncate = shim_truncate,
                                        .xSync = shim_sync,
                                        .xFileSize = shim_size,
                                        .xLock = shim_lock,
                                        .xUnlock = shim_unlock,
                                        .xCheckReservedLock = shim_check_lock,
                                        .xFileControl = shim_control,
                                        .xSectorSize = shim_sector_size,
                                        .xDeviceCharacteristics = shim_characteristics,
                                        .xShmMap = shim_shm_map,
                                        .xShmLock = shim_shm_lock,
                                        .xShmBarrier = shim_shm_barrier,
                                        .xShmUnmap = shim_shm_unmap};
    shim.fault = fault;
    shim.at = at;
    rng_init(&shim.rng, seed, 0);
    if (sqlite3_vfs_register(&shim.vfs, 0) != SQLITE_OK)
        abort();
    sqlite_use_vfs("shim");
}

#endif
