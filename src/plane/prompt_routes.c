/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The content of prompt sources: their file sent and read back byte for byte, and where the bytes of their images or
 * recordings lie. A source that a job used keeps its content. The shipped sources are filled by the operator, for all
 * tenants.
 */
#include "plane/audit.h"
#include "plane/prompt_file.h"
#include "plane/query.h"
#include "plane/resources.h"
#include "plane/route.h"

#include <stdlib.h>
#include <string.h>

#define FILE_BYTES_MAX ((size_t)256 * 1024 * 1024)
#define MEDIA          "application/jsonl"
#define PATH           "/api/v1/prompt-sources/{source_code}"

struct source {
    int64_t id;
    const char *type;
    bool is_own, is_retired, is_used;
    const char *digest; /* of the file, NULL = none */
    int64_t local_places;
};

/* The source of the address; with `writes` one that the caller may fill. */
static as_status read_source(struct plane_call *call, bool writes, struct source *ret)
{
    struct store_rows *rows AS_AUTO_ROWS = NULL;
    struct sql sql AS_AUTO_SQL = {.count = 0};
    as_status status = call_query_check(call, NULL, 0);
    if (status == AS_OK)
        status = resource_row(call, &resource_prompt_sources, call->params, &ret->id);
    if (status != AS_OK)
        return status;
    sql_begin(&sql, call);
    sql_add(&sql, "SELECT p.source_type, CASE WHEN ");
    sql_own(&sql, "p");
    sql_add(&sql, " THEN 1 ELSE 0 END, CASE WHEN p.retired_ns IS NULL THEN 0 ELSE 1 END, x.digest, x.local_places, "
                  "CASE WHEN EXISTS (SELECT 1 FROM jobs j JOIN workloads w ON w.id = j.workload_id WHERE "
                  "w.prompt_source_id = p.id) THEN 1 ELSE 0 END FROM prompt_sources p LEFT JOIN prompt_source_files x "
                  "ON x.prompt_source_id = p.id WHERE p.id = ");
    sql_of_row(&sql, ret->id);
    status = sql_query(&sql, call, &rows);
    if (status != AS_OK || !store_next(rows))
        return status != AS_OK ? status : call_store_failed(call, AS_E_NOTFOUND);
    ret->type = rows_copy(call, rows, 0);
    ret->is_own = store_get_int(rows, 1) != 0;
    ret->is_retired = store_get_int(rows, 2) != 0;
    ret->digest = rows_copy(call, rows, 3);
    ret->local_places = store_get_int(rows, 4);
    ret->is_used = store_get_int(rows, 5) != 0;
    if (!writes)
        return AS_OK;
    if (!ret->is_own && !call_has(call, RIGHT_OPERATOR))
        return call_refuse(call, PROBLEM_FORBIDDEN,
                           "a shipped prompt source is filled by an administrator of the first tenant");
    return ret->is_retired ? call_refuse(call, PROBLEM_STATE, "the prompt source is retired") : AS_OK;
}

/* ---- sending ---- */

static as_status check_media(struct plane_call *call)
{
    static const char *const medias[] = {MEDIA, "application/x-ndjson", "application/x-jsonlines", "text/plain"};
    const size_t len = strcspn(call->content_kind, "; ");
    for (size_t i = 0; i < sizeof medias / sizeof medias[0]; i++)
        if (strlen(medias[i]) == len && strncmp(medias[i], call->content_kind, len) == 0)
            return AS_OK;
    return call_refuse(call, PROBLEM_MEDIA, "the file must be sent as " MEDIA);
}

static as_status prepare_file(struct plane_call *call)
{
    struct source source = {.id = 0};
    struct as_error err = {0};
    as_status status = read_source(call, true, &source);
    if (status == AS_OK)
        status = check_media(call);
    if (status != AS_OK)
        return status;
    if (!call->upload || call->upload->bytes == 0)
        return call_refuse(call, PROBLEM_MALFORMED, "a body with the file is needed");
    if (call->upload->status != AS_OK)
        return call_refuse(call, PROBLEM_BUSY, "there is no room to take the file");
    struct prompt_file *file = arena_calloc(&call->arena, 1, sizeof *file);
    if (!file || !prompt_kind_from(source.type, &file->kind))
        return call_store_failed(call, AS_E_NOMEM);
    file->fd = call->upload->fd;
    status = prompt_file_look(file, &err);
    if (status == AS_E_INVALID)
        return call_refuse(call, PROBLEM_INVALID, "%.380s", err.message);
    if (status == AS_E_LIMIT)
        return call_refuse(call, PROBLEM_TOO_LARGE, "%.380s", err.message);
    call->upload->facts = file;
    call->upload_digest = file->digest;
    return status == AS_OK ? AS_OK : call_store_failed(call, status);
}

