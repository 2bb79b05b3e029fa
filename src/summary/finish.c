/* SPDX-License-Identifier: Apache-2.0 */
#include "stats/sort.h"
#include "summary/builder.h"
#include "summary/shards.h"
#include "summary/validity.h"

#include <math.h>
#include <string.h>

#define UNDEFINED ((double)NAN)

static double ratio(double a, double b)
{
    return b > 0 ? a / b : UNDEFINED;
}

/* A run that was killed left no account of what it had begun; one that never began needs none. */
static void count_unrecorded(const struct run_facts *facts, int64_t missing, struct plan_counts *counts)
{
    const struct run_rules *rules = &facts->rules;
    if (missing <= 0 || !facts->has_epoch)
        return; /* all is recorded, or the run never began */
    counts->unrecorded += missing;
    if (rules->is_open_loop || rules->concurrency <= 0 || counts->cut_off < 0)
        counts->cut_off = -1;
    else
        counts->cut_off += rules->concurrency < missing ? rules->concurrency : missing;
}

/*
 * What the engine (or, when it never came to its end, the plan) says was to be done. Runs bounded by time have no
 * number: then what was begun was planned.
 */
static void count_plan(const struct builder_run *run, struct plan_counts *counts)
{
    const struct run_facts *facts = run->facts;
    int64_t planned = facts->rules.planned_requests, skipped = 0;
    if (facts->has_result) {
        planned = facts->result.planned;
        skipped = facts->result.skipped;
        if (planned >= INT64_MAX / 2) {
            planned -= skipped;
            skipped = 0;
        }
    } else if (planned >= 0) {
        count_unrecorded(facts, planned - run->records, counts);
        skipped = planned > run->records ? planned - run->records : 0;
    }
    if (planned < 0 || counts->planned < 0) {
        counts->planned = counts->skipped = -1;
        return;
    }
    int64_t missing = planned - skipped - run->records;
    if (missing > 0)
        counts->lost += missing;
    else
        counts->surplus -= missing;
    counts->planned += planned;
    if (counts->unrecorded > 0)
        counts->skipped = -1;
    else
        counts->skipped += skipped;
}

/* Waiting that no latency shows, since its requests were never sent. */
static void count_unsent(const struct run_facts *facts, struct plan_counts *counts)
{
    if (!facts->rules.is_open_loop || !facts->has_result || facts->result.late_unsent < 0) {
        counts->late_unsent = -1;
        return;
    }
    if (counts->late_unsent >= 0)
        counts->late_unsent += facts->result.late_unsent;
    if (facts->result.late_unsent > 0 && facts->result.late_unsent_wait_ns > counts->late_unsent_wait_ns)
        counts->late_unsent_wait_ns = facts->result.late_unsent_wait_ns;
}

static void set_counts(const struct summary_builder *builder, struct summary *summary)
{
    struct plan_counts *counts = &summary->counts;
    *counts = (struct plan_counts){
        .duplicates = builder->duplicates,
        .warmup = builder->warmup,
        .ramp_up = builder->ramp_up,
        .boundary = builder->boundary,
        .all = builder->all,
        .late_unsent_wait_ns = -1,
    };
    for (size_t i = 0; i < builder->run_count; i++) {
        count_plan(&builder->runs[i], counts);
        count_unsent(builder->runs[i].facts, counts);
        const struct run_facts *facts = builder->runs[i].facts;
        if (!facts->has_result || facts->result.stopped_by_signal || facts->result.drain_expired)
            summary->is_partial = true;
    }
}

/* The end of the ramp, the earliest of all runs; -1 = no ramp. */
static int64_t ramp_end_ns(const struct summary_builder *builder)
{
    int64_t earliest = -1;
    for (size_t i = 0; i < builder->shard_count; i++) {
        const struct run_facts *facts = builder->runs[builder->shards[i].run].facts;
        if (facts->rules.ramp_up_ns <= 0)
            continue;
        int64_t end_ns = (facts->has_result ? facts->result.measured_start_ns : facts->rules.ramp_up_ns) +
                         builder->shards[i].shift_ns;
        if (earliest < 0 || end_ns < earliest)
            earliest = end_ns;
    }
    return earliest;
}

