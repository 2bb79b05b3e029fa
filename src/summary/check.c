/* SPDX-License-Identifier: Apache-2.0 */
/* The identities of summary.h. */
#include "summary/summary.h"

#include <inttypes.h>

/* One identity: two sums that must be equal. */
struct identity {
    const char *text;
    int64_t left, right;
};

static as_status check_all(const struct identity *identities, size_t count, const char *where, struct as_error *err)
{
    for (size_t i = 0; i < count; i++) {
        if (identities[i].left == identities[i].right)
            continue;
        return error_set(err, AS_E_INTERNAL, "%s: %s does not hold: %" PRId64 " and %" PRId64, where,
                         identities[i].text, identities[i].left, identities[i].right);
    }
    return AS_OK;
}

static int64_t ended(const struct request_counts *c)
{
    return c->ok + c->failed + c->timed_out + c->cancelled;
}

static as_status check_plan(const struct summary *s, struct as_error *err)
{
    const struct plan_counts *counts = &s->counts;
    const struct request_counts *all = &counts->all, *measured = &s->total.counts;
    int64_t records = all->sent + all->refused;
    bool is_known = counts->planned >= 0 && counts->skipped >= 0;
    const struct identity identities[] = {
        {"planned + surplus = sent + refused + skipped + lost", is_known ? counts->planned + counts->surplus : 0,
         is_known ? records + counts->skipped + counts->lost : 0},
        {"sent = ok + failed + timed_out + cancelled", all->sent, ended(all)},
        {"late_unsent <= skipped", is_known && counts->late_unsent > counts->skipped, 0},
        {"warmup + ramp_up + measured = sent + refused",
         counts->warmup + counts->ramp_up + measured->sent + measured->refused, records},
    };
    return check_all(identities, sizeof identities / sizeof *identities, "counts", err);
}

static as_status check_block(const struct summary_block *block, const char *where, struct as_error *err)
{
    int64_t by_type = 0;
    for (int i = 0; i < ERROR_TYPE_COUNT; i++)
        by_type += block->errors.by_type[i];
    const struct request_counts *c = &block->counts;
    const struct identity identities[] = {
        {"measured sent = ok + failed + timed_out + cancelled", c->sent, ended(c)},
        {"errors.count = failed + timed_out + refused", block->errors.count, c->failed + c->timed_out + c->refused},
        {"errors.count = sum of errors.by_type", block->errors.count, by_type},
        {"response times <= ok", block->latency[LATENCY_RESPONSE_TIME].n > c->ok, 0},
        {"censored chunks <= chunks", block->chunks.censored_chunks > block->chunks.content_chunks, 0},
        {"failed attempts <= attempts", c->failed_attempts > c->attempts, 0},
        {"good + undecided <= ok", block->goodput.good + block->goodput.undecided > c->ok, 0},
    };
    return check_all(identities, sizeof identities / sizeof *identities, where, err);
}

static as_status check_endpoints(const struct summary *s, struct as_error *err)
{
    int64_t sent = s->unassigned.sent, ok = s->unassigned.ok, refused = s->unassigned.refused;
    for (size_t i = 0; i < s->endpoint_count; i++) {
        as_status status = check_block(&s->endpoints[i], "an endpoint", err);
        if (status != AS_OK)
            return status;
        sent += s->endpoints[i].counts.sent;
        ok += s->endpoints[i].counts.ok;
        refused += s->endpoints[i].counts.refused;
    }
    const struct request_counts *total = &s->total.counts;
    const struct identity identities[] = {
        {"sent = sum over endpoints", total->sent, sent},
        {"ok = sum over endpoints", total->ok, ok},
        {"refused = sum over endpoints", total->refused, refused},
    };
    return check_all(identities, sizeof identities / sizeof *identities, "endpoints", err);
}

as_status summary_check(const struct summary *s, struct as_error *err)
{
    as_status status = check_plan(s, err);
    if (status == AS_OK)
        status = check_block(&s->total, "all", err);
    if (status == AS_OK)
        status = check_endpoints(s, err);
    if (status != AS_OK)
        return status;
    if (s->window.duration_ns > s->window.elapsed_ns)
        return error_set(err, AS_E_INTERNAL, "window: duration <= elapsed does not hold");
    return AS_OK;
}
