/* SPDX-License-Identifier: Apache-2.0 */
#ifndef ASSAY_REPORT_FILES_H
#define ASSAY_REPORT_FILES_H

/*
 * A summary into files. Each function checks the summary's identities first (summary_check) and writes nothing when one
 * is broken. Errors: AS_E_INTERNAL, AS_E_IO and the path in *err, AS_E_NOMEM.
 */

#include "base/strbuf.h"
#include "summary/summary.h"

/* The text of summary.json, or with indent 0 that of the summary line without its newline. */
as_status report_summary_text(const struct summary *summary, int indent, struct strbuf *ret, struct as_error *err) AS_NODISCARD;
/* summary.json: whole and atomically. */
as_status report_write_summary(const char *path, const struct summary *summary, struct as_error *err) AS_NODISCARD;
/* data.jsonl: appends the one summary line. */
as_status report_append_data_log(const char *path, const struct summary *summary, struct as_error *err) AS_NODISCARD;

#endif
