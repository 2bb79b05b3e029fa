/* SPDX-License-Identifier: Apache-2.0 */
#include "fake_net.h"

static const struct fake_step *script;

static const struct fake_step *serve(struct net_exchange *x)
{
    (void)x;
    return script;
}

/* Plays one request; returns its record. */
static const struct request_record *play(const struct fake_step *steps, bool expects_stream)
{
    void (*judge)(struct fake_answer *, struct request_record *, const struct answer_close *) = run.judge;
    fake_settings(serve);
    run.judge = judge;
    script = steps;
    run.expects_stream = expects_stream;
    run.options.request_timeout_ns = 2 * S;
    fake_engine_run();
    assert_int_equal(run.record_count, 1);
    return &run.records[0];
}

static struct http_response_head head_of(int status, enum http_media media, int64_t content_length)
{
    return (struct http_response_head){.status = status,
                                       .minor = 1,
                                       .chunked = content_length < 0,
                                       .content_length = content_length,
                                       .media = media,
                                       .retry_after_s = -1};
}

#define EVENT_A    "data: a\n\n"
#define EVENT_DONE "data: [DONE]\n\n"

static void test_stream(void **state)
{
    (void)state;
    const struct fake_step steps[] = {
        {.after_ns = 5 * MS, .kind = FAKE_HEAD, .head = FAKE_STREAM_HEAD},
        {.after_ns = 5 * MS, .kind = FAKE_DATA, .data = EVENT_A},
        {.after_ns = 5 * MS, .kind = FAKE_DATA, .data = "data: b"},
        {.after_ns = 5 * MS, .kind = FAKE_DATA, .data = "\n\n" EVENT_DONE},
        {.after_ns = 5 * MS, .kind = FAKE_END, .end = NET_END_COMPLETE},
    };
    const struct request_record *record = play(steps, true);
    assert_int_equal(record->outcome, OUTCOME_OK);
    assert_int_equal(record->flags, 0);
    assert_int_equal(record->first_byte_ns, 5 * MS);
    /* The answer ends with its marker; the end of the body, 5 ms later, is only drained. */
    assert_int_equal(record->done_ns, 20 * MS);
    assert_string_equal(run.answers[0].text, "ab");
    assert_int_equal(run.answers[0].events, 2);
    assert_int_equal(run.answers[0].read_ends, 3);
    assert_int_equal(record->stamp, RECORD_STAMP_USER);
    assert_int_equal(record->client_lag_ns, -1);
    assert_int_equal(run.result.lag_reads, 0);
    assert_int_equal(run.result.lag_p99_ns, -1);
    assert_string_equal(record->prompt_id, "p0");
}

static void stamps_judge(struct fake_answer *answer, struct request_record *record, const struct answer_close *close)
{
    (void)record, (void)close;
    assert_true(answer->last.is_kernel);
    assert_int_equal(answer->last.user_ns - answer->last.ns, 40 * US);
}

static const struct fake_step *serve_with_lag(struct net_exchange *x)
{
    (void)x;
    fake.lag_ns = 40 * US;
    return script;
}

static void test_kernel_stamps(void **state)
{
    (void)state;
    const struct fake_step steps[] = {
        {.after_ns = 5 * MS, .kind = FAKE_HEAD, .head = FAKE_STREAM_HEAD},
        {.after_ns = 5 * MS, .kind = FAKE_DATA, .data = EVENT_A EVENT_DONE},
        {.kind = FAKE_END, .end = NET_END_COMPLETE},
    };
    fake_settings(serve_with_lag);
    script = steps;
    run.expects_stream = true;
    run.judge = stamps_judge;
    fake_engine_run();
    run.judge = NULL;
    const struct request_record *record = &run.records[0];
    assert_int_equal(record->done_ns, 10 * MS - 40 * US);
    assert_int_equal(record->stamp, RECORD_STAMP_KERNEL);
    assert_int_equal(record->client_lag_ns, 40 * US);
    assert_int_equal(run.result.lag_reads, 2);
    assert_int_equal(run.result.lag_max_ns, 40 * US);
    assert_int_equal(run.result.lag_p50_ns, 40 * US);
}

