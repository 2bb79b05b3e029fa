/* SPDX-License-Identifier: Apache-2.0 */
#include "sim/truth.h"

#include "base/arena.h"
#include "base/file.h"
#include "base/json.h"
#include "sim/fault.h"
#include "support/check.h"
#include "support/temp_dir.h"

#include <pthread.h>
#include <sched.h>
#include <stdio.h>
#include <string.h>

static struct strbuf read_log(const char *path)
{
    struct strbuf text;
    strbuf_init(&text, 0);
    assert_int_equal(file_read(path, &text, NULL), AS_OK);
    return text;
}

static void test_line(void **state)
{
    (void)state;
    struct temp_dir TEMP_DIR_AUTO dir;
    char path[PATH_MAX];
    struct sim_truth *truth;
    temp_dir_make(&dir);
    temp_dir_join(&dir, "truth.jsonl", path);
    const int64_t chunks[] = {100, 200, 300};
    struct sim_truth_record record = {.id = "run-7",
                                      .id_len = 5,
                                      .number = 1,
                                      .received_ns = 10,
                                      .begun_ns = 20,
                                      .head_ns = 30,
                                      .end_ns = 300,
                                      .chunks_ns = chunks,
                                      .chunk_count = 3,
                                      .reasoning_chunk_count = 1,
                                      .tokens = 2,
                                      .reasoning_tokens = 1,
                                      .prompt_tokens = 8,
                                      .status = 200,
                                      .choices = 1,
                                      .fault = -1,
                                      .end = SIM_END_COMPLETE,
                                      .stream = true};
    assert_int_equal(sim_truth_open(path, 2, 0, &truth, NULL), AS_OK);
    assert_true(sim_truth_put(truth, 0, &record));
    record = (struct sim_truth_record){.number = 2,
                                       .received_ns = 40,
                                       .begun_ns = -1,
                                       .head_ns = -1,
                                       .end_ns = -1,
                                       .status = 200,
                                       .choices = 1,
                                       .fault = SIM_FAULT_STALL,
                                       .end = SIM_END_ABORTED};
    assert_true(sim_truth_put(truth, 1, &record));
    assert_int_equal(sim_truth_close(truth, NULL), AS_OK);
    struct strbuf text = read_log(path);
    assert_string_equal(text.data, "{\"id\":\"run-7\",\"number\":1,\"received_ns\":10,\"begun_ns\":20,\"head_ns\":30,"
                                   "\"reasoning_ns\":[100],\"chunks_ns\":[200,300],\"end_ns\":300,"
                                   "\"status\":200,\"stream\":true,\"choices\":1,\"prompt_tokens\":8,\"tokens\":2,"
                                   "\"reasoning_tokens\":1,\"fault\":null,\"end\":\"complete\"}\n"
                                   "{\"id\":null,\"number\":2,\"received_ns\":40,\"begun_ns\":null,\"head_ns\":null,"
                                   "\"chunks_ns\":[],\"end_ns\":null,\"status\":200,\"stream\":false,"
                                   "\"choices\":1,\"prompt_tokens\":0,\"tokens\":0,\"reasoning_tokens\":0,\"fault\":"
                                   "\"stall\",\"end\":\"aborted\"}\n");
    strbuf_done(&text);
}

#define THREADS    3
#define PER_THREAD 3000

struct putter {
    struct sim_truth *truth;
    uint32_t thread;
    uint64_t refused;
    pthread_t id;
};

/* Records of every length, so that entries meet the ring's end in every way. */
static void *put_many(void *argument)
{
    struct putter *putter = argument;
    int64_t chunks[40];
    char id[64];
    for (int64_t i = 0; i < PER_THREAD; i++) {
        uint32_t count = (uint32_t)(i % 40);
        for (uint32_t k = 0; k < count; k++)
            chunks[k] = i * 1000 + k;
        int len = snprintf(id, sizeof(id), "%.*s-%u-%d", (int)(i % 9), "abcdefghi", putter->thread, (int)i);
        struct sim_truth_record record = {.id = id,
                                          .id_len = (size_t)len,
                                          .number = i + 1,
                                          .received_ns = i,
                                          .begun_ns = i,
                                          .head_ns = i,
                                          .end_ns = i,
                                          .chunks_ns = chunks,
                                          .chunk_count = count,
                                          .status = 200,
                                          .choices = 1,
                                          .fault = -1,
                                          .stream = true};
        while (!sim_truth_put(putter->truth, putter->thread, &record)) {
            putter->refused++;
            (void)sched_yield();
        }
    }
    return NULL;
}

