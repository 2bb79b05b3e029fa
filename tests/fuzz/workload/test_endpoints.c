/* SPDX-License-Identifier: Apache-2.0 */
/* Endpoints files: what is taken is complete, what is refused leaves nothing behind. */
#include "workload/endpoints.h"

#include <stdbool.h>
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
    struct endpoint_list list;
    struct as_error err;
    endpoints_init(&list);
    as_status status = endpoints_parse(&list, (const char *)data, size, "file", &err);
    must((status == AS_OK) == (list.count > 0));
    if (status != AS_OK)
        must(err.message[0]);
    for (size_t i = 0; i < list.count; i++) {
        must(list.items[i].url && list.items[i].url[0]);
        must(list.items[i].weight >= 1 && list.items[i].weight <= ENDPOINT_WEIGHT_MAX);
    }
    if (status == AS_OK && endpoints_finish(&list, &err) == AS_OK)
        for (size_t i = 0; i < list.count; i++)
            must(list.items[i].name && list.items[i].name[0]);
    endpoints_done(&list);
    return 0;
}
