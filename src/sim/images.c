/* SPDX-License-Identifier: Apache-2.0 */
#include "sim/images.h"

#include "base/rng.h"
#include "media/base64.h"
#include "sim/answer.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

/* ---- images that are sent ---- */

static bool begins_with(const struct json_raw *text, const char *start)
{
    size_t len = strlen(start);
    return text->len >= len && strncasecmp(text->at, start, len) == 0;
}

static as_status check_bytes(const void *data, size_t len, enum sim_image_check check, struct as_error *err)
{
    struct image_info info;
    return check == SIM_IMAGES_WHOLE ? image_verify(data, len, 0, &info, err) : image_probe(data, len, &info, err);
}

static as_status check_data_url(const struct json_raw *url, enum sim_image_check check, struct as_error *err)
{
    const char *comma = memchr(url->at, ',', url->len);
    if (!comma || comma - url->at < 12 || memcmp(comma - 7, ";base64", 7) != 0)
        return error_set(err, AS_E_INVALID, "the data URL is not base64");
    size_t len = url->len - (size_t)(comma + 1 - url->at), bytes = 0;
    void *data = malloc(base64_decoded_max(len) + 1);
    if (!data)
        return error_set(err, AS_E_NOMEM, "out of memory");
    as_status status = base64_decode(comma + 1, len, data, &bytes, err);
    if (status == AS_OK)
        status = check_bytes(data, bytes, check, err);
    free(data);
    return status;
}

void sim_image_look(const struct json_raw *url, enum sim_image_check check, char ret_why[SIM_IMAGE_ERROR_MAX])
{
    struct as_error err = {.message = ""};
    as_status status = AS_OK;
    ret_why[0] = '\0';
    if (begins_with(url, "http://") || begins_with(url, "https://"))
        return;
    if (!begins_with(url, "data:"))
        status = error_set(&err, AS_E_INVALID, "its url is neither a data: nor an http URL");
    else if (check != SIM_IMAGES_UNCHECKED)
        status = check_data_url(url, check, &err);
    if (status == AS_OK)
        return;
    snprintf(ret_why, SIM_IMAGE_ERROR_MAX, "%.*s", SIM_IMAGE_ERROR_MAX - 1, err.message);
    for (char *at = ret_why; *at; at++)
        if (*at == '"' || *at == '\\' || (unsigned char)*at < ' ')
            *at = '\'';
}

/* ---- images that are asked for ---- */

struct reader {
    struct json_cursor cursor;
    struct sim_ask ask;
    const char *problem; /* static sentence; NULL = none so far */
    bool has_prompt;
};

static void problem(struct reader *reader, const char *sentence)
{
    if (!reader->problem)
        reader->problem = sentence;
}

/* False, and the value skipped, when it is no string; null is let pass. */
static bool take_string(struct reader *reader, struct json_raw *ret, const char *sentence)
{
    int type = json_cursor_type(&reader->cursor);
    if (type == JSON_STRING)
        return json_take_string(&reader->cursor, ret);
    if (type != JSON_NULL)
        problem(reader, sentence);
    (void)json_skip(&reader->cursor);
    return false;
}

static bool take_whole(struct reader *reader, int64_t *ret, const char *sentence)
{
    struct json_raw raw;
    int type = json_cursor_type(&reader->cursor);
    bool is_sound =
        type == JSON_NUMBER && json_take_number(&reader->cursor, &raw) && json_text_int64(raw.at, raw.len, ret);
    if (type != JSON_NUMBER)
        (void)json_skip(&reader->cursor);
    if (!is_sound && type != JSON_NULL)
        problem(reader, sentence);
    return is_sound;
}

static uint64_t hash_of(const struct json_raw *raw, uint64_t start)
{
    uint64_t hash = start ^ UINT64_C(14695981039346656037); /* FNV-1a */
    for (size_t i = 0; i < raw->len; i++)
        hash = (hash ^ (unsigned char)raw->at[i]) * UINT64_C(1099511628211);
    return hash;
}

static void read_prompt(struct reader *reader)
{
    struct json_raw raw;
    if (!take_string(reader, &raw, "prompt is no string"))
        return;
    reader->has_prompt = raw.len > 0;
    reader->ask.images_asked.prompt ^= hash_of(&raw, 1);
}

static bool take_side(const char **at, const char *end, uint32_t *ret)
{
    uint32_t value = 0;
    const char *start = *at;
    for (; *at < end && **at >= '0' && **at <= '9' && value <= SIM_IMAGE_SIDE_MAX; (*at)++)
        value = value * 10 + (uint32_t)(**at - '0');
    *ret = value;
    return *at > start && value >= 1 && value <= SIM_IMAGE_SIDE_MAX;
}

