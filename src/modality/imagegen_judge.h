/* SPDX-License-Identifier: Apache-2.0 */
#ifndef ASSAY_MODALITY_IMAGEGEN_JUDGE_H
#define ASSAY_MODALITY_IMAGEGEN_JUDGE_H

/* One answer of image generation: read, decoded, saved, judged (for imagegen_post.c, which says by which rules). */

#include "base/strbuf.h"
#include "engine/error_text.h"
#include "modality/artifact_folder.h"
#include "modality/imagegen.h"

/* The same for all answers of a run; read-only. */
struct imagegen_judge {
    const struct imagegen *imagegen;
    const struct artifact_folder *folder; /* NULL = nothing is saved */
    const char *shown;
    bool save_images, save_responses;
    uint64_t max_pixels;
    const char *const *secrets;
};

/* Buffers of one thread, kept from answer to answer. */
struct imagegen_scratch {
    struct strbuf bytes;                         /* of one image */
    struct strbuf artifacts, item_errors, block; /* JSON */
};
void imagegen_scratch_init(struct imagegen_scratch *scratch);
void imagegen_scratch_done(struct imagegen_scratch *scratch);

/* A record taken over from the engine, with the answer that came with it. */
struct imagegen_judging {
    struct request_record record;
    char *answer; /* malloc'ed; NULL = none */
    size_t answer_len;
    struct error_text message;
    int64_t wait_ns;
};
/* Copies the record and takes the memory of its `content`. */
void imagegen_judging_take(struct imagegen_judging *judging, const struct request_record *take_record);
void imagegen_judging_done(struct imagegen_judging *judging);

/* Makes judging->record what is to be kept; it points into the scratch and the judging. */
void imagegen_judge(const struct imagegen_judge *judge, struct imagegen_scratch *scratch,
                    struct imagegen_judging *judging);

#endif
