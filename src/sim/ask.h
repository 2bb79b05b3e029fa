/* SPDX-License-Identifier: Apache-2.0 */
#ifndef ASSAY_SIM_ASK_H
#define ASSAY_SIM_ASK_H

/*
 * Reads the body of a chat or completion request in place: what the simulator acts on, nothing else. Members it does
 * not know are ignored, as real servers do. Any thread.
 */

#include "base/json.h"
#include "base/status.h"
#include "sim/audio.h"
#include "sim/images.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define SIM_CHOICES_MAX 16

struct sim_ask {
    bool is_chat;
    bool is_audio; /* a transcription: `audio` says more */
    bool is_images; /* image generation: `images_asked` says more */
    bool stream;
    bool include_usage; /* stream_options.include_usage */
    bool ignore_eos;
    int64_t max_tokens;    /* max_tokens or max_completion_tokens, the later one; -1 = not given */
    int64_t min_tokens;    /* -1 = not given */
    int64_t choices;       /* n, 1–SIM_CHOICES_MAX */
    int64_t prompt_words;  /* white-space separated words of all text parts */
    int64_t prompt_ids;    /* token ids of a completion prompt given as numbers */
    int64_t images;        /* image parts */
    struct json_raw model; /* in the body; at NULL = not given */
    struct sim_audio_ask audio;
    struct sim_images_ask images_asked;
};

/* AS_E_INVALID with a sentence for the 400 answer. */
as_status sim_ask_read(const char *body, size_t len, bool is_chat, struct sim_ask *ret,
                       struct as_error *err) AS_NODISCARD;
/* The same for a chat whose images are looked at. */
as_status sim_ask_read_chat(const char *body, size_t len, enum sim_image_check check, struct sim_ask *ret,
                            struct as_error *err) AS_NODISCARD;

#endif
