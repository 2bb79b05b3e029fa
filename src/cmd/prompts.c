/* SPDX-License-Identifier: Apache-2.0 */
#include "cmd/commands.h"
#include "cmd/prompts_part.h"

#include <stdio.h>
#include <string.h>

#define EXIT_USAGE 2

static const struct {
    const char *name;
    int (*run)(int argc, char **argv);
    const char *summary;
} SUBCOMMANDS[] = {
    {"import", prompts_import, "Make a library of ShareGPT conversations, text or JSONL"},
    {"sample", prompts_sample, "Take the prompts whose length in tokens fits"},
    {"calibrate", prompts_calibrate, "Measure how many tokens a model makes of a word"},
    {"generate", prompts_generate, "Make a library from a seed: random, medical, legal, code, …"},
    {"import-images", prompts_import_images, "Make an image snapshot of a folder and its descriptions"},
    {"import-list", prompts_import_list, "Make a snapshot for image generation of a list of prompts"},
    {"import-librispeech", prompts_import_librispeech, "Make an audio snapshot of a LibriSpeech folder"},
    {"show", prompts_show, "Count, digests and lengths of a library"},
    {"verify", prompts_verify, "Compare a library or snapshot with its digests"},
};
#define COUNT (sizeof SUBCOMMANDS / sizeof SUBCOMMANDS[0])

static const struct opt_exit EXITS[] = {
    {0, "Done."},
    {2, "The command line is wrong."},
    {65, "A file is not what it should be, or no prompt fits."},
    {66, "A file does not exist."},
    {69, "calibrate: the server cannot be asked."},
    {74, "Reading or writing failed."},
};
static const struct opt_command LINE = {
    .name = "prompts",
    .summary = "Prompt libraries: import, sample by length, calibrate, generate, verify",
    .description = "Makes and checks the prompts that the tools send: a library is a JSONL file for `assay llm --prompts`, with "
                   "its count, digests and origin in FILE.meta.json beside it.\n\n"
                   "import makes a library of what you have, sample takes the prompts of a wanted length in tokens, calibrate measures how many tokens a model makes of a word, generate makes a library from a seed, show prints "
                   "what is in a library, verify compares with the recorded digests. The parts import-images, import-list and import-librispeech make snapshots: folders "
                   "with rows, files and a manifest of their digests. Each part explains itself with --help.",
    .operands = "PART …",
    .exits = EXITS,
    .exit_count = sizeof EXITS / sizeof EXITS[0],
    .examples = "  assay prompts import --from sharegpt conversations.json --out library.jsonl\n"
                "  assay prompts sample library.jsonl --isl 512 --osl 128 --num 1000 --out isl512.jsonl\n"
                "  assay llm --url http://127.0.0.1:8000 --prompts isl512.jsonl\n",
};

static int list_subcommands(void)
{
    fprintf(stderr, "usage: assay prompts PART [options] …\n\n");
    for (size_t i = 0; i < COUNT; i++)
        fprintf(stderr, "  %-19s %s\n", SUBCOMMANDS[i].name, SUBCOMMANDS[i].summary);
    return EXIT_USAGE;
}

static int run(int argc, char **argv)
{
    if (argc < 2)
        return list_subcommands();
    if (strcmp(argv[1], "--help") == 0 || strcmp(argv[1], "-h") == 0)
        return command_print_help(&LINE);
    for (size_t i = 0; i < COUNT; i++)
        if (strcmp(argv[1], SUBCOMMANDS[i].name) == 0)
            return SUBCOMMANDS[i].run(argc - 1, argv + 1);
    fprintf(stderr, "assay prompts: there is no part \"%.100s\"\n", argv[1]);
    return list_subcommands();
}

static const char *const PARTS[] = {"import", "sample", "calibrate", "generate", "import-images", "import-list", "import-librispeech", "show", "verify", NULL};
const struct command command_prompts = {.line = &LINE, .run = run, .parts = PARTS};
