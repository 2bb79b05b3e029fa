/* SPDX-License-Identifier: Apache-2.0 */
#ifndef ASSAY_CMD_PROMPTS_CONFIG_H
#define ASSAY_CMD_PROMPTS_CONFIG_H

/* The options of the larger parts of `assay prompts`: structs, and the command lines of prompts_<part>_line.c. */

#include "cmd/prompts_part.h"

/* Of prompts_import.c. */
struct import_config {
    int from, split;
    const char *out, *licence;
    double tokens_per_word;
    int64_t min_words, max_words, max_prompts;
    bool skip_bad_lines;
};

/* Of prompts_sample.c. */
struct sample_config {
    struct prompts_ratio_config ratio; /* first: PROMPTS_RATIO_TABLE */
    int64_t isl, osl, num, seed;
    const char *tolerance, *out;
    bool allow_fewer, json;
};

/* Of prompts_generate.c. */
struct generate_config {
    struct prompts_ratio_config ratio; /* first: PROMPTS_RATIO_TABLE */
    struct opt_list isl;
    const char *osl, *out;
    int64_t num, seed;
};

/* Of prompts_snapshot.c. */
struct snapshot_config {
    const char *out, *descriptions, *code, *source, *licence;
};

extern const struct opt_command PROMPTS_IMPORT_LINE, PROMPTS_SAMPLE_LINE, PROMPTS_GENERATE_LINE;
extern const struct opt_command PROMPTS_IMAGES_LINE, PROMPTS_LIST_LINE, PROMPTS_SPEECH_LINE;

/* Names of --from, by struct import_config.from. */
extern const char *const PROMPTS_FORMATS[];
/* "10%" or "0.1" as a share from 0 to 1; false when it is none. */
bool prompts_parse_share(const char *text, double *ret);

#endif
