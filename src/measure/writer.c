/* SPDX-License-Identifier: Apache-2.0 */
#include "measure/writer.h"

#include "base/clock.h"
#include "base/file.h"
#include "measure/gaps.h"
#include "measure/journal.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* A batch is written when it has so many bytes, and at the end of every round. */
#define BATCH_BYTES ((size_t)256 * 1024)
#define ROUND_NS    (INT64_C(20) * NS_PER_MS)

struct writer {
    struct journal *journal;
    uint32_t threads;
    struct journal_place *places; /* how far each ring was read */
    int fd;
    char path[PATH_MAX];
    struct record_writer lines;
    struct gap_counter gaps;
    struct strbuf batch;
    int64_t batch_records;
    bool is_torn; /* the file ends inside a line that could not be cut off */
    void (*complete)(void *context, struct request_record *record);
    void *complete_context;
    void (*on_record)(void *context, const struct request_record *record);
    void *on_record_context;
    struct writer_result result;
    _Atomic bool is_closing;
    bool has_thread;
    pthread_t thread;
};

/* ---- the file ---- */

/* Writes as much as goes; returns the bytes that are in the file now. */
static size_t write_some(struct writer *writer, const char *data, size_t len)
{
    size_t done = 0;
    while (done < len) {
        ssize_t wrote = write(writer->fd, data + done, len - done);
        if (wrote > 0) {
            done += (size_t)wrote;
        } else if (wrote == 0 || errno != EINTR) {
            writer->result.write_errors++;
            if (writer->result.error_number == 0)
                writer->result.error_number = wrote == 0 ? EIO : errno;
            break;
        }
    }
    return done;
}

static int64_t count_lines(const char *data, size_t len)
{
    int64_t lines = 0;
    const char *at = data, *end = data + len;
    while (at < end && (at = memchr(at, '\n', (size_t)(end - at))) != NULL) {
        lines++;
        at++;
    }
    return lines;
}

/* Bytes of the whole lines among the first `len`. */
static size_t whole_lines(const char *data, size_t len)
{
    const char *newline = len > 0 ? memrchr(data, '\n', len) : NULL;
    return newline ? (size_t)(newline - data) + 1 : 0;
}

/* A line that did not fit is cut off again, or (the file cannot be cut) ended before the next one. */
static bool end_torn_line(struct writer *writer)
{
    if (!writer->is_torn)
        return true;
    if (ftruncate(writer->fd, (off_t)writer->result.bytes) == 0 || write(writer->fd, "\n", 1) == 1)
        writer->is_torn = false;
    return !writer->is_torn;
}

static void write_batch(struct writer *writer)
{
    struct strbuf *batch = &writer->batch;
    if (writer->batch_records == 0)
        return;
    size_t written = end_torn_line(writer) ? write_some(writer, batch->data, batch->len) : 0;
    size_t whole = whole_lines(batch->data, written);
    writer->result.bytes += (int64_t)whole;
    writer->result.lost += writer->batch_records - count_lines(batch->data, whole);
    if (written > whole) {
        writer->is_torn = true;
        end_torn_line(writer);
    }
    writer->batch_records = 0;
    strbuf_reset(batch);
}

static void release_rings(struct writer *writer)
{
    for (uint32_t i = 0; i < writer->threads; i++)
        journal_release(writer->journal, i, writer->places[i]);
}

/* ---- the thread ---- */

static void take_record(struct writer *writer, struct request_record *record)
{
    record->gap_stats = gap_counter_count(&writer->gaps, &record->gaps);
    if (writer->complete)
        writer->complete(writer->complete_context, record);
    record_writer_line(&writer->lines, record, &writer->batch);
    writer->batch_records++;
    writer->result.records++;
    if (writer->on_record)
        writer->on_record(writer->on_record_context, record);
}

/* Reads all rings as far as they go now; true when there was anything. */
static bool drain_rings(struct writer *writer)
{
    struct request_record record;
    bool is_any = false;
    for (uint32_t i = 0; i < writer->threads; i++) {
        while (journal_next(writer->journal, i, &writer->places[i], &record)) {
            is_any = true;
            take_record(writer, &record);
            if (writer->batch.len >= BATCH_BYTES || strbuf_status(&writer->batch) != AS_OK) {
                write_batch(writer);
                release_rings(writer);
            }
        }
    }
    write_batch(writer);
    release_rings(writer);
    return is_any;
}

