/* SPDX-License-Identifier: Apache-2.0 */
#ifndef ASSAY_SUMMARY_SUMMARY_JSON_H
#define ASSAY_SUMMARY_SUMMARY_JSON_H

/*
 * The JSON form of a summary, schema metrumbench-<tool>.summary.v1 (schema/json): durations in ms, lag in µs, unknown
 * and undefined are null. With indent 0 it is one line without a newline (data.jsonl), else a document with a final
 * newline. AS_E_NOMEM, AS_E_LIMIT from the buffer.
 */

#include "base/json_write.h"
#include "base/strbuf.h"
#include "summary/summary.h"

/* A member that is a distribution, its values divided by `scale`. */
void summary_write_distribution(struct json_writer *w, const char *key, const struct distribution *d, double scale);
as_status summary_write_json(const struct summary *summary, int indent, struct strbuf *ret) AS_NODISCARD;

#endif
