/* SPDX-License-Identifier: Apache-2.0 */
#ifndef ASSAY_REPORT_H
#define ASSAY_REPORT_H

/*
 * libassay-report: llm-d benchmark reports of versions 0.1 and 0.2.1, read, checked, changed, written, and made of the
 * results of load generators.
 *
 * A report is valid at all times: functions that would make one that is not fail and change nothing. Functions that can
 * fail return an enum assay_result and take a `struct assay_errors **`, which may be NULL; on failure it is set to a
 * list that the caller frees, each entry with the dotted path of what is wrong ("scenario.stack.0.metadata.label").
 * Texts returned as `char *` are the caller's (assay_text_free); `const char *` ones belong to the report or the list.
 * All texts are UTF-8. Objects may be used by one thread at a time; different objects by different threads. Nothing
 * here prints, exits or reads the process' environment, except assay_convert_file with `reads_environment`.
 *
 * The version of the library follows that of the format: within 0.2.x functions and fields are only added.
 */

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

#define ASSAY_REPORT_VERSION "0.2.1"

enum assay_result {
    ASSAY_OK,
    ASSAY_NO_MEMORY,
    ASSAY_INVALID, /* the input is no document, or no valid report */
    ASSAY_LIMIT,   /* the input is deeper or larger than what is read */
    ASSAY_NOT_FOUND,
    ASSAY_EXISTS,
    ASSAY_IO,
    ASSAY_USAGE, /* an argument has a value that there is not: version, generator, index */
    ASSAY_UNSUPPORTED
};

struct assay_report;
struct assay_errors;

/* The version of the library that is loaded. */
const char *assay_report_version(void);
/* One sentence, static. */
const char *assay_result_text(enum assay_result result);
void assay_text_free(char *text);

size_t assay_errors_count(const struct assay_errors *errors);
/* "" for the document as a whole. */
const char *assay_errors_path(const struct assay_errors *errors, size_t index);
const char *assay_errors_message(const struct assay_errors *errors, size_t index);
/* Line in the source from 1; 0 = unknown. */
int64_t assay_errors_line(const struct assay_errors *errors, size_t index);
void assay_errors_free(struct assay_errors *errors);

/* YAML or JSON, whatever the name; the model is chosen by the document's `version`. */
enum assay_result assay_report_read_file(const char *path, struct assay_report **ret, struct assay_errors **ret_errors);
enum assay_result assay_report_read_text(const char *text, size_t len, struct assay_report **ret,
                                         struct assay_errors **ret_errors);
/* A report of this version ("0.1", "0.2.1") with these members; `version` in the text may be missing. */
enum assay_result assay_report_build(const char *version, const char *text, size_t len, struct assay_report **ret,
                                     struct assay_errors **ret_errors);
void assay_report_free(struct assay_report *report);

/* As in the document: "0.1", "0.2" or "0.2.1". */
const char *assay_report_get_version(const struct assay_report *report);
/* The value at a dotted path ("" = all) as JSON; NULL when there is none or memory ran out. */
char *assay_report_get(const struct assay_report *report, const char *path);
/* A text value at a dotted path, NULL when it is none; it lives until the report is changed or freed. */
const char *assay_report_get_text(const struct assay_report *report, const char *path);
/* A number at a dotted path. */
bool assay_report_get_number(const struct assay_report *report, const char *path, double *ret);
/* Sets the member at a path to a JSON or YAML value (NULL: removes it) and checks the report. */
enum assay_result assay_report_set(struct assay_report *report, const char *path, const char *value,
                                   struct assay_errors **ret_errors);

/* Canonical text; NULL without memory. */
char *assay_report_yaml(const struct assay_report *report);
char *assay_report_json(const struct assay_report *report);
/* Replaces the file whole. */
enum assay_result assay_report_write_yaml(const struct assay_report *report, const char *path,
                                          struct assay_errors **ret_errors);
enum assay_result assay_report_write_json(const struct assay_report *report, const char *path,
                                          struct assay_errors **ret_errors);

/* JSON Schema of a version, NULL for an unknown one. */
char *assay_report_schema(const char *version);
/* The model's tables in Markdown, NULL for an unknown version. */
char *assay_report_page(const char *version);

/* What to convert; zero everything that is not used. */
struct assay_conversion {
    const char *generator; /* aiperf, guidellm, inferencemax, inference-perf, vllm-benchmark, nop, assay */
    const char *version;   /* "0.1", "0.2" or "0.2.1" */
    bool is_session;       /* an inference-perf session file */
    bool has_index;        /* only the benchmark `index` of a guidellm file */
    int64_t index;
    const char *description; /* NULL = by the environment */
    const char *keywords;    /* separated by commas; NULL = by the environment */
    bool reads_environment;  /* LLMDBENCH_* of the process */
};

struct assay_reports;

/* The reports of a results file: one, or one a benchmark of a guidellm file. */
enum assay_result assay_convert_file(const struct assay_conversion *conversion, const char *path,
                                     struct assay_reports **ret, struct assay_errors **ret_errors);
size_t assay_reports_count(const struct assay_reports *reports);
/* Lines about what was left out, "" when nothing was. */
const char *assay_reports_warnings(const struct assay_reports *reports);
/* Gives a report to the caller; NULL when it was taken before, the index is none or without memory. */
struct assay_report *assay_reports_take(struct assay_reports *reports, size_t index);
void assay_reports_free(struct assay_reports *reports);

#ifdef __cplusplus
}
#endif

#endif
