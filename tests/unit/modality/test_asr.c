/* SPDX-License-Identifier: Apache-2.0 */
#include "base/json.h"
#include "http/form.h"
#include "modality/asr.h"
#include "support/check.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define AUDIO     "RIFF\0\1\2\3WAVE"
#define AUDIO_LEN 12

static struct audio_set set;
static struct asr_config config;
static struct asr *asr;
static void *slot;
static struct payload payload;
static struct as_error err;

static int setup(void **state)
{
    (void)state;
    static const char manifest[] =
        "{\"id\":\"one\",\"path\":\"/a/first clip.wav\",\"format\":\"wav\",\"duration\":2.5}\n"
        "{\"id\":\"two\",\"path\":\"/a/b.m4a\",\"format\":\"m4a\"}\n"
        "{\"id\":\"bad\",\"path\":\"/a/c.mp3\",\"format\":\"mp3\"}\n";
    if (audio_set_parse(&(struct audio_text){manifest, sizeof manifest - 1, "m", false}, "/", &set, &err) != AS_OK)
        return -1;
    for (size_t i = 0; i < 2; i++) {
        set.items[i].data = AUDIO;
        set.items[i].bytes = AUDIO_LEN;
        set.items[i].read_ns = 1000;
    }
    set.items[2].failure = "/a/c.mp3: No such file or directory";
    config = (struct asr_config){
        .model = "m", .format = ASR_FORMAT_VERBOSE_JSON, .language = "en", .granularity = "word", .temperature = NAN};
    return 0;
}

static int teardown(void **state)
{
    (void)state;
    if (slot)
        asr_modality()->answer_done(asr, slot);
    free(slot);
    slot = NULL;
    asr_free(asr);
    asr = NULL;
    audio_set_done(&set);
    return 0;
}

static void make(void)
{
    if (asr_new(&config, &set, &asr, &err) != AS_OK)
        fail_msg("%s", err.message);
    slot = calloc(1, asr_modality()->answer_bytes);
    assert_non_null(slot);
}

static as_status build(int64_t seq)
{
    payload = (struct payload){.prompt_words = -1, .max_tokens = -1};
    return asr_modality()->build(asr, slot, seq, &payload, &err);
}

/* ---- requests ---- */

static struct http_form form;
static struct strbuf body;

/* Reads the body of request `seq` back. */
static void read_back(int64_t seq)
{
    struct http_text boundary;
    assert_int_equal(build(seq), AS_OK);
    strbuf_reset(&body);
    for (uint32_t i = 0; i < payload.part_count; i++)
        strbuf_add(&body, payload.parts[i].iov_base, payload.parts[i].iov_len);
    assert_true(http_form_boundary((struct http_text){payload.content_type, strlen(payload.content_type)}, &boundary));
    assert_int_equal(http_form_read(boundary, (struct http_text){body.data, body.len}, &form, NULL), AS_OK);
}

static void expect_field(const char *name, const char *value)
{
    const struct http_form_part *part = http_form_find(&form, name);
    if (!value) {
        assert_null(part);
        return;
    }
    if (!part || part->data.len != strlen(value) || memcmp(part->data.at, value, part->data.len) != 0)
        fail_msg("%s is \"%.*s\"", name, part ? (int)part->data.len : 0, part ? part->data.at : "");
}

static void test_the_form(void **state)
{
    (void)state;
    make();
    read_back(0);
    assert_string_equal(payload.path, "/audio/transcriptions");
    assert_string_equal(payload.accept, "application/json");
    assert_string_equal(payload.prompt_id, "one");
    assert_false(payload.expects_stream);
    assert_int_equal(form.count, 5);
    expect_field("model", "m");
    expect_field("language", "en");
    expect_field("response_format", "verbose_json");
    expect_field("timestamp_granularities[]", "word");
    const struct http_form_part *file = http_form_find(&form, "file");
    assert_true(file->is_file);
    assert_int_equal(file->file_name.len, strlen("first clip.wav"));
    assert_memory_equal(file->content_type.at, "audio/wav", 9);
    assert_int_equal(file->data.len, AUDIO_LEN);
    assert_memory_equal(file->data.at, AUDIO, AUDIO_LEN);
    assert_ptr_equal(payload.parts[2].iov_base, set.items[0].data); /* by reference */
    read_back(4);                                                   /* samples come again from the start */
    assert_string_equal(payload.prompt_id, "two");
    assert_memory_equal(http_form_find(&form, "file")->content_type.at, "audio/mp4", 9);
}

