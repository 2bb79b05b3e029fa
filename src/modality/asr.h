/* SPDX-License-Identifier: Apache-2.0 */
#ifndef ASSAY_MODALITY_ASR_H
#define ASSAY_MODALITY_ASR_H

/*
 * The modality "asr": audio files posted as multipart/form-data to an OpenAI-compatible transcription API. All that
 * stands around a file is made before the run, and the file's bytes are sent by reference from the audio set; files
 * that the set does not hold are read, off the clock, just before they are sent.
 *
 * Two response times, named apart: `response_time_ns` of the record counts from the send, `asr.response_time_spec_ns`
 * adds the time that reading the file took (when it was read for this request, or when it was taken into memory), which
 * is the spec's definition.
 *
 * Inference time is what the server says (inference_time in JSON), else response_time_ns, marked "client". RTF =
 * inference time / audio duration, RTFx = its inverse; null where the duration is unknown.
 *
 * The record's own block is written here without scores; modality/asr_score.h adds them off the clock. The context
 * (struct asr) is read-only once made; any thread. The audio set outlives it.
 */

#include "base/status.h"
#include "engine/modality.h"
#include "modality/asr_text.h"
#include "workload/audio.h"

#include <stdbool.h>
#include <stdint.h>

#define ASR_LANGUAGE_DEFAULT "en"

/* What is asked of the server. */
struct asr_config {
    const char *model; /* required */
    enum asr_format format;
    const char *language;    /* NULL or "auto" = not sent */
    const char *granularity; /* "word", "segment": timestamp_granularities[], for JSON formats; NULL = not sent */
    const char *prompt;      /* NULL = not sent */
    double temperature;      /* NaN = not sent */
    bool streaming;          /* stream=true */
    const char *extra_body; /* JSON object: its members become fields, replacing ours of the same name; NULL = none. Not
                               allowed in it: file, stream, response_format (options of their own) */
    bool keeps_transcripts; /* record.content is set: it is saved, or scored */
    bool keeps_times;       /* the record's block has the time stamps of a JSON answer */
    uint64_t seed;          /* of the boundary */
    const char *const *secrets; /* ends with NULL: texts no message may hold; NULL = none */
};

struct asr;

/* AS_E_USAGE: a member of the config that cannot be (the sentence names the option); AS_E_NOMEM. config may go
 * afterwards. */
as_status asr_new(const struct asr_config *config, const struct audio_set *set, struct asr **ret,
                  struct as_error *err) AS_NODISCARD;
void asr_free(struct asr *asr);

/* The modality; its context is a struct asr. */
const struct modality *asr_modality(void);

/* Appends what stands before the file of sample number `seq`, as it is sent. */
as_status asr_head(const struct asr *asr, int64_t seq, struct strbuf *out) AS_NODISCARD;

/* Appends the record's block of a request that was refused: what is known of its sample, all else null. */
void asr_block_of_refused(const struct audio_sample *sample, enum asr_format format, struct strbuf *out);

#endif
