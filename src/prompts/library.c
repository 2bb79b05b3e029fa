/* SPDX-License-Identifier: Apache-2.0 */
#include "prompts/library.h"

#include "base/file.h"
#include "stats/sort.h"

#include <inttypes.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define META_MAX_BYTES ((size_t)1024 * 1024)

as_status library_init(struct library *library)
{
    *library = (struct library){0};
    strbuf_init(&library->lines, PROMPTS_FILE_MAX_BYTES);
    return digest_init(&library->digest);
}

static as_status add_to_digest(struct library *library, const struct library_row *row)
{
    as_status status = digest_add_length(&library->digest, row->len);
    if (status == AS_OK)
        status = digest_add(&library->digest, row->text, row->len);
    if (status == AS_OK)
        status = digest_add_length(&library->digest, (size_t)row->expected_output_tokens);
    return status;
}

as_status library_add(struct library *library, const struct library_row *row)
{
    struct json_writer writer;
    json_writer_init(&writer, &library->lines, 0);
    json_open_object(&writer);
    if (row->id && row->id_len > 0 && row->id_len < PROMPTS_ID_BYTES) {
        json_key(&writer, "id");
        json_put_stringn(&writer, row->id, row->id_len);
    }
    json_key(&writer, "prompt");
    json_put_stringn(&writer, row->text, row->len);
    if (row->expected_output_tokens > 0)
        json_member_int(&writer, "expected_output_tokens", row->expected_output_tokens);
    json_close_object(&writer);
    as_status status = json_writer_status(&writer);
    strbuf_addc(&library->lines, '\n');
    if (status == AS_OK)
        status = strbuf_status(&library->lines);
    if (status != AS_OK)
        return status;
    library->count++;
    library->with_expected_tokens += row->expected_output_tokens > 0;
    return add_to_digest(library, row);
}

as_status library_finish(struct library *library)
{
    char text[DIGEST_TEXT_BYTES];
    as_status status = digest_finish(&library->digest, text);
    library->digest.context = NULL;
    if (status == AS_OK)
        memcpy(library->content_digest, text, sizeof text);
    return status;
}

void library_done(struct library *library)
{
    if (library->digest.context)
        digest_abandon(&library->digest);
    library->digest.context = NULL;
    strbuf_done(&library->lines);
}

/* ---- lengths ---- */

/* FNV-1a, 63 bits: only to count how many texts differ. */
static int64_t text_hash(const char *text, size_t len)
{
    uint64_t hash = UINT64_C(0xcbf29ce484222325);
    for (size_t i = 0; i < len; i++)
        hash = (hash ^ (unsigned char)text[i]) * UINT64_C(0x100000001b3);
    return (int64_t)(hash >> 1);
}

static int64_t count_distinct(int64_t *values, size_t count)
{
    int64_t distinct = 0;
    sort_int64(values, count);
    for (size_t i = 0; i < count; i++)
        distinct += i == 0 || values[i] != values[i - 1];
    return distinct;
}

static struct distribution distribution_of(int64_t *values, size_t count)
{
    sort_int64(values, count);
    return distribution_of_sorted(values, (int64_t)count, PERCENTILE_NEAREST_RANK);
}

as_status library_measure(const struct prompts *prompts, struct library_lengths *ret)
{
    int64_t *values = malloc((prompts->count + 1) * sizeof *values);
    size_t with_tokens = 0;
    if (!values)
        return AS_E_NOMEM;
    for (size_t i = 0; i < prompts->count; i++)
        values[i] = prompts->items[i].words;
    ret->words = distribution_of(values, prompts->count);
    for (size_t i = 0; i < prompts->count; i++)
        values[i] = (int64_t)prompts->items[i].len;
    ret->bytes = distribution_of(values, prompts->count);
    for (size_t i = 0; i < prompts->count; i++)
        if (prompts->items[i].expected_output_tokens > 0)
            values[with_tokens++] = prompts->items[i].expected_output_tokens;
    ret->output_tokens = distribution_of(values, with_tokens);
    for (size_t i = 0; i < prompts->count; i++)
        values[i] = text_hash(prompts->items[i].text, prompts->items[i].len);
    ret->distinct = count_distinct(values, prompts->count);
    free(values);
    return AS_OK;
}

void library_put_distribution(struct json_writer *writer, const char *key, const struct distribution *d)
{
    json_key(writer, key);
    json_open_object(writer);
    json_member_int(writer, "n", d->n);
    json_member_double(writer, "min", d->min);
    json_member_double(writer, "mean", d->mean);
    json_member_double(writer, "p50", d->percentile[DISTRIBUTION_P50]);
    json_member_double(writer, "p95", d->percentile[DISTRIBUTION_P95]);
    json_member_double(writer, "max", d->max);
    json_close_object(writer);
}

/* ---- files ---- */

static bool meta_path(const char *path, char ret[PATH_MAX])
{
    int len = snprintf(ret, PATH_MAX, "%s" LIBRARY_META_END, path);
    return len > 0 && len < PATH_MAX;
}

