/* SPDX-License-Identifier: Apache-2.0 */
#ifndef ASSAY_MODALITY_LLM_REQUEST_H
#define ASSAY_MODALITY_LLM_REQUEST_H

/* The request bodies of a run, and what an answer holds (for llm.c and vlm.c). */

#include "base/arena.h"
#include "modality/llm.h"

/* "[run id/seed/seq] " */
#define LLM_NONCE_BYTES      (LLM_RUN_ID_MAX_BYTES + 2 * 20 + 6)
#define LLM_ANSWER_MAX_BYTES ((size_t)64 * 1024 * 1024)

/* What the engine keeps a slot. */
struct llm_answer {
    struct chat_answer chat;
    char nonce[LLM_NONCE_BYTES];
};

/* One prompt's body, living in the arena. */
struct llm_request {
    char *body; /* JSON, `len` bytes */
    size_t len;
    size_t text_at; /* where the prompt's text begins in it: behind its opening quote */
    const char *id;
    int64_t words;      /* of the prompt, without nonce and system prompt */
    int64_t max_tokens; /* asked for, -1 = not */
    const size_t *gaps; /* places of images in the body, ascending, behind the text */
    uint32_t gap_count;
};

struct llm_requests {
    struct llm_request *items; /* prompts->count: item i for the prompt of seq i */
    uint32_t choices;          /* a request asks for: the extra body's "n", else config->choices; ≥ 1 */
};

/* AS_E_USAGE: an extra body that cannot be; AS_E_LIMIT, AS_E_NOMEM. */
as_status llm_requests_make(const struct llm_config *config, const struct prompts *prompts, struct arena *arena,
                            struct llm_requests *ret, struct as_error *err) AS_NODISCARD;

/* The request of number `seq`, without what is made for each sending. */
const struct llm_request *llm_request_of(const struct llm *llm, int64_t seq);

#endif
