/* SPDX-License-Identifier: Apache-2.0 */
#ifndef ASSAY_MODALITY_IMAGEGEN_H
#define ASSAY_MODALITY_IMAGEGEN_H

/*
 * The modality "imagegen": POST /images/generations. Bodies are made before the run, one a prompt; only the seed is
 * made for each request.
 *
 * An answer is copied when it is whole and judged after its record was handed over, by other threads
 * (modality/imagegen_post.h): the record that the engine puts holds the answer's text in `content`, in malloc'ed memory
 * that whoever takes the record must free. The sink must therefore be that of imagegen_post.
 *
 * Memory: one answer a permit in the engine, at most max_answer_bytes each, then those of the queue.
 */

#include "base/status.h"
#include "base/strbuf.h"
#include "engine/modality.h"
#include "workload/imagegen_prompts.h"

enum imagegen_format { IMAGEGEN_B64, IMAGEGEN_URL };
/* seed + number of the request; the seed; seed + number of the prompt in its file. A line's own seed goes before. */
enum imagegen_seed_mode { IMAGEGEN_SEED_INCREMENT, IMAGEGEN_SEED_FIXED, IMAGEGEN_SEED_PROMPT };

#define IMAGEGEN_ANSWER_BYTES_DEFAULT ((size_t)256 * 1024 * 1024)

struct imagegen_settings {
    const char *model;
    const char *size;            /* NULL = not sent */
    const char *negative_prompt; /* NULL = not sent */
    enum imagegen_format format;
    uint32_t count;        /* n, ≥ 1; always sent */
    int64_t steps;         /* num_inference_steps; < 1 = not sent */
    double guidance_scale; /* NaN = not sent */
    bool has_seed;
    int64_t seed;
    enum imagegen_seed_mode seed_mode;
    const char *extra_body;  /* JSON object, its members in place of ours of the same name; not `prompt`. NULL = none */
    bool keep_errors;        /* give the answers of failed requests too, as far as the engine reads them */
    size_t max_answer_bytes; /* 0 = IMAGEGEN_ANSWER_BYTES_DEFAULT; larger ones fail */
};

struct imagegen;

/* AS_E_USAGE names the option; AS_E_NOMEM. The prompts and what the settings point to may go afterwards. */
as_status imagegen_new(const struct imagegen_settings *settings, const struct imagegen_prompts *prompts,
                       struct imagegen **ret, struct as_error *err) AS_NODISCARD;
void imagegen_free(struct imagegen *imagegen);
/* The modality; its context is the struct imagegen that is given, and it lives as long. */
const struct modality *imagegen_modality(const struct imagegen *imagegen);
/* Appends the body of request number `seq` as it is sent. */
as_status imagegen_body(const struct imagegen *imagegen, int64_t seq, struct strbuf *out) AS_NODISCARD;

/* What a request asks for, by the body that is sent. */
struct imagegen_wish {
    uint32_t count;
    bool by_url; /* response_format is "url" */
};
struct imagegen_wish imagegen_wish_of(const struct imagegen *imagegen, int64_t seq);

#endif
