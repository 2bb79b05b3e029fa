/* SPDX-License-Identifier: Apache-2.0 */
#include "base/json.h"
#include "modality/asr_score.h"
#include "support/check.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

static struct audio_truth truth;
static struct audio_set set;
static struct asr_score_options options;
static struct asr_scorer *scorer;
static struct request_record record;
static struct arena arena;
static const struct json_value *block;
static struct as_error err;

static int setup(void **state)
{
    (void)state;
    static const char references[] =
        "{\"id\":\"tide\",\"transcript\":\"THE TIDE COMES IN AT DAWN\"}\n"
        "{\"id\":\"hello\",\"transcript\":\"Hello, world.\"}\n"
        "{\"id\":\"silence\",\"transcript\":\"\"}\n"
        "{\"id\":\"family\",\"transcript\":\"e\\u0301\\uD83D\\uDC69\\u200D\\uD83D\\uDC67 x\"}\n";
    static const char manifest[] =
        "{\"id\":\"tide\",\"path\":\"a.ogg\",\"duration\":1.5}\n{\"id\":\"other\",\"path\":\"b.wav\"}";
    arena_init(&arena, 0, 0);
    if (audio_truth_parse(&(struct audio_text){references, sizeof references - 1, "t", false}, &truth, &err) != AS_OK ||
        audio_set_parse(&(struct audio_text){manifest, sizeof manifest - 1, "m", false}, "/", &set, &err) != AS_OK)
        return -1;
    options = (struct asr_score_options){
        .set = &set, .truth = &truth, .normalizer = NORMALIZER_LOWERCASE, .format = ASR_FORMAT_JSON};
    return 0;
}

static int teardown(void **state)
{
    (void)state;
    asr_scorer_free(scorer);
    scorer = NULL;
    audio_truth_done(&truth);
    audio_set_done(&set);
    arena_done(&arena);
    return 0;
}

static void parse_block(void)
{
    arena_reset(&arena);
    if (json_parse(record.modality_json.at, record.modality_json.len, NULL, &arena, &block, &err) != AS_OK)
        fail_msg("%.*s: %s", (int)record.modality_json.len, record.modality_json.at, err.message);
}

/* A success of a sample whose transcript is the JSON text `content`. */
static void score(const char *id, const char *content)
{
    if (!scorer)
        assert_int_equal(asr_scorer_new(&options, &scorer), AS_OK);
    record_init(&record);
    snprintf(record.prompt_id, sizeof record.prompt_id, "%s", id);
    record.modality_json = (struct record_text){"{\"format\":\"wav\"}", 16};
    if (content)
        record.content = (struct record_text){content, strlen(content)};
    asr_score_record(scorer, &record);
    parse_block();
}

static void expect(const char *name, double want)
{
    double got = -1;
    if (!json_double(json_get(block, name), &got) || fabs(got - want) > 1e-12)
        fail_msg("%s is %.15g, not %.15g", name, got, want);
}

static void test_case_does_not_count(void **state)
{
    (void)state;
    score("tide", "\" the tide comes\\nin at dawn\"");
    expect("wer", 0);
    expect("cer", 0);
    expect("word_hits", 6);
    expect("reference_words", 6);
    expect("reference_chars", 25);
    expect("wer_raw", 1);
    expect("word_edits_raw", 6);
    const char *text;
    assert_true(json_string(json_get(block, "normalizer"), &text));
    assert_string_equal(text, "lowercase");
    assert_true(json_string(json_get(block, "format"), &text)); /* the block's own members stay */
    assert_null(record.content.at);                             /* it was there for this alone */
    assert_int_equal(asr_scorer_unscored(scorer), 0);
}

static void test_an_empty_transcript_misses_everything(void **state)
{
    (void)state;
    score("tide", "\"\"");
    expect("wer", 1);
    expect("wer_percent", 100);
    expect("word_deletions", 6);
    expect("word_insertions", 0);
    expect("char_deletions", 25);
}

