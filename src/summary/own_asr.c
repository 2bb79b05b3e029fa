/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The figures of `assay asr` beside those of all tools: of measured successes, but for the breakdown by audio format,
 * which counts every measured request. Identities: per format requests = ok + failed + timed_out + refused + cancelled,
 * the same as in `counts`; reference = hits + substitutions + deletions for each unit of comparison.
 */
#include "summary/own.h"

#include "summary/tally.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define UNDEFINED ((double)NAN)
#define NANO      1e9
#define MICRO     1e6

/* Audio formats as the block names them; the last one is for records that do not say. */
static const char *const format_names[] = {"mp3", "wav", "webm", "ogg", "m4a", "mp4", "flac", "unknown"};
#define FORMATS (sizeof format_names / sizeof *format_names)

struct format_tally {
    int64_t requests, ok, failed, timed_out, refused, cancelled;
    int64_t audio_ns, audio_bytes; /* of successes */
};

/* Sums of the edits of one kind of comparison. */
struct edit_sums {
    int64_t hits, substitutions, deletions, insertions, edits, reference;
};

/* Rates of single transcripts and what they add up to. */
enum comparison { BY_WORD, BY_CHAR, BY_GRAPHEME, BY_WORD_RAW, BY_CHAR_RAW, COMPARISONS };

struct own_tally {
    struct column response_spec, file_read, inference, rtf, rtfx, word_rate, char_rate, duration, sent_bytes;
    struct column rates[COMPARISONS];
    struct edit_sums sums[COMPARISONS];
    struct format_tally formats[FORMATS];
    int64_t from_server, from_client; /* inference times */
    int64_t timed_ns, timed_audio_ns; /* inference and audio of successes that have both */
    int64_t words, chars, cues, audio_ns, without_duration, audio_bytes, response_bytes;
    int64_t scored, unscored;
    char normalizer[16]; /* "" = none seen */
};

static void each_column(struct own_tally *tally, void (*act)(struct column *column, struct column_store *store),
                        struct column_store *store)
{
    struct column *const columns[] = {&tally->response_spec, &tally->file_read, &tally->inference,
                                      &tally->rtf,           &tally->rtfx,      &tally->word_rate,
                                      &tally->char_rate,     &tally->duration,  &tally->sent_bytes};
    for (size_t i = 0; i < sizeof columns / sizeof *columns; i++)
        act(columns[i], store);
    for (size_t i = 0; i < COMPARISONS; i++)
        act(&tally->rates[i], store);
}

static void end_column(struct column *column, struct column_store *store)
{
    (void)store;
    column_done(column);
}

static struct own_tally *make(struct column_store *store)
{
    struct own_tally *tally = calloc(1, sizeof *tally);
    if (tally)
        each_column(tally, column_init, store);
    return tally;
}

static void drop(struct own_tally *tally)
{
    each_column(tally, end_column, NULL);
    free(tally);
}

/* ---- records ---- */

/* A count or ns value; -1 when it is not there. */
static int64_t number(const struct json_value *object, const char *name)
{
    int64_t value;
    return json_int64(json_get(object, name), &value) && value >= 0 ? value : -1;
}

static int64_t append(struct column *column, const struct json_value *object, const char *name)
{
    int64_t value = number(object, name);
    if (value >= 0)
        column_append(column, value);
    return value;
}

/* A rate, kept as a whole number of its parts. */
static void append_scaled(struct column *column, const struct json_value *object, const char *name, double scale)
{
    double value;
    if (json_double(json_get(object, name), &value) && value >= 0 && value * scale < 9e18)
        column_append(column, llround(value * scale));
}

static bool text_is(const struct json_value *object, const char *name, const char *text)
{
    const char *value;
    return json_string(json_get(object, name), &value) && strcmp(value, text) == 0;
}

static size_t format_of(const struct json_value *own)
{
    for (size_t i = 0; i + 1 < FORMATS; i++)
        if (text_is(own, "format", format_names[i]))
            return i;
    return FORMATS - 1;
}

static void take_format(struct own_tally *tally, const struct request_record *record, const struct json_value *own)
{
    struct format_tally *format = &tally->formats[format_of(own)];
    format->requests++;
    format->ok += record->outcome == OUTCOME_OK;
    format->failed += record->outcome == OUTCOME_FAILED;
    format->timed_out += record->outcome == OUTCOME_TIMED_OUT;
    format->refused += record->outcome == OUTCOME_REFUSED;
    format->cancelled += record->outcome == OUTCOME_CANCELLED;
    if (record->outcome != OUTCOME_OK)
        return;
    sum_up(&format->audio_ns, number(own, "audio_duration_ns"));
    sum_up(&format->audio_bytes, number(own, "audio_bytes_sent"));
}

