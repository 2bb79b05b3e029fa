/* SPDX-License-Identifier: Apache-2.0 */
/* A stream of events, one a line, read with the shape cache and without it: the same. */
#include "unit/modality/modality_compare.h"

#include <stdio.h>
#include <stdlib.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static struct compare compare;
    const char *at = (const char *)data, *end = at + size;
    compare_begin(&compare);
    while (at < end) {
        const char *line_end = memchr(at, '\n', (size_t)(end - at));
        const char *stop = line_end ? line_end : end;
        if (!compare_event(&compare, at, (size_t)(stop - at))) {
            fprintf(stderr, "%.*s: %s differs\n", (int)(stop - at), at, compare.differs);
            abort();
        }
        at = line_end ? line_end + 1 : end;
    }
    compare_end(&compare);
    return 0;
}
