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
/* Names what is near. */
int front_unknown(const char *name);
/* The command that a name stands for ("llm" for "metrumbench-llm"), else the name itself. */
const char *front_command_name(const char *name);

#endif