static void test_exactness_of_the_last_event(void **state)
{
    (void)state;
    static const struct {
        const char *data;
        bool is_inside_chunk;
        int expected;
    } cases[] = {{EVENT_A, false, 1},
                 {EVENT_A "da", false, 0},
                 {EVENT_A, true, 0},
                 {EVENT_A EVENT_A, false, 1},
                 {EVENT_A ": ping", false, 0}};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        const struct fake_step steps[] = {
            {.after_ns = 5 * MS, .kind = FAKE_HEAD, .head = FAKE_STREAM_HEAD},
            {.after_ns = 5 * MS, .kind = FAKE_DATA, .data = cases[i].data, .is_inside_chunk = cases[i].is_inside_chunk},
            {.after_ns = 5 * MS, .kind = FAKE_END, .end = NET_END_CLOSED},
        };
        play(steps, true);
        assert_int_equal(run.answers[0].last_read_end, cases[i].expected);
        assert_int_equal(run.answers[0].read_ends, 1);
    }
}

static void test_every_split_of_a_stream(void **state)
{
    (void)state;
    static const char text[] =
        "\xEF\xBB\xBF: hi\r\ndata: x\r\n\r\nevent: e\ndata:y\ndata: z\n\n" EVENT_DONE "data: after\n\n";
    for (enum http_media media = HTTP_MEDIA_OTHER; media <= HTTP_MEDIA_TEXT; media++) {
        if (media == HTTP_MEDIA_JSON)
            continue;
        for (size_t cut = 1; cut < sizeof text - 1; cut++) {
            const struct fake_step steps[] = {
                {.after_ns = MS, .kind = FAKE_HEAD, .head = head_of(200, media, -1)},
                {.after_ns = MS, .kind = FAKE_DATA, .data = text, .len = cut},
                {.after_ns = MS, .kind = FAKE_DATA, .data = text + cut},
                {.kind = FAKE_END, .end = NET_END_COMPLETE},
            };
            const struct request_record *record = play(steps, true);
            assert_int_equal(record->outcome, OUTCOME_OK);
            assert_int_equal(record->flags, 0);
            assert_string_equal(run.answers[0].text, "xy\nz");
            assert_true(run.answers[0].is_done);
        }
    }
}

static void test_plain_text_to_a_stream_request_is_a_body(void **state)
{
    (void)state;
    static const char *const texts[] = {"dat", "plain text that says data: later", "{\"a\":1}", "\n\n", "\xEF"};
    for (size_t i = 0; i < sizeof texts / sizeof *texts; i++) {
        for (size_t cut = 1; cut <= strlen(texts[i]); cut++) {
            const struct fake_step whole[] = {
                {.after_ns = MS, .kind = FAKE_HEAD, .head = head_of(200, HTTP_MEDIA_TEXT, -1)},
                {.after_ns = MS, .kind = FAKE_DATA, .data = texts[i]},
                {.kind = FAKE_END, .end = NET_END_COMPLETE},
            };
            const struct fake_step split[] = {
                whole[0],
                {.after_ns = MS, .kind = FAKE_DATA, .data = texts[i], .len = cut},
                {.after_ns = MS, .kind = FAKE_DATA, .data = texts[i] + cut},
                {.kind = FAKE_END, .end = NET_END_COMPLETE},
            };
            const struct request_record *record = play(cut == strlen(texts[i]) ? whole : split, true);
            assert_int_equal(run.answers[0].bodies, 1);
            assert_string_equal(run.answers[0].text, texts[i]);
            assert_int_equal(record->flags, texts[i][0] == '{' ? RECORD_FLAG_JSON_FOR_STREAM : 0);
        }
    }
}

