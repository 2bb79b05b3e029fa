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
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* A batch is written when it has so many bytes, and at the end of every round. */
#define BATCH_BYTES ((size_t)256 * 1024)
#define ROUND_NS    (INT64_C(20) * NS_PER_MS)
/* Between tries while the disk takes nothing. */
#define RETRY_NS (INT64_C(50) * NS_PER_MS)

struct writer {
    struct journal *journal;
    uint32_t threads;
    struct journal_place *places; /* how far each ring was read */
    int fd;
    char path[PATH_MAX];
    struct record_writer lines;
    struct gap_counter gaps;
    struct strbuf batch;     /* lines on their way to the file */
    size_t batch_written;    /* bytes of it that are in the file */
    int64_t batch_records;   /* in it */
    int64_t written_records; /* whose lines are in the file as a whole */
    bool is_stalled, is_given_up;
    struct mono stalled_at; /* last time that anything was written, while is_stalled */
    int64_t stall_limit_ns;
    pthread_mutex_t overflow; /* callbacks come from engine threads too once the writer has given up */
    void (*complete)(void *context, struct request_record *record);
    void *complete_context;
    void (*on_record)(void *context, const struct request_record *record);
    void *on_record_context;
    void (*on_event)(void *context, enum writer_event event, int errnum);
    void *on_event_context;
    int last_errno; /* of the newest failed write */
    struct writer_result result;
    _Atomic bool is_closing;
    pthread_t thread;
};

/* ---- the file ---- */

static void tell(struct writer *writer, enum writer_event event)
{
    if (writer->on_event)
        writer->on_event(writer->on_event_context, event, writer->last_errno);
}

static void note_failed_write(struct writer *writer, int errnum)
{
    writer->last_errno = errnum;
    writer->result.write_errors++;
    if (writer->result.error_number == 0)
        writer->result.error_number = errnum;
}

