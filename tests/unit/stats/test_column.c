/* SPDX-License-Identifier: Apache-2.0 */
#include "stats/column.h"
#include "support/check.h"

#include "base/rng.h"
#include "stats/sort.h"
#include "stats/wide.h"

#include <string.h>

#include <math.h>
#include <stdlib.h>

static int compare(const void *a, const void *b)
{
    int64_t x = *(const int64_t *)a, y = *(const int64_t *)b;
    return (x > y) - (x < y);
}

static void test_sort_matches_qsort(void **state)
{
    (void)state;
    struct rng rng;
    rng_init(&rng, 3, 0);
    static int64_t ours[5000], theirs[5000];
    size_t sizes[] = {0, 1, 2, 48, 49, 300, 5000};
    for (size_t s = 0; s < 7; s++) {
        for (unsigned bits = 1; bits <= 64; bits += 9) {
            for (size_t i = 0; i < sizes[s]; i++)
                ours[i] = (int64_t)(rng_u64(&rng) >> (64 - bits)) - (bits < 64 ? 100 : 0);
            memcpy(theirs, ours, sizes[s] * sizeof *ours);
            sort_int64(ours, sizes[s]);
            qsort(theirs, sizes[s], sizeof *theirs, compare);
            assert_memory_equal(ours, theirs, sizes[s] * sizeof *ours);
        }
    }
    int64_t equal[100];
    for (int i = 0; i < 100; i++)
        equal[i] = 5;
    sort_int64(equal, 100);
    assert_int_equal(equal[0], 5);
    int64_t ends[] = {INT64_MAX, 0, INT64_MIN, -1};
    sort_int64(ends, 4);
    assert_true(ends[0] == INT64_MIN && ends[1] == -1 && ends[2] == 0 && ends[3] == INT64_MAX);
}

static const int64_t awkward[] = {0, -1, 1, 63, 64, -64, -65, 8191, 8192, INT64_MAX, INT64_MIN + 1, COLUMN_MISSING};
#define AWKWARD ((int64_t)(sizeof awkward / sizeof *awkward))

static void test_rows_come_back_in_order(void **state)
{
    (void)state;
    struct column_store store;
    column_store_open(&store, NULL);
    struct column column;
    column_init(&column, &store);
    for (int64_t i = 0; i < 20000; i++)
        column_append(&column, awkward[i % AWKWARD]);
    assert_int_equal(column.status, AS_OK);
    assert_int_equal(column.rows, 20000);
    assert_int_equal(column.missing, 20000 / AWKWARD);
    assert_true(column.block_count > 5);
    struct column_cursor cursor;
    column_cursor_init(&cursor, &column);
    int64_t value;
    for (int64_t i = 0; i < 20000; i++) {
        assert_true(column_next(&cursor, &value));
        assert_true(value == awkward[i % AWKWARD]);
    }
    assert_false(column_next(&cursor, &value));
    assert_false(column_next(&cursor, &value));
    assert_int_equal(cursor.status, AS_OK);
    column_done(&column);
    column_store_close(&store);
}

static void test_sorted_over_several_columns(void **state)
{
    (void)state;
    struct column_store store;
    column_store_open(&store, NULL);
    struct column a, b, empty;
    column_init(&a, &store);
    column_init(&b, &store);
    column_init(&empty, &store);
    for (int64_t i = 0; i < 3000; i++)
        column_append(i % 3 ? &a : &b, i % 7 == 0 ? COLUMN_MISSING : 2999 - i);
    const struct column *columns[] = {&a, &empty, &b};
    AS_AUTO_VALUES struct values values = {0};
    assert_int_equal(column_load_sorted(columns, 3, &values), AS_OK);
    assert_int_equal(values.count, 3000 - 429);
    for (int64_t i = 1; i < values.count; i++)
        assert_true(values.at[i] > values.at[i - 1]);
    AS_AUTO_VALUES struct values none = {0};
    assert_int_equal(column_load_sorted(columns + 1, 1, &none), AS_OK);
    assert_int_equal(none.count, 0);

    assert_int_equal(column_sort(&a), AS_OK);
    assert_int_equal(a.missing, 0);
    struct column_cursor cursor;
    column_cursor_init(&cursor, &a);
    int64_t value, previous = INT64_MIN, rows = 0;
    for (; column_next(&cursor, &value); rows++, previous = value)
        assert_true(value > previous);
    assert_int_equal(rows, a.rows);
    column_done(&a);
    column_done(&b);
    column_done(&empty);
    column_store_close(&store);
}

