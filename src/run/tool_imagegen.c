/* SPDX-License-Identifier: Apache-2.0 */
#include "run/run.h"

#include "base/file.h"
#include "base/log.h"
#include "measure/writer.h"
#include "modality/imagegen_post.h"
#include "report/files.h"
#include "run/data_log.h"
#include "run/health.h"

#include <limits.h>
#include <malloc.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define ARTIFACT_FOLDER "artifacts"
#define WORKERS_MAX     8

/* ---- options ---- */

static as_status resolve_workers(struct resolving *what, struct as_error *err)
{
    char text[24];
    int64_t *threads = &what->config->imagegen.threads;
    if (*threads == OPT_ABSENT) {
        long processors = sysconf(_SC_NPROCESSORS_ONLN);
        long workers = processors / 2 > WORKERS_MAX ? WORKERS_MAX : processors / 2;
        snprintf(text, sizeof text, "%ld", workers > 1 ? workers : 1);
        as_status status = options_put(what->parsed, "artifact-threads", text, err);
        if (status != AS_OK)
            return status;
    }
    what->shape->keepers = (uint32_t)*threads;
    return AS_OK;
}

/* Objectives of what an answer in one piece has not. */
static as_status check_objectives(const struct resolving *what, struct as_error *err)
{
    const struct opt_list *list = &what->config->result.goodput;
    for (size_t i = 0; i < list->count; i++)
        if (strncmp(list->items[i], "e2e", 3) != 0)
            return error_set(err, AS_E_USAGE, "--goodput %.40s: images have one objective, e2e:MS", list->items[i]);
    return AS_OK;
}

static as_status resolve(struct resolving *what, struct as_error *err)
{
    if (!what->config->prompt.source && !what->config->imagegen.prompt)
        return error_set(err, AS_E_USAGE, "no prompts: give --prompt TEXT or --prompts FILE (JSONL, `prompt` a line)");
    const struct imagegen_config *config = &what->config->imagegen;
    what->shape->modes |= config->save_images || config->save_responses ? RUN_KEPT_FILES : RUN_NO_FILES;
    as_status status = check_objectives(what, err);
    return status == AS_OK ? resolve_workers(what, err) : status;
}

/* ---- prompts ---- */

static void warn_of_prompts(const struct run *run)
{
    const struct imagegen_prompts *loaded = run->loaded;
    const struct prompts *prompts = &loaded->prompts;
    if (prompts->bad_lines)
        log_warning("%lld bad lines of the prompts were skipped; the first: %s", (long long)prompts->bad_lines,
                    prompts->first_bad.message);
    if (prompts->unknown_member[0])
        log_warning("the prompts have members without a meaning here, for example \"%s\"", prompts->unknown_member);
    if (run->config.imagegen.steps == OPT_ABSENT && !run->config.result.quiet)
        log_info("--num-inference-steps is not sent: the server's own number decides how long an image takes");
}

static as_status load(struct run *run, struct as_error *err)
{
    const struct endpoint_config *endpoint = &run->config.endpoint;
    struct prompts_options options = {
        .skip_bad_lines = run->config.prompt.skip_bad_lines,
        .ca_cert = endpoint->ca_cert,
        .proxy = endpoint->proxy,
        .insecure = endpoint->insecure,
    };
    struct imagegen_prompts *prompts = arena_calloc(&run->arena, 1, sizeof *prompts);
    if (!prompts)
        return error_set(err, AS_E_NOMEM, "out of memory");
    const char *one = run->config.imagegen.prompt;
    as_status status = one ? imagegen_prompts_one(one, prompts, err)
                           : imagegen_prompts_load(run->config.prompt.source, &options, prompts, err);
    if (status != AS_OK)
        return status;
    run->loaded = prompts;
    if (prompts_shuffle(&prompts->prompts, (uint64_t)run->config.load.seed) != AS_OK)
        return error_set(err, AS_E_NOMEM, "out of memory");
    if (run->config.result.dry_run)
        return AS_OK;
    warn_of_prompts(run);
    return run->config.imagegen.health_check
               ? health_check(&run->targets, endpoint, run->config.imagegen.health_path, err)
               : AS_OK;
}

