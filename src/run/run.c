/* SPDX-License-Identifier: Apache-2.0 */
#include "run/run.h"

#include "base/log.h"
#include "run/last_words.h"
#include "run/live.h"
#include "run/machine.h"
#include "run/ntp.h"
#include "run/slo.h"
#include "run/signals.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#define CLOCK_LIMIT_NS NS_PER_S

void run_init(struct run *run, const struct run_tool *tool, const struct run_program *program)
{
    memset(run, 0, sizeof *run);
    run->tool = tool;
    run->program = *program;
    arena_init(&run->arena, 0, 0);
    targets_init(&run->targets);
    run_facts_init(&run->facts);
}

void run_done(struct run *run)
{
    if (run->has_summary)
        summary_done(&run->summary);
    recording_free(run->recording);
    if (run->loaded && run->tool->unload)
        run->tool->unload(run);
    if (run->has_plan)
        plan_done(&run->plan);
    targets_done(&run->targets);
    arena_done(&run->arena);
}

/* A file that is not there is told before anything is asked or made. */
static as_status check_input_file(const char *option, const char *source, struct as_error *err)
{
    struct stat facts;
    if (!source || strcmp(source, "-") == 0 || fetch_is_url(source))
        return AS_OK;
    if (access(source, R_OK) != 0)
        return error_set_errno(err, errno, "--%s: %.300s", option, source);
    if (stat(source, &facts) == 0 && S_ISDIR(facts.st_mode))
        return error_set_errno(err, EISDIR, "--%s: %.300s", option, source);
    return AS_OK;
}

/* In the result folder, which the run makes. */
static bool is_below(const char *path, const char *folder)
{
    size_t len = folder ? strlen(folder) : 0;
    return len > 0 && strncmp(path, folder, len) == 0 && path[len] == '/';
}

/* A file that is written after the run must have a place before it. */
static as_status check_output_file(const struct run_config *config, const char *option, const char *path, struct as_error *err)
{
    char folder[PATH_MAX];
    struct stat facts;
    if (!path || is_below(path, config->result.folder))
        return AS_OK;
    if (strcmp(path, "-") == 0)
        return error_set(err, AS_E_USAGE, "--%s: \"-\" is no file; --console json prints the summary", option);
    const char *slash = strrchr(path, '/');
    int len = slash ? (int)(slash - path) : 0;
    if (snprintf(folder, sizeof folder, "%.*s", len ? len : 1, len ? path : slash ? "/" : ".") >= (int)sizeof folder)
        return error_set(err, AS_E_USAGE, "--%s: the path is too long", option);
    if (stat(path, &facts) != 0)
        return access(folder, W_OK | X_OK) == 0 ? AS_OK : error_set_errno(err, errno, "--%s: %.300s", option, folder);
    if (S_ISDIR(facts.st_mode))
        return error_set_errno(err, EISDIR, "--%s: %.300s", option, path);
    return access(path, W_OK) == 0 ? AS_OK : error_set_errno(err, errno, "--%s: %.300s", option, path);
}

static as_status check_output_files(const struct run_config *config, struct as_error *err)
{
    as_status status = check_output_file(config, "data-log", config->result.data_log, err);
    if (status == AS_OK)
        status = check_output_file(config, "data-log", config->imagegen.data_log, err);
    return status == AS_OK ? check_output_file(config, "summary", config->imagegen.summary, err) : status;
}

as_status run_configure(struct run *run, struct as_error *err)
{
    struct run_slo slo;
    struct resolving what = {&run->config, &run->parsed, &run->targets.list, &run->shape};
    as_status status = targets_list(&run->targets, &run->config.endpoint, err);
    if (status == AS_OK)
        status = run_resolve(run->tool, &what, err);
    if (status == AS_OK)
        status = slo_read(&run->config.result.goodput, &slo, err);
    if (status == AS_OK)
        status = targets_open(&run->targets, &run->config.endpoint, &run->parsed, err);
    if (status == AS_OK)
        status = check_input_file("prompts", run->config.prompt.source, err);
    if (status == AS_OK)
        status = check_input_file("ca-cert", run->config.endpoint.ca_cert, err);
    if (status == AS_OK)
        status = check_output_files(&run->config, err);
    if (status == AS_OK)
        status = plan_make(&run->config, &run->shape, &run->plan, err);
    run->has_plan = status == AS_OK;
    return status;
}

