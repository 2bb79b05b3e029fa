/* SPDX-License-Identifier: Apache-2.0 */
#include "plane/seed.h"

#include "base/clock.h"
#include "base/file.h"
#include "plane/first.h"
#include "plane/seed_rows.h"

#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#define PATH_BYTES 4096
#define FILE_BYTES ((size_t)64 * 1024 * 1024)
#define SETTING    "catalogue_digest"

static const char *const FILES[] = {"models.json", "gpus.json", "frameworks.json", "engine_args.json",
                                    "templates.json"};
enum { FILE_FRAMEWORKS = 2, FILE_TEMPLATES = 4, FILE_COUNT = 5 };

static bool is_folder(const char *path)
{
    struct stat about;
    return stat(path, &about) == 0 && S_ISDIR(about.st_mode);
}

bool seed_folder(const struct plane_settings *settings, char *ret, size_t size)
{
    /* Installed: libexec/assay beside share/assay; built: libexec/assay in the build folder of the source. */
    static const char *const places[] = {"../../share/assay/data/recipes", "../../../../data/recipes",
                                         "../../../data/recipes"};
    char self[PATH_BYTES], folder[PATH_BYTES];
    if (settings->data_folder)
        return snprintf(ret, size, "%s/recipes", settings->data_folder) < (int)size && is_folder(ret);
    ssize_t len = readlink("/proc/self/exe", self, sizeof self - 1);
    if (len <= 0)
        return false;
    self[len] = '\0';
    if (!path_dir(folder, sizeof folder, self))
        return false;
    for (size_t i = 0; i < sizeof places / sizeof places[0]; i++)
        if (snprintf(ret, size, "%s/%s", folder, places[i]) < (int)size && is_folder(ret))
            return true;
    return false;
}

/* ---- rows ---- */

static void add_values(struct sql *sql, const struct seed_row *row)
{
    const char *separator = "";
    if (row->has_tenant) {
        sql_tenant(sql);
        separator = ", ";
    }
    for (size_t i = 0; row->columns[i]; i++, separator = ", ") {
        sql_add(sql, "%s", separator);
        sql_value(sql, row->values[i]);
    }
}

static as_status insert(struct plane_call *call, const struct seed_row *row, int64_t *ret_id)
{
    struct sql sql AS_AUTO_SQL = {.count = 0};
    sql_begin(&sql, call);
    sql.is_scoped = true; /* the catalogue is written by its own tenant */
    sql_add(&sql, "INSERT INTO %s (%s", row->table, row->has_tenant ? "tenant_id, " : "");
    for (size_t i = 0; row->columns[i]; i++)
        sql_add(&sql, "%s%s", i ? ", " : "", row->columns[i]);
    sql_add(&sql, "%s) VALUES (", row->has_life ? ", created_ns, updated_ns" : "");
    add_values(&sql, row);
    for (int i = 0; row->has_life && i < 2; i++) {
        sql_add(&sql, ", ");
        sql_value(&sql, store_int(call->now_ns));
    }
    sql_add(&sql, ") ON CONFLICT DO NOTHING RETURNING id");
    return sql_one_int(&sql, call, ret_id);
}

static as_status find(struct plane_call *call, const struct seed_row *row, int64_t *ret_id)
{
    struct sql sql AS_AUTO_SQL = {.count = 0};
    sql_begin(&sql, call);
    sql.is_scoped = true;
    sql_add(&sql, "SELECT t.id FROM %s t WHERE ", row->table);
    if (row->has_tenant)
        sql_own(&sql, "t");
    for (size_t i = 0; i < row->keys; i++) {
        const bool folds = strcmp(row->columns[i], "model_code") == 0;
        sql_add(&sql, "%s%s", i || row->has_tenant ? " AND " : "", folds ? "lower(t.model_code) = lower(" : "");
        if (!folds)
            sql_add(&sql, "t.%s = (", row->columns[i]);
        sql_value(&sql, row->values[i]);
        sql_add(&sql, ")");
    }
    return sql_one_int(&sql, call, ret_id);
}

/* At a first start nearly every row is new: it is written before it is looked for. */
as_status seed_row(struct plane_call *call, const struct seed_row *row, int64_t *ret_id, bool *ret_is_new)
{
    as_status status = insert(call, row, ret_id);
    *ret_is_new = status == AS_OK;
    return status == AS_E_NOTFOUND ? find(call, row, ret_id) : status;
}

