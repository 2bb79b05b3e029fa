/* SPDX-License-Identifier: Apache-2.0 */
/* The parts that make snapshots: import-images, import-list, import-librispeech. */
#include "cmd/prompts_config.h"

#include "base/log.h"
#include "prompts/snapshot_import.h"

#include <inttypes.h>

static as_status report(const char *folder, const struct snapshot_result *result, struct strbuf *out)
{
    strbuf_addf(out, "%" PRId64 " rows, %" PRId64 " files, %" PRId64 " bytes\n%s/" SNAPSHOT_MANIFEST "\n", result->rows, result->files,
                result->bytes, folder);
    return strbuf_status(out);
}

static as_status check_given(const struct snapshot_config *config, struct as_error *err)
{
    return config->code ? AS_OK : error_set(err, AS_E_USAGE, "give the snapshot a code: --code CODE, for example --code my-snapshot-v1");
}

static as_status check_out(const struct snapshot_config *config, struct as_error *err)
{
    return config->out ? check_given(config, err)
                       : error_set(err, AS_E_USAGE, "say where the snapshot goes: --out FOLDER, for example --out snapshot");
}

static as_status images(struct opt_parsed *parsed, void *context, struct strbuf *out, struct as_error *err)
{
    const struct snapshot_config *config = context;
    struct snapshot_result result;
    if (!config->descriptions)
        return error_set(err, AS_E_USAGE, "say what the images are asked: --descriptions FILE, for example --descriptions prompts.jsonl");
    as_status status = check_out(config, err);
    const struct snapshot_import what = {parsed->operands[0], config->descriptions, config->out, config->code, config->source, config->licence};
    if (status == AS_OK)
        status = snapshot_import_images(&what, &result, err);
    return status == AS_OK ? report(config->out, &result, out) : status;
}

static as_status list(struct opt_parsed *parsed, void *context, struct strbuf *out, struct as_error *err)
{
    const struct snapshot_config *config = context;
    struct snapshot_result result;
    as_status status = check_out(config, err);
    const struct snapshot_import what = {NULL, parsed->operands[0], config->out, config->code, config->source, config->licence};
    if (status == AS_OK)
        status = snapshot_import_list(&what, &result, err);
    return status == AS_OK ? report(config->out, &result, out) : status;
}

static as_status speech(struct opt_parsed *parsed, void *context, struct strbuf *out, struct as_error *err)
{
    const struct snapshot_config *config = context;
    struct snapshot_result result = {0};
    as_status status = check_given(config, err);
    const struct snapshot_import what = {parsed->operands[0], NULL, parsed->operands[0], config->code, config->source, config->licence};
    if (status == AS_OK)
        status = snapshot_import_librispeech(&what, &result, err);
    if (status == AS_OK && result.missing)
        log_warning("%" PRId64 " transcripts have no audio file beside them and are left out", result.missing);
    return status == AS_OK ? report(parsed->operands[0], &result, out) : status;
}

int prompts_import_images(int argc, char **argv)
{
    struct snapshot_config config = {0};
    const struct prompts_part part = {&PROMPTS_IMAGES_LINE, &config, 1, "give one folder of images", images};
    return prompts_part_run(&part, argc, argv);
}

int prompts_import_list(int argc, char **argv)
{
    struct snapshot_config config = {0};
    const struct prompts_part part = {&PROMPTS_LIST_LINE, &config, 1, "give one file of prompts, for example prompts.jsonl", list};
    return prompts_part_run(&part, argc, argv);
}

int prompts_import_librispeech(int argc, char **argv)
{
    struct snapshot_config config = {0};
    const struct prompts_part part = {&PROMPTS_SPEECH_LINE, &config, 1, "give one folder, for example LibriSpeech/test-clean", speech};
    return prompts_part_run(&part, argc, argv);
}
