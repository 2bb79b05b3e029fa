/* SPDX-License-Identifier: Apache-2.0 */
/* Lengths of files, by the program assay-media. */
#include "workload/audio.h"

#include "base/clock.h"
#include "base/json.h"
#include "base/json_write.h"
#include "fetch/child.h"

#include <limits.h>
#include <stdlib.h>
#include <string.h>

/* Files given to one run of the program, and how long it may take for them. */
#define BATCH_FILES     64
#define BATCH_NS        (INT64_C(300) * NS_PER_S)
#define OUTPUT_BYTES    ((size_t)BATCH_FILES * (6 * PATH_MAX + 1024))
#define TOLERANCE_NS    (50 * NS_PER_MS)
#define TOLERANCE_SHARE 100

/* What a file's line says. */
static void take_answer(struct audio_sample *sample, const char *line, size_t len, struct arena *arena)
{
    const struct json_value *value;
    int64_t measured_ns;
    arena_reset(arena);
    if (json_parse(line, len, NULL, arena, &value, NULL) != AS_OK ||
        !json_int64(json_get(value, "duration_ns"), &measured_ns) || measured_ns <= 0)
        return;
    sample->measured_ns = measured_ns;
    if (sample->duration_ns < 0) {
        sample->duration_ns = measured_ns;
        sample->duration_source = AUDIO_DURATION_FILE;
        return;
    }
    int64_t off_ns = llabs(measured_ns - sample->duration_ns);
    sample->is_misstated = off_ns > TOLERANCE_NS && off_ns > sample->duration_ns / TOLERANCE_SHARE;
}

static void put_path(struct strbuf *input, const char *path)
{
    strbuf_addc(input, '"');
    json_escape(input, path, strlen(path));
    strbuf_adds(input, "\"\n");
}

struct measuring {
    char program[PATH_MAX];
    struct arena arena; /* of one answer */
};

/* Runs the program over `count` files; how many of them it answered for in *ret_done (fewer when one of them ended it).
 */
static as_status run_batch(struct measuring *measuring, struct audio_sample *const *samples, size_t count,
                           size_t *ret_done, struct as_error *err)
{
    struct fetch_child child;
    AS_AUTO_STRBUF struct strbuf input, output, result;
    strbuf_init(&input, 0);
    strbuf_init(&output, OUTPUT_BYTES);
    strbuf_init(&result, 4096);
    for (size_t i = 0; i < count; i++)
        put_path(&input, samples[i]->path);
    if (strbuf_status(&input) != AS_OK)
        return error_set(err, AS_E_NOMEM, "no memory for the lengths of the files");
    as_status status = fetch_child_start(measuring->program, -1, &child, err);
    if (status != AS_OK)
        return status;
    struct fetch_exchange exchange = {
        .parts = {input.data}, .part_bytes = {input.len}, .output = &output, .result = &result};
    status = fetch_child_talk(&child, &exchange, mono_now().ns + BATCH_NS);
    fetch_child_end(&child, status == AS_OK);
    if (status == AS_E_NOMEM)
        return error_set(err, status, "no memory for the lengths of the files");
    const char *at = strbuf_text(&output), *end = at + output.len, *line_end;
    size_t done = 0;
    for (; done < count && (line_end = memchr(at, '\n', (size_t)(end - at))); at = line_end + 1)
        take_answer(samples[done++], at, (size_t)(line_end - at), &measuring->arena);
    *ret_done = done;
    return AS_OK;
}

static as_status measure(struct audio_sample *const *samples, size_t count, const struct audio_progress *progress,
                         struct as_error *err)
{
    struct measuring measuring;
    as_status status = fetch_program_find("assay-media", measuring.program, sizeof measuring.program, err);
    arena_init(&measuring.arena, 0, 0);
    for (size_t at = 0; at < count && status == AS_OK;) {
        size_t batch = count - at < BATCH_FILES ? count - at : BATCH_FILES, done = 0;
        status = run_batch(&measuring, samples + at, batch, &done, err);
        /* The file that ended the program stays without a length; the next run begins behind it. */
        at += done < batch ? done + 1 : done;
        if (status == AS_OK && progress && progress->show)
            progress->show(progress->context, "measured", at, count);
    }
    arena_done(&measuring.arena);
    return status;
}

as_status audio_set_measure(struct audio_set *set, const struct audio_progress *progress, struct as_error *err)
{
    struct audio_sample **samples = calloc(set->count + 1, sizeof *samples);
    size_t count = 0;
    if (!samples)
        return error_set(err, AS_E_NOMEM, "no memory for the lengths of the files");
    for (size_t i = 0; i < set->count; i++)
        if (!set->items[i].failure)
            samples[count++] = &set->items[i];
    as_status status = count > 0 ? measure(samples, count, progress, err) : AS_OK;
    free(samples);
    return status;
}