static void read_size(struct reader *reader)
{
    static const char sentence[] = "size must be WIDTHxHEIGHT with 1 to 4096 pixels a side, or auto";
    struct sim_images_ask *ask = &reader->ask.images_asked;
    struct json_raw raw;
    if (!take_string(reader, &raw, sentence) || json_raw_equals(&raw, "auto"))
        return;
    const char *at = raw.at, *end = raw.at + raw.len;
    if (!take_side(&at, end, &ask->width) || at == end || *at++ != 'x' || !take_side(&at, end, &ask->height) ||
        at != end)
        problem(reader, sentence);
}

static void read_format(struct reader *reader)
{
    static const char sentence[] = "response_format must be b64_json or url";
    struct json_raw raw;
    if (!take_string(reader, &raw, sentence))
        return;
    reader->ask.images_asked.by_url = json_raw_equals(&raw, "url");
    if (!reader->ask.images_asked.by_url && !json_raw_equals(&raw, "b64_json"))
        problem(reader, sentence);
}

static void read_member(struct reader *reader, const struct json_raw *key)
{
    struct sim_images_ask *ask = &reader->ask.images_asked;
    struct json_raw raw;
    int64_t number;
    if (json_raw_equals(key, "prompt")) {
        read_prompt(reader);
    } else if (json_raw_equals(key, "negative_prompt")) {
        if (take_string(reader, &raw, "negative_prompt is no string"))
            ask->prompt ^= hash_of(&raw, 2);
    } else if (json_raw_equals(key, "model")) {
        (void)take_string(reader, &reader->ask.model, "model is no string");
    } else if (json_raw_equals(key, "size")) {
        read_size(reader);
    } else if (json_raw_equals(key, "response_format")) {
        read_format(reader);
    } else if (json_raw_equals(key, "n")) {
        if (take_whole(reader, &ask->count, "n must be a whole number from 1 to 16") &&
            (ask->count < 1 || ask->count > SIM_IMAGES_MAX))
            problem(reader, "n must be a whole number from 1 to 16");
    } else if (json_raw_equals(key, "seed")) {
        ask->has_seed = take_whole(reader, &number, "seed must be a whole number");
        ask->seed = ask->has_seed ? (uint64_t)number : 0;
    } else if (json_raw_equals(key, "num_inference_steps")) {
        if (take_whole(reader, &number, "num_inference_steps must be a whole number") && number < 1)
            problem(reader, "num_inference_steps must be at least 1");
    } else {
        (void)json_skip(&reader->cursor);
    }
}

as_status sim_images_read(const char *body, size_t len, struct sim_ask *ret, struct as_error *err)
{
    struct reader reader = {.ask = {.is_images = true, .max_tokens = -1, .min_tokens = -1, .choices = 1}};
    struct json_raw key;
    reader.ask.images_asked = (struct sim_images_ask){.count = 1, .width = 1024, .height = 1024};
    if (!json_cursor_validate(body, len, NULL))
        return error_set(err, AS_E_INVALID, "the body is not JSON");
    json_cursor_init(&reader.cursor, body, len);
    if (!json_enter_object(&reader.cursor))
        return error_set(err, AS_E_INVALID, "the body is no JSON object");
    while (!reader.problem && json_next_member(&reader.cursor, &key))
        read_member(&reader, &key);
    if (!reader.has_prompt)
        problem(&reader, "prompt is missing or empty");
    if (reader.problem)
        return error_set(err, AS_E_INVALID, "%s", reader.problem);
    *ret = reader.ask;
    return AS_OK;
}

/* ---- drawing ---- */

struct disc {
    int64_t x, y, radius;
    uint8_t colour[3];
};

#define DISCS 8

static uint8_t mix(uint8_t a, uint8_t b, uint32_t at, uint32_t of)
{
    return (uint8_t)((a * (of - at) + b * at) / (of ? of : 1));
}

