/* SPDX-License-Identifier: Apache-2.0 */
#ifndef ASSAY_REPORT_CONSOLE_OWN_H
#define ASSAY_REPORT_CONSOLE_OWN_H

/* A tool's own figures in the table for people. Internal to report. */

#include "base/strbuf.h"
#include "summary/summary.h"

/* Adds a few lines; nothing for a tool without. */
void console_own(const struct summary *summary, struct strbuf *ret);

#endif
