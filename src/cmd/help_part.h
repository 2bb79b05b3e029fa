/* SPDX-License-Identifier: Apache-2.0 */
#ifndef ASSAY_CMD_HELP_PART_H
#define ASSAY_CMD_HELP_PART_H

#include "cmd/commands.h"

/* `assay help COMMAND PART`, the words being parsed's operands: the part prints its page. Returns the exit status. */
int help_part(const struct command *command, const struct opt_parsed *parsed, bool is_text);

#endif
