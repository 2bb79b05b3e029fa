/* SPDX-License-Identifier: Apache-2.0 */
#include "plane/prompt_file.h"

#include "base/json_write.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define BATCH_ROWS  16
#define BATCH_BYTES ((size_t)1024 * 1024)

/* ---- reading ---- */

struct place {
    int fd;
    off_t at;
    struct digest *digest; /* NULL = none */
    int64_t bytes;
};

static as_status read_piece(void *context, char *buffer, size_t size, size_t *ret, struct as_error *err)
{
    struct place *place = context;
    ssize_t got;
    do
        got = pread(place->fd, buffer, size, place->at);
    while (got < 0 && errno == EINTR);
    if (got < 0)
        return error_set(err, AS_E_IO, "the file cannot be read: %s", strerror(errno));
    place->at += got;
    place->bytes += got;
    *ret = (size_t)got;
    return place->digest && got > 0 ? digest_add(place->digest, buffer, (size_t)got) : AS_OK;
}

/* ---- looking ---- */

struct look {
    struct prompt_file *file;
    struct digest content;
    uint32_t *words; /* of each prompt */
    size_t capacity;
};

static as_status add_words(struct look *look, const struct prompt_row *row)
{
    const size_t at = (size_t)row->ordinal;
    if (at == look->capacity) {
        const size_t capacity = at ? at * 2 : 1024;
        uint32_t *words = realloc(look->words, capacity * sizeof *words);
        if (!words)
            return AS_E_NOMEM;
        look->words = words;
        look->capacity = capacity;
    }
    look->words[at] = (uint32_t)row->words; /* a line has fewer bytes than that */
    look->file->words_total += row->words;
    return AS_OK;
}

static as_status add_content(struct look *look, const struct prompt_row *row)
{
    const bool is_library = look->file->kind == PROMPT_LIBRARY;
    const size_t len = is_library ? row->prompt_bytes : row->raw_bytes;
    as_status status = digest_add_length(&look->content, len);
    if (status == AS_OK)
        status = digest_add(&look->content, is_library ? row->prompt : row->raw, len);
    if (status == AS_OK && is_library)
        status = digest_add_length(&look->content, (size_t)row->expected_output_tokens);
    return status;
}

static as_status look_at(void *context, const struct prompt_row *row, struct as_error *err)
{
    struct look *look = context;
    (void)err;
    look->file->rows++;
    look->file->local_places += row->local_places;
    look->file->with_expected_tokens += row->expected_output_tokens > 0;
    as_status status = row->prompt ? add_words(look, row) : AS_OK;
    return status == AS_OK ? add_content(look, row) : status;
}

static int compare(const void *a, const void *b)
{
    const uint32_t one = *(const uint32_t *)a, other = *(const uint32_t *)b;
    return (one > other) - (one < other);
}

/* Nearest rank: the smallest that at least so many percent are not above. */
static int64_t percentile(const struct look *look, int64_t percent)
{
    const int64_t rows = look->file->rows, rank = (rows * percent + 99) / 100;
    return look->words[rank > 0 ? rank - 1 : 0];
}

static void measure(struct look *look)
{
    struct prompt_file *file = look->file;
    if (!look->words)
        return;
    qsort(look->words, (size_t)file->rows, sizeof *look->words, compare);
    file->words_min = look->words[0];
    file->words_p50 = percentile(look, 50);
    file->words_p95 = percentile(look, 95);
    file->words_max = look->words[file->rows - 1];
}

static as_status read_whole(struct look *look, struct digest *bytes, struct as_error *err)
{
    struct place place = {.fd = look->file->fd, .digest = bytes};
    const struct prompt_input input = {&place, read_piece};
    const struct prompt_visitor visitor = {look, look_at};
    as_status status = prompt_lines_read(look->file->kind, &input, &visitor, err);
    look->file->bytes = place.bytes;
    return status;
}

