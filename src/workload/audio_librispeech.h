/* SPDX-License-Identifier: Apache-2.0 */
#ifndef ASSAY_WORKLOAD_AUDIO_LIBRISPEECH_H
#define ASSAY_WORKLOAD_AUDIO_LIBRISPEECH_H

/*
 * LibriSpeech's folder layout (openslr.org/12): `<speaker>/<chapter>/<speaker>-<chapter>-<number>.flac`, with the
 * transcripts of a chapter in `<speaker>-<chapter>.trans.txt`, one "id text" a line. Found at any depth below a folder,
 * so that the whole set, a part (test-clean) or one chapter can be given.
 */

#include "base/strbuf.h"
#include "workload/audio.h"

#include <stdbool.h>
#include <stdint.h>

struct librispeech {
    struct strbuf manifest;     /* JSONL: id, path, format, duration when measured; by id's folder and place */
    struct strbuf ground_truth; /* JSONL: id, transcript */
    int64_t chapters, samples;
    int64_t missing; /* transcripts without their audio file, left out */
    char first_missing[AUDIO_ID_BYTES];
};

/*
 * Reads what is below `folder`; paths in the manifest are relative to it, or absolute with `is_absolute`. With
 * `measures` the files are measured (audio_set_measure). AS_E_NOTFOUND: no folder, or no transcripts in it;
 * AS_E_INVALID: a transcript file that is none; AS_E_IO, AS_E_NOMEM.
 */
as_status librispeech_read(const char *folder, bool is_absolute, bool measures, struct librispeech *ret,
                           struct as_error *err) AS_NODISCARD;
void librispeech_done(struct librispeech *found);

#endif
