/* SPDX-License-Identifier: Apache-2.0 */
#include "summary/builder.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

bool builder_epoch(const struct summary_builder *builder, int64_t *ret_monotonic_ns, int64_t *ret_utc_ns)
{
    const struct run_facts *first = NULL;
    for (size_t i = 0; i < builder->run_count; i++) {
        const struct run_facts *facts = builder->runs[i].facts;
        if (!facts->has_epoch)
            return false;
        if (!first || facts->epoch_utc_ns < first->epoch_utc_ns)
            first = facts;
    }
    if (!first)
        return false;
    *ret_monotonic_ns = first->epoch_monotonic_ns;
    *ret_utc_ns = first->epoch_utc_ns;
    return true;
}

static size_t run_of(struct summary_builder *builder, const struct run_facts *facts)
{
    for (size_t i = 0; i < builder->run_count; i++) {
        const char *id = builder->runs[i].facts->run_id;
        if (id && facts->run_id && strcmp(id, facts->run_id) == 0)
            return i;
    }
    builder->runs[builder->run_count].facts = facts;
    return builder->run_count++;
}

static struct tally *tally_new(struct column_store *store, const struct own_figures *figures)
{
    struct tally *tally = malloc(sizeof *tally);
    if (!tally)
        return NULL;
    tally_init(tally, store);
    if (tally_set_figures(tally, figures, store) == AS_OK)
        return tally;
    tally_done(tally);
    free(tally);
    return NULL;
}

static as_status need_tallies(struct summary_builder *builder, size_t count)
{
    if (count > builder->tally_capacity) {
        size_t capacity = builder->tally_capacity ? builder->tally_capacity : 4;
        while (capacity < count)
            capacity *= 2;
        struct tally **tallies = realloc(builder->tallies, capacity * sizeof *tallies);
        if (!tallies)
            return AS_E_NOMEM;
        builder->tallies = tallies;
        builder->tally_capacity = capacity;
    }
    while (builder->tally_count < count) {
        struct tally *tally = tally_new(&builder->store, builder->figures);
        if (!tally)
            return AS_E_NOMEM;
        builder->tallies[builder->tally_count++] = tally;
    }
    return AS_OK;
}

static as_status set_up(struct summary_builder *builder, const struct run_facts *const *shards, size_t shard_count)
{
    builder->shards = calloc(shard_count + 1, sizeof *builder->shards);
    builder->runs = calloc(shard_count + 1, sizeof *builder->runs);
    builder->unassigned = tally_new(&builder->store, builder->figures);
    if (!builder->shards || !builder->runs || !builder->unassigned)
        return AS_E_NOMEM;
    builder->shard_count = shard_count;
    size_t endpoints = 0;
    for (size_t i = 0; i < shard_count; i++) {
        builder->shards[i].run = run_of(builder, shards[i]);
        size_t count =
            shards[i]->endpoint_count < BUILDER_ENDPOINTS_MAX ? shards[i]->endpoint_count : BUILDER_ENDPOINTS_MAX;
        if (count > endpoints)
            endpoints = count;
    }
    int64_t monotonic_ns, utc_ns;
    if (builder->run_count > 1 && builder_epoch(builder, &monotonic_ns, &utc_ns)) {
        for (size_t i = 0; i < shard_count; i++)
            builder->shards[i].shift_ns = shards[i]->epoch_utc_ns - utc_ns;
    }
    return need_tallies(builder, endpoints);
}

as_status summary_builder_new(const struct run_facts *const *shards, size_t shard_count, const char *spill_folder,
                              struct summary_builder **ret)
{
    if (shard_count == 0)
        return AS_E_INVALID;
    struct summary_builder *builder = calloc(1, sizeof *builder);
    if (!builder)
        return AS_E_NOMEM;
    column_store_open(&builder->store, spill_folder);
    builder->figures = own_figures_find(shards[0]->tool);
    column_init(&builder->sent, &builder->store);
    column_init(&builder->done, &builder->store);
    as_status status = set_up(builder, shards, shard_count);
    if (status != AS_OK) {
        summary_builder_free(builder);
        return status;
    }
    *ret = builder;
    return AS_OK;
}

void summary_builder_free(struct summary_builder *builder)
{
    if (!builder)
        return;
    for (size_t i = 0; i < builder->tally_count; i++) {
        tally_done(builder->tallies[i]);
        free(builder->tallies[i]);
    }
    free(builder->tallies);
    if (builder->unassigned)
        tally_done(builder->unassigned);
    free(builder->unassigned);
    for (size_t i = 0; i < builder->seen_count; i++)
        seq_set_done(&builder->seen[i].set);
    free(builder->seen);
    free(builder->runs);
    free(builder->shards);
    prompt_set_done(&builder->prompts);
    column_done(&builder->sent);
    column_done(&builder->done);
    column_store_close(&builder->store);
    free(builder);
}

