/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A process that writes from several threads, killed at any time: what was acknowledged is there, each transaction is whole or
 * absent, and the store opens at once. The argument is how many kills [15].
 */
#include "store/store/both.h"

#include "load.h"

#include "base/clock.h"
#include "base/rng.h"

#define OPEN_MAX_NS (1 * NS_PER_S)

static int kills = 15;

struct writer {
    struct store *store;
    int64_t thread;
};

static void *write_on(void *context)
{
    const struct writer *writer = context;
    struct as_error err;
    for (int64_t number = load_shared->acknowledged[writer->thread] + 1; number <= LOAD_MOST; number++) {
        struct load_work work = {writer->thread, number};
        const struct store_group_work group = {load_write, &work, number % 5 ? STORE_NOW : STORE_SOON, 10};
        as_status status = store_group(writer->store, &group, &err);
        /* The one that was under way when the last process was killed may be there. */
        if (status != AS_OK && status != AS_E_EXISTS)
            _exit(98);
        load_shared->acknowledged[writer->thread] = number;
    }
    pause();
    return NULL;
}

static void child(const char *address)
{
    const struct store_options options = {.address = address};
    struct writer writers[LOAD_THREADS];
    pthread_t threads[LOAD_THREADS];
    struct store *store;
    struct as_error err;
    if (store_open(&options, &store, &err) != AS_OK)
        _exit(97);
    for (int64_t i = 0; i < LOAD_THREADS; i++) {
        writers[i] = (struct writer){store, i};
        if (pthread_create(&threads[i], NULL, write_on, &writers[i]) != 0)
            _exit(96);
    }
    load_shared->is_running = true;
    pause();
    _exit(95);
}

/* Kills it once this many more are acknowledged. */
static void run_and_kill(const char *address, int64_t more)
{
    int status;
    const int64_t until = load_acknowledged() + more;
    load_shared->is_running = false;
    fflush(NULL);
    const pid_t pid = fork();
    assert_true(pid >= 0);
    if (pid == 0)
        child(address);
    while (!load_shared->is_running || load_acknowledged() < until) {
        assert_int_equal(waitpid(pid, &status, WNOHANG), 0);
        mono_sleep_until(mono_add_ns(mono_now(), 100000));
    }
    assert_int_equal(kill(pid, SIGKILL), 0);
    assert_int_equal(waitpid(pid, &status, 0), pid);
    assert_true(WIFSIGNALED(status));
}

static void test_kills_lose_nothing_acknowledged(void **state)
{
    struct both *both = both_begin(state);
    struct rng rng;
    both_close(both);
    if (!load_shared)
        load_share();
    load_forget();
    load_make(both->address);
    rng_init(&rng, 31, 0);
    for (int i = 0; i < kills; i++) {
        run_and_kill(both->address, (int64_t)rng_below(&rng, 60));
        const struct mono begun = mono_now();
        both_open(both);
        const int64_t took_ns = mono_diff_ns(mono_now(), begun);
        const int64_t acknowledged = load_acknowledged(), kept = load_check(both->store);
        assert_in_range(kept, acknowledged, acknowledged + LOAD_THREADS);
        assert_in_range(took_ns, 0, OPEN_MAX_NS);
        both_close(both);
    }
    assert_true(load_acknowledged() > kills);
}

int main(int argc, char **argv)
{
    const struct CMUnitTest tests[] = {BOTH(test_kills_lose_nothing_acknowledged)};
    if (argc > 1)
        kills = (int)strtol(argv[1], NULL, 10);
    return cmocka_run_group_tests(tests, NULL, NULL);
}
