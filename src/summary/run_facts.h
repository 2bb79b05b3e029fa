/* SPDX-License-Identifier: Apache-2.0 */
#ifndef ASSAY_SUMMARY_RUN_FACTS_H
#define ASSAY_SUMMARY_RUN_FACTS_H

/*
 * What a summary needs and no record holds: who ran what, where and under which rules, and what the engine counted. The
 * command fills it; summary/run_file.h keeps it as run.json in the result folder, so that `assay summarize` makes the
 * same summary from the records. Strings are borrowed (from the caller, or from the arena of run_file_read). NULL, -1
 * and NAN mean unknown and become null.
 */

#include "engine/engine.h"
#include "stats/distribution.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Upper bounds of a good request, ns; -1 = none. */
struct run_slo {
    int64_t ttft_ns, tpot_ns, e2e_ns, itl_ns;
};

/* How records are judged. */
struct run_rules {
    bool is_streaming, is_open_loop;
    bool expects_full_length;   /* min-tokens or ignore-eos: an answer shorter than max_tokens is a fault */
    bool has_unique_prompts;    /* each request's prompt was made unique: repeats of a prompt id do not hit a cache */
    int64_t planned_requests;   /* of this shard, warm-up included; -1 = bounded by time */
    int64_t concurrency;        /* closed loop permits, or the cap of an open loop; -1 = none */
    double request_rate_per_s;  /* open loop; NAN = none */
    int64_t ramp_up_ns;         /* 0 = none */
    int64_t request_timeout_ns; /* -1 = none */
    int64_t prompt_count;       /* distinct prompts in the source; -1 = unknown */
    struct run_slo slo;
    enum percentile_method percentile_method;
    double lag_share;       /* client lag p99 over this share of the metric's median is invalid; 0.10 */
    double late_share;      /* more late sends than this share is invalid; 0.01 */
    double delivered_share; /* a lower share of the planned load is invalid; 0.95 */
    double error_share;     /* a higher share of requests whose connection failed is invalid; 0.10 */
};

struct run_endpoint {
    const char *name, *url; /* url without user-info */
    int64_t weight;
};

struct run_environment {
    const char *host, *kernel, *cpu_model, *governor, *clock_source;
    int64_t cpu_count, memory_bytes, fd_limit, port_low, port_high;
};

struct run_ntp {
    const char *outcome; /* "ok", "skipped", "unreachable"; NULL = not asked */
    const char *server;  /* the one that answered */
    const char *message; /* for people; NULL = none */
    int64_t offset_ns;   /* server − local clock, valid when outcome is "ok" */
    int64_t round_trip_ns;
};

struct run_facts {
    const char *tool; /* "llm" */
    const char *version, *commit, *compiler;
    const char *run_id; /* UUID */
    const char *human_id;
    const char *timestamp;                         /* RFC 3339 UTC */
    const char *scenario, *description, *keywords; /* NULL = not given */
    const char *config_json;                       /* one JSON object: everything in effect */
    int64_t shard, shard_count;                    /* 0, 1 = all */
    struct run_rules rules;
    const struct run_endpoint *endpoints; /* by index of request_record.endpoint */
    size_t endpoint_count;
    struct run_environment environment;
    struct run_ntp ntp;
    bool has_epoch;             /* epoch_* are known */
    int64_t epoch_monotonic_ns; /* CLOCK_MONOTONIC at the run's epoch */
    int64_t epoch_utc_ns;       /* wall clock then, since 1970 */
    bool has_result;            /* the run came to its end and `result` is what the engine left */
    struct engine_result result;
    int64_t journal_full_waits; /* times an engine thread waited for the record writer; -1 = unknown */
    int64_t records_left;       /* that only the journal held at the end; -1 = unknown */
    int64_t records_lost;       /* that could be kept nowhere; -1 = unknown */
    /* known to who reads the records back, not kept in run.json */
    int64_t damaged_rings;      /* of the journal, not or not wholly readable */
    const char *input;          /* where the records came from, NULL = the run itself */
};

/* Everything unknown, rules at their defaults. */
void run_facts_init(struct run_facts *facts);
/* Takes over what the engine left: the epoch and the result. */
void run_facts_set_result(struct run_facts *facts, const struct engine_result *result);

#endif
