/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The figures of `assay vlm` beside those of text generation: images of all measured requests that were sent (refused
 * ones have no block). Processing times are per image and of the time before the run; none is in a latency.
 */
#include "summary/own.h"

#include "summary/tally.h"

#include <math.h>
#include <stdlib.h>

#define NANO 1e9

struct own_tally {
    struct column processing, loading, image_bytes, source_bytes, width, height, pixels; /* a value an image */
    struct column aspect;                        /* width / height of an image, billionths */
    struct column images, payload, wait;         /* a value a request */
    struct column image_tokens;                  /* a value a request whose text was counted alone */
    int64_t probed, without_tokens;              /* such requests; those with fewer tokens than images */
    int64_t by_url, resized, encoded, delivered; /* images; delivered: of successes */
};

#define COLUMNS(tally)                                                                                                 \
    {                                                                                                                  \
        &(tally)->processing, &(tally)->loading, &(tally)->image_bytes, &(tally)->source_bytes, &(tally)->width,       \
            &(tally)->height, &(tally)->pixels, &(tally)->aspect, &(tally)->images, &(tally)->payload, &(tally)->wait, \
            &(tally)->image_tokens                                                                                     \
    }

static struct own_tally *make(struct column_store *store)
{
    struct own_tally *tally = calloc(1, sizeof *tally);
    if (!tally)
        return NULL;
    struct column *const columns[] = COLUMNS(tally);
    for (size_t i = 0; i < sizeof columns / sizeof *columns; i++)
        column_init(columns[i], store);
    return tally;
}

static void drop(struct own_tally *tally)
{
    struct column *const columns[] = COLUMNS(tally);
    for (size_t i = 0; i < sizeof columns / sizeof *columns; i++)
        column_done(columns[i]);
    free(tally);
}

static void append(struct column *column, const struct json_value *object, const char *name)
{
    int64_t value;
    if (json_int64(json_get(object, name), &value) && value >= 0)
        column_append(column, value);
}

/* Of images whose size is known. */
static void take_size(struct own_tally *tally, const struct json_value *image)
{
    int64_t width, height, pixels;
    if (!json_int64(json_get(image, "width"), &width) || !json_int64(json_get(image, "height"), &height) ||
        width <= 0 || height <= 0 || __builtin_mul_overflow(width, height, &pixels))
        return;
    column_append(&tally->pixels, pixels);
    column_append(&tally->aspect, llround((double)width / (double)height * NANO));
}

static bool is_set(const struct json_value *object, const char *name)
{
    bool value;
    return json_bool(json_get(object, name), &value) && value;
}

/* The tokens of a request beyond those of its text: fewer than its images means that none was looked at. */
static void take_image_tokens(struct own_tally *tally, const struct request_record *record,
                              const struct json_value *own)
{
    int64_t text, images = 0;
    if (record->outcome != OUTCOME_OK || record->prompt_tokens < 0 ||
        !json_int64(json_get(own, "text_prompt_tokens"), &text) || !json_int64(json_get(own, "image_count"), &images))
        return;
    int64_t tokens = record->prompt_tokens - text;
    tally->probed++;
    tally->without_tokens += tokens < images;
    column_append(&tally->image_tokens, tokens > 0 ? tokens : 0);
}

static as_status take(struct own_tally *tally, const struct request_record *record, const struct json_value *own)
{
    int64_t count;
    if (record->outcome == OUTCOME_OK && json_int64(json_get(own, "image_count"), &count) && count > 0)
        sum_up(&tally->delivered, count);
    take_image_tokens(tally, record, own);
    append(&tally->images, own, "image_count");
    append(&tally->payload, own, "payload_bytes");
    append(&tally->wait, own, "wait_ns");
    const struct json_value *list = json_get(own, "images");
    for (const struct json_value *image = list && list->type == JSON_ARRAY ? list->first : NULL; image;
         image = image->next) {
        append(&tally->processing, image, "processing_ns");
        append(&tally->loading, image, "load_ns");
        append(&tally->image_bytes, image, "bytes");
        append(&tally->source_bytes, image, "source_bytes");
        append(&tally->width, image, "width");
        append(&tally->height, image, "height");
        take_size(tally, image);
        tally->by_url += is_set(image, "by_url");
        tally->resized += is_set(image, "resized");
        tally->encoded += is_set(image, "encoded");
    }
    return AS_OK;
}

static as_status write(const struct own_group *group, struct json_writer *writer)
{
#define COLUMN(member, field, scale)                                                                                   \
    {                                                                                                                  \
        member, offsetof(struct own_tally, field), scale                                                               \
    }
    static const struct own_column columns[] = {
        COLUMN("images_per_request", images, 1),    COLUMN("image_processing_ms", processing, 1e6),
        COLUMN("image_load_ms", loading, 1e6),      COLUMN("image_bytes", image_bytes, 1),
        COLUMN("source_bytes", source_bytes, 1),    COLUMN("image_width", width, 1),
        COLUMN("image_height", height, 1),          COLUMN("image_pixels", pixels, 1),
        COLUMN("image_aspect_ratio", aspect, NANO), COLUMN("payload_bytes", payload, 1),
        COLUMN("preparation_wait_ms", wait, 1e6),   COLUMN("image_prompt_tokens", image_tokens, 1),
    };
    struct own_sum images = {0};
    as_status status = AS_OK;
    for (size_t i = 0; i < sizeof columns / sizeof *columns && status == AS_OK; i++)
        status = own_write_column(group, &columns[i], writer, i == 0 ? &images : NULL);
    int64_t by_url = 0, resized = 0, encoded = 0, delivered = 0, probed = 0, without_tokens = 0;
    for (size_t i = 0; i < group->count; i++) {
        by_url = plus(by_url, group->tallies[i]->by_url);
        resized = plus(resized, group->tallies[i]->resized);
        encoded = plus(encoded, group->tallies[i]->encoded);
        delivered = plus(delivered, group->tallies[i]->delivered);
        probed = plus(probed, group->tallies[i]->probed);
        without_tokens = plus(without_tokens, group->tallies[i]->without_tokens);
    }
    json_member_int(writer, "images", images.n ? (int64_t)images.sum : 0);
    json_member_int(writer, "images_by_url", by_url);
    json_member_int(writer, "images_resized", resized);
    json_member_int(writer, "images_encoded_anew", encoded);
    json_member_int(writer, "requests_with_known_text", probed);
    json_member_int(writer, "requests_without_image_tokens", without_tokens);
    json_member_double(writer, "images_per_second", own_per_second((double)delivered, group->window->duration_ns));
    return status;
}

const struct own_figures OWN_VLM = {.tool = "vlm", .make = make, .drop = drop, .take = take, .write = write};
