/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Connections to PostgreSQL that are cut while transactions run and commit. A commit whose outcome nobody told is looked up by its
 * key; in the end each transaction is there once. The argument is how many cuts [60].
 */
#include "store/store/both.h"

#include "load.h"

#include "base/clock.h"

#define CUT_GAP_NS (3 * NS_PER_MS)

static int cuts = 60;
static _Atomic bool is_over;
static _Atomic int64_t done;

static bool is_there(struct store *store, const struct load_work *work)
{
    struct store_tx *tx;
    struct as_error err;
    char sql[160];
    snprintf(sql, sizeof sql, "SELECT count(*) FROM settings WHERE setting = 't%" PRId64 ".n%06" PRId64 ".p0'", work->thread, work->number);
    for (;;) {
        struct store_rows *rows;
        if (store_read(store, &tx, &err) != AS_OK)
            continue;
        const bool is_asked = store_query(tx, sql, NULL, 0, &rows) == AS_OK;
        const bool is_found = is_asked && store_next(rows) && store_get_int(rows, 0) == 1;
        if (is_asked)
            store_rows_free(rows);
        store_rollback(tx);
        if (is_asked)
            return is_found;
    }
}

/* As a client of the store does it: known failures are tried again, unknown outcomes are looked up. */
static void *write_on(void *context)
{
    struct store *store = context;
    static _Atomic int64_t next_thread;
    struct load_work work = {.thread = atomic_fetch_add(&next_thread, 1) % LOAD_THREADS, .number = 1};
    struct as_error err;
    while (!is_over && work.number <= LOAD_MOST) {
        struct store_tx *tx;
        as_status status = store_write(store, &tx, &err);
        if (status == AS_OK) {
            status = load_write(tx, &work, &err);
            if (status == AS_OK)
                status = store_commit(tx, &err);
            else
                store_rollback(tx);
        }
        if (status == AS_E_INTERRUPTED) {
            load_shared->unknown++;
            status = is_there(store, &work) ? AS_OK : AS_E_NETWORK;
        }
        if (status == AS_OK) {
            load_shared->acknowledged[work.thread] = work.number++;
            done++;
        } else if (status == AS_E_NETWORK || status == AS_E_TIMEOUT || status == AS_E_IO) {
            load_shared->refused++;
        } else {
            fprintf(stderr, "%s: %s\n", status_name(status), err.message);
            abort();
        }
    }
    return NULL;
}

static void exec(PGconn *conn, const char *sql)
{
    PGresult *result = PQexec(conn, sql);
    const ExecStatusType type = PQresultStatus(result);
    if (type != PGRES_COMMAND_OK && type != PGRES_TUPLES_OK)
        fail_msg("%s: %s", sql, PQerrorMessage(conn));
    PQclear(result);
}

/* Of this test's database; those that commit at the moment, when there are some. */
static void cut_one(PGconn *conn, const struct both *both)
{
    char sql[400];
    snprintf(sql, sizeof sql,
             "SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE datname = '%s' AND application_name = 'assay' AND pid <> "
             "pg_backend_pid() ORDER BY (query = 'COMMIT' AND state = 'active') DESC, random() LIMIT 1",
             both->database);
    exec(conn, sql);
}

static void run(struct both *both, PGconn *conn)
{
    pthread_t threads[LOAD_THREADS];
    is_over = false;
    for (size_t i = 0; i < LOAD_THREADS; i++)
        assert_int_equal(pthread_create(&threads[i], NULL, write_on, both->store), 0);
    for (int i = 0; i < cuts; i++) {
        /* Each cut comes while work is being done. */
        const int64_t before = done;
        while (done < before + 2)
            mono_sleep_until(mono_add_ns(mono_now(), CUT_GAP_NS / 10));
        mono_sleep_until(mono_add_ns(mono_now(), i % 7 * CUT_GAP_NS / 7));
        cut_one(conn, both);
    }
    is_over = true;
    for (size_t i = 0; i < LOAD_THREADS; i++)
        pthread_join(threads[i], NULL);
}

