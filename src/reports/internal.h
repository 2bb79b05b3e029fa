/* SPDX-License-Identifier: Apache-2.0 */
#ifndef ASSAY_REPORTS_INTERNAL_H
#define ASSAY_REPORTS_INTERNAL_H

/* What the subcommands share. Not for use outside src/reports. */

#include "base/arena.h"
#include "brief/convert.h"
#include "reports/reports.h"

#define REPORTS_EXIT_FAILED 1
#define REPORTS_EXIT_USAGE  2
#define PATH_BYTES          4096

struct convert_options {
    const char *generator, *version, *description, *keywords;
    int64_t index; /* OPT_ABSENT = all */
    int format;    /* 0 YAML, 1 JSON */
    bool overwrites, is_session, wants_schema;
    bool has_generator; /* it was given, not the default */
};

/* One results file to convert, or a folder of them. */
struct convert_job {
    struct reports_call *call;
    const struct convert_options *options;
    const char *input, *output; /* output NULL = stdout */
    bool is_session;
};

/* "PROGRAM: sentence" on stderr; returns `code`. */
int reports_fail(struct reports_call *call, int code, const char *fmt, ...) AS_PRINTF(3, 4);
/* Says that an output file exists; returns the exit status. */
int reports_output_exists(struct reports_call *call, const char *path);
/* The report version in effect. */
const char *reports_version(const struct convert_options *options);
int reports_convert_file(const struct convert_job *job);
/* After a refusal: names the generator that the results look like; false when it is none, or the one asked for. */
bool reports_hint(const struct convert_job *job);
/* Every stage and session file of the folder job->input. */
int reports_convert_folder(const struct convert_job *job);

/* A letter and the option it stands for. */
struct reports_letter {
    char letter;
    bool takes_value;
    const char *name;
};
/*
 * Rewrites the call's command line into the long form that options_read takes: "-w X", "-wX", "-w=X", bundled flags,
 * unambiguous abbreviations of long names; under REPORTS_UPSTREAM_NAME the last of an option's values counts. What is
 * not understood is left as it is. `letters` ends with '\0'. False without memory.
 */
bool reports_long_form(struct reports_call *call, const struct opt_command *line, const struct reports_letter *letters,
                       struct arena *arena);

#endif
