/* SPDX-License-Identifier: Apache-2.0 */
#include "cmd/commands.h"
#include "cmd/measure.h"

static int llm_run(int argc, char **argv)
{
    return command_measure(&TOOL_LLM, argc, argv);
}

const struct command command_llm = {.line = &LLM_LINE, .run = llm_run};
