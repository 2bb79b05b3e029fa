/* SPDX-License-Identifier: Apache-2.0 */
/* Random streams, fed in random pieces, against the plain reading of the standard. */
#include "base/rng.h"
#include "sse_reference.h"
#include "support/check.h"

#define STREAMS 4000

static const char *const PARTS[] = {
    "data: ", "data:",     "data",         ":",    ": x",  "event: e",    "id: 1",           "retry: 2",
    "stray",  " ",         "\n",           "\r",   "\r\n", "\n\n",        "\r\n\r\n",        "\r\r",
    "a",      "{\"b\":1}", "\xEF\xBB\xBF", "\xEF", "\xBB", "data: x\n\n", "data: y\r\n\r\n", "x\0y",
};

/* A stream of up to 40 parts; "x\0y" keeps its NUL. */
static void make_stream(struct rng *rng, struct strbuf *ret)
{
    size_t count = (size_t)rng_below(rng, 40);
    for (size_t i = 0; i < count; i++) {
        const char *part = PARTS[rng_below(rng, ARRAY_COUNT(PARTS))];
        strbuf_add(ret, part, part[0] == 'x' ? 3 : strlen(part));
    }
}

static size_t random_piece(void *context)
{
    struct rng *rng = context;
    return (size_t)rng_below(rng, rng_below(rng, 2) ? 4 : 30) + 1;
}

static size_t whole(void *context)
{
    (void)context;
    return SIZE_MAX;
}

static void assert_same(const struct strbuf *stream, const struct strbuf *expected, const struct strbuf *actual)
{
    if (expected->len != actual->len || memcmp(strbuf_text(expected), strbuf_text(actual), actual->len) != 0)
        fail_msg("%s\ngave\n%s\ninstead of\n%s", strbuf_text(stream), strbuf_text(actual), strbuf_text(expected));
}

static void test_random_streams(void **state)
{
    (void)state;
    struct rng rng;
    rng_init(&rng, 7, 1);
    size_t events = 0;
    for (size_t i = 0; i < STREAMS; i++) {
        AS_AUTO_STRBUF struct strbuf stream, expected, at_once, in_pieces;
        strbuf_init(&stream, 0);
        strbuf_init(&expected, 0);
        strbuf_init(&at_once, 0);
        strbuf_init(&in_pieces, 0);
        make_stream(&rng, &stream);
        reference_report(strbuf_text(&stream), stream.len, &expected);
        reader_report(strbuf_text(&stream), stream.len, whole, NULL, &at_once);
        reader_report(strbuf_text(&stream), stream.len, random_piece, &rng, &in_pieces);
        assert_same(&stream, &expected, &at_once);
        assert_same(&stream, &expected, &in_pieces);
        events += strchr(strbuf_text(&expected), '<') != NULL;
    }
    assert_true(events > STREAMS / 4);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_random_streams)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
