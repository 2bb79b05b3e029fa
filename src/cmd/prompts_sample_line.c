/* SPDX-License-Identifier: Apache-2.0 */
#include "cmd/prompts_config.h"

#include "base/json.h"

#include <string.h>

#define TOLERANCE_MAX 1.0

bool prompts_parse_share(const char *text, double *ret)
{
    size_t len = strlen(text);
    bool is_percent = len > 0 && text[len - 1] == '%';
    double value;
    if (!json_text_double(text, is_percent ? len - 1 : len, &value))
        return false;
    value = is_percent ? value / 100 : value;
    *ret = value;
    return value >= 0 && value <= TOLERANCE_MAX;
}

static as_status check_share(const char *text, struct as_error *err)
{
    double share;
    return prompts_parse_share(text, &share) ? AS_OK : error_set(err, AS_E_USAGE, "is no share from 0%% to 100%%");
}

#define AT(field) PROMPTS_AT(sample_config, field)
static const struct opt OPTIONS[] = {
    {.name = "isl", .type = OPT_INT, AT(isl), .group = "Lengths", .min = 1, .max = 1 << 24, .example = "512",
     .sentence = "Tokens wanted of a prompt."},
    {.name = "osl", .type = OPT_INT, AT(osl), .group = "Lengths", .min = 1, .max = 1 << 24, .example = "128", .initial_note = "any",
     .sentence = "Tokens wanted of an answer: prompts that expect another number are left out, those that expect none get this one."},
    {.name = "tolerance", .type = OPT_STRING, AT(tolerance), .group = "Lengths", .value = "SHARE", .initial = "10%", .check = check_share,
     .allowed = "a share from 0% to 100%, or from 0 to 1", .example = "10%", .sentence = "How far a length may be from the wanted one."},
    {.name = "num", .aliases = "num-prompts", .type = OPT_INT, AT(num), .group = "Sample", .min = 1, .max = 1e9, .initial_note = "all that fit",
     .example = "1000", .sentence = "How many prompts to take."},
    {.name = "allow-fewer", .type = OPT_FLAG, AT(allow_fewer), .group = "Sample", .needs = "num",
     .sentence = "Take what fits, with a warning, when that is fewer than --num."},
    {.name = "seed", .type = OPT_INT, AT(seed), .group = "Sample", .min = 0, .max = 9e15, .initial = "1", .sentence = "Chooses and orders them."},
    {.name = "out", .aliases = "output", .type = OPT_FILE, AT(out), .group = "Output", .check = prompts_check_out, .allowed = "a file's name", .example = "isl512.jsonl",
     .sentence = "The library to write; FILE.meta.json comes beside it."},
    {.name = "json", .type = OPT_FLAG, AT(json), .group = "Output", .sentence = "Print the report as JSON."},
};
static const struct opt_table TABLE = OPT_TABLE(OPTIONS, 0);
static const struct opt_table *const TABLES[] = {&TABLE, &PROMPTS_RATIO_TABLE};
static const struct opt_exit EXITS[] = {PROMPTS_EXITS("The sample was written."),
                                        {65, "The library is damaged, or too few prompts fit."}};
const struct opt_command PROMPTS_SAMPLE_LINE = {
    .name = "prompts sample",
    .summary = "Take the prompts whose length in tokens fits",
    .description = "Writes those prompts of LIBRARY that are about --isl tokens long, in an order that the seed decides, and reports what "
                   "was achieved. How many tokens a prompt is for the model is estimated from its words.",
    .operands = "LIBRARY",
    .tables = TABLES,
    .table_count = 2,
    .exits = EXITS,
    .exit_count = sizeof EXITS / sizeof EXITS[0],
    .examples = "  assay prompts sample library.jsonl --isl 512 --osl 128 --num 1000 --calibration calibration.json --out isl512.jsonl\n",
};
