/* SPDX-License-Identifier: Apache-2.0 */
#ifndef ASSAY_WORKLOAD_IMAGEGEN_PROMPTS_H
#define ASSAY_WORKLOAD_IMAGEGEN_PROMPTS_H

/*
 * Prompts for images: workload/prompts.h with further members a line, each in place of the run's own setting: `size`
 * ("WIDTHxHEIGHT" or "auto"), `negative_prompt` (string), `seed` (whole number), `n` (1 … IMAGEGEN_COUNT_MAX). One that
 * is null counts as absent.
 */

#include "workload/prompts.h"

#define IMAGEGEN_COUNT_MAX 1024

/* NULL, has_seed false and 0 = not given. */
struct imagegen_line {
    const char *size, *negative_prompt;
    bool has_seed;
    int64_t seed;
    uint32_t count;
};

struct imagegen_prompts {
    struct prompts prompts;
    struct arena arena;
    struct imagegen_line *lines; /* by index of the prompt */
    size_t capacity;
};

/* Errors of prompts_load. *ret needs imagegen_prompts_done. */
as_status imagegen_prompts_load(const char *source, const struct prompts_options *options, struct imagegen_prompts *ret,
                                struct as_error *err) AS_NODISCARD;
/* The same from memory. */
as_status imagegen_prompts_parse(const char *text, size_t len, const struct prompts_options *options,
                                 struct imagegen_prompts *ret, struct as_error *err) AS_NODISCARD;
/* One prompt without further members. */
as_status imagegen_prompts_one(const char *prompt, struct imagegen_prompts *ret, struct as_error *err) AS_NODISCARD;
void imagegen_prompts_done(struct imagegen_prompts *prompts);

/* True for "WIDTHxHEIGHT" with 1 to 5 digits each, and "auto". */
bool imagegen_size_is_sound(const char *text);

#endif
