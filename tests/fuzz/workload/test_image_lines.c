/* SPDX-License-Identifier: Apache-2.0 */
/* Prompts with images and prompts for images: whatever the lines hold, each prompt that is kept has what its tool
 * needs. */
#include "workload/image_prompts.h"
#include "workload/imagegen_prompts.h"

#include <stdlib.h>
#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void must(bool holds)
{
    if (!holds)
        abort();
}

static void check_images(const char *text, size_t len)
{
    struct image_prompts prompts;
    struct as_error err = {.message = ""};
    struct image_prompts_options options = {.prompts = {.skip_bad_lines = true}};
    uint32_t numbers[IMAGES_A_REQUEST_MAX];
    if (image_prompts_parse(text, len, &options, &prompts, &err) != AS_OK) {
        must(err.message[0] != '\0');
        return;
    }
    for (uint32_t batch = 0; batch < 4; batch += 3) {
        prompts.batch = batch;
        for (size_t i = 0; i < prompts.prompts.count; i++) {
            uint32_t count = image_prompts_of(&prompts, (int64_t)i, numbers);
            must(batch ? count == batch : count >= 1 && count <= IMAGES_A_REQUEST_MAX);
            for (uint32_t image = 0; image < count; image++)
                must(numbers[image] < images_count(prompts.images));
        }
    }
    image_prompts_done(&prompts);
}

static void check_wishes(const char *text, size_t len)
{
    struct imagegen_prompts prompts;
    struct as_error err = {.message = ""};
    struct prompts_options options = {.skip_bad_lines = true};
    if (imagegen_prompts_parse(text, len, &options, &prompts, &err) != AS_OK) {
        must(err.message[0] != '\0');
        return;
    }
    for (size_t i = 0; i < prompts.prompts.count; i++) {
        const struct imagegen_line *line = &prompts.lines[i];
        must(line->count <= IMAGEGEN_COUNT_MAX);
        must(!line->size || imagegen_size_is_sound(line->size));
    }
    imagegen_prompts_done(&prompts);
}

/* References of other schemes than data: are not followed: no file or server is touched. */
static void check_data_url(const char *text, size_t len)
{
    static const char start[] = "data:image/png;base64,";
    struct image_payload payload;
    const struct images_options options = {.max_dimension = 8, .max_pixels = 65536};
    char *reference = malloc(sizeof start + len);
    must(reference != NULL);
    memcpy(reference, start, sizeof start - 1);
    memcpy(reference + sizeof start - 1, text, len);
    reference[sizeof start - 1 + len] = '\0';
    must(image_payload_make(reference, &options, &payload) == AS_OK);
    must((payload.text != NULL) != (payload.error != NULL));
    must(!payload.text || (payload.width >= 1 && payload.width <= 8 && payload.height >= 1 && payload.height <= 8) ||
         payload.format == IMAGE_GIF);
    image_payload_done(&payload);
    free(reference);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    const char *text = (const char *)data;
    check_images(text, size);
    check_wishes(text, size);
    check_data_url(text, size);
    return 0;
}