static void test_other_forms(void **state)
{
    (void)state;
    config.format = ASR_FORMAT_SRT;
    config.language = "auto";
    config.prompt = "Names: Ann";
    config.temperature = 0.25;
    config.streaming = true;
    config.extra_body = "{\"model\":\"other\",\"top\":[1,\"b\"],\"none\":null,\"deep\":{\"a\":true}}";
    make();
    read_back(0);
    assert_true(payload.expects_stream);
    assert_string_equal(payload.accept, "text/event-stream");
    expect_field("language", NULL);
    expect_field("timestamp_granularities[]", NULL);
    expect_field("response_format", "srt");
    expect_field("prompt", "Names: Ann");
    expect_field("temperature", "0.25");
    expect_field("stream", "true");
    expect_field("model", "other");
    expect_field("top", "1");
    expect_field("none", NULL);
    expect_field("deep", "{\"a\":true}");
}

static void expect_refused(const char *reason)
{
    struct asr *refused = NULL;
    assert_int_equal(asr_new(&config, &set, &refused, &err), AS_E_USAGE);
    if (!strstr(err.message, reason))
        fail_msg("\"%s\" does not say \"%s\"", err.message, reason);
}

static void test_bad_configs(void **state)
{
    (void)state;
    config.model = "";
    expect_refused("--model");
    config.model = "m";
    config.extra_body = "[1]";
    expect_refused("give an object");
    config.extra_body = "{\"file\":1}";
    expect_refused("use --input");
    config.extra_body = "{\"response_format\":\"json\"}";
    expect_refused("use --response-format");
    config.extra_body = "{";
    expect_refused("--extra-body");
}

static void test_a_sample_that_cannot_be_sent(void **state)
{
    (void)state;
    make();
    assert_int_equal(build(2), AS_E_INVALID);
    assert_string_equal(err.message, "/a/c.mp3: No such file or directory");
    assert_string_equal(payload.prompt_id, "bad");
    assert_int_equal(build(0), AS_OK); /* the slot goes on */
}

static void test_the_boundary_avoids_the_files(void **state)
{
    (void)state;
    char taken[200];
    make();
    read_back(0);
    const char *boundary = strstr(payload.content_type, "boundary=") + 9;
    snprintf(taken, sizeof taken, "RIFF \r\n--%s--\r\n", boundary);
    set.items[1].data = taken;
    set.items[1].bytes = strlen(taken);
    teardown(NULL);
    setup(NULL);
    set.items[1].data = taken;
    set.items[1].bytes = strlen(taken);
    make();
    read_back(1);
    assert_int_equal(http_form_find(&form, "file")->data.len, strlen(taken));
}

/* ---- answers ---- */

static struct request_record record;
static struct arena arena;
static const struct json_value *block;

/* One answer to request `seq`, sent at 10 ms and complete at 40 ms. */
static void answer_with(int64_t seq, int status, enum http_media media, const char *text)
{
    const struct modality *modality = asr_modality();
    struct http_response_head head = {.status = status, .media = media};
    struct arrival arrival = {40000000, 40001000, true};
    struct answer_close close = {.body_complete = true, .reason = ""};
    assert_int_equal(build(seq), AS_OK);
    modality->begin(asr, slot, &head, false);
    modality->body(asr, slot, text, strlen(text), &arrival);
    record_init(&record);
    record.sent_ns = 10000000;
    record.done_ns = 40000000;
    record.http_status = status;
    if (status != 200) {
        record.outcome = OUTCOME_FAILED;
        record.error_type = ERROR_TYPE_BAD_REQUEST;
    }
    modality->end(asr, slot, &close, NULL, &record);
    arena_reset(&arena);
    assert_int_equal(json_parse(record.modality_json.at, record.modality_json.len, NULL, &arena, &block, &err), AS_OK);
}

