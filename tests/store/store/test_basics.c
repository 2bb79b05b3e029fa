/* SPDX-License-Identifier: Apache-2.0 */
/* Transactions, values, errors: the same on both databases. */
#include "both.h"

#include "store/schema.h"

#include <math.h>
#include <pthread.h>

static int64_t shared_tenant(struct store_tx *tx)
{
    return number_of(tx, "SELECT id FROM tenants WHERE tenant_code = ?1", PARAMS(store_text("shared")));
}

static as_status add_project(struct store_tx *tx, const char *code)
{
    return store_exec(tx,
                      "INSERT INTO projects (tenant_id, project_code, name, created_ns, updated_ns) "
                      "VALUES ((SELECT id FROM tenants WHERE tenant_code = 'shared'), ?1, ?2, ?3, ?3)",
                      PARAMS(store_text(code), store_text("a project"), store_int(7)), NULL);
}

static int64_t count_projects(struct both *both)
{
    struct store_tx *tx = both_read(both);
    const int64_t count = number_of(tx, "SELECT count(*) FROM projects", NULL, 0);
    store_rollback(tx);
    return count;
}

static void test_opens_with_the_whole_schema(void **state)
{
    struct both *both = both_begin(state);
    assert_int_equal(store_kind(both->store), both->kind);
    assert_int_equal(store_version(both->store), store_migration_count);
    assert_int_equal(store_check(both->store, &both->err), AS_OK);
    both_close(both);
    both_open(both);
    assert_int_equal(store_version(both->store), store_migration_count);
}

static void test_commit_keeps_and_rollback_forgets(void **state)
{
    struct both *both = both_begin(state);
    struct store_tx *tx = both_write(both);
    must(tx, add_project(tx, "kept"));
    both_commit(both, tx);
    tx = both_write(both);
    must(tx, add_project(tx, "forgotten"));
    store_rollback(tx);
    assert_int_equal(count_projects(both), 1);
    both_close(both);
    both_open(both);
    assert_int_equal(count_projects(both), 1);
}

static void test_a_snapshot_does_not_move(void **state)
{
    struct both *both = both_begin(state);
    struct store_tx *reader = both_read(both);
    assert_int_equal(number_of(reader, "SELECT count(*) FROM projects", NULL, 0), 0);
    struct store_tx *tx = both_write(both);
    must(tx, add_project(tx, "later"));
    both_commit(both, tx);
    assert_int_equal(number_of(reader, "SELECT count(*) FROM projects", NULL, 0), 0);
    store_rollback(reader);
    assert_int_equal(count_projects(both), 1);
}

static void test_values_come_back_as_they_went(void **state)
{
    struct both *both = both_begin(state);
    static const char bytes[] = {'\0', '\'', '\\', '\xff', '\n', '\0'};
    struct store_tx *tx = both_write(both);
    const char *table = both->kind == STORE_SQLITE ? "CREATE TABLE v (i INTEGER, r REAL, t TEXT, b BLOB, f INTEGER)"
                                                  : "CREATE TABLE v (i bigint, r double precision, t text, b bytea, f boolean)";
    must(tx, store_exec(tx, table, NULL, 0, NULL));
    static const char insert[] = "INSERT INTO v (i, r, t, b, f) VALUES (?1, ?2, ?3, ?4, ?5)";
    must(tx, store_exec(tx, insert, PARAMS(store_null(), store_null(), store_null(), store_null(), store_null()), NULL));
    must(tx, store_exec(tx, insert, PARAMS(store_int(INT64_MIN), store_real(0.1), store_text("'; DROP TABLE v; -- ü 漢"),
                                           store_blob(bytes, sizeof bytes), store_bool(true)), NULL));
    must(tx, store_exec(tx, insert, PARAMS(store_int(INT64_MAX), store_real(-5e-324), store_text(""), store_blob("", 0), store_bool(false)), NULL));
    must(tx, store_exec(tx, insert, PARAMS(store_int(3), store_real((double)NAN), store_text_n("abc", 2), store_blob("x", 1), store_bool(false)), NULL));
    both_commit(both, tx);

    struct store_rows *rows;
    size_t len;
    tx = both_read(both);
    must(tx, store_query(tx, "SELECT i, r, t, b, f FROM v ORDER BY coalesce(i, 0), r IS NULL DESC", NULL, 0, &rows));
    assert_int_equal(store_columns(rows), 5);
    assert_string_equal(store_column_name(rows, 3), "b");
    assert_true(store_next(rows));
    assert_true(store_get_int(rows, 0) == INT64_MIN);
    assert_true(store_get_real(rows, 1) == 0.1);
    assert_string_equal(store_get_text(rows, 2, &len), "'; DROP TABLE v; -- ü 漢");
    assert_memory_equal(store_get_blob(rows, 3, &len), bytes, sizeof bytes);
    assert_int_equal(len, sizeof bytes);
    assert_true(store_get_bool(rows, 4));
    assert_true(store_next(rows));
    for (uint32_t i = 0; i < 5; i++)
        assert_true(store_is_null(rows, i));
    assert_int_equal(store_get_int(rows, 0), 0);
    assert_false(store_get_bool(rows, 4));
    assert_null(store_get_text(rows, 2, &len));
    assert_null(store_get_blob(rows, 3, &len));
    assert_true(store_next(rows));
    assert_true(store_is_null(rows, 1));
    assert_string_equal(store_get_text(rows, 2, &len), "ab");
    assert_true(store_next(rows));
    assert_true(store_get_int(rows, 0) == INT64_MAX);
    assert_true(store_get_real(rows, 1) == -5e-324);
    assert_string_equal(store_get_text(rows, 2, &len), "");
    assert_non_null(store_get_blob(rows, 3, &len));
    assert_int_equal(len, 0);
    assert_false(store_next(rows));
    assert_int_equal(store_rows_status(rows), AS_OK);
    store_rows_free(rows);
    store_rollback(tx);
}

