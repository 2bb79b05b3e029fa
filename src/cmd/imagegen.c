/* SPDX-License-Identifier: Apache-2.0 */
#include "cmd/commands.h"
#include "cmd/measure.h"

static int imagegen_run(int argc, char **argv)
{
    return command_measure(&TOOL_IMAGEGEN, argc, argv);
}

const struct command command_imagegen = {&IMAGEGEN_LINE, imagegen_run};