static double number(const char *name)
{
    double value = -1;
    const struct json_value *member = json_get(block, name);
    assert_non_null(member);
    return json_double(member, &value) ? value : -1;
}

static void expect_number(const char *name, double want)
{
    double got = number(name);
    if (fabs(got - want) > 1e-9 * fabs(want))
        fail_msg("%s is %.12g, not %.12g", name, got, want);
}

static void expect_text(const char *name, const char *want)
{
    const char *got = NULL;
    assert_int_equal(json_string(json_get(block, name), &got), want != NULL);
    if (want)
        assert_string_equal(got, want);
}

static void test_a_transcript(void **state)
{
    (void)state;
    config.keeps_transcripts = true;
    make();
    static const char answer[] =
        "{\"text\":\" the tide comes in at dawn\",\"duration\":2.4,\"language\":\"english\",\"inference_time\":0.5}";
    answer_with(0, 200, HTTP_MEDIA_JSON, answer);
    assert_int_equal(record.outcome, OUTCOME_OK);
    assert_int_equal(record.flags, 0);
    assert_int_equal(record.completion_words, 6);
    assert_false(record.usage_missing); /* none is promised */
    assert_int_equal(record.completion_tokens, -1);
    assert_int_equal(record.content.len, strlen("\" the tide comes in at dawn\""));
    expect_text("format", "wav");
    expect_number("audio_bytes_sent", AUDIO_LEN);
    expect_number("audio_duration_ns", 2.5e9);
    expect_text("duration_source", "manifest");
    expect_text("response_format", "verbose_json");
    expect_number("response_bytes", sizeof answer - 1);
    expect_number("file_read_ns", 1000);
    expect_number("response_time_spec_ns", 30001000);
    expect_number("inference_time_ns", 5e8);
    expect_text("inference_time_source", "server");
    expect_number("rtf", 0.2);
    expect_number("rtfx", 5);
    expect_number("words", 6);
    expect_number("chars", 25);
    expect_number("words_per_inference_second", 12);
    expect_number("chars_per_inference_second", 50);
    expect_text("language", "english");
    expect_number("server_duration_ns", 2.4e9);
    assert_true(json_is_null(json_get(block, "cues")));
}

static void test_the_client_s_own_time_instead(void **state)
{
    (void)state;
    make();
    answer_with(0, 200, HTTP_MEDIA_JSON, "{\"text\":\"a b c\"}");
    expect_number("inference_time_ns", 30000000);
    expect_text("inference_time_source", "client");
    expect_number("rtf", 0.012);
    expect_number("words_per_inference_second", 100);
    assert_null(record.content.at); /* nobody asked for it */
}

static void test_an_unknown_duration(void **state)
{
    (void)state;
    make();
    answer_with(1, 200, HTTP_MEDIA_JSON, "{\"text\":\"a\",\"duration\":9}");
    assert_true(json_is_null(json_get(block, "audio_duration_ns")));
    assert_true(json_is_null(json_get(block, "duration_source")));
    assert_true(json_is_null(json_get(block, "rtf")));
    assert_true(json_is_null(json_get(block, "rtfx")));
    expect_number("inference_time_ns", 30000000);
}

static void test_no_time_and_no_words(void **state)
{
    (void)state;
    make();
    answer_with(0, 200, HTTP_MEDIA_JSON, "{\"text\":\"\",\"inference_time\":0}");
    assert_int_equal(record.outcome, OUTCOME_OK);
    assert_int_equal(record.flags, RECORD_FLAG_NO_OUTPUT);
    expect_number("inference_time_ns", 0);
    expect_text("inference_time_source", "server");
    expect_number("rtf", 0);
    assert_true(json_is_null(json_get(block, "rtfx")));
    assert_true(json_is_null(json_get(block, "words_per_inference_second")));
    expect_number("words", 0);
}

