/* SPDX-License-Identifier: Apache-2.0 */
#ifndef ASSAY_MODALITY_LLM_H
#define ASSAY_MODALITY_LLM_H

/*
 * The modality "llm": text generation over an OpenAI-compatible chat or completions API, streamed or not. Request
 * bodies are made before the run, one per prompt, and sent by reference; only the nonce of unique prompts is made per
 * request, in the answer's memory. How answers are read and judged: modality/chat_answer.h.
 *
 * The context (struct llm) is read-only once made; any thread. It does not keep the prompts, only what it made of them.
 */

#include "base/json.h"
#include "base/status.h"
#include "engine/modality.h"
#include "modality/chat_answer.h"
#include "workload/prompts.h"

#include <stdbool.h>
#include <stdint.h>

#define LLM_SYSTEM_PROMPT_DEFAULT    "You are a helpful assistant."
#define LLM_MAX_TOKENS_FIELD_DEFAULT "max_tokens"
#define LLM_RUN_ID_MAX_BYTES         64
/* All request bodies of a run together. */
#define LLM_BODIES_MAX_BYTES ((size_t)2 * 1024 * 1024 * 1024)

struct llm_images;

enum llm_api {
    LLM_CHAT,      /* POST /chat/completions, `messages` */
    LLM_COMPLETION /* POST /completions, `prompt` */
};

/* What is asked of the server. Every member is stamped in the summary's config under its own name. */
struct llm_config {
    enum llm_api api;
    bool streaming;    /* "stream": true, with "stream_options": {"include_usage": true} */
    const char *model; /* required */
    const char
        *system_prompt; /* LLM_CHAT: NULL = the default above, "" = no system message; LLM_COMPLETION: not sent */
    const char *max_tokens_field; /* NULL = "max_tokens"; "max_completion_tokens" for servers that want that */
    int64_t max_tokens;           /* tokens; < 1 = not sent. A prompt's expected_output_tokens goes before it */
    int64_t min_tokens;           /* tokens; < 0 = not sent */
    bool ignore_eos;              /* "ignore_eos": true; else not sent */
    double temperature;           /* NaN = not sent */
    bool has_seed;                /* whether `seed` is sent */
    int64_t seed;                 /* of the server's sampling */
    uint32_t choices;             /* n; sent when not 1; 1 … CHAT_CHOICES_MAX; 0 means 1 */
    const char *extra_body; /* JSON object: its members are added to each body, replacing ours of the same name; NULL =
                               none. Its "n" is the number of choices. Not allowed in it: messages, prompt, stream
                               (options of their own) */
    bool unique_prompts;    /* puts "[run_id/run_seed/seq] " before each prompt, against prefix caches */
    const char
        *run_id; /* for unique_prompts; at most LLM_RUN_ID_MAX_BYTES of printable ASCII without quote and backslash */
    uint64_t run_seed;               /* for unique_prompts */
    bool save_content;               /* record.content, reasoning, tool_arguments */
    size_t save_limit_bytes;         /* see struct chat_wish */
    const struct llm_images *images; /* NULL = texts alone; for modality/vlm.h, which fills the places */
    const char *const
        *secrets; /* ends with NULL: texts no message may hold (API keys), kept by the caller; NULL = none */
};

/* Places for images in the message of each chat request, behind its text:
 * {"type":"image_url","image_url":{"url":"…","detail":"…"}}. */
struct llm_images {
    const void *context;
    uint32_t (*count)(const void *context, int64_t seq);
    const char *detail; /* NULL = not sent */
};

struct llm;

/*
 * Makes the request bodies. AS_E_USAGE: a member of the config that cannot be (the sentence names the option);
 * AS_E_LIMIT: bodies larger than LLM_BODIES_MAX_BYTES together; AS_E_NOMEM. config and prompts may go afterwards,
 * secrets and their list may not.
 */
as_status llm_new(const struct llm_config *config, const struct prompts *prompts, struct llm **ret,
                  struct as_error *err) AS_NODISCARD;
void llm_free(struct llm *llm);
/* AS_E_USAGE: what --extra-body may not hold; the sentence names the option to use instead. */
as_status llm_check_extra(const struct json_value *extra, struct as_error *err) AS_NODISCARD;

/* The modality; its context is a struct llm. */
const struct modality *llm_modality(void);

/* Appends the body of request number `seq` as it is sent: for the summary's template, dry runs and tests. */
as_status llm_body(const struct llm *llm, int64_t seq, struct strbuf *out) AS_NODISCARD;

#endif
