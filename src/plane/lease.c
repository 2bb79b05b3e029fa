/* SPDX-License-Identifier: Apache-2.0 */
#include "plane/lease.h"

#include <string.h>

as_status lease_note(struct store_tx *tx, const struct lease *lease, const char *from, const char *to,
                     const struct lease_end *why)
{
    const struct store_value values[] = {
        store_int(lease->job_id),     store_int(lease->attempt), store_text(from),       store_text(to),
        store_text(why->reason_code), store_text(why->reason),   store_text(why->actor), store_int(why->at_ns),
    };
    return store_exec(
        tx,
        "INSERT INTO job_transitions (job_id, attempt, ordinal, from_state, to_state, reason_code, reason, "
        "actor, at_ns) VALUES (?1, ?2, (SELECT COALESCE(MAX(x.ordinal), 0) + 1 FROM job_transitions x WHERE "
        "x.job_id = ?1), ?3, ?4, ?5, ?6, ?7, ?8)",
        values, 8, NULL);
}

/* What becomes of the job. */
static const char *job_state_after(const struct lease *lease, const struct lease_end *end)
{
    const bool before_load = strcmp(lease->state, "leased") == 0 || strcmp(lease->state, "starting") == 0;
    const bool same_reason =
        lease->last_reason && end->reason_code && strcmp(lease->last_reason, end->reason_code) == 0;
    if (strcmp(end->state, "succeeded") == 0)
        return end->state;
    if (strcmp(lease->job_state, "cancelling") == 0)
        return "cancelled";
    if (strcmp(end->state, "cancelled") != 0 && before_load && lease->retries < LEASE_RETRIES && !same_reason)
        return "queued";
    return end->state;
}

static as_status end_attempt(struct store_tx *tx, const struct lease *lease, const struct lease_end *end)
{
    const struct store_value values[] = {
        store_int(lease->attempt_id), store_text(end->state), store_text(end->reason_code),
        store_text(end->reason),      store_int(end->at_ns),  end->ended_ns ? store_int(end->ended_ns) : store_null(),
    };
    const struct store_value token[] = {store_int(lease->attempt_id), store_int(end->at_ns)};
    int64_t changed = 0;
    as_status status =
        store_exec(tx,
                   "UPDATE job_attempts SET state = ?2, reason_code = ?3, reason = ?4, finished_ns = ?5, "
                   "ended_ns = ?6 WHERE id = ?1 AND state IN (" LEASE_LIVE ")",
                   values, 6, &changed);
    if (status == AS_OK && changed == 0)
        return AS_E_STATE;
    return status == AS_OK ? store_exec(tx,
                                        "UPDATE attempt_tokens SET revoked_ns = ?2 WHERE job_attempt_id = ?1 AND "
                                        "revoked_ns IS NULL",
                                        token, 2, NULL)
                           : status;
}

static as_status end_job(struct store_tx *tx, const struct lease *lease, const struct lease_end *end)
{
    const bool again = strcmp(end->result, "queued") == 0;
    const struct store_value values[] = {
        store_int(lease->job_id), store_text(end->result),   store_text(end->reason_code),
        store_text(end->reason),  store_int(end->at_ns),     again ? store_null() : store_int(end->at_ns),
        store_int(again ? 1 : 0), store_int(lease->attempt), store_text(lease->job_state),
    };
    int64_t changed = 0;
    as_status status =
        store_exec(tx,
                   "UPDATE jobs SET state = ?2, reason_code = ?3, reason = ?4, updated_ns = ?5, finished_ns "
                   "= ?6, automatic_retries = automatic_retries + ?7, row_version = row_version + 1 WHERE "
                   "id = ?1 AND attempt = ?8 AND state = ?9",
                   values, 9, &changed);
    return status == AS_OK && changed == 0 ? AS_E_STATE : status;
}

/* Counts the job, and ends the run with its last one. */
static as_status end_run(struct store_tx *tx, const struct lease *lease, const struct lease_end *end)
{
    const struct store_value values[] = {store_int(lease->run_id), store_int(end->at_ns)};
    as_status status = store_exec(
        tx,
        "UPDATE runs SET jobs_succeeded = (SELECT COUNT(*) FROM jobs j WHERE j.run_id = ?1 AND j.state = 'succeeded'), "
        "jobs_failed = (SELECT COUNT(*) FROM jobs j WHERE j.run_id = ?1 AND j.state IN ('failed', 'lost')), updated_ns "
        "= ?2, row_version = row_version + 1 WHERE id = ?1",
        values, 2, NULL);
    return status == AS_OK
               ? store_exec(tx,
                            "UPDATE runs SET finished_ns = ?2, state = CASE WHEN state = 'cancelling' THEN "
                            "'cancelled' WHEN jobs_failed > 0 THEN 'failed' WHEN jobs_succeeded > 0 THEN "
                            "'succeeded' ELSE 'cancelled' END WHERE id = ?1 AND state IN ('queued', 'running', "
                            "'cancelling') AND NOT EXISTS (SELECT 1 FROM jobs j WHERE j.run_id = ?1 AND "
                            "j.state IN ('queued', 'cancelling', " LEASE_LIVE "))",
                            values, 2, NULL)
               : status;
}

as_status lease_end(struct store_tx *tx, const struct lease *lease, struct lease_end *end)
{
    end->result = job_state_after(lease, end);
    as_status status = end_attempt(tx, lease, end);
    if (status == AS_OK)
        status = end_job(tx, lease, end);
    if (status == AS_OK)
        status = lease_note(tx, lease, lease->job_state, end->result, end);
    return status == AS_OK ? end_run(tx, lease, end) : status;
}
