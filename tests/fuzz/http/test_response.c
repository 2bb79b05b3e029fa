/* SPDX-License-Identifier: Apache-2.0 */
/* The first byte seeds the pieces, the rest is what a server sent: whole and in pieces it reads the same. */
#include "base/rng.h"
#include "base/strbuf.h"
#include "http/response.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

/* Feeds [at, end), which must be consumed whole unless the answer is over. False: it is. */
static bool feed(struct http_response *parser, const char *at, const char *end, struct strbuf *out)
{
    const char *span = NULL;
    size_t len = 0;
    for (;;) {
        const char *before = at;
        enum http_result result = http_response_next(parser, &at, end, &span, &len);
        if (at < before || at > end)
            abort();
        switch (result) {
        case HTTP_HEAD:
            strbuf_addf(out, "[%d %d %d %lld %d %d %s|", parser->head.status, parser->head.chunked,
                        parser->head.keep_alive, (long long)parser->head.content_length, (int)parser->head.media,
                        (int)parser->head.coding, parser->head.location);
            break;
        case HTTP_SPAN:
            if (len == 0 || span < before || span + len > at)
                abort();
            strbuf_add(out, span, len);
            break;
        case HTTP_MORE:
            if (at != end)
                abort();
            return true;
        case HTTP_END:
            strbuf_adds(out, "]");
            http_response_done(parser);
            http_response_init(parser);
            if (at == end)
                return true;
            break;
        default:
            strbuf_addf(out, "BAD %s", parser->error);
            return false;
        }
    }
}

static void report(const uint8_t *data, size_t size, struct rng *rng, struct strbuf *out)
{
    struct http_response parser;
    bool goes_on = true;
    http_response_init(&parser);
    for (size_t from = 0; from < size && goes_on;) {
        size_t len = rng ? (size_t)rng_below(rng, 1 + rng_below(rng, 64)) + 1 : size;
        if (len > size - from)
            len = size - from;
        char *piece = malloc(len);
        if (!piece)
            abort();
        memcpy(piece, data + from, len);
        from += len;
        goes_on = feed(&parser, piece, piece + len, out);
        free(piece);
    }
    if (goes_on && !http_response_is_untouched(&parser))
        strbuf_adds(out, http_response_eof(&parser) == HTTP_END ? "]" : parser.error);
    http_response_done(&parser);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct rng rng;
    AS_AUTO_STRBUF struct strbuf whole, pieces;
    strbuf_init(&whole, 0);
    strbuf_init(&pieces, 0);
    if (size == 0)
        return 0;
    rng_init(&rng, data[0], 1);
    report(data + 1, size - 1, NULL, &whole);
    report(data + 1, size - 1, &rng, &pieces);
    if (whole.len != pieces.len || memcmp(strbuf_text(&whole), strbuf_text(&pieces), whole.len) != 0) {
        fprintf(stderr, "in pieces\n%s\nwhole\n%s\n", strbuf_text(&pieces), strbuf_text(&whole));
        abort();
    }
    return 0;
}
