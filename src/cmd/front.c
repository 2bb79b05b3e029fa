/* SPDX-License-Identifier: Apache-2.0 */
#include "cmd/front.h"

#include "base/file.h"
#include "base/log.h"
#include "cmd/commands.h"
#include "cmd/version.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#define EXIT_USAGE 2
#define EXIT_CANNOT_RUN 126
#define PATH_BYTES 4096

/* Other names of this program, and the command each one is. */
static const struct {
    const char *name, *command;
} OTHER_NAMES[] = {
    {"metrumbench-llm", "llm"},   {"metrumbench-vlm", "vlm"},      {"metrumbench-asr", "asr"},
    {"metrumbench-imagegen", "imagegen"}, {"benchmark-report", "report"},
};

/* Programs of their own in libexec/assay. */
static const struct {
    const char *name, *summary;
} PROGRAMS[] = {
    {"fetch", "One request that is not measured (used by the other commands)"},
};

int front_usage(const char *sentence)
{
    fprintf(stderr, "assay: %s; \"assay help\" lists the commands\n", sentence);
    return EXIT_USAGE;
}

int front_unknown(const char *name)
{
    char sentence[160];
    snprintf(sentence, sizeof sentence, "unknown command \"%.100s\"", name);
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
    strbuf_adds(&text, "usage: assay COMMAND [options]\n       assay help COMMAND\n       assay --version\n\nCommands:\n");
    for (size_t i = 0; i < count; i++)
        strbuf_addf(&text, "  %-12s%s\n", list[i]->line->name, list[i]->line->summary);
    for (size_t i = 0; i < sizeof PROGRAMS / sizeof PROGRAMS[0]; i++)
        strbuf_addf(&text, "  %-12s%s\n", PROGRAMS[i].name, PROGRAMS[i].summary);
    return command_print("help", &text);
}

/* The path of libexec/assay/assay-NAME beside this program or, installed, one folder up; false when there is none. */
static bool program_path(const char *name, char ret[PATH_BYTES])
{
    static const char *const places[] = {"", "/.."};
    char self[PATH_BYTES], folder[PATH_BYTES];
    ssize_t len = readlink("/proc/self/exe", self, sizeof self - 1);
    if (len <= 0)
        return false;
    self[len] = '\0';
    if (!path_dir(folder, sizeof folder, self))
        return false;
    for (size_t i = 0; i < sizeof places / sizeof places[0]; i++) {
        int written = snprintf(ret, PATH_BYTES, "%s%s/libexec/assay/assay-%s", folder, places[i], name);
        if (written > 0 && written < PATH_BYTES && access(ret, X_OK) == 0)
            return true;
    }
    return false;
}

static int run_program(const char *name, char **argv)
{
    char path[PATH_BYTES];
    if (!program_path(name, path)) {
        fprintf(stderr, "assay: the program assay-%s is not installed in libexec/assay\n", name);
        return EXIT_CANNOT_RUN;
    }
    execv(path, argv);
    fprintf(stderr, "assay: %s: %s\n", path, strerror(errno));
    return EXIT_CANNOT_RUN;
}

static int run_named(const char *name, int argc, char **argv)
{
    const struct command *command = command_find(name);
    if (command)
        return command->run(argc, argv);
    for (size_t i = 0; i < sizeof PROGRAMS / sizeof PROGRAMS[0]; i++)
        if (strcmp(PROGRAMS[i].name, name) == 0)
            return run_program(name, argv);
    return front_unknown(name);
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
