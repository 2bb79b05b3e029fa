/* SPDX-License-Identifier: Apache-2.0 */
#include "cmd/prompts_part.h"

#include "base/json.h"
#include "base/log.h"
#include "prompts/sample.h"

#include <inttypes.h>
#include <string.h>

#define TOLERANCE_MAX 1.0

struct sample_config {
    struct prompts_ratio_config ratio; /* first: PROMPTS_RATIO_TABLE */
    int64_t isl, osl, num, seed;
    const char *tolerance, *out;
    bool allow_fewer, json;
};

/* "10%" or "0.1" as a share. */
static bool parse_share(const char *text, double *ret)
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
    return parse_share(text, &share) ? AS_OK : error_set(err, AS_E_USAGE, "is no share from 0%% to 100%%");
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
static const struct opt_command LINE = {
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

static as_status print_report(const struct sample_config *config, const struct sample_report *report, const char *digest, struct strbuf *out)
{
    struct json_writer writer;
    if (!config->json) {
        sample_show(report, out);
        strbuf_addf(out, "content digest %s\n%s\n", digest, config->out);
        return strbuf_status(out);
    }
    json_writer_init(&writer, out, 2);
    json_open_object(&writer);
    json_member_string(&writer, "file", config->out);
    json_member_string(&writer, "content_digest", digest);
    sample_describe(&writer, report);
    json_close_object(&writer);
    strbuf_addc(out, '\n');
    return json_writer_status(&writer);
}

static as_status sample(const struct prompts *from, const struct sample_config *config, const char *name, struct strbuf *out,
                        struct as_error *err)
{
    struct library library;
    struct sample_report report = {0};
    bool is_given;
    struct sample_spec spec = {.isl = config->isl,
                               .osl = config->osl == OPT_ABSENT ? 0 : config->osl,
                               .count = config->num == OPT_ABSENT ? 0 : config->num,
                               .allow_fewer = config->allow_fewer,
                               .seed = (uint64_t)config->seed};
    (void)parse_share(config->tolerance, &spec.tolerance);
    as_status status = prompts_ratio(&config->ratio, &spec.ratio, &is_given, err);
    if (status != AS_OK)
        return status;
    if (library_init(&library) != AS_OK)
        return error_set(err, AS_E_NOMEM, "out of memory");
    status = sample_take(from, &spec, &library, &report, err);
    struct library_origin origin = {.source = name, .format = "sample", .context = &report, .describe = sample_describe};
    memcpy(origin.source_digest, from->digest, sizeof origin.source_digest);
    if (status == AS_OK)
        status = library_write(&library, config->out, &origin, err);
    if (status == AS_OK && spec.count > report.taken)
        log_warning("only %" PRId64 " of %" PRId64 " prompts wanted fit", report.taken, spec.count);
    if (status == AS_OK && !is_given)
        log_info("tokens are estimated with %g a word; measure your model's with assay prompts calibrate", spec.ratio.tokens_per_word);
    if (status == AS_OK)
        status = print_report(config, &report, library.content_digest, out);
    library_done(&library);
    return status;
}

static as_status sample_library(struct opt_parsed *parsed, void *context, struct strbuf *out, struct as_error *err)
{
    const struct sample_config *config = context;
    struct prompts prompts;
    if (config->isl == OPT_ABSENT)
        return error_set(err, AS_E_USAGE, "say how long prompts shall be: --isl N, for example --isl 512");
    if (!config->out)
        return error_set(err, AS_E_USAGE, "say where the sample goes: --out FILE, for example --out isl512.jsonl");
    as_status status = prompts_load(parsed->operands[0], NULL, &prompts, err);
    if (status != AS_OK)
        return status;
    status = sample(&prompts, config, parsed->operands[0], out, err);
    prompts_done(&prompts);
    return status;
}

int prompts_sample(int argc, char **argv)
{
    struct sample_config config;
    const struct prompts_part part = {&LINE, &config, 1, "give one library, for example library.jsonl", sample_library};
    return prompts_part_run(&part, argc, argv);
}
