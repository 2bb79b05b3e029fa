/* SPDX-License-Identifier: Apache-2.0 */
#ifndef ASSAY_SUMMARY_PROMPT_SET_H
#define ASSAY_SUMMARY_PROMPT_SET_H

/*
 * How often each prompt was used, by a 64-bit hash of its id. Counts up to PROMPT_SET_MAX different prompts (4 MiB);
 * with more it gives up, and says so. Internal to summary; one thread.
 */

#include "base/status.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define PROMPT_SET_MAX 131072

struct prompt_use {
    uint64_t hash; /* 0 = free */
    int64_t count;
};

struct prompt_set {
    struct prompt_use *table;
    size_t capacity; /* a power of two */
    size_t used;
    bool is_full; /* more different prompts than it counts */
};

/* All zero = empty. An empty id is not counted. */
as_status prompt_set_take(struct prompt_set *set, const char *id) AS_NODISCARD;
void prompt_set_done(struct prompt_set *set);

#endif
