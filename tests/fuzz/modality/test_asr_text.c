/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Transcription answers: the first byte chooses the response format and whether the server calls it JSON. Whatever
 * comes, the transcript is valid UTF-8 and there is one exactly when there is no problem; subtitles hold no more text
 * than the answer, and no line end.
 */
#include "base/json.h"
#include "modality/asr_text.h"
#include "workload/words.h"

#include <stdlib.h>
#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void must(bool holds)
{
    if (!holds)
        abort();
}

static void must_be_sound(const struct strbuf *text)
{
    const char *at = strbuf_text(text), *end = at + text->len;
    must(strbuf_status(text) == AS_OK);
    while (at < end) {
        uint32_t code;
        bool valid = true;
        at += words_decode(at, end, &code, &valid);
        must(valid);
    }
}

/* The members make JSON, and no more of it than the limit allows. */
static void check_times(const struct asr_spans *times, size_t max_bytes)
{
    AS_AUTO_STRBUF struct strbuf object;
    strbuf_init(&object, 0);
    strbuf_adds(&object, "{\"a\":0");
    asr_times_add(times, max_bytes, &object);
    must(object.len <= max_bytes + 80);
    strbuf_addc(&object, '}');
    must(strbuf_status(&object) == AS_OK && json_cursor_validate(object.data, object.len, NULL));
}

static void check_body(enum asr_format format, bool is_json, const char *data, size_t len)
{
    struct asr_reading reading;
    AS_AUTO_STRBUF struct strbuf text;
    strbuf_init(&text, 0);
    asr_read_body(&(struct asr_body){format, is_json, data, len}, &text, &reading);
    must_be_sound(&text);
    must(reading.problem == ASR_FINE || text.len == 0);
    must(reading.cues >= -1 && reading.told.inference_ns >= -1 && reading.told.duration_ns >= -1);
    must(strlen(reading.told.language) < sizeof reading.told.language);
    must(text.len <= 3 * len);
    check_times(&reading.times, ASR_TIMES_MAX_BYTES);
    check_times(&reading.times, len);
    if (reading.cues > 0)
        must(!memchr(strbuf_text(&text), '\n', text.len) && !memchr(strbuf_text(&text), '\r', text.len));
    int64_t chars = asr_count_chars(strbuf_text(&text), text.len);
    must(chars >= 0 && chars <= (int64_t)text.len);
    must((words_count(strbuf_text(&text), text.len) == 0) == (chars == 0));
}

static void check_event(const char *data, size_t len)
{
    struct asr_event event;
    AS_AUTO_STRBUF struct strbuf text;
    strbuf_init(&text, 0);
    asr_read_event(data, len, &event);
    must(event.kind != ASR_EVENT_DELTA || event.text.len > 0);
    must(event.kind != ASR_EVENT_BROKEN || !event.text.at);
    asr_add_raw(&text, &event.text);
    must_be_sound(&text);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    if (size == 0)
        return 0;
    const char *body = (const char *)data + 1;
    check_body((enum asr_format)(data[0] % ASR_FORMAT_COUNT), data[0] & 0x40, body, size - 1);
    check_event(body, size - 1);
    return 0;
}
