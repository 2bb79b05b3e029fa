/* SPDX-License-Identifier: Apache-2.0 */
#ifndef ASSAY_MEASURE_RECORDS_H
#define ASSAY_MEASURE_RECORDS_H

/*
 * Reads back all that is left of a run's records: the lines of a requests.jsonl, then what a killed run, or one whose
 * disk was full, left in the journal beside it (`journal/` in the same folder) and had not written. Each finished
 * request comes once. A ring that cannot be read is left out and told. Nothing is changed on disk.
 */

#include "base/status.h"
#include "engine/record.h"
#include "measure/record_json.h"

#include <stdbool.h>
#include <stdint.h>

/* A line longer than this is damage. */
#define RECORD_LINE_BYTES_MAX ((size_t)256 * 1024 * 1024)

/* Takes each record; it is valid during the call. Another status than AS_OK ends the reading and is returned. */
struct record_consumer {
    void *context;
    as_status (*take)(void *context, const struct request_record *record);
};

struct records_found {
    int64_t lines;          /* whole lines read */
    int64_t torn_bytes;     /* of a last line without its newline that is no record: dropped */
    int64_t recovered;      /* records that only the journal held */
    uint32_t damaged_rings; /* rings that could not be read, or not to their end */
    struct as_error damage; /* what is wrong with the first of them */
    bool has_journal;
    char run_id[RECORD_ID_BYTES]; /* of the first line, "" = none */
    const char *record_run_id;    /* of the record that is being handed over; "" = it does not say */
};

/*
 * `path` is the file; "-" is standard input, then without a journal. A missing file is fine when there is a journal.
 * AS_E_INVALID names file and line of a damaged line; AS_E_NOTFOUND, AS_E_IO, AS_E_NOMEM.
 */
as_status records_read(const char *path, const struct record_context *context, const struct record_consumer *consumer,
                       struct records_found *ret, struct as_error *err) AS_NODISCARD;

#endif