void seed_batch_begin(struct seed_batch *batch, struct plane_call *call, const char *table, const char *const *columns)
{
    *batch = (struct seed_batch){.call = call, .table = table, .columns = columns};
    while (columns[batch->width])
        batch->width++;
    sql_begin(&batch->sql, call);
}

static as_status flush(struct seed_batch *batch)
{
    if (!batch->rows)
        return AS_OK;
    sql_add(&batch->sql, " ON CONFLICT DO NOTHING");
    as_status status = sql_exec(&batch->sql, batch->call, NULL);
    sql_done(&batch->sql);
    sql_begin(&batch->sql, batch->call);
    batch->rows = 0;
    return status;
}

as_status seed_batch_add(struct seed_batch *batch, const struct store_value *values)
{
    if (batch->rows == 0) {
        batch->sql.is_scoped = true;
        sql_add(&batch->sql, "INSERT INTO %s (", batch->table);
        for (size_t i = 0; i < batch->width; i++)
            sql_add(&batch->sql, "%s%s", i ? ", " : "", batch->columns[i]);
        sql_add(&batch->sql, ") VALUES ");
    }
    for (size_t i = 0; i < batch->width; i++) {
        sql_add(&batch->sql, "%s", i ? ", " : batch->rows ? ", (" : "(");
        sql_value(&batch->sql, values[i]);
    }
    sql_add(&batch->sql, ")");
    batch->rows++;
    return batch->sql.count + batch->width > SQL_PARAMS_MAX ? flush(batch) : AS_OK;
}

as_status seed_batch_end(struct seed_batch *batch, as_status status)
{
    if (status == AS_OK)
        status = flush(batch);
    sql_done(&batch->sql);
    return status;
}

const char *seed_list(struct plane_call *call, const struct recipe_list *list)
{
    struct strbuf text AS_AUTO_STRBUF = {.len = 0};
    struct json_writer writer;
    strbuf_init(&text, 0);
    json_writer_init(&writer, &text, 0);
    json_open_array(&writer);
    for (size_t i = 0; i < list->count; i++)
        json_put_string(&writer, list->items[i]);
    json_close_array(&writer);
    return json_writer_status(&writer) == AS_OK ? arena_strdup(&call->arena, strbuf_text(&text)) : NULL;
}

const char *seed_pairs(struct plane_call *call, const struct recipe_pairs *pairs)
{
    struct strbuf text AS_AUTO_STRBUF = {.len = 0};
    struct json_writer writer;
    strbuf_init(&text, 0);
    json_writer_init(&writer, &text, 0);
    json_open_object(&writer);
    for (size_t i = 0; i < pairs->count; i++)
        json_member_string(&writer, pairs->items[i].name, pairs->items[i].value);
    json_close_object(&writer);
    return json_writer_status(&writer) == AS_OK ? arena_strdup(&call->arena, strbuf_text(&text)) : NULL;
}

/* ---- the whole ---- */

struct seeding {
    char folder[PATH_BYTES];
    struct strbuf texts[FILE_COUNT];
    char digest[SECRET_HASH_BYTES];
};

static as_status read_files(struct seeding *seeding, struct as_error *err)
{
    struct strbuf all AS_AUTO_STRBUF = {.len = 0};
    as_status status = AS_OK;
    strbuf_init(&all, 0);
    for (size_t i = 0; status == AS_OK && i < FILE_COUNT; i++) {
        char path[PATH_BYTES];
        char digest[SECRET_HASH_BYTES];
        if (!path_join(path, sizeof path, seeding->folder, FILES[i]))
            return error_set(err, AS_E_LIMIT, "the path of the recipes is too long");
        status = file_read(path, &seeding->texts[i], err);
        if (status == AS_OK)
            status = secret_hash(strbuf_text(&seeding->texts[i]), seeding->texts[i].len, digest);
        strbuf_adds(&all, digest);
    }
    return status == AS_OK ? secret_hash(strbuf_text(&all), all.len, seeding->digest) : status;
}

