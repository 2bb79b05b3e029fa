/* SPDX-License-Identifier: Apache-2.0 */
#ifndef ASSAY_SIM_PROFILE_H
#define ASSAY_SIM_PROFILE_H

/*
 * How the simulated model behaves: delays, lengths, form of the answers, saturation, faults. Made from the options
 * once, read-only afterwards; any thread. What its pointers point to lives in the arena given to sim_profile_init.
 */

#include "base/arena.h"
#include "sim/audio.h"
#include "sim/dist.h"
#include "sim/fault.h"
#include "sim/images.h"
#include "sim/pace.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define SIM_MODEL_BYTES_MAX      128
#define SIM_TOKENS_MAX           1000000
#define SIM_TOKENS_PER_CHUNK_MAX 1024

struct sim_settings;

enum sim_usage {
    SIM_USAGE_ON,    /* in a stream when asked for, else always */
    SIM_USAGE_OFF,   /* never */
    SIM_USAGE_EVERY, /* in a stream with every chunk, cumulative, and at the end */
    SIM_USAGE_ALWAYS /* at the end of a stream, asked for or not */
};

struct sim_profile {
    struct sim_dist ttft;             /* ns from the request to its first output */
    int64_t ttft_per_token_ns;        /* more for each prompt token */
    struct sim_dist itl;              /* ns from one output to the next (one step) */
    int64_t itl_per_running_ns;       /* more for each other request that runs at the same time */
    struct sim_dist tokens;           /* content tokens of an answer, the stop token not counted */
    struct sim_dist tokens_per_chunk; /* tokens one step gives */
    int64_t reasoning_tokens;         /* come before the content */
    int64_t tool_calls;               /* > 0: the tokens are the arguments of so many calls */
    double tokens_per_word;           /* of prompts */
    int64_t image_tokens;             /* prompt tokens an image */
    struct sim_dist image_delay;      /* ns of work an image that is made */
    int image_format;                 /* of those: 0 PNG, 1 JPEG, 2 WebP */
    enum sim_image_check image_check; /* of images that are sent */
    enum sim_usage usage;
    const char *reasoning_field; /* "reasoning_content" or "reasoning" */
    double audio_rtf;    /* work a second of audio, seconds */
    int64_t word_errors; /* every so many-th word of a transcript is wrong, 0 = none */
    bool tells_inference_time;
    struct sim_transcripts transcripts;
    bool ignore_max_tokens;
    bool strict_model;   /* 404 for another model's name */
    bool late_head;      /* response head and role come with the first output */
    const char *model;   /* needs no JSON escape */
    uint32_t slots;      /* 0 = no limit */
    int64_t queue_limit; /* -1 = no limit */
    struct sim_pace pace;
    const struct sim_fault *faults;
    size_t fault_count;
    uint64_t seed;
};

/* A model name that needs no JSON escape: 1 to SIM_MODEL_BYTES_MAX bytes. */
bool sim_model_is_usable(const char *name);

/* AS_E_USAGE names the option. */
as_status sim_profile_init(const struct sim_settings *settings, struct arena *arena, struct sim_profile *ret,
                           struct as_error *err) AS_NODISCARD;

#endif
