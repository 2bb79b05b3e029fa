/* SPDX-License-Identifier: Apache-2.0 */
#include "selftest/selftest.h"

#include "base/file.h"
#include "base/json.h"
#include "selftest/child.h"

#include <errno.h>
#include <ftw.h>
#include <limits.h>
#include <math.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define WORDS_MAX         48
#define SUMMARY_BYTES_MAX ((size_t)8 << 20)
/* The step of the paced loads, and the share of it by which client or simulator may be behind (p99). */
#define ITL_MS     50
#define LATE_SHARE 0.1
/* Streams of the first paced load; doubled from load to load. */
#define FIRST_STREAMS 250

struct runner {
    const struct selftest_settings *settings;
    const char *program;
    void (*progress)(const char *what);
    struct selftest_report *report;
    struct arena arena;
    char folder[PATH_MAX - 256];
};

/* One load: words separated by single blanks. */
struct load_plan {
    const char *name;
    int64_t connections;
    const char *sim_words, *llm_words;
    bool is_stream, has_timing;
};

static void choose_cpus(struct selftest_report *report)
{
    cpu_set_t set;
    report->sim_cpu = report->client_cpu = -1;
    if (sched_getaffinity(0, sizeof(set), &set) != 0)
        return;
    report->cpu_count = CPU_COUNT(&set);
    for (int cpu = 0; cpu < CPU_SETSIZE && report->cpu_count > 1 && report->client_cpu < 0; cpu++)
        if (CPU_ISSET((size_t)cpu, &set))
            *(report->sim_cpu < 0 ? &report->sim_cpu : &report->client_cpu) = cpu;
}

/* argv of a program of ours in the arena: fixed words, then `words`. */
static as_status make_argv(struct runner *runner, char *const *fixed, const char *words, char **ret_argv,
                           struct as_error *err)
{
    size_t count = 0;
    char *rest = arena_strdup(&runner->arena, words);
    ret_argv[count++] = arena_strdup(&runner->arena, runner->program);
    for (; *fixed; fixed++)
        ret_argv[count++] = *fixed;
    for (; rest && count + 1 < WORDS_MAX; count++)
        ret_argv[count] = strsep(&rest, " ");
    ret_argv[count] = NULL;
    return ret_argv[0] && !rest ? AS_OK : error_set(err, AS_E_NOMEM, "no memory for a command line");
}

static double number(const struct json_value *root, const char *path)
{
    double value;
    return json_double(json_path(root, path), &value) ? value : NAN;
}

static int64_t whole(const struct json_value *root, const char *path)
{
    int64_t value = 0;
    (void)json_int64(json_path(root, path), &value);
    return value;
}

static void read_summary(const struct json_value *root, const struct load_plan *plan, struct selftest_load *load)
{
    double cpu_s = number(root, "client.cpu_s");
    double elapsed_s = number(root, "window.elapsed_ms") / 1e3;
    int64_t sent = whole(root, "counts.sent");
    int64_t warmup = whole(root, "counts.warmup");
    load->name = plan->name;
    load->connections = plan->connections;
    load->ok = whole(root, "counts.measured.ok");
    load->failed = sent - whole(root, "counts.ok");
    load->chunks = plan->is_stream ? whole(root, "chunks.content_chunks") : 0;
    load->requests_per_s = number(root, "throughput.requests_per_second");
    load->chunks_per_s = plan->is_stream ? (double)load->chunks / elapsed_s : NAN;
    load->cpu_ratio = number(root, "client.cpu_ratio");
    load->cpu_us_per_request = sent > 0 ? cpu_s * 1e6 / (double)sent : NAN;
    /* CPU time is of the whole run, warm-up included; chunks are those of measured requests. */
    load->cpu_us_per_chunk = load->chunks > 0 && load->ok > 0
                                 ? cpu_s * 1e6 / ((double)load->chunks * (double)(load->ok + warmup) / (double)load->ok)
                                 : NAN;
    load->read_lag_p99_us = number(root, "client.read_lag_us.p99");
}

