/* SPDX-License-Identifier: Apache-2.0 */
#include "made_records.h"

#include "base/file.h"

#include <errno.h>
#include <sys/resource.h>
#include <sys/stat.h>

static char gaps[256], text[MADE_TEXT_MAX];

struct counted {
    int64_t records, sum, bad;
};

static void on_record(void *context, const struct request_record *record)
{
    struct counted *counted = context;
    counted->records++;
    counted->sum += record->seq;
    counted->bad += !made_record_is_sound(record);
}

static as_status take(void *context, const struct request_record *record)
{
    on_record(context, record);
    return AS_OK;
}

/* What the writer told, and the limit of file sizes that is set when it stalls (if wanted). */
static struct {
    int stalls, goes_on, given_up, errnum;
    bool lifts;
    struct rlimit limit;
    int64_t stall_limit_ns;
} events;

static void on_event(void *context, enum writer_event event, int errnum)
{
    (void)context;
    events.stalls += event == WRITER_STALLED;
    events.goes_on += event == WRITER_GOES_ON;
    events.given_up += event == WRITER_GIVEN_UP;
    events.errnum = errnum;
    if (event == WRITER_STALLED && events.lifts && setrlimit(RLIMIT_FSIZE, &events.limit) != 0)
        abort();
}

static struct writer *open_writer(const char *folder, struct counted *counted)
{
    struct writer *writer;
    struct as_error err = {.message = ""};
    struct writer_options options = {.folder = folder,
                                     .threads = 1,
                                     .ring_bytes = 64 * 1024,
                                     .context = made_context,
                                     .on_record = on_record,
                                     .on_record_context = counted,
                                     .on_event = on_event,
                                     .stall_limit_ns = events.stall_limit_ns};
    options.context.save_content = true;
    memset(counted, 0, sizeof *counted);
    if (writer_open(&options, &writer, &err) != AS_OK)
        fail_msg("%s", err.message);
    struct record_sink sink = writer_sink(writer);
    struct clock_offset offset = {0};
    sink.start(sink.context, (struct mono){0}, &offset);
    return writer;
}

static void put_records(struct writer *writer, int64_t from, int64_t to)
{
    struct request_record record;
    struct record_sink sink = writer_sink(writer);
    for (int64_t seq = from; seq < to; seq++) {
        made_record(seq, &record, gaps, text);
        sink.put(sink.context, 0, &record);
    }
}

static void test_clean_run(void **state)
{
    (void)state;
    char folder[64], path[128];
    struct counted counted, read = {0};
    struct writer_result result;
    struct records_found found;
    struct stat info;
    made_folder(folder);
    struct writer *writer = open_writer(folder, &counted);
    put_records(writer, 0, 5000);
    assert_int_equal(writer_close(writer, &result, NULL), AS_OK);
    assert_int_equal(result.records, 5000);
    assert_int_equal(result.lost, 0);
    assert_int_equal(result.write_errors, 0);
    assert_int_equal(counted.records, 5000);
    assert_int_equal(counted.bad, 0);
    snprintf(path, sizeof path, "%s/journal", folder);
    assert_false(file_exists(path));
    snprintf(path, sizeof path, "%s/%s", folder, RECORD_FILE);
    assert_int_equal(stat(path, &info), 0);
    assert_int_equal(info.st_size, result.bytes);
    const struct record_consumer consumer = {&read, take};
    assert_int_equal(records_read(path, &made_context, &consumer, &found, NULL), AS_OK);
    assert_int_equal(found.lines, 5000);
    assert_int_equal(found.torn_bytes, 0);
    assert_false(found.has_journal);
    assert_string_equal(found.run_id, "made");
    assert_int_equal(read.sum, counted.sum);
    assert_int_equal(read.bad, 0);
    /* A folder that holds a run is not used again. */
    struct as_error err;
    struct writer_options again = {.folder = folder, .threads = 1, .context = made_context};
    assert_int_equal(writer_open(&again, &writer, &err), AS_E_EXISTS);
    remove_folder(folder);
}

