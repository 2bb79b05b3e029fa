/* SPDX-License-Identifier: Apache-2.0 */
#ifndef ASSAY_RUN_RECORDS_H
#define ASSAY_RUN_RECORDS_H

/* The way of a record: engine thread → journal → writer thread → requests.jsonl and the summary. */

#include "engine/record.h"
#include "run/folder.h"
#include "summary/summary.h"

struct records;

/* `facts` are completed (epoch) when the engine starts, and must outlive the records. */
as_status records_open(const struct folder *folder, struct run_facts *facts, uint32_t threads, struct records **ret, struct as_error *err)
    AS_NODISCARD;
void records_free(struct records *records);
const struct record_sink *records_sink(struct records *records);
/* All records are in the file and in the summary's builder; the journal is gone. */
as_status records_close(struct records *records, struct as_error *err) AS_NODISCARD;
/* Makes the summary; `facts` must hold the result by now. */
as_status records_finish(struct records *records, struct summary *ret, struct as_error *err) AS_NODISCARD;

#endif
