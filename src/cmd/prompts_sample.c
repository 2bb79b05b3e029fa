/* SPDX-License-Identifier: Apache-2.0 */
#include "cmd/prompts_config.h"

#include "base/log.h"
#include "prompts/sample.h"

#include <inttypes.h>
#include <string.h>

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
    (void)prompts_parse_share(config->tolerance, &spec.tolerance);
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
    const struct prompts_part part = {&PROMPTS_SAMPLE_LINE, &config, 1, "give one library, for example library.jsonl", sample_library};
    return prompts_part_run(&part, argc, argv);
}
