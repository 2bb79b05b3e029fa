/* SPDX-License-Identifier: Apache-2.0 */
#include "run/records.h"

#include <pthread.h>
#include <stdlib.h>

struct records {
    struct folder folder;
    struct run_facts *facts;
    const struct run_facts *shards[1];
    struct summary_builder *builder;
    pthread_mutex_t mutex;
    as_status status;
    struct record_sink sink;
};

static void sink_start(void *context, struct mono epoch, const struct clock_offset *offset)
{
    struct records *records = context;
    records->facts->has_epoch = true;
    records->facts->epoch_monotonic_ns = epoch.ns;
    records->facts->epoch_utc_ns = mono_to_wall(epoch, offset).ns;
    records->status = summary_builder_new(records->shards, 1, records->folder.path, &records->builder);
}

static void sink_put(void *context, uint32_t thread, const struct request_record *record)
{
    struct records *records = context;
    (void)thread;
    pthread_mutex_lock(&records->mutex);
    if (records->builder)
        summary_add(records->builder, 0, record);
    pthread_mutex_unlock(&records->mutex);
}

as_status records_open(const struct folder *folder, struct run_facts *facts, uint32_t threads, struct records **ret, struct as_error *err)
{
    (void)threads;
    struct records *records = calloc(1, sizeof *records);
    if (!records)
        return error_set(err, AS_E_NOMEM, "no memory for the records");
    records->folder = *folder;
    records->facts = facts;
    records->shards[0] = facts;
    records->sink = (struct record_sink){.context = records, .start = sink_start, .put = sink_put};
    pthread_mutex_init(&records->mutex, NULL);
    *ret = records;
    return AS_OK;
}

void records_free(struct records *records)
{
    if (!records)
        return;
    summary_builder_free(records->builder);
    pthread_mutex_destroy(&records->mutex);
    free(records);
}

const struct record_sink *records_sink(struct records *records)
{
    return &records->sink;
}

as_status records_close(struct records *records, struct as_error *err)
{
    return records->status == AS_OK ? AS_OK : error_set(err, records->status, "the records cannot be kept");
}

as_status records_finish(struct records *records, struct summary *ret, struct as_error *err)
{
    if (!records->builder)
        return error_set(err, AS_E_STATE, "the run never began");
    return summary_finish(records->builder, ret, err);
}
