/* SPDX-License-Identifier: Apache-2.0 */
#ifndef ASSAY_PROMPTS_CALIBRATION_H
#define ASSAY_PROMPTS_CALIBRATION_H

/*
 * How many tokens a model makes of a word of a library, by the counts of a server that serves it. Prompts of different
 * lengths are taken from the library, each is asked whole and with its first half of words alone, so that the tokens
 * around every prompt (chat template, system prompt) are told apart from those of the words: tokens = overhead + words
 * × ratio, by least squares (workload/synthetic.h). Who counts is a function of the caller's.
 */

#include "base/clock.h"
#include "base/strbuf.h"
#include "workload/calibrate.h"
#include "workload/prompts.h"

#include <stddef.h>
#include <stdint.h>

#define CALIBRATION_SCHEMA      "assay.calibration.v1"
#define CALIBRATION_PROMPTS_MAX 256

struct calibration {
    struct token_ratio ratio;
    double tokens_per_word_std; /* deviation of (tokens − overhead) ÷ words between the probes */
    struct token_probe probes[2 * CALIBRATION_PROMPTS_MAX];
    size_t probe_count;
    char content_digest[DIGEST_TEXT_BYTES]; /* of the library */
};

/*
 * Asks about `samples` prompts (1 … CALIBRATION_PROMPTS_MAX, at most those of two words or more), spread evenly over the
 * library's lengths. AS_E_INVALID: no prompt has two words, or the counts make no sense; what the counter returned.
 */
as_status calibration_measure(const struct prompts *library, size_t samples, const struct token_counter *counter,
                              struct calibration *ret, struct as_error *err) AS_NODISCARD;

/* What the file says beside the measurement. */
struct calibration_facts {
    const char *model, *library; /* NULL = unknown */
    struct wall measured_at;
};
/* The file's text. AS_E_NOMEM. */
as_status calibration_write(const struct calibration *calibration, const struct calibration_facts *facts,
                            struct strbuf *out) AS_NODISCARD;
/* The ratio that a file holds. AS_E_NOTFOUND, AS_E_IO; AS_E_INVALID: no such file. */
as_status calibration_load(const char *path, struct token_ratio *ret, struct as_error *err) AS_NODISCARD;
as_status calibration_parse(const char *text, size_t len, struct token_ratio *ret, struct as_error *err) AS_NODISCARD;

#endif