/* Members of a comparison in the block; without single kinds of edits where only their sum is kept. */
struct comparison_names {
    const char *rate, *hits, *substitutions, *deletions, *insertions, *edits, *reference;
};
static const struct comparison_names names[COMPARISONS] = {
    [BY_WORD] = {"wer", "word_hits", "word_substitutions", "word_deletions", "word_insertions", NULL,
                 "reference_words"},
    [BY_CHAR] = {"cer", NULL, "char_substitutions", "char_deletions", "char_insertions", NULL, "reference_chars"},
    [BY_GRAPHEME] = {"cer_grapheme", NULL, "grapheme_substitutions", "grapheme_deletions", "grapheme_insertions", NULL,
                     "reference_graphemes"},
    [BY_WORD_RAW] = {"wer_raw", NULL, NULL, NULL, NULL, "word_edits_raw", "reference_words_raw"},
    [BY_CHAR_RAW] = {"cer_raw", NULL, NULL, NULL, NULL, "char_edits_raw", "reference_chars_raw"},
};

static void take_comparison(struct own_tally *tally, enum comparison which, const struct json_value *own)
{
    const struct comparison_names *name = &names[which];
    struct edit_sums *sums = &tally->sums[which];
    append_scaled(&tally->rates[which], own, name->rate, NANO);
    sum_up(&sums->reference, number(own, name->reference));
    if (name->edits) {
        sum_up(&sums->edits, number(own, name->edits));
        return;
    }
    int64_t kinds[] = {number(own, name->substitutions), number(own, name->deletions), number(own, name->insertions)};
    sum_up(&sums->substitutions, kinds[0]);
    sum_up(&sums->deletions, kinds[1]);
    sum_up(&sums->insertions, kinds[2]);
    for (size_t i = 0; i < 3; i++)
        sum_up(&sums->edits, kinds[i]);
    if (name->hits)
        sum_up(&sums->hits, number(own, name->hits));
}

static void take_scores(struct own_tally *tally, const struct json_value *own)
{
    const struct json_value *wer = json_get(own, "wer");
    const char *normalizer;
    if (!wer)
        return;
    if (wer->type != JSON_NUMBER) {
        tally->unscored++;
        return;
    }
    tally->scored++;
    if (!tally->normalizer[0] && json_string(json_get(own, "normalizer"), &normalizer))
        snprintf(tally->normalizer, sizeof tally->normalizer, "%s", normalizer);
    for (int i = 0; i < COMPARISONS; i++)
        take_comparison(tally, (enum comparison)i, own);
}

static as_status take(struct own_tally *tally, const struct request_record *record, const struct json_value *own)
{
    take_format(tally, record, own);
    if (record->outcome != OUTCOME_OK)
        return AS_OK;
    append(&tally->response_spec, own, "response_time_spec_ns");
    append(&tally->file_read, own, "file_read_ns");
    int64_t inference_ns = append(&tally->inference, own, "inference_time_ns");
    int64_t audio_ns = append(&tally->duration, own, "audio_duration_ns");
    tally->from_server += text_is(own, "inference_time_source", "server");
    tally->from_client += text_is(own, "inference_time_source", "client");
    append_scaled(&tally->rtf, own, "rtf", NANO);
    append_scaled(&tally->rtfx, own, "rtfx", MICRO);
    append_scaled(&tally->word_rate, own, "words_per_inference_second", MICRO);
    append_scaled(&tally->char_rate, own, "chars_per_inference_second", MICRO);
    if (inference_ns >= 0 && audio_ns >= 0) {
        sum_up(&tally->timed_ns, inference_ns);
        sum_up(&tally->timed_audio_ns, audio_ns);
    }
    tally->without_duration += audio_ns < 0;
    sum_up(&tally->audio_ns, audio_ns);
    sum_up(&tally->words, number(own, "words"));
    sum_up(&tally->chars, number(own, "chars"));
    sum_up(&tally->cues, number(own, "cues"));
    sum_up(&tally->audio_bytes, append(&tally->sent_bytes, own, "audio_bytes_sent"));
    sum_up(&tally->response_bytes, number(own, "response_bytes"));
    take_scores(tally, own);
    return AS_OK;
}

/* ---- sums of a group ---- */

