/* SPDX-License-Identifier: Apache-2.0 */
#ifndef ASSAY_REPORTS_REPORTS_H
#define ASSAY_REPORTS_REPORTS_H

/*
 * The subcommands of `assay report` and the command line of `benchmark-report`: arguments in, texts for stdout and
 * stderr and an exit status out. Files are read and written; nothing is printed and the environment is asked through a
 * function.
 */

#include "base/strbuf.h"
#include "brief/brief.h"
#include "options/options.h"

#include <stdbool.h>

/* The name whose command line is that of the llm-d tool. */
#define REPORTS_UPSTREAM_NAME "benchmark-report"

struct reports_call {
    int argc;
    char **argv;         /* argv[0] is the subcommand's name */
    const char *program; /* begins messages: "assay report" or REPORTS_UPSTREAM_NAME */
    const char *(*getenv)(void *context, const char *name);
    void *context;
    /* Set by the call. */
    struct strbuf out, err;         /* for stdout and stderr */
    const struct opt_command *help; /* when not NULL: print this command's help and nothing else */
};

/* `argv` and what it points to are kept. */
void reports_call_init(struct reports_call *call, int argc, char **argv, const char *program);
void reports_call_done(struct reports_call *call);

/* Each returns the exit status. */
int reports_convert(struct reports_call *call);
int reports_validate(struct reports_call *call);
int reports_show(struct reports_call *call);
int reports_diff(struct reports_call *call);
int reports_schema(struct reports_call *call);

extern const struct opt_command reports_convert_line;
/* The manual page of benchmark-report. */
void reports_man(const char *version, struct strbuf *out);

#endif
