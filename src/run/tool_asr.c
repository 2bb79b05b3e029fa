/* SPDX-License-Identifier: Apache-2.0 */
#include "run/run.h"

#include "base/log.h"
#include "fetch/fetch.h"
#include "modality/asr.h"
#include "modality/asr_score.h"

#include <stdio.h>
#include <string.h>
#include <unistd.h>

#define SHOW_EVERY_NS (INT64_C(200) * NS_PER_MS)
#define BAR_CELLS     24

/* run->loaded: what is sent, what it is compared with, and what compares. */
struct audio_source {
    struct audio_set set;
    struct audio_truth truth;
    bool has_truth;
    int64_t matched; /* samples with a reference */
    struct asr_scorer *scorer;
};

/* ---- options ---- */

static as_status resolve(struct resolving *what, struct as_error *err)
{
    const struct audio_config *audio = &what->config->audio;
    if (!audio->manifest)
        return error_set(err, AS_E_USAGE,
                         "no audio: give --input FILE (JSONL, `id`, `path` or `url`, `format` a line)");
    if (audio->ground_truth && strcmp(audio->manifest, "-") == 0 && strcmp(audio->ground_truth, "-") == 0)
        return resolve_both(what, "input", "ground-truth", "only one of them can be standard input", err);
    what->shape->modes |= asr_format_is_json((enum asr_format)audio->format) ? RUN_JSON_ANSWERS : RUN_TEXT_ANSWERS;
    return AS_OK;
}

static struct asr_config asr_config_of(const struct run *run)
{
    static const char *const granularities[] = {"word", "segment", NULL};
    const struct audio_config *audio = &run->config.audio;
    return (struct asr_config){
        .model = run->config.request.model,
        .format = (enum asr_format)audio->format,
        .language = audio->language,
        .granularity = granularities[audio->granularity],
        .prompt = audio->prompt,
        .temperature = audio->temperature,
        .streaming = audio->streaming,
        .extra_body = audio->extra_body,
        .keeps_transcripts = run->config.result.save_content || audio->ground_truth,
        .keeps_times = run->config.result.save_content,
        .seed = (uint64_t)run->config.load.seed,
        .secrets = run->targets.secrets,
    };
}

/* ---- preparing ---- */

/* A bar on a terminal, drawn anew at most every 200 ms. */
struct bar {
    struct mono shown;
    bool is_drawn;
};

static void show(void *context, const char *what, size_t done, size_t total)
{
    struct bar *bar = context;
    char cells[BAR_CELLS + 1], line[160];
    struct mono now = mono_now();
    if (bar->is_drawn && done < total && mono_diff_ns(now, bar->shown) < SHOW_EVERY_NS)
        return;
    size_t full = total ? done * BAR_CELLS / total : BAR_CELLS;
    memset(cells, '#', full);
    memset(cells + full, '.', BAR_CELLS - full);
    cells[BAR_CELLS] = '\0';
    int len = snprintf(line, sizeof line, "\raudio files %-10s [%s] %zu of %zu\033[K", what, cells, done, total);
    ssize_t written = len > 0 ? write(STDERR_FILENO, line, (size_t)len) : 0;
    (void)written;
    bar->shown = now;
    bar->is_drawn = true;
}

static void clear(const struct bar *bar)
{
    ssize_t written = bar->is_drawn ? write(STDERR_FILENO, "\r\033[K", 4) : 0;
    (void)written;
}

static as_status prepare(const struct run *run, struct audio_set *set, struct as_error *err)
{
    const struct endpoint_config *endpoint = &run->config.endpoint;
    const struct audio_config *audio = &run->config.audio;
    struct bar bar = {0};
    bool is_shown = !run->config.result.quiet && isatty(STDERR_FILENO) == 1;
    struct audio_progress progress = {&bar, is_shown ? show : NULL};
    struct audio_fetch_options fetch = {
        .cache_folder = audio->cache,
        .ca_cert = endpoint->ca_cert,
        .proxy = endpoint->proxy,
        .insecure = endpoint->insecure,
        .progress = progress,
    };
    as_status status = audio_set_fetch(set, &fetch, err);
    if (status == AS_OK && audio->probe_duration) {
        status = audio_set_measure(set, &progress, err);
        if (status == AS_E_NOTFOUND && audio_set_count(set).without_duration == 0) {
            log_warning("stated durations are not checked: %s", err->message);
            status = AS_OK;
        } else if (status == AS_E_NOTFOUND) {
            error_prefix(err, "the files cannot be measured (--no-probe-duration does without)");
        }
    }
    if (status == AS_OK)
        status = audio_set_read(set, (size_t)audio->memory_bytes, &progress, err);
    clear(&bar);
    return status;
}

