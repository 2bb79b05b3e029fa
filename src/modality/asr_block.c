/* SPDX-License-Identifier: Apache-2.0 */
#include "modality/asr_block.h"

#include "base/json_write.h"
#include "modality/asr.h"

#include <math.h>

static void put_known(struct json_writer *writer, const char *name, int64_t value)
{
    if (value < 0)
        json_member_null(writer, name);
    else
        json_member_int(writer, name, value);
}

/* a / b; null when one is unknown or b is not positive. */
static void put_ratio(struct json_writer *writer, const char *name, double a, double b)
{
    if (a >= 0 && b > 0)
        json_member_double(writer, name, a / b);
    else
        json_member_null(writer, name);
}

static void put_sample(struct json_writer *writer, const struct audio_sample *sample, enum asr_format format)
{
    bool has_format = sample->format != AUDIO_UNKNOWN;
    json_member_string(writer, "format", has_format ? audio_format_name(sample->format) : NULL);
    put_known(writer, "audio_bytes_sent", sample->bytes > 0 ? (int64_t)sample->bytes : -1);
    put_known(writer, "audio_duration_ns", sample->duration_ns);
    json_member_string(writer, "duration_source",
                       sample->duration_ns < 0 ? NULL : audio_duration_source_name(sample->duration_source));
    json_member_string(writer, "response_format", asr_format_name(format));
}

static void put_inference(struct json_writer *writer, const struct audio_sample *sample,
                          const struct asr_result *result)
{
    int64_t told_ns = result->is_ok ? result->reading->told.inference_ns : -1;
    int64_t inference_ns = told_ns >= 0 ? told_ns : result->is_ok ? result->response_ns : -1;
    double seconds = inference_ns > 0 ? (double)inference_ns / 1e9 : -1;
    put_known(writer, "inference_time_ns", inference_ns);
    json_member_string(writer, "inference_time_source", inference_ns < 0 ? NULL : told_ns >= 0 ? "server" : "client");
    put_ratio(writer, "rtf", (double)inference_ns, (double)sample->duration_ns);
    put_ratio(writer, "rtfx", (double)sample->duration_ns, (double)inference_ns);
    put_known(writer, "words", result->words);
    put_known(writer, "chars", result->chars);
    put_ratio(writer, "words_per_inference_second", (double)result->words, seconds);
    put_ratio(writer, "chars_per_inference_second", (double)result->chars, seconds);
}

void asr_block_write(const struct audio_sample *sample, enum asr_format format, const struct asr_result *result,
                     struct strbuf *out)
{
    const struct asr_reading *reading = result->reading;
    struct json_writer writer;
    json_writer_init(&writer, out, 0);
    json_open_object(&writer);
    put_sample(&writer, sample, format);
    put_known(&writer, "response_bytes", result->body_bytes);
    put_known(&writer, "file_read_ns", result->read_ns);
    put_known(&writer, "response_time_spec_ns",
              result->read_ns >= 0 && result->response_ns >= 0 ? result->read_ns + result->response_ns : -1);
    put_inference(&writer, sample, result);
    put_known(&writer, "cues", result->is_ok ? reading->cues : -1);
    json_member_string(&writer, "language", result->is_ok && reading->told.language[0] ? reading->told.language : NULL);
    put_known(&writer, "server_duration_ns", result->is_ok ? reading->told.duration_ns : -1);
    json_close_object(&writer);
    if (json_writer_status(&writer) != AS_OK && out->status == AS_OK)
        out->status = AS_E_INTERNAL;
}

void asr_block_of_refused(const struct audio_sample *sample, enum asr_format format, struct strbuf *out)
{
    struct asr_reading nothing = {.cues = -1};
    struct asr_result result = {-1, -1, -1, false, -1, -1, &nothing};
    asr_block_write(sample, format, &result, out);
}
