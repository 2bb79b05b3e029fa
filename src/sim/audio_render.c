/* SPDX-License-Identifier: Apache-2.0 */
/* Transcripts in all response formats. */
#include "base/json_write.h"
#include "sim/answer.h"
#include "sim/audio.h"

#include <stdio.h>
#include <string.h>

#define CUE_WORDS 8
#define BLUNDER   "blunder"

static bool is_wrong(const struct sim_answer *answer, int64_t word)
{
    int64_t every = answer->profile->word_errors;
    return every > 0 && (word + 1) % every == 0;
}

/* Where word `from` of the transcript begins. */
static const char *word_start(const struct sim_transcript *transcript, int64_t from)
{
    const char *at = transcript->text, *end = at + transcript->len;
    while (from-- > 0 && at < end) {
        const char *space = memchr(at, ' ', (size_t)(end - at));
        at = space ? space + 1 : end;
    }
    return at;
}

static void put_known(const struct sim_answer *answer, int64_t from, int64_t count, struct strbuf *out)
{
    const struct sim_transcript *transcript = answer->ask.audio.transcript;
    const char *at = word_start(transcript, from), *end = transcript->text + transcript->len;
    for (int64_t i = from; i < from + count && at < end; i++) {
        const char *space = memchr(at, ' ', (size_t)(end - at));
        const char *stop = space ? space : end;
        if (i > from)
            strbuf_addc(out, ' ');
        if (is_wrong(answer, i))
            strbuf_adds(out, BLUNDER);
        else
            strbuf_add(out, at, (size_t)(stop - at));
        at = space ? space + 1 : end;
    }
}

/* Words [from, from + count), joined by single spaces. */
static void put_words(const struct sim_answer *answer, int64_t from, int64_t count, struct strbuf *out)
{
    if (answer->ask.audio.transcript) {
        put_known(answer, from, count, out);
        return;
    }
    if (count <= 0 || !strbuf_reserve(out, (size_t)count * SIM_TOKEN_BYTES))
        return;
    char *start = out->data + out->len;
    char *end = sim_vocab_put(answer->vocab, answer->vocab_start, from, count, start);
    size_t skipped = end > start && *start == ' ';
    memmove(start, start + skipped, (size_t)(end - start) - skipped);
    out->len += (size_t)(end - start) - skipped;
}

static void put_escaped(const struct sim_answer *answer, int64_t from, int64_t count, struct strbuf *out)
{
    AS_AUTO_STRBUF struct strbuf words;
    strbuf_init(&words, 0);
    put_words(answer, from, count, &words);
    json_escape(out, strbuf_text(&words), words.len);
}

/* The end of word `words` in seconds, all being equally long. */
static double word_time(const struct sim_answer *answer, int64_t words)
{
    double seconds = (double)answer->ask.audio.duration_ns / 1e9;
    return answer->tokens > 0 ? seconds * (double)words / (double)answer->tokens : 0;
}

/* ---- streams ---- */

static void put_chunk(const struct strbuf *data, struct strbuf *out)
{
    strbuf_addf(out, "%zx\r\n", data->len);
    strbuf_add(out, strbuf_text(data), data->len);
    strbuf_adds(out, "\r\n");
}

void sim_audio_event(const struct sim_answer *answer, int64_t from, int64_t count, struct strbuf *out)
{
    AS_AUTO_STRBUF struct strbuf data;
    strbuf_init(&data, 0);
    strbuf_add(&data, answer->prefix, answer->prefix_len);
    strbuf_adds(&data, "{\"index\":0,\"delta\":{\"content\":\"");
    if (from > 0)
        strbuf_addc(&data, ' ');
    put_escaped(answer, from, count, &data);
    strbuf_adds(&data, "\"},\"finish_reason\":null}]}\n\n");
    put_chunk(&data, out);
}

void sim_audio_last_event(const struct sim_answer *answer, struct strbuf *out)
{
    AS_AUTO_STRBUF struct strbuf data;
    strbuf_init(&data, 0);
    strbuf_add(&data, answer->prefix, answer->prefix_len);
    strbuf_adds(&data, "{\"index\":0,\"delta\":{},\"finish_reason\":\"stop\"}]}\n\n");
    put_chunk(&data, out);
}

/* ---- whole answers ---- */

const char *sim_audio_media(const struct sim_answer *answer)
{
    static const char *const media[] = {"application/json", "application/json", "text/plain; charset=utf-8",
                                        "text/plain; charset=utf-8", "text/vtt; charset=utf-8"};
    return media[answer->ask.audio.format];
}

