/* SPDX-License-Identifier: Apache-2.0 */
#ifndef ASSAY_BASE_JSON_STREAM_H
#define ASSAY_BASE_JSON_STREAM_H

/*
 * Incremental reader of JSON (RFC 8259) for documents larger than memory: bytes in, in pieces of
 * any size, tokens out, the same whatever the pieces. Strict in the same way as base/json.h; the
 * whole grammar, UTF-8 and the limits are checked, in skipped parts too. Memory: the structure
 * and, while a string or number is in several pieces or has escapes, a copy of that one text.
 *
 *     json_stream_init(&stream, NULL, false);
 *     while ((len = read_some(piece)) > 0) {
 *         const char *at = piece;
 *         while ((token = json_stream_next(&stream, &at, piece + len, &span)) > JSON_TOKEN_END)
 *             use(token, &span);
 *         if (token == JSON_TOKEN_BAD)
 *             return json_stream_error(&stream, err);
 *     }
 *     while ((token = json_stream_finish(&stream, &span)) > JSON_TOKEN_END)
 *         use(token, &span);
 *
 * Once bad it stays bad. One stream is for one thread at a time.
 */

#include "base/json.h"
#include "base/strbuf.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Those after JSON_TOKEN_END carry something. */
enum json_token {
    JSON_TOKEN_MORE, /* all bytes consumed */
    JSON_TOKEN_BAD,  /* see json_stream_error */
    JSON_TOKEN_END,  /* from json_stream_finish: the document was complete */
    JSON_TOKEN_OBJECT,
    JSON_TOKEN_OBJECT_END,
    JSON_TOKEN_ARRAY,
    JSON_TOKEN_ARRAY_END,
    JSON_TOKEN_KEY,
    JSON_TOKEN_STRING,
    JSON_TOKEN_NUMBER,
    JSON_TOKEN_BOOL,
    JSON_TOKEN_NULL
};

struct json_span {
    const char
        *text;  /* KEY, STRING: decoded; NUMBER: as written. No NUL; valid until the next call and while the piece is */
    size_t len; /* bytes of text */
    int64_t offset; /* bytes from the start of the document to the token's first byte */
    bool boolean;   /* BOOL */
};

struct json_stream {
    struct json_limits limits; /* in effect, without zeros */
    bool is_sequence;
    bool is_skipping;
    uint8_t expect;                            /* what the grammar allows next */
    uint8_t lex;                               /* inside which token the last piece ended */
    size_t depth;                              /* open arrays and objects */
    size_t skip_depth;                         /* skipping ends with the value that ends at this depth */
    uint64_t object_bits[JSON_DEPTH_MAX / 64]; /* which open ones are objects */
    const char *piece;                         /* start of the piece being read */
    int64_t offset;                            /* of that start, bytes from the start of the document */
    int64_t token_offset;
    int64_t line;        /* from 1 */
    int64_t line_offset; /* of the first byte of that line */
    struct strbuf kept;  /* text of a token in several parts */
    size_t text_bytes;   /* decoded so far of the string or number */
    bool is_key;
    uint8_t number_state;
    const char *word;            /* true, false or null */
    uint8_t word_at;             /* letters of it seen */
    uint8_t hex_digits;          /* of \uXXXX seen */
    uint8_t utf8_more;           /* continuation bytes still to come */
    uint8_t utf8_low, utf8_high; /* bounds of the next one */
    uint8_t utf8_len;
    char utf8[4];            /* the sequence so far */
    uint32_t code;           /* value of \uXXXX so far */
    uint32_t high_surrogate; /* waiting for its partner, 0 = none */
    int64_t escape_offset;   /* of the latest escape or UTF-8 sequence */
    int64_t high_offset;     /* of the escape that gave high_surrogate */
    as_status status;        /* AS_OK, or why it is bad */
    const char *reason;      /* static text */
    int found;               /* the byte that was not expected, -1 = the end, -2 = not said */
    int64_t error_offset;
};

/*
 * `limits` may be NULL. A sequence is any number of top-level values, also none, with white space between (JSON lines);
 * else the document is exactly one value.
 */
void json_stream_init(struct json_stream *stream, const struct json_limits *limits, bool is_sequence);
void json_stream_done(struct json_stream *stream);

/* Consumes from [*at, end), moves *at, gives the next token; JSON_TOKEN_MORE when all is consumed. */
enum json_token json_stream_next(struct json_stream *stream, const char **at, const char *end, struct json_span *ret);
/* The input ended. Gives a number that only the end could end, then JSON_TOKEN_END, or JSON_TOKEN_BAD. */
enum json_token json_stream_finish(struct json_stream *stream, struct json_span *ret);

/*
 * No tokens for what comes next: after a KEY its value; at the top level the next value; else the rest of the innermost
 * open array or object and its end. Checks like reading, copies nothing.
 */
void json_stream_skip(struct json_stream *stream);

/* Open arrays and objects after the latest token. */
static inline size_t json_stream_depth(const struct json_stream *stream)
{
    return stream->depth;
}

/* After JSON_TOKEN_BAD: fills *err (may be NULL) with sentence and place; returns AS_E_INVALID, AS_E_LIMIT or
 * AS_E_NOMEM. */
as_status json_stream_error(const struct json_stream *stream, struct as_error *err) AS_NODISCARD;

#endif
