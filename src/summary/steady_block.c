/* SPDX-License-Identifier: Apache-2.0 */
/* In flight over time, the steady window, and the figures of what ended inside it. */
#include "stats/steady.h"

#include "stats/sort.h"
#include "summary/builder.h"

#include <math.h>
#include <stdlib.h>

#define UNDEFINED     ((double)NAN)
#define MIN_SUCCESSES 10   /* fewer say nothing about rates or drift */
#define MIN_SHARE     0.05 /* of the window; a shorter stretch is a peak of the load, not a steady state */

/* Begins (a sorted array) and ends (a sorted column) merged into `flight`; a begin goes before an end of the same
 * instant. */
static as_status scan(const struct values *begins, const struct column *ends, struct flight *flight)
{
    struct column_cursor cursor;
    column_cursor_init(&cursor, ends);
    int64_t end_ns, next = 0;
    while (column_next(&cursor, &end_ns)) {
        for (; next < begins->count && begins->at[next] <= end_ns; next++)
            flight_begin(flight, begins->at[next]);
        flight_end(flight, end_ns);
    }
    return cursor.status;
}

/* The concurrency that all shards together were to hold; 0 in an open loop. */
static int64_t closed_target(const struct summary_builder *builder)
{
    int64_t target = 0;
    for (size_t i = 0; i < builder->run_count; i++) {
        const struct run_rules *rules = &builder->runs[i].facts->rules;
        if (rules->is_open_loop || rules->concurrency <= 0)
            return 0;
        target += rules->concurrency;
    }
    return target;
}

static as_status fly(struct summary_builder *builder, struct summary *summary, struct flight *flight)
{
    AS_AUTO_VALUES struct values begins = {0};
    const struct column *columns[] = {&builder->sent};
    as_status status = column_sort(&builder->done);
    if (status == AS_OK)
        status = column_load_sorted(columns, 1, &begins);
    if (status != AS_OK)
        return status;
    int64_t target = closed_target(builder);
    for (int pass = 0; pass < 2 && status == AS_OK; pass++) {
        flight_init(flight, target);
        if (builder->measured_sent.n > 0)
            flight_clip(flight, builder->measured_sent.first_ns, builder->measured_sent.last_ns);
        status = scan(&begins, &builder->done, flight);
        if (target > 0)
            break;
        target = flight->peak;
    }
    summary->steady.target = target;
    return status;
}

struct steady_latency {
    struct distribution distribution;
    struct trend trend;
};

/* What counts as inside the steady window: a request that ended in it, or (is_whole) one that also began in it. */
struct inside {
    int64_t from_ns, to_ns;
    bool is_whole;
};

/* Called for every success inside: its end and its value of the column that is visited. */
struct visitor {
    void (*take)(struct visitor *visitor, int64_t done_ns, int64_t value);
    struct values values;
    struct trend trend;
    int64_t count;
    wide_int sum;
};

/* One row of a tally; response time and metric may be missing. */
struct row {
    int64_t done_ns, response_time_ns, value;
};

static bool is_inside(const struct inside *inside, const struct row *row)
{
    if (row->done_ns == COLUMN_MISSING || row->value == COLUMN_MISSING)
        return false;
    if (row->done_ns < inside->from_ns || row->done_ns > inside->to_ns)
        return false;
    return !inside->is_whole ||
           (row->response_time_ns != COLUMN_MISSING && row->done_ns - row->response_time_ns >= inside->from_ns);
}

static as_status visit_tally(const struct tally *tally, enum tally_column which, const struct inside *inside,
                             struct visitor *visitor)
{
    struct column_cursor done, response_time, metric;
    struct row row;
    if (tally->columns[which].rows == tally->columns[which].missing)
        return AS_OK;
    column_cursor_init(&done, &tally->columns[COLUMN_DONE]);
    column_cursor_init(&response_time, &tally->columns[COLUMN_RESPONSE_TIME]);
    column_cursor_init(&metric, &tally->columns[which]);
    while (column_next(&done, &row.done_ns) && column_next(&response_time, &row.response_time_ns) &&
           column_next(&metric, &row.value)) {
        if (is_inside(inside, &row))
            visitor->take(visitor, row.done_ns, row.value);
    }
    if (done.status != AS_OK)
        return done.status;
    return response_time.status != AS_OK ? response_time.status : metric.status;
}

static as_status visit(const struct summary_builder *builder, enum tally_column which, const struct inside *inside,
                       struct visitor *visitor)
{
    as_status status = AS_OK;
    for (size_t i = 0; i < builder->tally_count && status == AS_OK; i++)
        status = visit_tally(builder->tallies[i], which, inside, visitor);
    return status;
}

static void take_sum(struct visitor *visitor, int64_t done_ns, int64_t value)
{
    (void)done_ns;
    visitor->count++;
    visitor->sum += value;
}

static void take_value(struct visitor *visitor, int64_t done_ns, int64_t value)
{
    visitor->values.at[visitor->values.count++] = value;
    trend_add(&visitor->trend, done_ns, value);
}

