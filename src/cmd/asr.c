/* SPDX-License-Identifier: Apache-2.0 */
#include "cmd/asr_import.h"
#include "cmd/commands.h"
#include "cmd/measure.h"
#include "run/config.h"

#include <string.h>

static const char *const PARTS[] = {"import-librispeech", NULL};

static int asr_run(int argc, char **argv)
{
    if (argc > 1 && strcmp(argv[1], PARTS[0]) == 0)
        return asr_import(argc - 1, argv + 1);
    return command_measure(&TOOL_ASR, argc, argv);
}

const struct command command_asr = {.line = &ASR_LINE, .run = asr_run, .parts = PARTS};
