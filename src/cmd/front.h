/* SPDX-License-Identifier: Apache-2.0 */
#ifndef ASSAY_CMD_FRONT_H
#define ASSAY_CMD_FRONT_H

/* What `assay` does before a command runs. All functions return a process exit status. */

/* Runs the command that argv names: by the program's own name (metrumbench-llm, …) or by the first word. */
int front_run(int argc, char **argv);
int front_print_commands(void);
int front_print_version(void);
/* "assay: SENTENCE; …" on stderr, exit status 2. */
int front_usage(const char *sentence);
int front_unknown(const char *name);

#endif