static void add_formats(struct own_tally *to, const struct own_tally *from)
{
    for (size_t i = 0; i < FORMATS; i++) {
        struct format_tally *a = &to->formats[i];
        const struct format_tally *b = &from->formats[i];
        a->requests += b->requests;
        a->ok += b->ok;
        a->failed += b->failed;
        a->timed_out += b->timed_out;
        a->refused += b->refused;
        a->cancelled += b->cancelled;
        sum_up(&a->audio_ns, b->audio_ns);
        sum_up(&a->audio_bytes, b->audio_bytes);
    }
}

static void add_edits(struct own_tally *to, const struct own_tally *from)
{
    for (size_t i = 0; i < COMPARISONS; i++) {
        struct edit_sums *a = &to->sums[i];
        const struct edit_sums *b = &from->sums[i];
        sum_up(&a->hits, b->hits);
        sum_up(&a->substitutions, b->substitutions);
        sum_up(&a->deletions, b->deletions);
        sum_up(&a->insertions, b->insertions);
        sum_up(&a->edits, b->edits);
        sum_up(&a->reference, b->reference);
    }
}

/* Everything but the columns. */
static void add(struct own_tally *to, const struct own_tally *from)
{
    add_formats(to, from);
    add_edits(to, from);
    to->from_server += from->from_server;
    to->from_client += from->from_client;
    sum_up(&to->timed_ns, from->timed_ns);
    sum_up(&to->timed_audio_ns, from->timed_audio_ns);
    sum_up(&to->words, from->words);
    sum_up(&to->chars, from->chars);
    sum_up(&to->cues, from->cues);
    sum_up(&to->audio_ns, from->audio_ns);
    to->without_duration += from->without_duration;
    sum_up(&to->audio_bytes, from->audio_bytes);
    sum_up(&to->response_bytes, from->response_bytes);
    to->scored += from->scored;
    to->unscored += from->unscored;
    if (!to->normalizer[0])
        memcpy(to->normalizer, from->normalizer, sizeof to->normalizer);
}

/* ---- JSON ---- */

static double ratio(double a, double b)
{
    return b > 0 ? a / b : UNDEFINED;
}

static void open_member(struct json_writer *w, const char *key)
{
    json_key(w, key);
    json_open_object(w);
}

static const char *source_of(const struct own_tally *sum)
{
    if (sum->from_server && sum->from_client)
        return "mixed";
    return sum->from_server ? "server" : sum->from_client ? "client" : NULL;
}

static void write_rates(struct json_writer *w, const struct own_tally *sum, int64_t duration_ns)
{
    bool has_audio = sum->audio_ns > 0;
    json_member_double(w, "audio_seconds_per_second",
                       has_audio ? own_per_second((double)sum->audio_ns / 1e9, duration_ns) : UNDEFINED);
    json_member_double(w, "words_per_second", own_per_second((double)sum->words, duration_ns));
    json_member_double(w, "chars_per_second", own_per_second((double)sum->chars, duration_ns));
    json_member_double(w, "bytes_per_second",
                       own_per_second((double)sum->audio_bytes + (double)sum->response_bytes, duration_ns));
}

static void write_formats(struct json_writer *w, const struct own_tally *sum)
{
    open_member(w, "formats");
    for (size_t i = 0; i < FORMATS; i++) {
        const struct format_tally *format = &sum->formats[i];
        if (format->requests == 0)
            continue;
        open_member(w, format_names[i]);
        json_member_int(w, "requests", format->requests);
        json_member_int(w, "ok", format->ok);
        json_member_int(w, "failed", format->failed);
        json_member_int(w, "timed_out", format->timed_out);
        json_member_int(w, "refused", format->refused);
        json_member_int(w, "cancelled", format->cancelled);
        json_member_double(w, "audio_seconds", (double)format->audio_ns / 1e9);
        json_member_int(w, "audio_bytes_sent", format->audio_bytes);
        json_close_object(w);
    }
    json_close_object(w);
}

