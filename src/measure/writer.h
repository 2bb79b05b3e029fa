/* SPDX-License-Identifier: Apache-2.0 */
#ifndef ASSAY_MEASURE_WRITER_H
#define ASSAY_MEASURE_WRITER_H

/*
 * Keeps the records of a run: the sink that the engine puts them into (a journal ring a thread, measure/journal.h) and
 * one thread that turns rings into `<folder>/requests.jsonl` and hands each record to a callback. Engine threads never
 * wait for the disk.
 *
 * What was put is in the file within 50 ms, whole lines at a time, as long as the disk takes them. When it does not
 * (full, a size limit, an error) writing is tried again until it does; meanwhile records stay in the rings, and no new
 * request should be begun by a thread whose ring fills (writer_has_room). After stall_limit_ns without a byte written the
 * writer gives up: the file ends with its last whole line, what it lacks stays in the journal, which is then kept for
 * measure/records.h. Only what finds its ring full after that is in neither. The callback sees every record in any
 * case, so that the summary is whole.
 */

#include "base/clock.h"
#include "base/status.h"
#include "engine/record.h"
#include "measure/record_json.h"

#include <stdbool.h>
#include <stdint.h>

#define RECORD_FILE           "requests.jsonl"
#define WRITER_STALL_LIMIT_NS (INT64_C(30) * NS_PER_S)

struct writer;

/* What the writer tells of a disk that takes no records. */
enum writer_event {
    WRITER_STALLED,  /* tries again */
    WRITER_GOES_ON,  /* all is written again */
    WRITER_GIVEN_UP, /* no more: the run should end */
};

struct writer_options {
    const char *folder;            /* exists */
    uint32_t threads;              /* of the engine */
    size_t ring_bytes;             /* a ring's; 0 = JOURNAL_RING_BYTES */
    struct record_context context; /* strings live until writer_close */
    /*
     * Called for every record before its line is made, from the writer's thread: may change what is not an instant or an
     * outcome and give it texts that live until the next call (work that has no place in an engine thread). May be NULL.
     */
    void (*complete)(void *context, struct request_record *record);
    void *complete_context;
    /* Called for every record, from the writer's thread; gap_stats is set. May be NULL. */
    void (*on_record)(void *context, const struct request_record *record);
    void *on_record_context;
    int64_t stall_limit_ns; /* 0 = WRITER_STALL_LIMIT_NS */
    /* Called from the writer's thread; errnum is that of the write which failed. May be NULL. */
    void (*on_event)(void *context, enum writer_event event, int errnum);
    void *on_event_context;
};

struct writer_result {
    int64_t records;      /* put by the engine */
    int64_t left;         /* of them only in the journal, which was kept */
    int64_t lost;         /* of them neither in the file nor in the journal */
    int64_t bytes;        /* of the file */
    int64_t write_errors; /* writes that failed */
    int error_number;     /* errno of the first one, 0 = none */
    int64_t full_waits;   /* times an engine thread waited for room in its ring, or held a request back for it */
};

/* AS_E_EXISTS when the folder holds records or a journal already; AS_E_IO, AS_E_NOMEM. */
as_status writer_open(const struct writer_options *options, struct writer **ret, struct as_error *err) AS_NODISCARD;
/* What the engine gets. Valid until writer_close. */
struct record_sink writer_sink(struct writer *writer);
/* For engine_options.may_begin: false while the ring of `thread`, which alone may call, is nearly full. */
bool writer_has_room(struct writer *writer, uint32_t thread);
/*
 * After the engine has ended: writes what is left (trying as long as stated above), syncs the file, ends the thread,
 * removes the journal unless it is needed, frees the writer. *ret is filled whatever is returned; AS_E_IO when not all
 * records are in the file.
 */
as_status writer_close(struct writer *writer, struct writer_result *ret, struct as_error *err) AS_NODISCARD;

#endif
