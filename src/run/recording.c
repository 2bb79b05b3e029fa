/* SPDX-License-Identifier: Apache-2.0 */
#include "run/recording.h"

#include "measure/writer.h"
#include "summary/run_file.h"

#include <stdlib.h>

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

as_status recording_close(struct recording *recording, struct as_error *err)
{
    struct writer_result result = {0};
    struct writer *writer = recording->writer;
    if (!writer)
        return AS_OK;
    recording->writer = NULL;
    as_status status = writer_close(writer, &result, err);
    recording->facts->journal_full_waits = result.full_waits + recording->further_waits;
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
    free(recording);
}

const struct record_sink *recording_sink(struct recording *recording)
{
    return &recording->sink;
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