static void test_bad_text_is_refused(void **state)
{
    struct both *both = both_begin(state);
    struct store_tx *tx = both_write(both);
    assert_int_equal(store_exec(tx, "SELECT ?1", PARAMS(store_text_n("a\0b", 3)), NULL), AS_E_INVALID);
    store_rollback(tx);
    tx = both_write(both);
    assert_int_equal(store_exec(tx, "SELECT ?1", PARAMS(store_text("\xc3(")), NULL), AS_E_INVALID);
    store_rollback(tx);
}

static as_status status_of(struct both *both, const char *sql, const struct store_value *params, uint32_t count)
{
    struct store_tx *tx = both_write(both);
    const as_status status = store_exec(tx, sql, params, count, NULL);
    if (status != AS_OK) {
        assert_int_equal(store_error(tx)->status, status);
        assert_true(store_error(tx)->message[0] != '\0');
        /* Nothing more goes, and it cannot be committed. */
        assert_int_equal(store_exec(tx, "SELECT 1", NULL, 0, NULL), status);
        assert_int_equal(store_commit(tx, &both->err), status);
    } else {
        store_rollback(tx);
    }
    return status;
}

static void test_errors_have_the_same_names(void **state)
{
    struct both *both = both_begin(state);
    struct store_tx *tx = both_write(both);
    must(tx, add_project(tx, "one"));
    const int64_t tenant = shared_tenant(tx);
    both_commit(both, tx);
    static const char insert[] = "INSERT INTO projects (tenant_id, project_code, name, created_ns, updated_ns) VALUES (?1, ?2, ?3, 0, 0)";
    assert_int_equal(status_of(both, insert, PARAMS(store_int(tenant), store_text("two"), store_text("n"))), AS_OK);
    assert_int_equal(status_of(both, insert, PARAMS(store_int(tenant), store_text("one"), store_text("n"))), AS_E_EXISTS);
    assert_int_equal(status_of(both, insert, PARAMS(store_int(99), store_text("two"), store_text("n"))), AS_E_STATE);
    assert_int_equal(status_of(both, insert, PARAMS(store_int(tenant), store_text("Two"), store_text("n"))), AS_E_STATE);
    assert_int_equal(status_of(both, insert, PARAMS(store_int(tenant), store_text("two"), store_null())), AS_E_STATE);
    assert_int_equal(status_of(both, "DELETE FROM tenants", NULL, 0), AS_E_STATE);
    assert_int_equal(status_of(both, "SELEKT 1", NULL, 0), AS_E_INVALID);
    assert_int_equal(status_of(both, "SELECT nothing FROM projects", NULL, 0), AS_E_INVALID);
    assert_int_equal(status_of(both, "SELECT 1; SELECT 2", NULL, 0), AS_E_INVALID);
    assert_int_equal(status_of(both, "SELECT id FROM projects WHERE id = ?1", NULL, 0), AS_E_INVALID);
    assert_int_equal(count_projects(both), 1);
}

static void test_a_reader_cannot_write(void **state)
{
    struct both *both = both_begin(state);
    struct store_tx *tx = both_read(both);
    assert_int_equal(add_project(tx, "x"), AS_E_STATE);
    store_rollback(tx);
    assert_int_equal(count_projects(both), 0);
}

