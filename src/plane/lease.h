/* SPDX-License-Identifier: Apache-2.0 */
#ifndef ASSAY_PLANE_LEASE_H
#define ASSAY_PLANE_LEASE_H

/*
 * A job's attempts and how they end. An attempt is leased to one server's agent for a term that each renewal makes full
 * again, by the monotonic clock; a fifth of the term after its end the server takes the job back. The agent stops its
 * own load earlier (LEASE_FENCE), so that there are never two loads. A job goes back into the queue by itself only when
 * no measured request was sent, at most LEASE_RETRIES times, and not twice for the same reason; else a person decides.
 */

#include "plane/call.h"

#define LEASE_TERM_S  300
#define LEASE_FENCE_S 285 /* of the present term: then the agent stops load and servers */
#define LEASE_RENEW_S 15
#define LEASE_POLL_S  5 /* renewals tell of a cancel: asked this often it is seen in time */
#define LEASE_WAIT_S  50
#define LEASE_RETRIES 2

#define LEASE_LIVE "'leased', 'starting', 'running', 'uploading'"

/* An attempt as it stands. */
struct lease {
    int64_t tenant_id, job_id, run_id, attempt_id, attempt, retries, server_id;
    const char *job_code, *run_code;
    const char *state;       /* of the attempt */
    const char *job_state;   /* of the job */
    const char *last_reason; /* code that the job went back into the queue for; NULL = none */
};

/* How it ends. */
struct lease_end {
    const char *state; /* "succeeded", "failed", "cancelled", "lost" */
    const char *reason_code, *reason;
    const char *actor;
    int64_t at_ns;      /* the server's wall clock */
    int64_t ended_ns;   /* the agent's, 0 = not known */
    const char *result; /* gets the job's state */
};

/*
 * Ends the attempt, its tokens, and the job or its run with it, by comparing: AS_E_STATE when one of them is not as it
 * was read. In a transaction that writes.
 */
as_status lease_end(struct store_tx *tx, const struct lease *lease, struct lease_end *end) AS_NODISCARD;
/* Takes back what no agent has renewed in time; in transactions of its own, for the keeper. */
as_status lease_expire(struct plane *plane) AS_NODISCARD;
/* One more line in the job's history. */
as_status lease_note(struct store_tx *tx, const struct lease *lease, const char *from, const char *to,
                     const struct lease_end *why) AS_NODISCARD;

#endif
