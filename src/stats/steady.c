/* SPDX-License-Identifier: Apache-2.0 */
#include "stats/steady.h"

#include <math.h>

void flight_init(struct flight *flight, int64_t target)
{
    *flight = (struct flight){.threshold = (target * STEADY_SHARE_PERCENT + 99) / 100};
}

void flight_clip(struct flight *flight, int64_t from_ns, int64_t to_ns)
{
    flight->clip_from_ns = from_ns;
    flight->clip_to_ns = to_ns;
}

static void keep_longest(struct flight *flight, int64_t end_ns)
{
    if (end_ns - flight->run_start_ns <= flight->best_end_ns - flight->best_start_ns)
        return;
    flight->best_start_ns = flight->run_start_ns;
    flight->best_end_ns = end_ns;
}

static void follow(struct flight *flight, int64_t at_ns)
{
    bool is_above = flight->threshold > 0 && flight->in_flight >= flight->threshold;
    if (is_above == flight->is_above)
        return;
    flight->is_above = is_above;
    if (!is_above) {
        flight->run_end_ns = at_ns;
        keep_longest(flight, at_ns);
    } else if (!flight->has_run || at_ns - flight->run_end_ns > STEADY_DIP_NS) {
        flight->has_run = true;
        flight->run_start_ns = at_ns;
    }
}

static void move_to(struct flight *flight, int64_t at_ns)
{
    if (!flight->has_events) {
        flight->has_events = true;
        flight->first_ns = flight->last_ns = at_ns;
    }
    if (at_ns <= flight->last_ns)
        return;
    flight->area += (wide_int)flight->in_flight * (at_ns - flight->last_ns);
    int64_t from_ns = flight->last_ns > flight->clip_from_ns ? flight->last_ns : flight->clip_from_ns;
    int64_t to_ns = at_ns < flight->clip_to_ns ? at_ns : flight->clip_to_ns;
    if (to_ns > from_ns)
        flight->clip_area += (wide_int)flight->in_flight * (to_ns - from_ns);
    flight->last_ns = at_ns;
}

void flight_begin(struct flight *flight, int64_t at_ns)
{
    move_to(flight, at_ns);
    if (++flight->in_flight > flight->peak)
        flight->peak = flight->in_flight;
    follow(flight, at_ns);
}

void flight_end(struct flight *flight, int64_t at_ns)
{
    move_to(flight, at_ns);
    flight->in_flight--;
    follow(flight, at_ns);
}

bool flight_steady(const struct flight *flight, int64_t *ret_start_ns, int64_t *ret_end_ns)
{
    struct flight closed = *flight;
    if (closed.is_above)
        keep_longest(&closed, closed.last_ns);
    if (closed.best_end_ns <= closed.best_start_ns)
        return false;
    *ret_start_ns = closed.best_start_ns;
    *ret_end_ns = closed.best_end_ns;
    return true;
}

double flight_mean(const struct flight *flight)
{
    int64_t length_ns = flight->last_ns - flight->first_ns;
    return length_ns > 0 ? (double)flight->area / (double)length_ns : (double)NAN;
}

double flight_clip_mean(const struct flight *flight)
{
    int64_t length_ns = flight->clip_to_ns - flight->clip_from_ns;
    return length_ns > 0 ? (double)flight->clip_area / (double)length_ns : (double)NAN;
}

struct drift steady_judge_drift(const struct trend *trend, int64_t length_ns)
{
    struct trend_result fit = trend_fit(trend);
    struct drift drift = {.ratio = (double)NAN};
    if (isnan(fit.slope) || !(fit.mean > 0))
        return drift;
    drift.ratio = fit.slope * (double)length_ns / fit.mean;
    drift.is_drifting =
        fabs(drift.ratio) > STEADY_DRIFT_RATIO && fabs(fit.slope) > STEADY_DRIFT_ERRORS * fit.slope_error;
    return drift;
}
