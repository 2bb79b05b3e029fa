/* SPDX-License-Identifier: Apache-2.0 */
#ifndef ASSAY_MODALITY_IMAGEGEN_POST_H
#define ASSAY_MODALITY_IMAGEGEN_POST_H

/*
 * What happens to the answers of image generation after the clock has stopped and the permit is free: worker threads
 * decode the base64, verify each image by decoding it, hash it, save it, judge the request and hand its record on.
 * docs/decisions/0006-image-artifacts.md says why and what a kill loses.
 *
 * The engine puts records into the sink given here. They wait in a queue of bounded size; a thread of the engine that
 * finds it full waits, which is counted and makes the run invalid. Whatever its size, one answer is always taken.
 * Records go on to the next sink by the number of the worker that made them: first_ring, first_ring + 1, …
 *
 * Memory at most: memory_bytes of answers, and a worker holds one answer more, its decoded bytes and 4 bytes for each
 * of max_pixels.
 *
 * Judging, of records that the engine found ok: no JSON object, no list `data`, an empty one, an item without payload,
 * an error object → schema_error; base64 or an image that does not decode → decode_error (its other images are saved
 * all the same); a file that cannot be written → artifact_error. Other errors are named by the spec's list: http_error,
 * connection_error, timeout, request_error. URLs are counted and not fetched; more or fewer items than asked for are
 * flagged (count_mismatch), as is a URL in place of base64 (format_mismatch).
 *
 * Records get a block `imagegen`:
 *   images_requested          by the body that was sent
 *   images_returned           items in `data`
 *   images_by_url
 *   response_bytes            of the answer's body; null without one
 *   megapixels                of the decoded images
 *   artifacts                 [{index, path, sha256, bytes, width, height, mime}]; path is null when images are not
 * saved item_errors               [{index, type, message}] response_path             of the saved answer, or null
 *   request                   the body that was sent
 *   post_ns, post_wait_ns     time spent on this after the end of the request, and before that in the queue
 */

#include "engine/record.h"
#include "modality/imagegen.h"

struct imagegen_post_options {
    const struct imagegen *imagegen;
    struct record_sink next;
    uint32_t first_ring, workers; /* workers ≥ 1 */
    size_t memory_bytes;          /* of answers that wait */
    const char *folder;           /* of files; NULL = nothing is saved */
    const char *shown;            /* put before the names of files in records, "artifacts/" */
    bool save_images, save_responses, overwrite;
    uint64_t max_pixels;        /* of an image; 0 = the default of media */
    const char *const *secrets; /* as of the engine */
};

struct imagegen_post;

/* AS_E_EXISTS (see artifact_folder_open), AS_E_IO, AS_E_NOMEM. `options` is copied, what it points to is not. */
as_status imagegen_post_open(const struct imagegen_post_options *options, struct imagegen_post **ret,
                             struct as_error *err) AS_NODISCARD;
struct record_sink imagegen_post_sink(struct imagegen_post *post);
/* After the engine has ended: returns when every record has been handed on; frees. Gives how often a thread of the
 * engine waited. */
int64_t imagegen_post_close(struct imagegen_post *post);

#endif
