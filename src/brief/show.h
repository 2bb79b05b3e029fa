/* SPDX-License-Identifier: Apache-2.0 */
#ifndef ASSAY_BRIEF_SHOW_H
#define ASSAY_BRIEF_SHOW_H

/* Reports as text for people. Failures stick in the buffer. */

#include "base/strbuf.h"
#include "brief/brief.h"

/* What was measured, then a line a statistic: unit, mean and percentiles. */
void show_report(const struct brief_report *report, struct strbuf *out);
/*
 * The figures that both reports have, side by side, those of `b` converted to the units of `a`; then the names of those
 * that only one has. Notes come first where the reports measure different things or are of different load generators.
 * Reports of 0.1 and 0.2 may be compared. Returns the number of figures that both have.
 */
size_t show_difference(const struct brief_report *a, const struct brief_report *b, struct strbuf *out);

#endif
