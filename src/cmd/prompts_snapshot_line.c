/* SPDX-License-Identifier: Apache-2.0 */
#include "cmd/prompts_config.h"

#define AT(field) PROMPTS_AT(snapshot_config, field), .group = "Snapshot"
#define CODE_OPTION                                                                                                                     \
    {.name = "code", .type = OPT_STRING, AT(code), .value = "CODE", .example = "my-snapshot-v1", .check = check_code,                   \
     .allowed = "lower-case letters, digits, - and _", .sentence = "The code under which workloads name it."}
#define SOURCE_OPTION {.name = "origin", .type = OPT_STRING, AT(source), .example = "https://www.openslr.org/12", .sentence = "Where it comes from."}
#define LICENCE_OPTION                                                                                                                  \
    {.name = "licence", .aliases = "license", .type = OPT_STRING, AT(licence), .example = "CC-BY-4.0", .sentence = "Its licence."}
#define OUT_OPTION {.name = "out", .aliases = "output", .type = OPT_FILE, AT(out), .example = "snapshot", .sentence = "The folder to make."}

static as_status check_code(const char *text, struct as_error *err)
{
    size_t len = 0;
    while ((text[len] >= 'a' && text[len] <= 'z') || (text[len] >= '0' && text[len] <= '9') || text[len] == '-' || text[len] == '_')
        len++;
    return len > 0 && len <= 100 && !text[len] ? AS_OK : error_set(err, AS_E_USAGE, "is no code");
}

static const struct opt IMAGE_OPTIONS[] = {
    {.name = "descriptions", .type = OPT_FILE, AT(descriptions), .example = "prompts.jsonl",
     .sentence = "JSONL: `prompt` and `image_url` or `image_urls` a line, relative to DIR."},
    CODE_OPTION, SOURCE_OPTION, LICENCE_OPTION, OUT_OPTION,
};
static const struct opt LIST_OPTIONS[] = {CODE_OPTION, SOURCE_OPTION, LICENCE_OPTION, OUT_OPTION};
static const struct opt SPEECH_OPTIONS[] = {CODE_OPTION, SOURCE_OPTION, LICENCE_OPTION};
static const struct opt_table IMAGE_TABLE_OF = OPT_TABLE(IMAGE_OPTIONS, 0), LIST_TABLE = OPT_TABLE(LIST_OPTIONS, 0),
                              SPEECH_TABLE = OPT_TABLE(SPEECH_OPTIONS, 0);
static const struct opt_table *const IMAGE_TABLES[] = {&IMAGE_TABLE_OF}, *const LIST_TABLES[] = {&LIST_TABLE},
                                     *const SPEECH_TABLES[] = {&SPEECH_TABLE};
static const struct opt_exit EXITS[] = {PROMPTS_EXITS("The snapshot was made."), {65, "A line, a path or a file is not what it should be."},
                                        {73, "The folder holds a snapshot already."}};
#define COMMON .table_count = 1, .exits = EXITS, .exit_count = sizeof EXITS / sizeof EXITS[0]

const struct opt_command PROMPTS_IMAGES_LINE = {
    .name = "prompts import-images", .summary = "Make an image snapshot of a folder and its descriptions",
    .description = "Copies the images that the descriptions name from DIR, checks that each decodes, and writes prompts.jsonl and "
                   "manifest.json with a digest of every file.",
    .operands = "DIR", .tables = IMAGE_TABLES, COMMON,
    .examples = "  assay prompts import-images photos --descriptions photos/prompts.jsonl --code my-photos-v1 --out snapshot\n",
};
const struct opt_command PROMPTS_LIST_LINE = {
    .name = "prompts import-list", .summary = "Make a snapshot for image generation of a list of prompts",
    .description = "Checks FILE (JSONL: `prompt`, and where wanted `negative_prompt`, `size`, `seed`, `n`) and writes it as prompts.jsonl with "
                   "manifest.json.",
    .operands = "FILE", .tables = LIST_TABLES, COMMON,
    .examples = "  assay prompts import-list prompts.jsonl --code my-pictures-v1 --out snapshot\n",
};
const struct opt_command PROMPTS_SPEECH_LINE = {
    .name = "prompts import-librispeech", .summary = "Make an audio snapshot of a LibriSpeech folder",
    .description = "Writes manifest.jsonl and ground_truth.jsonl (as `assay asr import-librispeech` does) and manifest.json with a digest of "
                   "every file into DIR, which is the snapshot then.",
    .operands = "DIR", .tables = SPEECH_TABLES, COMMON,
    .examples = "  assay prompts import-librispeech LibriSpeech/test-clean --code librispeech-test-clean --licence CC-BY-4.0\n",
};
