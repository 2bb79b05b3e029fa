/* SPDX-License-Identifier: Apache-2.0 */
/* run.json: what is read is written again as the same facts. */
#include "summary/run_file.h"

#include <stdlib.h>
#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void must(bool holds)
{
    if (!holds)
        abort();
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct arena arena;
    struct run_facts facts, again;
    struct as_error err;
    struct strbuf first, second;
    arena_init(&arena, 0, 0);
    strbuf_init(&first, 0);
    strbuf_init(&second, 0);
    if (run_facts_parse((const char *)data, size, &arena, &facts, &err) == AS_OK) {
        must(run_facts_format(&facts, &first) == AS_OK);
        must(run_facts_parse(first.data, first.len, &arena, &again, &err) == AS_OK);
        must(run_facts_format(&again, &second) == AS_OK);
        must(first.len == second.len && memcmp(first.data, second.data, first.len) == 0);
    }
    strbuf_done(&first);
    strbuf_done(&second);
    arena_done(&arena);
    return 0;
}
