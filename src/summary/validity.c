/* SPDX-License-Identifier: Apache-2.0 */
#include "summary/validity.h"

#include "summary/shards.h"

#include <inttypes.h>
#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#define NO_FIGURE ((double)NAN)

/* What was found, and what is allowed. */
struct figures {
    double value, limit;
};

struct judge {
    struct summary *summary;
    const struct validity_inputs *inputs;
    const struct run_rules *rules;
    as_status status; /* first failure */
};

static void add(struct judge *judge, enum severity severity, const char *code, struct figures figures, const char *fmt,
                ...) AS_PRINTF(5, 6);

/* Appends a reason. */
static void add(struct judge *judge, enum severity severity, const char *code, struct figures figures, const char *fmt,
                ...)
{
    struct validity *validity = &judge->summary->validity;
    if (validity->count == VALIDITY_REASONS_MAX)
        return;
    char text[640];
    va_list args;
    va_start(args, fmt);
    (void)vsnprintf(text, sizeof text, fmt, args);
    va_end(args);
    const char *message = arena_strdup(&judge->summary->arena, text);
    if (!message) {
        judge->status = AS_E_NOMEM;
        return;
    }
    validity->reasons[validity->count++] =
        (struct validity_reason){severity, code, message, figures.value, figures.limit};
    if (severity == SEVERITY_INVALID)
        validity->is_valid = false;
}

#define INVALID(code, value, limit, ...) add(judge, SEVERITY_INVALID, code, (struct figures){value, limit}, __VA_ARGS__)
#define WARNING(code, value, limit, ...) add(judge, SEVERITY_WARNING, code, (struct figures){value, limit}, __VA_ARGS__)

static double median(const struct summary *summary, enum latency_metric metric)
{
    return summary->total.latency[metric].percentile[DISTRIBUTION_P50];
}

/* Records that are missing, or may be. */
static void judge_records(struct judge *judge, bool is_unfinished)
{
    const struct plan_counts *counts = &judge->summary->counts;
    int64_t unread_rings = 0, unkept = 0, left = 0;
    for (size_t i = 0; i < judge->inputs->shard_count; i++) {
        const struct run_facts *facts = judge->inputs->shards[i];
        unread_rings += facts->damaged_rings;
        unkept += facts->records_lost > 0 ? facts->records_lost : 0;
        left += facts->records_left > 0 ? facts->records_left : 0;
    }
    if (counts->lost > 0)
        INVALID("records_lost", (double)counts->lost, 0, "%" PRId64 " requests that were begun have no record",
                counts->lost);
    else if (unread_rings > 0 && is_unfinished)
        INVALID("records_lost", NO_FIGURE, 0,
                "%" PRId64 " rings of the journal could not be read to their end: what only they held is missing",
                unread_rings);
    else if (unkept > 0)
        INVALID("records_lost", (double)unkept, 0,
                "the disk took no more: %" PRId64 " records are in this summary and in no file", unkept);
    if (left > 0)
        WARNING("records_in_journal", (double)left, 0,
                "the disk took no more: %" PRId64
                " records are in the journal of the folder and not in its record file",
                left);
}

static void judge_success(struct judge *judge)
{
    const struct summary *s = judge->summary;
    const struct request_counts *measured = &s->total.counts;
    if (measured->ok > 0)
        return;
    if (measured->sent + measured->refused == 0 && s->counts.ramp_up > 0)
        INVALID("no_success", 0, 1,
                "nothing was measured: %" PRId64 " requests belong to the ramp and are discarded; shorten the ramp or "
                "lengthen the run",
                s->counts.ramp_up);
    else if (measured->sent + measured->refused == 0 && s->counts.warmup > 0)
        INVALID("no_success", 0, 1,
                "nothing was measured: all %" PRId64 " requests belong to the warm-up; lower --warmup-requests or "
                "lengthen the run",
                s->counts.warmup);
    else
        INVALID("no_success", 0, 1, "no measured request succeeded");
}

