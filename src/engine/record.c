/* SPDX-License-Identifier: Apache-2.0 */
#include "engine/record.h"

#include <string.h>

#define NAME_CASE(name, text) text,

const char *outcome_name(enum outcome outcome)
{
    static const char *const names[] = {OUTCOME_MAP(NAME_CASE)};
    return (unsigned)outcome < OUTCOME_COUNT ? names[outcome] : "";
}

const char *phase_name(enum phase phase)
{
    static const char *const names[] = {PHASE_MAP(NAME_CASE)};
    return (unsigned)phase < PHASE_COUNT ? names[phase] : "";
}

const char *error_type_name(enum error_type type)
{
    static const char *const names[] = {ERROR_TYPE_MAP(NAME_CASE)};
    return (unsigned)type < ERROR_TYPE_COUNT ? names[type] : "";
}

const char *record_stamp_name(enum record_stamp stamp)
{
    static const char *const names[] = {RECORD_STAMP_MAP(NAME_CASE)};
    return (unsigned)stamp < RECORD_STAMP_COUNT ? names[stamp] : "";
}

void record_init(struct request_record *record)
{
    static const struct request_record unknown = {
        .seq = -1,
        .phase = PHASE_MEASURED,
        .http_status = -1,
        .retry_after_s = -1,
        .due_ns = -1,
        .sent_ns = -1,
        .written_ns = -1,
        .first_byte_ns = -1,
        .first_event_ns = -1,
        .role_ns = -1,
        .first_reasoning_ns = -1,
        .first_content_ns = -1,
        .first_tool_ns = -1,
        .last_content_ns = -1,
        .usage_ns = -1,
        .done_mark_ns = -1,
        .done_ns = -1,
        .dns_duration_ns = -1,
        .connect_duration_ns = -1,
        .tls_duration_ns = -1,
        .response_time_ns = -1,
        .response_latency_ns = -1,
        .ttft_ns = -1,
        .ttft_spec_ns = -1,
        .ttfr_ns = -1,
        .tpot_ns = -1,
        .tpot_spec_ns = -1,
        .queue_delay_ns = -1,
        .client_lag_ns = -1,
        .events = -1,
        .content_chunks = -1,
        .censored_chunks = -1,
        .prompt_tokens = -1,
        .completion_tokens = -1,
        .total_tokens = -1,
        .reasoning_tokens = -1,
        .cached_tokens = -1,
        .prompt_words = -1,
        .completion_words = -1,
        .max_tokens = -1,
        .bytes_sent = -1,
        .bytes_received = -1,
        .damaged_events = -1,
    };
    memcpy(record, &unknown, offsetof(struct request_record, attempts));
}

/* end − start; -1 unless both are known. */
static int64_t duration_ns(int64_t start_ns, int64_t end_ns)
{
    return start_ns < 0 || end_ns < 0 ? -1 : end_ns - start_ns;
}

void record_derive(struct request_record *record, bool streaming)
{
    record->response_time_ns = duration_ns(record->sent_ns, record->done_ns);
    record->queue_delay_ns = duration_ns(record->due_ns, record->sent_ns);
    record->response_latency_ns = duration_ns(record->due_ns, record->done_ns);
    record->ttfr_ns = duration_ns(record->sent_ns, record->first_reasoning_ns);
    record->ttft_ns = streaming ? duration_ns(record->sent_ns, record->first_content_ns) : -1;
    record->ttft_spec_ns = record->ttft_ns;
    if (!streaming && record->outcome == OUTCOME_OK)
        record->ttft_spec_ns = record->response_time_ns;
    record->tpot_ns = -1;
    record->tpot_spec_ns = -1;
    if (record->ttft_ns < 0 || record->response_time_ns < 0)
        return;
    int64_t decode_ns = record->response_time_ns - record->ttft_ns;
    if (record->completion_tokens >= 2)
        record->tpot_ns = decode_ns / (record->completion_tokens - 1);
    if (record->completion_tokens >= 1)
        record->tpot_spec_ns = decode_ns / record->completion_tokens;
}