as_status prompt_file_look(struct prompt_file *file, struct as_error *err)
{
    struct look look = {.file = file};
    struct digest bytes;
    as_status status = digest_init(&bytes);
    if (status != AS_OK)
        return status;
    status = digest_init(&look.content);
    if (status != AS_OK) {
        digest_abandon(&bytes);
        return status;
    }
    status = read_whole(&look, &bytes, err);
    if (status == AS_OK) {
        measure(&look);
        status = digest_finish(&bytes, file->digest);
        as_status second = digest_finish(&look.content, file->content_digest);
        status = status == AS_OK ? second : status;
    } else {
        digest_abandon(&bytes);
        digest_abandon(&look.content);
    }
    free(look.words);
    return status;
}

/* ---- storing ---- */

/* Where rows of a kind go: columns after prompt_source_id and ordinal. */
static const struct table {
    const char *name, *columns;
    uint32_t count;
} TABLES[] = {
    [PROMPT_LIBRARY] = {"prompt_library_prompts", "prompt, expected_output_tokens, words, digest", 4},
    [PROMPT_VLM] = {"metrumbench_vlm_snapshot_rows", "prompt, image_urls, image_digests", 3},
    [PROMPT_ASR] = {"metrumbench_asr_snapshot_rows", "sample_id, path, url, format, duration_s, transcript, digest", 7},
    [PROMPT_IMAGEGEN] = {"metrumbench_imagegen_snapshot_rows", "prompt, negative_prompt, size", 3},
};
enum { COLUMNS_MAX = 7 };

struct batch {
    struct plane_call *call;
    int64_t source_id;
    const struct table *table;
    struct arena arena; /* texts of the rows that wait */
    struct store_value values[BATCH_ROWS][COLUMNS_MAX];
    int64_t ordinals[BATCH_ROWS], first_line;
    size_t bytes; /* of them */
    uint32_t rows;
};

static as_status flush(struct batch *batch)
{
    struct sql sql AS_AUTO_SQL = {.count = 0};
    if (batch->rows == 0)
        return AS_OK;
    sql_begin(&sql, batch->call);
    sql_add(&sql, "INSERT INTO %s (prompt_source_id, ordinal, %s) VALUES ", batch->table->name, batch->table->columns);
    for (uint32_t i = 0; i < batch->rows; i++) {
        sql_add(&sql, i ? ", (" : "(");
        sql_of_row(&sql, batch->source_id);
        sql_add(&sql, ", ");
        sql_value(&sql, store_int(batch->ordinals[i]));
        for (uint32_t k = 0; k < batch->table->count; k++) {
            sql_add(&sql, ", ");
            sql_value(&sql, batch->values[i][k]);
        }
        sql_add(&sql, ")");
    }
    as_status status = sql_exec(&sql, batch->call, NULL);
    batch->rows = 0;
    batch->bytes = 0;
    arena_reset(&batch->arena);
    return status;
}

static struct store_value keep(struct batch *batch, const char *text, size_t len)
{
    const char *copy = text ? arena_strndup(&batch->arena, text, len) : NULL;
    batch->bytes += len;
    return copy ? store_text_n(copy, len) : store_null();
}

static struct store_value member(struct batch *batch, const struct prompt_row *row, const char *name)
{
    const struct json_value *value = json_get(row->tree, name);
    return value && (value->type == JSON_STRING || value->type == JSON_NUMBER) ? keep(batch, value->text, value->len)
                                                                               : store_null();
}

static struct store_value duration(const struct prompt_row *row)
{
    double seconds = 0;
    return json_double(json_get(row->tree, "duration"), &seconds) ? store_real(seconds) : store_null();
}

/* A list as JSON text; `one` stands for a list of it; none is "[]". */
static struct store_value list(struct batch *batch, const struct json_value *value, const struct json_value *one)
{
    struct strbuf text AS_AUTO_STRBUF;
    struct json_writer json;
    strbuf_init(&text, 0);
    json_writer_init(&json, &text, 0);
    if (value && value->type == JSON_ARRAY) {
        json_put_value(&json, value);
    } else {
        json_open_array(&json);
        if (one)
            json_put_value(&json, one);
        json_close_array(&json);
    }
    return json_writer_status(&json) == AS_OK ? keep(batch, text.data, text.len) : store_null();
}