static void test_an_empty_reference(void **state)
{
    (void)state;
    score("silence", "\"\"");
    expect("wer", 0);
    score("silence", "\"three more words\"");
    expect("wer", 3);
    expect("wer_percent", 300);
    expect("word_insertions", 3);
}

static void test_normalizers(void **state)
{
    (void)state;
    score("hello", "\"hello world\"");
    expect("wer", 1);
    asr_scorer_free(scorer);
    scorer = NULL;
    options.normalizer = NORMALIZER_BASIC;
    score("hello", "\"hello world\"");
    expect("wer", 0);
    expect("wer_raw", 1);
    asr_scorer_free(scorer);
    scorer = NULL;
    options.normalizer = NORMALIZER_NONE;
    score("hello", "\"Hello, world\"");
    expect("wer", 0.5);
    expect("wer_raw", 0.5);
}

static void test_characters_and_graphemes(void **state)
{
    (void)state;
    score("family", "\"y x\"");
    expect("reference_chars", 7);     /* e, accent, woman, joiner, girl, space, x */
    expect("reference_graphemes", 4); /* é, the family, space, x */
    expect("cer", 5.0 / 7);
    expect("cer_grapheme", 0.5);
}

static void test_what_cannot_be_scored(void **state)
{
    (void)state;
    score("unknown", "\"a\"");
    assert_true(json_is_null(json_get(block, "wer")));
    assert_null(json_get(block, "cer"));
    score("tide", NULL);
    assert_true(json_is_null(json_get(block, "wer")));
    assert_int_equal(asr_scorer_unscored(scorer), 2);
    record_init(&record);
    record.outcome = OUTCOME_FAILED;
    record.modality_json = (struct record_text){"{\"format\":\"wav\"}", 16};
    asr_score_record(scorer, &record);
    assert_int_equal(record.modality_json.len, 16);
    assert_int_equal(asr_scorer_unscored(scorer), 2);
}

static void test_the_same_again_and_another(void **state)
{
    (void)state;
    for (int i = 0; i < 3; i++) {
        score("tide", "\"the tide comes in at noon\"");
        expect("wer", 1.0 / 6);
        score("tide", "\"the tide\"");
        expect("word_deletions", 4);
    }
}

static void test_content_that_is_kept(void **state)
{
    (void)state;
    options.keeps_content = true;
    options.content_max_bytes = 9;
    score("tide", "\"the tide \\u00e9 comes\"");
    assert_int_equal(record.flags, RECORD_FLAG_CONTENT_CUT);
    assert_int_equal(record.content.len, 11);
    assert_memory_equal(record.content.at, "\"the tide \"", 11);
    expect("reference_words", 6); /* scored whole */
    score("tide", "\"the tide\"");
    assert_int_equal(record.flags, 0);
    assert_int_equal(record.content.len, 10);
}

static void test_refused_requests_get_a_block(void **state)
{
    (void)state;
    assert_int_equal(asr_scorer_new(&options, &scorer), AS_OK);
    record_init(&record);
    record.seq = 2; /* the first sample again */
    record.outcome = OUTCOME_REFUSED;
    asr_score_record(scorer, &record);
    parse_block();
    const char *text;
    assert_true(json_string(json_get(block, "format"), &text));
    assert_string_equal(text, "ogg");
    expect("audio_duration_ns", 1.5e9);
    assert_true(json_is_null(json_get(block, "words")));
    assert_null(json_get(block, "wer"));
}

#define TEST(function) cmocka_unit_test_setup_teardown(function, setup, teardown)

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(test_case_does_not_count),          TEST(test_an_empty_transcript_misses_everything),
        TEST(test_an_empty_reference),           TEST(test_normalizers),
        TEST(test_characters_and_graphemes),     TEST(test_what_cannot_be_scored),
        TEST(test_the_same_again_and_another),   TEST(test_content_that_is_kept),
        TEST(test_refused_requests_get_a_block),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
