/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What servers send, in our own bytes: each answer whole, byte by byte, and cut in two at every place. The record must
 * say the same whatever the cut, times aside.
 */
#include "modality/llm.h"
#include "support/check.h"
#include "wire/modality/harness.h"

#include <stdio.h>

#define HEAD      "HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\nConnection: close\r\n\r\n"
#define JSON_HEAD "HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nConnection: close\r\n\r\n"
#define CHUNK(text)                                                                                                    \
    "data: {\"id\":\"r\",\"choices\":[{\"index\":0,\"delta\":{\"content\":\"" text "\"},\"finish_reason\":null}]}\n\n"
#define DELTA(members)                                                                                                 \
    "data: {\"id\":\"r\",\"choices\":[{\"index\":0,\"delta\":{" members "},\"finish_reason\":null}]}\n\n"
#define STOP "data: {\"id\":\"r\",\"choices\":[{\"index\":0,\"delta\":{},\"finish_reason\":\"stop\"}]}\n\n"
#define USAGE                                                                                                          \
    "data: "                                                                                                           \
    "{\"id\":\"r\",\"choices\":[],\"usage\":{\"prompt_tokens\":9,\"completion_tokens\":4,\"total_tokens\":13}}\n\n"
#define DONE "data: [DONE]\n\n"

/* Flags that depend on the cut. */
#define BY_CUT ((uint32_t)RECORD_FLAG_SHARED_READ)

struct answer_case {
    const char *name, *bytes;
    enum outcome outcome;
    enum error_type error;
    uint32_t flags;
    const char *content;
    int64_t events, chunks, words, completion_tokens;
    const char *finish;
    bool done;
    bool is_not_asked; /* one JSON body was asked for */
};