static as_status read_results(struct runner *runner, const struct load_plan *plan, const char *folder,
                              struct selftest_load *load, struct as_error *err)
{
    char path[PATH_MAX], truth[PATH_MAX];
    const struct json_value *root;
    struct strbuf text AS_AUTO_STRBUF;
    strbuf_init(&text, SUMMARY_BYTES_MAX);
    (void)snprintf(path, sizeof(path), "%s/summary.json", folder);
    as_status status = file_read(path, &text, err);
    if (status == AS_OK)
        status = json_parse(text.data, text.len, NULL, &runner->arena, &root, err);
    if (status != AS_OK)
        return status;
    read_summary(root, plan, load);
    if (!plan->has_timing)
        return AS_OK;
    (void)snprintf(path, sizeof(path), "%s/requests.jsonl", folder);
    (void)snprintf(truth, sizeof(truth), "%s.truth.jsonl", folder);
    const struct timing_input input = {path, truth, whole(root, "window.epoch_monotonic_ns"),
                                       ITL_MS * INT64_C(1000000)};
    status = timing_compare(&input, &load->timing, err);
    load->has_timing = status == AS_OK;
    return status;
}

static as_status run_client(struct runner *runner, const struct load_plan *plan, const char *url, const char *folder,
                            struct as_error *err)
{
    char prompts[PATH_MAX], log[PATH_MAX], connections[24], *argv[WORDS_MAX];
    struct child client;
    (void)snprintf(prompts, sizeof(prompts), "%s/prompts.jsonl", runner->folder);
    (void)snprintf(log, sizeof(log), "%s.client.log", folder);
    (void)snprintf(connections, sizeof(connections), "%lld", (long long)plan->connections);
    char *const fixed[] = {"llm",
                           "--url",
                           (char *)(uintptr_t)url,
                           "--model",
                           "sim-model",
                           "--prompts",
                           prompts,
                           "--result-dir",
                           (char *)(uintptr_t)folder,
                           "--concurrency",
                           connections,
                           "--threads",
                           "1",
                           "--skip-ntp-check",
                           "--quiet",
                           "--console",
                           "none",
                           NULL};
    as_status status = make_argv(runner, fixed, plan->llm_words, argv, err);
    const struct child_plan start = {.argv = argv, .cpu = runner->report->client_cpu, .log_path = log};
    if (status == AS_OK)
        status = child_start(&start, &client, err);
    return status == AS_OK ? child_wait(&client, log, err) : status;
}

static as_status run_load(struct runner *runner, const struct load_plan *plan, struct as_error *err)
{
    char folder[PATH_MAX - 64], truth[PATH_MAX], log[PATH_MAX], what[128], *argv[WORDS_MAX];
    struct selftest_load *load = &runner->report->loads[runner->report->load_count];
    struct child sim = {0};
    (void)snprintf(folder, sizeof(folder), "%s/%s-%lld", runner->folder, plan->name, (long long)plan->connections);
    (void)snprintf(truth, sizeof(truth), "%s.truth.jsonl", folder);
    (void)snprintf(log, sizeof(log), "%s.sim.log", folder);
    (void)snprintf(what, sizeof(what), "%s, %lld connections", plan->name, (long long)plan->connections);
    if (runner->progress)
        runner->progress(what);
    char *const with_truth[] = {"sim", "--port", "0", "--truth-log", truth, NULL}, *const plain[] = {"sim", "--port",
                                                                                                     "0", NULL};
    as_status status = make_argv(runner, plan->has_timing ? with_truth : plain, plan->sim_words, argv, err);
    const struct child_plan start = {
        .argv = argv, .cpu = runner->report->sim_cpu, .log_path = log, .reads_first_line = true};
    if (status == AS_OK)
        status = child_start(&start, &sim, err);
    if (status == AS_OK)
        status = run_client(runner, plan, sim.first, folder, err);
    child_stop(&sim); /* its truth log is whole after this */
    *load = (struct selftest_load){0};
    if (status == AS_OK)
        status = read_results(runner, plan, folder, load, err);
    runner->report->load_count += status == AS_OK;
    return status;
}

static as_status run_costs(struct runner *runner, struct as_error *err)
{
    char words[64], stream_words[96];
    (void)snprintf(words, sizeof(words), "--duration %lld", (long long)runner->settings->seconds);
    (void)snprintf(stream_words, sizeof(stream_words), "--streaming %s", words);
    const struct load_plan plain = {
        .name = "requests", .connections = 256, .sim_words = "--ttft 0ms --itl 0ms --tokens 16", .llm_words = words};
    const struct load_plan bulk = {.name = "bulk",
                                   .connections = 16,
                                   .sim_words = "--ttft 0ms --itl 0ms --tokens 1000 --ignore-max-tokens",
                                   .llm_words = stream_words,
                                   .is_stream = true};
    as_status status = run_load(runner, &plain, err);
    return status == AS_OK ? run_load(runner, &bulk, err) : status;
}