static void test_text_without_a_stream_asked_is_not_sniffed(void **state)
{
    (void)state;
    const struct fake_step steps[] = {
        {.after_ns = MS, .kind = FAKE_HEAD, .head = head_of(200, HTTP_MEDIA_TEXT, 9)},
        {.after_ns = MS, .kind = FAKE_DATA, .data = EVENT_A},
        {.kind = FAKE_END, .end = NET_END_COMPLETE},
    };
    play(steps, false);
    assert_int_equal(run.answers[0].bodies, 1);
    assert_string_equal(run.answers[0].text, EVENT_A);
}

static void test_stream_for_json(void **state)
{
    (void)state;
    const struct fake_step steps[] = {
        {.after_ns = MS, .kind = FAKE_HEAD, .head = FAKE_STREAM_HEAD},
        {.kind = FAKE_DATA, .data = EVENT_A EVENT_DONE},
        {.kind = FAKE_END, .end = NET_END_COMPLETE},
    };
    const struct request_record *record = play(steps, false);
    assert_int_equal(record->flags, RECORD_FLAG_STREAM_FOR_JSON);
    assert_int_equal(run.answers[0].events, 1);
}

static void test_json_for_stream(void **state)
{
    (void)state;
    const struct fake_step steps[] = {
        {.after_ns = MS, .kind = FAKE_HEAD, .head = FAKE_JSON_HEAD(4)},
        {.after_ns = MS, .kind = FAKE_DATA, .data = "{ }\n"},
        {.kind = FAKE_END, .end = NET_END_COMPLETE},
    };
    const struct request_record *record = play(steps, true);
    assert_int_equal(record->flags, RECORD_FLAG_JSON_FOR_STREAM);
    assert_int_equal(record->ttft_ns, -1);
    assert_int_equal(record->ttft_spec_ns, record->response_time_ns);
    assert_int_equal(record->done_ns, 2 * MS);
}

static void test_empty_bodies_are_given(void **state)
{
    (void)state;
    const struct fake_step no_content[] = {
        {.after_ns = MS, .kind = FAKE_HEAD, .head = {.status = 204, .content_length = -1, .retry_after_s = -1}},
        {.kind = FAKE_END, .end = NET_END_COMPLETE},
    };
    const struct fake_step empty[] = {
        {.after_ns = MS, .kind = FAKE_HEAD, .head = FAKE_JSON_HEAD(0)},
        {.kind = FAKE_END, .end = NET_END_COMPLETE},
    };
    const struct request_record *record = play(no_content, true);
    assert_int_equal(record->http_status, 204);
    assert_int_equal(record->done_ns, MS);
    assert_int_equal(run.answers[0].bodies, 1);
    record = play(empty, true);
    assert_int_equal(run.answers[0].bodies, 1);
    assert_int_equal(record->flags, 0);
}

static void test_coded_body(void **state)
{
    (void)state;
    struct fake_step steps[] = {
        {.after_ns = MS, .kind = FAKE_HEAD, .head = FAKE_JSON_HEAD(4)},
        {.kind = FAKE_DATA, .data = "\x1f\x8b\x08\x01"},
        {.kind = FAKE_END, .end = NET_END_COMPLETE},
    };
    steps[0].head.coding = HTTP_CODING_GZIP;
    const struct request_record *record = play(steps, false);
    assert_int_equal(record->outcome, OUTCOME_FAILED);
    assert_int_equal(record->error_type, ERROR_TYPE_DECODE);
    assert_int_equal(record->http_status, 200);
    assert_int_equal(run.answers[0].bodies, 0);
    assert_non_null(strstr(run.messages[0], "Content-Encoding"));
}

