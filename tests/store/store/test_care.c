/* SPDX-License-Identifier: Apache-2.0 */
/* Backup, restore, retention. */
#include "seed.h"

#include <pthread.h>
#include <stdatomic.h>

static void assert_same_rows(struct both *a, struct both *b)
{
    AS_AUTO_STRBUF struct strbuf one, two;
    strbuf_init(&one, 0);
    strbuf_init(&two, 0);
    dump(a, &one);
    dump(b, &two);
    assert_true(one.len > 5000);
    assert_string_equal(strbuf_text(&one), strbuf_text(&two));
}

static void backup_and_restore(struct both *both, struct both *to)
{
    char backup[PATH_MAX];
    temp_dir_join(&both->dir, "backup", backup);
    if (store_backup(both->store, backup, &both->err) != AS_OK)
        fail_msg("%s", both->err.message);
    assert_int_equal(store_backup(both->store, backup, &both->err), AS_E_EXISTS);
    const struct store_options options = {.address = to->address, .create = true};
    if (store_restore(&options, backup, &to->err) != AS_OK)
        fail_msg("%s", to->err.message);
    assert_int_equal(store_restore(&options, backup, &to->err), AS_E_EXISTS);
    both_open(to);
    assert_int_equal(store_check(to->store, &to->err), AS_OK);
    assert_same_rows(both, to);
}

static void restore_into(struct both *both, enum store_kind kind)
{
    void *state = kind == STORE_SQLITE ? both_sqlite : both_postgres;
    seed(both, 5);
    both_set_up(&state);
    struct both *to = state;
    backup_and_restore(both, to);
    /* What is added there gets keys of its own. */
    struct store_tx *tx = both_write(to);
    must(tx, store_exec(tx, "INSERT INTO tenants (tenant_code, name, created_ns, updated_ns) VALUES ('new', 'New', 0, 0)", NULL, 0, NULL));
    both_commit(to, tx);
    both_tear_down(&state);
}

static void test_restores_into_a_file(void **state)
{
    restore_into(both_begin(state), STORE_SQLITE);
}

static void test_restores_into_a_server(void **state)
{
    struct both *both = both_begin(state);
    if (!getenv("ASSAY_TEST_POSTGRES"))
        skip();
    restore_into(both, STORE_POSTGRESQL);
}

static void test_a_damaged_backup_is_refused(void **state)
{
    struct both *both = both_begin(state);
    char backup[PATH_MAX], target[PATH_MAX];
    seed(both, 5);
    temp_dir_join(&both->dir, "backup", backup);
    temp_dir_join(&both->dir, "target", target);
    assert_int_equal(store_backup(both->store, backup, &both->err), AS_OK);
    FILE *file = fopen(backup, "r+");
    for (long page = 4096; page < 40960; page += 512) {
        fseek(file, page, SEEK_SET);
        fputs("damaged damaged damaged", file);
    }
    fclose(file);
    const struct store_options options = {.address = target, .create = true};
    assert_int_not_equal(store_restore(&options, backup, &both->err), AS_OK);
    assert_int_not_equal(access(target, F_OK), 0);
}

/* ---- backup under load ---- */

struct writer {
    struct both *both;
    atomic_bool must_stop;
    int written;
};

static void *write_steadily(void *context)
{
    struct writer *writer = context;
    while (!atomic_load(&writer->must_stop)) {
        struct store_tx *tx = both_write(writer->both);
        /* Two rows belong together. */
        for (int half = 0; half < 2; half++)
            must(tx, store_exec(tx, "INSERT INTO settings (setting, value, updated_ns) VALUES (?1, ?2, ?3)",
                                PARAMS(store_text_n((char[]){(char)('a' + half), '_', (char)('a' + writer->written / 676 % 26), (char)('a' + writer->written / 26 % 26),
                                                             (char)('a' + writer->written % 26), '\0'}, 5),
                                       store_text("0123456789012345678901234567890123456789"), store_int(writer->written)), NULL));
        both_commit(writer->both, tx);
        writer->written++;
    }
    return NULL;
}

static void test_a_backup_under_load_is_of_one_moment(void **state)
{
    struct both *both = both_begin(state);
    char backup[PATH_MAX];
    pthread_t thread;
    struct writer writer = {.both = both};
    seed(both, 5);
    temp_dir_join(&both->dir, "backup", backup);
    assert_int_equal(pthread_create(&thread, NULL, write_steadily, &writer), 0);
    const as_status status = store_backup(both->store, backup, &both->err);
    atomic_store(&writer.must_stop, true);
    pthread_join(thread, NULL);
    assert_int_equal(status, AS_OK);
    struct both copy = {.kind = STORE_SQLITE};
    snprintf(copy.address, sizeof copy.address, "%s", backup);
    both_open(&copy);
    assert_int_equal(store_check(copy.store, &copy.err), AS_OK);
    struct store_tx *tx = both_read(&copy);
    const int64_t rows = number_of(tx, "SELECT count(*) FROM settings", NULL, 0);
    assert_int_equal(rows % 2, 0);
    assert_int_equal(number_of(tx, "SELECT coalesce(max(updated_ns) + 1, 0) FROM settings", NULL, 0), rows / 2);
    store_rollback(tx);
    both_close(&copy);
}

static void test_retention_drops_raw_and_no_figure(void **state)
{
    struct both *both = both_begin(state);
    int64_t chunks = -1;
    seed(both, 5);
    assert_int_equal(store_telemetry_prepare(both->store, INT64_C(1796000040000000000), &both->err), AS_OK);
    assert_int_equal(store_telemetry_retain(both->store, INT64_C(60000000000), &chunks, &both->err), AS_OK);
    assert_int_equal(chunks, 0);
    struct store_tx *tx = both_read(both);
    assert_int_equal(number_of(tx, "SELECT count(*) FROM telemetry_gpu_chunks", NULL, 0), 2);
    store_rollback(tx);
    assert_int_equal(store_telemetry_retain(both->store, INT64_C(1796000040000000000), &chunks, &both->err), AS_OK);
    tx = both_read(both);
    assert_int_equal(number_of(tx, "SELECT count(*) FROM telemetry_gpu_chunks", NULL, 0), 1);
    assert_int_equal(number_of(tx, "SELECT minute_ns FROM telemetry_gpu_chunks", NULL, 0), INT64_C(1796000040000000000));
    assert_int_equal(number_of(tx, "SELECT count(*) FROM telemetry_gpu_rollups", NULL, 0), 2);
    store_rollback(tx);
    assert_int_equal(store_telemetry_retain(both->store, INT64_MAX / 2, &chunks, &both->err), AS_OK);
    tx = both_read(both);
    assert_int_equal(number_of(tx, "SELECT count(*) FROM telemetry_gpu_chunks", NULL, 0), 0);
    assert_int_equal(number_of(tx, "SELECT sample_count FROM v_telemetry_job_summary", NULL, 0), 10);
    store_rollback(tx);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        BOTH(test_restores_into_a_file),
        BOTH(test_restores_into_a_server),
        BOTH(test_a_damaged_backup_is_refused),
        BOTH(test_a_backup_under_load_is_of_one_moment),
        BOTH(test_retention_drops_raw_and_no_figure),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