static void test_changed_rows_are_counted(void **state)
{
    struct both *both = both_begin(state);
    int64_t changed = -1;
    struct store_tx *tx = both_write(both);
    must(tx, add_project(tx, "a"));
    must(tx, add_project(tx, "b"));
    must(tx, store_exec(tx, "UPDATE projects SET name = ?1 WHERE project_code = ?2", PARAMS(store_text("n"), store_text("none")), &changed));
    assert_int_equal(changed, 0);
    must(tx, store_exec(tx, "UPDATE projects SET name = ?1", PARAMS(store_text("n")), &changed));
    assert_int_equal(changed, 2);
    must(tx, store_exec(tx, "INSERT INTO projects (tenant_id, project_code, name, created_ns, updated_ns) "
                            "SELECT tenant_id, project_code, name, 0, 0 FROM projects WHERE project_code = 'a' ON CONFLICT DO NOTHING", NULL, 0, &changed));
    assert_int_equal(changed, 0);
    must(tx, store_exec(tx, "SELECT * FROM projects", NULL, 0, &changed));
    assert_int_equal(changed, 0);
    must(tx, store_exec(tx, "DELETE FROM projects WHERE project_code = 'a'", NULL, 0, &changed));
    assert_int_equal(changed, 1);
    struct store_rows *rows;
    must(tx, store_query(tx, "INSERT INTO projects (tenant_id, project_code, name, created_ns, updated_ns) VALUES (?1, 'r', 'r', 0, 0) "
                             "RETURNING project_code", PARAMS(store_int(shared_tenant(tx))), &rows));
    assert_true(store_next(rows));
    assert_string_equal(store_get_text(rows, 0, NULL), "r");
    assert_false(store_next(rows));
    store_rows_free(rows);
    both_commit(both, tx);
    assert_int_equal(count_projects(both), 2);
}

static void test_statements_nest(void **state)
{
    struct both *both = both_begin(state);
    struct store_tx *tx = both_write(both);
    must(tx, add_project(tx, "a"));
    must(tx, add_project(tx, "b"));
    struct store_rows *outer, *inner;
    static const char sql[] = "SELECT project_code FROM projects WHERE project_code >= ?1 ORDER BY 1";
    int pairs = 0;
    must(tx, store_query(tx, sql, PARAMS(store_text("a")), &outer));
    while (store_next(outer)) {
        must(tx, store_query(tx, sql, PARAMS(store_text(store_get_text(outer, 0, NULL))), &inner));
        while (store_next(inner))
            pairs++;
        store_rows_free(inner);
    }
    store_rows_free(outer);
    assert_int_equal(pairs, 3);
    both_commit(both, tx);
}

static void test_a_statement_takes_values_of_several_types(void **state)
{
    struct both *both = both_begin(state);
    struct store_tx *tx = both_write(both);
    static const char sql[] = "INSERT INTO model_precisions (model_id, precision_code, vram_minimum_gb, is_derived) VALUES (?1, ?2, ?3, ?4)";
    must(tx, store_exec(tx, "INSERT INTO models (tenant_id, model_code, created_ns, updated_ns) VALUES (?1, 'Org/Model', 0, 0)",
                        PARAMS(store_int(shared_tenant(tx))), NULL));
    const int64_t model = number_of(tx, "SELECT id FROM models", NULL, 0);
    must(tx, store_exec(tx, sql, PARAMS(store_int(model), store_text("fp8"), store_int(80), store_bool(true)), NULL));
    must(tx, store_exec(tx, sql, PARAMS(store_int(model), store_text("bf16"), store_real(160.5), store_bool(false)), NULL));
    must(tx, store_exec(tx, sql, PARAMS(store_int(model), store_text("int4"), store_null(), store_bool(false)), NULL));
    must(tx, store_exec(tx, sql, PARAMS(store_int(model), store_text("fp4"), store_real(40.25), store_bool(false)), NULL));
    assert_int_equal(number_of(tx, "SELECT count(*) FROM model_precisions WHERE vram_minimum_gb > ?1", PARAMS(store_int(40))), 3);
    assert_int_equal(number_of(tx, "SELECT count(*) FROM model_precisions WHERE is_derived", NULL, 0), 1);
    both_commit(both, tx);
}