static void test_too_large(void **state)
{
    (void)state;
    static char big[5000];
    memset(big, 'x', sizeof big);
    const struct fake_step at_once[] = {
        {.after_ns = MS, .kind = FAKE_HEAD, .head = FAKE_JSON_HEAD(sizeof big)},
        {.kind = FAKE_DATA, .data = big, .len = sizeof big},
        {.after_ns = MS, .kind = FAKE_END, .end = NET_END_COMPLETE},
    };
    const struct fake_step in_pieces[] = {
        {.after_ns = MS, .kind = FAKE_HEAD, .head = head_of(200, HTTP_MEDIA_JSON, -1)},
        {.after_ns = MS, .kind = FAKE_DATA, .data = big, .len = 4096},
        {.after_ns = MS, .kind = FAKE_DATA, .data = big, .len = 1},
        {.kind = FAKE_DATA, .data = big, .len = 4096},
        {.after_ns = 10 * S, .kind = FAKE_END, .end = NET_END_COMPLETE},
    };
    const struct fake_step fits[] = {
        in_pieces[0],
        in_pieces[1],
        {.kind = FAKE_END, .end = NET_END_COMPLETE},
    };
    const struct request_record *record = play(at_once, false);
    assert_int_equal(record->error_type, ERROR_TYPE_BODY);
    assert_int_equal(run.answers[0].bodies, 0);
    assert_non_null(strstr(run.messages[0], "larger"));
    record = play(in_pieces, false);
    assert_int_equal(record->error_type, ERROR_TYPE_BODY);
    /* Not read to its end: cancelled right after the read that passed the limit. */
    assert_int_equal(record->done_ns, 3 * MS);
    assert_int_equal(fake.cancelled, 1);
    record = play(fits, false);
    assert_int_equal(record->outcome, OUTCOME_OK);
    assert_int_equal(run.answers[0].bodies, 1);
}

static void test_drain_limits(void **state)
{
    (void)state;
    static char noise[40000];
    memset(noise, '\n', sizeof noise);
    const struct fake_step held_open[] = {
        {.after_ns = MS, .kind = FAKE_HEAD, .head = FAKE_STREAM_HEAD},
        {.after_ns = MS, .kind = FAKE_DATA, .data = EVENT_A EVENT_DONE},
        {.after_ns = 10 * S, .kind = FAKE_END, .end = NET_END_COMPLETE},
    };
    const struct fake_step noisy[] = {
        held_open[0],
        held_open[1],
        {.after_ns = MS, .kind = FAKE_DATA, .data = noise, .len = sizeof noise},
        {.after_ns = MS, .kind = FAKE_DATA, .data = noise, .len = sizeof noise},
        {.after_ns = 10 * S, .kind = FAKE_END, .end = NET_END_COMPLETE},
    };
    const struct fake_step reset[] = {
        held_open[0],
        held_open[1],
        {.after_ns = MS, .kind = FAKE_END, .end = NET_END_TRUNCATED, .data = "reset"},
    };
    const struct fake_step *const cases[] = {held_open, noisy, reset};
    const int64_t ends[] = {252 * MS, 4 * MS, 3 * MS};
    for (int i = 0; i < 3; i++) {
        const struct request_record *record = play(cases[i], true);
        assert_int_equal(record->outcome, OUTCOME_OK);
        assert_int_equal(record->flags, RECORD_FLAG_UNCLEAN_CLOSE);
        assert_int_equal(record->done_ns, 2 * MS);
        assert_int_equal(fake_now(), ends[i]);
        assert_int_equal(fake.cancelled, i < 2);
    }
}

/* The end marker ends the request's time; a deadline that passes while draining does not make it a timeout. */
static void test_deadline_does_not_cut_draining(void **state)
{
    (void)state;
    const struct fake_step steps[] = {
        {.after_ns = 1900 * MS, .kind = FAKE_HEAD, .head = FAKE_STREAM_HEAD},
        {.after_ns = 50 * MS, .kind = FAKE_DATA, .data = EVENT_DONE},
        {.after_ns = 200 * MS, .kind = FAKE_END, .end = NET_END_COMPLETE},
    };
    const struct request_record *record = play(steps, true);
    assert_int_equal(record->outcome, OUTCOME_OK);
    assert_int_equal(record->flags, 0);
    assert_int_equal(record->done_ns, 1950 * MS);
}

