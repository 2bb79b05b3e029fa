/* SPDX-License-Identifier: Apache-2.0 */
#ifndef ASSAY_BASE_JSON_STREAM_STEPS_H
#define ASSAY_BASE_JSON_STREAM_STEPS_H

/*
 * The steps of base/json_stream.h: json_stream.c has the grammar between tokens, json_stream_text.c the inside of
 * strings and numbers. A step returns true when the call has its answer in feed->token, false when reading goes on.
 * Not for use elsewhere.
 */

#include "base/json_stream.h"

#define FOUND_END    (-1)
#define FOUND_UNSAID (-2)

enum expect {
    EXPECT_VALUE,
    EXPECT_ITEM_OR_END,
    EXPECT_KEY_OR_END,
    EXPECT_KEY,
    EXPECT_COLON,
    EXPECT_COMMA_OR_END,
    EXPECT_SPACE,  /* between the values of a sequence */
    EXPECT_NOTHING /* the one value is complete */
};

enum lex { LEX_BETWEEN, LEX_STRING, LEX_ESCAPE, LEX_HEX, LEX_UTF8, LEX_NUMBER, LEX_WORD };

/* What one call works on; steps move `at` and fill the token. */
struct feed {
    const char *at;
    const char *end;
    enum json_token token;
    struct json_span *span;
};

static inline int64_t json_stream_position(const struct json_stream *stream, const char *at)
{
    return stream->offset + (at - stream->piece);
}

static inline bool json_feed_more(struct feed *feed)
{
    feed->token = JSON_TOKEN_MORE;
    return true;
}

/* The document is bad at `offset` for `reason`. */
bool json_stream_fail(struct json_stream *stream, struct feed *feed, int64_t offset, const char *reason);
/* Something else than `reason` names stands at feed->at. */
bool json_stream_unexpected(struct json_stream *stream, struct feed *feed, const char *reason);
/* The token being read passes a limit. */
bool json_stream_limit(struct json_stream *stream, struct feed *feed, const char *reason);
/* A key, a value: given out unless it is skipped; the grammar goes on behind it. */
bool json_key_done(struct json_stream *stream, struct feed *feed);
bool json_value_done(struct json_stream *stream, struct feed *feed, enum json_token token);

/* feed->at is at the quote. */
bool json_string_begin(struct json_stream *stream, struct feed *feed, bool is_key);
bool json_string_step(struct json_stream *stream, struct feed *feed);
bool json_escape_step(struct json_stream *stream, struct feed *feed);
bool json_hex_step(struct json_stream *stream, struct feed *feed);
bool json_utf8_step(struct json_stream *stream, struct feed *feed);

/* feed->at is at the first digit or the sign. */
bool json_number_begin(struct json_stream *stream);
bool json_number_step(struct json_stream *stream, struct feed *feed);
/* The number ends at feed->at, after what was kept and [from, feed->at). */
bool json_number_done(struct json_stream *stream, struct feed *feed, const char *from);
/* True when what was read of a number is one. */
bool json_number_is_whole(const struct json_stream *stream);

#endif