static const struct answer_case cases[] = {
    {.name = "a plain stream",
     .bytes = HEAD DELTA("\"role\":\"assistant\",\"content\":\"\"") CHUNK("Two") CHUNK(" words") STOP USAGE DONE,
     .content = "\"Two words\"",
     .events = 5,
     .chunks = 2,
     .words = 2,
     .completion_tokens = 4,
     .finish = "stop",
     .done = true},
    {.name = "CR LF, comments, fields, no space",
     .bytes =
         HEAD ": ping\r\n\r\nevent: message\r\nid: 7\r\ndata:{\"choices\":[{\"delta\":{\"content\":\"a\"}}]}\r\nretry: "
              "5\r\n\r\n: ping\r\n\r\ndata:[DONE]\r\n\r\n",
     .content = "\"a\"",
     .events = 1,
     .chunks = 1,
     .words = 1,
     .completion_tokens = -1,
     .done = true},
    {.name = "bare CR",
     .bytes = HEAD "data: {\"choices\":[{\"delta\":{\"content\":\"a\"}}]}\r\rdata: [DONE]\r\r",
     .content = "\"a\"",
     .events = 1,
     .chunks = 1,
     .words = 1,
     .completion_tokens = -1,
     .done = true},
    {.name = "one object over several lines",
     .bytes = HEAD "data: {\"choices\":\ndata: [{\"delta\":{\"content\":\ndata: \"a b\"}}]}\ndata:\n\n" DONE,
     .content = "\"a b\"",
     .events = 1,
     .chunks = 1,
     .words = 2,
     .completion_tokens = -1,
     .done = true},
    {.name = "content as lists of parts",
     .bytes =
         HEAD DELTA("\"role\":\"assistant\",\"content\":[]") DELTA("\"content\":[{\"type\":\"text\",\"text\":\"Two\"}]")
             DELTA("\"content\":[{\"type\":\"text\",\"text\":\" wo\"},{\"type\":\"text\",\"text\":\"rds\"}]")
                 DELTA("\"content\":[{\"type\":\"image_url\",\"image_url\":{\"url\":\"u v\"}},{\"text\":\" \\u00e9\"}]")
                     DELTA("\"content\":[{\"type\":\"text\",\"text\":\"!\"}]") STOP USAGE DONE,
     .content = "\"Two words \\u00e9!\"",
     .events = 7,
     .chunks = 4,
     .words = 3,
     .completion_tokens = 4,
     .finish = "stop",
     .done = true},
    {.name = "one body whose content is a list of parts",
     .bytes = JSON_HEAD
     "{\"choices\":[{\"message\":{\"role\":\"assistant\",\"content\":[{\"type\":\"text\",\"text\":\"Two \"},"
     "{\"type\":\"text\",\"text\":\"\"},{\"text\":\"words\",\"type\":\"text\"}]},\"finish_reason\":\"stop\"}]}",
     .content = "\"Two words\"",
     .events = -1,
     .chunks = -1,
     .words = 2,
     .completion_tokens = -1,
     .finish = "stop",
     .is_not_asked = true},
    {.name = "a byte order mark",
     .bytes = HEAD "\xEF\xBB\xBF" CHUNK("a") DONE,
     .content = "\"a\"",
     .events = 1,
     .chunks = 1,
     .words = 1,
     .completion_tokens = -1,
     .done = true},
    {.name = "chunked, cut inside everything",
     .bytes = "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\nContent-Type: text/event-stream\r\n\r\n"
              "6;x=y\r\ndata: \r\n30\r\n{\"choices\":[{\"delta\":{\"content\":\"caf\xC3\xA9 "
              "\xF0\x9F\xA6\x89\"}}]}\r\n2\r\n\n\n\r\nE\r\ndata: [DONE]\n\n\r\n0\r\nTrailer: z\r\n\r\n",
     .content = "\"caf\xC3\xA9 \xF0\x9F\xA6\x89\"",
     .events = 1,
     .chunks = 1,
     .words = 2,
     .completion_tokens = -1,
     .done = true},
    {.name = "finished without its marker",
     .bytes = HEAD CHUNK("a") STOP,
     .content = "\"a\"",
     .events = 2,
     .chunks = 1,
     .words = 1,
     .completion_tokens = -1,
     .finish = "stop",
     .flags = RECORD_FLAG_NO_DONE},
    {.name = "the marker without a blank line",
     .bytes = HEAD CHUNK("a") STOP "data: [DONE]\n",
     .content = "\"a\"",
     .events = 2,
     .chunks = 1,
     .words = 1,
     .completion_tokens = -1,
     .finish = "stop",
     .done = true},
    {.name = "events after the marker",
     .bytes = HEAD CHUNK("a") DONE CHUNK("b") "data: {\"error\":\"late\"}\n\n",
     .content = "\"a\"",
     .events = 1,
     .chunks = 1,
     .words = 1,
     .completion_tokens = -1,
     .done = true},
    {.name = "ended in the middle",
     .bytes = HEAD CHUNK("a") CHUNK("b"),
     .outcome = OUTCOME_FAILED,
     .error = ERROR_TYPE_BODY,
     .content = "\"ab\"",
     .events = 2,
     .chunks = 2,
     .words = 1,
     .completion_tokens = -1},
    {.name = "a chunk that never comes",
     .bytes = "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\nContent-Type: text/event-stream\r\n\r\n44\r\ndata: "
              "{\"choices\":[{\"delta\":{\"content\":\"a\"},\"finish_reason\":\"stop\"}]}\r\n20\r\n\n\ndat",
     .outcome = OUTCOME_FAILED,
     .error = ERROR_TYPE_BODY,
     .content = "\"a\"",
     .events = 1,
     .chunks = 1,
     .words = 1,
     .completion_tokens = -1,
     .finish = "stop"},
    {.name = "the marker came, the end of the body did not",
     .bytes = "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\nContent-Type: text/event-stream\r\n\r\n43\r\ndata: "
              "{\"choices\":[{\"delta\":{\"content\":\"a\"}}]}\n\ndata: [DONE]\n\n      \r\n",
     .content = "\"a\"",
     .events = 1,
     .chunks = 1,
     .words = 1,
     .completion_tokens = -1,
     .done = true,
     .flags = RECORD_FLAG_UNCLEAN_CLOSE},
    {.name = "an error object",
     .bytes = HEAD CHUNK("a") "data: {\"error\":{\"message\":\"Engine stopped\"}}\n\n" DONE,
     .outcome = OUTCOME_FAILED,
     .error = ERROR_TYPE_SERVER_REPORTED,
     .content = "\"a\"",
     .events = 2,
     .chunks = 1,
     .words = 1,
     .completion_tokens = -1,
     .done = true},
    {.name = "an error event",
     .bytes = HEAD "event: error\ndata: {\"message\":\"Backend lost\"}\n\n",
     .outcome = OUTCOME_FAILED,
     .error = ERROR_TYPE_SERVER_REPORTED,
     .content = "\"\"",
     .events = 1,
     .completion_tokens = -1},
    {.name = "an error field",
     .bytes = HEAD "error: {\"code\":400,\"message\":\"too long\"}\n\n" DONE,
     .outcome = OUTCOME_FAILED,
     .error = ERROR_TYPE_SERVER_REPORTED,
     .content = "\"\"",
     .completion_tokens = -1,
     .done = true,
     .flags = RECORD_FLAG_STRAY_LINE},
    {.name = "stray text",
     .bytes = HEAD CHUNK("a") "worker exited\n",
     .outcome = OUTCOME_FAILED,
     .error = ERROR_TYPE_SERVER_REPORTED,
     .content = "\"a\"",
     .events = 1,
     .chunks = 1,
     .words = 1,
     .completion_tokens = -1,
     .flags = RECORD_FLAG_STRAY_LINE},
    {.name = "cut JSON",
     .bytes = HEAD CHUNK("a") "data: {\"choices\":[{\"in\n\n" CHUNK("b") STOP DONE,
     .outcome = OUTCOME_FAILED,
     .error = ERROR_TYPE_DECODE,
     .content = "\"ab\"",
     .events = 4,
     .chunks = 2,
     .words = 1,
     .completion_tokens = -1,
     .finish = "stop",
     .done = true,
     .flags = RECORD_FLAG_DAMAGED_EVENT},
    {.name = "a comment as data",
     .bytes = HEAD "data: : waiting\n\n" CHUNK("a") DONE,
     .content = "\"a\"",
     .events = 2,
     .chunks = 1,
     .words = 1,
     .completion_tokens = -1,
     .done = true,
     .flags = RECORD_FLAG_DAMAGED_EVENT},
    {.name = "invalid UTF-8",
     .bytes = HEAD CHUNK("a\xE6\xAD") CHUNK("b") DONE,
     .content = "\"a\xEF\xBF\xBD"
                "b\"",
     .events = 2,
     .chunks = 2,
     .words = 1,
     .completion_tokens = -1,
     .done = true,
     .flags = RECORD_FLAG_INVALID_UTF8},
    {.name = "line separators are text",
     .bytes = HEAD CHUNK("a\xE2\x80\xA8"
                         "b\xC2\x85"
                         "c") DONE,
     .content = "\"a\xE2\x80\xA8"
                "b\xC2\x85"
                "c\"",
     .events = 1,
     .chunks = 1,
     .words = 3,
     .completion_tokens = -1,
     .done = true},
    {.name = "an event stream that calls itself text",
     .bytes = "HTTP/1.1 200 OK\r\nContent-Type: text/plain\r\nConnection: close\r\n\r\n" CHUNK("a") DONE,
     .content = "\"a\"",
     .events = 1,
     .chunks = 1,
     .words = 1,
     .completion_tokens = -1,
     .done = true},
    {.name = "only the role",
     .bytes = HEAD DELTA("\"role\":\"assistant\",\"content\":\"\"") STOP DONE,
     .content = "\"\"",
     .events = 2,
     .completion_tokens = -1,
     .finish = "stop",
     .done = true,
     .flags = RECORD_FLAG_NO_OUTPUT},
    {.name = "one body for a stream",
     .bytes = JSON_HEAD "{\"choices\":[{\"message\":{\"content\":\"a "
                        "b\"},\"finish_reason\":\"stop\"}],\"usage\":{\"prompt_tokens\":1,\"completion_tokens\":2}}",
     .content = "\"a b\"",
     .events = -1,
     .chunks = -1,
     .words = 2,
     .completion_tokens = 2,
     .finish = "stop",
     .flags = RECORD_FLAG_JSON_FOR_STREAM},
    {.name = "one body",
     .bytes = JSON_HEAD "{\"choices\":[{\"message\":{\"content\":\"a b\"},\"finish_reason\":\"stop\"}]}",
     .content = "\"a b\"",
     .events = -1,
     .chunks = -1,
     .words = 2,
     .completion_tokens = -1,
     .finish = "stop",
     .is_not_asked = true},
    {.name = "a stream for one body",
     .bytes = HEAD CHUNK("a") DONE,
     .content = "\"a\"",
     .events = 1,
     .chunks = 1,
     .words = 1,
     .completion_tokens = -1,
     .done = true,
     .flags = RECORD_FLAG_STREAM_FOR_JSON,
     .is_not_asked = true},
    {.name = "an error in a 200",
     .bytes = JSON_HEAD "{\"error\":{\"message\":\"Tenant paused\"}}",
     .outcome = OUTCOME_FAILED,
     .error = ERROR_TYPE_SERVER_REPORTED,
     .content = "\"\"",
     .events = -1,
     .chunks = -1,
     .completion_tokens = -1,
     .is_not_asked = true},
    {.name = "no body",
     .bytes = "HTTP/1.1 204 No Content\r\n\r\n",
     .outcome = OUTCOME_FAILED,
     .error = ERROR_TYPE_SCHEMA,
     .content = "\"\"",
     .events = -1,
     .chunks = -1,
     .words = -1,
     .completion_tokens = -1},
    {.name = "a refusal by status",
     .bytes =
         "HTTP/1.1 429 Slow\r\nContent-Type: application/json\r\nConnection: close\r\n\r\n{\"error\":\"slow down\"}",
     .outcome = OUTCOME_FAILED,
     .error = ERROR_TYPE_RATE_LIMIT,
     .events = -1,
     .chunks = -1,
     .words = -1,
     .completion_tokens = -1},
};

