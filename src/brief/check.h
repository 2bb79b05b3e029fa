/* SPDX-License-Identifier: Apache-2.0 */
#ifndef ASSAY_BRIEF_CHECK_H
#define ASSAY_BRIEF_CHECK_H

/*
 * Checks a tree against a model and gives the report in its normal form: known fields in the order of the model,
 * coerced to their types, defaults filled in, nulls left out. All problems are collected, each with its dotted path.
 * Unit categories are checked for an object once all its fields are valid, up to the first one that is wrong.
 */

#include "base/strbuf.h"
#include "brief/model.h"
#include "brief/value.h"

#define PROBLEMS_MAX 1000

struct problem {
    const char *path;    /* "scenario.stack.0.metadata.label", "" = the document */
    const char *message; /* a phrase without full stop */
    int64_t line;        /* in the source, from 1; 0 = unknown */
    struct problem *next;
};

/* Lives in the tree given to the check. */
struct problems {
    struct problem *first, *last;
    size_t count; /* found; at most PROBLEMS_MAX are kept */
};

/* Texts of a file on their way into a line for people: control characters become "?", a character cut off at the end
 * goes. */
void text_one_line(char *text);

void problems_add(struct problems *problems, struct tree *tree, const char *path, int64_t line, const char *fmt, ...)
    AS_PRINTF(5, 6);
/* "path: message (line 3)" of each, with newlines. */
void problems_print(const struct problems *problems, struct strbuf *out);

/* AS_E_INVALID when there are problems. *ret lives in `tree`, as does `in`. */
as_status check_report(struct tree *tree, const struct model *model, const struct value *in, struct problems *problems,
                       struct value **ret) AS_NODISCARD;
/* The model by the document's `version`; NULL and a problem when there is none. */
const struct model *check_version(struct tree *tree, const struct value *in, struct problems *problems);

#endif
