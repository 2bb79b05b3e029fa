/* SPDX-License-Identifier: Apache-2.0 */
#ifndef ASSAY_TESTS_TOKEN_TRACE_H
#define ASSAY_TESTS_TOKEN_TRACE_H

/* What a json_stream says about a text, one line a token, for comparing runs over different pieces. */

#include "base/json_stream.h"

#include "support/check.h"

#include <stdlib.h>
#include <string.h>

#define TRACE_CUTS_MAX 4

struct trace_input {
    const char *text;
    size_t len;
    size_t cuts[TRACE_CUTS_MAX]; /* ascending; where a new piece begins, values ≥ len do nothing */
    size_t step;                 /* > 0: pieces of this size instead */
    struct json_limits limits;
    bool is_sequence;
    size_t skip_after; /* json_stream_skip after this many tokens, SIZE_MAX = never */
};

static inline void trace_token(struct strbuf *out, enum json_token token, const struct json_span *span)
{
    static const char names[] = "?!.{}[]kSNBZ";
    strbuf_addf(out, "%c %lld", names[token], (long long)span->offset);
    if (token == JSON_TOKEN_KEY || token == JSON_TOKEN_STRING || token == JSON_TOKEN_NUMBER) {
        strbuf_addf(out, " %zu ", span->len);
        strbuf_add(out, span->text, span->len);
    }
    if (token == JSON_TOKEN_BOOL)
        strbuf_adds(out, span->boolean ? " true" : " false");
    strbuf_addc(out, '\n');
}

struct trace_run {
    struct json_stream stream;
    const struct trace_input *input;
    struct strbuf *out;
    size_t tokens;
};

static inline void trace_take(struct trace_run *run, enum json_token token, const struct json_span *span)
{
    if (token <= JSON_TOKEN_END)
        return;
    trace_token(run->out, token, span);
    if (++run->tokens == run->input->skip_after)
        json_stream_skip(&run->stream);
}

/* One piece, in a block of its own size. */
static inline enum json_token trace_piece(struct trace_run *run, const char *text, size_t len)
{
    char *piece = malloc(len ? len : 1);
    assert_non_null(piece);
    memcpy(piece, text, len);
    const char *at = piece;
    struct json_span span = {0};
    enum json_token token;
    do {
        token = json_stream_next(&run->stream, &at, piece + len, &span);
        trace_take(run, token, &span);
    } while (token > JSON_TOKEN_END);
    if (token == JSON_TOKEN_MORE)
        assert_ptr_equal(at, piece + len);
    free(piece);
    return token;
}

static inline size_t trace_cut(const struct trace_input *input, size_t index, size_t from)
{
    size_t cut = input->len;
    if (input->step)
        cut = from + input->step;
    else if (index < TRACE_CUTS_MAX)
        cut = input->cuts[index];
    return cut < from ? from : cut > input->len ? input->len : cut;
}

/* Appends the trace to `out`: tokens, then "end", or the error's message and offset. */
static inline void trace(const struct trace_input *input, struct strbuf *out)
{
    struct trace_run run = {.input = input, .out = out};
    json_stream_init(&run.stream, &input->limits, input->is_sequence);
    if (input->skip_after == 0)
        json_stream_skip(&run.stream);
    enum json_token token = JSON_TOKEN_MORE;
    size_t from = 0;
    for (size_t i = 0; from < input->len && token == JSON_TOKEN_MORE; i++) {
        size_t cut = trace_cut(input, i, from);
        token = trace_piece(&run, input->text + from, cut - from);
        from = cut;
    }
    struct json_span span = {0};
    while (token != JSON_TOKEN_BAD && token != JSON_TOKEN_END) {
        token = json_stream_finish(&run.stream, &span);
        trace_take(&run, token, &span);
    }
    struct as_error err;
    as_status status = json_stream_error(&run.stream, &err);
    if (token == JSON_TOKEN_END)
        strbuf_adds(out, "end\n");
    else
        strbuf_addf(out, "%s %s at %lld\n", status_name(status), err.message, (long long)err.offset);
    json_stream_done(&run.stream);
    assert_int_equal(strbuf_status(out), AS_OK);
}

#endif