/* Latency and drift are those of requests that lie wholly inside: the first ones meet cold connections. */
static as_status latency_inside(const struct summary_builder *builder, enum tally_column which,
                                const struct inside *window, struct steady_latency *ret)
{
    struct inside whole = {window->from_ns, window->to_ns, true};
    struct visitor counter = {.take = take_sum}, taker = {.take = take_value};
    as_status status = visit(builder, which, &whole, &counter);
    if (status != AS_OK)
        return status;
    enum percentile_method method = builder->runs[0].facts->rules.percentile_method;
    *ret = (struct steady_latency){.distribution = distribution_empty(method)};
    if (counter.count == 0)
        return AS_OK;
    taker.values.at = malloc((size_t)counter.count * sizeof *taker.values.at);
    if (!taker.values.at)
        return AS_E_NOMEM;
    status = visit(builder, which, &whole, &taker);
    if (status == AS_OK) {
        sort_int64(taker.values.at, (size_t)taker.values.count);
        ret->distribution = distribution_of_sorted(taker.values.at, taker.values.count, method);
        ret->trend = taker.trend;
    }
    values_done(&taker.values);
    return status;
}

static as_status sum_inside(const struct summary_builder *builder, enum tally_column which, const struct inside *inside,
                            struct visitor *ret)
{
    *ret = (struct visitor){.take = take_sum};
    return visit(builder, which, inside, ret);
}

static as_status rates_inside(const struct summary_builder *builder, const struct inside *inside,
                              struct steady_figures *steady)
{
    const struct {
        enum tally_column which;
        double *rate;
    } tokens[] = {
        {COLUMN_PROMPT_TOKENS, &steady->rates.prompt_tokens_per_second},
        {COLUMN_COMPLETION_TOKENS, &steady->rates.completion_tokens_per_second},
        {COLUMN_TOTAL_TOKENS, &steady->rates.total_tokens_per_second},
    };
    double seconds = (double)steady->duration_ns / 1e9;
    struct visitor sum;
    as_status status = sum_inside(builder, COLUMN_DONE, inside, &sum);
    steady->ok = sum.count;
    steady->rates.requests_per_second = (double)sum.count / seconds;
    for (size_t i = 0; i < sizeof tokens / sizeof *tokens && status == AS_OK; i++) {
        status = sum_inside(builder, tokens[i].which, inside, &sum);
        *tokens[i].rate = sum.count > 0 ? (double)sum.sum / seconds : UNDEFINED;
    }
    return status;
}

static as_status figures_inside(const struct summary_builder *builder, const struct inside *inside,
                                struct steady_figures *steady)
{
    struct steady_latency response, ttft, tpot;
    as_status status = latency_inside(builder, COLUMN_RESPONSE_TIME, inside, &response);
    if (status == AS_OK)
        status = latency_inside(builder, COLUMN_TTFT, inside, &ttft);
    if (status == AS_OK)
        status = latency_inside(builder, COLUMN_TPOT, inside, &tpot);
    if (status == AS_OK)
        status = rates_inside(builder, inside, steady);
    if (status != AS_OK)
        return status;
    steady->response_time = response.distribution;
    steady->ttft = ttft.distribution;
    steady->tpot = tpot.distribution;
    struct drift response_drift = steady_judge_drift(&response.trend, steady->duration_ns);
    struct drift ttft_drift = steady_judge_drift(&ttft.trend, steady->duration_ns);
    steady->response_time_drift = response_drift.ratio;
    steady->ttft_drift = ttft_drift.ratio;
    steady->has_verdict = steady->response_time.n >= MIN_SUCCESSES && !isnan(response_drift.ratio);
    steady->is_stationary = steady->has_verdict && !response_drift.is_drifting && !ttft_drift.is_drifting;
    return AS_OK;
}

as_status builder_steady(struct summary_builder *builder, struct summary *summary)
{
    struct steady_figures *steady = &summary->steady;
    struct flight flight;
    as_status status = fly(builder, summary, &flight);
    if (status != AS_OK)
        return status;
    summary->client.peak_in_flight = flight.peak;
    summary->client.mean_in_flight = flight_clip_mean(&flight);
    steady->share = steady->response_time_drift = steady->ttft_drift = UNDEFINED;
    const struct summary_window *window = &summary->window;
    struct inside inside = {0};
    if (window->duration_ns <= 0 || !flight_steady(&flight, &inside.from_ns, &inside.to_ns))
        return AS_OK;
    if (inside.from_ns < window->start_ns)
        inside.from_ns = window->start_ns;
    if (inside.to_ns > window->start_ns + window->duration_ns)
        inside.to_ns = window->start_ns + window->duration_ns;
    if (inside.to_ns <= inside.from_ns)
        return AS_OK;
    double share = (double)(inside.to_ns - inside.from_ns) / (double)window->duration_ns;
    struct visitor ended;
    status = sum_inside(builder, COLUMN_DONE, &inside, &ended);
    if (status != AS_OK || ended.count < MIN_SUCCESSES || share < MIN_SHARE)
        return status;
    steady->is_found = true;
    steady->start_ns = inside.from_ns;
    steady->duration_ns = inside.to_ns - inside.from_ns;
    steady->share = share;
    return figures_inside(builder, &inside, steady);
}
