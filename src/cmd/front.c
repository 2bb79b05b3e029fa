/* SPDX-License-Identifier: Apache-2.0 */
#include "cmd/front.h"

#include "cmd/commands.h"
#include "cmd/program.h"
#include "cmd/version.h"

#include <stdio.h>
#include <string.h>

#define EXIT_USAGE 2

/* Other names of this program, and the command each one is. */
static const struct {
    const char *name, *command;
} OTHER_NAMES[] = {
    {"metrumbench-llm", "llm"},           {"metrumbench-vlm", "vlm"},     {"metrumbench-asr", "asr"},
    {"metrumbench-imagegen", "imagegen"}, {"benchmark-report", "report"},
};

int front_usage(const char *sentence)
{
    fprintf(stderr, "assay: %s; \"assay help\" lists the commands\n", sentence);
    return EXIT_USAGE;
}

const char *front_command_name(const char *name)
{
    for (size_t i = 0; i < sizeof OTHER_NAMES / sizeof OTHER_NAMES[0]; i++)
        if (strcmp(name, OTHER_NAMES[i].name) == 0)
            return OTHER_NAMES[i].command;
    return name;
}

int front_unknown(const char *name)
{
    char sentence[200];
    size_t count;
    const struct command *const *list = command_list(&count);
    const char *names[COMMANDS_MAX + 1] = {NULL};
    for (size_t i = 0; i < count; i++)
        names[i] = list[i]->line->name;
    const char *nearest = options_nearest_word(names, name);
    snprintf(sentence, sizeof sentence, "unknown command \"%.100s\"%s%s%s", name, nearest ? "; did you mean " : "",
             nearest ? nearest : "", nearest ? "?" : "");
    return front_usage(sentence);
}

int front_print_version(void)
{
    const struct version *version = version_info();
    printf("assay %s\ncommit %s%s\ncompiler %s\nbuild %s\nflags %s\n", version->version, version->commit,
           version->is_modified ? " (modified)" : "", version->compiler, version->build, version->flags);
    return fflush(stdout) == 0 ? 0 : status_exit_code(AS_E_IO);
}

int front_print_commands(void)
{
    struct strbuf text AS_AUTO_STRBUF;
    size_t count;
    const struct command *const *list = command_list(&count);
    strbuf_init(&text, 0);
    strbuf_adds(&text,
                "usage: assay COMMAND [options]\n       assay help COMMAND\n       assay --version\n\nCommands:\n");
    for (size_t i = 0; i < count; i++)
        strbuf_addf(&text, "  %-12s%s\n", list[i]->line->name, list[i]->line->summary);
    program_list(&text);
    return command_print("help", &text);
}

static int run_named(const char *name, int argc, char **argv)
{
    const struct command *command = command_find(name);
    if (command)
        return command->run(argc, argv);
    return program_exists(name) ? program_run(name, argv) : front_unknown(name);
}

int front_run(int argc, char **argv)
{
    const char *slash = argc > 0 ? strrchr(argv[0], '/') : NULL;
    const char *self = slash ? slash + 1 : argc > 0 ? argv[0] : "assay";
    for (size_t i = 0; i < sizeof OTHER_NAMES / sizeof OTHER_NAMES[0]; i++) {
        if (strcmp(self, OTHER_NAMES[i].name) != 0)
            continue;
        if (argc > 1 && (strcmp(argv[1], "--version") == 0 || strcmp(argv[1], "-V") == 0))
            return front_print_version();
        return run_named(OTHER_NAMES[i].command, argc, argv);
    }
    if (argc < 2)
        return front_usage("no command given");
    if (strcmp(argv[1], "--version") == 0 || strcmp(argv[1], "-V") == 0 || strcmp(argv[1], "version") == 0)
        return front_print_version();
    if (strcmp(argv[1], "--help") == 0 || strcmp(argv[1], "-h") == 0)
        return front_print_commands();
    if (argv[1][0] == '-')
        return front_usage("the command comes first, then its options");
    return run_named(argv[1], argc - 1, argv + 1);
}
