/* SPDX-License-Identifier: Apache-2.0 */
#include "answers.h"

static struct sim_vocab *vocab;

static int setup(void **state)
{
    (void)state;
    return sim_vocab_new(1, &vocab) == AS_OK ? 0 : -1;
}

static int teardown(void **state)
{
    (void)state;
    sim_vocab_free(vocab);
    return 0;
}

static int64_t words_of(const char *text)
{
    int64_t words = 0;
    for (size_t i = 0; text[i]; i++)
        words += text[i] != ' ' && (i == 0 || text[i - 1] == ' ');
    return words;
}

static void test_stream(void **state)
{
    (void)state;
    struct sim_profile profile = plain_profile();
    struct sim_ask ask = chat_ask(true);
    struct played *p = play(&profile, vocab, &ask, 1, 9);
    assert_int_equal(p->action, SIM_ANSWER_END);
    assert_true(p->is_complete && p->done_mark && p->head.keep_alive);
    assert_int_equal(p->head.status, 200);
    assert_int_equal(p->content_events, 5);
    assert_int_equal(p->events, 1 + 5 + 1 + 1); /* role, content, finish, usage */
    assert_int_equal(words_of(p->content), 5);
    assert_string_equal(p->finish, "stop");
    assert_int_equal(p->prompt_tokens, 8);
    assert_int_equal(p->completion_tokens, 5);
    assert_int_equal(p->usages, 1);
    assert_int_equal(p->steps, 5);
    assert_int_equal(p->delays_ns[0], 50000000);
    for (size_t i = 1; i < p->steps; i++)
        assert_int_equal(p->delays_ns[i], 10000000);
    played_free(p);
}

/* The same key gives the same text, length and time, with a stream or without, whatever is distributed. */
static void test_stream_and_body_agree(void **state)
{
    (void)state;
    struct sim_profile profile = plain_profile();
    assert_int_equal(sim_dist_parse("gamma:50ms,20ms", SIM_DIST_DURATION, &profile.ttft, NULL), AS_OK);
    assert_int_equal(sim_dist_parse("exponential:5ms", SIM_DIST_DURATION, &profile.itl, NULL), AS_OK);
    assert_int_equal(sim_dist_parse("uniform:1,60", SIM_DIST_COUNT, &profile.tokens, NULL), AS_OK);
    assert_int_equal(sim_dist_parse("uniform:1,4", SIM_DIST_COUNT, &profile.tokens_per_chunk, NULL), AS_OK);
    profile.reasoning_tokens = 3;
    struct sim_ask with = chat_ask(true), without = chat_ask(false);
    int64_t distinct = 0, last = -1;
    for (uint64_t key = 1; key <= 30; key++) {
        struct played *a = play(&profile, vocab, &with, 1, key), *b = play(&profile, vocab, &without, 2, key);
        assert_string_equal(a->content, b->content);
        assert_string_equal(a->reasoning, b->reasoning);
        assert_string_equal(a->finish, b->finish);
        assert_int_equal(total_delay(a), total_delay(b));
        assert_int_equal(a->completion_tokens, b->completion_tokens);
        assert_int_equal(words_of(a->content) + 3, a->completion_tokens);
        assert_int_equal(a->reasoning_tokens, 3);
        assert_int_equal(b->steps, 1);
        assert_int_equal(b->head.media, HTTP_MEDIA_JSON);
        distinct += a->completion_tokens != last;
        last = a->completion_tokens;
        played_free(a);
        played_free(b);
    }
    assert_true(distinct > 15);
}

static void test_length(void **state)
{
    (void)state;
    static const struct {
        int64_t max, min;
        bool ignore_eos, ignore_max;
        int64_t tokens;
        const char *finish;
    } cases[] = {
        {-1, -1, false, false, 5, "stop"},  {5, -1, false, false, 5, "stop"},  {4, -1, false, false, 4, "length"},
        {100, -1, false, false, 5, "stop"}, {100, 9, false, false, 9, "stop"}, {7, -1, true, false, 7, "length"},
        {3, -1, true, false, 3, "length"},  {3, -1, false, true, 5, "stop"},   {-1, -1, true, false, 5, "stop"},
        {1, -1, false, false, 1, "length"},
    };
    struct sim_profile profile = plain_profile();
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        struct sim_ask ask = chat_ask(true);
        ask.max_tokens = cases[i].max;
        ask.min_tokens = cases[i].min;
        ask.ignore_eos = cases[i].ignore_eos;
        profile.ignore_max_tokens = cases[i].ignore_max;
        struct played *p = play(&profile, vocab, &ask, 1, 9);
        if (p->completion_tokens != cases[i].tokens || strcmp(p->finish, cases[i].finish) != 0)
            fail_msg("case %zu: %ld tokens, %s", i, (long)p->completion_tokens, p->finish);
        played_free(p);
    }
}