static void judge_completeness(struct judge *judge)
{
    const struct summary *s = judge->summary;
    const struct plan_counts *counts = &s->counts;
    judge_success(judge);
    size_t unfinished = 0;
    for (size_t i = 0; i < judge->inputs->shard_count; i++)
        unfinished += !judge->inputs->shards[i]->has_result;
    if (unfinished > 0)
        INVALID("run_unfinished", (double)unfinished, 0,
                "the run did not come to its end, or its run.json is missing: what was in flight then has no record");
    else if (s->is_partial)
        WARNING("partial", NO_FIGURE, NO_FIGURE,
                "the run was stopped before its plan was done; %" PRId64 " requests were never begun",
                counts->skipped > 0 ? counts->skipped : 0);
    judge_records(judge, unfinished > 0);
    if (counts->surplus > 0)
        INVALID("records_lost", (double)counts->surplus, 0,
                "%" PRId64 " records more than requests were begun: run.json belongs to other records",
                counts->surplus);
    if (counts->duplicates > 0)
        WARNING("duplicates", (double)counts->duplicates, 0, "%" PRId64 " records were there twice and counted once",
                counts->duplicates);
}

/* Share of the measured successes whose times are the client's own readings. */
static double user_stamp_share(const struct summary *s)
{
    return s->total.counts.ok > 0 ? (double)s->client.stamps[RECORD_STAMP_USER] / (double)s->total.counts.ok : 0;
}

/*
 * The lag is part of a metric only where the client's readings are; kernel stamps do not contain it. What it always
 * does is to delay the client's next request, so the response time is judged whatever the stamps.
 */
static void judge_lag(struct judge *judge)
{
    const struct summary *s = judge->summary;
    double limit = judge->rules->lag_share, lag_us = s->client.lag.percentile[DISTRIBUTION_P99] / 1e3;
    bool is_inside = user_stamp_share(s) > VALIDITY_USER_STAMP_SHARE;
    const struct {
        const char *name;
        double share;
        bool applies, is_spoiled;
    } metrics[] = {
        {"response time", s->client.budget_response_time, true, true},
        {"TTFT", s->client.budget_ttft, true, is_inside},
        /* When most chunks share a read, the gaps between them say nothing a lag could spoil. */
        {"ITL", s->client.budget_itl, !(s->total.chunks.censored_ratio >= 0.5), is_inside},
    };
    for (size_t i = 0; i < sizeof metrics / sizeof *metrics; i++) {
        if (!metrics[i].applies || !(metrics[i].share > limit))
            continue;
        if (metrics[i].is_spoiled)
            INVALID("client_lag", metrics[i].share, limit,
                    "the client's own lag (p99 %.0f µs) is %.1f %% of the median %s; more than %.0f %% is too much",
                    lag_us, metrics[i].share * 100, metrics[i].name, limit * 100);
        else
            WARNING(
                "client_lag", metrics[i].share, limit,
                "the client looked late (p99 %.0f µs: %.1f %% of the median %s), but the times are the kernel's and do "
                "not contain it",
                lag_us, metrics[i].share * 100, metrics[i].name);
        return;
    }
}

/* Requests that waited for a place until the end: had they been sent, their delay would be the longest of all. */
static void judge_unsent(struct judge *judge)
{
    const struct plan_counts *counts = &judge->summary->counts;
    if (counts->late_unsent <= 0)
        return;
    double share = (double)counts->late_unsent / (double)(counts->late_unsent + counts->all.sent + counts->all.refused);
    double limit = 1 - judge->rules->delivered_share;
    bool is_much = share > limit && !isnan(judge->summary->client.send_rate_ratio);
    add(judge, is_much ? SEVERITY_INVALID : SEVERITY_WARNING, "late_unsent", (struct figures){share, limit},
        "%" PRId64
        " requests were due and never sent, since all places were taken; the first of them had waited %.3f s: "
        "queue delay and response latency do not hold that",
        counts->late_unsent, (double)counts->late_unsent_wait_ns / 1e9);
}

