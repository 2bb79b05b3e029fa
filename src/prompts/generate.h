/* SPDX-License-Identifier: Apache-2.0 */
#ifndef ASSAY_PROMPTS_GENERATE_H
#define ASSAY_PROMPTS_GENERATE_H

/*
 * Prompt libraries made by us from a seed: no text of anyone else is in them. Prompt number i depends on (kind, seed, i)
 * and the wanted lengths alone: a shorter library is a prefix of a longer one, the same on every machine. random is
 * common words without sense; fixed, medical, legal and code are sentences of prompts/grammar.h with a question at the
 * end; long-context is numbered records of all four with a question about one of them; text2image describes pictures and
 * has no length. Words come from tokens by a ratio. Pure functions; any thread.
 */

#include "prompts/library.h"
#include "workload/synthetic.h"

#include <stddef.h>
#include <stdint.h>

#define GENERATE_LENGTHS_MAX 16

/* name, and as the control plane calls it */
#define GENERATE_KIND_MAP(X)                                                                                           \
    X(RANDOM, "random")                                                                                                \
    X(FIXED, "fixed")                                                                                                  \
    X(MEDICAL, "medical")                                                                                              \
    X(LEGAL, "legal")                                                                                                  \
    X(CODE, "code")                                                                                                    \
    X(LONG_CONTEXT, "long_context")                                                                                    \
    X(TEXT2IMAGE, "text2image")
enum generate_kind {
#define GENERATE_KIND_ENUM(name, text) GENERATE_##name,
    GENERATE_KIND_MAP(GENERATE_KIND_ENUM)
#undef GENERATE_KIND_ENUM
    GENERATE_KINDS
};
const char *generate_kind_name(enum generate_kind kind);
/* "long-context" too. False when there is none of that name. */
bool generate_kind_parse(const char *name, enum generate_kind *ret);

struct generate_spec {
    enum generate_kind kind;
    uint64_t seed;
    int64_t count;                                  /* ≥ 1 */
    struct length_spec isl[GENERATE_LENGTHS_MAX];   /* tokens; prompt i has the length i modulo isl_count */
    size_t isl_count;                               /* ≥ 1 but for text2image */
    struct length_spec osl;                         /* expected_output_tokens; mean 0 = none */
    struct token_ratio ratio;
};

/* Fills `library` (initialised and empty, finished here). AS_E_LIMIT, AS_E_NOMEM. */
as_status generate_library(const struct generate_spec *spec, struct library *library, struct as_error *err) AS_NODISCARD;

/* What ships: sources under a code, whose content a test pins. */
struct shipped_source {
    const char *code, *type, *name; /* type: "prompt_library" or "metrumbench_imagegen_snapshot" */
    struct generate_spec spec;
};
extern const struct shipped_source shipped_sources[];
extern const size_t shipped_source_count;
/* NULL when none has that code. */
const struct shipped_source *shipped_find(const char *code);

#endif
