/* SPDX-License-Identifier: Apache-2.0 */
#ifndef ASSAY_BRIEF_CONVERTER_H
#define ASSAY_BRIEF_CONVERTER_H

/* What the converters of the generators share. Not for use outside convert*.c and from_*.c. */

#include "brief/convert.h"

struct converter {
    const struct convert_request *request;
    const struct model *model;
    const struct value *native;
    struct tree *tree; /* of the report being built; emptied before the next */
    struct strbuf *warnings;
    struct as_error *err;
    int64_t index;                 /* of the benchmark in the file */
    const struct value *benchmark; /* the one to convert, where the generator has such */
    const struct value *metadata; /* run_metadata.yaml, or NULL */
    const char *model_name;       /* of the served model, when it is known */
    const struct value *run;      /* run.json beside one of our summaries, or NULL */
    bool has_run;                 /* it was looked for */
};

/* One generator and version: builds the report before it is checked; NULL with converter->err set when it cannot. */
typedef struct value *(*convert_function)(struct converter *converter);

struct value *from_vllm_0_1(struct converter *converter);
struct value *from_vllm_0_2(struct converter *converter);
struct value *from_inference_perf_0_1(struct converter *converter);
struct value *from_inference_perf_0_2(struct converter *converter);
struct value *from_session_0_1(struct converter *converter);
struct value *from_session_0_2(struct converter *converter);
struct value *from_guidellm_0_1(struct converter *converter);
struct value *from_guidellm_0_2(struct converter *converter);
struct value *from_aiperf_0_1(struct converter *converter);
struct value *from_aiperf_0_2(struct converter *converter);
struct value *from_nop_0_1(struct converter *converter);
struct value *from_summary_0_2(struct converter *converter);

void convert_warn(struct converter *converter, const char *fmt, ...) AS_PRINTF(2, 3);

/* Parts, all in converter->tree; NULL inputs give nothing. */

/* The start of a 0.2.1 report: version, run, scenario.load with what the environment says. */
struct value *envelope(struct converter *converter);
/* `<model> [<experiment id>]` unless submitted; to be called when the model's name is known. */
void envelope_describe(struct converter *converter, struct value *report);
/* scenario.load and its parts, made when missing. */
struct value *report_map(struct converter *converter, struct value *report, const char *path);
/* Sets load.metadata.schema_version and cfg_id, the hash of `config` (NULL = null). */
void put_load_metadata(struct converter *converter, struct value *report, const struct value *config);
/* LLMDBENCH_TREATMENT_* into load.metadata. */
void put_treatment(struct converter *converter, struct value *report);
/* The start of a 0.1 report: scenario.load.name and scenario.model.name ("unknown" for NULL). */
struct value *start_0_1(struct converter *converter, const char *generator, const struct value *model_name);

/* Native name and ours of the figures of a statistic; ends with a NULL name. */
struct rename {
    const char *from;
    const char *to;
};
extern const struct rename inference_perf_names[];

/* A Statistics of the members of `native` that there are; NULL when it is no map. */
struct value *statistics_from(struct converter *converter, const struct value *native, const struct rename *names,
                              const char *units);
/* A Statistics of one mean; NULL without one. */
struct value *statistics_mean(struct converter *converter, const struct value *mean, const char *units);
struct value *statistics_mean_number(struct converter *converter, double mean, const char *units);
/* The same, but only when it has a mean. */
struct value *with_mean(struct value *statistics);
/* Shares `native`; null and NULL give NULL. */
struct value *taken(struct converter *converter, const struct value *native);
/* Like taken, an int where it is a whole number. */
struct value *taken_count(struct converter *converter, const struct value *native);
/* {distribution, value}. */
struct value *length_of(struct converter *converter, const char *distribution, struct value *take_value);

/* "PT5.5S" of a number of seconds, as Python prints it; NULL when it is none or not finite. */
struct value *duration_text(struct converter *converter, const struct value *seconds);

/* Environment variable that is not empty, else NULL. */
const char *variable(const struct converter *converter, const char *name);
bool has_variable(const struct converter *converter, const char *name);
/* A variable, else a key of run_metadata.yaml as text, else NULL; not empty, blanks around trimmed. */
const char *meta(struct converter *converter, const char *key, const char *name);
/* Splits at commas, trims, drops empties; NULL when nothing is left. */
struct value *split_commas(struct converter *converter, const char *text);
/* A YAML or JSON file, NULL when it cannot be read (warns with `what` unless that is NULL). */
const struct value *read_beside(struct converter *converter, const char *path, const char *what);
/* "YYYYMMDD-HHMMSS" in the local zone; false and a warning when it is not that. */
bool local_date(struct converter *converter, const struct value *native, int64_t *ret_unix_s);
/* The number after the last "stage_" of the path, up to "_"; else 0. */
int64_t stage_of_path(const char *path);

#endif
