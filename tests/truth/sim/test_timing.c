/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The simulator's own truth: what its log says against what it was told to do and against a plain client on the same
 * clock. Orders are exact (never early, sent before received). Lateness is judged by medians with LATE_NS of tolerance,
 * because the test's machine may be busy.
 */
#include "wire/sim/fixture.h"

#include "base/file.h"
#include "base/json.h"
#include "support/temp_dir.h"

#define MS           NS_PER_MS
#define LATE_NS      (5 * MS)
#define CHUNKS_MAX   64
#define REQUESTS_MAX 32

struct truth {
    int64_t number, received_ns, begun_ns, head_ns, end_ns;
    int64_t chunks_ns[CHUNKS_MAX];
    size_t chunk_count;
    const char *id;
};

struct log {
    struct truth rows[REQUESTS_MAX];
    size_t count;
    struct arena arena;
};

static int64_t instant(const struct json_value *row, const char *key)
{
    int64_t ns = -1;
    (void)json_int64(json_get(row, key), &ns);
    return ns;
}

static void take_line(struct log *log, const char *line, size_t len)
{
    const struct json_value *row;
    struct truth *truth = &log->rows[log->count++];
    assert_true(log->count <= REQUESTS_MAX);
    assert_int_equal(json_parse(line, len, NULL, &log->arena, &row, NULL), AS_OK);
    *truth = (struct truth){.number = instant(row, "number"),
                            .received_ns = instant(row, "received_ns"),
                            .begun_ns = instant(row, "begun_ns"),
                            .head_ns = instant(row, "head_ns"),
                            .end_ns = instant(row, "end_ns")};
    (void)json_string(json_get(row, "id"), &truth->id);
    for (const struct json_value *chunk = json_get(row, "chunks_ns")->first; chunk; chunk = chunk->next) {
        assert_true(truth->chunk_count < CHUNKS_MAX);
        assert_true(json_int64(chunk, &truth->chunks_ns[truth->chunk_count++]));
    }
}

/* Rows by number. */
static int by_number(const void *a, const void *b)
{
    int64_t x = ((const struct truth *)a)->number, y = ((const struct truth *)b)->number;
    return (x > y) - (x < y);
}

static void read_log(const char *path, struct log *log)
{
    struct strbuf text AS_AUTO_STRBUF;
    strbuf_init(&text, 0);
    *log = (struct log){0};
    arena_init(&log->arena, 0, 0);
    assert_int_equal(file_read(path, &text, NULL), AS_OK);
    for (const char *at = text.data; at < text.data + text.len; at = strchr(at, '\n') + 1)
        take_line(log, at, strcspn(at, "\n"));
    qsort(log->rows, log->count, sizeof(log->rows[0]), by_number);
}

static int by_value(const void *a, const void *b)
{
    int64_t x = *(const int64_t *)a, y = *(const int64_t *)b;
    return (x > y) - (x < y);
}

static int64_t median(int64_t *values, size_t count)
{
    qsort(values, count, sizeof(*values), by_value);
    return values[count / 2];
}

struct bench {
    struct temp_dir dir;
    char path[PATH_MAX];
    struct sim_fixture sim;
    struct log log;
};

static void start(struct bench *bench, const char *words)
{
    char all[PATH_MAX + 512];
    temp_dir_make(&bench->dir);
    temp_dir_join(&bench->dir, "truth.jsonl", bench->path);
    (void)snprintf(all, sizeof(all), "%s --truth-log %s", words, bench->path);
    sim_fixture_start(&bench->sim, all);
}

static void stop(struct bench *bench)
{
    sim_fixture_stop(&bench->sim);
    read_log(bench->path, &bench->log);
}

static void done(struct bench *bench)
{
    arena_done(&bench->log.arena);
    temp_dir_remove(&bench->dir);
}

/* Sent before received, on every event; delays as told, never shorter. */
static void test_stream_against_client(void **state)
{
    (void)state;
    static struct sim_seen seen[9];
    static struct bench bench;
    int64_t sent_ns[9], late[9 * 20];
    size_t late_count = 0;
    start(&bench, "--ttft 40ms --itl 10ms --tokens 20");
    int fd = sim_connect(&bench.sim);
    for (int i = 0; i < 9; i++) {
        char field[64];
        (void)snprintf(field, sizeof(field), "X-Assay-Id: r-%d\r\n", i);
        sent_ns[i] = mono_now().ns;
        sim_send(fd, CHAT, field, STREAM_BODY);
        seen[i] = *sim_read(fd);
    }
    (void)close(fd);
    stop(&bench);
    assert_int_equal(bench.log.count, 9);
    for (int i = 0; i < 9; i++) {
        const struct truth *t = &bench.log.rows[i];
        assert_int_equal(t->id[2] - '0', i);
        assert_int_equal(t->chunk_count, 20);
        assert_true(sent_ns[i] <= t->received_ns && t->received_ns <= t->head_ns);
        assert_true(t->head_ns - t->received_ns < 40 * MS);
        assert_int_equal(t->begun_ns, t->received_ns);
        for (size_t k = 0, event = 0; k < 20; k++, event++) {
            int64_t due_ns = t->received_ns + (40 + 10 * (int64_t)k) * MS;
            while (!seen[i].events[event].has_content)
                event++;
            assert_true(t->chunks_ns[k] >= due_ns);
            assert_true(t->chunks_ns[k] <= seen[i].events[event].at_ns);
            late[late_count++] = t->chunks_ns[k] - due_ns;
        }
        assert_int_equal(t->end_ns, t->chunks_ns[19]);
        assert_true(t->end_ns <= seen[i].end_ns);
    }
    assert_true(median(late, late_count) < LATE_NS);
    done(&bench);
}

