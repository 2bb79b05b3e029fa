/* SPDX-License-Identifier: Apache-2.0 */
#include "cmd/prompts_part.h"

#include "prompts/library.h"
#include "prompts/snapshot.h"

#include <inttypes.h>
#include <sys/stat.h>

struct verify_config {
    bool quiet;
};
static const struct opt OPTIONS[] = {
    {.name = "quiet", .type = OPT_FLAG, PROMPTS_AT(verify_config, quiet), .group = "Output", .sentence = "Print nothing when all is well."},
};
static const struct opt_table TABLE = OPT_TABLE(OPTIONS, 0);
static const struct opt_table *const TABLES[] = {&TABLE};
static const struct opt_exit EXITS[] = {PROMPTS_EXITS("All is as recorded."), {65, "Something differs; it is named."}};
static const struct opt_command LINE = {
    .name = "prompts verify",
    .summary = "Compare a library or snapshot with its digests",
    .description = "Compares a library with FILE.meta.json beside it: count, SHA-256 of the file, digest of its content; or every "
                   "file of a snapshot with its manifest.json.",
    .operands = "LIBRARY|FOLDER",
    .tables = TABLES,
    .table_count = 1,
    .exits = EXITS,
    .exit_count = sizeof EXITS / sizeof EXITS[0],
    .examples = "  assay prompts verify library.jsonl\n",
};

static as_status verify(struct opt_parsed *parsed, void *context, struct strbuf *out, struct as_error *err)
{
    const struct verify_config *config = context;
    const char *path = parsed->operands[0];
    struct snapshot_found found;
    struct stat info;
    int64_t count = 0;
    if (stat(path, &info) == 0 && S_ISDIR(info.st_mode)) {
        as_status checked = snapshot_verify(path, &found, err);
        if (checked == AS_OK && !config->quiet)
            strbuf_addf(out, "%s: %s (%s), %" PRId64 " files, %" PRId64 " bytes, as recorded\n", path, found.code, found.type, found.files, found.bytes);
        return checked;
    }
    as_status status = library_verify(path, &count, err);
    if (status == AS_OK && !config->quiet)
        strbuf_addf(out, "%s: %" PRId64 " prompts, as recorded\n", path, count);
    return status;
}

int prompts_verify(int argc, char **argv)
{
    struct verify_config config;
    const struct prompts_part part = {&LINE, &config, 1, "give one library or snapshot, for example library.jsonl", verify};
    return prompts_part_run(&part, argc, argv);
}
