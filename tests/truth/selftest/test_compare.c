/* SPDX-License-Identifier: Apache-2.0 */
#include "selftest/timing.h"

#include "base/file.h"
#include "support/check.h"
#include "support/temp_dir.h"

#include <math.h>
#include <string.h>

struct files {
    struct temp_dir dir;
    char records[PATH_MAX], truth[PATH_MAX];
};

static as_status compare(const char *records, const char *truth, struct timing *ret, struct as_error *err)
{
    struct files files;
    temp_dir_make(&files.dir);
    temp_dir_join(&files.dir, "requests.jsonl", files.records);
    temp_dir_join(&files.dir, "truth.jsonl", files.truth);
    assert_int_equal(file_write_atomic(files.records, records, strlen(records), NULL), AS_OK);
    assert_int_equal(file_write_atomic(files.truth, truth, strlen(truth), NULL), AS_OK);
    const struct timing_input input = {files.records, files.truth, 1000000, 100000};
    as_status status = timing_compare(&input, ret, err);
    temp_dir_remove(&files.dir);
    return status;
}

#define RECORD(seq, phase, rest) "{\"seq\":" #seq ",\"phase\":\"" phase "\",\"outcome\":\"ok\"," rest "}\n"
#define TRUTH(seq, chunks)       "{\"id\":\"run-x-" #seq "\",\"chunks_ns\":[" chunks "]}\n"

/* Errors of 5, 7 and 9 µs; one chunk shared a read; warm-up is not looked at. */
static void test_errors(void **state)
{
    (void)state;
    struct timing t;
    struct as_error err = {0};
    as_status status =
        compare(RECORD(0, "warmup", "\"first_content_ns\":1,\"gaps_ns\":[]")
                    RECORD(1, "measured",
                           "\"first_content_ns\":5000,\"client_lag_ns\":20000,\"gaps_ns\":[102000,100000,50000],"
                           "\"shared_chunks\":[2]"),
                "{\"id\":null,\"chunks_ns\":[7]}\n" TRUTH(1, "1000000,1100000,1199000,1248000"), &t, &err);
    if (status != AS_OK)
        fail_msg("%s", err.message);
    assert_int_equal(t.requests, 1);
    assert_int_equal(t.chunks, 4);
    assert_int_equal(t.shared, 1);
    assert_true(t.ttft_p50_us == 5 && t.ttft_p99_us == 5);
    assert_true(t.user_ttft_p99_us == 25);
    assert_true(t.chunk_p50_us == 7 && t.chunk_max_us == 9);
    assert_true(t.sim_late_p99_us == 0); /* 0, 0, −1 and −52 µs against a step of 100 µs */
}

static void test_nothing_measured(void **state)
{
    (void)state;
    struct timing t;
    assert_int_equal(compare("", "", &t, NULL), AS_OK);
    assert_int_equal(t.requests, 0);
    assert_true(isnan(t.ttft_p50_us) && isnan(t.chunk_p99_us) && isnan(t.user_ttft_p99_us));
}

static void test_refused(void **state)
{
    (void)state;
    static const struct {
        const char *records, *truth, *word;
    } cases[] = {
        {RECORD(1, "measured", "\"first_content_ns\":1,\"gaps_ns\":[]"), TRUTH(2, "1"), "not in the truth log"},
        {RECORD(1, "measured", "\"first_content_ns\":1,\"gaps_ns\":[5,5]"), TRUTH(1, "1,2"),
         "not those of the truth log"},
        {RECORD(1, "measured", "\"first_content_ns\":1,\"gaps_ns\":[5]"), TRUTH(1, "1,2,3"),
         "not those of the truth log"},
        {"{\"seq\":1", TRUTH(1, "1"), "requests.jsonl:1"},
        {"", TRUTH(1, "1") "junk\n", "truth.jsonl:2"},
        {"", TRUTH(1000000, "1"), "more than"},
    };
    for (size_t i = 0; i < ARRAY_COUNT(cases); i++) {
        struct timing t = {.requests = 77};
        struct as_error err = {0};
        if (compare(cases[i].records, cases[i].truth, &t, &err) == AS_OK)
            fail_msg("case %zu was taken", i);
        if (!strstr(err.message, cases[i].word))
            fail_msg("case %zu: '%s' does not say '%s'", i, err.message, cases[i].word);
        assert_int_equal(t.requests, 77);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_errors),
        cmocka_unit_test(test_nothing_measured),
        cmocka_unit_test(test_refused),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
