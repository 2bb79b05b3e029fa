/* SPDX-License-Identifier: Apache-2.0 */
#ifndef ASSAY_PLANE_REPORT_TEXT_H
#define ASSAY_PLANE_REPORT_TEXT_H

/* Benchmark reports 0.2.1 of stored documents, by the code of libassay-report; a file of its own because that has names
 * in common with this module. */

#include "base/strbuf.h"

#include <stdbool.h>

struct report_source {
    const char *text; /* a summary, another harness's results, or a report */
    size_t len;
    const char *generator; /* NULL: it is a report already */
    bool is_json;          /* what is made; else YAML */
};

/* False when results of this harness cannot be made a report. */
bool report_text_knows(const char *generator);
/* AS_E_INVALID with a sentence when no valid report comes of it. */
as_status report_text_make(const struct report_source *source, struct strbuf *out, struct as_error *err) AS_NODISCARD;

#endif
