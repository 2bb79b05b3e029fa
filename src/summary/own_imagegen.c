/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The figures of `assay imagegen`. Images and megapixels per second are those of measured successes over the window,
 * under `spec` over the time to the last completion; counts of images are of all measured requests; sizes are of whole
 * images, also of requests that failed for another image of theirs.
 */
#include "summary/own.h"

#include "base/strbuf.h"
#include "summary/summary_json.h"
#include "summary/tally.h"

#include <math.h>
#include <stdlib.h>

#define NANO 1e9

/* Pixels are whole numbers: sums do not depend on the order. */
struct own_tally {
    struct column image_bytes, width, height, area;        /* a value an image */
    struct column aspect;                                  /* width / height of an image, billionths */
    struct column images, response_bytes, post, post_wait; /* a value a request; images: returned */
    int64_t requested, returned, by_url, saved, decoded;   /* images */
    int64_t good_images, good_pixels, pixels;              /* good: of successes */
    int64_t mismatched;                                    /* requests with another number of images than asked for */
    struct strbuf paths;                                   /* of saved images, each with a NUL */
};

#define COLUMNS(tally)                                                                                                 \
    {                                                                                                                  \
        &(tally)->image_bytes, &(tally)->width, &(tally)->height, &(tally)->area, &(tally)->aspect, &(tally)->images,  \
            &(tally)->response_bytes, &(tally)->post, &(tally)->post_wait                                              \
    }

static struct own_tally *make(struct column_store *store)
{
    struct own_tally *tally = calloc(1, sizeof *tally);
    if (!tally)
        return NULL;
    struct column *const columns[] = COLUMNS(tally);
    for (size_t i = 0; i < sizeof columns / sizeof *columns; i++)
        column_init(columns[i], store);
    strbuf_init(&tally->paths, 0);
    return tally;
}

static void drop(struct own_tally *tally)
{
    struct column *const columns[] = COLUMNS(tally);
    for (size_t i = 0; i < sizeof columns / sizeof *columns; i++)
        column_done(columns[i]);
    strbuf_done(&tally->paths);
    free(tally);
}

static int64_t number(const struct json_value *object, const char *name)
{
    int64_t value;
    return json_int64(json_get(object, name), &value) && value >= 0 ? value : -1;
}

static void append(struct column *column, int64_t value)
{
    if (value >= 0)
        column_append(column, value);
}

static void take_artifact(struct own_tally *tally, const struct json_value *artifact, bool is_good)
{
    const char *path;
    int64_t width = number(artifact, "width"), height = number(artifact, "height"), pixels;
    tally->decoded++;
    append(&tally->image_bytes, number(artifact, "bytes"));
    append(&tally->width, width);
    append(&tally->height, height);
    if (width > 0 && height > 0 && !__builtin_mul_overflow(width, height, &pixels)) {
        sum_up(&tally->pixels, pixels);
        column_append(&tally->area, pixels);
        column_append(&tally->aspect, llround((double)width / (double)height * NANO));
        if (is_good)
            sum_up(&tally->good_pixels, pixels);
    }
    if (!json_string(json_get(artifact, "path"), &path))
        return;
    tally->saved++;
    strbuf_add(&tally->paths, path, strlen(path) + 1);
}

static as_status take(struct own_tally *tally, const struct request_record *record, const struct json_value *own)
{
    bool is_good = record->outcome == OUTCOME_OK;
    int64_t returned = number(own, "images_returned");
    sum_up(&tally->requested, number(own, "images_requested"));
    sum_up(&tally->returned, returned);
    append(&tally->images, returned);
    sum_up(&tally->by_url, number(own, "images_by_url"));
    if (is_good)
        sum_up(&tally->good_images, returned);
    tally->mismatched += (record->flags & RECORD_FLAG_COUNT_MISMATCH) != 0;
    append(&tally->response_bytes, number(own, "response_bytes"));
    append(&tally->post, number(own, "post_ns"));
    append(&tally->post_wait, number(own, "post_wait_ns"));
    const struct json_value *list = json_get(own, "artifacts");
    for (const struct json_value *each = list && list->type == JSON_ARRAY ? list->first : NULL; each; each = each->next)
        take_artifact(tally, each, is_good);
    return strbuf_status(&tally->paths);
}