static as_status set_values(struct batch *batch, enum prompt_kind kind, const struct prompt_row *row,
                            struct store_value *values)
{
    char digest[DIGEST_TEXT_BYTES];
    switch (kind) {
    case PROMPT_LIBRARY:
        values[0] = keep(batch, row->prompt, row->prompt_bytes);
        values[1] = row->expected_output_tokens > 0 ? store_int(row->expected_output_tokens) : store_null();
        values[2] = store_int(row->words);
        if (digest_bytes(row->prompt, row->prompt_bytes, digest) != AS_OK)
            return AS_E_NOMEM;
        values[3] = keep(batch, digest, strlen(digest));
        return AS_OK;
    case PROMPT_VLM:
        values[0] = keep(batch, row->prompt, row->prompt_bytes);
        values[1] = list(batch, json_get(row->tree, "image_urls"), json_get(row->tree, "image_url"));
        values[2] = list(batch, json_get(row->tree, "image_digests"), NULL);
        return AS_OK;
    case PROMPT_ASR:
        values[0] = member(batch, row, "id");
        values[1] = member(batch, row, "path");
        values[2] = member(batch, row, "url");
        values[3] = keep(batch, row->format, strlen(row->format));
        values[4] = duration(row);
        values[5] = member(batch, row, "transcript");
        values[6] = member(batch, row, "digest");
        return AS_OK;
    default:
        values[0] = keep(batch, row->prompt, row->prompt_bytes);
        values[1] = member(batch, row, "negative_prompt");
        values[2] = member(batch, row, "size");
        return AS_OK;
    }
}

static as_status store_row(void *context, const struct prompt_row *row, struct as_error *err)
{
    struct batch *batch = context;
    (void)err;
    if (batch->rows == 0)
        batch->first_line = row->line;
    batch->ordinals[batch->rows] = row->ordinal;
    const enum prompt_kind kind = (enum prompt_kind)(batch->table - TABLES);
    as_status status = set_values(batch, kind, row, batch->values[batch->rows]);
    if (status != AS_OK)
        return call_store_failed(batch->call, status);
    batch->rows++;
    if (batch->rows < BATCH_ROWS && batch->bytes < BATCH_BYTES)
        return AS_OK;
    const int64_t first = batch->first_line;
    status = flush(batch);
    if (status != AS_E_EXISTS)
        return status;
    batch->call->problem = (struct problem){.is_set = false};
    return call_refuse(batch->call, PROBLEM_INVALID, "an \"id\" of the lines %lld to %lld is there twice",
                       (long long)first, (long long)row->line);
}

static as_status store_rows_of(struct plane_call *call, int64_t source_id, const struct prompt_file *file)
{
    struct place place = {.fd = file->fd};
    struct as_error err = {0};
    struct batch *batch = calloc(1, sizeof *batch);
    if (!batch)
        return call_store_failed(call, AS_E_NOMEM);
    batch->call = call;
    batch->source_id = source_id;
    batch->table = &TABLES[file->kind];
    arena_init(&batch->arena, 0, 0);
    const struct prompt_input input = {&place, read_piece};
    const struct prompt_visitor visitor = {batch, store_row};
    as_status status = prompt_lines_read(file->kind, &input, &visitor, &err);
    const int64_t first = batch->first_line;
    if (status == AS_OK)
        status = flush(batch);
    arena_done(&batch->arena);
    free(batch);
    if (status == AS_E_EXISTS) {
        call->problem = (struct problem){.is_set = false};
        return call_refuse(call, PROBLEM_INVALID, "an \"id\" from line %lld on is there twice", (long long)first);
    }
    return status == AS_OK || call->problem.is_set ? status : call_store_failed(call, status);
}

