/* SPDX-License-Identifier: Apache-2.0 */
#include "modality/asr_text.h"
#include "support/check.h"

#include <string.h>

static struct strbuf text;
static struct asr_reading reading;

static int setup(void **state)
{
    (void)state;
    strbuf_init(&text, 0);
    return 0;
}

static int teardown(void **state)
{
    (void)state;
    strbuf_done(&text);
    return 0;
}

static void read_body(enum asr_format format, bool is_json, const char *data)
{
    strbuf_reset(&text);
    asr_read_body(&(struct asr_body){format, is_json, data, strlen(data)}, &text, &reading);
}

static void expect_text(enum asr_format format, const char *data, const char *want)
{
    read_body(format, asr_format_is_json(format), data);
    assert_int_equal(reading.problem, ASR_FINE);
    assert_string_equal(strbuf_text(&text), want);
    assert_false(reading.is_other_format);
}

static void test_json(void **state)
{
    (void)state;
    expect_text(
        ASR_FORMAT_VERBOSE_JSON,
        "{\"task\":\"transcribe\",\"language\":\"english\",\"duration\":2.5,\"text\":\" the "
        "t\\u00efde\\n\",\"segments\":[{\"text\":\"x\"}],"
        "\"words\":[{\"word\":\"the\"}],\"inference_time\":0.5,\"usage\":{\"input_tokens\":4,\"output_tokens\":2}}",
        " the t\xC3\xAF"
        "de\n");
    assert_int_equal(reading.told.inference_ns, 500000000);
    assert_int_equal(reading.told.duration_ns, 2500000000);
    assert_string_equal(reading.told.language, "english");
    assert_int_equal(reading.told.input_tokens, 4);
    assert_int_equal(reading.told.output_tokens, 2);
    assert_int_equal(reading.told.total_tokens, -1);
    assert_int_equal(reading.cues, -1);
    expect_text(ASR_FORMAT_JSON, "{\"text\":\"\"}", "");
    assert_int_equal(reading.told.inference_ns, -1);
    assert_string_equal(reading.told.language, "");
    /* Numbers as text, nulls, and members of other types. */
    expect_text(ASR_FORMAT_VERBOSE_JSON,
                "{\"duration\":\"2.5\",\"inference_time\":\"0.25\",\"text\":\"a\",\"words\":null,\"segments\":[],"
                "\"language\":null,\"error\":null}",
                "a");
    assert_int_equal(reading.told.inference_ns, 250000000);
    assert_int_equal(reading.told.duration_ns, 2500000000);
    expect_text(ASR_FORMAT_JSON,
                "{\"text\":\"a\",\"inference_time\":-1,\"duration\":\"soon\",\"usage\":[],\"language\":{}}", "a");
    assert_int_equal(reading.told.inference_ns, -1);
    assert_int_equal(reading.told.duration_ns, -1);
    expect_text(ASR_FORMAT_JSON, "{\"text\":\"a\",\"inference_time\":0}", "a");
    assert_int_equal(reading.told.inference_ns, 0);
}

static void test_what_is_no_transcript(void **state)
{
    (void)state;
    static const struct {
        enum asr_format format;
        const char *data;
        enum asr_problem problem;
    } cases[] = {
        {ASR_FORMAT_JSON, "{\"task\":\"transcribe\"}", ASR_NO_TEXT},
        {ASR_FORMAT_JSON, "{\"text\":null}", ASR_NO_TEXT},
        {ASR_FORMAT_JSON, "{\"text\":3}", ASR_NO_TEXT},
        {ASR_FORMAT_JSON, "[\"text\"]", ASR_NO_TEXT},
        {ASR_FORMAT_JSON, "{\"error\":{\"message\":\"no\"},\"text\":\"x\"}", ASR_SERVER_ERROR},
        {ASR_FORMAT_JSON, "{\"error\":\"no\"}", ASR_SERVER_ERROR},
        {ASR_FORMAT_JSON, "plain text", ASR_NOT_JSON},
        {ASR_FORMAT_JSON, "{\"text\":\"cut", ASR_NOT_JSON},
        {ASR_FORMAT_JSON, "{\"text\":\"a\"} more", ASR_NOT_JSON},
        {ASR_FORMAT_TEXT, "\n<!DOCTYPE html><p>x", ASR_PAGE},
        {ASR_FORMAT_SRT, "<HTML>", ASR_PAGE},
        {ASR_FORMAT_TEXT, "{\"error\":{\"message\":\"no\"}}", ASR_SERVER_ERROR},
    };
    for (size_t i = 0; i < ARRAY_COUNT(cases); i++) {
        read_body(cases[i].format, asr_format_is_json(cases[i].format), cases[i].data);
        if (reading.problem != cases[i].problem)
            fail_msg("%s: %d", cases[i].data, (int)reading.problem);
    }
}

