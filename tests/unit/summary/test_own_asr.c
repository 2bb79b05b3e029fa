/* SPDX-License-Identifier: Apache-2.0 */
/* What the blocks of transcription records add up to. */
#include "made_run.h"

#include "base/json.h"

#include <math.h>
#include <stdio.h>

#define N 6

static struct request_record records[N];
static char blocks[N][1600];
static struct arena arena;
static struct strbuf text;

static void set_block(size_t i, const char *block)
{
    snprintf(blocks[i], sizeof blocks[i], "%s", block);
    records[i].modality_json = (struct record_text){blocks[i], strlen(blocks[i])};
}

#define SCORES(wer, hits, subs, dels, ins, words)                                                                      \
    ",\"normalizer\":\"basic\",\"wer\":" wer ",\"word_hits\":" hits ",\"word_substitutions\":" subs                    \
    ",\"word_deletions\":" dels ",\"word_insertions\":" ins ",\"reference_words\":" words                              \
    ",\"cer\":0.5,\"char_substitutions\":1,\"char_deletions\":1,\"char_insertions\":0,\"reference_chars\":4"           \
    ",\"cer_grapheme\":0.25,\"grapheme_substitutions\":1,\"grapheme_deletions\":0,\"grapheme_insertions\":0,"          \
    "\"reference_graphemes\":4"                                                                                        \
    ",\"wer_raw\":1,\"word_edits_raw\":" words ",\"reference_words_raw\":" words                                       \
    ",\"cer_raw\":1,\"char_edits_raw\":4,\"reference_chars_raw\":4"

/* Two of 100 ms; one by the client's own time without a duration; one that was not compared; a failure; a refusal. */
static const struct json_value *summarise(struct summary *ret)
{
    struct run_facts facts = made_facts(N);
    const struct json_value *root = NULL;
    facts.tool = "asr";
    for (int64_t i = 0; i < N; i++)
        records[i] = made_ok(i, i * 100, 100);
    set_block(0, "{\"format\":\"flac\",\"audio_bytes_sent\":1000,\"audio_duration_ns\":2000000000,\"response_bytes\":"
                 "50,\"file_read_ns\":1000000,"
                 "\"response_time_spec_ns\":101000000,\"inference_time_ns\":50000000,\"inference_time_source\":"
                 "\"server\",\"rtf\":0.025,"
                 "\"rtfx\":40,\"words\":4,\"chars\":20,\"words_per_inference_second\":80,\"chars_per_inference_"
                 "second\":400,\"cues\":null" //
              SCORES("0.5", "1", "1", "0", "0", "2") "}");
    set_block(1, "{\"format\":\"flac\",\"audio_bytes_sent\":2000,\"audio_duration_ns\":1000000000,\"response_bytes\":"
                 "70,\"file_read_ns\":3000000,"
                 "\"response_time_spec_ns\":103000000,\"inference_time_ns\":100000000,\"inference_time_source\":"
                 "\"server\",\"rtf\":0.1,"
                 "\"rtfx\":10,\"words\":8,\"chars\":30,\"words_per_inference_second\":80,\"chars_per_inference_"
                 "second\":300,\"cues\":3" //
              SCORES("0.1", "9", "0", "0", "1", "10") "}");
    set_block(2, "{\"format\":\"webm\",\"audio_bytes_sent\":500,\"audio_duration_ns\":null,\"response_bytes\":10,"
                 "\"file_read_ns\":2000000,"
                 "\"response_time_spec_ns\":102000000,\"inference_time_ns\":100000000,\"inference_time_source\":"
                 "\"client\",\"rtf\":null,"
                 "\"rtfx\":null,\"words\":0,\"chars\":0,\"words_per_inference_second\":0,\"chars_per_inference_"
                 "second\":0,\"wer\":null}");
    records[3].modality_json = (struct record_text){0}; /* a record that tells nothing */
    records[4] = made_error(4, 400, 100, OUTCOME_FAILED, ERROR_TYPE_SERVER_ERROR, 500);
    set_block(4,
              "{\"format\":\"m4a\",\"audio_bytes_sent\":9000,\"audio_duration_ns\":9000000000,\"response_bytes\":3}");
    records[5] = made_error(5, 500, 100, OUTCOME_REFUSED, ERROR_TYPE_BAD_REQUEST, -1);
    set_block(5, "{\"format\":\"mp3\"}");
    *ret = made_summary(&facts, records, N);
    assert_sound(ret);
    strbuf_reset(&text);
    assert_int_equal(summary_write_json(ret, 0, &text), AS_OK);
    assert_int_equal(json_parse(text.data, text.len, NULL, &arena, &root, NULL), AS_OK);
    return json_get(root, "asr");
}

static void expect(const struct json_value *own, const char *path, double want)
{
    double got = -1;
    if (!json_double(json_path(own, path), &got) || fabs(got - want) > 1e-9 * (1 + fabs(want)))
        fail_msg("%s is %.12g, not %.12g", path, got, want);
}

