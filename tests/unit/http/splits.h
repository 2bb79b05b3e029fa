/* SPDX-License-Identifier: Apache-2.0 */
#ifndef ASSAY_TEST_HTTP_SPLITS_H
#define ASSAY_TEST_HTTP_SPLITS_H

/*
 * Feeds an input to an incremental reader whole, cut at every place, cut at every pair of places (short inputs) and
 * byte by byte, and asserts that what it reports is the same each time. Each piece lies in memory of exactly its own
 * size, so that the address sanitizer sees a byte read too far, and is freed before the next one comes.
 */

#include "base/strbuf.h"

#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <setjmp.h>

#include <cmocka.h>

struct subject {
    void *(*begin)(void);
    /* Appends to `out` what the reader reports. */
    void (*feed)(void *reader, const char *at, size_t len, struct strbuf *out);
    /* The end of the input; frees the reader. */
    void (*finish)(void *reader, struct strbuf *out);
};

/* Pieces end at each of `cuts` (ascending) and at `len`. */
static inline void splits_run(const struct subject *subject, const char *input, size_t len, const size_t *cuts,
                              size_t count, struct strbuf *out)
{
    void *reader = subject->begin();
    size_t from = 0;
    for (size_t i = 0; i <= count; i++) {
        size_t to = i < count ? cuts[i] : len;
        char *piece = malloc(to - from + (to == from));
        assert_non_null(piece);
        memcpy(piece, input + from, to - from);
        subject->feed(reader, piece, to - from, out);
        free(piece);
        from = to;
    }
    subject->finish(reader, out);
    assert_int_equal(strbuf_status(out), AS_OK);
}

static inline void splits_compare(const struct subject *subject, const char *input, size_t len, const size_t *cuts,
                                  size_t count, const struct strbuf *expected)
{
    AS_AUTO_STRBUF struct strbuf out;
    strbuf_init(&out, 0);
    splits_run(subject, input, len, cuts, count, &out);
    if (out.len != expected->len || memcmp(strbuf_text(&out), strbuf_text(expected), out.len) != 0)
        fail_msg("input %.60s cut at %zu (%zu cuts) gave\n%s\ninstead of\n%s", input, cuts[0], count, strbuf_text(&out),
                 strbuf_text(expected));
}

/* All cuts against the whole, pairs when len is at most `pairs_up_to`. Appends the whole's report to `out`. */
static inline void splits_check(const struct subject *subject, const char *input, size_t len, size_t pairs_up_to,
                                struct strbuf *out)
{
    splits_run(subject, input, len, NULL, 0, out);
    for (size_t i = 1; i < len; i++) {
        splits_compare(subject, input, len, &i, 1, out);
        for (size_t j = i + 1; j < len && len <= pairs_up_to; j++)
            splits_compare(subject, input, len, (size_t[]){i, j}, 2, out);
    }
    if (len < 2)
        return;
    size_t *all = calloc(len - 1, sizeof *all);
    assert_non_null(all);
    for (size_t i = 1; i < len; i++)
        all[i - 1] = i;
    splits_compare(subject, input, len, all, len - 1, out);
    free(all);
}

/* splits_check, and the report is `expected`. */
static inline void splits_expect(const struct subject *subject, const char *input, size_t len, const char *expected)
{
    AS_AUTO_STRBUF struct strbuf out;
    strbuf_init(&out, 0);
    splits_check(subject, input, len, 120, &out);
    assert_string_equal(strbuf_text(&out), expected);
}

#endif
