/* SPDX-License-Identifier: Apache-2.0 */
#ifndef ASSAY_CMD_PROMPTS_PART_H
#define ASSAY_CMD_PROMPTS_PART_H

/* What the parts of `assay prompts` have in common; each is in src/cmd/prompts_<part>.c. */

#include "cmd/commands.h"
#include "workload/synthetic.h"

struct prompts_part {
    const struct opt_command *line;
    void *config;               /* the struct of its tables */
    size_t operands;            /* how many it takes */
    const char *operand_needed; /* "give one library, for example library.jsonl" */
    /* Does the work; what it adds to `out` is printed. Another exit status than 0 may be set. */
    as_status (*run)(struct opt_parsed *parsed, void *config, struct strbuf *out, struct as_error *err);
};
/* Reads the options, runs the part, prints; returns the exit status. */
int prompts_part_run(const struct prompts_part *part, int argc, char **argv);

/* argv[0] is the part's name. */
int prompts_import(int argc, char **argv);
int prompts_sample(int argc, char **argv);
int prompts_show(int argc, char **argv);
int prompts_verify(int argc, char **argv);
int prompts_generate(int argc, char **argv);
int prompts_calibrate(int argc, char **argv);
int prompts_import_images(int argc, char **argv);
int prompts_import_list(int argc, char **argv);
int prompts_import_librispeech(int argc, char **argv);

/* Tokens a word: --tokens-per-word R or --calibration FILE, else 1.3. */
struct prompts_ratio_config {
    double tokens_per_word;
    const char *calibration;
};
/* The options of a struct prompts_ratio_config that lies first in the part's struct. */
extern const struct opt_table PROMPTS_RATIO_TABLE;
/* *ret_given: one of them was given. */
as_status prompts_ratio(const struct prompts_ratio_config *config, struct token_ratio *ret, bool *ret_given,
                        struct as_error *err) AS_NODISCARD;

/* opt.check of a file that gets a sidecar: standard output has no place beside it. */
as_status prompts_check_out(const char *text, struct as_error *err);

/* The exits that all parts share. */
#define PROMPTS_EXITS(first)                                                                                           \
    {0, first}, {2, "The command line is wrong."}, {66, "A file was not found."},                                      \
    {                                                                                                                  \
        74, "A file could not be read or written."                                                                     \
    }
#define PROMPTS_AT(type, field) .at = offsetof(struct type, field)

#endif
