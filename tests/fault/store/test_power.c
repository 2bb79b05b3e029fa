/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The embedded store when the power is cut, a sync or a write fails, or the disk is full: at chosen calls to the file system. The
 * argument is how many cuts of each kind [20].
 */
#include "load.h"
#include "shim.h"

#include "base/file.h"

#include <fcntl.h>
#include <sys/stat.h>

#define TRANSACTIONS 90 /* enough for several checkpoints */

static int cuts = 20;
static struct temp_dir dir;
static char base[PATH_MAX], path[PATH_MAX];

static void copy_file(const char *from, const char *to)
{
    static char bytes[1 << 16];
    const int in = open(from, O_RDONLY | O_CLOEXEC), out = open(to, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);
    assert_true(in >= 0 && out >= 0);
    for (ssize_t n; (n = read(in, bytes, sizeof bytes)) > 0;)
        assert_int_equal(write(out, bytes, (size_t)n), n);
    close(in);
    close(out);
}

static void start_over(void)
{
    char log[PATH_MAX + 8];
    snprintf(log, sizeof log, "%s-wal", path);
    unlink(log);
    copy_file(base, path);
    load_forget();
}

/* One after the other: what is refused is tried again under its number, as a client does. */
static void run_load(struct store *store)
{
    struct as_error err;
    struct load_work work = {.number = 1};
    int64_t refusals = 0;
    while (work.number <= TRANSACTIONS && refusals < 1000) {
        const struct store_group_work group = {load_write, &work, work.number % 9 ? STORE_NOW : STORE_SOON, 100};
        const as_status status = store_group(store, &group, &err);
        if (status == AS_OK) {
            load_shared->acknowledged[0] = work.number++;
            continue;
        }
        /* Only what the disk did may come out, with a sentence. */
        if (status != AS_E_IO || !err.message[0])
            _exit(98);
        load_shared->refused = ++refusals;
    }
}

static int child(enum shim_fault fault, size_t at, uint64_t seed)
{
    const struct store_options options = {.address = path, .readers = 1};
    struct store *store;
    struct as_error err;
    shim_install(fault, at, seed);
    shim.shared_calls = &load_shared->calls;
    /* Its last words are not for the screen. */
    const int quiet = open("/dev/null", O_WRONLY | O_CLOEXEC);
    dup2(quiet, STDERR_FILENO);
    if (store_open(&options, &store, &err) != AS_OK)
        return 97;
    run_load(store);
    store_close(store);
    return 0;
}

/* The exit status of a process that has done the load under this fault. */
static int run(enum shim_fault fault, size_t at, uint64_t seed)
{
    int status;
    start_over();
    fflush(NULL);
    const pid_t pid = fork();
    assert_true(pid >= 0);
    if (pid == 0)
        _exit(child(fault, at, seed));
    assert_int_equal(waitpid(pid, &status, 0), pid);
    assert_true(WIFEXITED(status));
    return WEXITSTATUS(status);
}

/* Opens as a program would after it all, and checks. */
static int64_t check_after(void)
{
    const struct store_options options = {.address = path, .readers = 1};
    struct store *store;
    struct as_error err;
    if (store_open(&options, &store, &err) != AS_OK)
        fail_msg("%s", err.message);
    const int64_t all = load_check(store);
    store_close(store);
    return all;
}

static size_t calls_of_a_whole_run(void)
{
    assert_int_equal(run(SHIM_NONE, 0, 1), 0);
    assert_int_equal(load_acknowledged(), TRANSACTIONS);
    assert_int_equal(check_after(), TRANSACTIONS);
    assert_true(load_shared->calls > 400);
    return load_shared->calls;
}

static void cut_many(enum shim_fault fault)
{
    struct rng rng;
    const size_t calls = calls_of_a_whole_run();
    int64_t seen = 0;
    rng_init(&rng, 17, (uint64_t)fault);
    for (int i = 0; i < cuts; i++) {
        assert_int_equal(run(fault, 1 + rng_below(&rng, calls), rng_u64(&rng)), SHIM_STATUS);
        const int64_t acknowledged = load_acknowledged(), kept = check_after();
        /* The one under way may be there or not; nothing else was begun. */
        assert_in_range(kept, acknowledged, acknowledged + 1);
        seen += acknowledged;
    }
    assert_true(seen > cuts);
}

static void test_power_cuts_lose_nothing_acknowledged(void **state)
{
    (void)state;
    cut_many(SHIM_CUT_CLEAN);
}

static void test_power_cuts_that_keep_some_sectors_lose_nothing_acknowledged(void **state)
{
    (void)state;
    cut_many(SHIM_CUT_TORN);
}

/* Whatever the kernel holds afterwards is not known: the process ends, and its end says so. */
static void test_a_failed_sync_ends_the_process(void **state)
{
    struct rng rng;
    const size_t calls = calls_of_a_whole_run();
    (void)state;
    rng_init(&rng, 23, 0);
    for (int i = 0; i < cuts / 2; i++) {
        const int status = run(SHIM_SYNC_FAILS, 1 + rng_below(&rng, calls * 9 / 10), 1);
        assert_int_equal(status, status_exit_code(AS_E_IO));
        assert_int_equal(load_shared->refused, 0);
        assert_true(load_acknowledged() < TRANSACTIONS);
        (void)check_after();
    }
}

/* Refusals with a sentence while it lasts, all of it afterwards, and nothing lost in between. */
static void refuse_many(enum shim_fault fault)
{
    struct rng rng;
    const size_t calls = calls_of_a_whole_run();
    int64_t refused = 0;
    rng_init(&rng, 29, (uint64_t)fault);
    for (int i = 0; i < cuts / 2; i++) {
        assert_int_equal(run(fault, 1 + rng_below(&rng, calls * 9 / 10), 1), 0);
        refused += load_shared->refused;
        assert_int_equal(load_acknowledged(), TRANSACTIONS);
        assert_int_equal(check_after(), TRANSACTIONS);
    }
    assert_true(refused > 0);
}

static void test_a_full_disk_refuses_and_loses_nothing(void **state)
{
    (void)state;
    refuse_many(SHIM_DISK_FULL);
}

static void test_a_write_that_fails_is_refused_and_can_be_tried_again(void **state)
{
    (void)state;
    refuse_many(SHIM_WRITE_FAILS);
}

static int set_up(void **state)
{
    (void)state;
    /* The losing is done here: what the machine's disk takes for a sync does not matter. */
    if (access("/dev/shm", W_OK) == 0)
        setenv("TMPDIR", "/dev/shm", 1);
    temp_dir_make(&dir);
    temp_dir_join(&dir, "base.db", base);
    temp_dir_join(&dir, "store.db", path);
    load_share();
    load_make(base);
    return 0;
}

static int tear_down(void **state)
{
    (void)state;
    temp_dir_remove(&dir);
    return 0;
}

int main(int argc, char **argv)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_power_cuts_lose_nothing_acknowledged),
        cmocka_unit_test(test_power_cuts_that_keep_some_sectors_lose_nothing_acknowledged),
        cmocka_unit_test(test_a_failed_sync_ends_the_process),
        cmocka_unit_test(test_a_full_disk_refuses_and_loses_nothing),
        cmocka_unit_test(test_a_write_that_fails_is_refused_and_can_be_tried_again),
    };
    if (argc > 1)
        cuts = (int)strtol(argv[1], NULL, 10);
    return cmocka_run_group_tests(tests, set_up, tear_down);
}
