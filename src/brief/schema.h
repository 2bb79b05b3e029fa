/* SPDX-License-Identifier: Apache-2.0 */
#ifndef ASSAY_BRIEF_SCHEMA_H
#define ASSAY_BRIEF_SCHEMA_H

/* What is derived from a model: its JSON Schema, its pages and a listing of its rules. Failures stick in the buffer. */

#include "base/strbuf.h"
#include "brief/model.h"

/* JSON Schema with `$defs`, two spaces a level, final newline. Unit categories and versions are not in it. */
void schema_write(const struct model *model, struct strbuf *out);
/* Markdown: a table an object, from the top down. `level` of the headings, 2 = "##". */
void schema_write_page(const struct model *model, int level, struct strbuf *out);
/* One line a field: "Object.field type required min units"; sorted as the model is. What must not change in 0.2.x. */
void schema_write_rules(const struct model *model, struct strbuf *out);

#endif
