/* SPDX-License-Identifier: Apache-2.0 */
#ifndef ASSAY_MEASURE_RECORD_FIELDS_H
#define ASSAY_MEASURE_RECORD_FIELDS_H

/* The members of a record line in their order: one table for writing and reading. Internal to measure. */

#include "engine/record.h"

#include <stddef.h>
#include <stdint.h>

enum record_kind {
    FIELD_INT, /* int64_t, -1 = null */
    FIELD_BOOL,
    FIELD_PROMPT_ID,
    FIELD_PHASE,
    FIELD_ENDPOINT,
    FIELD_OUTCOME,
    FIELD_HTTP_STATUS,
    FIELD_ERROR,
    FIELD_STARTED_AT, /* from sent_ns; not read back */
    FIELD_COMPLETED_AT,
    FIELD_STAMP,
    FIELD_FINISH_REASON,
    FIELD_FLAGS,
    FIELD_ATTEMPTS,
    FIELD_GAPS
};

#define RECORD_KEY_BYTES 32

struct record_field {
    char key[RECORD_KEY_BYTES]; /* `,"name":`, copied whole: faster than its length */
    uint8_t key_len;
    uint8_t kind;    /* enum record_kind */
    uint16_t offset; /* FIELD_INT, FIELD_BOOL: in struct request_record */
};

/* clang-format off */
#define FIELD(name, kind, member) \
    {",\"" name "\":", sizeof(",\"" name "\":") - 1, kind, offsetof(struct request_record, member)}
#define INT(member) FIELD(#member, FIELD_INT, member)
#define BOOL(member) FIELD(#member, FIELD_BOOL, member)

/* After schema, run_id and seq. */
static const struct record_field record_fields[] = {
    FIELD("prompt_id", FIELD_PROMPT_ID, prompt_id),
    FIELD("phase", FIELD_PHASE, phase),
    FIELD("endpoint", FIELD_ENDPOINT, endpoint),
    FIELD("outcome", FIELD_OUTCOME, outcome),
    FIELD("http_status", FIELD_HTTP_STATUS, http_status),
    FIELD("error", FIELD_ERROR, error_type),
    INT(due_ns), INT(sent_ns), INT(written_ns), INT(first_byte_ns), INT(first_event_ns), INT(role_ns),
    INT(first_reasoning_ns), INT(first_content_ns), INT(first_tool_ns), INT(last_content_ns), INT(usage_ns),
    INT(done_mark_ns), INT(done_ns),
    FIELD("started_at", FIELD_STARTED_AT, sent_ns),
    FIELD("completed_at", FIELD_COMPLETED_AT, done_ns),
    INT(dns_duration_ns), INT(connect_duration_ns), INT(tls_duration_ns), INT(response_time_ns),
    INT(response_latency_ns), INT(ttft_ns), INT(ttft_spec_ns), INT(ttfr_ns), INT(tpot_ns), INT(tpot_spec_ns),
    INT(queue_delay_ns),
    FIELD("stamp", FIELD_STAMP, stamp),
    INT(client_lag_ns), INT(events), INT(content_chunks), INT(censored_chunks), INT(damaged_events),
    INT(prompt_tokens), INT(completion_tokens), INT(total_tokens), INT(reasoning_tokens), INT(cached_tokens),
    BOOL(usage_missing),
    INT(prompt_words), INT(completion_words), INT(max_tokens),
    FIELD("finish_reason", FIELD_FINISH_REASON, finish_reason),
    BOOL(done_seen),
    FIELD("connection_reused", FIELD_BOOL, reused),
    INT(bytes_sent), INT(bytes_received),
    FIELD("flags", FIELD_FLAGS, flags),
    FIELD("attempts", FIELD_ATTEMPTS, attempts),
    FIELD("gaps", FIELD_GAPS, gap_stats),
};

#undef FIELD
#undef INT
#undef BOOL
/* clang-format on */

#define RECORD_FIELD_COUNT (sizeof record_fields / sizeof *record_fields)

#endif
