/* SPDX-License-Identifier: Apache-2.0 */
#include "cmd/commands.h"
#include "cmd/imagegen_log.h"
#include "cmd/measure.h"

#include <string.h>

static const char *const PARTS[] = {"verify", "compare", NULL};

static int imagegen_run(int argc, char **argv)
{
    if (argc > 1 && strcmp(argv[1], PARTS[0]) == 0)
        return imagegen_verify(argc - 1, argv + 1);
    if (argc > 1 && strcmp(argv[1], PARTS[1]) == 0)
        return imagegen_compare(argc - 1, argv + 1);
    return command_measure(&TOOL_IMAGEGEN, argc, argv);
}

const struct command command_imagegen = {.line = &IMAGEGEN_LINE, .run = imagegen_run, .parts = PARTS};
