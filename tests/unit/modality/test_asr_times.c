/* SPDX-License-Identifier: Apache-2.0 */
#include "modality/asr_times.h"

#include "base/arena.h"
#include "base/json.h"
#include "modality/asr_text.h"
#include "support/check.h"

#include <string.h>

static struct strbuf out;

static int setup(void **state)
{
    (void)state;
    strbuf_init(&out, 0);
    return 0;
}

static int teardown(void **state)
{
    (void)state;
    strbuf_done(&out);
    return 0;
}

/* The members that an answer gives. */
static const char *times_of(const char *answer, size_t max_bytes)
{
    struct asr_reading reading;
    struct strbuf text AS_AUTO_STRBUF;
    strbuf_init(&text, 0);
    asr_read_body(&(struct asr_body){ASR_FORMAT_VERBOSE_JSON, true, answer, strlen(answer)}, &text, &reading);
    assert_int_equal(reading.problem, ASR_FINE);
    strbuf_reset(&out);
    asr_times_add(&reading.times, max_bytes, &out);
    assert_int_equal(strbuf_status(&out), AS_OK);
    return strbuf_text(&out);
}

static void test_words_and_segments(void **state)
{
    (void)state;
    assert_string_equal(
        times_of(
            "{\"text\":\"a b\",\n \"segments\": [ {\"id\":0,\"start\":0,\"end\":1.25,\"text\":\" a\\tb\",\"tokens\":"
            "[1,2],\"avg_logprob\":-0.2} ],\n \"words\":[{\"word\":\"a\",\"start\":0.0,\"end\":0.5},"
            "{\"word\":\"b\",\"start\":\"0.5\",\"end\":null}]}",
            ASR_TIMES_MAX_BYTES),
        ",\"segment_times\":[{\"text\":\" a\\tb\",\"start_s\":0,\"end_s\":1.25}],"
        "\"word_times\":[{\"text\":\"a\",\"start_s\":0,\"end_s\":0.5},{\"text\":\"b\",\"start_s\":0.5,\"end_s\":null}],"
        "\"times_cut\":false");
}

static void test_what_is_not_there_is_null(void **state)
{
    (void)state;
    assert_string_equal(times_of("{\"text\":\"a\"}", 100),
                        ",\"segment_times\":null,\"word_times\":null,\"times_cut\":false");
    assert_string_equal(times_of("{\"text\":\"a\",\"words\":[],\"segments\":null}", 100),
                        ",\"segment_times\":null,\"word_times\":[],\"times_cut\":false");
    assert_string_equal(times_of("{\"text\":\"a\",\"words\":\"no\",\"segments\":[null,7,{\"start\":-1,\"end\":\"x\","
                                 "\"text\":3}]}",
                                 200),
                        ",\"segment_times\":[{\"text\":null,\"start_s\":null,\"end_s\":null}],\"word_times\":null,"
                        "\"times_cut\":false");
}

static void test_words_in_their_segments(void **state)
{
    (void)state;
    static const char answer[] =
        "{\"text\":\"a b\",\"words\":null,"
        "\"segments\":[{\"text\":\"a\",\"words\":[{\"word\":\"a\",\"start\":0,\"end\":1,"
        "\"probability\":1}]},{\"text\":\"-\",\"words\":null},7,{\"words\":[{\"word\":\"b\",\"start\":1,\"end\":2}],"
        "\"text\":\"b\"}]}";
    const char *times = times_of(answer, ASR_TIMES_MAX_BYTES);
    assert_non_null(strstr(times, "\"word_times\":[{\"text\":\"a\",\"start_s\":0,\"end_s\":1},"
                                  "{\"text\":\"b\",\"start_s\":1,\"end_s\":2}],\"times_cut\":false"));
    times = times_of(answer, 220);
    assert_non_null(strstr(times, "\"word_times\":[{\"text\":\"a\",\"start_s\":0,\"end_s\":1}],\"times_cut\":true"));
    times = times_of("{\"text\":\"a\",\"segments\":[{\"text\":\"a\",\"words\":[]}]}", 200);
    assert_non_null(strstr(times, "\"word_times\":[],\"times_cut\":false"));
}

static void test_odd_texts_stay_json(void **state)
{
    (void)state;
    const struct json_value *root;
    struct arena arena;
    struct strbuf object AS_AUTO_STRBUF;
    strbuf_init(&object, 0);
    times_of("{\"text\":\"a\",\"words\":[{\"word\":\"\\ud800\\\"\xFF\\u0000\",\"start\":1e3,\"end\":1e-7}]}", 1000);
    strbuf_addf(&object, "{\"x\":0%s}", strbuf_text(&out));
    arena_init(&arena, 0, 0);
    assert_int_equal(json_parse(object.data, object.len, NULL, &arena, &root, NULL), AS_OK);
    assert_int_equal(json_get(root, "word_times")->len, 1);
    arena_done(&arena);
}

static void test_a_limit_leaves_later_entries_out(void **state)
{
    (void)state;
    static const char answer[] = "{\"text\":\"a\",\"segments\":[{\"text\":\"one\",\"start\":0,\"end\":1}],"
                                 "\"words\":[{\"word\":\"one\",\"start\":0,\"end\":1},{\"word\":\"two\"}]}";
    assert_string_equal(times_of(answer, 120),
                        ",\"segment_times\":[{\"text\":\"one\",\"start_s\":0,\"end_s\":1}],"
                        "\"word_times\":[{\"text\":\"one\",\"start_s\":0,\"end_s\":1}],\"times_cut\":true");
    assert_string_equal(times_of(answer, 20), ",\"segment_times\":[],\"word_times\":[],\"times_cut\":true");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(test_words_and_segments, setup, teardown),
        cmocka_unit_test_setup_teardown(test_what_is_not_there_is_null, setup, teardown),
        cmocka_unit_test_setup_teardown(test_words_in_their_segments, setup, teardown),
        cmocka_unit_test_setup_teardown(test_odd_texts_stay_json, setup, teardown),
        cmocka_unit_test_setup_teardown(test_a_limit_leaves_later_entries_out, setup, teardown),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
