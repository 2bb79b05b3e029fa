/* SPDX-License-Identifier: Apache-2.0 */
/* What `assay serve` does without serving. */
#include "plane/plane.h"

#include "base/file.h"
#include "plane/first.h"
#include "plane/openapi.h"
#include "plane/seed.h"
#include "recipe/diff.h"

#include <stdio.h>
#include <string.h>
#include <unistd.h>

#define PATH_BYTES   4096
#define RECIPE_BYTES ((size_t)64 * 1024 * 1024)

as_status plane_openapi(struct strbuf *out)
{
    return openapi_yaml(out);
}

as_status plane_admin_token(const struct plane_settings *settings, struct strbuf *ret_token, struct as_error *err)
{
    struct plane plane = {.settings = settings};
    as_status status = plane_open_store(settings, false, &plane.store, err);
    if (status == AS_OK)
        status = first_token(&plane, ret_token, err);
    store_close(plane.store);
    return status;
}

as_status plane_backup(const struct plane_settings *settings, const char *target, struct as_error *err)
{
    struct store *store = NULL;
    as_status status;
    if (plane_is_postgresql(settings->database))
        return error_set(err, AS_E_UNSUPPORTED, "PostgreSQL is backed up by its own tools: pg_dump -Fc");
    status = plane_open_store(settings, false, &store, err);
    if (status == AS_OK)
        status = store_backup(store, target, err);
    store_close(store);
    return status;
}

static as_status check_copy(const char *path, struct as_error *err)
{
    const struct store_options options = {.address = path, .readers = 1, .wait_ns = 10 * NS_PER_S};
    struct store *store = NULL;
    as_status status = store_open(&options, &store, err);
    if (status == AS_OK)
        status = store_check(store, err);
    store_close(store);
    return status;
}

as_status plane_restore(const struct plane_settings *settings, const char *source, struct as_error *err)
{
    const struct store_options options = {.address = source, .readers = 1, .wait_ns = 10 * NS_PER_S};
    struct store *store = NULL;
    as_status status;
    if (plane_is_postgresql(settings->database))
        return error_set(err, AS_E_UNSUPPORTED, "PostgreSQL is restored by its own tools: pg_restore");
    if (file_exists(settings->database))
        return error_set(err, AS_E_EXISTS, "%s exists; move it away first", settings->database);
    status = store_open(&options, &store, err);
    if (status == AS_OK)
        status = store_check(store, err);
    if (status == AS_OK)
        status = store_backup(store, settings->database, err);
    store_close(store);
    return status == AS_OK ? check_copy(settings->database, err) : status;
}

static as_status read_sets(const char *path, struct strbuf *text, struct arena *arena, struct recipe_data *ret,
                           struct as_error *err)
{
    as_status status = file_read(path, text, err);
    if (status != AS_OK)
        return status;
    const struct recipe_text input = {path, text->data, text->len};
    return recipe_read_sets(&input, arena, ret, err);
}

as_status plane_recipes_diff(const struct plane_settings *settings, const char *path, struct strbuf *out,
                             struct as_error *err)
{
    struct strbuf new_text AS_AUTO_STRBUF = {.len = 0};
    struct recipe_data before = {0}, after = {0};
    struct recipe_diff diff;
    struct arena arena;
    char folder[PATH_BYTES];
    if (!seed_folder(settings, folder, sizeof folder))
        return error_set(err, AS_E_NOTFOUND, "the shipped recipes are not there; give --data");
    arena_init(&arena, 0, 0);
    strbuf_init(&new_text, RECIPE_BYTES);
    as_status status = recipe_load(folder, &arena, &before, err);
    if (status == AS_OK)
        status = read_sets(path, &new_text, &arena, &after, err);
    if (status == AS_OK)
        status = recipe_diff_sets(&before, &after, &arena, &diff);
    if (status == AS_OK)
        recipe_diff_text(&diff, out);
    arena_done(&arena);
    return status;
}