static void test_codes_differ_by_more_than_case(void **state)
{
    struct both *both = both_begin(state);
    struct store_tx *tx = both_write(both);
    const int64_t tenant = shared_tenant(tx);
    must(tx, store_exec(tx, "INSERT INTO models (tenant_id, model_code, created_ns, updated_ns) VALUES (?1, 'Org/Model', 0, 0)",
                        PARAMS(store_int(tenant)), NULL));
    both_commit(both, tx);
    assert_int_equal(status_of(both, "INSERT INTO models (tenant_id, model_code, created_ns, updated_ns) VALUES (?1, 'org/MODEL', 0, 0)",
                               PARAMS(store_int(tenant))), AS_E_EXISTS);
    static const char gpu[] = "INSERT INTO gpu_classes (tenant_id, gpu_class_code, created_ns, updated_ns) VALUES (?1, ?2, 0, 0)";
    assert_int_equal(status_of(both, gpu, PARAMS(store_int(tenant), store_text("H100"))), AS_E_STATE);
    assert_int_equal(status_of(both, gpu, PARAMS(store_int(tenant), store_text("h100"))), AS_OK);
    assert_int_equal(status_of(both, gpu, PARAMS(store_int(tenant), store_text(""))), AS_E_STATE);
    assert_int_equal(status_of(both, gpu, PARAMS(store_int(tenant), store_text("h 100"))), AS_E_STATE);
    assert_int_equal(status_of(both, gpu, PARAMS(store_int(tenant), store_text("-h100"))), AS_E_STATE);
    assert_int_equal(status_of(both, gpu, PARAMS(store_int(tenant), store_text("h100\n"))), AS_E_STATE);
}

/* ---- group commit ---- */

#define GROUP_THREADS 16
#define GROUP_WORKS   25

struct worker {
    struct store *store;
    pthread_t thread;
    int number;
    int failed, done;
};

static as_status group_work(struct store_tx *tx, void *context, struct as_error *err)
{
    char code[32];
    const int *number = context;
    snprintf(code, sizeof code, "p%d", number[0]);
    const as_status status = add_project(tx, code);
    if (status != AS_OK)
        return error_set(err, status, "%s", store_error(tx)->message);
    return number[1] ? error_set(err, AS_E_LIMIT, "told to") : AS_OK;
}

static void *run_worker(void *context)
{
    struct worker *worker = context;
    for (int i = 0; i < GROUP_WORKS; i++) {
        int number[] = {worker->number * GROUP_WORKS + i, i % 5 == 4};
        struct as_error err;
        const struct store_group_work work = {group_work, number, i % 2 ? STORE_NOW : STORE_SOON, 1};
        const as_status status = store_group(worker->store, &work, &err);
        worker->done += status == AS_OK;
        worker->failed += status == AS_E_LIMIT;
    }
    return NULL;
}

static void test_works_of_a_group_fail_alone(void **state)
{
    struct both *both = both_begin(state);
    struct worker workers[GROUP_THREADS];
    for (int i = 0; i < GROUP_THREADS; i++) {
        workers[i] = (struct worker){.store = both->store, .number = i};
        assert_int_equal(pthread_create(&workers[i].thread, NULL, run_worker, &workers[i]), 0);
    }
    for (int i = 0; i < GROUP_THREADS; i++) {
        pthread_join(workers[i].thread, NULL);
        assert_int_equal(workers[i].done, GROUP_WORKS - GROUP_WORKS / 5);
        assert_int_equal(workers[i].failed, GROUP_WORKS / 5);
    }
    assert_int_equal(count_projects(both), GROUP_THREADS * (GROUP_WORKS - GROUP_WORKS / 5));
}

static void test_a_wait_has_an_end(void **state)
{
    struct both *both = both_begin(state);
    both_close(both);
    const struct store_options options = {.address = both->address, .readers = 2, .wait_ns = 50000000, .create = true};
    assert_int_equal(store_open(&options, &both->store, &both->err), AS_OK);
    struct store_tx *one = both_read(both), *two = both_read(both), *three = NULL;
    assert_int_equal(store_read(both->store, &three, &both->err), AS_E_TIMEOUT);
    assert_null(three);
    store_rollback(one);
    three = both_read(both);
    store_rollback(two);
    store_rollback(three);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        BOTH(test_opens_with_the_whole_schema),
        BOTH(test_commit_keeps_and_rollback_forgets),
        BOTH(test_a_snapshot_does_not_move),
        BOTH(test_values_come_back_as_they_went),
        BOTH(test_bad_text_is_refused),
        BOTH(test_errors_have_the_same_names),
        BOTH(test_a_reader_cannot_write),
        BOTH(test_changed_rows_are_counted),
        BOTH(test_statements_nest),
        BOTH(test_a_statement_takes_values_of_several_types),
        BOTH(test_codes_differ_by_more_than_case),
        BOTH(test_works_of_a_group_fail_alone),
        BOTH(test_a_wait_has_an_end),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
