/* SPDX-License-Identifier: Apache-2.0 */
/* ShareGPT files: whatever the pieces, the same library and counts; what is taken can be read as prompts. */
#include "prompts/import.h"

#include <stdlib.h>
#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void must(bool holds)
{
    if (!holds)
        abort();
}

static as_status import_all(const uint8_t *data, size_t size, size_t piece, struct import **ret)
{
    const struct import_options options = {.format = IMPORT_SHAREGPT};
    struct as_error err;
    must(import_new(&options, ret) == AS_OK);
    for (size_t at = 0; at < size; at += piece) {
        size_t len = size - at < piece ? size - at : piece;
        as_status status = import_feed(*ret, (const char *)data + at, len, &err);
        if (status != AS_OK)
            return status;
    }
    return import_finish(*ret, &err);
}

static void check(const struct import *import)
{
    const struct library *library = import_library(import);
    const struct import_counts *counts = import_counts(import);
    struct prompts prompts;
    struct as_error err;
    int64_t sum = library->count;
    for (size_t i = 0; i < IMPORT_SKIPS; i++)
        sum += counts->skipped[i];
    must(sum == counts->records);
    must(prompts_parse(strbuf_text(&library->lines), library->lines.len, NULL, &prompts, &err) == AS_OK);
    must((int64_t)prompts.count == library->count);
    prompts_done(&prompts);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct import *whole, *pieces;
    /* The mark at the start is looked for in the first piece: at least its length. */
    as_status one = import_all(data, size, size + 1, &whole), other = import_all(data, size, 3, &pieces);
    must(one == other);
    if (one == AS_OK) {
        check(whole);
        must(strcmp(import_library(whole)->content_digest, import_library(pieces)->content_digest) == 0);
    }
    import_free(whole);
    import_free(pieces);
    return 0;
}
