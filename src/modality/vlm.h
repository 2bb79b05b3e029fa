/* SPDX-License-Identifier: Apache-2.0 */
#ifndef ASSAY_MODALITY_VLM_H
#define ASSAY_MODALITY_VLM_H

/*
 * The modality "vlm": text generation about images, over the chat API. A request is that of modality/llm.h with images
 * in its user message; answers are read and judged by the same code. Bodies hold places for images; their texts
 * (workload/images.h) are sent by reference, so that an image is in memory once, however many requests send it.
 * Requests with more than VLM_IMAGES_BY_REFERENCE images are put together in the answer's memory.
 *
 * A request one of whose images cannot be used is refused with the image and the reason. Records have a block `vlm`:
 *
 *   image_count, payload_bytes   of the request; the texts of all its images
 *   wait_ns                      what it waited for its images before it began
 *   text_prompt_tokens           of the same text without images, where that was asked before; else null
 *   images                       [{source, mime, by_url, bytes, source_bytes, width, height, source_width,
 * source_height, resized, encoded, load_ns, processing_ns, sha256, detail}]; unknown is null
 */

#include "modality/llm.h"
#include "workload/image_prompts.h"

#define VLM_IMAGES_BY_REFERENCE 8

/* What the text of request `seq` alone is for the server. */
struct vlm_text_probe {
    int64_t seq;
    int64_t prompt_tokens; /* -1 = unknown */
};

struct vlm_config {
    struct llm_config llm;         /* api must be LLM_CHAT; `images` is set here */
    const char *detail;            /* "low", "high"; NULL = not sent */
    struct image_prompts *prompts; /* images prepared; outlives the vlm */
    int64_t shard, shard_count;    /* of the plan: seq = place × shard_count + shard */
    struct vlm_text_probe probe;
};

struct vlm;

/* Errors of llm_new. */
as_status vlm_new(const struct vlm_config *config, struct vlm **ret, struct as_error *err) AS_NODISCARD;
void vlm_free(struct vlm *vlm);
/* The modality; its context is a struct vlm. */
const struct modality *vlm_modality(void);

#endif
