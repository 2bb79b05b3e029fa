/* SPDX-License-Identifier: Apache-2.0 */
#ifndef ASSAY_CMD_MEASURE_H
#define ASSAY_CMD_MEASURE_H

/* One benchmark run of a tool, from its command line to its exit status: what `assay llm`, `vlm`, `asr` and `imagegen`
 * are. */

#include "run/tool.h"

int command_measure(const struct run_tool *tool, int argc, char **argv);

#endif
