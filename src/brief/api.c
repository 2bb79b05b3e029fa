/* SPDX-License-Identifier: Apache-2.0 */
#include <assay/report.h>

#include "base/file.h"
#include "brief/convert.h"
#include "brief/schema.h"
#include "brief/write.h"

#include <stdlib.h>
#include <string.h>

struct assay_report {
    struct brief_report report;
};

struct assay_errors {
    struct tree tree;
    struct problems problems;
};

const char *assay_report_version(void)
{
    return ASSAY_REPORT_VERSION;
}

static enum assay_result result_of(as_status status)
{
    switch (status) {
    case AS_OK:
        return ASSAY_OK;
    case AS_E_NOMEM:
        return ASSAY_NO_MEMORY;
    case AS_E_INVALID:
        return ASSAY_INVALID;
    case AS_E_LIMIT:
        return ASSAY_LIMIT;
    case AS_E_NOTFOUND:
        return ASSAY_NOT_FOUND;
    case AS_E_EXISTS:
        return ASSAY_EXISTS;
    case AS_E_USAGE:
        return ASSAY_USAGE;
    case AS_E_UNSUPPORTED:
        return ASSAY_UNSUPPORTED;
    case AS_E_IO:
    case AS_E_NETWORK:
    case AS_E_TIMEOUT:
    case AS_E_DENIED:
    case AS_E_STATE:
    case AS_E_INTERRUPTED:
    case AS_E_INTERNAL:
        break;
    }
    return ASSAY_IO;
}

const char *assay_result_text(enum assay_result result)
{
    static const char *const texts[] = {
        "success",      "out of memory",     "the input is no valid report", "a limit was exceeded",
        "not found",    "it exists already", "reading or writing failed",    "an argument is wrong",
        "not supported"};
    return (size_t)result < sizeof texts / sizeof texts[0] ? texts[result] : "unknown result";
}

void assay_text_free(char *text)
{
    free(text);
}

/* Problems, or where there are none the one sentence. */
static enum assay_result fail(as_status status, const struct problems *problems, const struct as_error *err,
                              struct assay_errors **ret_errors)
{
    struct assay_errors *errors = ret_errors ? calloc(1, sizeof *errors) : NULL;
    if (!errors)
        return result_of(status);
    tree_init(&errors->tree, 0);
    for (const struct problem *problem = problems ? problems->first : NULL; problem; problem = problem->next)
        problems_add(&errors->problems, &errors->tree, problem->path, problem->line, "%s", problem->message);
    if (errors->problems.count == 0)
        problems_add(&errors->problems, &errors->tree, "", err->line, "%s",
                     err->message[0] ? err->message : status_sentence(status));
    *ret_errors = errors;
    return result_of(status);
}

static const struct problem *problem_at(const struct assay_errors *errors, size_t index)
{
    const struct problem *problem = errors ? errors->problems.first : NULL;
    while (problem && index-- > 0)
        problem = problem->next;
    return problem;
}

size_t assay_errors_count(const struct assay_errors *errors)
{
    size_t count = errors ? errors->problems.count : 0;
    return count < PROBLEMS_MAX ? count : PROBLEMS_MAX;
}

const char *assay_errors_path(const struct assay_errors *errors, size_t index)
{
    const struct problem *problem = problem_at(errors, index);
    return problem ? problem->path : NULL;
}

const char *assay_errors_message(const struct assay_errors *errors, size_t index)
{
    const struct problem *problem = problem_at(errors, index);
    return problem ? problem->message : NULL;
}

int64_t assay_errors_line(const struct assay_errors *errors, size_t index)
{
    const struct problem *problem = problem_at(errors, index);
    return problem ? problem->line : 0;
}

void assay_errors_free(struct assay_errors *errors)
{
    if (errors)
        tree_done(&errors->tree);
    free(errors);
}

static struct assay_report *new_report(void)
{
    struct assay_report *report = calloc(1, sizeof *report);
    if (report)
        brief_init(&report->report);
    return report;
}

void assay_report_free(struct assay_report *report)
{
    if (report)
        brief_done(&report->report);
    free(report);
}

static enum assay_result finish(struct assay_report *report, as_status status, const struct as_error *err,
                                struct assay_report **ret, struct assay_errors **ret_errors)
{
    if (status == AS_OK) {
        *ret = report;
        return ASSAY_OK;
    }
    enum assay_result result = fail(status, &report->report.problems, err, ret_errors);
    assay_report_free(report);
    return result;
}

enum assay_result assay_report_read_file(const char *path, struct assay_report **ret, struct assay_errors **ret_errors)
{
    struct as_error err = {0};
    struct assay_report *report = new_report();
    if (!report)
        return ASSAY_NO_MEMORY;
    return finish(report, brief_read_path(&report->report, path, &err), &err, ret, ret_errors);
}

enum assay_result assay_report_read_text(const char *text, size_t len, struct assay_report **ret,
                                         struct assay_errors **ret_errors)
{
    struct as_error err = {0};
    struct assay_report *report = new_report();
    if (!report)
        return ASSAY_NO_MEMORY;
    return finish(report, brief_read_text(&report->report, text, len, &err), &err, ret, ret_errors);
}

enum assay_result assay_report_build(const char *version, const char *text, size_t len, struct assay_report **ret,
                                     struct assay_errors **ret_errors)
{
    struct as_error err = {0};
    const struct model *model = model_find(version);
    struct value *root = NULL;
    struct assay_report *report = new_report();
    if (!report)
        return ASSAY_NO_MEMORY;
    as_status status = model ? AS_OK : error_set(&err, AS_E_USAGE, "Unsupported schema version: %s", version);
    if (status == AS_OK)
        status = read_text(text, len, &report->report.tree, &root, &err);
    if (status == AS_OK)
        status = brief_adopt(&report->report, model, root, &err);
    return finish(report, status, &err, ret, ret_errors);
}

