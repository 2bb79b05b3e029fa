/* SPDX-License-Identifier: Apache-2.0 */
#ifndef ASSAY_CMD_COMMANDS_H
#define ASSAY_CMD_COMMANDS_H

/*
 * The commands of `assay`. Each is a `const struct command command_<name>` in src/cmd/<name>.c; main finds it by name.
 * Heavy commands are programs of their own, libexec/assay/assay-<name>, that main runs.
 */

#include "options/options.h"

struct command {
    const struct opt_command *line; /* name, summary and options: what help and documents are made of */
    /* argv[0] is the command's name; returns the process' exit status. */
    int (*run)(int argc, char **argv);
    /* Words that may come first and make a command of their own, with its own --help; ends with NULL, or NULL. */
    const char *const *parts;
};

/* In the order in which they are listed. Those whose file is not part of a build are left out (weak). */
#define COMMAND_MAP(X) X(llm) X(vlm) X(asr) X(imagegen) X(summarize) X(sim) X(selftest) X(prompts) X(report) X(serve) X(ctl) X(help)
#define COMMAND_DECLARE(name) extern const struct command command_##name __attribute__((weak));
COMMAND_MAP(COMMAND_DECLARE)
#undef COMMAND_DECLARE

#define COMMANDS_MAX 16
/* The commands of this build, `*ret_count` of them. */
const struct command *const *command_list(size_t *ret_count);
/* NULL when there is none of that name. */
const struct command *command_find(const char *name);

/* Writes err's sentence to stderr, "assay NAME: …"; returns the process exit status. */
int command_fail(const char *name, const struct as_error *err);
/* Prints a command's help to stdout, as wide as the terminal; returns the exit status. */
int command_print_help(const struct opt_command *line);
/* Prints the notes of a reading to stderr. */
void command_notes(const struct opt_parsed *parsed);
/* Writes a document to stdout; returns the exit status (74 when it could not be written). */
int command_print(const char *name, const struct strbuf *text);

#endif
