/* SPDX-License-Identifier: Apache-2.0 */
#ifndef ASSAY_ENGINE_BALANCE_H
#define ASSAY_ENGINE_BALANCE_H

/*
 * Which endpoint gets request number `seq`. Order and weights are kept whatever fails, unless ejection was asked for:
 *
 * weighted round robin  a precomputed cycle of smooth weighted round robin (the order nginx uses), indexed by seq
 * round robin           seq modulo the number of endpoints
 * random                a hash of (seed, seq), uniform; weights play no part
 * least in flight       the endpoint with the fewest requests in flight now, ties broken in round-robin order. One
 * whose last try could not connect takes part only on its own turn of the round robin: failing fast earns nothing
 *
 * Ejection (eject_after > 0): after so many consecutive failures (no connection, timeout, cut answer, 5xx) an endpoint
 * is passed over for 5 s; its requests go to the next one in order that is in. When all are out, the order is followed
 * as if none were.
 *
 * Any thread; counters are shared, without locks.
 */

#include "base/status.h"
#include "engine/engine.h"

#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

#define BALANCE_EJECTED_NS (INT64_C(5) * NS_PER_S)
/* Σ weights, divided by their greatest common divisor, may be at most this. */
#define BALANCE_CYCLE_MAX 100000

struct balance_endpoint;

struct balance {
    enum engine_balance policy;
    uint32_t count;
    uint64_t seed;
    uint32_t eject_after;
    uint32_t *cycle; /* weighted round robin: endpoint of each place */
    uint32_t cycle_len;
    struct balance_endpoint *endpoints;
    _Atomic int64_t ejections;
};

/* How a try ended, as far as the endpoint's health goes; UNUSED: it never began, or was cancelled by us. */
enum balance_verdict { BALANCE_UNUSED, BALANCE_FINE, BALANCE_FAILED, BALANCE_UNREACHABLE };

/* `weights` of `count` ≥ 1 endpoints, each ≥ 1. AS_E_LIMIT when they make too long a cycle. */
as_status balance_init(struct balance *balance, const struct engine_options *options, const uint32_t *weights,
                       uint32_t count, struct as_error *err) AS_NODISCARD;
void balance_done(struct balance *balance);
/* Picks for a new request and counts it in flight. `now_ns` on any one clock. */
uint32_t balance_pick(struct balance *balance, int64_t seq, int64_t now_ns);
/* For a further try: the same endpoint, or another by balance_pick when it is out. Counts in flight. */
uint32_t balance_pick_again(struct balance *balance, uint32_t endpoint, int64_t seq, int64_t now_ns);
/* A try at `endpoint` ended. True when its failure takes the endpoint out. */
bool balance_release(struct balance *balance, uint32_t endpoint, enum balance_verdict verdict, int64_t now_ns);

#endif