static void check_line(const char *line, size_t len, int64_t next[THREADS])
{
    struct arena arena;
    const struct json_value *root;
    const char *id;
    int64_t received, instant;
    unsigned thread;
    int seq;
    arena_init(&arena, 0, 0);
    assert_int_equal(json_parse(line, len, NULL, &arena, &root, NULL), AS_OK);
    assert_true(json_string(json_get(root, "id"), &id));
    assert_int_equal(sscanf(strchr(id, '-'), "-%u-%d", &thread, &seq), 2);
    assert_true(thread < THREADS);
    assert_int_equal(seq, next[thread]++);
    assert_true(json_int64(json_get(root, "received_ns"), &received));
    assert_int_equal(received, seq);
    const struct json_value *chunks = json_get(root, "chunks_ns");
    assert_int_equal(chunks->len, seq % 40);
    int64_t k = 0;
    for (const struct json_value *chunk = chunks->first; chunk; chunk = chunk->next, k++) {
        assert_true(json_int64(chunk, &instant));
        assert_int_equal(instant, received * 1000 + k);
    }
    arena_done(&arena);
}

static void test_threads_and_wrapping(void **state)
{
    (void)state;
    struct temp_dir TEMP_DIR_AUTO dir;
    char path[PATH_MAX];
    struct sim_truth *truth;
    struct putter putters[THREADS];
    int64_t next[THREADS] = {0};
    uint64_t refused = 0;
    struct as_error err = {0};
    temp_dir_make(&dir);
    temp_dir_join(&dir, "truth.jsonl", path);
    assert_int_equal(sim_truth_open(path, THREADS, (size_t)64 << 10, &truth, NULL), AS_OK);
    for (uint32_t i = 0; i < THREADS; i++) {
        putters[i] = (struct putter){.truth = truth, .thread = i};
        assert_int_equal(pthread_create(&putters[i].id, NULL, put_many, &putters[i]), 0);
    }
    for (uint32_t i = 0; i < THREADS; i++) {
        assert_int_equal(pthread_join(putters[i].id, NULL), 0);
        refused += putters[i].refused;
    }
    assert_int_equal(sim_truth_close(truth, &err), refused ? AS_E_LIMIT : AS_OK);
    char lost[64];
    (void)snprintf(lost, sizeof(lost), "lost %llu requests", (unsigned long long)refused);
    assert_true(refused == 0 || strstr(err.message, lost));
    struct strbuf text = read_log(path);
    for (const char *at = text.data; at < text.data + text.len; at = strchr(at, '\n') + 1)
        check_line(at, strcspn(at, "\n"), next);
    for (uint32_t i = 0; i < THREADS; i++)
        assert_int_equal(next[i], PER_THREAD);
    strbuf_done(&text);
}

/* A ring that is too small loses records, never mixes them, and says how many. */
static void test_losses_are_told(void **state)
{
    (void)state;
    struct temp_dir TEMP_DIR_AUTO dir;
    char path[PATH_MAX];
    struct sim_truth *truth;
    struct as_error err = {0};
    int64_t chunks[200] = {0};
    temp_dir_make(&dir);
    temp_dir_join(&dir, "truth.jsonl", path);
    assert_int_equal(sim_truth_open(path, 1, 1024, &truth, NULL), AS_OK);
    struct sim_truth_record record = {.number = 1, .chunks_ns = chunks, .chunk_count = 200, .choices = 1, .fault = -1};
    assert_false(sim_truth_put(truth, 0, &record));
    assert_int_equal(sim_truth_close(truth, &err), AS_E_LIMIT);
    assert_non_null(strstr(err.message, "lost 1 requests"));
    struct strbuf text = read_log(path);
    assert_int_equal(text.len, 0);
    strbuf_done(&text);
}

static void test_errors(void **state)
{
    (void)state;
    struct sim_truth *truth;
    struct as_error err = {0};
    assert_int_not_equal(sim_truth_open("/nonexistent/folder/truth.jsonl", 1, 0, &truth, &err), AS_OK);
    assert_non_null(strstr(err.message, "/nonexistent/folder"));
    assert_int_equal(sim_truth_close(NULL, NULL), AS_OK);
    int64_t chunk = 1;
    struct sim_truth_record record = {.number = 1, .chunks_ns = &chunk, .chunk_count = 1, .choices = 1, .fault = -1};
    assert_int_equal(sim_truth_open("/dev/full", 1, 0, &truth, &err), AS_OK);
    assert_true(sim_truth_put(truth, 0, &record));
    assert_int_equal(sim_truth_close(truth, &err), AS_E_IO);
    assert_non_null(strstr(err.message, "truth log"));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_line),
        cmocka_unit_test(test_threads_and_wrapping),
        cmocka_unit_test(test_losses_are_told),
        cmocka_unit_test(test_errors),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
