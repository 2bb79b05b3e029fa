/* SPDX-License-Identifier: Apache-2.0 */
#include "run/rebuild.h"

#include "base/file.h"
#include "measure/writer.h"
#include "run/rescore.h"
#include "summary/run_file.h"

#include <dirent.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

static as_status no_memory(struct as_error *err)
{
    return error_set(err, AS_E_NOMEM, "out of memory");
}

static bool is_folder(const char *path)
{
    struct stat st;
    return stat(path, &st) == 0 && S_ISDIR(st.st_mode);
}

static bool holds_run(const char *path)
{
    static const char *const names[] = {RECORD_FILE, RUN_FILE_NAME};
    char file[PATH_MAX];
    for (size_t i = 0; i < sizeof names / sizeof names[0]; i++)
        if (snprintf(file, sizeof file, "%s/%s", path, names[i]) < PATH_MAX && file_exists(file))
            return true;
    return false;
}

/* The folder may be the one that holds the folders of runs. */
static as_status no_run(const char *path, struct as_error *err)
{
    DIR *folder = opendir(path);
    char below[PATH_MAX], found[NAME_MAX + 1] = "";
    for (struct dirent *entry; folder && !found[0] && (entry = readdir(folder)) != NULL;)
        if (entry->d_name[0] != '.' && snprintf(below, sizeof below, "%s/%s", path, entry->d_name) < PATH_MAX && holds_run(below))
            snprintf(found, sizeof found, "%s", entry->d_name);
    if (folder)
        closedir(folder);
    if (found[0])
        return error_set(err, AS_E_NOTFOUND, "%.200s holds the folders of runs: name one of them, for example %.200s/%.200s", path, path, found);
    return error_set(err, AS_E_NOTFOUND, "%.300s holds no run: neither " RECORD_FILE " nor " RUN_FILE_NAME " is in it", path);
}

/* Where records and run.json of an input are; *ret_folder is NULL for standard input. */
static as_status find_files(struct rebuild *rebuild, const char *path, struct rebuild_input *input, const char **ret_folder,
                            struct as_error *err)
{
    char folder[PATH_MAX];
    *ret_folder = NULL;
    if (strcmp(path, "-") == 0) {
        input->file = path;
        return AS_OK;
    }
    if (is_folder(path)) {
        *ret_folder = path;
        input->file = arena_printf(&rebuild->arena, "%s/%s", path, RECORD_FILE);
        if (!input->file)
            return no_memory(err);
        return holds_run(path) ? AS_OK : no_run(path, err);
    }
    input->file = path;
    if (!path_dir(folder, sizeof folder, path))
        return error_set(err, AS_E_INVALID, "%.200s: the path is too long", path);
    *ret_folder = arena_strdup(&rebuild->arena, folder);
    return *ret_folder ? AS_OK : no_memory(err);
}

static as_status open_input(struct rebuild *rebuild, const char *path, struct rebuild_input *input, struct as_error *err)
{
    const char *folder;
    run_facts_init(&input->facts);
    input->facts.tool = "llm";
    as_status status = find_files(rebuild, path, input, &folder, err);
    if (status != AS_OK || !folder)
        return status;
    status = run_file_read(folder, &rebuild->arena, &input->facts, err);
    input->has_facts = status == AS_OK;
    if (status != AS_OK && status != AS_E_NOTFOUND)
        return status;
    input->names = arena_calloc(&rebuild->arena, input->facts.endpoint_count + 1, sizeof *input->names);
    if (!input->names)
        return no_memory(err);
    for (size_t i = 0; i < input->facts.endpoint_count; i++)
        input->names[i] = input->facts.endpoints[i].name;
    return AS_OK;
}

struct feed {
    struct summary_builder *builder;
    size_t index;
    const struct records_found *found; /* of the input being read */
    struct rescore *rescore; /* of the input being read, NULL = its records are complete */
};

static as_status take(void *context, const struct request_record *record)
{
    struct feed *feed = context;
    if (!feed->rescore) {
        summary_add_of(feed->builder, feed->index, feed->found->record_run_id, record);
        return AS_OK;
    }
    struct request_record completed;
    memcpy(&completed, record, offsetof(struct request_record, attempts) + record->attempt_count * sizeof record->attempts[0]);
    rescore_record(feed->rescore, &completed);
    summary_add_of(feed->builder, feed->index, feed->found->record_run_id, &completed);
    return AS_OK;
}

static as_status read_input(struct rebuild_input *input, struct feed *feed, struct as_error *err)
{
    struct record_context context = {
        .tool = input->facts.tool,
        .run_id = input->facts.run_id,
        .endpoints = input->names,
        .endpoint_count = (uint32_t)input->facts.endpoint_count,
    };
    struct record_consumer consumer = {feed, take};
    as_status status = rescore_open(&input->facts, &feed->rescore);
    if (status != AS_OK)
        return no_memory(err);
    feed->found = &input->found;
    status = records_read(input->file, &context, &consumer, &input->found, err);
    input->facts.damaged_rings = input->found.damaged_rings;
    rescore_close(feed->rescore);
    feed->rescore = NULL;
    return status;
}

static as_status build(struct rebuild *rebuild, struct as_error *err)
{
    struct feed feed = {0};
    const struct run_facts **shards = arena_calloc(&rebuild->arena, rebuild->count, sizeof *shards);
    if (!shards)
        return no_memory(err);
    for (size_t i = 0; i < rebuild->count; i++)
        shards[i] = &rebuild->inputs[i].facts;
    as_status status = summary_builder_new(shards, rebuild->count, NULL, &feed.builder);
    if (status != AS_OK)
        return error_set(err, status, "the summary cannot be made");
    for (feed.index = 0; feed.index < rebuild->count && status == AS_OK; feed.index++)
        status = read_input(&rebuild->inputs[feed.index], &feed, err);
    if (status == AS_OK)
        status = summary_finish(feed.builder, &rebuild->summary, err);
    rebuild->has_summary = status == AS_OK;
    summary_builder_free(feed.builder);
    return status;
}

as_status rebuild_make(struct rebuild *ret, const char *const *paths, size_t count, struct as_error *err)
{
    *ret = (struct rebuild){.count = count};
    arena_init(&ret->arena, 0, 0);
    ret->inputs = arena_calloc(&ret->arena, count, sizeof *ret->inputs);
    if (!ret->inputs)
        return no_memory(err);
    as_status status = AS_OK;
    for (size_t i = 0; i < count && status == AS_OK; i++)
        status = open_input(ret, paths[i], &ret->inputs[i], err);
    for (size_t i = 0; i < count && status == AS_OK; i++)
        ret->inputs[i].facts.input = paths[i];
    return status == AS_OK ? build(ret, err) : status;
}

void rebuild_done(struct rebuild *rebuild)
{
    if (rebuild->has_summary)
        summary_done(&rebuild->summary);
    arena_done(&rebuild->arena);
    *rebuild = (struct rebuild){0};
}
