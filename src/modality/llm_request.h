/* SPDX-License-Identifier: Apache-2.0 */
#ifndef ASSAY_MODALITY_LLM_REQUEST_H
#define ASSAY_MODALITY_LLM_REQUEST_H

/* The request bodies of a run (for llm.c). */

#include "base/arena.h"
#include "modality/llm.h"

/* One prompt's body, living in the arena. */
struct llm_request {
    char *body; /* JSON, `len` bytes */
    size_t len;
    size_t text_at; /* where the prompt's text begins in it: behind its opening quote */
    const char *id;
    int64_t words;      /* of the prompt, without nonce and system prompt */
    int64_t max_tokens; /* asked for, -1 = not */
};

struct llm_requests {
    struct llm_request *items; /* prompts->count: item i for the prompt of seq i */
    uint32_t choices;          /* a request asks for: the extra body's "n", else config->choices; ≥ 1 */
};

/* AS_E_USAGE: an extra body that cannot be; AS_E_LIMIT, AS_E_NOMEM. */
as_status llm_requests_make(const struct llm_config *config, const struct prompts *prompts, struct arena *arena,
                            struct llm_requests *ret, struct as_error *err) AS_NODISCARD;

#endif
