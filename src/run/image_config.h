/* SPDX-License-Identifier: Apache-2.0 */
#ifndef ASSAY_RUN_IMAGE_CONFIG_H
#define ASSAY_RUN_IMAGE_CONFIG_H

/* The options of `assay vlm` and `assay imagegen` that the other tools do not have. */

#include "options/options.h"

#include <stdbool.h>
#include <stdint.h>

/* Images that are sent. */
struct image_config {
    bool by_url;           /* --server-side-download */
    int64_t max_dimension; /* OPT_ABSENT = no limit */
    int format;            /* place in the choices of --image-format, 0 = kept */
    int64_t quality;
    int detail;    /* of --image-detail: 0 = not sent, 1 low, 2 high */
    int64_t batch; /* OPT_ABSENT = the line's */
    int64_t cache_bytes, max_bytes, max_pixels;
    bool decode;     /* --check-images */
    bool text_probe; /* --text-probe */
    int64_t threads; /* OPT_ABSENT = one a processor */
};

/* Images that are asked for, and what becomes of them. */
struct imagegen_config {
    const char *prompt; /* --prompt; else prompt_config.source */
    int64_t count;      /* --n */
    const char *size, *negative_prompt;
    int format; /* --response-format: 0 b64_json, 1 url */
    int64_t steps;
    double guidance_scale;
    int64_t seed;  /* --request-seed, OPT_ABSENT = none sent */
    int seed_mode; /* enum imagegen_seed_mode */
    const char *extra_body;
    bool health_check;
    const char *health_path;
    bool save_images, save_responses, overwrite;
    const char *folder; /* --artifact-dir, NULL = in the result folder */
    const char *data_log, *summary;
    int64_t threads, memory_bytes, max_answer_bytes, max_pixels;
};

extern const struct opt_table IMAGE_TABLE, IMAGE_PROMPT_TABLE;                                            /* vlm */
extern const struct opt_table IMAGEGEN_TABLE, IMAGEGEN_TEXT_TABLE, IMAGEGEN_PROMPT_TABLE, ARTIFACT_TABLE; /* imagegen */
extern const struct opt_command VLM_LINE, IMAGEGEN_LINE;

#endif