static void test_timeout_in_a_trickle(void **state)
{
    (void)state;
    static struct fake_step steps[100];
    steps[0] = (struct fake_step){.after_ns = MS, .kind = FAKE_HEAD, .head = FAKE_STREAM_HEAD};
    for (int i = 1; i < 100; i++)
        steps[i] = (struct fake_step){.after_ns = 60 * MS, .kind = FAKE_DATA, .data = i % 2 ? EVENT_A : ": ping\n\n"};
    const struct request_record *record = play(steps, true);
    assert_int_equal(record->outcome, OUTCOME_TIMED_OUT);
    assert_int_equal(record->error_type, ERROR_TYPE_TIMEOUT);
    assert_int_equal(record->http_status, 200);
    assert_int_equal(record->response_time_ns, 2 * S);
    assert_true(run.answers[0].events > 10);
}

static void test_last_event_without_its_blank_line(void **state)
{
    (void)state;
    const struct fake_step well_ended[] = {
        {.after_ns = MS, .kind = FAKE_HEAD, .head = FAKE_STREAM_HEAD},
        {.after_ns = MS, .kind = FAKE_DATA, .data = EVENT_A "data: [DONE]\n"},
        {.after_ns = MS, .kind = FAKE_END, .end = NET_END_COMPLETE},
    };
    const struct fake_step cut_after_marker[] = {
        well_ended[0],
        well_ended[1],
        {.after_ns = MS, .kind = FAKE_END, .end = NET_END_TRUNCATED, .data = "cut"},
    };
    const struct fake_step cut_in_event[] = {
        well_ended[0],
        {.after_ns = MS, .kind = FAKE_DATA, .data = EVENT_A "data: b\n"},
        {.after_ns = MS, .kind = FAKE_END, .end = NET_END_TRUNCATED, .data = "the connection closed inside a chunk"},
    };
    const struct request_record *record = play(well_ended, true);
    assert_true(run.answers[0].is_done);
    assert_int_equal(record->outcome, OUTCOME_OK);
    assert_int_equal(record->done_ns, 2 * MS);
    record = play(cut_after_marker, true);
    assert_true(run.answers[0].is_done);
    assert_int_equal(record->outcome, OUTCOME_OK);
    assert_int_equal(record->flags, RECORD_FLAG_UNCLEAN_CLOSE);
    record = play(cut_in_event, true);
    assert_string_equal(run.answers[0].text, "a");
    assert_int_equal(record->outcome, OUTCOME_FAILED);
    assert_int_equal(record->error_type, ERROR_TYPE_BODY);
    assert_string_equal(run.messages[0], "the connection closed inside a chunk");
    assert_int_equal(record->done_ns, 3 * MS);
}

static void judge_reported(struct fake_answer *answer, struct request_record *record, const struct answer_close *close)
{
    (void)answer, (void)close;
    record->outcome = OUTCOME_FAILED;
    record->error_type = ERROR_TYPE_SERVER_REPORTED;
    record->error_message = (struct record_text){"key sk-abcdef is\nout of memory", 30};
}

static void judge_fine(struct fake_answer *answer, struct request_record *record, const struct answer_close *close)
{
    (void)answer, (void)close;
    record->outcome = OUTCOME_OK;
    record->error_type = ERROR_TYPE_NONE;
}

/* The modality may say more of a cut answer, but not that it was fine; over a status it has no say. */
static void test_who_decides(void **state)
{
    (void)state;
    const struct fake_step cut[] = {
        {.after_ns = MS, .kind = FAKE_HEAD, .head = FAKE_STREAM_HEAD},
        {.after_ns = MS, .kind = FAKE_DATA, .data = EVENT_A},
        {.after_ns = MS, .kind = FAKE_END, .end = NET_END_TRUNCATED, .data = "cut"},
    };
    const struct fake_step denied[] = {
        {.after_ns = MS, .kind = FAKE_HEAD, .head = FAKE_ERROR_HEAD(401, -1)},
        {.kind = FAKE_DATA, .data = "{\"detail\":\"no\"}"},
        {.kind = FAKE_END, .end = NET_END_COMPLETE},
    };
    run.judge = judge_reported;
    assert_int_equal(play(cut, true)->error_type, ERROR_TYPE_SERVER_REPORTED);
    assert_string_equal(run.messages[0], "key sk-abcdef is out of memory");
    assert_true(run.records[0].oom);
    assert_int_equal(play(denied, true)->error_type, ERROR_TYPE_AUTH);
    assert_string_equal(run.messages[0], "no");
    assert_false(run.records[0].oom);
    assert_int_equal(run.answers[0].bodies, 1);
    run.judge = judge_fine;
    assert_int_equal(play(cut, true)->error_type, ERROR_TYPE_BODY);
    assert_int_equal(play(denied, true)->error_type, ERROR_TYPE_AUTH);
    run.judge = NULL;
}

