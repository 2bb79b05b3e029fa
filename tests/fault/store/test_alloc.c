/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Every allocation of ours, and of SQLite's, fails once, and from some point on for good, while a store is opened, written, read,
 * backed up and closed: an error or success, no block left, what was acknowledged is there, and the store is sound.
 */
#include "load.h"

#include "store/sqlite.h"
#include "support/faults.h"

#define TRANSACTIONS 3

static struct temp_dir dir;
static char path[PATH_MAX], copy[PATH_MAX];
static int64_t next_number = 1;

static as_status read_some(struct store *store)
{
    struct store_tx *tx;
    struct store_rows *rows;
    struct as_error err;
    as_status status = store_read(store, &tx, &err);
    if (status != AS_OK)
        return status;
    const struct store_value params[] = {store_text("t0.%")};
    status = store_query(tx, "SELECT setting, value FROM settings WHERE setting LIKE ?1 ORDER BY setting LIMIT 20", params, 1, &rows);
    if (status == AS_OK) {
        while (store_next(rows)) {
            size_t len;
            (void)store_get_text(rows, 1, &len);
        }
        status = store_rows_status(rows);
        store_rows_free(rows);
    }
    store_rollback(tx);
    return status;
}

static as_status open_store(struct store **ret)
{
    const struct store_options options = {.address = path, .readers = 1};
    struct as_error err;
    const as_status status = store_open(&options, ret, &err);
    if (status != AS_OK && status != AS_E_NOMEM && status != AS_E_IO)
        print_message("%s\n", err.message);
    return status;
}

/* Opened and closed. */
static as_status open_and_close(void *context)
{
    struct store *store;
    (void)context;
    const as_status status = open_store(&store);
    if (status == AS_OK)
        store_close(store);
    return status;
}

/* On an open store, in one order always; the first failure ends it. */
static as_status use_store(void *context)
{
    struct store *store = context;
    struct as_error err;
    as_status status = AS_OK;
    for (int i = 0; i < TRANSACTIONS && status == AS_OK; i++) {
        /* One that failed is never tried again: its number stands for "absent, or whole". */
        struct load_work work = {0, next_number++};
        const struct store_group_work group = {load_write, &work, STORE_NOW, 10};
        status = store_group(store, &group, &err);
        if (status == AS_OK)
            load_shared->acknowledged[0]++;
    }
    if (status == AS_OK)
        status = read_some(store);
    if (status == AS_OK)
        status = store_backup(store, copy, &err);
    if (status != AS_OK && status != AS_E_NOMEM && status != AS_E_IO)
        print_message("%s\n", err.message);
    unlink(copy);
    return status;
}

/* Rows of acknowledged transactions are counted: numbers of those that failed may be missing in between. */
static void check_store(void)
{
    const struct store_options options = {.address = path, .readers = 1};
    struct store *store;
    struct store_tx *tx;
    struct store_rows *rows;
    struct as_error err;
    int64_t kept = 0;
    if (store_open(&options, &store, &err) != AS_OK)
        fail_msg("%s", err.message);
    if (store_check(store, &err) != AS_OK)
        fail_msg("%s", err.message);
    assert_int_equal(store_read(store, &tx, &err), AS_OK);
    assert_int_equal(store_query(tx, "SELECT count(*) FROM settings WHERE setting LIKE 't0.%' GROUP BY updated_ns", NULL, 0, &rows), AS_OK);
    for (; store_next(rows); kept++)
        assert_int_equal(store_get_int(rows, 0), LOAD_PARTS);
    store_rows_free(rows);
    store_rollback(tx);
    store_close(store);
    assert_true(kept >= load_shared->acknowledged[0]);
}

/* Every allocation of the first ones, then ever fewer: most of opening is the schema's text, alike over and over. */
static void test_allocations_of_opening_fail(void **state)
{
    size_t tried = 0;
    (void)state;
    for (size_t at = 1, step = 1;; at += step, step += at > 100 && ++tried % 4 == 0) {
        struct store *store;
        fault_blocks_watch();
        fault_arm(FAULT_ALLOC, at);
        const as_status status = open_store(&store);
        const size_t calls = fault_calls(FAULT_ALLOC);
        fault_disarm();
        if (status == AS_OK)
            store_close(store);
        assert_int_equal(fault_blocks_left(), 0);
        if (calls < at)
            break;
        if (status != AS_OK)
            assert_int_equal(status, AS_E_NOMEM);
    }
    check_store();
}