static as_status store_chunk(struct plane_call *call, int64_t source_id, int64_t ordinal, struct store_value bytes)
{
    struct sql sql AS_AUTO_SQL = {.count = 0};
    sql_begin(&sql, call);
    sql_add(&sql, "INSERT INTO prompt_source_chunks (prompt_source_id, ordinal, bytes) VALUES (");
    sql_of_row(&sql, source_id);
    sql_add(&sql, ", ");
    sql_value(&sql, store_int(ordinal));
    sql_add(&sql, ", ");
    sql_value(&sql, bytes);
    sql_add(&sql, ")");
    return sql_exec(&sql, call, NULL);
}

static as_status store_chunks(struct plane_call *call, int64_t source_id, const struct prompt_file *file)
{
    struct place place = {.fd = file->fd};
    struct as_error err = {0};
    as_status status = AS_OK;
    char *chunk = malloc(PROMPT_CHUNK_BYTES);
    size_t len = 0, got = 1;
    for (int64_t ordinal = 0; chunk && status == AS_OK && place.bytes < file->bytes; ordinal++) {
        for (len = 0, got = 1; status == AS_OK && got > 0 && len < PROMPT_CHUNK_BYTES; len += got)
            status = read_piece(&place, chunk + len, PROMPT_CHUNK_BYTES - len, &got, &err);
        if (status == AS_OK && len == 0)
            status = AS_E_IO; /* shorter than it was */
        if (status == AS_OK)
            status = store_chunk(call, source_id, ordinal, store_blob(chunk, len));
    }
    if (!chunk)
        status = AS_E_NOMEM;
    free(chunk);
    return status == AS_OK || call->problem.is_set ? status : call_store_failed(call, status);
}

static as_status remove_from(struct plane_call *call, int64_t source_id, const char *table)
{
    struct sql sql AS_AUTO_SQL = {.count = 0};
    sql_begin(&sql, call);
    sql_add(&sql, "DELETE FROM %s WHERE prompt_source_id = ", table);
    sql_of_row(&sql, source_id);
    return sql_exec(&sql, call, NULL);
}

static as_status store_facts(struct plane_call *call, int64_t source_id, const struct prompt_file *file)
{
    const bool has_words = file->kind != PROMPT_ASR;
    const int64_t words[] = {file->words_total, file->words_min, file->words_p50, file->words_p95, file->words_max};
    struct sql sql AS_AUTO_SQL = {.count = 0};
    sql_begin(&sql, call);
    sql_add(&sql,
            "INSERT INTO prompt_source_files (prompt_source_id, digest, size_bytes, local_places, "
            "with_expected_tokens, received_ns, words_total, words_min, words_p50, words_p95, words_max) VALUES (");
    sql_of_row(&sql, source_id);
    sql_add(&sql, ", ");
    sql_value(&sql, store_text(file->digest));
    const int64_t counts[] = {file->bytes, file->local_places, file->with_expected_tokens, call->now_ns};
    for (size_t i = 0; i < sizeof counts / sizeof counts[0]; i++) {
        sql_add(&sql, ", ");
        sql_value(&sql, store_int(counts[i]));
    }
    for (size_t i = 0; i < sizeof words / sizeof words[0]; i++) {
        sql_add(&sql, ", ");
        sql_value(&sql, has_words ? store_int(words[i]) : store_null());
    }
    sql_add(&sql, ")");
    return sql_exec(&sql, call, NULL);
}

as_status prompt_file_store(struct plane_call *call, int64_t source_id, const struct prompt_file *file)
{
    const char *const tables[] = {TABLES[file->kind].name, "prompt_source_chunks", "prompt_source_files"};
    as_status status = AS_OK;
    for (size_t i = 0; status == AS_OK && i < sizeof tables / sizeof tables[0]; i++)
        status = remove_from(call, source_id, tables[i]);
    if (status == AS_OK)
        status = store_rows_of(call, source_id, file);
    if (status == AS_OK)
        status = store_chunks(call, source_id, file);
    return status == AS_OK ? store_facts(call, source_id, file) : status;
}