static void expect_failure(enum error_type type, const char *message)
{
    assert_int_equal(record.outcome, OUTCOME_FAILED);
    assert_int_equal(record.error_type, type);
    if (!record.error_message.at || !strstr(record.error_message.at, message))
        fail_msg("\"%s\" does not say \"%s\"", record.error_message.at, message);
    assert_true(json_is_null(json_get(block, "words")));
    assert_true(json_is_null(json_get(block, "inference_time_ns")));
    assert_int_equal(record.completion_words, -1);
}

static void test_failures(void **state)
{
    (void)state;
    make();
    answer_with(0, 200, HTTP_MEDIA_JSON, "{\"task\":\"transcribe\"}");
    expect_failure(ERROR_TYPE_SCHEMA, "the answer has no text");
    answer_with(0, 200, HTTP_MEDIA_JSON, "");
    expect_failure(ERROR_TYPE_SCHEMA, "the answer has no body");
    answer_with(0, 200, HTTP_MEDIA_TEXT, "verbose_json is not offered");
    expect_failure(ERROR_TYPE_DECODE, "not JSON: verbose_json is not offered");
    answer_with(0, 200, HTTP_MEDIA_JSON, "{\"error\":{\"message\":\"CUDA out of memory\"}}");
    expect_failure(ERROR_TYPE_SERVER_REPORTED, "CUDA out of memory");
    assert_true(record.oom);
    answer_with(0, 400, HTTP_MEDIA_JSON, "{\"error\":{\"message\":\"no\"}}");
    assert_int_equal(record.error_type, ERROR_TYPE_BAD_REQUEST);
    expect_text("format", "wav"); /* errors can be told apart by format */
    expect_number("response_bytes", 26);
    answer_with(0, 200, HTTP_MEDIA_JSON, "{\"text\":\"fine again\"}");
    assert_int_equal(record.outcome, OUTCOME_OK);
}

static void test_another_format_is_flagged(void **state)
{
    (void)state;
    config.format = ASR_FORMAT_TEXT;
    make();
    assert_int_equal(build(0), AS_OK);
    assert_string_equal(payload.accept, "*/*");
    answer_with(0, 200, HTTP_MEDIA_JSON, "{\"text\":\"a b\"}");
    assert_int_equal(record.outcome, OUTCOME_OK);
    assert_int_equal(record.flags, RECORD_FLAG_FORMAT_MISMATCH);
    expect_number("words", 2);
    answer_with(0, 200, HTTP_MEDIA_HTML, "a b c\n"); /* as whisper.cpp labels text */
    assert_int_equal(record.flags, 0);
    expect_number("words", 3);
    answer_with(0, 200, HTTP_MEDIA_TEXT, "");
    assert_int_equal(record.outcome, OUTCOME_OK);
    assert_int_equal(record.flags, RECORD_FLAG_NO_OUTPUT);
}

/* ---- streams ---- */

static void stream(const char *const *events, size_t count, bool body_complete)
{
    const struct modality *modality = asr_modality();
    struct http_response_head head = {.status = 200, .media = HTTP_MEDIA_EVENT_STREAM};
    struct answer_close close = {.body_complete = body_complete, .reason = body_complete ? "" : "the connection ended"};
    assert_int_equal(build(0), AS_OK);
    modality->begin(asr, slot, &head, true);
    bool is_done = false;
    for (size_t i = 0; i < count && !is_done; i++) {
        struct sse_event event = {events[i], strlen(events[i]), ""};
        struct arrival arrival = {(int64_t)(20 + i) * 1000000, (int64_t)(20 + i) * 1000000 + 500, true};
        is_done = modality->event(asr, slot, &event, &arrival);
        modality->read_end(asr, slot, true);
    }
    record_init(&record);
    record.sent_ns = 10000000;
    record.done_ns = 40000000;
    modality->end(asr, slot, &close, NULL, &record);
    arena_reset(&arena);
    assert_int_equal(json_parse(record.modality_json.at, record.modality_json.len, NULL, &arena, &block, &err), AS_OK);
}

