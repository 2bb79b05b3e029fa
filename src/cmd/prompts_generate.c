/* SPDX-License-Identifier: Apache-2.0 */
#include "cmd/prompts_part.h"

#include "prompts/generate.h"

#include <inttypes.h>

struct generate_config {
    struct prompts_ratio_config ratio; /* first: PROMPTS_RATIO_TABLE */
    struct opt_list isl;
    const char *osl, *out;
    int64_t num, seed;
};

static as_status check_length(const char *text, struct as_error *err)
{
    struct length_spec spec;
    return length_parse(text, &spec, err) == AS_OK ? AS_OK : AS_E_USAGE;
}

#define LENGTH .value = "N[±S]", .check = check_length, .allowed = "N or N±S (also N+-S) tokens, S below N"
#define AT(field) PROMPTS_AT(generate_config, field)
static const struct opt OPTIONS[] = {
    {.name = "isl", .type = OPT_STRING, AT(isl), .group = "Lengths", .is_list = true, LENGTH, .initial = "512", .example = "512±64",
     .sentence = "Tokens of a prompt, uniform within ±S; several are taken in turn, at most 16."},
    {.name = "osl", .type = OPT_STRING, AT(osl), .group = "Lengths", LENGTH, .example = "128", .initial_note = "none",
     .sentence = "expected_output_tokens of each prompt."},
    {.name = "num", .aliases = "num-prompts", .type = OPT_INT, AT(num), .group = "Library", .min = 1, .max = 10000000, .initial = "1000",
     .sentence = "How many prompts to make."},
    {.name = "seed", .type = OPT_INT, AT(seed), .group = "Library", .min = 0, .max = 9e15, .initial = "1",
     .sentence = "Decides every prompt, together with its number."},
    {.name = "out", .aliases = "output", .type = OPT_FILE, AT(out), .group = "Output", .check = prompts_check_out, .allowed = "a file's name",
     .example = "library.jsonl", .sentence = "The library to write; FILE.meta.json comes beside it."},
};
static const struct opt_table TABLE = OPT_TABLE(OPTIONS, 0);
static const struct opt_table *const TABLES[] = {&TABLE, &PROMPTS_RATIO_TABLE};
static const struct opt_exit EXITS[] = {PROMPTS_EXITS("The library was written."), {65, "It would be too large."}};
static const struct opt_command LINE = {
    .name = "prompts generate",
    .summary = "Make a library from a seed: random, fixed, medical, legal, code, long-context",
    .description =
        "Makes a library of texts of our own, the same for the same seed on every machine. KIND: random (common words without sense, for raw "
        "capacity), fixed (everyday tasks), medical, legal, code, long-context (records with a question about one of them), text2image "
        "(descriptions of pictures, which have no length).\n\n"
        "CODE is a library that ships: assay-random-v1, assay-fixed-v1, assay-medical-v1, assay-legal-v1, assay-code-v1, "
        "assay-long-context-v1 or text2image-multiprompt-1024. Seed, number and lengths belong to it.",
    .operands = "KIND|CODE",
    .tables = TABLES,
    .table_count = 2,
    .exits = EXITS,
    .exit_count = sizeof EXITS / sizeof EXITS[0],
    .examples = "  assay prompts generate medical --seed 7 --num 500 --isl 512±64 --osl 128 --out medical.jsonl\n"
                "  assay prompts generate assay-code-v1 --out code.jsonl\n",
};

static as_status spec_of_kind(const struct generate_config *config, const char *name, struct generate_spec *ret, struct as_error *err)
{
    bool is_given;
    *ret = (struct generate_spec){.seed = (uint64_t)config->seed, .count = config->num, .isl_count = config->isl.count};
    if (!generate_kind_parse(name, &ret->kind))
        return error_set(err, AS_E_USAGE,
                         "there is no kind or code \"%.60s\": give random, fixed, medical, legal, code, long-context, text2image or a code that ships "
                         "(--help)", name);
    if (config->isl.count > GENERATE_LENGTHS_MAX)
        return error_set(err, AS_E_USAGE, "--isl is given %zu times: at most %d", config->isl.count, GENERATE_LENGTHS_MAX);
    for (size_t i = 0; i < config->isl.count; i++)
        if (length_parse(config->isl.items[i], &ret->isl[i], err) != AS_OK)
            return AS_E_USAGE;
    if (config->osl && length_parse(config->osl, &ret->osl, err) != AS_OK)
        return AS_E_USAGE;
    return prompts_ratio(&config->ratio, &ret->ratio, &is_given, err);
}

/* A source that ships takes none of the options. */
static as_status check_unchanged(const struct opt_parsed *parsed, struct as_error *err)
{
    static const char *const names[] = {"isl", "osl", "num", "seed", "tokens-per-word", "calibration"};
    for (size_t i = 0; i < sizeof names / sizeof names[0]; i++)
        if (options_is_given(parsed, names[i]))
            return error_set(err, AS_E_USAGE, "--%s has no effect on %s, which ships as it is; give a kind", names[i], parsed->operands[0]);
    return AS_OK;
}

static void describe(struct json_writer *writer, const void *context)
{
    const struct generate_spec *spec = context;
    json_key(writer, "generated");
    json_open_object(writer);
    json_member_string(writer, "kind", generate_kind_name(spec->kind));
    json_member_int(writer, "seed", (int64_t)spec->seed);
    json_member_double(writer, "tokens_per_word", spec->ratio.tokens_per_word);
    json_key(writer, "isl");
    json_open_array(writer);
    for (size_t i = 0; i < spec->isl_count; i++)
        json_put_int(writer, spec->isl[i].mean);
    json_close_array(writer);
    json_close_object(writer);
}

static as_status write_library(const struct generate_spec *spec, const char *path, struct strbuf *out, struct as_error *err)
{
    struct library library;
    struct library_origin origin = {.source = "generated", .format = generate_kind_name(spec->kind), .licence = "Apache-2.0",
                                    .context = spec, .describe = describe};
    if (library_init(&library) != AS_OK)
        return error_set(err, AS_E_NOMEM, "out of memory");
    as_status status = generate_library(spec, &library, err);
    if (status == AS_OK)
        status = library_write(&library, path, &origin, err);
    if (status == AS_OK)
        strbuf_addf(out, "%" PRId64 " prompts\ncontent digest %s\n%s\n", library.count, library.content_digest, path);
    library_done(&library);
    return status;
}

static as_status generate(struct opt_parsed *parsed, void *context, struct strbuf *out, struct as_error *err)
{
    const struct generate_config *config = context;
    const struct shipped_source *shipped = shipped_find(parsed->operands[0]);
    struct generate_spec spec = shipped ? shipped->spec : (struct generate_spec){0};
    if (!config->out)
        return error_set(err, AS_E_USAGE, "say where the library goes: --out FILE, for example --out library.jsonl");
    as_status status = shipped ? check_unchanged(parsed, err) : spec_of_kind(config, parsed->operands[0], &spec, err);
    return status == AS_OK ? write_library(&spec, config->out, out, err) : status;
}

int prompts_generate(int argc, char **argv)
{
    struct generate_config config;
    const struct prompts_part part = {&LINE, &config, 1, "give one kind or code, for example medical", generate};
    return prompts_part_run(&part, argc, argv);
}