static as_status load_truth(const struct run *run, struct audio_source *source, struct as_error *err)
{
    const char *path = run->config.audio.ground_truth;
    if (!path)
        return AS_OK;
    as_status status = audio_truth_load(path, run->config.audio.skip_bad_lines, &source->truth, err);
    if (status != AS_OK)
        return error_prefix(err, "--ground-truth");
    source->has_truth = true;
    for (size_t i = 0; i < source->set.count; i++)
        source->matched += audio_truth_find(&source->truth, source->set.items[i].id) != NULL;
    if (source->matched == 0)
        return error_set(err, AS_E_INVALID,
                         "--ground-truth: none of its %zu ids is an id of the manifest, for example \"%s\"",
                         source->truth.count, source->truth.items[0].id);
    return AS_OK;
}

static void warn_of_lines(const struct audio_lines *lines, const char *what)
{
    if (lines->bad_lines)
        log_warning("%lld bad lines of the %s were skipped; the first: %s", (long long)lines->bad_lines, what,
                    lines->first_bad.message);
    for (size_t i = 0; i < lines->unknown.count; i++)
        log_warning("the %s has a member \"%s\" (first in line %lld) that has no meaning here", what,
                    lines->unknown.names[i], (long long)lines->unknown.lines[i]);
    if (lines->unknown.has_more)
        log_warning("the %s has further members without a meaning here", what);
}

static void warn_of_audio(const struct run *run, const struct audio_source *source)
{
    const struct audio_set *set = &source->set;
    struct audio_set_counts counts = audio_set_count(set);
    warn_of_lines(&set->lines, "manifest");
    if (source->has_truth)
        warn_of_lines(&source->truth.lines, "ground truth");
    if (counts.downloaded && !run->config.result.quiet)
        log_info("%lld audio files were downloaded, %lld were in the cache", (long long)counts.downloaded,
                 (long long)counts.from_cache);
    if (counts.failed)
        log_warning("%lld of %zu samples cannot be sent, their requests will be refused; the first, line %lld: %s",
                    (long long)counts.failed, set->count, (long long)counts.first_failed->line,
                    counts.first_failed->failure);
    if (counts.mislabelled)
        log_warning("%lld samples are not what their format says; the first, line %lld: \"%s\" by the manifest, %s by "
                    "its bytes",
                    (long long)counts.mislabelled, (long long)counts.first_mislabelled->line,
                    audio_format_name(counts.first_mislabelled->format),
                    audio_format_name(counts.first_mislabelled->contents));
    if (counts.misstated)
        log_warning("%lld samples are not as long as stated; the first, line %lld: %.3f s by the manifest, %.3f s by "
                    "the file; the stated "
                    "duration is used",
                    (long long)counts.misstated, (long long)counts.first_misstated->line,
                    (double)counts.first_misstated->duration_ns / 1e9,
                    (double)counts.first_misstated->measured_ns / 1e9);
    if (counts.without_duration)
        log_warning("%lld samples have no duration: their RTF is left out", (long long)counts.without_duration);
    if (source->has_truth && source->matched < (int64_t)set->count)
        log_warning("%lld of %zu samples have no reference in the ground truth",
                    (long long)((int64_t)set->count - source->matched), set->count);
    if (counts.read_when_sent && !run->config.result.quiet)
        log_info("%lld samples do not fit into --audio-memory and are read before each of their requests",
                 (long long)counts.read_when_sent);
}

static as_status load_source(struct run *run, struct audio_source *source, struct as_error *err)
{
    const struct endpoint_config *endpoint = &run->config.endpoint;
    struct audio_manifest_options options = {
        .skip_bad_lines = run->config.audio.skip_bad_lines,
        .ca_cert = endpoint->ca_cert,
        .proxy = endpoint->proxy,
        .insecure = endpoint->insecure,
    };
    as_status status = audio_set_load(run->config.audio.manifest, &options, &source->set, err);
    if (status != AS_OK)
        return error_prefix(err, "--input");
    run->loaded = source;
    status = load_truth(run, source, err);
    if (status != AS_OK || run->config.result.dry_run)
        return status;
    status = prepare(run, &source->set, err);
    if (status == AS_OK)
        warn_of_audio(run, source);
    return status;
}

static as_status load(struct run *run, struct as_error *err)
{
    struct audio_source *source = arena_calloc(&run->arena, 1, sizeof *source);
    if (!source)
        return error_set(err, AS_E_NOMEM, "out of memory");
    return load_source(run, source, err);
}

static void unload(struct run *run)
{
    struct audio_source *source = run->loaded;
    asr_scorer_free(source->scorer);
    audio_set_done(&source->set);
    if (source->has_truth)
        audio_truth_done(&source->truth);
}

