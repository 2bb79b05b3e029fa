/* SPDX-License-Identifier: Apache-2.0 */
#include "cmd/prompts_part.h"

#include "prompts/show.h"

struct show_config {
    struct prompts_ratio_config ratio; /* first: PROMPTS_RATIO_TABLE */
    int64_t first;
    bool json;
};

#define AT(field) PROMPTS_AT(show_config, field), .group = "Output"
static const struct opt OPTIONS[] = {
    {.name = "first", .type = OPT_INT, AT(first), .min = 0, .max = 1000, .initial = "3",
     .sentence = "Print the beginning of the first N prompts; what could disturb the terminal is replaced."},
    {.name = "json", .type = OPT_FLAG, AT(json), .sentence = "Print it as JSON."},
};
static const struct opt_table TABLE = OPT_TABLE(OPTIONS, 0);
static const struct opt_table *const TABLES[] = {&TABLE, &PROMPTS_RATIO_TABLE};
static const struct opt_exit EXITS[] = {PROMPTS_EXITS("It was shown."), {65, "The library is damaged; the line is named."}};
static const struct opt_command LINE = {
    .name = "prompts show",
    .summary = "Count, digests and lengths of a library",
    .description = "Prints how many prompts LIBRARY (a file, a URL, - for standard input) holds, how many differ, its digests, how long "
                   "they are in words, and in tokens where the tokens of a word are given.",
    .operands = "LIBRARY",
    .tables = TABLES,
    .table_count = 2,
    .exits = EXITS,
    .exit_count = sizeof EXITS / sizeof EXITS[0],
    .examples = "  assay prompts show library.jsonl --tokens-per-word 1.4\n",
};

static as_status show_library(struct opt_parsed *parsed, void *context, struct strbuf *out, struct as_error *err)
{
    const struct show_config *config = context;
    struct show_spec spec = {.first = (size_t)config->first};
    struct prompts prompts;
    as_status status = prompts_ratio(&config->ratio, &spec.ratio, &spec.has_ratio, err);
    if (status == AS_OK)
        status = prompts_load(parsed->operands[0], NULL, &prompts, err);
    if (status != AS_OK)
        return status;
    status = config->json ? show_json(&prompts, &spec, out) : show_text(&prompts, &spec, out);
    prompts_done(&prompts);
    return status == AS_OK ? AS_OK : error_set(err, status, "%s", status_sentence(status));
}

int prompts_show(int argc, char **argv)
{
    struct show_config config;
    const struct prompts_part part = {&LINE, &config, 1, "give one library, for example library.jsonl", show_library};
    return prompts_part_run(&part, argc, argv);
}