static void test_moments_do_not_depend_on_order(void **state)
{
    (void)state;
    struct rng rng;
    rng_init(&rng, 5, 0);
    static int64_t values[4000];
    struct moments forwards = {0}, backwards = {0}, halves[2] = {{0}, {0}};
    for (int i = 0; i < 4000; i++)
        values[i] = (int64_t)(rng_u64(&rng) >> 16) - (INT64_C(1) << 46);
    for (int i = 0; i < 4000; i++)
        moments_add(&forwards, values[i]);
    for (int i = 3999; i >= 0; i--)
        moments_add(&backwards, values[i]);
    for (int i = 0; i < 4000; i++)
        moments_add(&halves[i % 2], values[i]);
    moments_merge(&halves[0], &halves[1]);
    assert_true(moments_mean(&forwards) == moments_mean(&backwards));
    assert_true(moments_std(&forwards) == moments_std(&backwards));
    assert_true(moments_std(&forwards) == moments_std(&halves[0]));
    assert_int_equal(halves[0].n, 4000);

    double mean = 0, squares = 0;
    for (int i = 0; i < 4000; i++)
        mean += (double)values[i] / 4000;
    for (int i = 0; i < 4000; i++)
        squares += ((double)values[i] - mean) * ((double)values[i] - mean);
    assert_true(fabs(moments_std(&forwards) / sqrt(squares / 4000) - 1) < 1e-12);
}

static void test_moments_of_close_values_do_not_cancel(void **state)
{
    (void)state;
    struct moments m = {0};
    for (int i = 0; i < 1000; i++)
        moments_add(&m, INT64_C(3600000000000) + i % 2);
    assert_true(moments_std(&m) == 0.5);
    assert_true(moments_mean(&m) == 3600000000000.5);
}

static void test_moments_overflow_is_undefined_not_wrong(void **state)
{
    (void)state;
    struct moments m = {0};
    moments_add(&m, INT64_MAX);
    assert_true(isnan(moments_std(&m)));
    for (int i = 0; i < 4; i++)
        moments_add(&m, INT64_MAX);
    assert_true(isnan(moments_std(&m)));
    assert_true(moments_mean(&m) == (double)INT64_MAX);
}

static void test_wide_text(void **state)
{
    (void)state;
    static const char *const texts[] = {"0",
                                        "7",
                                        "-7",
                                        "18446744073709551616",
                                        "170141183460469231731687303715884105727",
                                        "-170141183460469231731687303715884105728"};
    char text[WIDE_TEXT_BYTES];
    for (size_t i = 0; i < 6; i++) {
        wide_int value;
        assert_true(wide_parse(texts[i], strlen(texts[i]), &value));
        assert_int_equal(wide_format(value, text), strlen(texts[i]));
        assert_string_equal(text, texts[i]);
    }
    wide_int value = 42;
    assert_false(wide_parse("170141183460469231731687303715884105728", 39, &value));
    assert_false(wide_parse("-", 1, &value));
    assert_false(wide_parse("", 0, &value));
    assert_false(wide_parse("1.5", 3, &value));
    assert_true(value == 42);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_sort_matches_qsort),
        cmocka_unit_test(test_rows_come_back_in_order),
        cmocka_unit_test(test_sorted_over_several_columns),
        cmocka_unit_test(test_moments_do_not_depend_on_order),
        cmocka_unit_test(test_moments_of_close_values_do_not_cancel),
        cmocka_unit_test(test_moments_overflow_is_undefined_not_wrong),
        cmocka_unit_test(test_wide_text),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
