/* SPDX-License-Identifier: Apache-2.0 */
/* The n-th allocation or write of the simulator fails: the right status, nothing left behind, no answer cut short
 * unseen. */
#include "wire/sim/fixture.h"

#include "base/file.h"
#include "sim/truth.h"
#include "support/faults.h"
#include "support/temp_dir.h"

static struct sim_settings settings;

static void read_settings(struct arena *arena, const char *truth_path)
{
    static const struct opt_table *const tables[] = {&sim_option_table};
    static const struct opt_command line = {.name = "sim", .summary = "Simulate", .tables = tables, .table_count = 1};
    char *argv[] = {"sim",
                    "--port",
                    "0",
                    "--threads",
                    "2",
                    "--fault",
                    "429@0.1",
                    "--freeze",
                    "1s+1s",
                    "--truth-log",
                    (char *)(uintptr_t)truth_path};
    struct opt_parsed parsed;
    struct as_error err = {0};
    const struct opt_input input = {(int)ARRAY_COUNT(argv), argv, NULL, &settings, arena};
    if (options_read(&line, &input, &parsed, &err) != AS_OK)
        fail_msg("%s", err.message);
}

static as_status make_and_close(void *context)
{
    (void)context;
    struct sim *sim;
    as_status status = sim_new(&settings, &sim, NULL);
    return status == AS_OK ? sim_close(sim, NULL) : status;
}

static void test_start(void **state)
{
    (void)state;
    struct temp_dir TEMP_DIR_AUTO dir;
    char path[PATH_MAX];
    struct arena arena;
    temp_dir_make(&dir);
    temp_dir_join(&dir, "truth.jsonl", path);
    arena_init(&arena, 0, 0);
    read_settings(&arena, path);
    settings.truth_log = NULL; /* its writer allocates in a thread of its own: below */
    assert_true(fault_each(FAULT_ALLOC, AS_E_NOMEM, make_and_close, NULL) > 5);
    arena_done(&arena);
}

static void put_records(struct sim_truth *truth)
{
    int64_t chunks[30] = {0};
    for (int64_t i = 1; i <= 200; i++) {
        struct sim_truth_record record = {
            .number = i, .chunks_ns = chunks, .chunk_count = 30, .choices = 1, .fault = -1};
        assert_true(sim_truth_put(truth, 0, &record));
    }
}

/* What a failing write leaves is told at the end. */
static void test_truth_writes(void **state)
{
    (void)state;
    static const struct {
        enum fault_kind kind;
        as_status expected;
    } cases[] = {{FAULT_WRITE, AS_E_IO}, {FAULT_SHORT, AS_OK}, {FAULT_EINTR, AS_OK}};
    struct temp_dir TEMP_DIR_AUTO dir;
    char path[PATH_MAX];
    temp_dir_make(&dir);
    temp_dir_join(&dir, "truth.jsonl", path);
    for (size_t i = 0; i < ARRAY_COUNT(cases); i++) {
        struct sim_truth *truth;
        struct as_error err = {0};
        struct strbuf text;
        assert_int_equal(sim_truth_open(path, 1, 0, &truth, &err), AS_OK);
        fault_arm(cases[i].kind, 1);
        put_records(truth);
        assert_int_equal(sim_truth_close(truth, &err), cases[i].expected);
        assert_int_equal(fault_calls(cases[i].kind) > 0, 1);
        fault_disarm();
        strbuf_init(&text, 0);
        assert_int_equal(file_read(path, &text, NULL), AS_OK);
        size_t lines = 0;
        for (size_t k = 0; k < text.len; k++)
            lines += text.data[k] == '\n';
        assert_true(cases[i].expected != AS_OK || lines == 200);
        strbuf_done(&text);
    }
}

/* While it serves, failing allocations end connections, never the server; afterwards it serves as before. */
static void test_serving(void **state)
{
    (void)state;
    struct sim_fixture sim;
    sim_fixture_start(&sim, "--ttft 0ms --itl 0ms --tokens 5");
    for (size_t nth = 1; nth <= 12; nth++) {
        int fd = sim_connect(&sim);
        fault_arm(FAULT_ALLOC, nth);
        sim_send(fd, CHAT, "", STREAM_BODY);
        struct sim_seen *seen = sim_read(fd);
        fault_disarm();
        assert_true(seen->is_complete ? seen->head.status >= 400 || seen->done_mark
                                      : seen->is_closed || seen->is_reset);
        (void)close(fd);
    }
    assert_int_equal(sim_ask_once(&sim, CHAT, "", STREAM_BODY)->content_count, 5);
    sim_fixture_stop(&sim);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_start),
        cmocka_unit_test(test_truth_writes),
        cmocka_unit_test(test_serving),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
