/* SPDX-License-Identifier: Apache-2.0 */
#ifndef ASSAY_RECIPE_MEMORY_H
#define ASSAY_RECIPE_MEMORY_H

/* Parts of the memory estimate that the verdicts need one by one. Private to the module; below 0 is "unknown". */

#include "recipe/readiness.h"

/* The weights of the whole model in the workload's precision, in bytes. */
double recipe_weights_bytes(const struct recipe_facts *facts);
/* Tokens of one request: ISL + OSL + those of the chat template. */
double recipe_request_tokens(const struct recipe_facts *facts);
/* The server's context length: the set's, else the model's own. */
double recipe_context_tokens(const struct recipe_facts *facts);
/* Tokens the KV cache must hold for the server to start at all: vLLM wants one request of the full context. */
double recipe_least_kv_tokens(const struct recipe_facts *facts);
/* KV caches of one replica that share its requests: data parallel ranks, inside the tensor group or outside. */
int64_t recipe_kv_ranks(const struct recipe_parallel *parallel);

#endif