static void test_sums(void **state)
{
    (void)state;
    struct summary summary;
    const struct json_value *own = summarise(&summary);
    double window_s = (double)summary.window.duration_ns / 1e9, elapsed_s = (double)summary.window.elapsed_ns / 1e9;
    expect(own, "response_time_spec_ms.n", 3);
    expect(own, "response_time_spec_ms.max", 103);
    expect(own, "file_read_ms.mean", 2);
    expect(own, "inference_time_ms.min", 50);
    expect(own, "rtf.n", 2);
    expect(own, "rtf.mean", 0.0625);
    expect(own, "rtfx.max", 40);
    expect(own, "rtf_pooled", 0.15 / 3);
    expect(own, "rtfx_pooled", 3 / 0.15);
    expect(own, "without_duration", 2);
    expect(own, "audio_seconds", 3);
    expect(own, "words", 12);
    expect(own, "chars", 50);
    expect(own, "cues", 3);
    expect(own, "audio_bytes_sent", 3500);
    expect(own, "response_bytes", 130);
    expect(own, "transferred_bytes", 3630);
    expect(own, "audio_seconds_per_second", 3 / window_s);
    expect(own, "words_per_second", 12 / window_s);
    expect(own, "bytes_per_second", 3630 / window_s);
    expect(own, "spec.chars_per_second", 50 / elapsed_s);
    expect(own, "inference_time_from_server", 2);
    expect(own, "inference_time_from_client", 1);
    const char *source;
    assert_true(json_string(json_get(own, "inference_time_source"), &source));
    assert_string_equal(source, "mixed");
    summary_done(&summary);
}

static void test_formats(void **state)
{
    (void)state;
    struct summary summary;
    const struct json_value *own = summarise(&summary);
    expect(own, "formats.flac.requests", 2);
    expect(own, "formats.flac.audio_seconds", 3);
    expect(own, "formats.flac.audio_bytes_sent", 3000);
    expect(own, "formats.m4a.failed", 1);
    expect(own, "formats.m4a.audio_bytes_sent", 0); /* of successes */
    expect(own, "formats.mp3.refused", 1);
    expect(own, "formats.webm.ok", 1);
    expect(own, "formats.unknown.ok", 1);
    assert_null(json_path(own, "formats.wav"));
    summary_done(&summary);
}

static void test_accuracy(void **state)
{
    (void)state;
    struct summary summary;
    const struct json_value *own = summarise(&summary);
    expect(own, "scored", 2);
    expect(own, "unscored", 1);
    expect(own, "wer.n", 2);
    expect(own, "wer.mean", 0.3); /* a short transcript counts as much as a long one … */
    expect(own, "wer_percent.max", 50);
    expect(own, "wer_corpus.rate", 2.0 / 12); /* … but not here */
    expect(own, "wer_corpus.rate_percent", 200.0 / 12);
    expect(own, "wer_corpus.insertions", 1);
    expect(own, "wer_corpus.hits", 10);
    expect(own, "cer_corpus.rate", 0.5);
    expect(own, "cer_grapheme_corpus.rate", 0.25);
    expect(own, "wer_raw_corpus.rate", 1);
    assert_null(json_path(own, "wer_raw_corpus.substitutions"));
    const char *name;
    assert_true(json_string(json_get(own, "normalizer"), &name));
    assert_string_equal(name, "basic");
    summary_done(&summary);
}

static void test_without_a_ground_truth(void **state)
{
    (void)state;
    struct run_facts facts = made_facts(1);
    struct request_record record = made_ok(0, 0, 100);
    const struct json_value *root = NULL;
    facts.tool = "asr";
    record.modality_json = (struct record_text){"{\"format\":\"wav\",\"words\":1}", 26};
    struct summary summary = made_summary(&facts, &record, 1);
    strbuf_reset(&text);
    assert_int_equal(summary_write_json(&summary, 0, &text), AS_OK);
    assert_int_equal(json_parse(text.data, text.len, NULL, &arena, &root, NULL), AS_OK);
    const struct json_value *own = json_get(root, "asr");
    static const char *const nulls[] = {"wer",
                                        "wer_percent",
                                        "wer_corpus",
                                        "cer",
                                        "cer_grapheme_corpus",
                                        "wer_raw",
                                        "normalizer",
                                        "rtf_pooled",
                                        "audio_seconds_per_second",
                                        "inference_time_source"};
    for (size_t i = 0; i < ARRAY_COUNT(nulls); i++)
        if (!json_is_null(json_get(own, nulls[i])))
            fail_msg("%s is not null", nulls[i]);
    summary_done(&summary);
}

static int setup(void **state)
{
    (void)state;
    arena_init(&arena, 0, 0);
    strbuf_init(&text, 0);
    return 0;
}

static int teardown(void **state)
{
    (void)state;
    arena_done(&arena);
    strbuf_done(&text);
    return 0;
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_sums), cmocka_unit_test(test_formats),
                                       cmocka_unit_test(test_accuracy), cmocka_unit_test(test_without_a_ground_truth)};
    return cmocka_run_group_tests(tests, setup, teardown);
}
