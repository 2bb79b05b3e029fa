/* SPDX-License-Identifier: Apache-2.0 */
#ifndef ASSAY_STORE_LOCK_H
#define ASSAY_STORE_LOCK_H

/* "<path>.lock" holds the pid of the one process that has the store open; the lock goes with the process. */

#include "base/status.h"

/* AS_E_STATE with the holder's pid when it is taken. */
as_status lock_take(const char *path, int *ret_fd, struct as_error *err) AS_NODISCARD;
void lock_release(int fd);

#endif