/* Everything that adds up. */
static struct own_tally sums_of(const struct own_group *group)
{
    struct own_tally sums = {0};
    for (size_t i = 0; i < group->count; i++) {
        const struct own_tally *tally = group->tallies[i];
        sum_up(&sums.requested, tally->requested);
        sum_up(&sums.returned, tally->returned);
        sum_up(&sums.by_url, tally->by_url);
        sum_up(&sums.saved, tally->saved);
        sum_up(&sums.decoded, tally->decoded);
        sum_up(&sums.good_images, tally->good_images);
        sum_up(&sums.good_pixels, tally->good_pixels);
        sum_up(&sums.pixels, tally->pixels);
        sum_up(&sums.mismatched, tally->mismatched);
    }
    return sums;
}

static void write_rates(const struct own_group *group, const struct own_tally *sums, int64_t duration_ns,
                        struct json_writer *writer)
{
    json_member_double(writer, "images_per_second", own_per_second((double)sums->good_images, duration_ns));
    json_member_double(writer, "megapixels_per_second", own_per_second((double)sums->good_pixels / 1e6, duration_ns));
    json_member_double(writer, "requests_per_second", own_per_second((double)group->block->counts.ok, duration_ns));
}

static void write_counts(const struct own_group *group, const struct own_tally *sums, struct json_writer *writer)
{
    const struct request_counts *counts = &group->block->counts;
    int64_t ended = counts->ok + counts->failed + counts->timed_out + counts->refused;
    write_rates(group, sums, group->window->duration_ns, writer);
    json_key(writer, "spec");
    json_open_object(writer);
    write_rates(group, sums, group->window->elapsed_ns, writer);
    json_close_object(writer);
    json_member_double(writer, "success_rate", ended > 0 ? (double)counts->ok / (double)ended : (double)NAN);
    json_member_int(writer, "images_requested", sums->requested);
    json_member_int(writer, "images_returned", sums->returned);
    json_member_int(writer, "images_decoded", sums->decoded);
    json_member_int(writer, "images_saved", sums->saved);
    json_member_int(writer, "images_by_url", sums->by_url);
    json_member_int(writer, "requests_with_other_count", sums->mismatched);
    json_member_double(writer, "megapixels", (double)sums->pixels / 1e6);
    json_member_int(writer, "timeout_count", counts->timed_out);
}

static int by_text(const void *a, const void *b)
{
    return strcmp(*(const char *const *)a, *(const char *const *)b);
}

/* In order: the same records give the same list. */
static as_status write_paths(const struct own_group *group, int64_t saved, struct json_writer *writer)
{
    const char **list = calloc((size_t)saved + 1, sizeof *list);
    size_t count = 0;
    if (!list)
        return AS_E_NOMEM;
    for (size_t i = 0; i < group->count; i++) {
        const struct strbuf *paths = &group->tallies[i]->paths;
        for (const char *at = strbuf_text(paths), *end = at + paths->len; at < end && count < (size_t)saved;
             at += strlen(at) + 1)
            list[count++] = at;
    }
    qsort(list, count, sizeof *list, by_text);
    json_key(writer, "artifact_paths");
    json_open_array(writer);
    for (size_t i = 0; i < count; i++)
        json_put_string(writer, list[i]);
    json_close_array(writer);
    free(list);
    return AS_OK;
}

static as_status write(const struct own_group *group, struct json_writer *writer)
{
#define COLUMN(member, field, scale)                                                                                   \
    {                                                                                                                  \
        member, offsetof(struct own_tally, field), scale                                                               \
    }
    static const struct own_column columns[] = {
        COLUMN("image_bytes", image_bytes, 1),       COLUMN("image_width", width, 1),
        COLUMN("image_height", height, 1),           COLUMN("image_pixels", area, 1),
        COLUMN("image_aspect_ratio", aspect, NANO),  COLUMN("images_per_request", images, 1),
        COLUMN("response_bytes", response_bytes, 1), COLUMN("post_ms", post, 1e6),
        COLUMN("post_wait_ms", post_wait, 1e6),
    };
    struct own_tally sums = sums_of(group);
    write_counts(group, &sums, writer);
    summary_write_distribution(writer, "latency_ms", &group->block->latency[LATENCY_RESPONSE_TIME], 1e6);
    as_status status = AS_OK;
    for (size_t i = 0; i < sizeof columns / sizeof *columns && status == AS_OK; i++)
        status = own_write_column(group, &columns[i], writer, NULL);
    return status == AS_OK && group->is_total ? write_paths(group, sums.saved, writer) : status;
}

const struct own_figures OWN_IMAGEGEN = {.tool = "imagegen", .make = make, .drop = drop, .take = take, .write = write};
