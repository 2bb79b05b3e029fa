/* SPDX-License-Identifier: Apache-2.0 */
#ifndef ASSAY_PROMPTS_SNAPSHOT_IMPORT_H
#define ASSAY_PROMPTS_SNAPSHOT_IMPORT_H

/*
 * Makes snapshots (prompts/snapshot.h) of what people have. Images: a folder and a JSONL file of descriptions, a line
 * each with `prompt` and `image_url` or `image_urls` relative to the folder; the images are copied and must decode. A
 * list: prompts as workload/imagegen_prompts.h reads them, copied as they are. LibriSpeech: the folder itself becomes
 * the snapshot, with manifest.jsonl and ground_truth.jsonl in it. One thread.
 */

#include "prompts/snapshot.h"

#include <stdint.h>

struct snapshot_import {
    const char *from;         /* folder of images, LibriSpeech's folder, or NULL */
    const char *rows;         /* file of descriptions or prompts, or NULL */
    const char *folder;       /* of the snapshot */
    const char *code, *source, *licence;
};
struct snapshot_result {
    int64_t rows, files, bytes;
    int64_t missing; /* LibriSpeech: transcripts without audio, left out */
};

/* AS_E_INVALID: a bad line, an image that does not decode, a path outside the folder; AS_E_NOTFOUND; AS_E_EXISTS: a snapshot is
   there; AS_E_IO, AS_E_NOMEM. */
as_status snapshot_import_images(const struct snapshot_import *what, struct snapshot_result *ret, struct as_error *err) AS_NODISCARD;
as_status snapshot_import_list(const struct snapshot_import *what, struct snapshot_result *ret, struct as_error *err) AS_NODISCARD;
as_status snapshot_import_librispeech(const struct snapshot_import *what, struct snapshot_result *ret, struct as_error *err) AS_NODISCARD;

#endif