static void set_window(const struct summary_builder *builder, struct summary_window *window)
{
    *window = (struct summary_window){.start_ns = -1, .duration_ns = -1, .elapsed_ns = -1};
    window->has_epoch = builder_epoch(builder, &window->epoch_monotonic_ns, &window->epoch_utc_ns);
    if (builder->measured_sent.n == 0)
        return;
    int64_t ramp_ns = ramp_end_ns(builder);
    window->start_ns = ramp_ns >= 0 ? ramp_ns : builder->measured_sent.first_ns;
    if (builder->measured_done.n > 0 && builder->measured_done.last_ns >= window->start_ns)
        window->elapsed_ns = builder->measured_done.last_ns - window->start_ns;
    if (builder->measured_ok_done.n > 0 && builder->measured_ok_done.last_ns >= window->start_ns)
        window->duration_ns = builder->measured_ok_done.last_ns - window->start_ns;
}

/* The tallies of all endpoints and, last, of those without one. */
static as_status all_tallies(struct summary_builder *builder, struct arena *arena, struct tally ***ret)
{
    struct tally **all = arena_calloc(arena, builder->tally_count + 1, sizeof(struct tally *));
    if (!all)
        return AS_E_NOMEM;
    for (size_t i = 0; i < builder->tally_count; i++)
        all[i] = builder->tallies[i];
    all[builder->tally_count] = builder->unassigned;
    *ret = all;
    return AS_OK;
}

static as_status set_blocks(struct summary_builder *builder, struct summary *summary)
{
    struct tally **all;
    as_status status = all_tallies(builder, &summary->arena, &all);
    if (status != AS_OK)
        return status;
    size_t count = builder->tally_count;
    struct tally_group group = {all, count + 1, &summary->facts->rules, true};
    status = tally_block(&group, &summary->window, &summary->arena, &summary->total);
    if (status == AS_OK)
        status = tally_lag(&group, &summary->client.lag);
    if (status != AS_OK)
        return status;
    summary->unassigned = builder->unassigned->counts;
    summary->endpoints = arena_calloc(&summary->arena, count + 1, sizeof *summary->endpoints);
    if (!summary->endpoints)
        return AS_E_NOMEM;
    summary->endpoint_count = count;
    bool is_alone = count == 1 && summary->unassigned.sent + summary->unassigned.refused == 0;
    if (is_alone) {
        summary->endpoints[0] = summary->total;
        return AS_OK;
    }
    for (size_t i = 0; i < count && status == AS_OK; i++) {
        group.is_total = false;
        group.tallies = &all[i];
        group.count = 1;
        status = tally_block(&group, &summary->window, &summary->arena, &summary->endpoints[i]);
    }
    return status;
}

/* Adds what one run's engine counted. */
static void add_result(const struct run_facts *facts, struct client_figures *client, int64_t *wall_ns)
{
    const struct engine_result *result = &facts->result;
    client->cpu_s += (double)result->cpu_ns / 1e9;
    *wall_ns += result->ended_ns;
    client->connects += (int64_t)result->net.connects;
    client->connect_failures += (int64_t)result->net.connect_failures;
    client->reconnects += (int64_t)result->net.reconnects;
    client->unclean_closes += (int64_t)result->net.unclean_closes;
    client->open_peak += result->net.open_peak;
    client->ejections += result->ejections;
    client->reads += result->lag_reads > 0 ? result->lag_reads : 0;
    /* Percentiles of several runs cannot be pooled: the worst one stands. */
    if (result->lag_p50_ns > client->read_lag_p50_ns)
        client->read_lag_p50_ns = result->lag_p50_ns;
    if (result->lag_p99_ns > client->read_lag_p99_ns)
        client->read_lag_p99_ns = result->lag_p99_ns;
    if (result->lag_max_ns > client->read_lag_max_ns)
        client->read_lag_max_ns = result->lag_max_ns;
    if (result->net.max_loop_lag_ns > client->max_loop_lag_ns)
        client->max_loop_lag_ns = result->net.max_loop_lag_ns;
    int64_t step_ns = result->clock_step_ns < 0 ? -result->clock_step_ns : result->clock_step_ns;
    if (step_ns > client->clock_step_ns)
        client->clock_step_ns = step_ns;
}