static void put_time(struct strbuf *out, double seconds, char point)
{
    int64_t ms = (int64_t)(seconds * 1000 + 0.5);
    strbuf_addf(out, "%02lld:%02lld:%02lld%c%03lld", (long long)(ms / 3600000), (long long)(ms / 60000 % 60),
                (long long)(ms / 1000 % 60), point, (long long)(ms % 1000));
}

static void put_subtitle(const struct sim_answer *answer, bool is_vtt, struct strbuf *out)
{
    if (is_vtt)
        strbuf_adds(out, "WEBVTT\n\n");
    for (int64_t from = 0, number = 1; from < answer->tokens; from += CUE_WORDS, number++) {
        int64_t count = answer->tokens - from < CUE_WORDS ? answer->tokens - from : CUE_WORDS;
        if (!is_vtt)
            strbuf_addf(out, "%lld\n", (long long)number);
        put_time(out, word_time(answer, from), is_vtt ? '.' : ',');
        strbuf_adds(out, " --> ");
        put_time(out, word_time(answer, from + count), is_vtt ? '.' : ',');
        strbuf_addc(out, '\n');
        put_words(answer, from, count, out);
        strbuf_adds(out, "\n\n");
    }
}

static void put_text_member(const struct sim_answer *answer, struct strbuf *out)
{
    strbuf_adds(out, "\"text\":\"");
    put_escaped(answer, 0, answer->tokens, out);
    strbuf_addc(out, '"');
}

static void put_inference(const struct sim_answer *answer, struct strbuf *out)
{
    char text[DOUBLE_TEXT_BYTES];
    if (!answer->profile->tells_inference_time)
        return;
    double_format((double)answer->work_ns / 1e9, text);
    strbuf_addf(out, ",\"inference_time\":%s", text);
}

static void put_json(const struct sim_answer *answer, struct strbuf *out)
{
    char seconds[DOUBLE_TEXT_BYTES];
    double_format((double)answer->ask.audio.duration_ns / 1e9, seconds);
    strbuf_addc(out, '{');
    put_text_member(answer, out);
    strbuf_addf(out, ",\"usage\":{\"type\":\"duration\",\"seconds\":%s}", seconds);
    put_inference(answer, out);
    strbuf_addc(out, '}');
}

static void put_word_times(const struct sim_answer *answer, struct strbuf *out)
{
    char start[DOUBLE_TEXT_BYTES], end[DOUBLE_TEXT_BYTES];
    strbuf_adds(out, ",\"words\":[");
    for (int64_t i = 0; i < answer->tokens; i++) {
        double_format(word_time(answer, i), start);
        double_format(word_time(answer, i + 1), end);
        strbuf_adds(out, i ? ",{\"word\":\"" : "{\"word\":\"");
        put_escaped(answer, i, 1, out);
        strbuf_addf(out, "\",\"start\":%s,\"end\":%s}", start, end);
    }
    strbuf_addc(out, ']');
}

static void put_verbose_json(const struct sim_answer *answer, struct strbuf *out)
{
    char seconds[DOUBLE_TEXT_BYTES];
    double_format((double)answer->ask.audio.duration_ns / 1e9, seconds);
    strbuf_addf(out, "{\"task\":\"transcribe\",\"language\":\"%s\",\"duration\":%s,", answer->ask.audio.language,
                seconds);
    put_text_member(answer, out);
    strbuf_addf(out, ",\"segments\":[{\"id\":0,\"seek\":0,\"start\":0,\"end\":%s,", seconds);
    put_text_member(answer, out);
    strbuf_adds(out, ",\"temperature\":0}]");
    if (answer->ask.audio.wants_words)
        put_word_times(answer, out);
    put_inference(answer, out);
    strbuf_addc(out, '}');
}

void sim_audio_body(const struct sim_answer *answer, struct strbuf *out)
{
    switch (answer->ask.audio.format) {
    case SIM_AUDIO_JSON:
        put_json(answer, out);
        break;
    case SIM_AUDIO_VERBOSE_JSON:
        put_verbose_json(answer, out);
        break;
    case SIM_AUDIO_TEXT:
        put_words(answer, 0, answer->tokens, out);
        strbuf_addc(out, '\n');
        break;
    case SIM_AUDIO_SRT:
    case SIM_AUDIO_VTT:
        put_subtitle(answer, answer->ask.audio.format == SIM_AUDIO_VTT, out);
        break;
    }
}
