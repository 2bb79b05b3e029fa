/* SPDX-License-Identifier: Apache-2.0 */
#ifndef ASSAY_TESTS_FAULT_STORE_LOAD_H
#define ASSAY_TESTS_FAULT_STORE_LOAD_H

/*
 * A load that can be checked afterwards: each transaction writes some rows of `settings` with its number; once it is acknowledged
 * its number stands in memory that outlives the process. Then: every acknowledged transaction is there, each one is whole or absent.
 */

#include "store/store.h"

#include "support/check.h"
#include "support/temp_dir.h"

#include <libpq-fe.h>

#include <inttypes.h>
#include <limits.h>
#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#define LOAD_THREADS   4
#define LOAD_PARTS     3
#define LOAD_MOST      4096 /* transactions of a thread */
#define LOAD_BYTES_MAX 6000

struct load_shared {
    _Atomic bool is_running;
    _Atomic int64_t acknowledged[LOAD_THREADS]; /* transactions of the thread, in their order */
    _Atomic int64_t refused, unknown;
    size_t calls; /* of the shim */
};

static struct load_shared *load_shared;

/* Before the first fork. */
static inline void load_share(void)
{
    load_shared = mmap(NULL, sizeof *load_shared, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    assert_ptr_not_equal(load_shared, MAP_FAILED);
}

static inline void load_forget(void)
{
    memset(load_shared, 0, sizeof *load_shared);
}

struct load_work {
    int64_t thread, number;
};

static inline as_status load_write(struct store_tx *tx, void *context, struct as_error *err)
{
    char bytes[LOAD_BYTES_MAX];
    memset(bytes, 'x', sizeof bytes);
    const struct load_work *work = context;
    for (int64_t part = 0; part < LOAD_PARTS; part++) {
        char setting[64];
        snprintf(setting, sizeof setting, "t%" PRId64 ".n%06" PRId64 ".p%" PRId64, work->thread, work->number, part);
        const struct store_value params[] = {store_text(setting), store_int(work->number),
                                             store_text_n(bytes, (size_t)((work->number * 977 + part * 331) % LOAD_BYTES_MAX))};
        const as_status status =
            store_exec(tx, "INSERT INTO settings (setting, updated_ns, value) VALUES (?1, ?2, ?3)", params, 3, NULL);
        if (status != AS_OK)
            return error_set(err, status, "%s", store_error(tx)->message);
    }
    return AS_OK;
}

/* An empty store that is migrated. */
static inline void load_make(const char *address)
{
    const struct store_options options = {.address = address, .create = true};
    struct store *store;
    struct as_error err;
    if (store_open(&options, &store, &err) != AS_OK)
        fail_msg("%s", err.message);
    store_close(store);
}

/* What is there after it all: how many transactions, none in pieces, none acknowledged that is missing. */
static inline int64_t load_check(struct store *store)
{
    struct store_tx *tx;
    struct store_rows *rows;
    struct as_error err;
    int64_t all = 0;
    if (store_check(store, &err) != AS_OK)
        fail_msg("%s", err.message);
    assert_int_equal(store_read(store, &tx, &err), AS_OK);
    for (int64_t thread = 0; thread < LOAD_THREADS; thread++) {
        static int64_t parts[LOAD_MOST + 1];
        char sql[160];
        memset(parts, 0, sizeof parts);
        snprintf(sql, sizeof sql, "SELECT updated_ns, count(*) FROM settings WHERE setting LIKE 't%" PRId64 ".%%' GROUP BY updated_ns", thread);
        assert_int_equal(store_query(tx, sql, NULL, 0, &rows), AS_OK);
        while (store_next(rows)) {
            assert_in_range(store_get_int(rows, 0), 1, LOAD_MOST);
            assert_int_equal(store_get_int(rows, 1), LOAD_PARTS);
            parts[store_get_int(rows, 0)] = store_get_int(rows, 1);
            all++;
        }
        assert_int_equal(store_rows_status(rows), AS_OK);
        store_rows_free(rows);
        for (int64_t number = 1; number <= load_shared->acknowledged[thread]; number++)
            if (parts[number] != LOAD_PARTS)
                fail_msg("transaction %" PRId64 " of thread %" PRId64 " was acknowledged and is lost", number, thread);
    }
    store_rollback(tx);
    return all;
}

static inline int64_t load_acknowledged(void)
{
    int64_t all = 0;
    for (size_t i = 0; i < LOAD_THREADS; i++)
        all += load_shared->acknowledged[i];
    return all;
}

#endif
