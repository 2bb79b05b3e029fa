/* SPDX-License-Identifier: Apache-2.0 */
/* Delays, lengths, faults and freezes: what is taken can be used, what is refused has a sentence. */
#include "sim/dist.h"
#include "sim/fault.h"
#include "sim/pace.h"

#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void must(bool holds)
{
    if (!holds)
        abort();
}

static void try_dist(const char *text, enum sim_dist_unit unit)
{
    struct sim_dist dist;
    struct as_error err = {0};
    struct rng rng;
    if (sim_dist_parse(text, unit, &dist, &err) != AS_OK) {
        must(err.message[0]);
        return;
    }
    rng_init(&rng, 1, 1);
    for (int i = 0; i < 20; i++)
        must(sim_dist_sample(&dist, &rng) >= 0);
    must(sim_dist_mean(&dist) >= 0);
}

static void try_fault(const char *text)
{
    struct sim_fault fault;
    struct as_error err = {0};
    if (sim_fault_parse(text, &fault, &err) != AS_OK) {
        must(err.message[0]);
        return;
    }
    must(fault.kind < SIM_FAULT_KIND_COUNT && fault.argument >= -1);
    for (int64_t number = 1; number < 20; number++)
        (void)sim_fault_choose(&fault, 1, 7, number);
}

static void try_freeze(const char *text)
{
    struct sim_freeze freeze;
    struct as_error err = {0};
    if (sim_freeze_parse(text, &freeze, &err) != AS_OK) {
        must(err.message[0]);
        return;
    }
    const struct sim_pace pace = {.freezes = &freeze, .freeze_count = 1};
    must(sim_pace_advance(&pace, 0, 0, 1000) >= 1000);
    must(sim_pace_advance(&pace, 0, freeze.start_ns, 0) == freeze.start_ns + freeze.length_ns);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    char text[256];
    if (size >= sizeof(text))
        return 0;
    memcpy(text, data, size);
    text[size] = '\0';
    try_dist(text, SIM_DIST_DURATION);
    try_dist(text, SIM_DIST_COUNT);
    try_fault(text);
    try_freeze(text);
    return 0;
}
