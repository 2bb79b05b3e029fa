/* SPDX-License-Identifier: Apache-2.0 */
#ifndef ASSAY_SELFTEST_CHILD_H
#define ASSAY_SELFTEST_CHILD_H

/* Programs that the self-test starts and ends: always by their own process id, never left behind. One thread. */

#include "base/status.h"

#include <stdbool.h>
#include <sys/types.h>

struct child {
    pid_t pid;       /* 0 = none */
    char first[256]; /* its first line on stdout, when asked for */
};

struct child_plan {
    char *const *argv;    /* argv[0] is the path of the program, NULL-terminated */
    int cpu;              /* the only CPU it may use, -1 = as this process */
    const char *log_path; /* its stderr, and its stdout when no line is read */
    bool reads_first_line;
};

/* Returns when the program runs and, where asked for, has printed its first line. It is ended with this process. */
as_status child_start(const struct child_plan *plan, struct child *ret, struct as_error *err) AS_NODISCARD;
/* Waits for its end; AS_E_INTERNAL with the end of its log when it failed. */
as_status child_wait(struct child *child, const char *log_path, struct as_error *err) AS_NODISCARD;
/* SIGTERM, then waits; SIGKILL after 10 s. Nothing when there is none. */
void child_stop(struct child *child);

#endif
