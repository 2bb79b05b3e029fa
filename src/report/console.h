/* SPDX-License-Identifier: Apache-2.0 */
#ifndef ASSAY_REPORT_CONSOLE_H
#define ASSAY_REPORT_CONSOLE_H

/*
 * A summary as text for a terminal. Makes text only; the command prints it. Undefined figures are "-". Errors and the
 * verdict are always shown. AS_E_NOMEM from the buffer.
 */

#include "base/strbuf.h"
#include "summary/summary.h"

#include <stdbool.h>

/* Whether to colour: only on a terminal, and not when NO_COLOR is set to anything (no-color.org) or TERM is "dumb". */
bool console_wants_colour(bool is_terminal);

/* The result table: what was run, requests, errors, rates, latencies (n, mean, p50, p90, p95, p99, max), endpoints,
 * verdict. */
as_status console_table(const struct summary *summary, bool has_colour, struct strbuf *ret) AS_NODISCARD;

#endif