/* A reader of the file sees progress while the run goes on. */
static void test_progress_is_visible(void **state)
{
    (void)state;
    char folder[64], path[128];
    struct counted counted;
    struct writer_result result;
    struct stat info = {0};
    made_folder(folder);
    snprintf(path, sizeof path, "%s/%s", folder, RECORD_FILE);
    struct writer *writer = open_writer(folder, &counted);
    put_records(writer, 0, 1);
    int64_t start_ns = mono_now().ns;
    while (info.st_size == 0 && mono_now().ns - start_ns < 10 * NS_PER_S)
        assert_int_equal(stat(path, &info), 0);
    assert_true(info.st_size > 0);
    assert_int_equal(writer_close(writer, &result, NULL), AS_OK);
    assert_int_equal(result.bytes, info.st_size);
    remove_folder(folder);
}

static bool has_journal(const char *folder)
{
    char path[128];
    snprintf(path, sizeof path, "%s/journal", folder);
    return file_exists(path);
}

/*
 * The disk takes no more at any point of the file: what fits is whole lines, the journal keeps what it can hold of the
 * rest, the callback sees all.
 */
static void test_disk_full(void **state)
{
    (void)state;
    struct rlimit old, limit;
    int64_t all_left = 0, all_lost = 0;
    assert_int_equal(getrlimit(RLIMIT_FSIZE, &old), 0);
    for (rlim_t bytes = 0; bytes < 400000; bytes = bytes * 2 + 4711) {
        char folder[64], path[128];
        struct counted counted, read = {0};
        struct writer_result result;
        struct records_found found;
        struct as_error err = {.message = ""};
        struct stat info;
        memset(&events, 0, sizeof events);
        events.stall_limit_ns = NS_PER_MS;
        made_folder(folder);
        snprintf(path, sizeof path, "%s/%s", folder, RECORD_FILE);
        struct writer *writer = open_writer(folder, &counted);
        limit = (struct rlimit){bytes, old.rlim_max};
        assert_int_equal(setrlimit(RLIMIT_FSIZE, &limit), 0);
        put_records(writer, 0, 500);
        assert_int_equal(writer_close(writer, &result, &err), AS_E_IO);
        assert_int_equal(setrlimit(RLIMIT_FSIZE, &old), 0);
        assert_int_equal(counted.records, 500);
        assert_int_equal(counted.sum, 499 * 500 / 2);
        assert_int_equal(counted.bad, 0);
        assert_int_equal(result.records, 500);
        assert_true(result.left > 0 && result.left + result.lost <= 500);
        assert_true(result.write_errors > 0);
        assert_int_equal(events.stalls, 1);
        assert_int_equal(events.given_up, 1);
        assert_int_equal(events.errnum, EFBIG);
        assert_non_null(strstr(err.message, "could not be written"));
        assert_non_null(strstr(err.message, "make room and keep the folder"));
        assert_int_equal(stat(path, &info), 0);
        assert_int_equal(info.st_size, result.bytes);
        assert_true((rlim_t)info.st_size <= bytes);
        assert_true(has_journal(folder));
        const struct record_consumer consumer = {&read, take};
        assert_int_equal(records_read(path, &made_context, &consumer, &found, &err), AS_OK);
        assert_int_equal(found.lines, 500 - result.left - result.lost);
        assert_int_equal(found.recovered, result.left);
        assert_int_equal(found.damaged_rings, 0);
        assert_int_equal(found.torn_bytes, 0);
        assert_int_equal(read.records, 500 - result.lost);
        assert_int_equal(read.bad, 0);
        all_left += result.left;
        all_lost += result.lost;
        remove_folder(folder);
    }
    assert_true(all_left > 0 && all_lost > 0); /* the rings are small here */
}

