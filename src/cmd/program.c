/* SPDX-License-Identifier: Apache-2.0 */
#include "cmd/program.h"

#include "base/file.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#define EXIT_CANNOT_RUN 126
#define PATH_BYTES 4096

static const struct {
    const char *name, *summary;
} PROGRAMS[] = {
    {"fetch", "One request that is not measured (used by the other commands)"},
    {"media", "Lengths of audio files, a path a line (used by asr)"},
};

bool program_exists(const char *name)
{
    for (size_t i = 0; i < sizeof PROGRAMS / sizeof PROGRAMS[0]; i++)
        if (strcmp(PROGRAMS[i].name, name) == 0)
            return true;
    return false;
}

void program_list(struct strbuf *out)
{
    for (size_t i = 0; i < sizeof PROGRAMS / sizeof PROGRAMS[0]; i++)
        strbuf_addf(out, "  %-12s%s\n", PROGRAMS[i].name, PROGRAMS[i].summary);
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

int program_run(const char *name, char **argv)
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