/* Whoever changes a source's content does this first, so that they go one after the other. */
static as_status touch(struct plane_call *call, int64_t id)
{
    struct sql sql AS_AUTO_SQL = {.count = 0};
    sql_begin(&sql, call);
    sql_add(&sql, "UPDATE prompt_sources SET row_version = row_version + 1, updated_ns = ");
    sql_value(&sql, store_int(call->now_ns));
    sql_add(&sql, " WHERE id = ");
    sql_of_row(&sql, id);
    return sql_exec(&sql, call, NULL);
}

static as_status set_content(struct plane_call *call, int64_t id, const struct prompt_file *file)
{
    struct sql sql AS_AUTO_SQL = {.count = 0};
    sql_begin(&sql, call);
    sql_add(&sql, "UPDATE prompt_sources SET restic_repository = NULL, restic_snapshot = NULL, bytes_total = NULL, "
                  "content_digest = ");
    sql_value(&sql, store_text(file->content_digest));
    sql_add(&sql, ", row_count = ");
    sql_value(&sql, store_int(file->rows));
    sql_add(&sql, ", state = ");
    sql_value(&sql, store_text(file->local_places > 0 ? "bytes_missing" : "ready"));
    sql_add(&sql, " WHERE id = ");
    sql_of_row(&sql, id);
    return sql_exec(&sql, call, NULL);
}

static as_status replace(struct plane_call *call, const struct source *source, const struct prompt_file *file)
{
    as_status status = touch(call, source->id);
    if (status == AS_OK)
        status = prompt_file_store(call, source->id, file);
    if (status == AS_OK)
        status = set_content(call, source->id, file);
    return status == AS_OK ? audit_add(call, "upload", "prompt source", call->params[0]) : status;
}

static as_status put_file(struct plane_call *call)
{
    const struct prompt_file *file = call->upload->facts;
    struct source source = {.id = 0};
    as_status status = read_source(call, true, &source);
    const bool is_same = status == AS_OK && source.digest && strcmp(source.digest, file->digest) == 0;
    if (status == AS_OK && !is_same && source.digest && source.is_used)
        return call_refuse(call, PROBLEM_STATE,
                           "jobs have used what is in it, which therefore stays; make a source under another code");
    if (status == AS_OK && !is_same)
        status = replace(call, &source, file);
    return status == AS_OK ? resource_put(call, &resource_prompt_sources, source.id) : status;
}

/* ---- reading ---- */

struct download {
    int64_t source_id, ordinal, left; /* bytes */
    char digest[DIGEST_TEXT_BYTES];
};

static as_status put_chunk(struct plane_call *call)
{
    struct download *download = call->pieces.state;
    struct store_rows *rows AS_AUTO_ROWS = NULL;
    struct sql sql AS_AUTO_SQL = {.count = 0};
    size_t len = 0;
    sql_begin(&sql, call);
    sql_add(&sql, "SELECT c.bytes FROM prompt_source_chunks c JOIN prompt_source_files x ON x.prompt_source_id = "
                  "c.prompt_source_id WHERE c.prompt_source_id = ");
    sql_of_row(&sql, download->source_id);
    sql_add(&sql, " AND c.ordinal = ");
    sql_value(&sql, store_int(download->ordinal));
    sql_add(&sql, " AND x.digest = ");
    sql_value(&sql, store_text(download->digest));
    as_status status = sql_query(&sql, call, &rows);
    if (status != AS_OK)
        return status;
    if (!store_next(rows))
        return call_refuse(call, PROBLEM_STATE, "the file was replaced while it was read");
    const void *bytes = store_get_blob(rows, 0, &len);
    strbuf_add(&call->out, bytes, len);
    download->ordinal++;
    download->left -= (int64_t)len;
    if (download->left <= 0)
        call->pieces.next = NULL;
    return AS_OK;
}

static void end_download(struct plane_call *call)
{
    free(call->pieces.state);
    call->pieces.state = NULL;
}

static as_status get_file(struct plane_call *call)
{
    struct source source = {.id = 0};
    struct sql sql AS_AUTO_SQL = {.count = 0};
    as_status status = read_source(call, false, &source);
    if (status == AS_OK && !source.digest)
        return call_refuse(call, PROBLEM_NOTFOUND, "nothing was sent for this prompt source yet");
    struct download *download = status == AS_OK ? calloc(1, sizeof *download) : NULL;
    if (!download)
        return status == AS_OK ? call_store_failed(call, AS_E_NOMEM) : status;
    call->pieces.state = download;
    call->pieces.done = end_download;
    call->pieces.next = put_chunk;
    download->source_id = source.id;
    memcpy(download->digest, source.digest, strnlen(source.digest, DIGEST_TEXT_BYTES - 1));
    sql_begin(&sql, call);
    sql_add(&sql, "SELECT x.size_bytes FROM prompt_source_files x WHERE x.prompt_source_id = ");
    sql_of_row(&sql, source.id);
    status = sql_one_int(&sql, call, &download->left);
    if (status != AS_OK)
        return call_store_failed(call, status);
    call->content_type = MEDIA;
    call_add_field(call, "ETag", call_printf(call, "\"%s\"", download->digest));
    call_add_field(call, "Content-Disposition",
                   call_printf(call, "attachment; filename=\"%s.jsonl\"", call->params[0]));
    return put_chunk(call);
}