/* Room that comes back in time is used: nothing is lost and no journal is left. */
static void test_disk_full_for_a_while(void **state)
{
    (void)state;
    struct rlimit limit;
    char folder[64], path[128];
    struct counted counted, read = {0};
    struct writer_result result;
    struct records_found found;
    memset(&events, 0, sizeof events);
    events.lifts = true;
    made_folder(folder);
    snprintf(path, sizeof path, "%s/%s", folder, RECORD_FILE);
    assert_int_equal(getrlimit(RLIMIT_FSIZE, &events.limit), 0);
    struct writer *writer = open_writer(folder, &counted);
    limit = (struct rlimit){50000, events.limit.rlim_max};
    assert_int_equal(setrlimit(RLIMIT_FSIZE, &limit), 0);
    put_records(writer, 0, 1500);
    assert_int_equal(writer_close(writer, &result, NULL), AS_OK);
    assert_int_equal(events.stalls, 1);
    assert_int_equal(events.goes_on, 1);
    assert_int_equal(events.given_up, 0);
    assert_int_equal(result.left + result.lost, 0);
    assert_false(has_journal(folder));
    const struct record_consumer consumer = {&read, take};
    assert_int_equal(records_read(path, &made_context, &consumer, &found, NULL), AS_OK);
    assert_int_equal(found.lines, 1500);
    assert_int_equal(read.sum, counted.sum);
    assert_int_equal(read.bad, 0);
    remove_folder(folder);
}

/* Every byte near both ends, every 13th between. */
static off_t next_cut(off_t cut, off_t size)
{
    return cut > size - 3 || cut <= 13 ? cut - 1 : cut - 13;
}

/* True when the file, `cut` bytes long, ends with a newline or lacks only that. */
static bool ends_a_line(const char *path, off_t cut)
{
    FILE *file = fopen(path, "rb");
    assert_non_null(file);
    assert_int_equal(fseek(file, cut - 1, SEEK_SET), 0);
    int last = fgetc(file);
    fclose(file);
    return last == '\n' || last == '}';
}

/* Wherever a file is cut, its whole lines are read and the torn one is told. */
static void test_torn_file(void **state)
{
    (void)state;
    char folder[64], path[128];
    struct counted counted;
    struct writer_result result;
    struct records_found found;
    struct stat info;
    made_folder(folder);
    snprintf(path, sizeof path, "%s/%s", folder, RECORD_FILE);
    struct writer *writer = open_writer(folder, &counted);
    put_records(writer, 1, 4);
    assert_int_equal(writer_close(writer, &result, NULL), AS_OK);
    assert_int_equal(stat(path, &info), 0);
    for (off_t cut = info.st_size; cut >= 0; cut = next_cut(cut, info.st_size)) {
        struct counted read = {0};
        const struct record_consumer consumer = {&read, take};
        assert_int_equal(truncate(path, cut), 0);
        assert_int_equal(records_read(path, &made_context, &consumer, &found, NULL), AS_OK);
        assert_int_equal(read.records, found.lines);
        assert_int_equal(read.bad, 0);
        /* A line that lacks only its newline is whole. */
        if (cut >= info.st_size - 2)
            assert_int_equal(found.lines, cut == info.st_size - 2 ? 2 : 3);
        assert_int_equal(found.torn_bytes > 0, cut > 0 && cut < info.st_size - 1 && !ends_a_line(path, cut));
    }
    assert_int_equal(found.lines, 0);
    remove_folder(folder);
}

static void test_damaged_lines_and_missing_files(void **state)
{
    (void)state;
    char folder[64], path[128];
    struct counted read = {0};
    struct records_found found;
    struct as_error err = {.message = ""};
    const struct record_consumer consumer = {&read, take};
    made_folder(folder);
    snprintf(path, sizeof path, "%s/%s", folder, RECORD_FILE);
    assert_int_equal(records_read(path, &made_context, &consumer, &found, &err), AS_E_NOTFOUND);
    FILE *file = fopen(path, "w");
    assert_non_null(file);
    fputs("{\"schema\":\"metrumbench-llm.request.v1\",\"run_id\":\"made\",\"seq\":0}\n\n{\"schema\":\n", file);
    fclose(file);
    assert_int_equal(records_read(path, &made_context, &consumer, &found, &err), AS_E_INVALID);
    assert_int_equal(read.records, 1);
    assert_non_null(strstr(err.message, "requests.jsonl line 2"));
    remove_folder(folder);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_clean_run), cmocka_unit_test(test_progress_is_visible),
        cmocka_unit_test(test_disk_full), cmocka_unit_test(test_disk_full_for_a_while),
        cmocka_unit_test(test_torn_file), cmocka_unit_test(test_damaged_lines_and_missing_files),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
