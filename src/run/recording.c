/* SPDX-License-Identifier: Apache-2.0 */
#include "run/recording.h"

#include "base/log.h"
#include "measure/writer.h"
#include "run/signals.h"
#include "summary/run_file.h"

#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

struct recording {
    struct folder folder;
    struct run_facts *facts;
    const struct run_facts *shards[1];
    const char **names;        /* of endpoints */
    struct writer *writer;     /* NULL once closed */
    int64_t further_waits;
    struct record_sink writer_sink, sink;
    struct summary_builder *builder;
    as_status start_status;
    struct as_error start_err;
    void (*complete)(void *context, struct request_record *record); /* NULL = records are complete as they come */
    void *complete_context;
    int64_t disk_wait_ns;
    pthread_mutex_t mutex; /* guards the next two */
    struct engine *engine; /* NULL = none runs */
    bool is_given_up;      /* the disk took no records for too long */
};

/* Before the first request: what a killed run needs to be summarised. */
static as_status keep_facts(struct recording *recording, struct as_error *err)
{
    struct strbuf text AS_AUTO_STRBUF;
    strbuf_init(&text, 0);
    as_status status = run_facts_format(recording->facts, &text);
    if (status != AS_OK)
        return error_set(err, status, "the facts of the run cannot be written");
    return folder_write(&recording->folder, RUN_FILE_NAME, &text, err);
}

static void on_start(void *context, struct mono epoch, const struct clock_offset *offset)
{
    struct recording *recording = context;
    struct as_error err = {0};
    recording->facts->has_epoch = true;
    recording->facts->epoch_monotonic_ns = epoch.ns;
    recording->facts->epoch_utc_ns = mono_to_wall(epoch, offset).ns;
    as_status status = summary_builder_new(recording->shards, 1, recording->folder.path, &recording->builder);
    if (status != AS_OK)
        error_set(&err, status, "the summary cannot be made");
    else
        status = keep_facts(recording, &err);
    recording->start_status = status;
    recording->start_err = err;
    if (recording->writer_sink.start)
        recording->writer_sink.start(recording->writer_sink.context, epoch, offset);
}

static void on_put(void *context, uint32_t thread, const struct request_record *record)
{
    struct recording *recording = context;
    recording->writer_sink.put(recording->writer_sink.context, thread, record);
}

/* From the writer's thread. */
static void on_complete(void *context, struct request_record *record)
{
    struct recording *recording = context;
    if (recording->complete)
        recording->complete(recording->complete_context, record);
}

void recording_set_completer(struct recording *recording, void (*complete)(void *context, struct request_record *record), void *context)
{
    recording->complete = complete;
    recording->complete_context = context;
}

/* From the writer's thread, which begins after on_start. */
static void on_record(void *context, const struct request_record *record)
{
    struct recording *recording = context;
    if (recording->builder)
        summary_add(recording->builder, 0, record);
}

/* A run that is being stopped already drains: stopping it again would cancel what is in flight. */
static void stop_engine(struct recording *recording)
{
    pthread_mutex_lock(&recording->mutex);
    bool is_first = !recording->is_given_up;
    recording->is_given_up = true;
    if (recording->engine && is_first && !signals_caught())
        engine_stop(recording->engine);
    pthread_mutex_unlock(&recording->mutex);
}

void recording_set_engine(struct recording *recording, struct engine *engine)
{
    pthread_mutex_lock(&recording->mutex);
    recording->engine = engine;
    if (engine && recording->is_given_up)
        engine_stop(engine);
    pthread_mutex_unlock(&recording->mutex);
}

/* From the writer's thread. */
static void on_event(void *context, enum writer_event event, int errnum)
{
    struct recording *recording = context;
    double wait_s = (double)recording->disk_wait_ns / (double)NS_PER_S;
    switch (event) {
    case WRITER_STALLED:
        log_warning("%s/" RECORD_FILE " takes no more records (%s): make room within %g s, or the run is ended", recording->folder.path,
                    strerror(errnum), wait_s);
        break;
    case WRITER_GOES_ON:
        log_info("%s/" RECORD_FILE " takes records again", recording->folder.path);
        break;
    case WRITER_GIVEN_UP:
        log_warning("%s/" RECORD_FILE " took no records for %g s (%s): no more requests are begun", recording->folder.path, wait_s,
                    strerror(errnum));
        stop_engine(recording);
        break;
    }
}