static void judge_open_loop(struct judge *judge)
{
    const struct summary *s = judge->summary;
    const struct client_figures *client = &s->client;
    /* Sends take time: of those that were due at one instant only the first can be in time. */
    bool is_all_at_once = s->total.counts.sent >= 2 && isnan(client->send_rate_ratio);
    if (is_all_at_once)
        return;
    if (client->late_send_ratio > judge->rules->late_share)
        INVALID("late_sends", client->late_send_ratio, judge->rules->late_share,
                "%.1f %% of the requests were sent more than 1 ms after they were due", client->late_send_ratio * 100);
    if (s->total.counts.sent >= VALIDITY_MIN_SENDS && client->send_rate_ratio < judge->rules->delivered_share)
        INVALID("load_not_delivered", client->send_rate_ratio, judge->rules->delivered_share,
                "only %.1f %% of the planned send rate was reached", client->send_rate_ratio * 100);
}

static void judge_closed_loop(struct judge *judge)
{
    const struct summary *s = judge->summary;
    int64_t target = s->steady.target, sent = s->counts.all.sent;
    if (target <= 0 || sent < target || s->is_partial)
        return;
    if (s->client.peak_in_flight < target) {
        INVALID("load_not_delivered", (double)s->client.peak_in_flight / (double)target, 1,
                "at most %" PRId64 " of %" PRId64 " requests were in flight at a time", s->client.peak_in_flight,
                target);
        return;
    }
    double share = s->client.mean_in_flight / (double)target;
    if (s->total.counts.sent >= 2 * target && s->total.counts.sent >= VALIDITY_MIN_SENDS &&
        share < VALIDITY_IN_FLIGHT_SHARE)
        WARNING("in_flight_below_target", share, VALIDITY_IN_FLIGHT_SHARE,
                "on average %.2f of %" PRId64 " requests were in flight while requests were being sent",
                s->client.mean_in_flight, target);
}

static void judge_machine(struct judge *judge)
{
    const struct summary *s = judge->summary;
    const struct client_figures *client = &s->client;
    if (client->local_limit_failures > 0)
        INVALID("local_limit", (double)client->local_limit_failures, 0,
                "%" PRId64 " requests failed at a limit of this machine (descriptors or ports)",
                client->local_limit_failures);
    if (client->clock_step_ns > VALIDITY_CLOCK_STEP_NS)
        INVALID("clock_step", (double)client->clock_step_ns / 1e6, (double)VALIDITY_CLOCK_STEP_NS / 1e6,
                "the wall clock was stepped by %.3f ms during the run", (double)client->clock_step_ns / 1e6);
    if (client->journal_full_waits > 0)
        INVALID("journal_full", (double)client->journal_full_waits, 0,
                "an engine thread waited %" PRId64 " times for the writer of the records", client->journal_full_waits);
    double user = user_stamp_share(s);
    if (user > VALIDITY_USER_STAMP_SHARE)
        WARNING("user_stamps", user, VALIDITY_USER_STAMP_SHARE,
                "the kernel gave no receive time for %.1f %% of the answers: their times include the client's lag",
                user * 100);
}

static void judge_samples(struct judge *judge)
{
    const struct distribution *d = &judge->summary->total.latency[LATENCY_RESPONSE_TIME];
    char names[64] = "";
    for (int i = 0; i < DISTRIBUTION_P99_9 && d->n > 0; i++) {
        if (!distribution_is_thin(d, (enum distribution_percentile)i))
            continue;
        size_t len = strlen(names);
        (void)snprintf(names + len, sizeof names - len, "%s%s", len ? ", " : "",
                       distribution_percentile_name((enum distribution_percentile)i));
    }
    if (names[0])
        WARNING("few_samples", (double)d->n, 100,
                "%" PRId64 " successes are too few for %s: there it is just the largest value", d->n, names);
}

