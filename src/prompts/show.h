/* SPDX-License-Identifier: Apache-2.0 */
#ifndef ASSAY_PROMPTS_SHOW_H
#define ASSAY_PROMPTS_SHOW_H

/* A library for people and as JSON: count, digests, lengths, how they are spread, its first prompts. Any thread. */

#include "prompts/library.h"
#include "workload/synthetic.h"

#include <stdbool.h>
#include <stddef.h>

struct show_spec {
    size_t first;             /* prompts to print the beginning of */
    bool has_ratio;           /* tokens are estimated by `ratio` too */
    struct token_ratio ratio;
};

/* AS_E_NOMEM. */
as_status show_text(const struct prompts *prompts, const struct show_spec *spec, struct strbuf *out) AS_NODISCARD;
as_status show_json(const struct prompts *prompts, const struct show_spec *spec, struct strbuf *out) AS_NODISCARD;

/*
 * Appends at most `max_chars` characters of a text on one line: what could move a terminal's cursor, change its
 * direction or is no UTF-8 becomes a visible sign; white space becomes a space; "…" follows when there is more.
 */
void show_safely(const char *text, size_t len, size_t max_chars, struct strbuf *out);

#endif
