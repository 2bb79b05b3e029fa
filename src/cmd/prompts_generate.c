/* SPDX-License-Identifier: Apache-2.0 */
#include "cmd/prompts_config.h"

#include "prompts/generate.h"

#include <inttypes.h>

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
    const struct prompts_part part = {&PROMPTS_GENERATE_LINE, &config, 1, "give one kind or code, for example medical", generate};
    return prompts_part_run(&part, argc, argv);
}
