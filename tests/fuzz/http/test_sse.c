/* SPDX-License-Identifier: Apache-2.0 */
/* The first byte seeds the pieces, the rest is an event stream: the reader reports what the standard says, however it
 * is cut. */
#include "base/rng.h"
#include "unit/http/sse_reference.h"

#include <stdio.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static size_t random_piece(void *context)
{
    struct rng *rng = context;
    return (size_t)rng_below(rng, 1 + rng_below(rng, 64)) + 1;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct rng rng;
    AS_AUTO_STRBUF struct strbuf expected, actual;
    strbuf_init(&expected, 0);
    strbuf_init(&actual, 0);
    if (size == 0)
        return 0;
    rng_init(&rng, data[0], 1);
    reference_report((const char *)data + 1, size - 1, &expected);
    reader_report((const char *)data + 1, size - 1, random_piece, &rng, &actual);
    if (expected.len != actual.len || memcmp(strbuf_text(&expected), strbuf_text(&actual), actual.len) != 0) {
        fprintf(stderr, "gave\n%s\ninstead of\n%s\n", strbuf_text(&actual), strbuf_text(&expected));
        abort();
    }
    return 0;
}
