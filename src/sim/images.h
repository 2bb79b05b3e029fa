/* SPDX-License-Identifier: Apache-2.0 */
#ifndef ASSAY_SIM_IMAGES_H
#define ASSAY_SIM_IMAGES_H

/*
 * Images both ways. What is sent to be looked at is checked as a strict server would: a data: URL must be base64 of a
 * whole PNG, JPEG, WebP or GIF; http(s) URLs are taken as they are, since the simulator fetches nothing; anything else
 * is refused. What is asked for is drawn: a picture of the wanted size that seed, prompt and number decide, so that
 * equal seeds give equal bytes.
 */

#include "base/json.h"
#include "base/strbuf.h"
#include "media/image.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct sim_answer;
struct sim_ask;

#define SIM_IMAGES_MAX      16
#define SIM_IMAGE_SIDE_MAX  4096
#define SIM_IMAGE_ERROR_MAX 160

/* How closely images that are sent are looked at. */
enum sim_image_check { SIM_IMAGES_WHOLE, SIM_IMAGES_HEADER, SIM_IMAGES_UNCHECKED };

/* What an image generation asks for. */
struct sim_images_ask {
    int64_t count;
    uint32_t width, height;
    bool by_url;
    bool has_seed;
    uint64_t seed, prompt; /* prompt: a hash of its text and of the negative one */
};

/* The raw URL of an image part. "" in `ret_why` when it is fine, else a sentence that needs no JSON escape. */
void sim_image_look(const struct json_raw *url, enum sim_image_check check, char ret_why[SIM_IMAGE_ERROR_MAX]);

/* Reads a request for images; *ret_model as in sim_ask. AS_E_INVALID with a sentence for the 400 answer. */
as_status sim_images_read(const char *body, size_t len, struct sim_ask *ret, struct as_error *err) AS_NODISCARD;

/* For sim/render.c: the body of the answer. */
void sim_images_body(const struct sim_answer *answer, struct strbuf *out);

/* Draws and encodes one picture. AS_E_NOMEM and what media says. */
as_status sim_images_draw(uint32_t width, uint32_t height, uint64_t key, enum image_format format,
                          struct strbuf *ret) AS_NODISCARD;

#endif
