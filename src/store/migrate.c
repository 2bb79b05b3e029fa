/* SPDX-License-Identifier: Apache-2.0 */
/* Brings the schema to what this program knows: each step in a transaction of its own, none backwards. */
#include "base/clock.h"
#include "store/backend.h"
#include "store/migrate.h"
#include "store/schema.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#define EXPANDED_MAX ((size_t)4 << 20)

static const char table_sql[] = "CREATE TABLE IF NOT EXISTS schema_migrations ({key name}, number {int} PRIMARY KEY, digest {text} NOT NULL, "
                                "applied_ns {int} NOT NULL) {strict}";

struct step {
    struct store *store;
    struct schema_expander *expander;
    struct strbuf sql; /* of the migration at hand */
    char digest[20];
};

/* Two processes that open one PostgreSQL database migrate it one after the other; SQLite has one process. */
static as_status take_turn(struct store_tx *tx, struct as_error *err)
{
    if (tx->store->kind == STORE_SQLITE)
        return AS_OK;
    const as_status status = store_exec(tx, "SELECT pg_advisory_xact_lock(1095975257)", NULL, 0, NULL);
    return status == AS_OK ? AS_OK : error_set(err, status, "%s", store_error(tx)->message);
}

static as_status expand_step(struct step *step, const char *text, size_t len, struct as_error *err)
{
    strbuf_reset(&step->sql);
    const as_status status = schema_expand(step->expander, text, len, &step->sql, err);
    snprintf(step->digest, sizeof step->digest, "%016" PRIx64, schema_digest(text, len));
    return status;
}

static as_status run_statements(struct store_tx *tx, const char *sql, struct as_error *err)
{
    as_status status = AS_OK;
    size_t len;
    const char *at = sql;
    for (const char *from; status == AS_OK && (from = schema_next_statement(&at, &len));) {
        AS_AUTO_STRBUF struct strbuf statement;
        strbuf_init(&statement, 0);
        strbuf_add(&statement, from, len);
        status = strbuf_status(&statement) == AS_OK ? store_exec(tx, strbuf_text(&statement), NULL, 0, NULL)
                                                    : tx_fail(tx, AS_E_NOMEM, "out of memory for the schema");
        if (status != AS_OK)
            status = error_set(err, status, "%s (%.60s)", store_error(tx)->message, strbuf_text(&statement));
    }
    return status;
}

/* The digest that is recorded for a number, "" when it is not applied. */
static as_status applied_digest(struct store_tx *tx, int64_t number, char ret[static 20], struct as_error *err)
{
    struct store_rows *rows;
    const struct store_value params[] = {store_int(number)};
    as_status status = store_query(tx, "SELECT digest FROM schema_migrations WHERE number = ?1", params, 1, &rows);
    if (status != AS_OK)
        return error_set(err, status, "%s", store_error(tx)->message);
    ret[0] = '\0';
    if (store_next(rows))
        snprintf(ret, 20, "%s", store_get_text(rows, 0, NULL));
    status = store_rows_status(rows);
    store_rows_free(rows);
    return status;
}

static as_status newest_applied(struct store_tx *tx, int64_t *ret, struct as_error *err)
{
    struct store_rows *rows;
    as_status status = store_query(tx, "SELECT max(number) FROM schema_migrations", NULL, 0, &rows);
    if (status != AS_OK)
        return error_set(err, status, "%s", store_error(tx)->message);
    *ret = store_next(rows) ? store_get_int(rows, 0) : 0;
    status = store_rows_status(rows);
    store_rows_free(rows);
    return status;
}

static as_status apply(struct step *step, struct store_tx *tx, const struct migration *migration, struct as_error *err)
{
    as_status status = run_statements(tx, strbuf_text(&step->sql), err);
    if (status != AS_OK)
        return error_prefix(err, "migration %" PRId64 " (%s)", migration->number, migration->name);
    const struct store_value params[] = {store_int(migration->number), store_text(migration->name), store_text(step->digest),
                                         store_int(wall_now().ns)};
    status = store_exec(tx, "INSERT INTO schema_migrations (number, name, digest, applied_ns) VALUES (?1, ?2, ?3, ?4)", params, 4,
                        NULL);
    return status == AS_OK ? AS_OK : error_set(err, status, "%s", store_error(tx)->message);
}

/* In one transaction: is it applied, may it be, then does it. */
static as_status step_in(struct step *step, struct store_tx *tx, const struct migration *migration, struct as_error *err)
{
    char digest[20] = "";
    as_status status = applied_digest(tx, migration->number, digest, err);
    if (status != AS_OK)
        return status;
    if (strcmp(digest, step->digest) == 0)
        return AS_OK;
    if (digest[0])
        return error_set(err, AS_E_UNSUPPORTED, "the store's migration %" PRId64 " (%s) is not this program's: %s, expected %s",
                         migration->number, migration->name, digest, step->digest);
    if (step->store->options.without_migration)
        return error_set(err, AS_E_STATE, "the store's schema is older than this program: it lacks migration %" PRId64 " (%s)",
                         migration->number, migration->name);
    return apply(step, tx, migration, err);
}

static as_status run_step(struct step *step, const struct migration *migration, struct as_error *err)
{
    struct store_tx *tx;
    as_status status = expand_step(step, migration->text, migration->len, err);
    if (status == AS_OK)
        status = store_write(step->store, &tx, err);
    if (status != AS_OK)
        return status;
    tx->is_once = true;
    status = take_turn(tx, err);
    if (status == AS_OK)
        status = step_in(step, tx, migration, err);
    if (status == AS_OK)
        return store_commit(tx, err);
    store_rollback(tx);
    return status;
}

/* Makes the table of what is applied, and refuses what a newer program made. */
static as_status check_version(struct step *step, uint32_t known, struct as_error *err)
{
    struct store_tx *tx;
    as_status status = expand_step(step, table_sql, sizeof table_sql - 1, err);
    if (status == AS_OK)
        status = store_write(step->store, &tx, err);
    if (status != AS_OK)
        return status;
    tx->is_once = true;
    int64_t newest = 0;
    status = take_turn(tx, err);
    if (status == AS_OK)
        status = run_statements(tx, strbuf_text(&step->sql), err);
    if (status == AS_OK)
        status = newest_applied(tx, &newest, err);
    if (status == AS_OK && newest > (int64_t)known)
        status = error_set(err, AS_E_UNSUPPORTED, "the store has schema version %" PRId64 ", this program knows %u: a newer program is needed",
                           newest, known);
    if (status == AS_OK)
        return store_commit(tx, err);
    store_rollback(tx);
    return status;
}

as_status store_migrate(struct store *store, uint32_t count, struct as_error *err)
{
    struct arena arena;
    arena_init(&arena, 0, EXPANDED_MAX);
    struct schema_expander expander = {.arena = &arena, .kind = store->kind};
    struct step step = {.store = store, .expander = &expander};
    strbuf_init(&step.sql, EXPANDED_MAX);
    as_status status = check_version(&step, store_migration_count, err);
    for (uint32_t i = 0; i < count && status == AS_OK; i++) {
        status = run_step(&step, &store_migrations[i], err);
        if (status == AS_OK)
            store->version = store_migrations[i].number;
    }
    strbuf_done(&step.sql);
    arena_done(&arena);
    return status;
}