static void test_text(void **state)
{
    (void)state;
    expect_text(ASR_FORMAT_TEXT, " the tide\n comes in\r\n\n", " the tide\n comes in");
    expect_text(ASR_FORMAT_TEXT, "", "");
    expect_text(ASR_FORMAT_TEXT, "{not JSON}", "{not JSON}");
    read_body(ASR_FORMAT_TEXT, false,
              "gr\xF6\xDF"
              "er");
    assert_string_equal(strbuf_text(&text), "gr\xEF\xBF\xBD\xEF\xBF\xBD"
                                            "er");
    assert_true(reading.is_unsound);
    read_body(ASR_FORMAT_TEXT, true, "{\"text\":\"in JSON\",\"inference_time\":1}");
    assert_string_equal(strbuf_text(&text), "in JSON");
    assert_true(reading.is_other_format);
    assert_int_equal(reading.told.inference_ns, 1000000000);
    read_body(ASR_FORMAT_TEXT, true, "{\"task\":1}");
    assert_int_equal(reading.problem, ASR_NO_TEXT);
}

static void test_srt(void **state)
{
    (void)state;
    expect_text(ASR_FORMAT_SRT,
                "1\n00:00:00,000 --> 00:00:01,200\nthe tide comes\n\n2\n00:00:01,200 --> 00:00:02,500\nin at dawn\n\n",
                "the tide comes in at dawn");
    assert_int_equal(reading.cues, 2);
    /* CR LF, CR, a byte order mark, several lines a cue, tags, positions, numbers as text, no blank line between cues.
     */
    expect_text(ASR_FORMAT_SRT,
                "\xEF\xBB\xBF"
                "1\r\n00:00:00,000 --> 00:00:01,000 X1:5\r\n<i>In</i> {\\an8}1984\r\n 12 \r\n2\r\n00:00:01,000 --> "
                "00:00:02,000\r\n"
                "a < b\r\r3\r0:00:02.000-->0:00:03.000\r<b></b>\rend",
                "In 1984 12 a < b end");
    assert_int_equal(reading.cues, 3);
    expect_text(ASR_FORMAT_SRT, "", "");
    assert_int_equal(reading.cues, 0);
    expect_text(ASR_FORMAT_SRT, "1\n00:00:00,000 --> 00:00:01,000\nwe go --> there\n", "we go --> there");
    assert_int_equal(reading.cues, 1);
}

static void test_vtt(void **state)
{
    (void)state;
    expect_text(ASR_FORMAT_VTT,
                "WEBVTT - title\nKind: captions\n\nNOTE not this\nnor this\n\nSTYLE\n::cue{}\n\nintro\n00:00.000 --> "
                "00:01.200 align:start\n"
                "<v Ann>the <00:00.500>tide &amp; &lt;more&gt;\n\n00:01.200 --> 00:02.500\nin&nbsp;at dawn &unknown;\n",
                "the tide & <more> in\xC2\xA0"
                "at dawn &unknown;");
    assert_int_equal(reading.cues, 2);
    expect_text(ASR_FORMAT_VTT, "WEBVTT\n", "");
    assert_int_equal(reading.cues, 0);
    assert_false(reading.is_other_format);
}

