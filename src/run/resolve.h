/* SPDX-License-Identifier: Apache-2.0 */
#ifndef ASSAY_RUN_RESOLVE_H
#define ASSAY_RUN_RESOLVE_H

/*
 * What follows from several options together: the kind of loop, the API, defaults that depend on other options; and the refusal of
 * combinations that mean nothing. Writes what it found into the options (origin "run"), so that the echo shows what is in effect.
 */

#include "options/options.h"
#include "run/config.h"
#include "workload/endpoints.h"
#include "workload/synthetic.h"

#include <stdbool.h>
#include <stdint.h>

struct run_shape {
    bool is_open_loop;
    bool is_synthetic;
    uint32_t concurrency;      /* closed loop permits; 0 in an open loop */
    uint32_t max_concurrency;  /* open loop cap; 0 = none */
    bool is_bounded_by_count;  /* num_requests is a bound */
    struct length_spec input, output; /* synthetic; output.mean 0 = none */
    int64_t shard, shard_count;
    uint32_t threads;          /* of the engine */
    uint32_t keepers;          /* further threads that hand over records, numbered after those; a tool's */
    uint32_t modes;            /* active bits of enum run_mode */
};

/* What is known while it is worked out; nothing is owned. */
struct resolving {
    struct run_config *config;
    struct opt_parsed *parsed;
    const struct endpoint_list *endpoints; /* complete: endpoints_finish */
    struct run_shape *shape;
};

struct run_tool;

/* Fills *what->shape. AS_E_USAGE for what cannot be. */
as_status run_resolve(const struct run_tool *tool, struct resolving *what, struct as_error *err) AS_NODISCARD;
/* How an option was written, for messages. */
const char *resolve_spelled(const struct resolving *what, const char *name);
/* The refusal of two options that exclude each other. */
as_status resolve_both(const struct resolving *what, const char *a, const char *b, const char *remedy, struct as_error *err);

#endif