static as_status is_seeded(struct plane_call *call, const char *digest, bool *ret)
{
    struct store_rows *rows AS_AUTO_ROWS = NULL;
    struct sql sql AS_AUTO_SQL = {.count = 0};
    sql_begin(&sql, call);
    sql.is_scoped = true;
    sql_add(&sql, "SELECT s.value FROM settings s WHERE s.setting = '" SETTING "'");
    as_status status = sql_query(&sql, call, &rows);
    *ret = status == AS_OK && store_next(rows) && strcmp(store_get_text(rows, 0, NULL), digest) == 0;
    return status;
}

static as_status note_seeded(struct plane_call *call, const char *digest)
{
    struct sql sql AS_AUTO_SQL = {.count = 0};
    sql_begin(&sql, call);
    sql.is_scoped = true;
    sql_add(&sql, "INSERT INTO settings (setting, value, updated_ns) VALUES ('" SETTING "', ");
    sql_value(&sql, store_text(digest));
    sql_add(&sql, ", ");
    sql_value(&sql, store_int(call->now_ns));
    sql_add(&sql, ") ON CONFLICT (setting) DO UPDATE SET value = excluded.value, updated_ns = excluded.updated_ns");
    return sql_exec(&sql, call, NULL);
}

static as_status parse_file(struct plane_call *call, const struct strbuf *text, const struct json_value **ret)
{
    return json_parse(strbuf_text(text), text->len, NULL, &call->arena, ret, NULL);
}

static as_status write_all(struct plane_call *call, struct seeding *seeding, struct as_error *err)
{
    const struct json_value *frameworks = NULL, *templates = NULL;
    struct recipe_data data = {0};
    as_status status = recipe_load(seeding->folder, &call->arena, &data, err);
    if (status == AS_OK)
        status = parse_file(call, &seeding->texts[FILE_FRAMEWORKS], &frameworks);
    if (status == AS_OK)
        status = parse_file(call, &seeding->texts[FILE_TEMPLATES], &templates);
    if (status == AS_OK)
        status = seed_models(call, &data);
    if (status == AS_OK)
        status = seed_gpus(call, &data);
    if (status == AS_OK)
        status = seed_frameworks(call, &data, frameworks);
    if (status == AS_OK)
        status = seed_sets(call, &data);
    if (status == AS_OK)
        status = seed_templates(call, templates);
    if (status == AS_OK)
        status = seed_prompt_sources(call);
    return status == AS_OK ? note_seeded(call, seeding->digest) : status;
}

static as_status seed(struct plane_call *call, struct seeding *seeding, struct as_error *err)
{
    bool is_done = false;
    as_status status = store_read(call->plane->store, &call->tx, err);
    if (status != AS_OK)
        return status;
    status = is_seeded(call, seeding->digest, &is_done);
    store_rollback(call->tx);
    if (status != AS_OK || is_done)
        return status;
    status = store_write(call->plane->store, &call->tx, err);
    if (status != AS_OK)
        return status;
    status = write_all(call, seeding, err);
    if (status == AS_OK)
        return store_commit(call->tx, err);
    if (!err->message[0])
        (void)error_set(err, status, "the catalogue could not be filled: %s; %s",
                        call->problem.is_set ? call->problem.detail : status_sentence(status),
                        store_error(call->tx)->message);
    store_rollback(call->tx);
    return status;
}

as_status seed_catalogue(struct plane *plane, struct as_error *err)
{
    struct seeding seeding = {.folder = ""};
    struct plane_call *call;
    if (!seed_folder(plane->settings, seeding.folder, sizeof seeding.folder))
        return plane->settings->data_folder
                   ? error_set(err, AS_E_NOTFOUND, "%s/recipes is no folder", plane->settings->data_folder)
                   : AS_OK;
    call = first_call_new(plane, plane->shared_tenant_id);
    if (!call)
        return error_set(err, AS_E_NOMEM, "out of memory");
    for (size_t i = 0; i < FILE_COUNT; i++)
        strbuf_init(&seeding.texts[i], FILE_BYTES);
    err->message[0] = '\0';
    as_status status = read_files(&seeding, err);
    if (status == AS_OK)
        status = seed(call, &seeding, err);
    for (size_t i = 0; i < FILE_COUNT; i++)
        strbuf_done(&seeding.texts[i]);
    plane_call_free(call);
    return status;
}
