/* SPDX-License-Identifier: Apache-2.0 */
#ifndef ASSAY_TESTS_SUPPORT_FAULTS_H
#define ASSAY_TESTS_SUPPORT_FAULTS_H

/*
 * Makes the n-th call of a kind fail. Every executable of tests/fault is linked so that calls from our code (not from
 * shared libraries) to malloc, calloc, realloc, aligned_alloc, free, read, pread, write, pwrite, writev, fsync,
 * fdatasync, ftruncate and rename come through here. Any thread.
 */

#include "base/status.h"

#include <stdbool.h>
#include <stddef.h>

enum fault_kind {
    FAULT_ALLOC,    /* NULL, ENOMEM */
    FAULT_READ,     /* read, pread: EIO */
    FAULT_WRITE,    /* write, pwrite, writev: ENOSPC */
    FAULT_SHORT,    /* write, pwrite, writev: half of the bytes (at least one) are written */
    FAULT_EINTR,    /* read, write, pread, pwrite, writev: EINTR */
    FAULT_SYNC,     /* fsync, fdatasync: EIO */
    FAULT_TRUNCATE, /* ftruncate: EIO */
    FAULT_RENAME,   /* rename: EACCES */
    FAULT_KINDS
};

/* The n-th call of this kind from now on fails once (1 = the next); 0 = none. Counts from zero again. */
void fault_arm(enum fault_kind kind, size_t nth);
/* The n-th and all later ones fail. */
void fault_arm_from(enum fault_kind kind, size_t nth);
/* No kind fails any more. */
void fault_disarm(void);
/* Calls of this kind since it was armed. */
size_t fault_calls(enum fault_kind kind);

/* Starts counting blocks. */
void fault_blocks_watch(void);
/* Blocks that were allocated since and are not freed; stops counting. */
size_t fault_blocks_left(void);

/*
 * Runs `body` with the n-th call of `kind` failing, n = 1, 2, … until one run meets no failure; that one must return
 * AS_OK. Every other run must return `expected` and leave no block. Returns the number of failing runs.
 */
size_t fault_each(enum fault_kind kind, as_status expected, as_status (*body)(void *context), void *context);

#endif