static void test_no_tokens(void **state)
{
    (void)state;
    struct sim_profile profile = plain_profile();
    profile.tokens.a = 0;
    for (int stream = 0; stream < 2; stream++) {
        struct sim_ask ask = chat_ask(stream);
        struct played *p = play(&profile, vocab, &ask, 1, 9);
        assert_int_equal(p->content_events, 0);
        assert_int_equal(p->completion_tokens, 0);
        assert_string_equal(p->finish, "stop");
        assert_int_equal(total_delay(p), 50000000);
        played_free(p);
    }
}

static void test_usage(void **state)
{
    (void)state;
    static const struct {
        enum sim_usage usage;
        bool asked;
        int64_t stream_usages, body_usages;
    } cases[] = {
        {SIM_USAGE_ON, true, 1, 1},      {SIM_USAGE_ON, false, 0, 1},    {SIM_USAGE_OFF, true, 0, 0},
        {SIM_USAGE_ALWAYS, false, 1, 1}, {SIM_USAGE_EVERY, false, 8, 1},
    };
    struct sim_profile profile = plain_profile();
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        profile.usage = cases[i].usage;
        struct sim_ask ask = chat_ask(true);
        ask.include_usage = cases[i].asked;
        struct played *p = play(&profile, vocab, &ask, 1, 9);
        assert_int_equal(p->usages, cases[i].stream_usages);
        assert_int_equal(p->completion_tokens, cases[i].stream_usages ? 5 : -1);
        played_free(p);
        ask.stream = false;
        p = play(&profile, vocab, &ask, 1, 9);
        assert_int_equal(p->usages, cases[i].body_usages);
        played_free(p);
    }
}

static void test_choices_and_completions(void **state)
{
    (void)state;
    struct sim_profile profile = plain_profile();
    for (int stream = 0; stream < 2; stream++) {
        struct sim_ask ask = chat_ask(stream);
        ask.choices = 3;
        struct played *p = play(&profile, vocab, &ask, 1, 9);
        assert_int_equal(p->content_events, stream ? 15 : 3);
        assert_int_equal(p->completion_tokens, 15);
        assert_int_equal(p->finishes, 3);
        assert_int_equal(words_of(p->content), 5);
        played_free(p);
        ask.choices = 1;
        ask.is_chat = false;
        p = play(&profile, vocab, &ask, 1, 9);
        assert_int_equal(p->content_events, stream ? 5 : 1);
        assert_int_equal(words_of(p->content), 5);
        played_free(p);
    }
}

static void test_reasoning(void **state)
{
    (void)state;
    struct sim_profile profile = plain_profile();
    profile.reasoning_tokens = 2;
    profile.reasoning_field = "reasoning";
    struct sim_ask ask = chat_ask(true);
    struct played *p = play(&profile, vocab, &ask, 1, 9);
    assert_int_equal(p->reasoning_events, 2);
    assert_int_equal(p->content_events, 5);
    assert_int_equal(words_of(p->reasoning), 2);
    assert_int_equal(p->completion_tokens, 7);
    assert_int_equal(p->reasoning_tokens, 2);
    played_free(p);
    ask.max_tokens = 1;
    p = play(&profile, vocab, &ask, 1, 9);
    assert_int_equal(p->reasoning_events, 1);
    assert_int_equal(p->content_events, 0);
    assert_string_equal(p->finish, "length");
    played_free(p);
}

