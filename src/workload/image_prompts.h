/* SPDX-License-Identifier: Apache-2.0 */
#ifndef ASSAY_WORKLOAD_IMAGE_PROMPTS_H
#define ASSAY_WORKLOAD_IMAGE_PROMPTS_H

/*
 * Prompts with images: workload/prompts.h with one further member a line, `image_urls` (an array of one or more
 * references) or `image_url` (one reference); both in one line, or neither, make it a bad line. What a reference is:
 * workload/images.h.
 */

#include "workload/images.h"
#include "workload/prompts.h"

struct image_list {
    uint32_t at, count; /* in `numbers` */
};

struct image_prompts {
    struct prompts prompts;
    struct images *images;
    uint32_t *numbers; /* of images, all lists one after the other */
    size_t number_count, number_capacity;
    struct image_list *lists; /* by index of the prompt */
    size_t list_capacity;
    char *folder;   /* of the source */
    bool is_remote; /* the source is a URL: what it names lies elsewhere too, never on this machine */
    uint32_t batch; /* images of every request; 0 = those of its line */
};

struct image_prompts_options {
    const char
        *source; /* file, "-" or http(s) URL; relative paths are meant from a file's folder, with "-" from this one */
    struct prompts_options prompts; /* `extension` is set here */
    struct images_options images;   /* `folder` is set here */
    /*
     * Images of every request, at most IMAGES_A_REQUEST_MAX: a line with fewer is filled with those of the lines after
     * it, in the order of the file; of one with more the first are taken. 0 = those of its line.
     */
    uint32_t batch;
};

/* Errors of prompts_load. *ret needs image_prompts_done. */
as_status image_prompts_load(const struct image_prompts_options *options, struct image_prompts *ret,
                             struct as_error *err) AS_NODISCARD;
/* The same from memory: the source is not looked at, and no path may be relative. */
as_status image_prompts_parse(const char *text, size_t len, const struct image_prompts_options *options,
                              struct image_prompts *ret, struct as_error *err) AS_NODISCARD;
void image_prompts_done(struct image_prompts *prompts);

/* The images of request number `seq`, at most IMAGES_A_REQUEST_MAX; returns their number. Any thread. */
uint32_t image_prompts_of(const struct image_prompts *prompts, int64_t seq, uint32_t *ret_images);

#endif