static void test_each_allocation_of_use_fails_once(void **state)
{
    struct store *store;
    (void)state;
    assert_int_equal(open_store(&store), AS_OK);
    /* What is prepared and kept is no loss. */
    assert_int_equal(use_store(store), AS_OK);
    size_t at = 0, calls;
    do {
        fault_arm(FAULT_ALLOC, ++at);
        const as_status status = use_store(store);
        calls = fault_calls(FAULT_ALLOC);
        fault_disarm();
        if (calls >= at)
            assert_true(status == AS_OK || status == AS_E_NOMEM);
        else
            assert_int_equal(status, AS_OK);
    } while (calls >= at);
    assert_true(at > 10);
    store_close(store);
    check_store();
}

/* ---- SQLite's ---- */

static sqlite3_mem_methods plain;
static long fails_at, fails_until, calls;

static bool fails(void)
{
    calls++;
    return fails_at && calls >= fails_at && calls <= fails_until;
}

static void *failing_malloc(int size)
{
    return fails() ? NULL : plain.xMalloc(size);
}

static void *failing_realloc(void *old, int size)
{
    return fails() ? NULL : plain.xRealloc(old, size);
}

/* From the at-th allocation on, up to the until-th one. */
static as_status with_failures(long at, long until, as_status (*body)(void *context), void *context)
{
    calls = 0;
    fails_at = at;
    fails_until = until;
    const as_status status = body(context);
    fails_at = 0;
    return status;
}

/* Once, and for good; as many places as are told, the first ones all. */
static void fail_each(as_status (*body)(void *context), void *context)
{
    assert_int_equal(with_failures(0, 0, body, context), AS_OK);
    const long all = calls;
    long tried = 0;
    assert_true(all > 100);
    for (long at = 1, step = 1; at <= all; at += step, step += at > 150 && ++tried % 4 == 0)
        for (int is_for_good = 0; is_for_good < 2; is_for_good++) {
            const as_status status = with_failures(at, is_for_good ? LONG_MAX : at, body, context);
            if (status != AS_OK && status != AS_E_NOMEM && status != AS_E_IO)
                fail_msg("allocation %ld: %s", at, status_name(status));
        }
    assert_int_equal(with_failures(0, 0, body, context), AS_OK);
}

static void test_allocations_of_the_database_fail(void **state)
{
    struct store *store;
    (void)state;
    fail_each(open_and_close, NULL);
    check_store();
    assert_int_equal(open_store(&store), AS_OK);
    fail_each(use_store, store);
    store_close(store);
    check_store();
}

static int set_up(void **state)
{
    sqlite3_mem_methods failing;
    (void)state;
    if (sqlite3_config(SQLITE_CONFIG_GETMALLOC, &plain) != SQLITE_OK)
        return -1;
    failing = plain;
    failing.xMalloc = failing_malloc;
    failing.xRealloc = failing_realloc;
    if (sqlite3_config(SQLITE_CONFIG_MALLOC, &failing) != SQLITE_OK)
        return -1;
    if (access("/dev/shm", W_OK) == 0)
        setenv("TMPDIR", "/dev/shm", 1);
    temp_dir_make(&dir);
    temp_dir_join(&dir, "store.db", path);
    temp_dir_join(&dir, "copy.db", copy);
    load_share();
    load_make(path);
    return 0;
}

static int tear_down(void **state)
{
    (void)state;
    temp_dir_remove(&dir);
    return 0;
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_allocations_of_opening_fail),
        cmocka_unit_test(test_each_allocation_of_use_fails_once),
        cmocka_unit_test(test_allocations_of_the_database_fail),
    };
    return cmocka_run_group_tests(tests, set_up, tear_down);
}
