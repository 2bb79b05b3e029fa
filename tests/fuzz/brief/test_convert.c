/* SPDX-License-Identifier: Apache-2.0 */
/* Any bytes as the results of a generator: the first byte chooses it. What is converted is a valid report. */
#include "brief/convert.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

#define DEMAND(condition)                                                                                              \
    do {                                                                                                               \
        if (!(condition))                                                                                              \
            abort();                                                                                                   \
    } while (0)

#define INPUT_BYTES_MAX 65536
#define GENERATORS      7

/* A file is read in pieces, text as a whole: both give the same reports. */
static void convert_file_as(const struct convert_request *request, as_status expected, const struct conversion *text)
{
    struct conversion conversion;
    conversion_init(&conversion);
    DEMAND(convert_file(request, &conversion, NULL) == expected);
    DEMAND(expected != AS_OK || conversion.count == text->count);
    DEMAND(strcmp(strbuf_text(&conversion.warnings), strbuf_text(&text->warnings)) == 0);
    for (size_t i = 0; expected == AS_OK && i < conversion.count && i < 4; i++) {
        struct value *run = value_get(conversion.reports[i].root, "run");
        const struct value *uid = value_at(text->reports[i].root, "run.uid");
        if (uid)
            value_set(run, "uid", value_share(&conversion.reports[i].tree, uid)); /* made anew each time */
        DEMAND(value_equal(conversion.reports[i].root, text->reports[i].root));
    }
    conversion_done(&conversion);
}

static void convert_as(const struct convert_request *request, const char *text, size_t len)
{
    struct conversion conversion;
    struct as_error err = {0};
    conversion_init(&conversion);
    as_status status = convert_text(request, text, len, &conversion, &err);
    DEMAND(status == AS_OK || err.message[0] != '\0');
    convert_file_as(request, status, &conversion);
    for (size_t i = 0; status == AS_OK && i < conversion.count && i < 4; i++) {
        struct brief_report again;
        struct strbuf yaml AS_AUTO_STRBUF;
        strbuf_init(&yaml, 0);
        brief_write_yaml(&conversion.reports[i], &yaml);
        brief_init(&again);
        DEMAND(brief_read_text(&again, yaml.data, yaml.len, NULL) == AS_OK);
        DEMAND(value_equal(again.root, conversion.reports[i].root));
        brief_done(&again);
    }
    conversion_done(&conversion);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    if (size < 2 || size > INPUT_BYTES_MAX)
        return 0;
    unsigned choice = data[0];
    char path[64];
    int fd = memfd_create("stage_1_x.json", MFD_CLOEXEC);
    DEMAND(fd >= 0 && write(fd, data + 1, size - 1) == (ssize_t)(size - 1));
    (void)snprintf(path, sizeof path, "/proc/self/fd/%d", fd);
    struct convert_request request = {.generator = convert_generators[choice % GENERATORS], .path = path};
    request.is_session = choice / GENERATORS % 2 == 1;
    request.version = "0.1";
    convert_as(&request, (const char *)data + 1, size - 1);
    request.version = "0.2.1";
    convert_as(&request, (const char *)data + 1, size - 1);
    DEMAND(close(fd) == 0);
    return 0;
}