const char *assay_report_get_version(const struct assay_report *report)
{
    return assay_report_get_text(report, "version");
}

/* The buffer's text becomes the caller's; NULL when it failed. */
static char *take_text(struct strbuf *text)
{
    if (strbuf_status(text) == AS_OK && text->data)
        return text->data;
    strbuf_done(text);
    return NULL;
}

char *assay_report_get(const struct assay_report *report, const char *path)
{
    struct strbuf text;
    const struct value *value = path[0] ? value_at(report->report.root, path) : report->report.root;
    strbuf_init(&text, 0);
    if (value)
        write_json(value, 0, &text);
    return take_text(&text);
}

const char *assay_report_get_text(const struct assay_report *report, const char *path)
{
    return value_string(value_at(report->report.root, path));
}

bool assay_report_get_number(const struct assay_report *report, const char *path, double *ret)
{
    return value_number(value_at(report->report.root, path), ret);
}

enum assay_result assay_report_set(struct assay_report *report, const char *path, const char *value,
                                   struct assay_errors **ret_errors)
{
    struct as_error err = {0};
    struct tree tree;
    struct value *parsed = NULL;
    tree_init(&tree, READ_TREE_BYTES_MAX);
    report->report.problems = (struct problems){NULL, NULL, 0};
    as_status status = value ? read_text(value, strlen(value), &tree, &parsed, &err) : AS_OK;
    if (status == AS_OK)
        status = brief_set(&report->report, path, parsed, &err);
    tree_done(&tree);
    return status == AS_OK ? ASSAY_OK : fail(status, &report->report.problems, &err, ret_errors);
}

char *assay_report_yaml(const struct assay_report *report)
{
    struct strbuf text;
    strbuf_init(&text, 0);
    brief_write_yaml(&report->report, &text);
    return take_text(&text);
}

char *assay_report_json(const struct assay_report *report)
{
    struct strbuf text;
    strbuf_init(&text, 0);
    brief_write_json(&report->report, &text);
    return take_text(&text);
}

static enum assay_result write_text(char *text, const char *path, struct assay_errors **ret_errors)
{
    struct as_error err = {0};
    if (!text)
        return ASSAY_NO_MEMORY;
    as_status status = file_write_atomic(path, text, strlen(text), &err);
    free(text);
    return status == AS_OK ? ASSAY_OK : fail(status, NULL, &err, ret_errors);
}

enum assay_result assay_report_write_yaml(const struct assay_report *report, const char *path,
                                          struct assay_errors **ret_errors)
{
    return write_text(assay_report_yaml(report), path, ret_errors);
}

enum assay_result assay_report_write_json(const struct assay_report *report, const char *path,
                                          struct assay_errors **ret_errors)
{
    return write_text(assay_report_json(report), path, ret_errors);
}

char *assay_report_schema(const char *version)
{
    struct strbuf text;
    const struct model *model = model_find(version);
    strbuf_init(&text, 0);
    if (model)
        schema_write(model, &text);
    return take_text(&text);
}

char *assay_report_page(const char *version)
{
    struct strbuf text;
    const struct model *model = model_find(version);
    strbuf_init(&text, 0);
    if (model)
        schema_write_page(model, 2, &text);
    return take_text(&text);
}

static const char *process_variable(void *context, const char *name)
{
    (void)context;
    return getenv(name);
}

struct assay_reports {
    struct conversion conversion;
};

void assay_reports_free(struct assay_reports *reports)
{
    if (reports)
        conversion_done(&reports->conversion);
    free(reports);
}

size_t assay_reports_count(const struct assay_reports *reports)
{
    return reports->conversion.count;
}

const char *assay_reports_warnings(const struct assay_reports *reports)
{
    return strbuf_text(&reports->conversion.warnings);
}

struct assay_report *assay_reports_take(struct assay_reports *reports, size_t index)
{
    struct brief_report *from = index < reports->conversion.count ? &reports->conversion.reports[index] : NULL;
    struct assay_report *report = from && from->root ? calloc(1, sizeof *report) : NULL;
    if (!report)
        return NULL;
    report->report = *from;
    brief_init(from);
    return report;
}

enum assay_result assay_convert_file(const struct assay_conversion *conversion, const char *path,
                                     struct assay_reports **ret, struct assay_errors **ret_errors)
{
    const struct convert_request request = {.generator = conversion->generator ? conversion->generator : "",
                                            .version = conversion->version ? conversion->version : "",
                                            .path = path,
                                            .is_session = conversion->is_session,
                                            .has_index = conversion->has_index,
                                            .index = conversion->index,
                                            .description = conversion->description,
                                            .keywords = conversion->keywords,
                                            .getenv = conversion->reads_environment ? process_variable : NULL};
    struct assay_reports *reports = calloc(1, sizeof *reports);
    struct as_error err = {0};
    if (!reports)
        return ASSAY_NO_MEMORY;
    conversion_init(&reports->conversion);
    as_status status = convert_file(&request, &reports->conversion, &err);
    if (status == AS_OK) {
        *ret = reports;
        return ASSAY_OK;
    }
    enum assay_result result = fail(status, &reports->conversion.problems, &err, ret_errors);
    assay_reports_free(reports);
    return result;
}