/* Without a stream the whole answer takes as long as the stream would. */
static void test_body_takes_as_long(void **state)
{
    (void)state;
    static struct bench bench;
    int64_t late[5];
    start(&bench, "--ttft 20ms --itl 2ms --tokens 16");
    for (int i = 0; i < 5; i++)
        assert_int_equal(sim_ask_once(&bench.sim, CHAT, "", PLAIN_BODY)->head.status, 200);
    stop(&bench);
    for (int i = 0; i < 5; i++) {
        int64_t took_ns = bench.log.rows[i].end_ns - bench.log.rows[i].received_ns;
        assert_true(took_ns >= 50 * MS);
        late[i] = took_ns - 50 * MS;
        assert_int_equal(bench.log.rows[i].chunk_count, 0);
    }
    assert_true(median(late, 5) < LATE_NS);
    done(&bench);
}

/* `count` streams at once, each on its own connection. */
static void ask_together(struct bench *bench, int count)
{
    int fds[REQUESTS_MAX];
    for (int i = 0; i < count; i++) {
        fds[i] = sim_connect(&bench->sim);
        sim_send(fds[i], CHAT, "", STREAM_BODY);
    }
    for (int i = 0; i < count; i++) {
        assert_true(sim_read(fds[i])->done_mark);
        (void)close(fds[i]);
    }
}

/* Two slots, four requests of 170 ms: the later two begin when the first two end. */
static void test_queue(void **state)
{
    (void)state;
    static struct bench bench;
    start(&bench, "--ttft 150ms --itl 10ms --tokens 3 --slots 2");
    ask_together(&bench, 4);
    stop(&bench);
    const struct truth *t = bench.log.rows;
    assert_int_equal(bench.log.count, 4);
    for (int i = 0; i < 2; i++) {
        assert_int_equal(t[i].begun_ns, t[i].received_ns);
        assert_true(t[i + 2].begun_ns >= t[i].end_ns);
        assert_true(t[i + 2].chunks_ns[0] >= t[i + 2].begun_ns + 150 * MS);
        assert_true(t[i + 2].head_ns < t[i].end_ns);
    }
    done(&bench);
}

/* A freeze that begins 300 ms after the first request and lasts 150 ms: nothing is sent in it, work in progress is
 * shifted by it. */
static void test_freeze(void **state)
{
    (void)state;
    static struct bench bench;
    start(&bench, "--ttft 200ms --itl 40ms --tokens 6 --freeze 300ms+150ms");
    ask_together(&bench, 3);
    stop(&bench);
    const int64_t epoch_ns = bench.log.rows[0].received_ns;
    for (int i = 0; i < 3; i++) {
        const struct truth *t = &bench.log.rows[i];
        assert_int_equal(t->chunk_count, 6);
        assert_true(t->chunks_ns[5] >= t->received_ns + (400 + 150) * MS);
        int frozen = 0;
        for (size_t k = 0; k < 6; k++) {
            int64_t due_ns = t->received_ns + (200 + 40 * (int64_t)k) * MS;
            frozen += due_ns >= epoch_ns + 300 * MS;
            if (due_ns >= epoch_ns + 300 * MS)
                assert_true(t->chunks_ns[k] >= epoch_ns + 450 * MS);
        }
        assert_true(frozen >= 3);
    }
    done(&bench);
}

static void test_grid(void **state)
{
    (void)state;
    static struct bench bench;
    int64_t late[8 * 10];
    size_t count = 0;
    start(&bench, "--ttft 15ms --itl 20ms --tokens 10 --burst-grid 20ms");
    ask_together(&bench, 8);
    stop(&bench);
    for (size_t i = 0; i < bench.log.count; i++) {
        const struct truth *t = &bench.log.rows[i];
        assert_true(t->chunks_ns[0] >= t->received_ns + 15 * MS);
        for (size_t k = 0; k < 10; k++)
            late[count++] = t->chunks_ns[k] % (20 * MS);
    }
    assert_int_equal(count, 80);
    assert_true(median(late, count) < LATE_NS);
    done(&bench);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_stream_against_client),
        cmocka_unit_test(test_body_takes_as_long),
        cmocka_unit_test(test_queue),
        cmocka_unit_test(test_freeze),
        cmocka_unit_test(test_grid),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