static void test_subtitles_in_another_format(void **state)
{
    (void)state;
    read_body(ASR_FORMAT_SRT, false, "WEBVTT\n\n00:00.000 --> 00:01.000\na\n");
    assert_string_equal(strbuf_text(&text), "a");
    assert_true(reading.is_other_format);
    read_body(ASR_FORMAT_VTT, false, "1\n00:00:00,000 --> 00:00:01,000\na\n");
    assert_true(reading.is_other_format);
    read_body(ASR_FORMAT_VTT, false, "just words\n");
    assert_string_equal(strbuf_text(&text), "just words");
    assert_true(reading.is_other_format);
    assert_int_equal(reading.cues, -1);
    read_body(ASR_FORMAT_SRT, true, "{\"text\":\"a b\"}");
    assert_string_equal(strbuf_text(&text), "a b");
    assert_true(reading.is_other_format);
    assert_int_equal(reading.cues, -1);
}

static void test_characters(void **state)
{
    (void)state;
    assert_int_equal(asr_count_chars("gr\xC3\xB6\xC3\x9F"
                                     "er als fr\xC3\xBCher",
                                     20),
                     17);
    assert_int_equal(asr_count_chars(" the tide \n", 11), 8);
    assert_int_equal(asr_count_chars("", 0), 0);
    assert_int_equal(asr_count_chars(" \n", 2), 0);
    assert_int_equal(asr_count_chars("\xF0\x9F\x8E\xB5", 4), 1);
}

static struct asr_event read_event(const char *data)
{
    struct asr_event event;
    asr_read_event(data, strlen(data), &event);
    return event;
}

static void test_events(void **state)
{
    (void)state;
    struct asr_event event = read_event("{\"type\":\"transcript.text.delta\",\"delta\":\" a\"}");
    assert_int_equal(event.kind, ASR_EVENT_DELTA);
    assert_int_equal(event.text.len, 2);
    assert_int_equal(read_event("{\"type\":\"transcript.text.delta\",\"delta\":\"\"}").kind, ASR_EVENT_NONE);
    event = read_event(
        "{\"type\":\"transcript.text.done\",\"text\":\"a b\",\"usage\":{\"type\":\"tokens\",\"input_tokens\":404,"
        "\"output_tokens\":6,\"total_tokens\":410}}");
    assert_int_equal(event.kind, ASR_EVENT_DONE);
    assert_int_equal(event.told.input_tokens, 404);
    assert_int_equal(event.told.total_tokens, 410);
    event = read_event("{\"object\":\"transcription.chunk\",\"choices\":[{\"delta\":{\"content\":\"the tide\"}}]}");
    assert_int_equal(event.kind, ASR_EVENT_DELTA);
    assert_int_equal(event.text.len, 8);
    assert_false(event.is_finished);
    event = read_event("{\"choices\":[{\"delta\":{},\"finish_reason\":\"stop\"}],\"usage\":{\"prompt_tokens\":3,"
                       "\"completion_tokens\":4}}");
    assert_int_equal(event.kind, ASR_EVENT_NONE);
    assert_true(event.is_finished);
    assert_int_equal(event.told.output_tokens, 4);
    assert_int_equal(read_event("{\"error\":{\"message\":\"x\"}}").kind, ASR_EVENT_ERROR);
    assert_int_equal(read_event("{\"choices\":[]}").kind, ASR_EVENT_NONE);
    assert_int_equal(read_event("{\"choices\":[{\"delta\":{\"con").kind, ASR_EVENT_BROKEN);
    assert_int_equal(read_event("ping").kind, ASR_EVENT_BROKEN);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(test_json, setup, teardown),
        cmocka_unit_test_setup_teardown(test_what_is_no_transcript, setup, teardown),
        cmocka_unit_test_setup_teardown(test_text, setup, teardown),
        cmocka_unit_test_setup_teardown(test_srt, setup, teardown),
        cmocka_unit_test_setup_teardown(test_vtt, setup, teardown),
        cmocka_unit_test_setup_teardown(test_subtitles_in_another_format, setup, teardown),
        cmocka_unit_test(test_characters),
        cmocka_unit_test(test_events),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