/* Each stream is used twice: the first time, with the opening of its connection, is warm-up. */
static as_status run_paced(struct runner *runner, int64_t streams, struct as_error *err)
{
    char sim_words[160], llm_words[160];
    int64_t tokens = runner->settings->seconds * 1000 / ITL_MS;
    (void)snprintf(sim_words, sizeof(sim_words),
                   "--ttft uniform:50ms,%dms --itl %dms --tokens %lld --ignore-max-tokens", 50 + 4 * ITL_MS, ITL_MS,
                   (long long)tokens);
    (void)snprintf(llm_words, sizeof(llm_words), "--streaming --save-gaps --num-requests %lld --warmup-requests %lld",
                   (long long)streams, (long long)streams);
    const struct load_plan paced = {.name = "paced",
                                    .connections = streams,
                                    .sim_words = sim_words,
                                    .llm_words = llm_words,
                                    .is_stream = true,
                                    .has_timing = true};
    return run_load(runner, &paced, err);
}

static bool is_late(double p99_us)
{
    return p99_us > LATE_SHARE * ITL_MS * 1e3;
}

/* Doubles the streams until the client or the simulator falls behind. */
static as_status find_limit(struct runner *runner, struct as_error *err)
{
    struct selftest_report *report = runner->report;
    report->held_chunks_per_s = report->over_chunks_per_s = NAN;
    for (int64_t streams = FIRST_STREAMS;
         streams <= runner->settings->max_streams && report->load_count < SELFTEST_LOADS_MAX; streams *= 2) {
        as_status status = run_paced(runner, streams, err);
        if (status != AS_OK)
            return status;
        const struct selftest_load *load = &report->loads[report->load_count - 1];
        double offered = (double)streams * 1000 / ITL_MS;
        if (load->failed > 0 || is_late(load->read_lag_p99_us)) {
            report->limit = is_late(load->timing.sim_late_p99_us) && load->cpu_ratio < 0.9 ? SELFTEST_LIMIT_SIMULATOR
                                                                                           : SELFTEST_LIMIT_CLIENT;
            report->over_chunks_per_s = offered;
            return AS_OK;
        }
        report->held_chunks_per_s = offered;
        if (is_late(load->timing.sim_late_p99_us)) {
            report->limit = SELFTEST_LIMIT_SIMULATOR;
            return AS_OK;
        }
    }
    return AS_OK;
}

static int remove_entry(const char *path, const struct stat *info, int kind, struct FTW *place)
{
    (void)info;
    (void)kind;
    (void)place;
    return remove(path);
}

static as_status make_folder(struct runner *runner, struct as_error *err)
{
    static const char prompt[] = "{\"prompt\": \"Describe a harbour at dawn in three sentences.\"}\n";
    const char *base = getenv("TMPDIR");
    char path[PATH_MAX];
    if (runner->settings->keep) {
        (void)snprintf(runner->folder, sizeof(runner->folder), "%s", runner->settings->keep);
        as_status status = file_make_dirs(runner->folder, err);
        if (status != AS_OK)
            return status;
    } else {
        (void)snprintf(runner->folder, sizeof(runner->folder), "%s/assay-selftest-XXXXXX",
                       base && *base ? base : "/tmp");
        if (!mkdtemp(runner->folder))
            return error_set_errno(err, errno, "cannot make the folder %s", runner->folder);
    }
    (void)snprintf(path, sizeof(path), "%s/prompts.jsonl", runner->folder);
    return file_write_atomic(path, prompt, sizeof(prompt) - 1, err);
}

as_status selftest_run(const struct selftest_settings *settings, const char *program,
                       void (*progress)(const char *what), struct selftest_report *ret, struct as_error *err)
{
    struct selftest_report report = {0};
    struct runner runner = {.settings = settings, .program = program, .progress = progress, .report = &report};
    arena_init(&runner.arena, 0, 0);
    choose_cpus(&report);
    as_status status = make_folder(&runner, err);
    if (status == AS_OK)
        status = run_costs(&runner, err);
    if (status == AS_OK)
        status = find_limit(&runner, err);
    if (!settings->keep && runner.folder[0])
        (void)nftw(runner.folder, remove_entry, 16, FTW_DEPTH | FTW_PHYS);
    arena_done(&runner.arena);
    if (status == AS_OK)
        *ret = report;
    return status;
}
