/* SPDX-License-Identifier: Apache-2.0 */
/* Manifests and ground truths: what is read is complete, ids are unique, and skipping bad lines changes no good one. */
#include "workload/audio.h"
#include "workload/audio_truth.h"

#include <stdlib.h>
#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void must(bool holds)
{
    if (!holds)
        abort();
}

static void check_sample(const struct audio_sample *sample)
{
    must(sample->id[0] && strlen(sample->id) < AUDIO_ID_BYTES);
    must((sample->path != NULL) != (sample->url != NULL));
    must(sample->file_name && !strchr(sample->file_name, '/'));
    must(!sample->has_format || sample->format != AUDIO_UNKNOWN);
    must((sample->duration_ns > 0) == (sample->duration_source == AUDIO_DURATION_MANIFEST));
    must(sample->line >= 1);
}

static void check_manifest(const char *text, size_t len)
{
    struct audio_set strict, lenient;
    struct as_error err = {.message = ""};
    as_status status = audio_set_parse(&(struct audio_text){text, len, "m", false}, "/folder", &strict, &err);
    must((status == AS_OK) || err.message[0]);
    as_status skipping = audio_set_parse(&(struct audio_text){text, len, "m", true}, "/folder", &lenient, NULL);
    must(status != AS_OK || skipping == AS_OK);
    if (skipping == AS_OK) {
        for (size_t i = 0; i < lenient.count; i++) {
            check_sample(&lenient.items[i]);
            must(i == 0 || strcmp(lenient.items[i].id, lenient.items[i - 1].id) != 0);
        }
        must((lenient.lines.bad_lines == 0) == (status == AS_OK));
    }
    if (status == AS_OK) {
        must(strict.count == lenient.count);
        for (size_t i = 0; i < strict.count; i++)
            must(strcmp(strict.items[i].id, lenient.items[i].id) == 0);
        audio_set_done(&strict);
    }
    if (skipping == AS_OK)
        audio_set_done(&lenient);
}

static void check_truth(const char *text, size_t len)
{
    struct audio_truth truth;
    struct as_error err = {.message = ""};
    as_status status = audio_truth_parse(&(struct audio_text){text, len, "t", true}, &truth, &err);
    must(status == AS_OK || err.message[0]);
    if (status != AS_OK)
        return;
    must(truth.count > 0);
    for (size_t i = 0; i < truth.count; i++)
        must(audio_truth_find(&truth, truth.items[i].id) == &truth.items[i]);
    audio_truth_done(&truth);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    check_manifest((const char *)data, size);
    check_truth((const char *)data, size);
    return 0;
}