/* A vertical shade with discs on it. */
static void paint(const struct image_pixels *pixels, uint64_t key)
{
    struct rng rng;
    struct disc discs[DISCS];
    uint8_t top[3], bottom[3];
    uint32_t longest = pixels->width > pixels->height ? pixels->width : pixels->height;
    rng_init(&rng, key, UINT64_C(0x696d61676573)); /* "images" */
    for (int c = 0; c < 3; c++) {
        top[c] = (uint8_t)rng_below(&rng, 256);
        bottom[c] = (uint8_t)rng_below(&rng, 256);
    }
    for (int i = 0; i < DISCS; i++) {
        discs[i] = (struct disc){.x = (int64_t)rng_below(&rng, pixels->width),
                                 .y = (int64_t)rng_below(&rng, pixels->height),
                                 .radius = 1 + (int64_t)rng_below(&rng, longest / 4 + 1)};
        for (int c = 0; c < 3; c++)
            discs[i].colour[c] = (uint8_t)rng_below(&rng, 256);
    }
    for (uint32_t y = 0; y < pixels->height; y++) {
        uint8_t *row = pixels->data + (size_t)y * pixels->width * 3;
        uint8_t shade[3];
        for (int c = 0; c < 3; c++)
            shade[c] = mix(top[c], bottom[c], y, pixels->height);
        for (uint32_t x = 0; x < pixels->width; x++)
            memcpy(row + (size_t)x * 3, shade, 3);
        for (int i = 0; i < DISCS; i++) {
            int64_t dy = (int64_t)y - discs[i].y, half = 0;
            while ((half + 1) * (half + 1) + dy * dy <= discs[i].radius * discs[i].radius)
                half++;
            for (int64_t x = discs[i].x - half; x <= discs[i].x + half && dy * dy <= discs[i].radius * discs[i].radius;
                 x++)
                if (x >= 0 && x < (int64_t)pixels->width)
                    memcpy(row + x * 3, discs[i].colour, 3);
        }
    }
}

as_status sim_images_draw(uint32_t width, uint32_t height, uint64_t key, enum image_format format, struct strbuf *ret)
{
    struct image_pixels pixels = {
        .width = width, .height = height, .channels = 3, .data = malloc((size_t)width * height * 3)};
    if (!pixels.data)
        return AS_E_NOMEM;
    paint(&pixels, key);
    as_status status = image_encode(&pixels, format, 90, ret, NULL);
    image_pixels_done(&pixels);
    return status;
}

/* ---- the answer ---- */

static uint64_t picture_key(const struct sim_answer *answer, int64_t index)
{
    const struct sim_images_ask *ask = &answer->ask.images_asked;
    uint64_t seed = ask->has_seed ? ask->seed : rng_mix(answer->profile->seed, answer->key);
    return rng_mix(rng_mix(seed, ask->prompt), (uint64_t)index);
}

static void add_picture(const struct sim_answer *answer, int64_t index, enum sim_fault_kind fault, struct strbuf *out)
{
    static const enum image_format formats[] = {IMAGE_PNG, IMAGE_JPEG, IMAGE_WEBP};
    const struct sim_images_ask *ask = &answer->ask.images_asked;
    struct strbuf bytes AS_AUTO_STRBUF;
    strbuf_init(&bytes, 0);
    as_status status = sim_images_draw(ask->width, ask->height, picture_key(answer, index),
                                       formats[answer->profile->image_format], &bytes);
    if (status != AS_OK) {
        out->status = status;
        return;
    }
    size_t len = fault == SIM_FAULT_CUT_IMAGE ? bytes.len / 2 : bytes.len;
    if (!strbuf_reserve(out, base64_encoded_bytes(len) + 1))
        return;
    base64_encode(bytes.data, len, out->data + out->len);
    if (fault == SIM_FAULT_BAD_BASE64)
        out->data[out->len + 2] = '*';
    out->len += base64_encoded_bytes(len);
    out->data[out->len] = '\0';
}

void sim_images_body(const struct sim_answer *answer, struct strbuf *out)
{
    const struct sim_images_ask *ask = &answer->ask.images_asked;
    enum sim_fault_kind fault = answer->fault ? answer->fault->kind : SIM_FAULT_KIND_COUNT;
    int64_t count = fault == SIM_FAULT_FEWER_IMAGES ? ask->count - 1 : ask->count;
    strbuf_addf(out, "{\"created\":%lld", (long long)answer->moment->unix_s);
    if (fault == SIM_FAULT_NO_DATA) {
        strbuf_addc(out, '}');
        return;
    }
    strbuf_adds(out, ",\"data\":[");
    for (int64_t i = 0; i < count; i++) {
        strbuf_adds(out, i ? "," : "");
        if (ask->by_url) {
            strbuf_addf(out, "{\"url\":\"http://images.invalid/%016llx.png\"}",
                        (unsigned long long)picture_key(answer, i));
            continue;
        }
        strbuf_adds(out, "{\"b64_json\":\"");
        add_picture(answer, i, fault, out);
        strbuf_adds(out, "\"}");
    }
    strbuf_addf(out, "],\"output_format\":\"%s\",\"size\":\"%ux%u\"}",
                answer->profile->image_format == 1   ? "jpeg"
                : answer->profile->image_format == 2 ? "webp"
                                                     : "png",
                ask->width, ask->height);
}
