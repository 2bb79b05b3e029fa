/* SPDX-License-Identifier: Apache-2.0 */
/* The column store on a real file, on one that cannot be written, and without one. */
#include "stats/column.h"
#include "support/check.h"

#include <fcntl.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/resource.h>
#include <unistd.h>

#define ROWS 50000

static void fill(struct column *column)
{
    for (int64_t i = 0; i < ROWS; i++)
        column_append(column, i % 5 ? (ROWS - i) * 1000 : COLUMN_MISSING);
    assert_int_equal(column->status, AS_OK);
}

static void check(const struct column *column)
{
    struct column_cursor cursor;
    column_cursor_init(&cursor, column);
    int64_t value;
    for (int64_t i = 0; i < ROWS; i++) {
        assert_true(column_next(&cursor, &value));
        assert_true(value == (i % 5 ? (ROWS - i) * 1000 : COLUMN_MISSING));
    }
    assert_false(column_next(&cursor, &value));
    AS_AUTO_VALUES struct values values = {0};
    assert_int_equal(column_load_sorted(&column, 1, &values), AS_OK);
    assert_int_equal(values.count, ROWS / 5 * 4);
    assert_int_equal(values.at[0], 1000);
}

static void test_spills_to_an_unnamed_file(void **state)
{
    (void)state;
    struct column_store store;
    column_store_open(&store, "/tmp");
    assert_true(store.fd >= 0);
    struct column a, b;
    column_init(&a, &store);
    column_init(&b, &store);
    for (int64_t i = 0; i < 10; i++)
        column_append(&b, i);
    fill(&a);
    assert_true(store.file_bytes > ROWS);
    check(&a);
    assert_int_equal(column_sort(&a), AS_OK);
    assert_int_equal(a.rows, ROWS / 5 * 4);
    column_done(&a);
    column_done(&b);
    column_store_close(&store);
}

static void test_full_disk_keeps_blocks_in_memory(void **state)
{
    (void)state;
    struct rlimit old, small;
    assert_int_equal(getrlimit(RLIMIT_FSIZE, &old), 0);
    small = old;
    small.rlim_cur = 20000;
    signal(SIGXFSZ, SIG_IGN);
    struct column_store store;
    column_store_open(&store, "/tmp");
    assert_true(store.fd >= 0);
    struct column column;
    column_init(&column, &store);
    assert_int_equal(setrlimit(RLIMIT_FSIZE, &small), 0);
    fill(&column);
    assert_int_equal(setrlimit(RLIMIT_FSIZE, &old), 0);
    assert_true(store.file_bytes > 0 && store.file_bytes <= 20000);
    check(&column);
    column_done(&column);
    column_store_close(&store);
}

static void test_no_folder_falls_back_to_memory(void **state)
{
    (void)state;
    struct column_store store;
    column_store_open(&store, "/nonexistent/folder");
    assert_int_equal(store.fd, -1);
    struct column column;
    column_init(&column, &store);
    fill(&column);
    check(&column);
    column_done(&column);
    column_store_close(&store);
}

/* Something else wrote over the file: an error, and no write past the array. */
static void test_changed_block_is_an_error(void **state)
{
    (void)state;
    static uint8_t ones[4096];
    struct column_store store;
    column_store_open(&store, "/tmp");
    struct column column;
    column_init(&column, &store);
    fill(&column);
    for (int byte = 0; byte < 256; byte += 51) {
        for (size_t i = 0; i < sizeof ones; i++)
            ones[i] = (uint8_t)byte;
        assert_int_equal(pwrite(store.fd, ones, sizeof ones, 4096), sizeof ones);
        AS_AUTO_VALUES struct values values = {0};
        const struct column *columns[] = {&column};
        assert_int_equal(column_load_sorted(columns, 1, &values), AS_E_IO);
        assert_null(values.at);
    }
    column_done(&column);
    column_store_close(&store);
}

static void test_unreadable_block_is_an_error(void **state)
{
    (void)state;
    struct column_store store;
    column_store_open(&store, "/tmp");
    struct column column;
    column_init(&column, &store);
    fill(&column);
    assert_int_equal(ftruncate(store.fd, 5000), 0);
    AS_AUTO_VALUES struct values values = {0};
    const struct column *columns[] = {&column};
    assert_int_equal(column_load_sorted(columns, 1, &values), AS_E_IO);
    assert_null(values.at);
    assert_int_equal(column_sort(&column), AS_E_IO);
    assert_int_equal(column.rows, ROWS);
    column_done(&column);
    column_store_close(&store);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_spills_to_an_unnamed_file),      cmocka_unit_test(test_full_disk_keeps_blocks_in_memory),
        cmocka_unit_test(test_no_folder_falls_back_to_memory), cmocka_unit_test(test_changed_block_is_an_error),
        cmocka_unit_test(test_unreadable_block_is_an_error),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