/* ---- where the bytes lie ---- */

static const struct field SNAPSHOT_FIELDS[] = {
    {.name = "restic_repository",
     .type = FIELD_TEXT,
     .flags = FIELD_REQUIRED,
     .max = 1000,
     .about = "Repository as restic names it: a path, s3:…, rest:…; without user and password."},
    {.name = "restic_snapshot", .type = FIELD_CODE, .flags = FIELD_REQUIRED, .about = "Id of the snapshot in it."},
    {.name = "bytes_total",
     .type = FIELD_INT,
     .flags = FIELD_REQUIRED,
     .min = 1,
     .max = 9e15,
     .about = "Bytes of the files in it."},
};
static const struct shape SNAPSHOT = {.name = "PromptSnapshot",
                                      .about = "Where the images or recordings of a prompt source lie.",
                                      SHAPE_FIELDS(SNAPSHOT_FIELDS)};

/* Addresses are shown to everybody who reads: no password stands in them. */
static bool has_password(const char *repository)
{
    const char *host = strstr(repository, "://");
    const char *at = host ? strchr(host + 3, '@') : NULL, *slash = host ? strchr(host + 3, '/') : NULL;
    return at && (!slash || at < slash);
}

static as_status set_snapshot(struct plane_call *call, int64_t id, const char *repository)
{
    const char *snapshot = NULL;
    int64_t bytes = 0;
    struct sql sql AS_AUTO_SQL = {.count = 0};
    if (!json_string(json_get(call->input, "restic_snapshot"), &snapshot) ||
        !json_int64(json_get(call->input, "bytes_total"), &bytes))
        return call_store_failed(call, AS_E_INTERNAL);
    sql_begin(&sql, call);
    sql_add(&sql, "UPDATE prompt_sources SET state = 'ready', restic_repository = ");
    sql_value(&sql, store_text(repository));
    sql_add(&sql, ", restic_snapshot = ");
    sql_value(&sql, store_text(snapshot));
    sql_add(&sql, ", bytes_total = ");
    sql_value(&sql, store_int(bytes));
    sql_add(&sql, " WHERE id = ");
    sql_of_row(&sql, id);
    return sql_exec(&sql, call, NULL);
}

static as_status post_snapshot(struct plane_call *call)
{
    struct source source = {.id = 0};
    const char *repository = "";
    as_status status = read_source(call, true, &source);
    if (status != AS_OK)
        return status;
    if (!json_string(json_get(call->input, "restic_repository"), &repository) || has_password(repository))
        return problem_add(&call->problem, "/restic_repository", "secret",
                           "must not hold user or password; restic takes them from its environment");
    if (!source.digest)
        return call_refuse(call, PROBLEM_STATE, "send the file that names its images or recordings first");
    if (source.local_places == 0)
        return call_refuse(call, PROBLEM_STATE, "its file names no local images or recordings");
    status = touch(call, source.id);
    if (status == AS_OK)
        status = set_snapshot(call, source.id, repository);
    if (status == AS_OK)
        status = audit_add(call, "snapshot", "prompt source", call->params[0]);
    return status == AS_OK ? resource_put(call, &resource_prompt_sources, source.id) : status;
}

static const struct route ROUTES[] = {
    {.method = HTTP_PUT,
     .kind = ROUTE_WRITE,
     .right = RIGHT_WRITE,
     .path = PATH "/content",
     .id = "send_prompt_source_content",
     .tag = "prompt-sources",
     .input_media = MEDIA,
     .body_bytes_max = FILE_BYTES_MAX,
     .output = &resource_prompt_sources.shape,
     .prepare = prepare_file,
     .handle = put_file,
     .resource = &resource_prompt_sources,
     .summary =
         "Send its file, JSONL: checked line by line, stored whole or not at all; the same again changes nothing"},
    {.method = HTTP_GET,
     .kind = ROUTE_READ,
     .right = RIGHT_READ,
     .path = PATH "/content",
     .id = "get_prompt_source_content",
     .tag = "prompt-sources",
     .media = MEDIA,
     .handle = get_file,
     .resource = &resource_prompt_sources,
     .summary = "Its file, byte for byte as it was sent; the ETag is its SHA-256"},
    {.method = HTTP_POST,
     .kind = ROUTE_WRITE,
     .right = RIGHT_WRITE,
     .path = PATH "/snapshot",
     .id = "set_prompt_source_snapshot",
     .tag = "prompt-sources",
     .input = &SNAPSHOT,
     .output = &resource_prompt_sources.shape,
     .handle = post_snapshot,
     .resource = &resource_prompt_sources,
     .summary = "Say which restic snapshot holds the images or recordings that its file names"},
};

const struct route_list routes_prompts = {ROUTES, sizeof ROUTES / sizeof ROUTES[0]};
