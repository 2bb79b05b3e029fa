/* SPDX-License-Identifier: Apache-2.0 */
/*
 * 64 readers while one writes, checkpoints and backs up: nobody is told that the store is locked, every reader sees whole
 * transactions, and the store is sound. The argument is for how many seconds [3].
 */
#include "store/store/both.h"

#include "load.h"

#include "base/clock.h"

#define READERS   64
#define COUNT_SQL "SELECT count(*) FROM settings WHERE setting LIKE 't0.%'"

static int seconds = 3;
static struct both *both;
static _Atomic bool is_over;
static _Atomic int64_t reads, longest_ns, backups;

static void *read_on(void *context)
{
    struct as_error err;
    int64_t before = 0;
    (void)context;
    while (!is_over) {
        struct store_tx *tx;
        const struct mono begun = mono_now();
        if (store_read(both->store, &tx, &err) != AS_OK) {
            fprintf(stderr, "a reader was refused: %s\n", err.message);
            abort();
        }
        const int64_t rows = number_of(tx, COUNT_SQL, NULL, 0), again = number_of(tx, COUNT_SQL, NULL, 0);
        store_rollback(tx);
        const int64_t took_ns = mono_diff_ns(mono_now(), begun);
        /* One snapshot, of whole transactions, never older than the last one. */
        if (rows % LOAD_PARTS || rows != again || rows < before)
            abort();
        before = rows;
        reads++;
        for (int64_t most = longest_ns; took_ns > most && !atomic_compare_exchange_weak(&longest_ns, &most, took_ns);)
            continue;
    }
    return NULL;
}

static void *write_on(void *context)
{
    struct as_error err;
    (void)context;
    for (int64_t number = 1; !is_over && number <= LOAD_MOST; number++) {
        struct load_work work = {0, number};
        const struct store_group_work group = {load_write, &work, STORE_NOW, 10};
        if (store_group(both->store, &group, &err) != AS_OK) {
            fprintf(stderr, "the writer was refused: %s\n", err.message);
            abort();
        }
        load_shared->acknowledged[0] = number;
    }
    return NULL;
}

static void *back_up(void *context)
{
    (void)context;
    while (!is_over) {
        char target[PATH_MAX], name[32];
        struct as_error err;
        snprintf(name, sizeof name, "copy-%" PRId64 ".db", (int64_t)backups);
        temp_dir_join(&both->dir, name, target);
        if (store_backup(both->store, target, &err) != AS_OK) {
            fprintf(stderr, "the backup was refused: %s\n", err.message);
            abort();
        }
        unlink(target);
        backups++;
    }
    return NULL;
}

static void test_readers_a_writer_and_backups(void **state)
{
    pthread_t readers[READERS], writer, copier;
    both = both_begin(state);
    both_close(both);
    if (!load_shared)
        load_share();
    load_forget();
    load_make(both->address);
    both_open(both);
    is_over = false;
    reads = longest_ns = backups = 0;
    for (size_t i = 0; i < READERS; i++)
        assert_int_equal(pthread_create(&readers[i], NULL, read_on, NULL), 0);
    assert_int_equal(pthread_create(&writer, NULL, write_on, NULL), 0);
    assert_int_equal(pthread_create(&copier, NULL, back_up, NULL), 0);
    mono_sleep_until(mono_add_ns(mono_now(), seconds * NS_PER_S));
    is_over = true;
    for (size_t i = 0; i < READERS; i++)
        pthread_join(readers[i], NULL);
    pthread_join(writer, NULL);
    pthread_join(copier, NULL);
    print_message("%" PRId64 " reads, the longest %.1f ms; %" PRId64 " transactions, %" PRId64 " backups\n", reads, (double)longest_ns / 1e6,
                  load_acknowledged(), backups);
    assert_true(reads > READERS && backups > 0 && load_acknowledged() > 10);
    assert_int_equal(load_check(both->store), load_acknowledged());
}

int main(int argc, char **argv)
{
    const struct CMUnitTest tests[] = {BOTH(test_readers_a_writer_and_backups)};
    if (argc > 1)
        seconds = (int)strtol(argv[1], NULL, 10);
    return cmocka_run_group_tests(tests, NULL, NULL);
}
