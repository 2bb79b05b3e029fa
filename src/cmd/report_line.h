/* SPDX-License-Identifier: Apache-2.0 */
#ifndef ASSAY_CMD_REPORT_LINE_H
#define ASSAY_CMD_REPORT_LINE_H

/* The subcommands of `assay report`, and the command lines of other tools that they take. */

#include "base/arena.h"
#include "cmd/commands.h"

/* argv[0] is the subcommand's name; each returns the exit status. `program` begins messages ("assay report", …). */
int report_convert(int argc, char **argv, const char *program);
int report_validate(int argc, char **argv, const char *program);
int report_show(int argc, char **argv, const char *program);
int report_diff(int argc, char **argv, const char *program);
int report_schema(int argc, char **argv, const char *program);

/* Of `report convert`, also that of the name benchmark-report. */
extern const struct opt_command report_convert_line;

/* "PROGRAM: sentence" on stderr; returns `code`. */
int report_fail(const char *program, int code, const char *fmt, ...) AS_PRINTF(3, 4);

/* A letter and the option it stands for. */
struct report_letter {
    char letter;
    bool takes_value;
    const char *name;
};
/*
 * A command line in the long form that options_read takes: "-w X", "-wX", bundled flags, unambiguous abbreviations of
 * long names. What is not understood is left as it is. `letters` ends with '\0'. NULL without memory.
 */
char **report_long_form(const struct opt_command *line, const struct report_letter *letters, int argc, char **argv, struct arena *arena, int *ret_argc);

#endif
