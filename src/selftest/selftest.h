/* SPDX-License-Identifier: Apache-2.0 */
#ifndef ASSAY_SELFTEST_SELFTEST_H
#define ASSAY_SELFTEST_SELFTEST_H

/*
 * What this machine's client costs and how wrong its times are: runs the built `assay llm` against the built `assay
 * sim`, two processes on a CPU each where there are two, and reads their results. One thread; nothing is left running.
 */

#include "base/arena.h"
#include "base/status.h"
#include "base/strbuf.h"
#include "options/options.h"
#include "selftest/timing.h"

struct selftest_settings {
    int64_t seconds;     /* of each load */
    int64_t max_streams; /* where the search for the bottleneck ends */
    const char *keep;    /* folder for the results, NULL = a temporary one, removed */
    bool json;
};
extern const struct opt_table selftest_option_table;

/* One load and what it cost. Rates over the measured window; NAN = unknown. */
struct selftest_load {
    const char *name;
    int64_t connections;
    int64_t ok, failed;
    int64_t chunks; /* content chunks of successes, 0 without streams */
    double requests_per_s, chunks_per_s;
    double cpu_ratio; /* of a core, the client's */
    double cpu_us_per_request, cpu_us_per_chunk;
    double read_lag_p99_us; /* the client's reads behind the kernel's stamps */
    bool has_timing;
    struct timing timing;
};

#define SELFTEST_LOADS_MAX 16
enum selftest_limit {
    SELFTEST_LIMIT_NONE,     /* held everything that was tried */
    SELFTEST_LIMIT_CLIENT,   /* the client fell behind at `over` */
    SELFTEST_LIMIT_SIMULATOR /* the simulator fell behind first */
};

struct selftest_report {
    int cpu_count;
    int sim_cpu, client_cpu; /* -1 = shared */
    struct selftest_load loads[SELFTEST_LOADS_MAX];
    size_t load_count;
    enum selftest_limit limit;
    double held_chunks_per_s; /* the largest rate that the client held, NAN = none */
    double over_chunks_per_s; /* the rate at which it did not, NAN = none */
};

/* `program` is the path of assay; `progress` (may be NULL) is told what begins. */
as_status selftest_run(const struct selftest_settings *settings, const char *program,
                       void (*progress)(const char *what), struct selftest_report *ret,
                       struct as_error *err) AS_NODISCARD;

/* A table for people, or one JSON object. */
void selftest_show(const struct selftest_report *report, struct strbuf *out);
void selftest_json(const struct selftest_report *report, struct strbuf *out);

#endif