as_status run_open(struct run *run, int argc, char *const *argv, struct as_error *err)
{
    struct strbuf line AS_AUTO_STRBUF;
    strbuf_init(&line, 0);
    as_status status = identity_make(run->tool->name, wall_now(), &run->identity, err);
    if (status == AS_OK)
        status = folder_open(run->config.result.folder, run->identity.human, &run->folder, err);
    if (status != AS_OK)
        return strncmp(err->message, "--", 2) == 0 ? status : error_prefix(err, "--result-dir");
    options_command_line(run->parsed.command, argc, argv, &line);
    strbuf_addc(&line, '\n');
    status = folder_write(&run->folder, "command.txt", &line, err);
    return status == AS_OK ? run_fill_facts(run, err) : status;
}

/* Unreachable servers are no refusal: a closed network is no reason to doubt every clock in it. */
static as_status check_clock(struct run *run, struct as_error *err)
{
    const struct result_config *config = &run->config.result;
    struct run_ntp *ntp = &run->facts.ntp;
    struct ntp_answer answer;
    struct as_error reason = {0};
    if (config->skip_ntp) {
        ntp->outcome = "skipped";
        return AS_OK;
    }
    as_status status = ntp_ask(config->ntp_servers.items, config->ntp_servers.count, NTP_TIME_LIMIT_NS, &answer, &reason);
    if (status != AS_OK) {
        ntp->outcome = "unreachable";
        ntp->message = arena_strdup(&run->arena, reason.message);
        log_warning("no time server answered, the clock is not checked (%s); --skip-ntp-check leaves the check out", reason.message);
        return AS_OK;
    }
    ntp->outcome = "ok";
    ntp->server = config->ntp_servers.items[answer.server];
    ntp->offset_ns = answer.offset_ns;
    ntp->round_trip_ns = answer.round_trip_ns;
    if (answer.offset_ns > CLOCK_LIMIT_NS || answer.offset_ns < -CLOCK_LIMIT_NS)
        return error_set(err, AS_E_STATE,
                         "this machine's clock is %.3f s off (%s says so), more than 1 s: set the clock, or leave the check out with --skip-ntp-check",
                         -(double)answer.offset_ns / (double)NS_PER_S, ntp->server);
    return AS_OK;
}

static as_status check_machine(struct run *run, struct as_error *err)
{
    struct machine_needs needs = {.threads = run->shape.threads};
    needs.connections = run->shape.is_open_loop ? run->shape.max_concurrency : run->shape.concurrency;
    if (needs.connections == 0 && run->plan.planned_requests > 0 && run->config.load.rate_per_s > 1e308)
        needs.connections = run->plan.planned_requests;
    for (size_t i = 0; i < run->targets.count; i++)
        needs.is_tcp = needs.is_tcp || !run->targets.nets[i].unix_path;
    machine_describe(&run->arena, &run->facts.environment);
    as_status status = machine_prepare(&needs, &run->facts.environment, err);
    return status == AS_OK || status == AS_E_NOMEM ? status : AS_E_STATE;
}

as_status run_check(struct run *run, struct as_error *err)
{
    as_status status = check_machine(run, err);
    if (status != AS_OK)
        return status;
    last_words_prepare(run);
    status = check_clock(run, err);
    if (status == AS_OK && !run->config.result.skip_ntp)
        last_words_prepare(run); /* with the time server's answer */
    return status;
}

as_status run_load(struct run *run, struct as_error *err)
{
    return run->tool->load ? run->tool->load(run, err) : AS_OK;
}

as_status run_ask(struct run *run, struct as_error *err)
{
    struct source_context context = {&run->config, &run->parsed, &run->shape, &run->targets};
    as_status status = targets_resolve(&run->targets, run->config.connection.connect_timeout_ns, err);
    if (status == AS_OK)
        status = source_find_model(&context, err);
    if (status == AS_OK)
        status = run_load(run, err);
    return status == AS_OK ? run_fill_facts(run, err) : status;
}

