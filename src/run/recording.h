/* SPDX-License-Identifier: Apache-2.0 */
#ifndef ASSAY_RUN_RECORDING_H
#define ASSAY_RUN_RECORDING_H

/* The way of a record: engine thread → journal → writer thread → requests.jsonl and the summary's builder. */

#include "engine/record.h"
#include "run/folder.h"
#include "summary/summary.h"

struct recording;

struct recording_options {
    const struct folder *folder;
    struct run_facts *facts; /* the epoch is set in it when the engine starts, and run.json is written then; outlives the recording */
    uint32_t threads;        /* that put records */
    bool save_gaps, save_content;
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
/*
 * After the engine has ended: all records are in the file and in the builder, the journal is gone. AS_E_IO when records could not be
 * written (they are in the summary all the same).
 */
as_status recording_close(struct recording *recording, struct as_error *err) AS_NODISCARD;
/* Counts times that a thread of the engine waited for somebody else than the writer, before recording_close. */
void recording_add_waits(struct recording *recording, int64_t waits);
/* True once the engine has started. */
bool recording_has_begun(const struct recording *recording);
/* Makes the summary after recording_close; the facts must hold the result by now. AS_E_STATE when the engine never started. */
as_status recording_finish(struct recording *recording, struct summary *ret, struct as_error *err) AS_NODISCARD;

#endif
