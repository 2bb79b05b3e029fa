/* SPDX-License-Identifier: Apache-2.0 */
#include "run/run.h"

#include "base/file.h"
#include "base/log.h"
#include "brief/convert.h"
#include "report/files.h"
#include "run/exits.h"
#include "run/show.h"
#include "run/signals.h"
#include "summary/run_file.h"

/* A summary without a record, for a run that never began. */
static as_status summarize_nothing(struct run *run, struct as_error *err)
{
    const struct run_facts *shards[] = {&run->facts};
    struct summary_builder *builder = NULL;
    as_status status = summary_builder_new(shards, 1, NULL, &builder);
    if (status != AS_OK)
        return error_set(err, status, "the summary cannot be made");
    status = summary_finish(builder, &run->summary, err);
    summary_builder_free(builder);
    return status;
}

static as_status make_summary(struct run *run, struct as_error *err)
{
    bool has_begun = run->recording && recording_has_begun(run->recording);
    as_status status = has_begun ? recording_finish(run->recording, &run->summary, err) : summarize_nothing(run, err);
    run->has_summary = status == AS_OK;
    return status;
}

/* Keeps the first failure: one file that cannot be written does not keep the others from being. */
static void note(as_status status, const struct as_error *each, as_status *first, struct as_error *err)
{
    if (status != AS_OK && *first == AS_OK) {
        *first = status;
        *err = *each;
    }
}

/* The benchmark report, made from the files just written as `assay report convert -w assay` makes it. */
static as_status write_benchmark_report(const struct run *run, struct as_error *err)
{
    struct strbuf out AS_AUTO_STRBUF;
    char path[PATH_MAX];
    strbuf_init(&out, 0);
    folder_file(&run->folder, "summary.json", path);
    as_status status = brief_from_summary(path, &out, NULL, err);
    if (status != AS_OK) {
        error_prefix(err, "no benchmark_report.yaml");
        return status;
    }
    folder_file(&run->folder, "benchmark_report.yaml", path);
    return file_write_atomic(path, strbuf_text(&out), out.len, err);
}

static as_status write_files(struct run *run, struct as_error *err)
{
    char path[PATH_MAX];
    struct as_error each = {0};
    as_status first = AS_OK;
    note(run_file_write(run->folder.path, &run->facts, &each), &each, &first, err);
    folder_file(&run->folder, "summary.json", path);
    note(report_write_summary(path, &run->summary, &each), &each, &first, err);
    if (first == AS_OK)
        note(write_benchmark_report(run, &each), &each, &first, err);
    folder_file(&run->folder, "data.jsonl", path);
    note(report_append_data_log(path, &run->summary, &each), &each, &first, err);
    if (run->config.result.data_log)
        note(report_append_data_log(run->config.result.data_log, &run->summary, &each), &each, &first, err);
    return first;
}

/* The forms of other tools have no verdict: a run that is not valid is told on the standard error. */
static void log_verdict(const struct run *run)
{
    const struct validity *validity = &run->summary.validity;
    for (size_t i = 0; i < validity->count && !validity->is_valid; i++) {
        if (validity->reasons[i].severity != SEVERITY_INVALID)
            continue;
        log_warning("not valid: %s: %s; files: %s", validity->reasons[i].code, validity->reasons[i].message, run->folder.path);
        return;
    }
}

static as_status add_console(const struct run *run, struct strbuf *out, struct as_error *err)
{
    const struct result_config *config = &run->config.result;
    struct show_options options = {(enum run_console)config->console, config->percentile_metrics, config->metric_percentiles};
    as_status status = show_summary(&run->summary, &options, out, err);
    if (status == AS_OK && options.console == RUN_CONSOLE_TABLE)
        strbuf_addf(out, "\nFiles: %s\n", run->folder.path);
    bool has_begun = run->recording && recording_has_begun(run->recording); /* else the refusal is told */
    if (status == AS_OK && has_begun && options.console != RUN_CONSOLE_TABLE && options.console != RUN_CONSOLE_JSON)
        log_verdict(run);
    return status;
}

as_status run_report(struct run *run, struct strbuf *console, struct as_error *err)
{
    struct as_error each = {0};
    as_status first = AS_OK;
    signals_set_finishing();
    if (run->recording)
        note(recording_close(run->recording, &each), &each, &first, err);
    as_status status = make_summary(run, &each);
    note(status, &each, &first, err);
    if (status != AS_OK)
        return first;
    note(write_files(run, &each), &each, &first, err);
    if (run->tool->finish)
        note(run->tool->finish(run, &each), &each, &first, err);
    note(add_console(run, console, &each), &each, &first, err);
    return first;
}

int run_exit_code(const struct run *run)
{
    if (run->facts.has_result && run->facts.result.stopped_by_signal && signals_caught())
        return 128 + signals_caught();
    if (run->config.result.fail_on_error && run->summary.total.errors.count > 0)
        return RUN_EXIT_ERRORS;
    return run->config.result.require_valid && !run->summary.validity.is_valid ? RUN_EXIT_INVALID : 0;
}
