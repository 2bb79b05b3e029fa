/* SPDX-License-Identifier: Apache-2.0 */
#ifndef ASSAY_RUN_SHOW_H
#define ASSAY_RUN_SHOW_H

/* A summary for stdout in one of the forms of --console. */

#include "base/strbuf.h"
#include "run/config.h"
#include "summary/summary.h"

struct show_options {
    enum run_console console;
    const char *metrics, *percentiles; /* of the vLLM block, NULL = its own defaults */
};

/* Adds the text; "" for RUN_CONSOLE_NONE. */
as_status show_summary(const struct summary *summary, const struct show_options *options, struct strbuf *out, struct as_error *err) AS_NODISCARD;

#endif
