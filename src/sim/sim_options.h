/* SPDX-License-Identifier: Apache-2.0 */
#ifndef ASSAY_SIM_SIM_OPTIONS_H
#define ASSAY_SIM_SIM_OPTIONS_H

/* The options of the simulator: the table, and the struct that it fills. Texts are owned by whoever read the options.
 */

#include "options/options.h"

struct sim_settings {
    /* where it listens */
    const char *host;
    int64_t port;
    const char *unix_path;
    bool tls_self_signed;
    const char *tls_cert, *tls_key;
    int64_t threads;
    int64_t cpu; /* OPT_ABSENT = not pinned */
    const char *api_key, *api_key_file;
    int64_t keep_alive_ns; /* 0 = for ever */
    /* how the model behaves; texts read by sim_profile_init */
    const char *model;
    bool strict_model;
    const char *ttft, *itl, *tokens, *tokens_per_chunk;
    int64_t ttft_per_token_ns, itl_per_running_ns, burst_grid_ns;
    int64_t reasoning, tool_calls;
    int reasoning_field, usage, head;
    bool ignore_max_tokens;
    double tokens_per_word;
    int64_t image_tokens;
    const char *image_delay;
    int image_format, image_check;
    const char *transcripts;
    double audio_rtf;
    int64_t word_errors;
    bool inference_time;
    int64_t slots, queue;
    struct opt_list faults, freezes;
    int64_t seed;
    /* what it writes and reads */
    const char *truth_log;
    const char *job;
};

extern const struct opt sim_options[];
extern const struct opt_table sim_option_table;

#endif
