/* SPDX-License-Identifier: Apache-2.0 */
#ifndef ASSAY_RUN_SOURCE_H
#define ASSAY_RUN_SOURCE_H

/*
 * What is asked before the measured run: the model's name, how many tokens a word makes, the prompts. Each request made
 * here goes through fetch and is no part of the result.
 */

#include "modality/llm.h"
#include "options/options.h"
#include "run/config.h"
#include "run/resolve.h"
#include "run/target.h"
#include "workload/prompts.h"

/* A run's prompts and how they came about. */
struct source {
    struct prompts prompts;
    bool has_prompts;
    struct token_ratio ratio;   /* synthetic prompts */
    struct token_probe probes[2]; /* measured; probe_count of them */
    size_t probe_count;
};

/* Everything these functions need; nothing is owned. */
struct source_context {
    struct run_config *config;
    struct opt_parsed *parsed;
    const struct run_shape *shape;
    struct targets *targets;
};

/*
 * Sets --model from the first server's /models unless it is given. AS_E_USAGE when it lists none or several (the names are in the message),
 * AS_E_NETWORK and what fetch_run gives when it cannot be asked.
 */
as_status source_find_model(const struct source_context *context, struct as_error *err) AS_NODISCARD;
/* Loads or generates the prompts and shuffles them; generated ones after a calibration unless that is off. */
as_status source_make(const struct source_context *context, struct source *ret, struct as_error *err) AS_NODISCARD;
void source_done(struct source *source);

/* The modality's config from the options. */
struct llm_config source_llm_config(const struct run_config *config, const struct targets *targets);
/* The body of a request with the prompt "{prompt}", for the echo and a dry run. */
as_status source_body_template(const struct llm_config *config, struct strbuf *out, struct as_error *err) AS_NODISCARD;
/*
 * Asks the first server how many tokens the text of request `seq` is for it: usage.prompt_tokens of an answer of one token. `config` says what
 * goes with the text; `what` begins the sentences of errors. AS_E_NETWORK: no answer, or none with that member.
 */
struct source_text {
    const char *prompt;
    int64_t seq;
    const char *what;
};
as_status source_count_tokens(const struct source_context *context, const struct llm_config *config, const struct source_text *text,
                              int64_t *ret_tokens, struct as_error *err) AS_NODISCARD;

#endif
