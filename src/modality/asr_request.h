/* SPDX-License-Identifier: Apache-2.0 */
#ifndef ASSAY_MODALITY_ASR_REQUEST_H
#define ASSAY_MODALITY_ASR_REQUEST_H

/* What stands around the files of a run's requests (for asr.c). */

#include "base/arena.h"
#include "modality/asr.h"
#include "modality/multipart.h"

struct asr_part {
    char *at; /* in the arena */
    size_t len;
};

struct asr_requests {
    char boundary[MULTIPART_BOUNDARY_BYTES];
    char content_type[MULTIPART_BOUNDARY_BYTES + 40];
    struct asr_part fields; /* the same for all */
    struct asr_part *heads; /* of the file's part, one a sample */
    struct asr_part tail;
};

/* The boundary is in no file that the set holds and in no field. AS_E_USAGE, AS_E_NOMEM. */
as_status asr_requests_make(const struct asr_config *config, const struct audio_set *set, struct arena *arena,
                            struct asr_requests *ret, struct as_error *err) AS_NODISCARD;

#endif
