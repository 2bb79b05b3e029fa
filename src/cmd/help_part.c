/* SPDX-License-Identifier: Apache-2.0 */
#include "cmd/help_part.h"

#include "cmd/front.h"

#include <string.h>

/* "" when the words name a command's part, else what is wrong with them. */
static const char *part_fault(const struct command *command, const struct opt_parsed *parsed, bool is_text)
{
    const char *const *part = command->parts;
    if (!part)
        return "help: this command has no parts, name it alone";
    while (*part && strcmp(*part, parsed->operands[1]) != 0)
        part++;
    if (!*part || parsed->operand_count > 2)
        return "help: the command has no such part; its own help names those it has";
    return is_text ? "" : "help: a command's part is explained as text only";
}

int help_part(const struct command *command, const struct opt_parsed *parsed, bool is_text)
{
    const char *fault = part_fault(command, parsed, is_text);
    if (*fault)
        return front_usage(fault);
    char *words[] = {(char *)(uintptr_t)parsed->operands[0], (char *)(uintptr_t)parsed->operands[1], "--help", NULL};
    return command->run(3, words);
}