static void unload(struct run *run)
{
    imagegen_prompts_done(run->loaded);
}

static struct imagegen_settings settings_of(const struct run *run)
{
    const struct imagegen_config *config = &run->config.imagegen;
    return (struct imagegen_settings){
        .model = run->config.request.model,
        .size = config->size,
        .negative_prompt = config->negative_prompt,
        .format = config->format == 1 ? IMAGEGEN_URL : IMAGEGEN_B64,
        .count = (uint32_t)config->count,
        .steps = config->steps == OPT_ABSENT ? 0 : config->steps,
        .guidance_scale = config->guidance_scale,
        .has_seed = config->seed != OPT_ABSENT,
        .seed = config->seed == OPT_ABSENT ? 0 : config->seed,
        .seed_mode = (enum imagegen_seed_mode)config->seed_mode,
        .extra_body = config->extra_body,
        .keep_errors = config->save_responses,
        .max_answer_bytes = (size_t)config->max_answer_bytes,
    };
}

/* ---- what is told of it ---- */

static void put_template(const struct run *run, struct json_writer *writer)
{
    struct strbuf body AS_AUTO_STRBUF;
    struct imagegen_settings settings = settings_of(run);
    struct imagegen_prompts prompts;
    struct imagegen *imagegen = NULL;
    strbuf_init(&body, 0);
    json_key(writer, "body_template");
    bool is_made = settings.model && imagegen_prompts_one("{prompt}", &prompts, NULL) == AS_OK;
    if (is_made) {
        is_made =
            imagegen_new(&settings, &prompts, &imagegen, NULL) == AS_OK && imagegen_body(imagegen, 0, &body) == AS_OK;
        imagegen_free(imagegen);
        imagegen_prompts_done(&prompts);
    }
    if (is_made)
        json_put_raw(writer, strbuf_text(&body), body.len);
    else
        json_put_null(writer);
}

static as_status tell(struct run *run, struct json_writer *writer, struct run_rules *rules)
{
    const struct imagegen_prompts *loaded = run->loaded;
    rules->prompt_count = loaded ? (int64_t)loaded->prompts.count : -1;
    json_key(writer, "prompt_source");
    if (loaded) {
        json_open_object(writer);
        json_member_int(writer, "count", (int64_t)loaded->prompts.count);
        json_member_string(writer, "sha256", loaded->prompts.digest);
        json_member_int(writer, "lines", loaded->prompts.lines);
        json_member_int(writer, "bad_lines", loaded->prompts.bad_lines);
        json_member_string(writer, "first_bad_line",
                           loaded->prompts.bad_lines ? loaded->prompts.first_bad.message : NULL);
        json_close_object(writer);
    } else {
        json_put_null(writer);
    }
    put_template(run, writer);
    return AS_OK;
}

/* ---- the run ---- */

struct imagegen_work {
    struct imagegen *imagegen;
    struct imagegen_post *post;
};

/* A log in another folder than the records. */
static bool is_log_elsewhere(const struct run *run)
{
    char folder[PATH_MAX], log[PATH_MAX], results[PATH_MAX];
    const char *path = run->config.imagegen.data_log;
    if (!path)
        return false;
    bool is_known =
        path_dir(folder, sizeof folder, path) && realpath(folder, log) && realpath(run->folder.path, results);
    return !is_known || strcmp(log, results) != 0;
}

/*
 * Where files go and how records name them: relative to the result folder where they lie in it, unless the same records
 * go to a log elsewhere.
 */
