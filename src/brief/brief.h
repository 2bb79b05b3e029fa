/* SPDX-License-Identifier: Apache-2.0 */
#ifndef ASSAY_BRIEF_BRIEF_H
#define ASSAY_BRIEF_BRIEF_H

/*
 * Benchmark reports (llm-d Benchmark Report 0.1 and 0.2.1): reading, checking, changing, writing. The installed C
 * library (include/assay/report.h) is a thin layer over this. A report is for one thread at a time.
 *
 * AS_E_INVALID with an empty report->problems is a document that could not be parsed (err says where); with problems it
 * was parsed and does not fit the model.
 */

#include "brief/check.h"
#include "brief/model.h"
#include "brief/read.h"
#include "brief/value.h"

struct brief_report {
    struct tree tree;
    const struct model *model; /* NULL before it is known */
    struct value *root;        /* in normal form; NULL when not valid */
    struct problems problems;
};

void brief_init(struct brief_report *report);
void brief_done(struct brief_report *report);

/* Reads and checks; the model is chosen by the document's version. */
as_status brief_read_path(struct brief_report *report, const char *path, struct as_error *err) AS_NODISCARD;
as_status brief_read_text(struct brief_report *report, const char *text, size_t len, struct as_error *err) AS_NODISCARD;
/* Checks a tree made in report->tree against a model (NULL: by its version) and makes it the report's root. */
as_status brief_adopt(struct brief_report *report, const struct model *model, const struct value *root,
                      struct as_error *err) AS_NODISCARD;
/*
 * Sets the member at a dotted path (maps on the way are made) to a value, NULL to remove it, and checks the report
 * again; when that fails the report stays as it was, with the problems found.
 */
as_status brief_set(struct brief_report *report, const char *path, const struct value *value,
                    struct as_error *err) AS_NODISCARD;

/* Appends to `out`; failures stick there. */
void brief_write_yaml(const struct brief_report *report, struct strbuf *out);
void brief_write_json(const struct brief_report *report, struct strbuf *out);

#endif
