/* SPDX-License-Identifier: Apache-2.0 */
#ifndef ASSAY_WORKLOAD_SYNTHETIC_H
#define ASSAY_WORKLOAD_SYNTHETIC_H

/*
 * Random prompts of a wanted length in tokens, for capacity runs. Prompt number i is made of common short English
 * words, chosen by (seed, i) alone: the same on every machine, and a shorter list is a prefix of a longer one. How many
 * words make a token count is the server's business (its tokeniser, its chat template), so it is measured: probes of
 * two lengths are sent, the server's own prompt_tokens give a straight line, the line gives the words. Pure functions;
 * any thread.
 */

#include "base/status.h"
#include "base/strbuf.h"
#include "workload/prompts.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* "N" or "N±S" (also "N+-S"): whole tokens, uniform from N−S to N+S. */
struct length_spec {
    int64_t mean;
    int64_t spread;
};

/* AS_E_INVALID with only the reason in err->message ("is not N or N±S, for example 512±64"). N ≥ 1, S < N, N + S ≤
 * 16,777,216. */
as_status length_parse(const char *text, struct length_spec *ret, struct as_error *err) AS_NODISCARD;
/* The length of number `index`, decided by (seed, stream, index) alone. */
int64_t length_draw(const struct length_spec *spec, uint64_t seed, uint64_t stream, uint64_t index);

/* What can be believed of a model. */
#define TOKENS_PER_WORD_MIN 0.2
#define TOKENS_PER_WORD_MAX 20.0
#define TOKEN_OVERHEAD_MAX  1e6
/* tokens = overhead_tokens + words × tokens_per_word */
struct token_ratio {
    double tokens_per_word; /* > 0 */
    double overhead_tokens; /* chat template and system prompt, ≥ 0 */
};
/* Before any measurement: the words used here are one token each with most tokenisers. */
#define TOKEN_RATIO_DEFAULT ((struct token_ratio){1.0, 0.0})

/* One calibration request and what the server counted. */
struct token_probe {
    int64_t words;
    int64_t prompt_tokens;
};

/*
 * The least-squares line through the probes. AS_E_INVALID with a reason when there are fewer than two different lengths
 * or the line makes no sense (tokens per word outside 0.2 … 20): the server does not count what was sent. A negative
 * overhead is taken as 0 and the slope then goes through the origin.
 */
as_status token_ratio_fit(const struct token_probe *probes, size_t count, struct token_ratio *ret,
                          struct as_error *err) AS_NODISCARD;
/* Words that come nearest to `tokens`, at least 1. */
int64_t token_ratio_words(const struct token_ratio *ratio, int64_t tokens);

/* Appends the text of prompt number `index`: exactly `words` words with single spaces. */
void synthetic_text(uint64_t seed, uint64_t index, int64_t words, struct strbuf *out);

struct synthetic_spec {
    uint64_t seed;
    size_t count;              /* prompts to make, ≥ 1 */
    struct length_spec input;  /* tokens */
    struct length_spec output; /* expected_output_tokens; mean 0 = none */
    struct token_ratio ratio;
};

/* Makes the prompts ("synthetic-0" …). AS_E_LIMIT when they would take more than PROMPTS_FILE_MAX_BYTES, AS_E_NOMEM. */
as_status synthetic_prompts(const struct synthetic_spec *spec, struct prompts *ret, struct as_error *err) AS_NODISCARD;

#endif