static as_status open_writer(struct recording *recording, const struct recording_options *options, struct as_error *err)
{
    const struct run_facts *facts = options->facts;
    recording->names = calloc(facts->endpoint_count, sizeof *recording->names);
    if (!recording->names)
        return error_set(err, AS_E_NOMEM, "no memory for the records");
    for (size_t i = 0; i < facts->endpoint_count; i++)
        recording->names[i] = facts->endpoints[i].name;
    struct writer_options writer = {
        .folder = recording->folder.path,
        .threads = options->threads,
        .context = {
            .tool = facts->tool,
            .run_id = facts->run_id,
            .endpoints = recording->names,
            .endpoint_count = (uint32_t)facts->endpoint_count,
            .save_gaps = options->save_gaps,
            .save_content = options->save_content,
        },
        .complete = on_complete,
        .complete_context = recording,
        .on_record = on_record,
        .on_record_context = recording,
        .stall_limit_ns = options->disk_wait_ns,
        .on_event = on_event,
        .on_event_context = recording,
    };
    return writer_open(&writer, &recording->writer, err);
}

as_status recording_open(const struct recording_options *options, struct recording **ret, struct as_error *err)
{
    struct recording *recording = calloc(1, sizeof *recording);
    if (!recording)
        return error_set(err, AS_E_NOMEM, "no memory for the records");
    recording->folder = *options->folder;
    recording->facts = options->facts;
    recording->shards[0] = options->facts;
    recording->disk_wait_ns = options->disk_wait_ns ? options->disk_wait_ns : WRITER_STALL_LIMIT_NS;
    pthread_mutex_init(&recording->mutex, NULL);
    as_status status = open_writer(recording, options, err);
    if (status != AS_OK) {
        recording_free(recording);
        return status;
    }
    recording->writer_sink = writer_sink(recording->writer);
    recording->sink = (struct record_sink){.context = recording, .start = on_start, .put = on_put};
    *ret = recording;
    return AS_OK;
}

/* Nothing was sent: an empty record file would say that the folder holds a run. */
static void remove_record_file(const struct recording *recording)
{
    char path[PATH_MAX];
    folder_file(&recording->folder, RECORD_FILE, path);
    unlink(path);
}

as_status recording_close(struct recording *recording, struct as_error *err)
{
    struct writer_result result = {0};
    struct writer *writer = recording->writer;
    if (!writer)
        return AS_OK;
    recording->writer = NULL;
    as_status status = writer_close(writer, &result, err);
    recording->facts->journal_full_waits = result.full_waits + recording->further_waits;
    recording->facts->records_left = result.left;
    recording->facts->records_lost = result.lost;
    if (!recording->builder && recording->start_status == AS_OK)
        remove_record_file(recording);
    if (recording->start_status != AS_OK) {
        *err = recording->start_err;
        return recording->start_status;
    }
    return status;
}

void recording_free(struct recording *recording)
{
    struct as_error err;
    if (!recording)
        return;
    as_status ignored = recording_close(recording, &err);
    (void)ignored;
    summary_builder_free(recording->builder);
    free(recording->names);
    pthread_mutex_destroy(&recording->mutex);
    free(recording);
}

const struct record_sink *recording_sink(struct recording *recording)
{
    return &recording->sink;
}

bool recording_has_room(void *context, uint32_t thread)
{
    struct recording *recording = context;
    return writer_has_room(recording->writer, thread);
}

void recording_add_waits(struct recording *recording, int64_t waits)
{
    recording->further_waits += waits;
}

bool recording_has_begun(const struct recording *recording)
{
    return recording->builder != NULL;
}

as_status recording_finish(struct recording *recording, struct summary *ret, struct as_error *err)
{
    if (!recording->builder)
        return error_set(err, AS_E_STATE, "the run never began");
    return summary_finish(recording->builder, ret, err);
}
