/* SPDX-License-Identifier: Apache-2.0 */
#include "answers.h"

#define BOUNDARY "xYz"

/* Half a second of silence, 8 kHz. */
static struct strbuf wav;
static struct arena arena;
static struct sim_transcripts transcripts;
static struct sim_transcript known[] = {{"clip", "one two three four five six seven eight nine", 44, 9}};

static int group_setup(void **state)
{
    (void)state;
    static const char head[] =
        "RIFF\0\0\0\0WAVEfmt \x10\0\0\0\1\0\1\0\x40\x1f\0\0\x80\x3e\0\0\2\0\x10\0data\x40\x1f\0\0";
    strbuf_init(&wav, 0);
    strbuf_add(&wav, head, sizeof head - 1);
    for (int i = 0; i < 8000; i++)
        strbuf_addc(&wav, '\0');
    arena_init(&arena, 0, 0);
    transcripts = (struct sim_transcripts){known, 1};
    return 0;
}

static int group_teardown(void **state)
{
    (void)state;
    strbuf_done(&wav);
    arena_done(&arena);
    return 0;
}

/* What a request holds; NULL leaves a field out. */
struct form {
    const char *model, *format, *language, *granularity, *stream, *file_name, *type;
    const void *data;
    size_t len;
};

static struct form plain_form(void)
{
    return (struct form){.model = "m", .file_name = "clip.wav", .type = "audio/wav", .data = wav.data, .len = wav.len};
}

static void add(struct strbuf *out, const char *name, const char *value)
{
    if (value)
        strbuf_addf(out, "--" BOUNDARY "\r\nContent-Disposition: form-data; name=\"%s\"\r\n\r\n%s\r\n", name, value);
}

static as_status ask_with(const struct form *form, struct sim_ask *ret, struct as_error *err)
{
    static const char type[] = "multipart/form-data; boundary=" BOUNDARY;
    static struct strbuf body;
    strbuf_reset(&body);
    add(&body, "model", form->model);
    add(&body, "response_format", form->format);
    add(&body, "language", form->language);
    add(&body, "timestamp_granularities[]", form->granularity);
    add(&body, "stream", form->stream);
    if (form->file_name)
        strbuf_addf(&body,
                    "--" BOUNDARY
                    "\r\nContent-Disposition: form-data; name=\"file\"; filename=\"%s\"\r\nContent-Type: %s\r\n\r\n",
                    form->file_name, form->type);
    if (form->file_name)
        strbuf_add(&body, form->data, form->len);
    strbuf_adds(&body, "\r\n--" BOUNDARY "--\r\n");
    as_status status = sim_audio_read((struct http_text){type, sizeof type - 1},
                                      (struct http_text){body.data, body.len}, &transcripts, ret, err);
    return status;
}

static void expect_refused(const struct form *form, const char *reason)
{
    struct sim_ask ask;
    struct as_error err;
    assert_int_equal(ask_with(form, &ask, &err), AS_E_INVALID);
    if (!strstr(err.message, reason))
        fail_msg("\"%s\" does not say \"%s\"", err.message, reason);
    assert_null(strpbrk(err.message, "\"\\")); /* it goes into JSON as it is */
}

static void test_a_strict_look_at_the_form(void **state)
{
    (void)state;
    struct form form = plain_form();
    form.model = NULL;
    expect_refused(&form, "names no model");
    form = plain_form();
    form.format = "xml";
    expect_refused(&form, "response_format");
    form = plain_form();
    form.language = "en\"";
    expect_refused(&form, "language");
    form = plain_form();
    form.file_name = "";
    expect_refused(&form, "no filename");
    form = plain_form();
    form.file_name = NULL;
    form.model = "m\r\n--" BOUNDARY "\r\nContent-Disposition: form-data; name=\"file\"\r\n\r\nbase64";
    expect_refused(&form, "no file");
    form = plain_form();
    form.data = "RIFF of a placeholder";
    form.len = 21;
    expect_refused(&form, "none of mp3");
    form = plain_form();
    form.len -= 100;
    expect_refused(&form, "cut off");
    form = plain_form();
    form.type = "audio/mpeg";
    expect_refused(&form, "another Content-Type");
}

static void test_what_is_asked(void **state)
{
    (void)state;
    struct form form = plain_form();
    struct sim_ask ask;
    struct as_error err;
    form.format = "verbose_json";
    form.granularity = "word";
    form.stream = "true";
    assert_int_equal(ask_with(&form, &ask, &err), AS_OK);
    assert_true(ask.is_audio && ask.stream && ask.audio.wants_words);
    assert_int_equal(ask.audio.format, SIM_AUDIO_VERBOSE_JSON);
    assert_int_equal(ask.audio.duration_ns, 500000000);
    assert_ptr_equal(ask.audio.transcript, &known[0]);
    assert_int_equal(ask.audio.words, 9);
    assert_string_equal(ask.audio.language, "en");
    assert_true(json_raw_equals(&ask.model, "m"));
    form = plain_form();
    form.file_name = "other.wav";
    assert_int_equal(ask_with(&form, &ask, &err), AS_OK);
    assert_null(ask.audio.transcript);
    assert_int_equal(ask.audio.words, 1); /* 2.5 a second */
    assert_int_equal(ask.audio.format, SIM_AUDIO_JSON);
    struct http_text json = {"application/json", 16};
    assert_int_equal(sim_audio_read(json, (struct http_text){"{}", 2}, &transcripts, &ask, &err), AS_E_UNSUPPORTED);
}

