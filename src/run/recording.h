/* SPDX-License-Identifier: Apache-2.0 */
#ifndef ASSAY_RUN_RECORDING_H
#define ASSAY_RUN_RECORDING_H

/* The way of a record: engine thread → journal → writer thread → requests.jsonl and the summary's builder. */

#include "engine/engine.h"
#include "run/folder.h"
#include "summary/summary.h"

struct recording;

struct recording_options {
    const struct folder *folder;
    struct run_facts *facts; /* the epoch is set in it when the engine starts, and run.json is written then; outlives the recording */
    uint32_t threads;        /* that put records */
    bool save_gaps, save_content;
    int64_t disk_wait_ns; /* how long a disk may take no records before the run is ended */
};

as_status recording_open(const struct recording_options *options, struct recording **ret, struct as_error *err) AS_NODISCARD;
/* Takes NULL. Closes first what is open. */
void recording_free(struct recording *recording);
/*
 * What is done to each record before it is written and summed up, in the writer's thread (measure/writer.h): set before the engine starts;
 * the context outlives recording_close.
 */
void recording_set_completer(struct recording *recording, void (*complete)(void *context, struct request_record *record), void *context);
/* For the engine; valid until recording_close. */
const struct record_sink *recording_sink(struct recording *recording);
/* For engine_options.may_begin; `context` is the recording. */
bool recording_has_room(void *context, uint32_t thread);
/* The engine to stop when the disk takes no records for too long; NULL before it is freed. */
void recording_set_engine(struct recording *recording, struct engine *engine);
/*
 * After the engine has ended: all records are in the file and in the builder, the journal is gone. AS_E_IO when records could not be
 * written: they are in the summary all the same, and the journal stays where it holds what the file lacks.
 */
as_status recording_close(struct recording *recording, struct as_error *err) AS_NODISCARD;
/* Counts times that a thread of the engine waited for somebody else than the writer, before recording_close. */
void recording_add_waits(struct recording *recording, int64_t waits);
/* True once the engine has started; false after recording_close too when it never did, and the folder holds no record file then. */
bool recording_has_begun(const struct recording *recording);
/* Makes the summary after recording_close; the facts must hold the result by now. AS_E_STATE when the engine never started. */
as_status recording_finish(struct recording *recording, struct summary *ret, struct as_error *err) AS_NODISCARD;

#endif