static void judge_errors(struct judge *judge)
{
    const struct summary *s = judge->summary;
    const struct summary_block *all = &s->total;
    if (all->errors.count > 0)
        WARNING("errors", all->errors.rate, 0,
                "%" PRId64 " measured requests (%.2f %%) failed; latencies are of the others", all->errors.count,
                all->errors.rate * 100);
    int64_t broken = all->errors.by_type[ERROR_TYPE_CONNECTION] + all->errors.by_type[ERROR_TYPE_BODY] +
                     all->errors.by_type[ERROR_TYPE_IMG_CONNECTION];
    double broken_share = broken > 0 ? (double)broken / (double)(all->counts.ok + all->errors.count) : 0;
    if (broken_share > judge->rules->error_share)
        INVALID(
            "too_many_errors", broken_share, judge->rules->error_share,
            "%.1f %% of the measured requests failed because a connection or its certificate was refused, or it was "
            "lost or cut short: the figures are of the others alone",
            broken_share * 100);
    int64_t ended = all->counts.ok + all->counts.timed_out, near = judge->inputs->near_limit;
    double share = ended > 0 ? (double)near / (double)ended : 0;
    if (near >= 2 && share >= VALIDITY_NEAR_LIMIT_SHARE)
        WARNING("timeouts_near_limit", share, VALIDITY_NEAR_LIMIT_SHARE,
                "%.1f %% of the requests ended at the time limit or within 5 %% of it: the limit cuts the tail off",
                share * 100);
}

static void judge_answers(struct judge *judge)
{
    const struct summary_block *all = &judge->summary->total;
    int64_t empty = all->flags[__builtin_ctz(RECORD_FLAG_NO_OUTPUT)];
    if (all->usage_missing > 0)
        WARNING("usage_missing", (double)all->usage_missing, 0,
                "%" PRId64 " successes came without usage: token figures leave them out", all->usage_missing);
    if (all->zero_token_successes > 0 || empty > 0)
        WARNING("zero_tokens", (double)(empty > all->zero_token_successes ? empty : all->zero_token_successes), 0,
                "%" PRId64 " successes have 0 completion tokens, %" PRId64 " have no output", all->zero_token_successes,
                empty);
    if (all->damaged_events > 0)
        WARNING("damaged_events", (double)all->damaged_events, 0, "%" PRId64 " events of streams were not JSON",
                all->damaged_events);
    double shorter = all->lengths.n > 0 ? (double)all->lengths.shorter / (double)all->lengths.n : 0;
    if (judge->rules->expects_full_length && shorter > VALIDITY_SHORT_SHARE)
        WARNING("short_outputs", shorter, VALIDITY_SHORT_SHARE,
                "%.1f %% of the answers are shorter than the length that was asked for", shorter * 100);
    int64_t beyond = all->flags[__builtin_ctz(RECORD_FLAG_LENGTH_IGNORED)];
    double longer = all->lengths.n > 0 ? (double)beyond / (double)all->lengths.n : 0;
    if (longer > VALIDITY_SHORT_SHARE)
        WARNING("long_outputs", longer, VALIDITY_SHORT_SHARE,
                "%.1f %% of the answers are longer than the limit that was sent: the server ignores it", longer * 100);
}

/* TTFT is to the first content, completion_tokens holds what came before it too. */
static void judge_reasoning(struct judge *judge)
{
    const struct amount *reasoning = &judge->summary->total.tokens[TOKENS_REASONING];
    if (reasoning->n > 0 && reasoning->total > 0 && judge->summary->total.latency[LATENCY_TPOT].n > 0)
        WARNING("reasoning_in_tpot", (double)reasoning->total, 0,
                "%" PRId64
                " completion tokens are reasoning, generated before the first content: TPOT divides by them and is "
                "too small (see ITL)",
                reasoning->total);
}