static void put_origin(struct json_writer *writer, const struct library_origin *origin)
{
    json_key(writer, "source");
    json_open_object(writer);
    json_member_string(writer, "name", origin->source);
    json_member_string(writer, "format", origin->format);
    if (origin->source_digest[0])
        json_member_string(writer, "sha256", origin->source_digest);
    json_close_object(writer);
    json_member_string(writer, "licence", origin->licence);
    if (origin->describe)
        origin->describe(writer, origin->context);
}

static as_status make_meta(const struct library *library, const struct prompts *prompts,
                           const struct library_origin *origin, struct strbuf *out)
{
    struct library_lengths lengths;
    struct json_writer writer;
    as_status status = library_measure(prompts, &lengths);
    if (status != AS_OK)
        return status;
    json_writer_init(&writer, out, 2);
    json_open_object(&writer);
    json_member_string(&writer, "schema", LIBRARY_SCHEMA);
    json_member_int(&writer, "count", library->count);
    json_member_string(&writer, "content_digest", library->content_digest);
    json_member_string(&writer, "sha256", prompts->digest);
    json_member_int(&writer, "bytes", (int64_t)library->lines.len);
    json_member_int(&writer, "distinct", lengths.distinct);
    library_put_distribution(&writer, "words", &lengths.words);
    library_put_distribution(&writer, "expected_output_tokens", &lengths.output_tokens);
    put_origin(&writer, origin);
    json_close_object(&writer);
    strbuf_addc(out, '\n');
    return json_writer_status(&writer);
}

as_status library_write(const struct library *library, const char *path, const struct library_origin *origin,
                        struct as_error *err)
{
    char meta[PATH_MAX];
    struct prompts prompts;
    struct strbuf text AS_AUTO_STRBUF;
    struct prompts_options options = {.name = path};
    strbuf_init(&text, META_MAX_BYTES);
    if (!meta_path(path, meta))
        return error_set(err, AS_E_USAGE, "the path is too long");
    if (library->count == 0)
        return error_set(err, AS_E_INVALID, "%s would hold no prompt", path);
    as_status status = prompts_parse(strbuf_text(&library->lines), library->lines.len, &options, &prompts, err);
    if (status != AS_OK)
        return status;
    status = make_meta(library, &prompts, origin, &text);
    prompts_done(&prompts);
    if (status != AS_OK)
        return error_set(err, status, "%s: %s", meta, status_sentence(status));
    status = file_write_atomic(path, strbuf_text(&library->lines), library->lines.len, err);
    return status == AS_OK ? file_write_atomic(meta, text.data, text.len, err) : status;
}

/* ---- verification ---- */

static as_status compare_text(const struct json_value *meta, const char *member, const char *found, const char *path,
                              struct as_error *err)
{
    const char *stated;
    if (!json_string(json_get(meta, member), &stated))
        return error_set(err, AS_E_INVALID, "%s" LIBRARY_META_END ": \"%s\" is missing or no string", path, member);
    if (strcmp(stated, found) != 0)
        return error_set(err, AS_E_INVALID, "%s is not what " LIBRARY_META_END " says: %s is %.16s…, not %.16s…", path,
                         member, found, stated);
    return AS_OK;
}

static as_status compare(const struct prompts *prompts, const struct json_value *meta, const char *path,
                         struct as_error *err)
{
    char content[DIGEST_TEXT_BYTES];
    int64_t count;
    as_status status = compare_text(meta, "schema", LIBRARY_SCHEMA, path, err);
    if (status == AS_OK && (!json_int64(json_get(meta, "count"), &count) || count != (int64_t)prompts->count))
        status = error_set(err, AS_E_INVALID, "%s is not what " LIBRARY_META_END " says: it holds %zu prompts", path,
                           prompts->count);
    if (status == AS_OK)
        status = compare_text(meta, "sha256", prompts->digest, path, err);
    if (status != AS_OK)
        return status;
    if (prompts_sample_digest(prompts, (int64_t)prompts->count, content) != AS_OK)
        return error_set(err, AS_E_NOMEM, "out of memory");
    return compare_text(meta, "content_digest", content, path, err);
}

as_status library_verify(const char *path, int64_t *ret_count, struct as_error *err)
{
    char meta_file[PATH_MAX];
    struct strbuf text AS_AUTO_STRBUF;
    struct prompts prompts;
    struct arena arena;
    const struct json_value *meta;
    strbuf_init(&text, META_MAX_BYTES);
    if (!meta_path(path, meta_file))
        return error_set(err, AS_E_USAGE, "the path is too long");
    as_status status = file_read(meta_file, &text, err);
    if (status == AS_OK)
        status = prompts_load(path, NULL, &prompts, err);
    if (status != AS_OK)
        return status;
    arena_init(&arena, 0, 0);
    status = json_parse(strbuf_text(&text), text.len, NULL, &arena, &meta, err);
    if (status != AS_OK)
        error_prefix(err, "%s", meta_file);
    else
        status = compare(&prompts, meta, path, err);
    if (status == AS_OK)
        *ret_count = (int64_t)prompts.count;
    arena_done(&arena);
    prompts_done(&prompts);
    return status;
}
