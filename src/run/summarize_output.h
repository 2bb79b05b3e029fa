/* SPDX-License-Identifier: Apache-2.0 */
#ifndef ASSAY_RUN_SUMMARIZE_OUTPUT_H
#define ASSAY_RUN_SUMMARIZE_OUTPUT_H

/* Where `assay summarize` puts a summary: files, and one thing on standard output ("-" as the name of a file is that). */

#include "options/options.h"
#include "run/summarize_options.h"
#include "summary/summary.h"

/* AS_E_USAGE when several things want standard output. */
as_status summarize_check_outputs(const struct summarize_config *config, const struct opt_parsed *parsed, struct as_error *err) AS_NODISCARD;
/* The files that are asked for; standard output is none. AS_E_IO, AS_E_NOMEM. */
as_status summarize_write_files(const struct summarize_config *config, const struct summary *summary, struct as_error *err) AS_NODISCARD;
/* Adds what goes to standard output. */
as_status summarize_show(const struct summarize_config *config, const struct summary *summary, struct strbuf *text,
                         struct as_error *err) AS_NODISCARD;

#endif