/* Arguments of each call are one JSON object, whole over all deltas, and the same without a stream. */
static void test_tool_calls(void **state)
{
    (void)state;
    struct sim_profile profile = plain_profile();
    profile.tool_calls = 2;
    char first[4096];
    for (int stream = 1; stream >= 0; stream--) {
        struct sim_ask ask = chat_ask(stream);
        struct played *p = play(&profile, vocab, &ask, 1, 9);
        assert_int_equal(p->content_events, 0);
        assert_int_equal(p->tool_events, stream ? 5 : 2);
        assert_string_equal(p->finish, "tool_calls");
        char *second = strstr(p->arguments, "}{");
        assert_non_null(second);
        assert_true(json_cursor_validate(p->arguments, (size_t)(second + 1 - p->arguments), NULL));
        assert_true(json_cursor_validate(second + 1, strlen(second + 1), NULL));
        if (stream)
            memcpy(first, p->arguments, sizeof(first));
        else
            assert_string_equal(p->arguments, first);
        played_free(p);
    }
}

static struct played *play_fault(const char *text, bool stream, struct sim_fault *fault)
{
    struct sim_profile profile = plain_profile();
    struct sim_ask ask = chat_ask(stream);
    assert_int_equal(sim_fault_parse(text, fault, NULL), AS_OK);
    profile.faults = fault;
    profile.fault_count = 1;
    return play(&profile, vocab, &ask, 1, 9);
}

static void test_status_faults(void **state)
{
    (void)state;
    struct sim_fault fault;
    for (int stream = 0; stream < 2; stream++) {
        struct played *p = play_fault("429:7@1", stream, &fault);
        assert_int_equal(p->action, SIM_ANSWER_END);
        assert_int_equal(p->head.status, 429);
        assert_true(p->head.retry_after_s == 7);
        assert_int_equal(p->error_events, 1);
        assert_int_equal(p->steps, 0);
        played_free(p);
        p = play_fault("oom@1", stream, &fault);
        assert_int_equal(p->head.status, 500);
        assert_non_null(strstr(p->body.data, "CUDA out of memory"));
        played_free(p);
        p = play_fault("html@1", stream, &fault);
        assert_int_equal(p->head.status, 502);
        assert_int_equal(p->head.media, HTTP_MEDIA_HTML);
        played_free(p);
        p = play_fault("529@1", stream, &fault);
        assert_int_equal(p->head.status, 529);
        assert_true(p->head.retry_after_s < 0);
        played_free(p);
    }
}

static void test_cut_streams(void **state)
{
    (void)state;
    static const struct {
        const char *text;
        enum sim_answer_action action;
        int content_events;
        bool is_complete, done_mark;
        const char *finish;
    } cases[] = {
        {"reset@1", SIM_ANSWER_RESET, 0, false, false, ""},
        {"reset:2@1", SIM_ANSWER_RESET, 2, false, false, ""},
        {"close@1", SIM_ANSWER_CLOSE, 0, false, false, ""},
        {"close:3@1", SIM_ANSWER_CLOSE, 3, false, false, ""},
        {"stall@1", SIM_ANSWER_STALL, 0, false, false, ""},
        {"stall:4@1", SIM_ANSWER_STALL, 4, false, false, ""},
        {"truncate:2@1", SIM_ANSWER_CLOSE, 2, false, false, ""},
        {"stall:5@1", SIM_ANSWER_STALL, 5, false, false, ""},
        {"unfinished:2@1", SIM_ANSWER_END, 2, true, false, ""},
        {"no-done@1", SIM_ANSWER_END, 5, true, false, "stop"},
        {"no-last-chunk@1", SIM_ANSWER_CLOSE, 5, false, true, "stop"},
        {"slow-headers:90ms@1", SIM_ANSWER_END, 5, true, true, "stop"},
        {"error-in-stream:2@1", SIM_ANSWER_END, 2, true, true, ""},
        {"bad-event:2@1", SIM_ANSWER_END, 5, true, true, "stop"},
        {"reset:99@1", SIM_ANSWER_END, 5, true, true, "stop"},
    };
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        struct sim_fault fault;
        struct played *p = play_fault(cases[i].text, true, &fault);
        if (p->action != cases[i].action || p->content_events != cases[i].content_events ||
            p->is_complete != cases[i].is_complete || p->done_mark != cases[i].done_mark ||
            strcmp(p->finish, cases[i].finish) != 0)
            fail_msg("%s: action %d, %d content events, complete %d, done %d, finish '%s'", cases[i].text,
                     (int)p->action, p->content_events, p->is_complete, p->done_mark, p->finish);
        assert_int_equal(p->error_events, fault.kind == SIM_FAULT_STREAM_ERROR);
        assert_int_equal(p->bad_events, fault.kind == SIM_FAULT_BAD_EVENT);
        played_free(p);
    }
}

