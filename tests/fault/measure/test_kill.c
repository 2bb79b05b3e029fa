/* SPDX-License-Identifier: Apache-2.0 */
#include "made_records.h"

#include "base/rng.h"

#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
#include <sys/mman.h>
#include <sys/wait.h>

#define THREADS 3
#define ROUNDS  25

/* Seen by the killed process and its parent. */
struct shared {
    _Atomic bool is_running;
    _Atomic int64_t put[THREADS]; /* records whose put has returned */
};

static struct shared *shared;
static struct record_sink sink;

/* Thread t puts numbers t, t + THREADS, … */
static void *produce(void *argument)
{
    uint32_t thread = (uint32_t)(uintptr_t)argument;
    char gaps[256];
    char *text = malloc(MADE_TEXT_MAX);
    struct request_record *record = malloc(sizeof *record);
    if (!text || !record)
        _exit(1);
    for (int64_t i = 0;; i++) {
        made_record(i * THREADS + thread, record, gaps, text);
        sink.put(sink.context, thread, record);
        atomic_store(&shared->put[thread], i + 1);
    }
}

static void child(const char *folder)
{
    struct writer *writer;
    struct writer_options options = {
        .folder = folder, .threads = THREADS, .ring_bytes = 64 * 1024, .context = made_context};
    struct clock_offset offset = {0};
    pthread_t threads[THREADS];
    options.context.save_content = true;
    if (writer_open(&options, &writer, NULL) != AS_OK)
        _exit(1);
    sink = writer_sink(writer);
    sink.start(sink.context, (struct mono){0}, &offset);
    for (uintptr_t i = 0; i < THREADS; i++) {
        if (pthread_create(&threads[i], NULL, produce, (void *)i) != 0)
            _exit(1);
    }
    atomic_store(&shared->is_running, true);
    pause();
    _exit(1);
}

static uint8_t seen[1 << 20];

static as_status take(void *context, const struct request_record *record)
{
    int64_t *bad = context;
    if (record->seq < 0 || record->seq >= (int64_t)sizeof seen || seen[record->seq]++ || !made_record_is_sound(record))
        (*bad)++;
    return AS_OK;
}

static int64_t seen_count(void)
{
    int64_t n = 0;
    for (size_t i = 0; i < sizeof seen; i++)
        n += seen[i];
    return n;
}

/* Whenever the process is killed: every record whose put had returned is there, whole, once. */
static void test_nothing_finished_is_lost(void **state)
{
    (void)state;
    struct rng rng;
    int64_t recovered = 0, from_lines = 0;
    rng_init(&rng, 1, 0);
    for (int round = 0; round < ROUNDS; round++) {
        char folder[64], path[128];
        struct records_found found;
        struct as_error err = {.message = ""};
        int64_t bad = 0;
        made_folder(folder);
        memset(shared, 0, sizeof *shared);
        memset(seen, 0, sizeof seen);
        pid_t pid = fork();
        assert_true(pid >= 0);
        if (pid == 0)
            child(folder);
        while (!atomic_load(&shared->is_running))
            assert_int_equal(waitpid(pid, NULL, WNOHANG), 0);
        usleep((useconds_t)rng_below(&rng, 60000));
        assert_int_equal(kill(pid, SIGKILL), 0);
        assert_int_equal(waitpid(pid, NULL, 0), pid);

        snprintf(path, sizeof path, "%s/%s", folder, RECORD_FILE);
        const struct record_consumer consumer = {&bad, take};
        if (records_read(path, &made_context, &consumer, &found, &err) != AS_OK)
            fail_msg("%s", err.message);
        assert_int_equal(bad, 0);
        assert_true(found.has_journal);
        assert_int_equal(found.damaged_rings, 0);
        int64_t least = 0;
        for (int64_t thread = 0; thread < THREADS; thread++) {
            int64_t put = atomic_load(&shared->put[thread]);
            least += put;
            for (int64_t i = 0; i < put; i++)
                assert_int_equal(seen[i * THREADS + thread], 1);
        }
        assert_in_range(seen_count(), least, least + THREADS);
        assert_int_equal(found.lines + found.recovered, seen_count());
        recovered += found.recovered;
        from_lines += found.lines;
        remove_folder(folder);
    }
    /* The kills met the journal in use: else this proves nothing. */
    assert_true(recovered > 0);
    assert_true(from_lines > 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_nothing_finished_is_lost)};
    shared = mmap(NULL, sizeof *shared, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    if (shared == MAP_FAILED)
        return 1;
    return cmocka_run_group_tests(tests, NULL, NULL);
}