static void write_totals(struct json_writer *w, const struct own_group *group, const struct own_tally *sum)
{
    json_member_string(w, "inference_time_source", source_of(sum));
    json_member_int(w, "inference_time_from_server", sum->from_server);
    json_member_int(w, "inference_time_from_client", sum->from_client);
    json_member_double(w, "rtf_pooled", ratio((double)sum->timed_ns, (double)sum->timed_audio_ns));
    json_member_double(w, "rtfx_pooled", ratio((double)sum->timed_audio_ns, (double)sum->timed_ns));
    json_member_int(w, "without_duration", sum->without_duration);
    json_member_double(w, "audio_seconds", (double)sum->audio_ns / 1e9);
    json_member_int(w, "words", sum->words);
    json_member_int(w, "chars", sum->chars);
    json_member_int(w, "cues", sum->cues);
    json_member_int(w, "audio_bytes_sent", sum->audio_bytes);
    json_member_int(w, "response_bytes", sum->response_bytes);
    json_member_int(w, "transferred_bytes", plus(sum->audio_bytes, sum->response_bytes));
    write_rates(w, sum, group->window->duration_ns);
    open_member(w, "spec");
    write_rates(w, sum, group->window->elapsed_ns);
    json_close_object(w);
    write_formats(w, sum);
}

static void write_corpus(struct json_writer *w, const char *name, const struct edit_sums *sums, bool has_kinds,
                         bool has_hits)
{
    double rate = ratio((double)sums->edits, (double)sums->reference);
    open_member(w, name);
    json_member_double(w, "rate", rate);
    json_member_double(w, "rate_percent", rate * 100);
    json_member_int(w, "edits", sums->edits);
    if (has_kinds) {
        json_member_int(w, "substitutions", sums->substitutions);
        json_member_int(w, "deletions", sums->deletions);
        json_member_int(w, "insertions", sums->insertions);
    }
    if (has_hits)
        json_member_int(w, "hits", sums->hits);
    json_member_int(w, "reference", sums->reference);
    json_close_object(w);
}

/* Per transcript as a fraction and in percent, and over all of them together. */
static as_status write_comparison(struct json_writer *w, const struct own_group *group, const struct own_tally *sum,
                                  enum comparison which)
{
    char percent[32], corpus[32];
    const struct comparison_names *name = &names[which];
    size_t offset = offsetof(struct own_tally, rates) + (size_t)which * sizeof(struct column);
    snprintf(percent, sizeof percent, "%s_percent", name->rate);
    snprintf(corpus, sizeof corpus, "%s_corpus", name->rate);
    if (sum->scored == 0) {
        json_member_null(w, name->rate);
        json_member_null(w, percent);
        json_member_null(w, corpus);
        return AS_OK;
    }
    as_status status = own_write_column(group, &(struct own_column){name->rate, offset, NANO}, w, NULL);
    if (status == AS_OK)
        status = own_write_column(group, &(struct own_column){percent, offset, NANO / 100}, w, NULL);
    write_corpus(w, corpus, &sum->sums[which], name->substitutions != NULL, name->hits != NULL);
    return status;
}

static as_status write_accuracy(struct json_writer *w, const struct own_group *group, const struct own_tally *sum)
{
    as_status status = AS_OK;
    json_member_string(w, "normalizer", sum->normalizer[0] ? sum->normalizer : NULL);
    json_member_int(w, "scored", sum->scored);
    json_member_int(w, "unscored", sum->unscored);
    for (int i = 0; i < COMPARISONS && status == AS_OK; i++)
        status = write_comparison(w, group, sum, (enum comparison)i);
    return status;
}

static as_status write(const struct own_group *group, struct json_writer *writer)
{
#define COLUMN(member, field, scale)                                                                                   \
    {                                                                                                                  \
        member, offsetof(struct own_tally, field), scale                                                               \
    }
    static const struct own_column columns[] = {
        COLUMN("response_time_spec_ms", response_spec, 1e6),
        COLUMN("file_read_ms", file_read, 1e6),
        COLUMN("inference_time_ms", inference, 1e6),
        COLUMN("rtf", rtf, NANO),
        COLUMN("rtfx", rtfx, MICRO),
        COLUMN("words_per_inference_second", word_rate, MICRO),
        COLUMN("chars_per_inference_second", char_rate, MICRO),
        COLUMN("audio_duration_s", duration, 1e9),
        COLUMN("audio_bytes", sent_bytes, 1),
    };
#undef COLUMN
    struct own_tally *sum = calloc(1, sizeof *sum);
    as_status status = sum ? AS_OK : AS_E_NOMEM;
    for (size_t i = 0; i < group->count && status == AS_OK; i++)
        add(sum, group->tallies[i]);
    for (size_t i = 0; i < sizeof columns / sizeof *columns && status == AS_OK; i++)
        status = own_write_column(group, &columns[i], writer, NULL);
    if (status == AS_OK) {
        write_totals(writer, group, sum);
        status = write_accuracy(writer, group, sum);
    }
    free(sum);
    return status;
}

const struct own_figures OWN_ASR = {.tool = "asr", .make = make, .drop = drop, .take = take, .write = write};