static void test_slow_headers(void **state)
{
    (void)state;
    struct sim_fault fault;
    struct sim_profile profile = plain_profile();
    struct sim_ask ask = chat_ask(true);
    struct sim_answer answer = {.profile = &profile, .vocab = vocab, .moment = &a_moment};
    struct strbuf out;
    strbuf_init(&out, 0);
    assert_int_equal(sim_fault_parse("slow-headers:90ms@1", &fault, NULL), AS_OK);
    profile.faults = &fault;
    profile.fault_count = 1;
    sim_answer_init(&answer, &ask, 1, 9);
    assert_int_equal(sim_answer_start(&answer, &out), SIM_ANSWER_GO_ON);
    assert_int_equal(out.len, 0);
    assert_int_equal(sim_answer_delay_ns(&answer, 1), 140000000);
    assert_int_equal(sim_answer_step(&answer, &out), SIM_ANSWER_GO_ON);
    assert_memory_equal(out.data, "HTTP/1.1 200", 12);
    strbuf_done(&out);
}

static void test_cut_bodies(void **state)
{
    (void)state;
    struct sim_fault fault;
    struct played *p = play_fault("reset@1", false, &fault);
    assert_int_equal(p->action, SIM_ANSWER_RESET);
    assert_int_equal(p->wire.len, 0);
    played_free(p);
    p = play_fault("truncate@1", false, &fault);
    assert_int_equal(p->action, SIM_ANSWER_CLOSE);
    assert_false(p->is_complete);
    assert_true(p->body.len > 20);
    played_free(p);
    p = play_fault("error-in-stream@1", false, &fault);
    assert_int_equal(p->action, SIM_ANSWER_END);
    assert_true(p->is_complete);
    assert_int_equal(p->content_events, 1);
    played_free(p);
}

static void test_slower_when_shared(void **state)
{
    (void)state;
    struct sim_profile profile = plain_profile();
    profile.itl_per_running_ns = 1000;
    profile.ttft_per_token_ns = 100;
    struct sim_ask ask = chat_ask(true);
    struct sim_answer answer = {.profile = &profile, .vocab = vocab, .moment = &a_moment};
    struct strbuf out;
    strbuf_init(&out, 0);
    sim_answer_init(&answer, &ask, 1, 9);
    assert_int_equal(sim_answer_delay_ns(&answer, 5), 50000000 + 8 * 100);
    (void)sim_answer_step(&answer, &out);
    assert_int_equal(sim_answer_delay_ns(&answer, 5), 10000000 + 4 * 1000);
    assert_int_equal(sim_answer_delay_ns(&answer, 1), 10000000);
    strbuf_done(&out);
}

static void test_large_body(void **state)
{
    (void)state;
    struct sim_profile profile = plain_profile();
    profile.tokens.a = 100000;
    profile.tokens_per_chunk.a = 1000;
    struct sim_ask ask = chat_ask(false);
    struct played *p = play(&profile, vocab, &ask, 1, 9);
    assert_true(p->is_complete);
    assert_int_equal(p->completion_tokens, 100000);
    assert_int_equal(p->head.content_length, p->body.len);
    played_free(p);
    ask.stream = true;
    p = play(&profile, vocab, &ask, 1, 9);
    assert_int_equal(p->content_events, 100);
    assert_true(p->is_complete);
    played_free(p);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_stream),
        cmocka_unit_test(test_stream_and_body_agree),
        cmocka_unit_test(test_length),
        cmocka_unit_test(test_no_tokens),
        cmocka_unit_test(test_usage),
        cmocka_unit_test(test_choices_and_completions),
        cmocka_unit_test(test_reasoning),
        cmocka_unit_test(test_tool_calls),
        cmocka_unit_test(test_status_faults),
        cmocka_unit_test(test_cut_streams),
        cmocka_unit_test(test_slow_headers),
        cmocka_unit_test(test_cut_bodies),
        cmocka_unit_test(test_slower_when_shared),
        cmocka_unit_test(test_large_body),
    };
    return cmocka_run_group_tests(tests, setup, teardown);
}
