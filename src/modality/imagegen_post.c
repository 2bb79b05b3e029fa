/* SPDX-License-Identifier: Apache-2.0 */
#include "modality/imagegen_post.h"

#include "modality/artifact_folder.h"
#include "modality/imagegen_judge.h"

#include <pthread.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>

/* Of a job that is not its answer. */
#define JOB_BYTES sizeof(struct job)

struct job {
    struct job *next;
    struct mono put_at;
    struct imagegen_judging judging;
};

struct worker {
    struct imagegen_post *post;
    uint32_t ring;
    struct imagegen_scratch scratch;
    pthread_t thread;
};

struct imagegen_post {
    struct imagegen_post_options options;
    struct artifact_folder folder;
    struct imagegen_judge judge;
    struct worker *workers;
    uint32_t worker_count;
    pthread_mutex_t mutex; /* guards the rest */
    pthread_cond_t has_job, has_room;
    struct job *first, **last;
    size_t bytes;
    int64_t full_waits;
    bool is_closing;
};

/* ---- the sink ---- */

static void sink_start(void *context, struct mono epoch, const struct clock_offset *epoch_offset)
{
    struct imagegen_post *post = context;
    if (post->options.next.start)
        post->options.next.start(post->options.next.context, epoch, epoch_offset);
}

static size_t job_bytes(const struct job *job)
{
    return JOB_BYTES + job->judging.answer_len;
}

static void wait_for_room(struct imagegen_post *post, size_t bytes)
{
    bool is_counted = false;
    while (post->first && post->bytes + bytes > post->options.memory_bytes) {
        post->full_waits += !is_counted;
        is_counted = true;
        pthread_cond_wait(&post->has_room, &post->mutex);
    }
}

/* Without memory for a job the record goes on as it is, its answer unread: a failure of ours, named so. */
static void put_unread(struct imagegen_post *post, uint32_t thread, const struct request_record *record)
{
    static const char sentence[] = "no memory to look at the answer";
    struct request_record copy;
    memcpy(&copy, record, offsetof(struct request_record, attempts) + record->attempt_count * sizeof *record->attempts);
    free((char *)(uintptr_t)record->content.at);
    copy.content = (struct record_text){NULL, 0};
    if (copy.outcome == OUTCOME_OK) {
        copy.outcome = OUTCOME_FAILED;
        copy.error_type = ERROR_TYPE_IMG_REQUEST;
        copy.error_message = (struct record_text){sentence, sizeof sentence - 1};
    }
    post->options.next.put(post->options.next.context, thread, &copy);
}

static void sink_put(void *context, uint32_t thread, const struct request_record *record)
{
    struct imagegen_post *post = context;
    struct job *job = malloc(sizeof *job);
    if (!job) {
        put_unread(post, thread, record);
        return;
    }
    job->next = NULL;
    job->put_at = mono_now();
    imagegen_judging_take(&job->judging, record);
    pthread_mutex_lock(&post->mutex);
    wait_for_room(post, job_bytes(job));
    post->bytes += job_bytes(job);
    *post->last = job;
    post->last = &job->next;
    pthread_cond_signal(&post->has_job);
    pthread_mutex_unlock(&post->mutex);
}

struct record_sink imagegen_post_sink(struct imagegen_post *post)
{
    return (struct record_sink){post, sink_start, sink_put};
}

/* ---- workers ---- */

/* The next job, NULL when the run is over and none is left. */
static struct job *next_job(struct imagegen_post *post)
{
    pthread_mutex_lock(&post->mutex);
    while (!post->first && !post->is_closing)
        pthread_cond_wait(&post->has_job, &post->mutex);
    struct job *job = post->first;
    if (job) {
        post->first = job->next;
        if (!post->first)
            post->last = &post->first;
        post->bytes -= job_bytes(job);
        pthread_cond_broadcast(&post->has_room);
    }
    pthread_mutex_unlock(&post->mutex);
    return job;
}

static void *worker_main(void *argument)
{
    struct worker *worker = argument;
    struct imagegen_post *post = worker->post;
    for (struct job *job; (job = next_job(post)) != NULL; free(job)) {
        job->judging.wait_ns = mono_diff_ns(mono_now(), job->put_at);
        imagegen_judge(&post->judge, &worker->scratch, &job->judging);
        post->options.next.put(post->options.next.context, worker->ring, &job->judging.record);
        imagegen_judging_done(&job->judging);
    }
    return NULL;
}

static as_status start_workers(struct imagegen_post *post, struct as_error *err)
{
    sigset_t all, before;
    int failure = 0;
    post->workers = calloc(post->options.workers, sizeof *post->workers);
    if (!post->workers)
        return error_set(err, AS_E_NOMEM, "no memory for the images");
    sigfillset(&all); /* SIGXFSZ too: a file that grows too large is an error of its writing */
    pthread_sigmask(SIG_SETMASK, &all, &before);
    for (uint32_t i = 0; i < post->options.workers && !failure; i++) {
        struct worker *worker = &post->workers[i];
        worker->post = post;
        worker->ring = post->options.first_ring + i;
        imagegen_scratch_init(&worker->scratch);
        failure = pthread_create(&worker->thread, NULL, worker_main, worker);
        post->worker_count += !failure;
    }
    pthread_sigmask(SIG_SETMASK, &before, NULL);
    return failure ? error_set_errno(err, failure, "no thread for the images") : AS_OK;
}

/* ---- open and close ---- */

int64_t imagegen_post_close(struct imagegen_post *post)
{
    pthread_mutex_lock(&post->mutex);
    post->is_closing = true;
    pthread_cond_broadcast(&post->has_job);
    pthread_mutex_unlock(&post->mutex);
    for (uint32_t i = 0; i < post->worker_count; i++) {
        pthread_join(post->workers[i].thread, NULL);
        imagegen_scratch_done(&post->workers[i].scratch);
    }
    int64_t full_waits = post->full_waits;
    artifact_folder_close(&post->folder);
    pthread_cond_destroy(&post->has_job);
    pthread_cond_destroy(&post->has_room);
    pthread_mutex_destroy(&post->mutex);
    free(post->workers);
    free(post);
    return full_waits;
}

as_status imagegen_post_open(const struct imagegen_post_options *options, struct imagegen_post **ret,
                             struct as_error *err)
{
    struct imagegen_post *post = calloc(1, sizeof *post);
    if (!post)
        return error_set(err, AS_E_NOMEM, "no memory for the images");
    post->options = *options;
    post->folder.fd = -1;
    post->last = &post->first;
    pthread_mutex_init(&post->mutex, NULL);
    pthread_cond_init(&post->has_job, NULL);
    pthread_cond_init(&post->has_room, NULL);
    as_status status =
        options->folder ? artifact_folder_open(options->folder, options->overwrite, &post->folder, err) : AS_OK;
    post->judge = (struct imagegen_judge){
        .imagegen = options->imagegen,
        .folder = options->folder ? &post->folder : NULL,
        .shown = options->shown ? options->shown : "",
        .save_images = options->save_images,
        .save_responses = options->save_responses,
        .max_pixels = options->max_pixels,
        .secrets = options->secrets,
    };
    if (status == AS_OK)
        status = start_workers(post, err);
    if (status != AS_OK) {
        imagegen_post_close(post);
        return status;
    }
    *ret = post;
    return AS_OK;
}
