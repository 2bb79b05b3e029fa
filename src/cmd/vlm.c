/* SPDX-License-Identifier: Apache-2.0 */
#include "cmd/commands.h"
#include "cmd/measure.h"

static int vlm_run(int argc, char **argv)
{
    return command_measure(&TOOL_VLM, argc, argv);
}

const struct command command_vlm = {.line = &VLM_LINE, .run = vlm_run};
