/* SPDX-License-Identifier: Apache-2.0 */
/* Transcription with every allocation failing once: no requests, a transcript that says it is not whole, a success
 * without scores. */
#include "modality/asr.h"
#include "modality/asr_score.h"
#include "support/check.h"
#include "support/faults.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

static struct audio_set set;
static struct audio_truth truth;

static int setup(void **state)
{
    (void)state;
    static const char manifest[] =
        "{\"id\":\"a\",\"path\":\"a.wav\",\"duration\":2}\n{\"id\":\"b\",\"path\":\"b.wav\"}";
    static const char references[] = "{\"id\":\"a\",\"transcript\":\"the tide comes in at dawn\"}";
    struct audio_text text = {manifest, sizeof manifest - 1, "m", false},
                      lines = {references, sizeof references - 1, "t", false};
    struct as_error err;
    if (audio_set_parse(&text, "/", &set, &err) != AS_OK || audio_truth_parse(&lines, &truth, &err) != AS_OK)
        return -1;
    for (size_t i = 0; i < set.count; i++) {
        set.items[i].data = "sound";
        set.items[i].bytes = 5;
    }
    return 0;
}

static int teardown(void **state)
{
    (void)state;
    audio_set_done(&set);
    audio_truth_done(&truth);
    return 0;
}

static const struct asr_config config = {.model = "m",
                                         .format = ASR_FORMAT_JSON,
                                         .language = "en",
                                         .temperature = 0.5,
                                         .extra_body = "{\"a\":[1,{\"b\":2}]}",
                                         .keeps_transcripts = true};

static as_status use_requests(void *context)
{
    struct asr *asr;
    struct as_error err;
    (void)context;
    as_status status = asr_new(&config, &set, &asr, &err);
    if (status == AS_OK)
        asr_free(asr);
    return status;
}

static void test_requests(void **state)
{
    (void)state;
    assert_true(fault_each(FAULT_ALLOC, AS_E_NOMEM, use_requests, NULL) >= 4);
}

/* One answer to the first request, with the n-th allocation failing. */
static void take_answer(struct asr *asr, void *answer, struct request_record *record)
{
    static const char body[] = "{\"text\":\"the tide comes in at dawn\",\"inference_time\":0.5}";
    const struct modality *modality = asr_modality();
    const struct http_response_head head = {.status = 200, .media = HTTP_MEDIA_JSON};
    const struct arrival arrival = {2000, 2000, false};
    const struct answer_close close = {.body_complete = true, .reason = ""};
    struct payload payload = {0};
    struct as_error err;
    assert_int_equal(modality->build(asr, answer, 0, &payload, &err), AS_OK);
    modality->begin(asr, answer, &head, false);
    modality->body(asr, answer, body, sizeof body - 1, &arrival);
    record_init(record);
    record->sent_ns = 1000;
    record->done_ns = 2000;
    memcpy(record->prompt_id, "a", 2);
    modality->end(asr, answer, &close, NULL, record);
}

static void test_answers(void **state)
{
    (void)state;
    struct request_record record;
    struct as_error err;
    struct asr *asr;
    bool was_hit = true;
    size_t nth = 0;
    assert_int_equal(asr_new(&config, &set, &asr, &err), AS_OK);
    while (was_hit) {
        void *answer = calloc(1, asr_modality()->answer_bytes);
        fault_blocks_watch();
        fault_arm(FAULT_ALLOC, ++nth);
        take_answer(asr, answer, &record);
        was_hit = fault_calls(FAULT_ALLOC) >= nth;
        fault_disarm();
        assert_int_equal(record.outcome, OUTCOME_OK);
        bool is_whole = record.content.at != NULL;
        assert_int_equal((record.flags & RECORD_FLAG_CONTENT_CUT) == 0, is_whole);
        assert_true(record.completion_words == 6 || (record.completion_words == -1 && !is_whole));
        assert_true(was_hit || (is_whole && record.modality_json.at));
        asr_modality()->answer_done(asr, answer);
        assert_int_equal(fault_blocks_left(), 0);
        free(answer);
    }
    assert_true(nth > 3);
    asr_free(asr);
}

static void score_once(struct request_record *record)
{
    struct asr_score_options options = {
        .set = &set, .truth = &truth, .normalizer = NORMALIZER_BASIC, .keeps_content = true};
    struct asr_scorer *scorer = NULL;
    record_init(record);
    memcpy(record->prompt_id, "a", 2);
    record->modality_json = (struct record_text){"{\"words\":6}", 11};
    record->content = (struct record_text){"\"the tide came in\"", 18};
    if (asr_scorer_new(&options, &scorer) != AS_OK)
        return;
    asr_score_record(scorer, record);
    bool is_scored = memmem(record->modality_json.at, record->modality_json.len, "\"wer\":0.5", 9) != NULL;
    bool is_marked = memmem(record->modality_json.at, record->modality_json.len, "\"wer\":null", 10) != NULL;
    bool is_left = record->modality_json.len == 11;
    assert_int_equal(is_scored + is_marked + is_left, 1);
    assert_true(!is_marked || asr_scorer_unscored(scorer) == 1);
    record->max_tokens = is_scored;
    asr_scorer_free(scorer);
}

static void test_scores(void **state)
{
    (void)state;
    struct request_record record;
    bool was_hit = true;
    size_t nth = 0;
    while (was_hit) {
        fault_blocks_watch();
        fault_arm(FAULT_ALLOC, ++nth);
        score_once(&record);
        was_hit = fault_calls(FAULT_ALLOC) >= nth;
        fault_disarm();
        assert_int_equal(fault_blocks_left(), 0);
    }
    assert_int_equal(record.max_tokens, 1); /* the last one met no failure */
    assert_true(nth > 8);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_requests), cmocka_unit_test(test_answers),
                                       cmocka_unit_test(test_scores)};
    return cmocka_run_group_tests(tests, setup, teardown);
}
