/* SPDX-License-Identifier: Apache-2.0 */
/* Requests for images, and chats with images: refused with a sentence that needs no escape, or within what the
 * simulator makes. */
#include "sim/ask.h"

#include <stdlib.h>
#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void must(bool holds)
{
    if (!holds)
        abort();
}

static void must_need_no_escape(const char *text)
{
    for (; *text; text++)
        must(*text != '"' && *text != '\\' && (unsigned char)*text >= ' ');
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    const char *text = (const char *)data;
    struct sim_ask ask;
    struct as_error err;
    if (sim_images_read(text, size, &ask, &err) == AS_OK) {
        const struct sim_images_ask *wanted = &ask.images_asked;
        must(ask.is_images && wanted->count >= 1 && wanted->count <= SIM_IMAGES_MAX);
        must(wanted->width >= 1 && wanted->width <= SIM_IMAGE_SIDE_MAX && wanted->height >= 1 &&
             wanted->height <= SIM_IMAGE_SIDE_MAX);
    } else {
        must_need_no_escape(err.message);
    }
    if (sim_ask_read_chat(text, size, SIM_IMAGES_HEADER, &ask, &err) != AS_OK)
        must_need_no_escape(err.message);
    return 0;
}