static struct llm *streaming, *not_streaming;

static struct llm *make_llm(bool is_streaming)
{
    struct as_error err;
    struct prompts prompts;
    struct llm *llm;
    struct llm_config config = {.streaming = is_streaming, .model = "m", .save_content = true};
    assert_int_equal(prompts_parse("{\"prompt\":\"x\"}", 14, NULL, &prompts, &err), AS_OK);
    assert_int_equal(llm_new(&config, &prompts, &llm, &err), AS_OK);
    prompts_done(&prompts);
    return llm;
}

static bool same_text(struct record_text got, const char *want)
{
    if (!want || !got.at)
        return !want && !got.at;
    return got.len == strlen(want) && memcmp(got.at, want, got.len) == 0;
}

static const char *difference(const struct answer_case *want, const struct request_record *got)
{
    const struct {
        const char *name;
        int64_t got, want;
    } numbers[] = {
        {"outcome", got->outcome, want->outcome},
        {"error", got->error_type, want->error},
        {"flags", got->flags & ~BY_CUT, want->flags},
        {"events", got->events, want->events},
        {"content_chunks", got->content_chunks, want->chunks},
        {"completion_words", got->completion_words, want->words},
        {"completion_tokens", got->completion_tokens, want->completion_tokens},
        {"done_seen", got->done_seen, want->done},
    };
    for (size_t i = 0; i < ARRAY_COUNT(numbers); i++)
        if (numbers[i].got != numbers[i].want)
            return numbers[i].name;
    if (strcmp(got->finish_reason, want->finish ? want->finish : "") != 0)
        return "finish_reason";
    return same_text(got->content, want->content) ? NULL : "content";
}

