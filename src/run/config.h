/* SPDX-License-Identifier: Apache-2.0 */
#ifndef ASSAY_RUN_CONFIG_H
#define ASSAY_RUN_CONFIG_H

/*
 * The options of a benchmark run, one struct and one table (*_options.c) a group. Fields hold what was given or the default
 * (options/options.h says what an absent value is); run_resolve adds what follows from several of them together.
 */

#include "base/status.h"
#include "options/options.h"
#include "run/image_config.h"

#include <stdbool.h>
#include <stdint.h>

enum run_api { RUN_CHAT, RUN_COMPLETION };
enum run_arrival { RUN_ARRIVAL_CONSTANT, RUN_ARRIVAL_POISSON, RUN_ARRIVAL_GAMMA };
enum run_console { RUN_CONSOLE_TABLE, RUN_CONSOLE_JSON, RUN_CONSOLE_NONE, RUN_CONSOLE_VLLM };
enum run_dataset { RUN_DATASET_UNNAMED = -1, RUN_DATASET_CUSTOM, RUN_DATASET_RANDOM };

struct endpoint_config {
    struct opt_list urls, values; /* --url, --endpoint */
    const char *host;
    int64_t port;
    const char *file;
    int balance;                  /* enum engine_balance */
    int64_t eject_after;          /* 0 = never */
    const char *api_key, *api_key_file;
    struct opt_list headers;      /* "K: V" */
    bool insecure;
    const char *ca_cert, *proxy;
};

struct request_config {
    const char *model, *served_model;
    int api;                      /* enum run_api */
    bool streaming;
    const char *system_prompt;
    int64_t max_tokens, min_tokens;
    int max_tokens_field;         /* 0 max_tokens, 1 max_completion_tokens */
    bool ignore_eos;
    double temperature;
    int64_t seed, choices;        /* sent to the server */
    const char *extra_body;
    struct opt_list extra_inputs;
    bool unique_prompts;
};

struct prompt_config {
    const char *source;
    bool skip_bad_lines;
    const char *isl, *osl;
    double range_ratio;
    int64_t count;                /* of synthetic prompts */
    bool calibrate;
    double tokens_per_word;
    int dataset;                  /* enum run_dataset */
};

struct load_config {
    int64_t num_requests;
    int64_t duration_ns, stop_after_ns;
    int64_t concurrency, max_concurrency;
    double rate_per_s;
    int arrival;                  /* enum run_arrival */
    double burstiness;
    int64_t ramp_up_ns, warmup_requests;
    bool warmup_barrier;
    int64_t drain_ns;
    int64_t seed;
    const char *shard;
};

struct connection_config {
    int64_t request_timeout_ns, connect_timeout_ns, idle_timeout_ns, keepalive_ns;
    int64_t retries, retry_backoff_ns;
    int64_t max_idle, threads;
    bool reuse, prewarm, kernel_stamps;
    int64_t busy_poll_ns;
};

struct result_config {
    const char *folder, *data_log;
    int console;                  /* enum run_console */
    bool quiet;
    int64_t progress_ns;
    bool save_content, save_gaps;
    int64_t save_limit_bytes;
    const char *description, *keywords, *scenario;
    const char *sweep;
    int64_t stage; /* in the sweep, OPT_ABSENT = not given */
    struct opt_list goodput;
    int percentile_method;        /* enum percentile_method */
    const char *percentile_metrics, *metric_percentiles;
    bool fail_on_error, require_valid;
    double lag_share, late_share, delivered_share, error_share;
    int64_t disk_wait_ns;
    struct opt_list ntp_servers;
    bool skip_ntp;
    bool dry_run;
    const char *job;
};

/* What `assay asr` sends and asks for. */
struct audio_config {
    const char *manifest, *ground_truth, *cache;
    bool skip_bad_lines, probe_duration;
    int64_t memory_bytes;
    int format;                   /* enum asr_format */
    const char *language, *prompt;
    int granularity;              /* enum run_granularity */
    double temperature;
    bool streaming;
    const char *extra_body;
    int normalizer;               /* enum normalizer */
};
enum run_granularity { RUN_GRANULARITY_WORD, RUN_GRANULARITY_SEGMENT, RUN_GRANULARITY_NONE };

struct run_config {
    struct endpoint_config endpoint;
    struct request_config request;
    struct prompt_config prompt;
    struct image_config image;
    struct imagegen_config imagegen;
    struct audio_config audio;
    struct load_config load;
    struct connection_config connection;
    struct result_config result;
};

/* Bits of struct opt.modes. */
enum run_mode {
    RUN_CLOSED = 1u << 0,
    RUN_OPEN = 1u << 1,
    RUN_API_CHAT = 1u << 2,
    RUN_API_COMPLETION = 1u << 3,
    RUN_STREAM = 1u << 4,
    RUN_WHOLE = 1u << 5,
    RUN_FROM_FILE = 1u << 6,
    RUN_SYNTHETIC = 1u << 7,
    RUN_ONE_SERVER = 1u << 8,
    RUN_MANY_SERVERS = 1u << 9,
    RUN_TLS = 1u << 10,
    RUN_PLAIN = 1u << 11,
    RUN_VLLM_BLOCK = 1u << 12,
    RUN_OTHER_CONSOLE = 1u << 13,
    RUN_JSON_ANSWERS = 1u << 24, /* asr: response formats */
    RUN_TEXT_ANSWERS = 1u << 25,
    RUN_LOSSY_IMAGES = 1u << 26, /* vlm: images may be encoded anew as JPEG or WebP */
    RUN_PLAIN_IMAGES = 1u << 27,
    RUN_KEPT_FILES = 1u << 28, /* imagegen: images or answers are saved */
    RUN_NO_FILES = 1u << 29
};

/* Of every tool, but for those whose comment says otherwise. */
extern const struct opt_table ENDPOINT_TABLE, MODEL_TABLE, LOAD_TABLE, CONNECTION_TABLE, RESULT_TABLE;
extern const struct opt_table BALANCE_TABLE, EVEN_BALANCE_TABLE;   /* one of them: --load-balancer, weighted or plain by default */
extern const struct opt_table CONSOLE_TABLE, PLAIN_CONSOLE_TABLE;  /* one of them: --console, with vLLM's block or without */
extern const struct opt_table DATA_LOG_TABLE;                      /* --data-log as the one-line summary */
extern const struct opt_table CONTENT_TABLE;                       /* answers that are texts */
extern const struct opt_table GAPS_TABLE, REQUEST_TABLE;           /* chat and completions */
extern const struct opt_table API_TABLE, PROMPT_TABLE;             /* llm */
extern const struct opt_table AUDIO_TABLE, TRANSCRIPTION_TABLE;    /* asr */
extern const struct opt_foreign RUN_FOREIGN[];                     /* of llm; ends with a NULL name, as the next one */
extern const struct opt_foreign RUN_FOREIGN_CHAT[];                /* of vlm */
extern const struct opt_foreign RUN_FOREIGN_COMMON[];              /* server, load and results alone */

/* What all tools' command lines share. */
#define RUN_EXIT_COUNT 12
extern const struct opt_exit RUN_EXITS[RUN_EXIT_COUNT];

/* The command lines. */
extern const struct opt_command LLM_LINE, ASR_LINE;

#endif
