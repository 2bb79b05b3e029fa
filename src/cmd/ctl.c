/* SPDX-License-Identifier: Apache-2.0 */
#include "cmd/commands.h"
#include "cmd/program.h"
#include "ctl/ctl.h"

#include <string.h>

/* The client is a program of its own; its help needs none of it. */
static int run(int argc, char **argv)
{
    for (int i = 1; i < argc && strcmp(argv[i], "--") != 0; i++)
        if (strcmp(argv[i], "--help") == 0 || strcmp(argv[i], "-h") == 0)
            return command_print_help(&ctl_command);
    return program_run("ctl", argv);
}

const struct command command_ctl = {.line = &ctl_command, .run = run};
