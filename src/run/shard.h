/* SPDX-License-Identifier: Apache-2.0 */
#ifndef ASSAY_RUN_SHARD_H
#define ASSAY_RUN_SHARD_H

#include <stdbool.h>
#include <stdint.h>

#define SHARD_COUNT_MAX 65536

/* Reads "i/n", 0 ≤ i < n ≤ SHARD_COUNT_MAX; false when it is none. */
bool shard_parse(const char *text, int64_t *ret_index, int64_t *ret_count);

#endif