static struct tally *tally_for(struct summary_builder *builder, uint32_t endpoint)
{
    if (endpoint >= BUILDER_ENDPOINTS_MAX)
        return builder->unassigned;
    if (endpoint >= builder->tally_count) {
        as_status status = need_tallies(builder, (size_t)endpoint + 1);
        if (status != AS_OK) {
            builder->status = status;
            return builder->unassigned;
        }
    }
    return builder->tallies[endpoint];
}

/* A try elsewhere than the last one is counted where it was made: a server that fails shows it, whoever answered later. */
static void place_tries(struct summary_builder *builder, const struct request_record *record)
{
    struct request_counts *last = &tally_for(builder, record->endpoint)->counts;
    for (uint32_t i = 0; i < record->attempt_count && i < RECORD_ATTEMPTS_MAX; i++) {
        const struct record_attempt *attempt = &record->attempts[i];
        if (attempt->endpoint == record->endpoint || attempt->endpoint == UINT16_MAX)
            continue;
        struct request_counts *own = &tally_for(builder, attempt->endpoint)->counts;
        int64_t failed = attempt->error_type != ERROR_TYPE_NONE;
        last->attempts--;
        last->failed_attempts -= failed;
        own->attempts++;
        own->failed_attempts += failed;
    }
}

static void take_measured(struct summary_builder *builder, const struct run_rules *rules,
                          const struct request_record *record, int64_t shift_ns)
{
    tally_add(tally_for(builder, record->endpoint), rules, record, shift_ns);
    builder->local_limits += (record->flags & RECORD_FLAG_LOCAL_LIMIT) != 0;
    if (record_was_sent(record))
        place_tries(builder, record);
    if (!record_was_sent(record) || record->sent_ns < 0)
        return;
    builder->late_sends += (record->flags & RECORD_FLAG_LATE_SEND) != 0;
    span_take(&builder->measured_sent, plus(record->sent_ns, shift_ns));
    if (record->due_ns >= 0) {
        span_take(&builder->open_sent, plus(record->sent_ns, shift_ns));
        span_take(&builder->open_due, plus(record->due_ns, shift_ns));
    }
    if (record->done_ns < 0)
        return;
    span_take(&builder->measured_done, plus(record->done_ns, shift_ns));
    if (record->outcome == OUTCOME_OK)
        span_take(&builder->measured_ok_done, plus(record->done_ns, shift_ns));
}

static void take(struct summary_builder *builder, size_t shard, const struct request_record *record)
{
    struct builder_run *run = &builder->runs[builder->shards[shard].run];
    int64_t shift_ns = builder->shards[shard].shift_ns;
    run->records++;
    request_counts_take(&builder->all, record);
    if (record_was_sent(record) && record->sent_ns >= 0 && record->done_ns >= record->sent_ns) {
        column_append(&builder->sent, plus(record->sent_ns, shift_ns));
        column_append(&builder->done, plus(record->done_ns, shift_ns));
    }
    as_status status = prompt_set_take(&builder->prompts, record->prompt_id);
    if (status != AS_OK)
        builder->status = status;
    switch (record->phase) {
    case PHASE_WARMUP:
        builder->warmup++;
        break;
    case PHASE_RAMP_UP:
        builder->ramp_up++;
        break;
    default:
        builder->boundary += record->phase == PHASE_BOUNDARY;
        take_measured(builder, &builder->runs[0].facts->rules, record, shift_ns);
    }
}

/* The requests seen of the run, NULL without memory. */
static struct seq_set *seen_of(struct summary_builder *builder, const char *run_id)
{
    if (builder->seen_count > 0 && strncmp(builder->seen[builder->seen_last].run_id, run_id, RECORD_ID_BYTES - 1) == 0)
        return &builder->seen[builder->seen_last].set;
    for (builder->seen_last = 0; builder->seen_last < builder->seen_count; builder->seen_last++)
        if (strncmp(builder->seen[builder->seen_last].run_id, run_id, RECORD_ID_BYTES - 1) == 0)
            return &builder->seen[builder->seen_last].set;
    struct builder_seen *grown = realloc(builder->seen, (builder->seen_count + 1) * sizeof *grown);
    if (!grown) {
        builder->seen_last = 0;
        return NULL;
    }
    builder->seen = grown;
    struct builder_seen *seen = &builder->seen[builder->seen_count++];
    *seen = (struct builder_seen){0};
    (void)snprintf(seen->run_id, sizeof seen->run_id, "%s", run_id);
    return &seen->set;
}

void summary_add(struct summary_builder *builder, size_t shard, const struct request_record *record)
{
    const char *run_id = builder->runs[builder->shards[shard].run].facts->run_id;
    summary_add_of(builder, shard, run_id ? run_id : "", record);
}

void summary_add_of(struct summary_builder *builder, size_t shard, const char *run_id,
                    const struct request_record *record)
{
    bool is_seen;
    struct seq_set *set = seen_of(builder, run_id);
    as_status status = set ? seq_set_take(set, record->seq, &is_seen) : AS_E_NOMEM;
    if (status != AS_OK) {
        builder->status = status;
        return;
    }
    if (is_seen)
        builder->duplicates++;
    else
        take(builder, shard, record);
}
