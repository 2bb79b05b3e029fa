/* SPDX-License-Identifier: Apache-2.0 */
#include "run/config.h"
#include "run/slo.h"

#include <string.h>

static as_status check_slo(const char *text, struct as_error *err)
{
    struct run_slo slo = {-1, -1, -1, -1};
    return slo_add(text, &slo, err);
}

/* Every comma-separated word of `text` must be one of `words`. */
static as_status check_words(const char *text, const char *const *words, struct as_error *err)
{
    for (const char *at = text;; at++) {
        size_t len = strcspn(at, ",");
        bool is_known = false;
        for (size_t i = 0; words[i] && !is_known; i++)
            is_known = strlen(words[i]) == len && memcmp(words[i], at, len) == 0;
        if (!is_known)
            return error_set(err, AS_E_USAGE, "holds \"%.*s\"", (int)(len < 40 ? len : 40), at);
        at += len;
        if (!*at)
            return AS_OK;
    }
}

static as_status check_metrics(const char *text, struct as_error *err)
{
    static const char *const words[] = {"ttft", "tpot", "itl", "e2el", NULL};
    return check_words(text, words, err);
}

static as_status check_percentiles(const char *text, struct as_error *err)
{
    static const char *const words[] = {"50", "75", "90", "95", "99", "99.9", NULL};
    return check_words(text, words, err);
}

static as_status check_server(const char *text, struct as_error *err)
{
    return *text && !strpbrk(text, " \t/") ? AS_OK : error_set(err, AS_E_USAGE, *text ? "is no HOST or HOST:PORT" : "is empty");
}

static const char *const CONSOLES[] = {"table", "json", "none", "vllm", NULL};
static const char *const PLAIN_CONSOLES[] = {"table", "json", "none", NULL};
static const char *const METHODS[] = {"nearest_rank", "linear", NULL};

#define GROUP .group = "Results"
#define CHECKS .group = "Checks"
#define AT(field) .at = offsetof(struct result_config, field)

static const struct opt OPTIONS[] = {
    {.name = "result-dir", .type = OPT_FILE, AT(folder), GROUP, .value = "FOLDER", .example = "results/run-1",
     .initial_note = "assay-results/ and the run's readable id",
     .sentence = "Folder for the files of this run; it is made, and refused when it holds a run already."},
    {.name = "quiet", .type = OPT_FLAG, AT(quiet), GROUP, .sentence = "No progress line and no notes; warnings and errors stay."},
    {.name = "progress-interval", .type = OPT_DURATION, AT(progress_ns), GROUP, .unit = "s", .initial = "10s", .min = 0.1, .max = 3600,
     .sentence = "Time between progress lines where stderr is no terminal."},
    {.name = "disk-wait", .type = OPT_DURATION, AT(disk_wait_ns), GROUP, .unit = "s", .initial = "30s", .min = 0.1, .max = 86400,
     .sentence = "How long a full disk may take no records before the run is ended; records wait in the journal meanwhile."},
    {.name = "run-description", .type = OPT_STRING, AT(description), GROUP, .example = "\"after the upgrade\"", .sentence = "Text kept in the summary."},
    {.name = "run-keywords", .type = OPT_STRING, AT(keywords), GROUP, .value = "WORDS", .example = "nightly,h100",
     .sentence = "Words kept in the summary, separated by commas."},
    {.name = "scenario", .type = OPT_STRING, AT(scenario), GROUP, .value = "NAME", .example = "isl512-c8", .sentence = "Name of the scenario, kept in the summary."},
    {.name = "sweep", .type = OPT_STRING, AT(sweep), GROUP, .value = "CODE", .example = "night-12",
     .sentence = "Code of the sweep that this run is a stage of: the benchmark reports of its stages share their eid."},
    {.name = "stage", .type = OPT_INT, AT(stage), GROUP, .value = "N", .min = 0, .max = 1e6, .needs = "sweep", .example = "3",
     .sentence = "Number of this run in the sweep, from 0."},
    {.name = "goodput", .type = OPT_STRING, AT(goodput), GROUP, .value = "NAME:MS", .is_list = true, .takes_many = true, .check = check_slo,
     .allowed = "ttft:MS, tpot:MS, itl:MS, e2e:MS, separated by spaces", .example = "ttft:200",
     .sentence = "Objectives in ms (ttft, tpot, itl, e2e) that a success must meet to count as goodput."},
    {.name = "percentile-method", .type = OPT_ENUM, AT(percentile_method), GROUP, .choices = METHODS, .initial = "nearest_rank",
     .sentence = "How percentiles are taken: the value at index ⌈p·n⌉−1, or interpolated as numpy does."},
    {.name = "job", .type = OPT_FILE, AT(job), GROUP, .example = "job.yaml",
     .sentence = "YAML file with options by name; relative paths in it are meant from its folder."},
    {.name = "dry-run", .type = OPT_FLAG, AT(dry_run), GROUP, .sentence = "Show the options in effect, the plan and the first request; send nothing."},
    {.name = "ntp-server", .type = OPT_STRING, AT(ntp_servers), CHECKS, .value = "HOST[:PORT]", .is_list = true, .check = check_server, .allowed = "HOST or HOST:PORT",
     .example = "ntp.example.org",
     .initial = "pool.ntp.org time.google.com time.cloudflare.com time.apple.com",
     .sentence = "Servers asked for the time before the run. More than 1 s off refuses the run; no answer within 5 s is noted and the run goes on."},
    {.name = "skip-ntp-check", .type = OPT_FLAG, AT(skip_ntp), CHECKS, .environment = "METRUM_SKIP_NTP_CHECK", .sentence = "Do not ask for the time."},
    {.name = "fail-on-error", .type = OPT_FLAG, AT(fail_on_error), CHECKS, .sentence = "Exit status 1 when a measured request failed."},
    {.name = "require-valid", .type = OPT_FLAG, AT(require_valid), CHECKS, .sentence = "Exit status 3 when the run is not valid."},
    {.name = "max-lag-share", .type = OPT_DOUBLE, AT(lag_share), CHECKS, .initial = "0.1", .positive = true, .max = 10,
     .sentence = "The run is invalid when the client's own lag (p99) is more than this share of the metric's median."},
    {.name = "max-late-share", .type = OPT_DOUBLE, AT(late_share), CHECKS, .initial = "0.01", .max = 1, .example = "0.05", .modes = RUN_OPEN,
     .sentence = "The run is invalid when more than this share was sent over 1 ms late."},
    {.name = "min-delivered-share", .type = OPT_DOUBLE, AT(delivered_share), CHECKS, .initial = "0.95", .max = 1, .example = "0.9",
     .sentence = "The run is invalid when less than this share of the planned load was delivered."},
    {.name = "max-error-share", .type = OPT_DOUBLE, AT(error_share), CHECKS, .initial = "0.1", .max = 1, .example = "0.01",
     .sentence = "The run is invalid when more than this share of the measured requests failed because a connection was refused, lost or cut short."},
};
const struct opt_table RESULT_TABLE = OPT_TABLE(OPTIONS, offsetof(struct run_config, result));