/* Writes as much of the batch as goes; true when all of it is in the file. */
static bool write_some(struct writer *writer)
{
    const struct strbuf *batch = &writer->batch;
    while (writer->batch_written < batch->len) {
        ssize_t wrote = write(writer->fd, batch->data + writer->batch_written, batch->len - writer->batch_written);
        if (wrote > 0) {
            writer->batch_written += (size_t)wrote;
            writer->stalled_at = mono_now();
        } else if (wrote == 0 || errno != EINTR) {
            note_failed_write(writer, wrote == 0 ? EIO : errno);
            return false;
        }
    }
    return true;
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

static void forget_batch(struct writer *writer)
{
    writer->batch_records = 0;
    writer->batch_written = 0;
    strbuf_reset(&writer->batch);
}

static void release_rings(struct writer *writer)
{
    for (uint32_t i = 0; i < writer->threads; i++)
        journal_release(writer->journal, i, writer->places[i]);
}

static void note_stall(struct writer *writer)
{
    if (writer->is_stalled)
        return;
    writer->is_stalled = true;
    writer->stalled_at = mono_now();
    tell(writer, WRITER_STALLED);
}

/*
 * Brings the batch into the file and lets go of its records; false when the disk does not take it now. Lines that no
 * memory was had for are missing in it, and lost.
 */
static bool write_batch(struct writer *writer)
{
    struct strbuf *batch = &writer->batch;
    if (writer->batch_records == 0)
        return true;
    if (!write_some(writer)) {
        note_stall(writer);
        return false;
    }
    int64_t lines = count_lines(batch->data, batch->len);
    writer->result.bytes += (int64_t)batch->len;
    writer->written_records += lines;
    writer->result.lost += writer->batch_records - lines;
    forget_batch(writer);
    release_rings(writer);
    if (writer->is_stalled)
        tell(writer, WRITER_GOES_ON);
    writer->is_stalled = false;
    return true;
}

/* The file ends with its last whole line; what it lacks stays in the rings. A torn line that cannot be cut off is read
 * as one. */
static void give_up(struct writer *writer)
{
    size_t whole = whole_lines(writer->batch.data, writer->batch_written);
    int64_t lines = count_lines(writer->batch.data, whole);
    writer->written_records += lines;
    writer->result.bytes += (int64_t)whole;
    if (writer->batch_written > whole && ftruncate(writer->fd, (off_t)writer->result.bytes) != 0)
        note_failed_write(writer, errno);
    writer->is_given_up = true;
    forget_batch(writer);
    journal_give_up(writer->journal);
    tell(writer, WRITER_GIVEN_UP);
}

/* ---- the thread ---- */

/* Everybody who wants to know of the record is told. */
static void complete_record(struct writer *writer, struct request_record *record)
{
    record->gap_stats = gap_counter_count(&writer->gaps, &record->gaps);
    if (writer->complete)
        writer->complete(writer->complete_context, record);
    writer->result.records++;
}

static void hand_over(const struct writer *writer, const struct request_record *record)
{
    if (writer->on_record)
        writer->on_record(writer->on_record_context, record);
}

/* A line that memory does not suffice for is left out of the batch. */
static void add_line(struct writer *writer, const struct request_record *record)
{
    struct strbuf *batch = &writer->batch;
    record_writer_line(&writer->lines, record, batch);
    writer->batch_records++;
    if (strbuf_status(batch) != AS_OK)
        batch->len = whole_lines(batch->data, batch->len);
}

/* Reads all rings as far as they go now; true when there was anything. Stops when the disk does. */
static bool drain_rings(struct writer *writer)
{
    struct request_record record;
    bool is_any = false;
    for (uint32_t i = 0; i < writer->threads; i++) {
        while (journal_next(writer->journal, i, &writer->places[i], &record)) {
            is_any = true;
            complete_record(writer, &record);
            add_line(writer, &record);
            hand_over(writer, &record);
            bool is_full = writer->batch.len >= BATCH_BYTES || strbuf_status(&writer->batch) != AS_OK;
            if (is_full && !write_batch(writer))
                return true;
        }
    }
    write_batch(writer);
    return is_any;
}

/* After giving up: for the callbacks alone. */
static bool read_rings(struct writer *writer)
{
    struct request_record record;
    bool is_any = false;
    pthread_mutex_lock(&writer->overflow);
    for (uint32_t i = 0; i < writer->threads; i++) {
        while (journal_next(writer->journal, i, &writer->places[i], &record)) {
            is_any = true;
            complete_record(writer, &record);
            hand_over(writer, &record);
        }
    }
    pthread_mutex_unlock(&writer->overflow);
    return is_any;
}

static bool run_round(struct writer *writer)
{
    if (writer->is_given_up)
        return read_rings(writer);
    return !write_batch(writer) || drain_rings(writer);
}

static void pause_until_next_round(struct writer *writer, bool is_closing)
{
    if (!writer->is_stalled || writer->is_given_up) {
        if (!is_closing)
            journal_wait(writer->journal, ROUND_NS);
    } else if (mono_diff_ns(mono_now(), writer->stalled_at) >= writer->stall_limit_ns) {
        give_up(writer);
    } else {
        mono_sleep_until(mono_add_ns(mono_now(), RETRY_NS < writer->stall_limit_ns ? RETRY_NS : writer->stall_limit_ns));
    }
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
        bool is_any = run_round(writer);
        if (is_closing && !is_any)
            return NULL;
        pause_until_next_round(writer, is_closing);
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
    if (journal_put(writer->journal, thread, record))
        return;
    struct request_record copy;
    memcpy(&copy, record, offsetof(struct request_record, attempts) + record->attempt_count * sizeof *record->attempts);
    pthread_mutex_lock(&writer->overflow);
    complete_record(writer, &copy);
    hand_over(writer, &copy);
    writer->result.lost++;
    pthread_mutex_unlock(&writer->overflow);
}

bool writer_has_room(struct writer *writer, uint32_t thread)
{
    return journal_has_room(writer->journal, thread);
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
    pthread_mutex_destroy(&writer->overflow);
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
    writer->on_event = options->on_event;
    writer->on_event_context = options->on_event_context;
    writer->stall_limit_ns = options->stall_limit_ns ? options->stall_limit_ns : WRITER_STALL_LIMIT_NS;
    pthread_mutex_init(&writer->overflow, NULL);
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

/* The sentence of a file that is not whole. */
static as_status tell_missing(const struct writer *writer, const struct writer_result *result, struct as_error *err)
{
    char remedy[160] = "";
    int64_t missing = result->left + result->lost;
    if (result->left > 0)
        (void)snprintf(remedy, sizeof remedy,
                       "; the journal beside it holds %lld of them: make room and keep the folder, assay summarize reads both",
                       (long long)result->left);
    error_set_errno(err, result->error_number ? result->error_number : ENOMEM,
                    "%lld of %lld records could not be written to '%.300s'%s", (long long)missing,
                    (long long)result->records, writer->path, remedy);
    if (err)
        err->status = AS_E_IO;
    return AS_E_IO;
}

as_status writer_close(struct writer *writer, struct writer_result *ret, struct as_error *err)
{
    atomic_store_explicit(&writer->is_closing, true, memory_order_release);
    journal_wake(writer->journal);
    pthread_join(writer->thread, NULL);
    if (fsync(writer->fd) != 0 && errno != EINVAL && errno != EROFS)
        note_failed_write(writer, errno);
    writer->result.full_waits = journal_full_waits(writer->journal);
    writer->result.left = writer->result.records - writer->written_records - writer->result.lost;
    *ret = writer->result;
    as_status status = ret->left + ret->lost > 0 ? tell_missing(writer, ret, err) : AS_OK;
    journal_close(writer->journal, ret->left == 0);
    writer_free(writer);
    return status;
}
