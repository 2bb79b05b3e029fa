/* SPDX-License-Identifier: Apache-2.0 */
#include "cmd/commands.h"
#include "cmd/program.h"
#include "plane/plane.h"

#include <string.h>

/* The server is a program of its own; its help needs none of it. */
static int run(int argc, char **argv)
{
    for (int i = 1; i < argc && strcmp(argv[i], "--") != 0; i++)
        if (strcmp(argv[i], "--help") == 0 || strcmp(argv[i], "-h") == 0)
            return command_print_help(&plane_command);
    return program_run("serve", argv);
}

const struct command command_serve = {.line = &plane_command, .run = run};
