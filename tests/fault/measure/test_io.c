/* SPDX-License-Identifier: Apache-2.0 */
/* The n-th write, sync, cut or allocation of the record writer fails. */
#include "made_records.h"

#include "support/faults.h"

#define RECORDS 400

static char gaps[256], text[MADE_TEXT_MAX];

struct counted {
    int64_t records, bad;
};

static void on_record(void *context, const struct request_record *record)
{
    struct counted *counted = context;
    counted->records++;
    /* Without memory a record's gaps may be missing, nothing else. */
    counted->bad += record->gap_stats && !made_record_is_sound(record);
}

static as_status take(void *context, const struct request_record *record)
{
    on_record(context, record);
    return AS_OK;
}

/* A run with whatever is armed; checks what must hold in any case. True when nothing was lost. */
static bool run_writer(enum fault_kind kind, size_t nth, bool all_later)
{
    char folder[64], path[128];
    struct counted counted = {0}, read = {0};
    struct writer *writer;
    struct writer_result result;
    struct records_found found;
    struct request_record record;
    struct as_error err = {.message = ""};
    struct clock_offset offset = {0};
    made_folder(folder);
    struct writer_options options = {.folder = folder,
                                     .threads = 1,
                                     .ring_bytes = 64 * 1024,
                                     .context = made_context,
                                     .on_record = on_record,
                                     .on_record_context = &counted,
                                     .stall_limit_ns = 2 * NS_PER_MS};
    assert_int_equal(writer_open(&options, &writer, &err), AS_OK);
    if (all_later)
        fault_arm_from(kind, nth);
    else
        fault_arm(kind, nth);
    struct record_sink sink = writer_sink(writer);
    sink.start(sink.context, (struct mono){0}, &offset);
    for (int64_t seq = 0; seq < RECORDS; seq++) {
        made_record(seq, &record, gaps, text);
        sink.put(sink.context, 0, &record);
    }
    as_status status = writer_close(writer, &result, &err);
    fault_disarm();
    assert_int_equal(status, result.left + result.lost > 0 ? AS_E_IO : AS_OK);
    assert_int_equal(result.records, RECORDS);
    assert_int_equal(counted.records, RECORDS);
    assert_int_equal(counted.bad, 0);
    snprintf(path, sizeof path, "%s/%s", folder, RECORD_FILE);
    const struct record_consumer consumer = {&read, take};
    as_status read_status = records_read(path, &made_context, &consumer, &found, &err);
    assert_int_equal(read_status, AS_OK);
    assert_int_equal(found.lines, RECORDS - result.left - result.lost);
    assert_int_equal(found.recovered, result.left);
    assert_int_equal(read.records, RECORDS - result.lost);
    assert_int_equal(read.bad, 0);
    remove_folder(folder);
    return result.left + result.lost == 0;
}

static void test_interrupted_and_short_writes_lose_nothing(void **state)
{
    (void)state;
    for (size_t nth = 1; nth <= 8; nth++) {
        assert_true(run_writer(FAULT_EINTR, nth, false));
        assert_true(run_writer(FAULT_SHORT, nth, false));
    }
    assert_true(run_writer(FAULT_SHORT, 1, true));
}

static void test_failed_writes_are_tried_again(void **state)
{
    (void)state;
    for (size_t nth = 1; nth <= 8; nth++)
        assert_true(run_writer(FAULT_WRITE, nth, false));
    assert_false(run_writer(FAULT_WRITE, 1, true));
    assert_false(run_writer(FAULT_WRITE, 2, true));
}

static void test_sync_fails(void **state)
{
    (void)state;
    assert_true(run_writer(FAULT_SYNC, 1, true));
}

static void test_allocations_of_the_writer(void **state)
{
    (void)state;
    for (size_t nth = 1; nth <= 12; nth++)
        run_writer(FAULT_ALLOC, nth, false);
    assert_false(run_writer(FAULT_ALLOC, 1, true));
}

static char open_folder[64];

static as_status open_and_close(void *context)
{
    struct writer *writer;
    struct writer_result result;
    struct as_error err;
    char path[128];
    struct writer_options options = {.folder = open_folder, .threads = 2, .context = made_context};
    (void)context;
    as_status status = writer_open(&options, &writer, &err);
    if (status != AS_OK)
        return status;
    status = writer_close(writer, &result, &err);
    snprintf(path, sizeof path, "%s/%s", open_folder, RECORD_FILE);
    unlink(path);
    return status;
}

static void test_allocations_of_opening(void **state)
{
    (void)state;
    made_folder(open_folder);
    assert_true(fault_each(FAULT_ALLOC, AS_E_NOMEM, open_and_close, NULL) > 5);
    assert_int_equal(rmdir(open_folder), 0);
}

static as_status read_file(void *context)
{
    struct counted read = {0};
    struct records_found found;
    const struct record_consumer consumer = {&read, take};
    return records_read(context, &made_context, &consumer, &found, NULL);
}

static void test_reading_fails(void **state)
{
    (void)state;
    char folder[64], path[128];
    struct writer *writer;
    struct writer_result result;
    struct request_record record;
    struct clock_offset offset = {0};
    made_folder(folder);
    struct writer_options options = {.folder = folder, .threads = 1, .context = made_context};
    assert_int_equal(writer_open(&options, &writer, NULL), AS_OK);
    struct record_sink sink = writer_sink(writer);
    sink.start(sink.context, (struct mono){0}, &offset);
    for (int64_t seq = 0; seq < 30; seq++) {
        made_record(seq, &record, gaps, text);
        sink.put(sink.context, 0, &record);
    }
    assert_int_equal(writer_close(writer, &result, NULL), AS_OK);
    snprintf(path, sizeof path, "%s/%s", folder, RECORD_FILE);
    assert_true(fault_each(FAULT_ALLOC, AS_E_NOMEM, read_file, path) > 0);
    assert_true(fault_each(FAULT_READ, AS_E_IO, read_file, path) > 0);
    remove_folder(folder);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_interrupted_and_short_writes_lose_nothing),
        cmocka_unit_test(test_failed_writes_are_tried_again),
        cmocka_unit_test(test_sync_fails),
        cmocka_unit_test(test_allocations_of_the_writer),
        cmocka_unit_test(test_allocations_of_opening),
        cmocka_unit_test(test_reading_fails),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