static struct sim_vocab *vocab;

/* The body of the whole answer to a form, and the work it took. */
static const char *answer_to(const struct form *form, struct sim_profile *profile, int64_t *ret_work_ns)
{
    static struct strbuf out;
    static struct sim_answer answer;
    struct sim_ask ask;
    struct as_error err;
    if (ask_with(form, &ask, &err) != AS_OK)
        fail_msg("%s", err.message);
    answer = (struct sim_answer){.profile = profile, .vocab = vocab, .moment = &a_moment};
    sim_answer_init(&answer, &ask, 1, 7);
    strbuf_reset(&out);
    assert_int_equal(sim_answer_start(&answer, &out), SIM_ANSWER_GO_ON);
    *ret_work_ns = sim_answer_delay_ns(&answer, 1);
    while (sim_answer_step(&answer, &out) == SIM_ANSWER_GO_ON)
        assert_int_equal(sim_answer_delay_ns(&answer, 1), 10000000);
    const char *body = strstr(strbuf_text(&out), "\r\n\r\n");
    assert_non_null(body);
    return body + 4;
}

static void test_answers(void **state)
{
    (void)state;
    struct sim_profile profile = plain_profile();
    struct form form = plain_form();
    int64_t work_ns;
    profile.audio_rtf = 0.1;
    profile.tells_inference_time = true;
    assert_string_equal(
        answer_to(&form, &profile, &work_ns),
        "{\"text\":\"one two three four five six seven eight nine\",\"usage\":{\"type\":\"duration\",\"seconds\":0.5},"
        "\"inference_time\":0.1}");
    assert_int_equal(work_ns, 100000000); /* 50 ms and a tenth of half a second */
    profile.word_errors = 4;
    form.format = "text";
    assert_string_equal(answer_to(&form, &profile, &work_ns), "one two three blunder five six seven blunder nine\n");
    form.format = "srt";
    assert_string_equal(answer_to(&form, &profile, &work_ns),
                        "1\n00:00:00,000 --> 00:00:00,444\none two three blunder five six seven "
                        "blunder\n\n2\n00:00:00,444 --> 00:00:00,500\nnine\n\n");
    form.format = "vtt";
    assert_non_null(strstr(answer_to(&form, &profile, &work_ns), "WEBVTT\n\n00:00:00.000 --> 00:00:00.444\none"));
    profile.tells_inference_time = false;
    profile.word_errors = 0;
    form.format = "verbose_json";
    form.granularity = "word";
    const char *body = answer_to(&form, &profile, &work_ns);
    assert_true(json_cursor_validate(body, strlen(body), NULL));
    assert_null(strstr(body, "inference_time"));
    assert_non_null(strstr(body, "{\"task\":\"transcribe\",\"language\":\"en\",\"duration\":0.5,\"text\":\"one two"));
    assert_non_null(strstr(body, "\"words\":[{\"word\":\"one\",\"start\":0,\"end\":0.0555"));
}

static void test_a_stream(void **state)
{
    (void)state;
    struct sim_profile profile = plain_profile();
    struct form form = plain_form();
    int64_t work_ns;
    form.stream = "true";
    profile.tool_calls = 2; /* of chat alone */
    const char *body = answer_to(&form, &profile, &work_ns);
    assert_non_null(strstr(body, "\"object\":\"transcription.chunk\""));
    assert_non_null(strstr(body, "\"delta\":{\"content\":\"one\"}"));
    assert_non_null(strstr(body, "\"delta\":{\"content\":\" nine\"}"));
    assert_non_null(strstr(body, "\"finish_reason\":\"stop\"}]}\n\n"));
    assert_non_null(strstr(body, "data: [DONE]\n\n\r\n0\r\n\r\n"));
    assert_null(strstr(body, "tool_calls"));
}

static int with_vocab(void **state)
{
    (void)state;
    return sim_vocab_new(1, &vocab) == AS_OK ? 0 : -1;
}

static int without_vocab(void **state)
{
    (void)state;
    sim_vocab_free(vocab);
    return 0;
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_a_strict_look_at_the_form),
        cmocka_unit_test(test_what_is_asked),
        cmocka_unit_test_setup_teardown(test_answers, with_vocab, without_vocab),
        cmocka_unit_test_setup_teardown(test_a_stream, with_vocab, without_vocab),
    };
    return cmocka_run_group_tests(tests, group_setup, group_teardown);
}
