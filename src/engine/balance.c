/* SPDX-License-Identifier: Apache-2.0 */
#include "engine/balance.h"

#include "base/rng.h"

#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

struct balance_endpoint {
    _Alignas(64) _Atomic int32_t in_flight;
    _Atomic uint32_t failures; /* consecutive */
    _Atomic bool is_unreachable;
    _Atomic int64_t out_until_ns;
};

static uint64_t greatest_divisor(uint64_t a, uint64_t b)
{
    while (b) {
        uint64_t rest = a % b;
        a = b;
        b = rest;
    }
    return a;
}

/* Each place goes to the endpoint with the most credit: credit grows by the weight each place and a pick costs the sum.
 */
static as_status make_cycle(struct balance *balance, const uint32_t *weights, struct as_error *err)
{
    uint64_t sum = 0, divisor = 0;
    for (uint32_t i = 0; i < balance->count; i++) {
        sum += weights[i];
        divisor = greatest_divisor(divisor, weights[i]);
    }
    if (divisor == 0 || sum / divisor > BALANCE_CYCLE_MAX)
        return error_set(err, AS_E_LIMIT, "the endpoints' weights add up to %llu; use smaller ones (at most %d in all)",
                         (unsigned long long)sum, BALANCE_CYCLE_MAX);
    balance->cycle_len = (uint32_t)(sum / divisor);
    balance->cycle = malloc(balance->cycle_len * sizeof *balance->cycle);
    int64_t *credit = calloc(balance->count, sizeof *credit);
    if (!balance->cycle || !credit) {
        free(credit);
        return error_set(err, AS_E_NOMEM, "no memory for %u endpoints", balance->count);
    }
    for (uint32_t place = 0; place < balance->cycle_len; place++) {
        uint32_t best = 0;
        for (uint32_t i = 0; i < balance->count; i++) {
            credit[i] += (int64_t)(weights[i] / divisor);
            if (credit[i] > credit[best])
                best = i;
        }
        credit[best] -= balance->cycle_len;
        balance->cycle[place] = best;
    }
    free(credit);
    return AS_OK;
}

as_status balance_init(struct balance *balance, const struct engine_options *options, const uint32_t *weights,
                       uint32_t count, struct as_error *err)
{
    memset(balance, 0, sizeof *balance);
    balance->policy = options->balance;
    balance->count = count;
    balance->seed = options->seed;
    balance->eject_after = options->eject_after;
    balance->endpoints = aligned_alloc(_Alignof(struct balance_endpoint), count * sizeof *balance->endpoints);
    if (!balance->endpoints)
        return error_set(err, AS_E_NOMEM, "no memory for %u endpoints", count);
    memset(balance->endpoints, 0, count * sizeof *balance->endpoints);
    as_status status = balance->policy == BALANCE_WEIGHTED_ROUND_ROBIN ? make_cycle(balance, weights, err) : AS_OK;
    if (status != AS_OK)
        balance_done(balance);
    return status;
}

void balance_done(struct balance *balance)
{
    free(balance->cycle);
    free(balance->endpoints);
    balance->cycle = NULL;
    balance->endpoints = NULL;
}

static bool is_out(const struct balance *balance, uint32_t endpoint, int64_t now_ns)
{
    return balance->eject_after &&
           atomic_load_explicit(&balance->endpoints[endpoint].out_until_ns, memory_order_relaxed) > now_ns;
}

/* Endpoint at a place of the order that `seq` follows; places count on from seq. */
static uint32_t in_order(const struct balance *balance, uint64_t place)
{
    if (balance->policy == BALANCE_WEIGHTED_ROUND_ROBIN)
        return balance->cycle[place % balance->cycle_len];
    return (uint32_t)(place % balance->count);
}

/* The first endpoint from `place` on that is in; the one at `place` when none is. */
static uint32_t first_in(const struct balance *balance, uint64_t place, int64_t now_ns)
{
    uint32_t first = in_order(balance, place);
    uint32_t places = balance->policy == BALANCE_WEIGHTED_ROUND_ROBIN ? balance->cycle_len : balance->count;
    for (uint32_t i = 0; i < places; i++) {
        uint32_t endpoint = in_order(balance, place + i);
        if (!is_out(balance, endpoint, now_ns))
            return endpoint;
    }
    return first;
}

static uint32_t least_in_flight(const struct balance *balance, uint64_t place, int64_t now_ns)
{
    uint32_t turn = first_in(balance, place, now_ns);
    uint32_t best = turn;
    int32_t fewest = atomic_load_explicit(&balance->endpoints[turn].in_flight, memory_order_relaxed);
    for (uint32_t i = 1; i < balance->count; i++) {
        uint32_t endpoint = (uint32_t)((turn + i) % balance->count);
        const struct balance_endpoint *state = &balance->endpoints[endpoint];
        int32_t in_flight = atomic_load_explicit(&state->in_flight, memory_order_relaxed);
        if (in_flight < fewest && !atomic_load_explicit(&state->is_unreachable, memory_order_relaxed) &&
            !is_out(balance, endpoint, now_ns)) {
            best = endpoint;
            fewest = in_flight;
        }
    }
    return best;
}

uint32_t balance_pick(struct balance *balance, int64_t seq, int64_t now_ns)
{
    uint64_t place = (uint64_t)seq;
    if (balance->policy == BALANCE_RANDOM)
        place = rng_mix(balance->seed, place);
    uint32_t endpoint = balance->policy == BALANCE_LEAST_INFLIGHT ? least_in_flight(balance, place, now_ns)
                                                                  : first_in(balance, place, now_ns);
    atomic_fetch_add_explicit(&balance->endpoints[endpoint].in_flight, 1, memory_order_relaxed);
    return endpoint;
}

uint32_t balance_pick_again(struct balance *balance, uint32_t endpoint, int64_t seq, int64_t now_ns)
{
    if (is_out(balance, endpoint, now_ns))
        return balance_pick(balance, seq, now_ns);
    atomic_fetch_add_explicit(&balance->endpoints[endpoint].in_flight, 1, memory_order_relaxed);
    return endpoint;
}

bool balance_release(struct balance *balance, uint32_t endpoint, enum balance_verdict verdict, int64_t now_ns)
{
    struct balance_endpoint *state = &balance->endpoints[endpoint];
    atomic_fetch_sub_explicit(&state->in_flight, 1, memory_order_relaxed);
    if (verdict == BALANCE_UNUSED)
        return false;
    if (balance->policy == BALANCE_LEAST_INFLIGHT) {
        bool is_unreachable = verdict == BALANCE_UNREACHABLE;
        if (atomic_load_explicit(&state->is_unreachable, memory_order_relaxed) != is_unreachable)
            atomic_store_explicit(&state->is_unreachable, is_unreachable, memory_order_relaxed);
    }
    if (!balance->eject_after || is_out(balance, endpoint, now_ns))
        return false;
    if (verdict == BALANCE_FINE) {
        atomic_store_explicit(&state->failures, 0, memory_order_relaxed);
        return false;
    }
    uint32_t failures = atomic_fetch_add_explicit(&state->failures, 1, memory_order_relaxed) + 1;
    if (failures != balance->eject_after)
        return false;
    atomic_store_explicit(&state->out_until_ns, now_ns + BALANCE_EJECTED_NS, memory_order_relaxed);
    atomic_store_explicit(&state->failures, 0, memory_order_relaxed);
    atomic_fetch_add_explicit(&balance->ejections, 1, memory_order_relaxed);
    return true;
}
