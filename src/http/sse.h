/* SPDX-License-Identifier: Apache-2.0 */
#ifndef ASSAY_HTTP_SSE_H
#define ASSAY_HTTP_SSE_H

/*
 * Incremental reader of event streams (WHATWG HTML, "Server-sent events"): bytes in, events out, the same
 * whatever the read sizes. LF, CR LF and CR end a line, mixed too; one BOM at the start is skipped; fields
 * data, event, id, retry; comments ignored; several data lines joined with LF. An event that lies whole in the
 * fed bytes with one data line is given in place; else it is collected in a buffer that exists only as long as needed.
 * Nothing is copied or allocated for `data: …` and a blank line, with LF or CR LF, whole in the fed bytes. One per
 * response; one thread.
 */

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define SSE_EVENT_MAX_DEFAULT ((size_t)16 * 1024 * 1024)

struct sse_event {
    const char *data; /* valid until the next call */
    size_t len;
    const char *name; /* event: field, "" = message; NUL-terminated, cut to 31 bytes */
};

enum sse_result {
    SSE_MORE,  /* all bytes consumed */
    SSE_EVENT, /* *ret is an event */
    SSE_BAD    /* an event or a line passed the size limit, or memory ran out; every further call gives this too */
};

struct sse_reader {
    char *kept; /* joined data and after it the unfinished line; malloc'ed lazily, freed when empty */
    size_t kept_len, kept_capacity;
    size_t line_start;      /* offset in kept of the unfinished line */
    size_t max_event_bytes; /* of one event's joined data; a line may be 8 bytes longer, a comment is not limited */
    char name[32];
    uint32_t stray_lines; /* lines that are neither a field of the standard, a comment nor blank */
    char stray[160];      /* the first of them, cut; "" = none */
    uint32_t comments;    /* comment lines */
    uint8_t state;        /* BOM and CR bookkeeping */
    bool has_data;
};

void sse_reader_init(struct sse_reader *reader, size_t max_event_bytes);
/* Frees what an unfinished event holds. The struct may be initialised again. */
void sse_reader_done(struct sse_reader *reader);
/* Consumes from [*at, end) and moves *at; call again until SSE_MORE or SSE_BAD. */
enum sse_result sse_next(struct sse_reader *reader, const char **at, const char *end, struct sse_event *ret);
/*
 * The stream ended. The standard drops an unfinished event; for `data: [DONE]` without its blank line the caller wants
 * it: SSE_EVENT when a complete data line is pending, else SSE_MORE. A last line without its line end counts as
 * complete when it is `data: [DONE]`; one that cannot be a field counts as stray.
 */
enum sse_result sse_finish(struct sse_reader *reader, struct sse_event *ret);
/* True when no unfinished event is held. */
bool sse_is_between(const struct sse_reader *reader);

#endif
