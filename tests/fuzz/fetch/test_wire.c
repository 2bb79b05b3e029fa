/* SPDX-License-Identifier: Apache-2.0 */
/* What fetch and assay-fetch read from each other. */
#include "base/arena.h"
#include "fetch/wire.h"

#include <stdlib.h>
#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct fetch_request request;
    struct fetch_result result;
    struct as_error err;
    struct arena arena;
    arena_init(&arena, 0, 0);
    if (fetch_read_request((const char *)data, size, &arena, &request, &err) == AS_OK) {
        if (!request.url)
            abort();
        for (size_t i = 0; i < request.header_count; i++)
            if (!request.headers[i])
                abort();
    }
    arena_done(&arena);
    if (fetch_read_result((const char *)data, size, &result) == AS_OK &&
        strlen(result.message) >= sizeof result.message)
        abort();
    return 0;
}