static const struct opt CONSOLE_OPTIONS[] = {
    {.name = "console", .type = OPT_ENUM, AT(console), GROUP, .choices = CONSOLES, .initial = "table",
     .sentence = "What to print at the end: a table, the block of vLLM's benchmark, the summary as JSON, nothing."},
    {.name = "percentile-metrics", .type = OPT_STRING, AT(percentile_metrics), GROUP, .value = "LIST", .initial = "ttft,tpot,itl,e2el",
     .check = check_metrics, .allowed = "some of ttft,tpot,itl,e2el, separated by commas", .modes = RUN_VLLM_BLOCK,
     .sentence = "Sections of the vLLM block."},
    {.name = "metric-percentiles", .type = OPT_STRING, AT(metric_percentiles), GROUP, .value = "LIST", .initial = "99", .check = check_percentiles,
     .allowed = "some of 50,75,90,95,99,99.9, separated by commas", .modes = RUN_VLLM_BLOCK, .sentence = "Percentiles of the vLLM block."},
};
const struct opt_table CONSOLE_TABLE = OPT_TABLE(CONSOLE_OPTIONS, offsetof(struct run_config, result));

static const struct opt PLAIN_CONSOLE_OPTIONS[] = {
    {.name = "console", .type = OPT_ENUM, AT(console), GROUP, .choices = PLAIN_CONSOLES, .initial = "table",
     .sentence = "What to print at the end: a table, the summary as JSON, nothing."},
};
const struct opt_table PLAIN_CONSOLE_TABLE = OPT_TABLE(PLAIN_CONSOLE_OPTIONS, offsetof(struct run_config, result));

static const struct opt CONTENT_OPTIONS[] = {
    {.name = "save-content", .type = OPT_FLAG, AT(save_content), GROUP, .sentence = "Keep the answers' texts in the records."},
    {.name = "save-limit", .type = OPT_SIZE, AT(save_limit_bytes), GROUP, .initial = "16MiB", .min = 1, .max = 1e9, .needs = "save-content",
     .sentence = "Longest text that is kept; more is cut and flagged."},
};
const struct opt_table CONTENT_TABLE = OPT_TABLE(CONTENT_OPTIONS, offsetof(struct run_config, result));

static const struct opt GAPS_OPTIONS[] = {
    {.name = "save-gaps", .type = OPT_FLAG, AT(save_gaps), GROUP, .modes = RUN_STREAM, .sentence = "Keep every gap between chunks in the records."},
};
const struct opt_table GAPS_TABLE = OPT_TABLE(GAPS_OPTIONS, offsetof(struct run_config, result));

static const struct opt DATA_LOG_OPTIONS[] = {
    {.name = "data-log", .type = OPT_FILE, AT(data_log), GROUP, .example = "results.jsonl", .sentence = "Append the one-line summary to this file too."},
};
const struct opt_table DATA_LOG_TABLE = OPT_TABLE(DATA_LOG_OPTIONS, offsetof(struct run_config, result));