static void *writer_main(void *argument)
{
    struct writer *writer = argument;
    sigset_t all;
    /* Signals are for other threads; SIGXFSZ must not end the run: the write fails with EFBIG instead. */
    sigfillset(&all);
    pthread_sigmask(SIG_BLOCK, &all, NULL);
    for (;;) {
        bool is_closing = atomic_load_explicit(&writer->is_closing, memory_order_acquire);
        bool is_any = drain_rings(writer);
        if (is_closing && !is_any)
            return NULL;
        if (!is_closing)
            journal_wait(writer->journal, ROUND_NS);
    }
}

/* ---- the sink ---- */

static void sink_start(void *context, struct mono epoch, const struct clock_offset *epoch_offset)
{
    struct writer *writer = context;
    writer->lines.epoch = mono_to_wall(epoch, epoch_offset);
}

static void sink_put(void *context, uint32_t thread, const struct request_record *record)
{
    struct writer *writer = context;
    journal_put(writer->journal, thread, record);
}

struct record_sink writer_sink(struct writer *writer)
{
    return (struct record_sink){writer, sink_start, sink_put};
}

/* ---- open and close ---- */

static void writer_free(struct writer *writer)
{
    if (writer->fd >= 0)
        close(writer->fd);
    record_writer_done(&writer->lines);
    gap_counter_done(&writer->gaps);
    strbuf_done(&writer->batch);
    free(writer->places);
    free(writer);
}

static as_status open_file(struct writer *writer, const char *folder, struct as_error *err)
{
    if (!path_join(writer->path, sizeof writer->path, folder, RECORD_FILE))
        return error_set(err, AS_E_LIMIT, "the path of the folder '%.200s' is too long", folder);
    writer->fd = open(writer->path, O_WRONLY | O_APPEND | O_CREAT | O_EXCL | O_CLOEXEC, 0666);
    if (writer->fd >= 0)
        return AS_OK;
    if (errno == EEXIST)
        return error_set(err, AS_E_EXISTS, "'%.300s' is there already; give another folder", writer->path);
    return error_set_errno(err, errno, "cannot make '%.300s'", writer->path);
}

static as_status prepare(struct writer *writer, const struct writer_options *options, struct as_error *err)
{
    writer->places = calloc(options->threads, sizeof *writer->places);
    if (!writer->places || gap_counter_init(&writer->gaps) != AS_OK)
        return error_set(err, AS_E_NOMEM, "no memory for the record writer");
    as_status status = record_writer_init(&writer->lines, &options->context, err);
    if (status == AS_OK)
        status = open_file(writer, options->folder, err);
    if (status != AS_OK)
        return status;
    status = journal_open(options->folder, options->threads, options->ring_bytes, &writer->journal, err);
    if (status != AS_OK)
        unlink(writer->path);
    return status;
}

as_status writer_open(const struct writer_options *options, struct writer **ret, struct as_error *err)
{
    struct writer *writer = calloc(1, sizeof *writer);
    if (!writer)
        return error_set(err, AS_E_NOMEM, "no memory for the record writer");
    writer->fd = -1;
    writer->threads = options->threads;
    writer->complete = options->complete;
    writer->complete_context = options->complete_context;
    writer->on_record = options->on_record;
    writer->on_record_context = options->on_record_context;
    strbuf_init(&writer->batch, 0);
    as_status status = prepare(writer, options, err);
    if (status != AS_OK) {
        writer_free(writer);
        return status;
    }
    int errnum = pthread_create(&writer->thread, NULL, writer_main, writer);
    if (errnum != 0) {
        journal_close(writer->journal, true);
        unlink(writer->path);
        writer_free(writer);
        return error_set_errno(err, errnum, "cannot start the record writer");
    }
    *ret = writer;
    return AS_OK;
}

as_status writer_close(struct writer *writer, struct writer_result *ret, struct as_error *err)
{
    as_status status = AS_OK;
    atomic_store_explicit(&writer->is_closing, true, memory_order_release);
    journal_wake(writer->journal);
    pthread_join(writer->thread, NULL);
    if (fsync(writer->fd) != 0 && errno != EINVAL && errno != EROFS) {
        writer->result.write_errors++;
        if (writer->result.error_number == 0)
            writer->result.error_number = errno;
    }
    writer->result.full_waits = journal_full_waits(writer->journal);
    *ret = writer->result;
    if (ret->lost > 0) {
        status = AS_E_IO;
        error_set_errno(err, ret->error_number ? ret->error_number : ENOMEM,
                        "%lld of %lld records could not be written to '%.300s'", (long long)ret->lost,
                        (long long)ret->records, writer->path);
        if (err)
            err->status = status;
    }
    journal_close(writer->journal, true);
    writer_free(writer);
    return status;
}