static void judge_buffering(struct judge *judge)
{
    const struct summary *s = judge->summary;
    const struct summary_block *all = &s->total;
    double ratio = median(s, LATENCY_TTFT) / median(s, LATENCY_RESPONSE_TIME);
    if (all->counts.attempts > all->counts.sent + all->counts.sent / 4)
        return; /* the waits of retries are in TTFT */
    /* An answer of a token or two has no length that a proxy could hold back. */
    double length =
        all->tokens[TOKENS_COMPLETION].n > 0 ? all->tokens[TOKENS_COMPLETION].p50 : all->words[WORDS_COMPLETION].p50;
    if (ratio > VALIDITY_BUFFERED_RATIO && length >= 4)
        WARNING("proxy_buffering", ratio, VALIDITY_BUFFERED_RATIO,
                "the median TTFT is %.0f %% of the median response time: something between holds the stream back",
                ratio * 100);
}

/* A prefix cache makes repeated texts cheaper, not images or transcripts. */
static bool has_prefix_cache(const char *tool)
{
    return !tool || strcmp(tool, "llm") == 0 || strcmp(tool, "vlm") == 0;
}

static void judge_prompts(struct judge *judge)
{
    const struct summary *s = judge->summary;
    if (has_prefix_cache(s->facts->tool) && s->prompts.repeated > 0 && !judge->rules->has_unique_prompts)
        WARNING("prompts_repeated", (double)s->prompts.max_reuse, 1,
                "%" PRId64 " request%s repeat%s a prompt (%" PRId64
                " different one%s): a prefix cache makes them cheaper",
                s->prompts.repeated, s->prompts.repeated == 1 ? "" : "s", s->prompts.repeated == 1 ? "s" : "",
                s->prompts.distinct, s->prompts.distinct == 1 ? "" : "s");
    if (s->total.cached_tokens > 0)
        WARNING("prompt_cache", (double)s->total.cached_tokens, 0,
                "the server took %" PRId64 " prompt tokens from its cache", s->total.cached_tokens);
}

static void judge_certificates(struct judge *judge)
{
    const struct json_value *insecure = json_get(judge->summary->config, "insecure");
    if (insecure && insecure->type == JSON_BOOL && insecure->boolean)
        WARNING("certificates_unchecked", NO_FIGURE, NO_FIGURE,
                "certificates were not checked (--insecure): whoever answered is not known");
}

/* The same text with and without images: a server that looks at them counts tokens for them. */
static void judge_images(struct judge *judge)
{
    const struct json_value *own = judge->summary->total.own;
    int64_t without = 0, known = 0;
    if (!own || !json_int64(json_get(own, "requests_without_image_tokens"), &without) ||
        !json_int64(json_get(own, "requests_with_known_text"), &known) || without == 0)
        return;
    WARNING("images_ignored", (double)without, 0,
            "%" PRId64 " of %" PRId64
            " requests have no more prompt tokens than their text alone: the server did not look "
            "at their images, or does not count them",
            without, known);
}

static void judge_shards(struct judge *judge)
{
    const char *difference;
    as_status status =
        shards_difference(judge->inputs->shards, judge->inputs->shard_count, &judge->summary->arena, &difference);
    if (status != AS_OK)
        judge->status = status;
    else if (difference)
        INVALID("shards_differ", NO_FIGURE, NO_FIGURE, "the runs are not the shards of one plan: %s", difference);
}

as_status validity_judge(struct summary *summary, const struct validity_inputs *inputs)
{
    struct judge judge = {.summary = summary, .inputs = inputs, .rules = &summary->facts->rules};
    summary->validity = (struct validity){.is_valid = true};
    judge_completeness(&judge);
    judge_lag(&judge);
    judge_open_loop(&judge);
    judge_unsent(&judge);
    if (!judge.rules->is_open_loop)
        judge_closed_loop(&judge);
    judge_machine(&judge);
    judge_shards(&judge);
    judge_samples(&judge);
    judge_errors(&judge);
    judge_answers(&judge);
    judge_buffering(&judge);
    judge_reasoning(&judge);
    judge_prompts(&judge);
    judge_images(&judge);
    judge_certificates(&judge);
    return judge.status;
}