static void test_redirect(void **state)
{
    (void)state;
    struct fake_step steps[] = {
        {.after_ns = MS, .kind = FAKE_HEAD, .head = FAKE_ERROR_HEAD(307, -1)},
        {.kind = FAKE_END, .end = NET_END_COMPLETE},
    };
    snprintf(steps[0].head.location, sizeof steps[0].head.location, "http://other.invalid/v1");
    const struct request_record *record = play(steps, true);
    assert_int_equal(record->error_type, ERROR_TYPE_REDIRECT);
    assert_int_equal(record->http_status, 307);
    assert_non_null(strstr(run.messages[0], "http://other.invalid/v1"));
    assert_int_equal(fake.started, 1);
}

static void test_status_of_a_cut_answer(void **state)
{
    (void)state;
    const struct fake_step steps[] = {
        {.after_ns = MS, .kind = FAKE_HEAD, .head = FAKE_ERROR_HEAD(413, -1)},
        {.kind = FAKE_DATA, .data = "{\"error\":{\"message\":\"Body over 2 MiB.\""},
        {.kind = FAKE_END, .end = NET_END_TRUNCATED, .data = "reset"},
    };
    assert_int_equal(play(steps, true)->error_type, ERROR_TYPE_HTTP_OTHER);
    assert_string_equal(run.messages[0], "Body over 2 MiB.");
}

static void test_transport_failures(void **state)
{
    (void)state;
    static const struct {
        enum net_end end;
        enum error_type type;
    } cases[] = {
        {NET_END_CONNECT, ERROR_TYPE_CONNECTION},
        {NET_END_CONNECT_TIMEOUT, ERROR_TYPE_CONNECTION},
        {NET_END_CLOSED, ERROR_TYPE_CONNECTION},
        {NET_END_MALFORMED, ERROR_TYPE_BODY},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        const struct fake_step steps[] = {
            {.after_ns = 7 * MS, .kind = FAKE_END, .end = cases[i].end, .data = "said why"}};
        const struct request_record *record = play(steps, true);
        assert_int_equal(record->outcome, OUTCOME_FAILED);
        assert_int_equal(record->error_type, cases[i].type);
        assert_int_equal(record->http_status, -1);
        assert_int_equal(record->response_time_ns, 7 * MS);
        assert_int_equal(record->stamp, RECORD_STAMP_NONE);
        assert_string_equal(run.messages[0], "said why");
        assert_int_equal(run.answers[0].events + run.answers[0].bodies, 0);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_stream),
        cmocka_unit_test(test_kernel_stamps),
        cmocka_unit_test(test_exactness_of_the_last_event),
        cmocka_unit_test(test_every_split_of_a_stream),
        cmocka_unit_test(test_plain_text_to_a_stream_request_is_a_body),
        cmocka_unit_test(test_text_without_a_stream_asked_is_not_sniffed),
        cmocka_unit_test(test_stream_for_json),
        cmocka_unit_test(test_json_for_stream),
        cmocka_unit_test(test_empty_bodies_are_given),
        cmocka_unit_test(test_coded_body),
        cmocka_unit_test(test_too_large),
        cmocka_unit_test(test_drain_limits),
        cmocka_unit_test(test_deadline_does_not_cut_draining),
        cmocka_unit_test(test_timeout_in_a_trickle),
        cmocka_unit_test(test_last_event_without_its_blank_line),
        cmocka_unit_test(test_who_decides),
        cmocka_unit_test(test_redirect),
        cmocka_unit_test(test_status_of_a_cut_answer),
        cmocka_unit_test(test_transport_failures),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
