/* SPDX-License-Identifier: Apache-2.0 */
#ifndef ASSAY_PROMPTS_SAMPLE_H
#define ASSAY_PROMPTS_SAMPLE_H

/*
 * Takes the prompts of a library whose length fits. A prompt's tokens are estimated from its words and a model's
 * calibrated ratio (struct token_ratio: the chat template's tokens included). It fits when |estimate − isl| ≤ tolerance
 * × isl and, where both are given, |expected_output_tokens − osl| ≤ tolerance × osl; a row without expected tokens gets
 * `osl`. Those that fit are put into an order that depends on the seed and their number alone; the first `count` are
 * taken. Pure functions; any thread.
 */

#include "base/json_write.h"
#include "base/strbuf.h"
#include "prompts/library.h"
#include "workload/prompts.h"
#include "workload/synthetic.h"

#include <stdint.h>

struct sample_spec {
    int64_t isl;              /* tokens wanted of a prompt, ≥ 1 */
    int64_t osl;              /* of an answer; 0 = any */
    double tolerance;         /* share, ≥ 0 */
    int64_t count;            /* prompts wanted; 0 = all that fit */
    bool allow_fewer;         /* take what there is when fewer fit */
    uint64_t seed;
    struct token_ratio ratio;
};

struct sample_report {
    struct sample_spec spec;
    int64_t available;           /* prompts of the library */
    int64_t input_fits, fits;    /* of them: by input length, and by both */
    int64_t taken;
    struct distribution tokens;  /* estimated, of those taken */
    struct distribution words, output_tokens;
    int64_t shortest_tokens, longest_tokens; /* estimated, of the library */
};

/*
 * Fills `library` (initialised and empty, finished here). AS_E_INVALID: none fits, or fewer than wanted without
 * `allow_fewer`; the sentence says what there is. AS_E_NOMEM.
 */
as_status sample_take(const struct prompts *from, const struct sample_spec *spec, struct library *library,
                      struct sample_report *ret, struct as_error *err) AS_NODISCARD;
/* The report for people, ending with a line end; and as the member "sample" (context: the report). */
void sample_show(const struct sample_report *report, struct strbuf *out);
void sample_describe(struct json_writer *writer, const void *report);

#endif
