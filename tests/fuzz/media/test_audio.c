/* SPDX-License-Identifier: Apache-2.0 */
/* Audio files: what is accepted is known and of a sensible length, what is refused says why; no byte beyond the end is
 * read. */
#include "media/audio.h"

#include <stdbool.h>
#include <stdlib.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void must(bool holds)
{
    if (!holds)
        abort();
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct audio_info info;
    struct as_error err = {.message = ""};
    as_status status = audio_check(data, size, &info, &err);
    if (status != AS_OK) {
        must(err.message[0]);
        return 0;
    }
    must(info.format < AUDIO_UNKNOWN);
    must(info.format == audio_sniff(data, size));
    must(info.duration_ns >= -1 && info.duration_ns < INT64_C(320000000000000000));
    return 0;
}
