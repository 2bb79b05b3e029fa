/* SPDX-License-Identifier: Apache-2.0 */
#ifndef ASSAY_WORKLOAD_AUDIO_JSONL_H
#define ASSAY_WORKLOAD_AUDIO_JSONL_H

/*
 * Lines of JSON objects, for manifests and ground truths: a byte order mark, CR LF ends and blank lines are accepted, a
 * bad line is an error with its number or, when bad lines are skipped, counted. Names without a meaning are noted. One
 * thread.
 */

#include "base/arena.h"
#include "base/json.h"
#include "base/status.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define AUDIO_LINE_MAX_BYTES  ((size_t)64 * 1024 * 1024)
#define AUDIO_UNKNOWN_MEMBERS 8
#define AUDIO_MEMBER_BYTES    48

/* Members without a meaning: the first few names, and the line each was first seen on. */
struct audio_unknown {
    char names[AUDIO_UNKNOWN_MEMBERS][AUDIO_MEMBER_BYTES]; /* cut to fit */
    int64_t lines[AUDIO_UNKNOWN_MEMBERS];
    size_t count;
    bool has_more;
};

/* What was found beside the objects. */
struct audio_lines {
    int64_t lines, blank_lines, bad_lines;
    struct as_error first_bad; /* of skipped lines */
    struct audio_unknown unknown;
};

/* A text of lines. */
struct audio_text {
    const char *at;
    size_t len;
    const char *name; /* of the source, for messages */
    bool skip_bad_lines;
};

struct audio_line_reader {
    const char *const *members; /* names with a meaning, ends with NULL */
    /* Takes the object of line `line`; AS_E_INVALID with the reason alone makes the line a bad one, else reading ends.
     */
    as_status (*take)(void *context, const struct json_value *object, int64_t line, struct as_error *why);
    void *context;
};

/* AS_E_INVALID: a bad line (its number in err); AS_E_NOMEM; what `take` returned. *ret is filled in any case. */
as_status audio_lines_read(const struct audio_text *text, const struct audio_line_reader *reader,
                           struct audio_lines *ret, struct as_error *err) AS_NODISCARD;

/*
 * The id of a line, a string or a number of 1 … `max_bytes` bytes without a NUL: a copy in the arena. AS_E_INVALID with
 * the reason; AS_E_NOMEM.
 */
as_status audio_line_id(const struct json_value *object, size_t max_bytes, struct arena *arena, const char **ret,
                        struct as_error *why) AS_NODISCARD;

#endif