/* ---- what is told of it ---- */

static void put_lines(struct json_writer *writer, const struct audio_lines *lines)
{
    json_member_int(writer, "lines", lines->lines);
    json_member_int(writer, "bad_lines", lines->bad_lines);
    json_member_string(writer, "first_bad_line", lines->bad_lines ? lines->first_bad.message : NULL);
    json_key(writer, "unknown_members");
    json_open_array(writer);
    for (size_t i = 0; i < lines->unknown.count; i++)
        json_put_string(writer, lines->unknown.names[i]);
    json_close_array(writer);
}

static void put_source(const struct audio_source *source, struct json_writer *writer)
{
    const struct audio_set *set = &source->set;
    struct audio_set_counts counts = audio_set_count(set);
    json_open_object(writer);
    json_member_int(writer, "count", (int64_t)set->count);
    json_member_string(writer, "sha256", set->manifest_digest);
    json_member_string(writer, "audio_sha256", set->audio_digest[0] ? set->audio_digest : NULL);
    put_lines(writer, &set->lines);
    json_member_int(writer, "failed", counts.failed);
    json_member_int(writer, "mislabelled", counts.mislabelled);
    json_member_int(writer, "misstated_duration", counts.misstated);
    json_member_int(writer, "without_duration", counts.without_duration);
    json_member_int(writer, "downloaded", counts.downloaded);
    json_member_int(writer, "from_cache", counts.from_cache);
    json_member_int(writer, "read_when_sent", counts.read_when_sent);
    json_member_int(writer, "held_bytes", (int64_t)set->held_bytes);
    json_close_object(writer);
}

static void put_truth(const struct audio_source *source, struct json_writer *writer)
{
    json_open_object(writer);
    json_member_int(writer, "count", (int64_t)source->truth.count);
    json_member_string(writer, "sha256", source->truth.digest);
    put_lines(writer, &source->truth.lines);
    json_member_int(writer, "samples_with_reference", source->matched);
    json_close_object(writer);
}

/* What stands before the first sample's bytes; null when there is no model yet. */
static void put_template(struct run *run, struct json_writer *writer)
{
    const struct audio_source *source = run->loaded;
    struct asr_config config = asr_config_of(run);
    struct strbuf head AS_AUTO_STRBUF;
    struct asr *asr = NULL;
    strbuf_init(&head, 0);
    json_key(writer, "body_template");
    if (source && config.model && asr_new(&config, &source->set, &asr, NULL) == AS_OK &&
        asr_head(asr, 0, &head) == AS_OK)
        json_put_stringn(writer, strbuf_text(&head), head.len);
    else
        json_put_null(writer);
    asr_free(asr);
}

static as_status tell(struct run *run, struct json_writer *writer, struct run_rules *rules)
{
    const struct audio_source *source = run->loaded;
    rules->is_streaming = run->config.audio.streaming;
    rules->prompt_count = source ? (int64_t)source->set.count : -1;
    json_key(writer, "audio_source");
    if (source)
        put_source(source, writer);
    else
        json_put_null(writer);
    json_key(writer, "ground_truth_source");
    if (source && source->has_truth)
        put_truth(source, writer);
    else
        json_put_null(writer);
    put_template(run, writer);
    return AS_OK;
}

/* ---- the run ---- */

static void complete(void *context, struct request_record *record)
{
    asr_score_record(context, record);
}

static as_status open_work(struct run *run, struct run_work *work, struct as_error *err)
{
    struct audio_source *source = run->loaded;
    struct asr_config config = asr_config_of(run);
    struct asr_score_options options = {
        .set = &source->set,
        .truth = source->has_truth ? &source->truth : NULL,
        .normalizer = (enum normalizer)run->config.audio.normalizer,
        .format = config.format,
        .keeps_content = run->config.result.save_content,
        .content_max_bytes = (size_t)run->config.result.save_limit_bytes,
    };
    struct asr *asr = NULL;
    as_status status = asr_scorer_new(&options, &source->scorer);
    if (status != AS_OK)
        return error_set(err, status, "out of memory");
    status = asr_new(&config, &source->set, &asr, err);
    if (status != AS_OK)
        return status;
    recording_set_completer(run->recording, complete, source->scorer);
    work->modality = asr_modality();
    work->context = asr;
    return AS_OK;
}

static void close_work(struct run *run, struct run_work *work)
{
    (void)run;
    asr_free(work->context);
}

const struct run_tool TOOL_ASR = {
    .name = "asr",
    .line = &ASR_LINE,
    .resolve = resolve,
    .load = load,
    .unload = unload,
    .tell = tell,
    .open = open_work,
    .close = close_work,
};
