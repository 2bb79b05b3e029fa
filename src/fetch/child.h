/* SPDX-License-Identifier: Apache-2.0 */
#ifndef ASSAY_FETCH_CHILD_H
#define ASSAY_FETCH_CHILD_H

/* The running assay-fetch and the channels to it (for fetch.c). One thread. */

#include "base/status.h"
#include "base/strbuf.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

struct fetch_child {
    pid_t pid;     /* -1 = none */
    int input_fd;  /* to its standard input, -1 = closed */
    int output_fd; /* from its standard output, -1 = closed or into a file */
    int result_fd; /* from its descriptor FETCH_RESULT_FD, -1 = closed */
};

/*
 * Path of the program: libexec/assay beside the folder of the running program or in it, or that folder itself.
 * AS_E_NOTFOUND names what was looked for.
 */
as_status fetch_program_find(const char *name, char *ret, size_t size, struct as_error *err) AS_NODISCARD;

/* Starts it. `stdout_fd` ≥ 0: its standard output, else a pipe. */
as_status fetch_child_start(const char *program, int stdout_fd, struct fetch_child *ret,
                            struct as_error *err) AS_NODISCARD;

/* What goes in, in this order, and where what comes out is put. */
struct fetch_exchange {
    const char *parts[2];
    size_t part_bytes[2];
    struct strbuf *output;
    struct strbuf *result;
};

/*
 * Feeds it and takes its output until all channels are closed. AS_E_TIMEOUT after the deadline (CLOCK_MONOTONIC, ns),
 * AS_E_LIMIT when a strbuf is full.
 */
as_status fetch_child_talk(struct fetch_child *child, const struct fetch_exchange *exchange,
                           int64_t deadline_ns) AS_NODISCARD;

/* Closes the channels, kills it unless it has ended by itself, and waits for it. */
void fetch_child_end(struct fetch_child *child, bool is_finished);

#endif