static void add_results(const struct summary_builder *builder, struct client_figures *client)
{
    int64_t wall_ns = 0;
    bool is_known = true;
    client->read_lag_p50_ns = client->read_lag_p99_ns = client->read_lag_max_ns = client->max_loop_lag_ns = -1;
    for (size_t i = 0; i < builder->run_count; i++) {
        const struct run_facts *facts = builder->runs[i].facts;
        is_known = is_known && facts->has_result;
        if (facts->has_result)
            add_result(facts, client, &wall_ns);
        if (facts->journal_full_waits < 0)
            client->journal_full_waits = -1;
        else if (client->journal_full_waits >= 0)
            client->journal_full_waits += facts->journal_full_waits;
    }
    client->cpu_ratio = ratio(client->cpu_s, (double)wall_ns / 1e9);
    if (is_known)
        return;
    client->cpu_ratio = client->cpu_s = UNDEFINED;
    client->connects = client->connect_failures = client->reconnects = client->unclean_closes = -1;
    client->open_peak = client->ejections = client->reads = client->clock_step_ns = -1;
}

/*
 * Achieved over planned send rate: with equal counts, the planned over the achieved time from first to last. Undefined
 * when all requests were due at one instant: no rate was planned.
 */
static double send_rate_ratio(const struct summary_builder *builder)
{
    int64_t planned_ns = builder->open_due.last_ns - builder->open_due.first_ns;
    if (builder->open_sent.n < 2 || planned_ns <= 0)
        return UNDEFINED;
    return ratio((double)planned_ns, (double)(builder->open_sent.last_ns - builder->open_sent.first_ns));
}

static double budget(const struct summary *summary, enum latency_metric metric, double lag_ns)
{
    return ratio(lag_ns, summary->total.latency[metric].percentile[DISTRIBUTION_P50]);
}

static void set_client(const struct summary_builder *builder, struct summary *summary)
{
    struct client_figures *client = &summary->client;
    add_results(builder, client);
    for (size_t i = 0; i <= builder->tally_count; i++) {
        const struct tally *tally = i < builder->tally_count ? builder->tallies[i] : builder->unassigned;
        for (int stamp = 0; stamp < RECORD_STAMP_COUNT; stamp++)
            client->stamps[stamp] += tally->stamps[stamp];
    }
    client->late_sends = builder->late_sends;
    client->late_send_ratio = ratio((double)builder->late_sends, (double)builder->open_sent.n);
    client->send_rate_ratio = send_rate_ratio(builder);
    client->local_limit_failures = builder->local_limits;
    double lag_ns = client->lag.percentile[DISTRIBUTION_P99];
    client->budget_ttft = budget(summary, LATENCY_TTFT, lag_ns);
    client->budget_response_time = budget(summary, LATENCY_RESPONSE_TIME, lag_ns);
    client->budget_itl = budget(summary, LATENCY_ITL, lag_ns);
}

static void set_prompts(const struct summary_builder *builder, struct prompt_figures *prompts)
{
    const struct prompt_set *set = &builder->prompts;
    *prompts = (struct prompt_figures){-1, -1, -1};
    if (set->is_full)
        return;
    prompts->distinct = (int64_t)set->used;
    prompts->max_reuse = prompts->repeated = 0;
    for (size_t i = 0; i < set->capacity; i++) {
        const struct prompt_use *use = &set->table[i];
        if (!use->hash)
            continue;
        if (use->count > prompts->max_reuse)
            prompts->max_reuse = use->count;
        prompts->repeated += use->count - 1;
    }
}

