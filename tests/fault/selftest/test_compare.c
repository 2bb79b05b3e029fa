/* SPDX-License-Identifier: Apache-2.0 */
#include "selftest/timing.h"

#include "base/file.h"
#include "support/check.h"
#include "support/faults.h"
#include "support/temp_dir.h"

#include <string.h>

static as_status compare(void *context)
{
    struct timing timing;
    return timing_compare(context, &timing, NULL);
}

static void test_memory_and_reads(void **state)
{
    (void)state;
    static const char records[] = "{\"seq\":1,\"phase\":\"measured\",\"outcome\":\"ok\",\"first_content_ns\":5,"
                                  "\"client_lag_ns\":1,\"gaps_ns\":[1,2]}\n";
    static const char truth[] = "{\"id\":\"r-1\",\"chunks_ns\":[1,2,3]}\n";
    struct temp_dir TEMP_DIR_AUTO dir;
    char records_path[PATH_MAX], truth_path[PATH_MAX];
    temp_dir_make(&dir);
    temp_dir_join(&dir, "requests.jsonl", records_path);
    temp_dir_join(&dir, "truth.jsonl", truth_path);
    assert_int_equal(file_write_atomic(records_path, records, strlen(records), NULL), AS_OK);
    assert_int_equal(file_write_atomic(truth_path, truth, strlen(truth), NULL), AS_OK);
    struct timing_input input = {records_path, truth_path, 0, 1};
    assert_true(fault_each(FAULT_ALLOC, AS_E_NOMEM, compare, &input) >= 8);
    assert_true(fault_each(FAULT_READ, AS_E_IO, compare, &input) >= 2);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_memory_and_reads)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