static as_status choose_folder(struct run *run, struct imagegen_post_options *options)
{
    const struct imagegen_config *config = &run->config.imagegen;
    if (!config->save_images && !config->save_responses)
        return AS_OK;
    if (config->folder) {
        char here[PATH_MAX];
        bool is_absolute = config->folder[0] == '/';
        options->folder = config->folder;
        if (!is_absolute && !getcwd(here, sizeof here))
            return AS_E_IO;
        options->shown =
            arena_printf(&run->arena, "%s%s%s/", is_absolute ? "" : here, is_absolute ? "" : "/", config->folder);
    } else {
        options->folder = arena_printf(&run->arena, "%s/" ARTIFACT_FOLDER, run->folder.path);
        options->shown = ARTIFACT_FOLDER "/";
        if (is_log_elsewhere(run)) {
            char results[PATH_MAX];
            if (!realpath(run->folder.path, results))
                return AS_E_IO;
            options->shown = arena_printf(&run->arena, "%s/" ARTIFACT_FOLDER "/", results);
        }
    }
    return options->folder && options->shown ? AS_OK : AS_E_NOMEM;
}

static as_status open_post(struct run *run, struct imagegen_work *ours, const struct run_work *work,
                           struct as_error *err)
{
    const struct imagegen_config *config = &run->config.imagegen;
    struct imagegen_post_options options = {
        .imagegen = ours->imagegen,
        .next = work->sink,
        .first_ring = run->shape.threads,
        .workers = run->shape.keepers,
        .memory_bytes = (size_t)config->memory_bytes,
        .save_images = config->save_images,
        .save_responses = config->save_responses,
        .overwrite = config->overwrite,
        .max_pixels = (uint64_t)config->max_pixels,
        .secrets = run->targets.secrets,
    };
    as_status status = choose_folder(run, &options);
    if (status != AS_OK)
        return error_set(err, status, "the artifact folder: %s", status_sentence(status));
    return imagegen_post_open(&options, &ours->post, err);
}

/*
 * Answers are copied into memory of their own, megabytes each. Fresh pages for every one of them cost several times the
 * copy (20 ms instead of 1 ms for 5 MB on a virtual machine), between two requests: freed memory is kept for the next.
 */
static void keep_freed_memory(void)
{
    (void)mallopt(M_MMAP_THRESHOLD, 32 * 1024 * 1024);
    (void)mallopt(M_TRIM_THRESHOLD, 1024 * 1024 * 1024);
}

static as_status open_work(struct run *run, struct run_work *work, struct as_error *err)
{
    struct imagegen_settings settings = settings_of(run);
    struct imagegen_work *ours = arena_calloc(&run->arena, 1, sizeof *ours);
    if (!ours)
        return error_set(err, AS_E_NOMEM, "out of memory");
    keep_freed_memory();
    as_status status = imagegen_new(&settings, run->loaded, &ours->imagegen, err);
    if (status != AS_OK)
        return status;
    status = open_post(run, ours, work, err);
    if (status != AS_OK) {
        imagegen_free(ours->imagegen);
        return status;
    }
    work->modality = imagegen_modality(ours->imagegen);
    work->context = ours->imagegen;
    work->own = ours;
    work->sink = imagegen_post_sink(ours->post);
    return AS_OK;
}

static void close_work(struct run *run, struct run_work *work)
{
    struct imagegen_work *ours = work->own;
    recording_add_waits(run->recording, imagegen_post_close(ours->post));
    imagegen_free(ours->imagegen);
}

/* ---- its own files ---- */

static as_status append_records(const struct run *run, const char *path, struct as_error *err)
{
    char records[PATH_MAX];
    folder_file(&run->folder, RECORD_FILE, records);
    return file_exists(records) ? data_log_append(path, records, err) : AS_OK;
}

static as_status finish(struct run *run, struct as_error *err)
{
    const struct imagegen_config *config = &run->config.imagegen;
    as_status status = config->data_log ? append_records(run, config->data_log, err) : AS_OK;
    struct as_error ours;
    if (!config->summary)
        return status;
    as_status written = report_write_summary(config->summary, &run->summary, &ours);
    if (status == AS_OK && written != AS_OK)
        *err = ours;
    return status == AS_OK ? written : status;
}

const struct run_tool TOOL_IMAGEGEN = {
    .name = "imagegen",
    .line = &IMAGEGEN_LINE,
    .resolve = resolve,
    .load = load,
    .unload = unload,
    .tell = tell,
    .open = open_work,
    .close = close_work,
    .finish = finish,
};