/* The facts of all runs as a list in the summary's arena. */
static as_status list_runs(const struct summary_builder *builder, struct summary *summary,
                           const struct run_facts ***ret)
{
    const struct run_facts **runs = arena_calloc(&summary->arena, builder->run_count + 1, sizeof *runs);
    if (!runs)
        return AS_E_NOMEM;
    for (size_t i = 0; i < builder->run_count; i++)
        runs[i] = builder->runs[i].facts;
    *ret = runs;
    return AS_OK;
}

static as_status set_config(const struct summary_builder *builder, struct summary *summary, struct as_error *err)
{
    const char *text = summary->facts->config_json;
    const struct run_facts **runs;
    as_status status = AS_OK;
    if (builder->run_count > 1) {
        status = list_runs(builder, summary, &runs);
        if (status == AS_OK)
            status = shards_config(runs, builder->run_count, &summary->arena, &summary->config);
        if (status != AS_OK)
            (void)error_set(err, status, "the configurations: %s", status_sentence(status));
    } else if (text) {
        status = json_parse(text, strlen(text), NULL, &summary->arena, &summary->config, err);
    }
    if (status != AS_OK)
        (void)error_prefix(err, "the configuration in the facts of the run");
    return status;
}

static as_status judge(struct summary_builder *builder, struct summary *summary)
{
    const struct run_facts **runs;
    as_status status = list_runs(builder, summary, &runs);
    if (status != AS_OK)
        return status;
    struct validity_inputs inputs = {.shards = runs, .shard_count = builder->run_count};
    for (size_t i = 0; i < builder->tally_count; i++)
        inputs.near_limit += builder->tallies[i]->near_limit;
    return validity_judge(summary, &inputs);
}

static as_status build(struct summary_builder *builder, struct summary *summary)
{
    if (builder->status != AS_OK)
        return builder->status;
    summary->shards = (int64_t)builder->run_count;
    set_counts(builder, summary);
    set_window(builder, &summary->window);
    as_status status = set_blocks(builder, summary);
    if (status == AS_OK)
        status = builder_steady(builder, summary);
    if (status != AS_OK)
        return status;
    set_client(builder, summary);
    set_prompts(builder, &summary->prompts);
    return judge(builder, summary);
}

as_status summary_finish(struct summary_builder *builder, struct summary *ret, struct as_error *err)
{
    struct summary summary = {.facts = builder->runs[0].facts};
    arena_init(&summary.arena, 0, 0);
    as_status status = set_config(builder, &summary, err);
    if (status == AS_OK && (status = build(builder, &summary)) != AS_OK)
        (void)error_set(err, status, "the summary could not be made: %s", status_sentence(status));
    if (status != AS_OK) {
        summary_done(&summary);
        return status;
    }
    *ret = summary;
    return AS_OK;
}

void summary_done(struct summary *summary)
{
    arena_done(&summary->arena);
}

struct distribution summary_quick_distribution(int64_t *values_ns, size_t count)
{
    sort_int64(values_ns, count);
    return distribution_of_sorted(values_ns, (int64_t)count, PERCENTILE_NEAREST_RANK);
}

const char *latency_member(enum latency_metric metric)
{
    static const char *const names[] = {
#define LATENCY_NAME(name, text) text,
        LATENCY_MAP(LATENCY_NAME)
#undef LATENCY_NAME
    };
    return names[metric];
}

const char *token_kind_name(enum token_kind kind)
{
    static const char *const names[] = {
#define TOKEN_KIND_NAME(name, text) text,
        TOKEN_KIND_MAP(TOKEN_KIND_NAME)
#undef TOKEN_KIND_NAME
    };
    return names[kind];
}
