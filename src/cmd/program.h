/* SPDX-License-Identifier: Apache-2.0 */
#ifndef ASSAY_CMD_PROGRAM_H
#define ASSAY_CMD_PROGRAM_H

/* Commands that are programs of their own, libexec/assay/assay-NAME. */

#include "base/strbuf.h"

#include <stdbool.h>

bool program_exists(const char *name);
/* Replaces this process; returns an exit status only when that fails (126, with a sentence on stderr). */
int program_run(const char *name, char **argv);
/* Adds a line each. */
void program_list(struct strbuf *out);

#endif
