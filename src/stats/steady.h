/* SPDX-License-Identifier: Apache-2.0 */
#ifndef ASSAY_STATS_STEADY_H
#define ASSAY_STATS_STEADY_H

/*
 * How many were in flight, and when it was steady. Fed with begins and ends in order of time (a begin before an end of
 * the same instant). The steady window is the longest stretch in which at least 95 % of the target were in flight; gaps
 * of up to STEADY_DIP_NS (one request ends, the next begins) do not end it. Concurrency alone does not make a window
 * stationary: steady_judge_drift adds the slope of a latency inside it.
 */

#include "stats/trend.h"

#include <stdbool.h>
#include <stdint.h>

#define STEADY_DIP_NS        INT64_C(10000000)
#define STEADY_SHARE_PERCENT 95
/* Change of the fitted latency over the window, as a share of its mean, that makes it drifting … */
#define STEADY_DRIFT_RATIO 0.10
/* … if the slope is also so many standard errors from zero. */
#define STEADY_DRIFT_ERRORS 3.0

struct flight {
    int64_t in_flight, peak;
    int64_t first_ns, last_ns; /* instants of the first and the latest event */
    wide_int area;             /* Σ in flight × ns */
    bool has_events;
    int64_t clip_from_ns, clip_to_ns; /* flight_clip */
    wide_int clip_area;
    /* steady window */
    int64_t threshold; /* in flight needed; 0 = not sought */
    bool is_above, has_run;
    int64_t run_start_ns, run_end_ns; /* the stretch being followed; its end while below */
    int64_t best_start_ns, best_end_ns;
};

/* `target` in flight is what the run was meant to hold (or the peak of a first pass); 0 only measures. */
void flight_init(struct flight *flight, int64_t target);
/* Before the first event: also measures the mean between two instants (flight_clip_mean). */
void flight_clip(struct flight *flight, int64_t from_ns, int64_t to_ns);
void flight_begin(struct flight *flight, int64_t at_ns);
void flight_end(struct flight *flight, int64_t at_ns);
/* The longest steady window so far; false when there is none of non-zero length. */
bool flight_steady(const struct flight *flight, int64_t *ret_start_ns, int64_t *ret_end_ns);
/* Mean number in flight between the first and the last event; NAN when that is no time. */
double flight_mean(const struct flight *flight);
/* Mean number in flight between the instants of flight_clip; NAN when that is no time. */
double flight_clip_mean(const struct flight *flight);

struct drift {
    double ratio; /* fitted change over the window / mean; NAN = undecided */
    bool is_drifting;
};

/* `length_ns` of the window; the trend is of a latency (y) against time (x) inside it. */
struct drift steady_judge_drift(const struct trend *trend, int64_t length_ns);

#endif