static struct engine_options engine_options_of(const struct run *run)
{
    static const enum engine_balance balances[] = {BALANCE_WEIGHTED_ROUND_ROBIN, BALANCE_ROUND_ROBIN, BALANCE_LEAST_INFLIGHT, BALANCE_RANDOM};
    const struct connection_config *connection = &run->config.connection;
    int64_t in_flight = run->shape.is_open_loop ? run->shape.max_concurrency : run->shape.concurrency;
    int64_t max_idle = connection->max_idle != OPT_ABSENT ? connection->max_idle : in_flight ? in_flight : 1024;
    return (struct engine_options){
        .threads = run->shape.threads,
        .balance = balances[run->config.endpoint.balance],
        .seed = (uint64_t)run->config.load.seed,
        .retries = (uint32_t)connection->retries,
        .retry_backoff_ns = connection->retry_backoff_ns,
        .eject_after = (uint32_t)run->config.endpoint.eject_after,
        .request_timeout_ns = connection->request_timeout_ns,
        .drain_ns = run->config.load.drain_ns,
        .save_content = run->config.result.save_content,
        .save_gaps = run->config.result.save_gaps,
        .prewarm = connection->prewarm,
        .run_id = run->identity.uuid,
        .secrets = run->targets.secrets,
        .user_agent = arena_printf((struct arena *)(uintptr_t)&run->arena, "assay/%s", run->program.version),
        .net = {
            .connect_timeout_ns = connection->connect_timeout_ns,
            .idle_timeout_ns = connection->idle_timeout_ns,
            .keepalive_s = (int)(connection->keepalive_ns / NS_PER_S),
            .max_idle = (uint32_t)max_idle,
            .no_reuse = !connection->reuse,
            .insecure = run->config.endpoint.insecure,
            .ca_cert = run->config.endpoint.ca_cert,
            .proxy = run->config.endpoint.proxy,
            .no_kernel_stamps = !connection->kernel_stamps,
            .busy_poll_us = (int)(connection->busy_poll_ns / NS_PER_US),
        },
        .may_begin = recording_has_room,
        .may_begin_context = run->recording,
    };
}

static struct live_options live_options_of(const struct run *run)
{
    const struct engine_plan *plan = &run->plan.engine;
    int64_t duration_ns = plan->duration_ns ? plan->duration_ns + plan->ramp_up_ns : plan->stop_after_ns;
    return (struct live_options){
        .is_quiet = run->config.result.quiet,
        .interval_ns = run->config.result.progress_ns,
        .planned = run->plan.planned_requests,
        .warmup = (plan->warmup_count - plan->shard + plan->shard_count - 1) / plan->shard_count,
        .duration_ns = duration_ns,
        .is_streaming = run->facts.rules.is_streaming,
    };
}

/* Runs the engine; signals reach it only meanwhile. */
static as_status run_engine(struct run *run, const struct run_work *work, struct as_error *err)
{
    struct engine_options options = engine_options_of(run);
    struct live_options live = live_options_of(run);
    struct engine_setup setup = {
        .plan = &run->plan.engine,
        .options = &options,
        .endpoints = run->targets.engines,
        .endpoint_count = (uint32_t)run->targets.count,
        .modality = work->modality,
        .modality_context = work->context,
        .sink = work->sink,
    };
    struct engine *engine = NULL;
    struct engine_result result;
    struct as_error unwritten;
    echo_init(&run->echo, &run->arena);
    options.echo = &run->echo;
    as_status status = options.user_agent ? AS_OK : error_set(err, AS_E_NOMEM, "out of memory");
    if (status == AS_OK)
        status = engine_prepare(&setup, &engine, err);
    if (status != AS_OK)
        return status;
    const char *text = arena_printf(&run->arena, "\nassay: stopping: requests in flight may go on for %lld s; a second signal ends at once\n",
                                    (long long)(options.drain_ns / NS_PER_S));
    const char *cut_text = arena_printf(&run->arena, "\nassay: ended at once; what was recorded is in %s: assay summarize %s\n",
                                        run->folder.path, run->folder.path);
    recording_set_engine(run->recording, engine);
    signals_set_engine(engine, text, cut_text);
    status = live_run(engine, &live, &result, err);
    signals_set_finishing();
    signals_set_engine(NULL, NULL, NULL);
    recording_set_engine(run->recording, NULL);
    engine_free(engine);
    if (echo_write(&run->echo, &run->folder, &unwritten) != AS_OK)
        log_warning("the first request is not shown: %s", unwritten.message);
    if (status == AS_OK)
        run_facts_set_result(&run->facts, &result);
    return status;
}

as_status run_measure(struct run *run, struct as_error *err)
{
    struct recording_options options = {
        .folder = &run->folder,
        .facts = &run->facts,
        .threads = run->shape.threads + run->shape.keepers,
        .save_gaps = run->config.result.save_gaps,
        .save_content = run->config.result.save_content,
        .disk_wait_ns = run->config.result.disk_wait_ns,
    };
    as_status status = recording_open(&options, &run->recording, err);
    if (status != AS_OK)
        return status;
    struct run_work work = {.sink = *recording_sink(run->recording)};
    status = run->tool->open(run, &work, err);
    if (status != AS_OK)
        return status;
    status = run_engine(run, &work, err);
    if (run->tool->close)
        run->tool->close(run, &work);
    return status;
}
