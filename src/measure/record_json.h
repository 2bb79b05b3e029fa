/* SPDX-License-Identifier: Apache-2.0 */
#ifndef ASSAY_MEASURE_RECORD_JSON_H
#define ASSAY_MEASURE_RECORD_JSON_H

/*
 * A request_record as a line of requests.jsonl and back. All members are always written, in one order; unknown is null.
 * Besides the record's own fields under their names:
 *
 *   schema             "metrumbench-<tool>.request.v1"
 *   error              null, or {type, status, message, retry_after_s, oom_detected}
 *   started_at,        RFC 3339 UTC of sent_ns and done_ns
 *   completed_at
 *   http_status, endpoint (its name), phase, outcome, stamp, finish_reason, flags (names), connection_reused
 *   attempts           [{start_ns, done_ns, http_status, error_type, connection_reused, endpoint}]
 *   gaps               null, or {n, sum_ns, sum_sq (decimal text, ns²), min_ns, max_ns, buckets: [[index, count], …]}:
 * the time between successive content chunks in the buckets of stats/histogram.h gaps_ns            every gap, with
 * save_gaps content, reasoning, tool_arguments   with save_content, or when the record has them <tool>             the
 * modality's own block, when the record has one
 *
 * What is read back gives the same record, derived durations included, except that `gaps` bytes come back only from
 * gaps_ns.
 */

#include "base/arena.h"
#include "base/clock.h"
#include "base/status.h"
#include "base/strbuf.h"
#include "engine/record.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define RECORD_NO_ENDPOINT UINT32_MAX

/* What all records of a run share. Strings are kept by the caller. */
struct record_context {
    const char *tool;             /* "llm" */
    const char *run_id;           /* reading: NULL = any one */
    const char *const *endpoints; /* names, by request_record.endpoint */
    uint32_t endpoint_count;
    bool save_gaps, save_content;
};

/* Writes lines; one thread. */
struct record_writer {
    struct record_context context;
    struct wall epoch;    /* wall clock at instant 0 */
    struct strbuf prefix; /* {"schema":…,"run_id":…,"seq": */
    struct strbuf names;  /* all endpoints' names as JSON strings, one after the other */
    size_t *name_ends;    /* offsets in names */
    size_t name_bytes_max;
    int64_t stamp_second; /* second whose text stamp_text holds */
    char stamp_text[WALL_TEXT_BYTES];
};

as_status record_writer_init(struct record_writer *writer, const struct record_context *context,
                             struct as_error *err) AS_NODISCARD;
void record_writer_done(struct record_writer *writer);
/* Appends the line with its newline; a failure is the strbuf's. gap_stats is written, not `gaps`, except for gaps_ns.
 */
void record_writer_line(struct record_writer *writer, const struct request_record *record, struct strbuf *out);

/* Reads lines; one thread. `arena` holds what the record points to; the caller resets it between lines. */
struct record_reader {
    struct record_context context;
    struct arena *arena;
    char run_id[RECORD_ID_BYTES]; /* of the last line */
};

/*
 * Reads one line (newline or not). The record points into `line` and the arena. Members that are not known are stepped
 * over, those that are absent stay unknown. AS_E_INVALID: not JSON, another schema or run, an impossible value (offset
 * given); AS_E_NOMEM. After a failure *ret is good for nothing.
 */
as_status record_reader_line(struct record_reader *reader, const char *line, size_t len, struct request_record *ret,
                             struct as_error *err) AS_NODISCARD;

#endif
