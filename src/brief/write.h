/* SPDX-License-Identifier: Apache-2.0 */
#ifndef ASSAY_BRIEF_WRITE_H
#define ASSAY_BRIEF_WRITE_H

/*
 * Trees as text. YAML: keys sorted by code point, block style, two spaces, plain ASCII, every text that any YAML 1.1 or
 * 1.2 reader could take for another type quoted, floats with a dot, so that all readers give equal values. JSON:
 * members in the order of the tree, ASCII, non-finite numbers as Infinity and NaN (which JSON has not; Python's reader
 * takes them). Failures stick in the buffer.
 */

#include "base/strbuf.h"
#include "brief/value.h"

/* Ends with a newline. */
void write_yaml(const struct value *value, struct strbuf *out);
/* `indent` spaces a level; no newline at the end. */
void write_json(const struct value *value, int indent, struct strbuf *out);
/* What configuration hashes are made of: one line, keys sorted, ", " and ": ", Python's number text. */
void write_canonical(const struct value *value, struct strbuf *out);

#endif
