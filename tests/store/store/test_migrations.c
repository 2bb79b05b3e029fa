/* SPDX-License-Identifier: Apache-2.0 */
/* From each earlier version with data in it; newer and foreign stores; a migration that is cut off. */
#include "seed.h"

#include "store/migrate.h"
#include "store/schema.h"

static void open_version(struct both *both, uint32_t version)
{
    const struct store_options options = {.address = both->address, .create = true};
    both_close(both);
    if (store_open_at(&options, version, &both->store, &both->err) != AS_OK)
        fail_msg("%s", both->err.message);
    assert_int_equal(store_version(both->store), version);
}

/* An empty database again. */
static void start_over(struct both *both)
{
    both_close(both);
    if (both->kind == STORE_SQLITE) {
        unlink(both->address);
        return;
    }
    char sql[128];
    snprintf(sql, sizeof sql, "DROP DATABASE %s WITH (FORCE)", both->database);
    both_on_server(sql);
    snprintf(sql, sizeof sql, "CREATE DATABASE %s", both->database);
    both_on_server(sql);
}

/* Every line of `before` stands in `after`. */
static void assert_lines_kept(const char *before, const char *after)
{
    for (const char *line = before; *line;) {
        const size_t len = strcspn(line, "\n") + 1;
        if (!memmem(after, strlen(after), line, len))
            fail_msg("lost: %.*s", (int)len, line);
        line += len;
    }
}

static void test_every_earlier_version_keeps_its_data(void **state)
{
    struct both *both = both_begin(state);
    for (uint32_t version = 1; version <= store_migration_count; version++) {
        AS_AUTO_STRBUF struct strbuf before, after;
        strbuf_init(&before, 0);
        strbuf_init(&after, 0);
        start_over(both);
        open_version(both, version);
        seed(both, version);
        dump(both, &before);
        assert_true(before.len > 1000);
        both_close(both);
        both_open(both);
        assert_int_equal(store_version(both->store), store_migration_count);
        dump(both, &after);
        assert_lines_kept(strbuf_text(&before), strbuf_text(&after));
        assert_int_equal(store_check(both->store, &both->err), AS_OK);
    }
}

static void test_a_newer_store_is_refused_untouched(void **state)
{
    struct both *both = both_begin(state);
    AS_AUTO_STRBUF struct strbuf before, after;
    strbuf_init(&before, 0);
    strbuf_init(&after, 0);
    seed(both, store_migration_count);
    dump(both, &before);
    struct store_tx *tx = both_write(both);
    must(tx, store_exec(tx, "INSERT INTO schema_migrations (number, name, digest, applied_ns) VALUES (99, 'future', 'x', 0)", NULL, 0, NULL));
    both_commit(both, tx);
    both_close(both);
    const struct store_options options = {.address = both->address};
    struct store *store = NULL;
    assert_int_equal(store_open(&options, &store, &both->err), AS_E_UNSUPPORTED);
    assert_null(store);
    assert_non_null(strstr(both->err.message, "99"));
    if (both->kind == STORE_POSTGRESQL)
        return;
    const struct store_options again = {.address = both->address};
    assert_int_equal(store_open_at(&again, 0, &store, &both->err), AS_E_UNSUPPORTED);
}

static void test_a_changed_migration_is_refused(void **state)
{
    struct both *both = both_begin(state);
    struct store_tx *tx = both_write(both);
    must(tx, store_exec(tx, "UPDATE schema_migrations SET digest = 'other' WHERE number = 2", NULL, 0, NULL));
    both_commit(both, tx);
    both_close(both);
    const struct store_options options = {.address = both->address};
    assert_int_equal(store_open(&options, &both->store, &both->err), AS_E_UNSUPPORTED);
    assert_non_null(strstr(both->err.message, "migration 2"));
}

static void test_an_older_store_can_be_refused(void **state)
{
    struct both *both = both_begin(state);
    start_over(both);
    open_version(both, 3);
    both_close(both);
    const struct store_options options = {.address = both->address, .without_migration = true};
    assert_int_equal(store_open(&options, &both->store, &both->err), AS_E_STATE);
    both_open(both);
}

/* A step that fails leaves nothing of itself, and can be made good. */
static void test_a_failed_migration_leaves_nothing(void **state)
{
    struct both *both = both_begin(state);
    start_over(both);
    open_version(both, 2);
    seed(both, 2);
    struct store_tx *tx = both_write(both);
    must(tx, store_exec(tx, "CREATE TABLE telemetry_external (id integer)", NULL, 0, NULL)); /* in the way of the third */
    both_commit(both, tx);
    both_close(both);
    const struct store_options options = {.address = both->address};
    struct store *store = NULL;
    assert_int_equal(store_open(&options, &store, &both->err), AS_E_INVALID);
    assert_non_null(strstr(both->err.message, "migration 3"));
    open_version(both, 2);
    tx = both_read(both);
    assert_int_equal(number_of(tx, "SELECT max(number) FROM schema_migrations", NULL, 0), 2);
    struct store_rows *rows;
    assert_int_equal(store_query(tx, "SELECT 1 FROM telemetry_batches", NULL, 0, &rows), AS_E_INVALID);
    store_rollback(tx);
    tx = both_write(both);
    must(tx, store_exec(tx, "DROP TABLE telemetry_external", NULL, 0, NULL));
    both_commit(both, tx);
    both_close(both);
    both_open(both);
    assert_int_equal(store_version(both->store), store_migration_count);
}

static void test_other_files_are_refused(void **state)
{
    (void)state;
    TEMP_DIR_AUTO struct temp_dir dir;
    char path[PATH_MAX];
    struct store *store = NULL;
    struct as_error err;
    temp_dir_make(&dir);
    temp_dir_join(&dir, "other", path);
    const struct store_options options = {.address = path};
    assert_int_equal(store_open(&options, &store, &err), AS_E_NOTFOUND);
    FILE *file = fopen(path, "w");
    for (int i = 0; i < 1000; i++)
        fputs("this is no database\n", file);
    fclose(file);
    assert_int_equal(store_open(&options, &store, &err), AS_E_IO);
    assert_null(store);
}

static void test_one_process_serves_a_file(void **state)
{
    struct both *both = both_begin(state);
    const struct store_options options = {.address = both->address};
    struct store *second = NULL;
    char pid[32];
    assert_int_equal(store_open(&options, &second, &both->err), AS_E_STATE);
    snprintf(pid, sizeof pid, "process %ld:", (long)getpid());
    assert_non_null(strstr(both->err.message, pid));
    both_close(both);
    both_open(both);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        BOTH(test_every_earlier_version_keeps_its_data),
        BOTH(test_a_newer_store_is_refused_untouched),
        BOTH(test_a_changed_migration_is_refused),
        BOTH(test_an_older_store_can_be_refused),
        BOTH(test_a_failed_migration_leaves_nothing),
        cmocka_unit_test(test_other_files_are_refused),
        {"test_one_process_serves_a_file", test_one_process_serves_a_file, both_set_up, both_tear_down, both_sqlite},
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
