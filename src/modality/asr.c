/* SPDX-License-Identifier: Apache-2.0 */
#include "modality/asr.h"

#include "base/clock.h"
#include "modality/asr_answer.h"
#include "modality/asr_request.h"

#include <stdlib.h>
#include <string.h>

struct asr {
    struct arena arena;
    const struct audio_set *set;
    struct asr_requests requests;
    struct asr_wish wish;
};

static as_status check(const struct asr_config *config, const struct audio_set *set, struct as_error *err)
{
    if (!config->model || !config->model[0])
        return error_set(err, AS_E_USAGE, "no model is named: give --model NAME");
    if (set->count == 0)
        return error_set(err, AS_E_USAGE, "there are no audio samples");
    return AS_OK;
}

as_status asr_new(const struct asr_config *config, const struct audio_set *set, struct asr **ret, struct as_error *err)
{
    as_status status = check(config, set, err);
    if (status != AS_OK)
        return status;
    struct asr *asr = calloc(1, sizeof *asr);
    if (!asr)
        return error_set(err, AS_E_NOMEM, "no memory for the requests");
    arena_init(&asr->arena, 0, 0);
    asr->set = set;
    asr->wish = (struct asr_wish){
        .format = config->format,
        .streaming = config->streaming,
        .keeps_transcripts = config->keeps_transcripts,
        .keeps_times = config->keeps_times,
        .secrets = config->secrets,
    };
    status = asr_requests_make(config, set, &asr->arena, &asr->requests, err);
    if (status != AS_OK) {
        asr_free(asr);
        return status;
    }
    *ret = asr;
    return AS_OK;
}

void asr_free(struct asr *asr)
{
    if (!asr)
        return;
    arena_done(&asr->arena);
    free(asr);
}

/* Reads the file of a sample that is not held. */
static as_status read_file(const struct asr *asr, struct asr_answer *answer, struct iovec *ret, struct as_error *err)
{
    strbuf_reset(&answer->file);
    struct mono begun = mono_now();
    as_status status = audio_file_read(answer->sample->path, &answer->file, err);
    answer->read_ns = mono_diff_ns(mono_now(), begun);
    if (status != AS_OK)
        return status;
    if (answer->file.len != answer->sample->bytes)
        return error_set(err, AS_E_INVALID, "%.300s: the file has changed since the run began", answer->sample->path);
    if (!multipart_is_apart(asr->requests.boundary, answer->file.data, answer->file.len))
        return error_set(err, AS_E_INVALID, "%.300s: the file holds the boundary of the form; give another --seed",
                         answer->sample->path);
    *ret = (struct iovec){answer->file.data, answer->file.len};
    return AS_OK;
}

static as_status build(void *context, void *answer_memory, int64_t seq, struct payload *ret, struct as_error *err)
{
    const struct asr *asr = context;
    struct asr_answer *answer = answer_memory;
    const struct audio_sample *sample = audio_set_sample(asr->set, seq);
    const struct asr_part *head = &asr->requests.heads[sample - asr->set->items];
    struct iovec file = {(char *)(uintptr_t)sample->data, sample->bytes};
    answer->sample = sample;
    answer->read_ns = sample->read_ns;
    answer->now = (struct asr_progress){0};
    ret->path = "/audio/transcriptions";
    ret->content_type = asr->requests.content_type;
    ret->accept = asr->wish.streaming                    ? "text/event-stream"
                  : asr_format_is_json(asr->wish.format) ? "application/json"
                                                         : "*/*";
    ret->expects_stream = asr->wish.streaming;
    ret->prompt_id = sample->id;
    if (sample->failure)
        return error_set(err, AS_E_INVALID, "%s", sample->failure);
    as_status status = sample->data ? AS_OK : read_file(asr, answer, &file, err);
    if (status != AS_OK)
        return status;
    ret->parts[0] = (struct iovec){asr->requests.fields.at, asr->requests.fields.len};
    ret->parts[1] = (struct iovec){head->at, head->len};
    ret->parts[2] = file;
    ret->parts[3] = (struct iovec){asr->requests.tail.at, asr->requests.tail.len};
    ret->part_count = 4;
    return AS_OK;
}

static void begin(void *context, void *answer, const struct http_response_head *head, bool is_stream)
{
    const struct asr *asr = context;
    asr_answer_begin(&asr->wish, answer, head, is_stream);
}

static bool event(void *context, void *answer, const struct sse_event *sse_event, const struct arrival *arrival)
{
    const struct asr *asr = context;
    return asr_answer_event(&asr->wish, answer, sse_event, arrival);
}

static void body(void *context, void *answer, const char *data, size_t len, const struct arrival *arrival)
{
    const struct asr *asr = context;
    (void)arrival;
    asr_answer_body(&asr->wish, answer, data, len);
}

static void read_end(void *context, void *answer, bool last_is_exact)
{
    (void)context;
    asr_answer_read_end(answer, last_is_exact);
}

static void end(void *context, void *answer, const struct answer_close *close, const struct sse_reader *sse,
                struct request_record *record)
{
    const struct asr *asr = context;
    asr_answer_end(&asr->wish, answer, close, sse, record);
}

static void answer_done(void *context, void *answer)
{
    (void)context;
    asr_answer_done(answer);
}

const struct modality *asr_modality(void)
{
    static const struct modality modality = {
        .tool = "asr",
        .answer_bytes = sizeof(struct asr_answer),
        .max_body_bytes = (size_t)64 * 1024 * 1024,
        .build = build,
        .begin = begin,
        .event = event,
        .body = body,
        .read_end = read_end,
        .end = end,
        .answer_done = answer_done,
    };
    return &modality;
}

as_status asr_head(const struct asr *asr, int64_t seq, struct strbuf *out)
{
    const struct audio_sample *sample = audio_set_sample(asr->set, seq);
    const struct asr_part *head = &asr->requests.heads[sample - asr->set->items];
    strbuf_add(out, asr->requests.fields.at, asr->requests.fields.len);
    strbuf_add(out, head->at, head->len);
    return strbuf_status(out);
}