static void test_streams(void **state)
{
    (void)state;
    static const char *const chunks[] = {"{\"choices\":[{\"delta\":{\"content\":\"the tide\"}}]}",
                                         "{\"choices\":[{\"delta\":{\"content\":\" comes in\"}}]}", "[DONE]"};
    static const char *const deltas[] = {
        "{\"type\":\"transcript.text.delta\",\"delta\":\"the\"}",
        "{\"type\":\"transcript.text.done\",\"text\":\"the tide\",\"usage\":{\"input_tokens\":4,\"output_tokens\":2}}"};
    config.streaming = true;
    config.keeps_transcripts = true;
    make();
    stream(chunks, 3, true);
    assert_int_equal(record.outcome, OUTCOME_OK);
    assert_int_equal(record.flags, 0);
    assert_int_equal(record.events, 2);
    assert_int_equal(record.content_chunks, 2);
    assert_int_equal(record.first_content_ns, 20000000);
    assert_int_equal(record.last_content_ns, 21000000);
    assert_int_equal(record.done_mark_ns, 22000000);
    assert_int_equal(record.stamp, RECORD_STAMP_KERNEL);
    assert_int_equal(record.client_lag_ns, 500);
    assert_memory_equal(record.content.at, "\"the tide comes in\"", 19);
    expect_number("words", 4);
    stream(deltas, 2, true);
    assert_int_equal(record.outcome, OUTCOME_OK);
    assert_int_equal(record.flags, RECORD_FLAG_NO_DONE);
    assert_memory_equal(record.content.at, "\"the tide\"", 10);
    assert_int_equal(record.completion_tokens, 2);
    assert_int_equal(record.total_tokens, 6);
    assert_false(record.usage_missing);
}

static void test_streams_that_fail(void **state)
{
    (void)state;
    static const char *const cut[] = {"{\"choices\":[{\"delta\":{\"content\":\"the\"}}]}"};
    static const char *const broken[] = {"{\"choices\":[{\"delta\":{\"con", "[DONE]"};
    static const char *const told[] = {"{\"error\":{\"message\":\"the engine died\"}}", "[DONE]"};
    config.streaming = true;
    make();
    stream(cut, 1, true);
    expect_failure(ERROR_TYPE_BODY, "without an end mark");
    stream(cut, 1, false);
    expect_failure(ERROR_TYPE_BODY, "the connection ended");
    stream(broken, 2, true);
    expect_failure(ERROR_TYPE_DECODE, "no JSON object");
    stream(told, 2, true);
    expect_failure(ERROR_TYPE_SERVER_REPORTED, "the engine died");
}

static int group_setup(void **state)
{
    (void)state;
    strbuf_init(&body, 0);
    arena_init(&arena, 0, 0);
    return 0;
}

static int group_teardown(void **state)
{
    (void)state;
    strbuf_done(&body);
    arena_done(&arena);
    return 0;
}

#define TEST(function) cmocka_unit_test_setup_teardown(function, setup, teardown)

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(test_the_form),
        TEST(test_other_forms),
        TEST(test_bad_configs),
        TEST(test_a_sample_that_cannot_be_sent),
        TEST(test_the_boundary_avoids_the_files),
        TEST(test_a_transcript),
        TEST(test_the_client_s_own_time_instead),
        TEST(test_an_unknown_duration),
        TEST(test_no_time_and_no_words),
        TEST(test_failures),
        TEST(test_another_format_is_flagged),
        TEST(test_streams),
        TEST(test_streams_that_fail),
    };
    return cmocka_run_group_tests(tests, group_setup, group_teardown);
}
