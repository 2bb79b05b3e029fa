/* SPDX-License-Identifier: Apache-2.0 */
#ifndef ASSAY_RUN_EXITS_H
#define ASSAY_RUN_EXITS_H

/* Exit statuses of a run beside those of as_status and 128 + signal. */
#define RUN_EXIT_ERRORS 1
#define RUN_EXIT_INVALID 3
#define RUN_EXIT_PREFLIGHT 4

#endif