static void test_cut_connections_lose_and_double_nothing(void **state)
{
    struct both *both = both_begin(state);
    both_close(both);
    load_share();
    load_make(both->address);
    both_open(both);
    PGconn *conn = PQconnectdb(both->address);
    assert_int_equal(PQstatus(conn), CONNECTION_OK);
    /* Commits that take a while, so that some are cut: a check that waits until then. */
    exec(conn, "CREATE FUNCTION load_wait() RETURNS trigger LANGUAGE plpgsql AS 'BEGIN PERFORM pg_sleep(0.002); RETURN NULL; END'");
    exec(conn, "CREATE CONSTRAINT TRIGGER load_wait AFTER INSERT ON settings DEFERRABLE INITIALLY DEFERRED FOR EACH ROW EXECUTE FUNCTION "
               "load_wait()");
    run(both, conn);
    PQfinish(conn);
    assert_int_equal(load_check(both->store), load_acknowledged());
    assert_true(load_shared->unknown > 0);
    print_message("%" PRId64 " transactions, %" PRId64 " unknown outcomes, %" PRId64 " known failures\n", load_acknowledged(),
                  load_shared->unknown, load_shared->refused);
}

/* Cuts whoever waits for a standby, until it is ended; from another process, for this thread waits in COMMIT. */
static pid_t start_cutter(const struct both *both)
{
    fflush(NULL);
    const pid_t pid = fork();
    if (pid != 0)
        return pid;
    PGconn *own = PQconnectdb(both->address);
    for (;;) {
        PQclear(PQexec(own, "SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE wait_event = 'SyncRep'"));
        mono_sleep_until(mono_add_ns(mono_now(), 5 * NS_PER_MS));
    }
}

/* The server has committed, waits for a standby that is not there, and the connection is cut: the row is there. */
static void test_a_commit_whose_answer_was_lost_is_found_by_its_key(void **state)
{
    struct both *both = both_begin(state);
    struct load_work work = {.thread = 1};
    as_status status = AS_OK;
    both_close(both);
    if (!load_shared)
        load_share();
    load_make(both->address);
    both_open(both);
    PGconn *conn = PQconnectdb(both->address);
    const pid_t cutter = start_cutter(both);
    exec(conn, "ALTER SYSTEM SET synchronous_standby_names = 'nobody'");
    exec(conn, "SELECT pg_reload_conf()");
    /* It takes a moment until commits wait. */
    for (int i = 0; i < 200 && status == AS_OK; i++) {
        struct store_tx *tx = both_write(both);
        work.number++;
        must(tx, load_write(tx, &work, &both->err));
        status = store_commit(tx, &both->err);
        mono_sleep_until(mono_add_ns(mono_now(), 10 * NS_PER_MS));
    }
    int ended;
    kill(cutter, SIGKILL);
    waitpid(cutter, &ended, 0);
    exec(conn, "ALTER SYSTEM RESET synchronous_standby_names");
    exec(conn, "SELECT pg_reload_conf()");
    PQfinish(conn);
    assert_int_equal(status, AS_E_INTERRUPTED);
    assert_true(is_there(both->store, &work));
}

int main(int argc, char **argv)
{
    const struct CMUnitTest tests[] = {
        {"test_cut_connections_lose_and_double_nothing", test_cut_connections_lose_and_double_nothing, both_set_up, both_tear_down, both_postgres},
        {"test_a_commit_whose_answer_was_lost_is_found_by_its_key", test_a_commit_whose_answer_was_lost_is_found_by_its_key, both_set_up,
         both_tear_down, both_postgres},
    };
    (void)both_sqlite;
    if (argc > 1)
        cuts = (int)strtol(argv[1], NULL, 10);
    return cmocka_run_group_tests(tests, NULL, NULL);
}