static void check(const struct answer_case *want, struct harness *harness, size_t cut)
{
    harness_finish(harness, HARNESS_CLOSE);
    const struct request_record *got = &harness->record;
    const char *differs = difference(want, got);
    if (differs)
        fail_msg("%s, cut at %zu: %s; %s %s, flags %x, events %lld, chunks %lld, words %lld, content %.*s", want->name,
                 cut, differs, outcome_name(got->outcome), error_type_name(got->error_type), got->flags,
                 (long long)got->events, (long long)got->content_chunks, (long long)got->completion_words,
                 (int)got->content.len, got->content.at ? got->content.at : "-");
}

static void run_case(const struct answer_case *want)
{
    struct harness harness;
    size_t len = strlen(want->bytes);
    harness_open(&harness, llm_modality(), want->is_not_asked ? not_streaming : streaming);
    for (size_t cut = 0; cut < len; cut++) {
        harness_request(&harness, (int64_t)cut);
        harness_read(&harness, want->bytes, cut, 1000);
        harness_read(&harness, want->bytes + cut, len - cut, 2000);
        check(want, &harness, cut);
    }
    harness_request(&harness, 0);
    for (size_t i = 0; i < len; i++)
        harness_read(&harness, want->bytes + i, 1, (int64_t)i);
    check(want, &harness, len);
    harness_close(&harness);
}

static void test_answers_at_every_cut(void **state)
{
    (void)state;
    streaming = make_llm(true);
    not_streaming = make_llm(false);
    for (size_t i = 0; i < ARRAY_COUNT(cases); i++)
        run_case(&cases[i]);
    llm_free(streaming);
    llm_free(not_streaming);
}

/* Times of a stream that comes in four reads. */
static void test_times(void **state)
{
    (void)state;
    static const char *const reads[] = {HEAD DELTA("\"role\":\"assistant\",\"content\":\"\""),
                                        DELTA("\"reasoning\":\"hm\""), CHUNK("a") CHUNK("b"), CHUNK("c") USAGE DONE};
    struct harness harness;
    streaming = make_llm(true);
    harness_open(&harness, llm_modality(), streaming);
    harness_request(&harness, 0);
    for (size_t i = 0; i < ARRAY_COUNT(reads); i++)
        harness_read(&harness, reads[i], strlen(reads[i]), (int64_t)(i + 1) * 1000);
    harness_finish(&harness, HARNESS_CLOSE);
    const struct request_record *got = &harness.record;
    assert_int_equal(got->role_ns, 1000);
    assert_int_equal(got->ttfr_ns, 2000);
    assert_int_equal(got->ttft_ns, 3000);
    assert_int_equal(got->last_content_ns, 4000);
    assert_int_equal(got->done_mark_ns, 4000);
    assert_int_equal(got->censored_chunks, 2); /* a, before b; c, before the usage */
    assert_int_equal(got->stamp, RECORD_STAMP_CENSORED);
    assert_int_equal(got->gaps.len, 3); /* 0 inside the read, then 1000 */
    assert_int_equal((uint8_t)got->gaps.at[0], 0);
    assert_int_equal((uint8_t)got->gaps.at[1], 0xE8);
    assert_int_equal((uint8_t)got->gaps.at[2], 0x07);
    harness_close(&harness);
    llm_free(streaming);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_answers_at_every_cut), cmocka_unit_test(test_times)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
