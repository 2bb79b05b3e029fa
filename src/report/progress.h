/* SPDX-License-Identifier: Apache-2.0 */
#ifndef ASSAY_REPORT_PROGRESS_H
#define ASSAY_REPORT_PROGRESS_H

/* The progress line: figures → one line of text, without a newline. Pure; any thread. */

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct progress_figures {
    int64_t done;    /* requests that ended, whatever their outcome */
    int64_t planned; /* -1 = bounded by time */
    int64_t errors;  /* failed, timed out, refused */
    int64_t in_flight;
    int64_t warmup_left;                            /* > 0 while warming up */
    double elapsed_s;                               /* since the run's epoch */
    double duration_s;                              /* planned length; NAN = bounded by number */
    double requests_per_s, completion_tokens_per_s; /* NAN = unknown */
    bool is_streaming;                              /* the latencies are TTFTs, else response times */
    double latency_p50_ms, latency_p99_ms;          /* of the latest; NAN = none yet */
    bool is_draining;                               /* stopped: waiting for those in flight */
};

#define PROGRESS_LINE_BYTES 256

/*
 * "120/400 30% | 12.3 req/s | 1234 tok/s | TTFT p50 51.2 p99 80.1 ms | 8 in flight | 0 errors | ETA 23.4 s". Cut to
 * `columns` (0 = no limit) so that it never wraps. Returns the length.
 */
size_t progress_format(const struct progress_figures *figures, size_t columns, char ret[PROGRESS_LINE_BYTES]);

/* Seconds until the run ends at its present speed; NAN when unknown. */
double progress_eta_s(const struct progress_figures *figures);

/* Nearest-rank p50 and p99 in ms of the latest latencies (ns, `count` of them, reordered); NAN when there is none. */
void progress_percentiles(int64_t *recent_ns, size_t count, double *ret_p50_ms, double *ret_p99_ms);

#endif
