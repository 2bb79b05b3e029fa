/* SPDX-License-Identifier: Apache-2.0 */
#ifndef ASSAY_MODALITY_ASR_BLOCK_H
#define ASSAY_MODALITY_ASR_BLOCK_H

/*
 * The block `asr` of a request's record. Members, always all of them, unknown = null:
 *
 *   format                      of the file, which decided the MIME type
 *   audio_bytes_sent            bytes of the file
 *   audio_duration_ns           its length; duration_source: "manifest", "file"
 *   response_format             asked for
 *   response_bytes              of the answer's body
 *   file_read_ns                reading the file took
 *   response_time_spec_ns       file_read_ns + response_time_ns: from before the file was read (the spec's definition)
 *   inference_time_ns           inference_time_source: "server", or "client": response_time_ns in its place
 *   rtf, rtfx                   inference time / audio duration, and the inverse
 *   words, chars                of the transcript; chars are code points, white space around it aside
 *   words_per_inference_second, chars_per_inference_second
 *   cues                        of subtitles
 *   language, server_duration_ns   as the server told
 *
 * Behind them, when they are kept: modality/asr_times.h.
 */

#include "base/strbuf.h"
#include "modality/asr_text.h"
#include "workload/audio.h"

/* What came of a request; -1 = unknown. */
struct asr_result {
    int64_t read_ns, response_ns;
    int64_t body_bytes;
    bool is_ok;
    int64_t words, chars;
    const struct asr_reading *reading;
};

/* Appends the object; its failures stick in `out`. */
void asr_block_write(const struct audio_sample *sample, enum asr_format format, const struct asr_result *result,
                     struct strbuf *out);

#endif
