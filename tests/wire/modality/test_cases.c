/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Replays the byte-exact cases of ../shared/cases/wire, where they lie, through the readers and the modality: as they
 * are cut there, whole, and byte by byte. Without that folder the test is skipped; test_answers.c holds what the cases
 * teach.
 */
#include "base/file.h"
#include "base/json.h"
#include "modality/llm.h"
#include "support/check.h"
#include "wire/modality/harness.h"
#include "workload/digest.h"

#include <dirent.h>
#include <limits.h>
#include <stdio.h>

#define CASES "../shared/cases/wire"

enum cutting { CUT_AS_GIVEN, CUT_NOT, CUT_BYTES };

/* A case as read, and what became of it. */
struct wire_case {
    struct arena arena;
    const struct json_value *root, *expect;
    struct strbuf bytes;
    const char *name;
    struct harness harness;
    bool streaming;
};

static const char *text_of(const struct json_value *value, const char *otherwise)
{
    const char *text;
    return json_string(value, &text) ? text : otherwise;
}

static int64_t int_of(const struct json_value *value, int64_t otherwise)
{
    int64_t number;
    return json_int64(value, &number) ? number : otherwise;
}

static void read_whole(const char *path, struct strbuf *ret)
{
    struct as_error err;
    strbuf_init(ret, 0);
    if (file_read(path, ret, &err) != AS_OK)
        fail_msg("%s", err.message);
}

static void case_open(struct wire_case *wire, const char *stem)
{
    char path[PATH_MAX];
    struct as_error err;
    struct strbuf sidecar;
    *wire = (struct wire_case){0};
    arena_init(&wire->arena, 0, 0);
    snprintf(path, sizeof path, CASES "/%s.json", stem);
    read_whole(path, &sidecar);
    if (json_parse(sidecar.data, sidecar.len, NULL, &wire->arena, &wire->root, &err) != AS_OK)
        fail_msg("%s: %s", path, err.message);
    strbuf_done(&sidecar);
    snprintf(path, sizeof path, CASES "/%s.http", stem);
    read_whole(path, &wire->bytes);
    wire->expect = json_get(wire->root, "expect");
    wire->name = text_of(json_get(wire->root, "case"), "?");
    json_bool(json_path(wire->root, "request.stream"), &wire->streaming);
}

static void case_close(struct wire_case *wire)
{
    strbuf_done(&wire->bytes);
    arena_done(&wire->arena);
}

static enum harness_end case_end(const struct wire_case *wire)
{
    const char *end = text_of(json_get(wire->root, "end"), "keep");
    if (strcmp(end, "close") == 0)
        return HARNESS_CLOSE;
    if (strcmp(end, "reset") == 0)
        return HARNESS_RESET;
    return strcmp(end, "stall") == 0 ? HARNESS_STALL : HARNESS_KEEP;
}

/* Feeds the bytes cut at the case's offsets, each piece at its time; the deadline of the case is kept. */
static void feed_as_given(struct wire_case *wire)
{
    const struct json_value *split = json_get(wire->root, "splits")->first,
                            *delay = json_get(wire->root, "delays_ms")->first;
    int64_t deadline_ms = int_of(json_path(wire->root, "request.timeout_ms"), INT64_MAX);
    size_t at = 0;
    double now_ms = 0;
    for (; delay; delay = delay->next) {
        double wait_ms = 0;
        size_t end = split ? (size_t)int_of(split, 0) : wire->bytes.len;
        json_double(delay, &wait_ms);
        now_ms += wait_ms;
        if (now_ms > (double)deadline_ms)
            return;
        harness_read(&wire->harness, strbuf_text(&wire->bytes) + at, end - at, (int64_t)(now_ms * 1e6));
        at = end;
        split = split ? split->next : NULL;
    }
}

static void feed(struct wire_case *wire, enum cutting cutting)
{
    if (cutting == CUT_AS_GIVEN)
        feed_as_given(wire);
    if (cutting == CUT_NOT)
        harness_read(&wire->harness, strbuf_text(&wire->bytes), wire->bytes.len, 0);
    for (size_t i = 0; cutting == CUT_BYTES && i < wire->bytes.len; i++)
        harness_read(&wire->harness, wire->bytes.data + i, 1, 0);
}

/* ---- facts ---- */

#define DIFFERS 1
#define HOLDS   0

static int check_int(int64_t got, const struct json_value *want)
{
    return json_is_null(want) ? got != -1 : got != int_of(want, INT64_MIN);
}

static int check_text(const char *got, const struct json_value *want)
{
    return strcmp(got, json_is_null(want) ? "" : text_of(want, "?")) != 0;
}

static int check_bool(bool got, const struct json_value *want)
{
    bool wanted = false;
    return !json_bool(want, &wanted) || got != wanted;
}

/* A saved text: a JSON string, or a list of them. `index` -1 = the text itself, or the first. */
static const struct json_value *saved_text(struct wire_case *wire, struct record_text text, int64_t index)
{
    struct as_error err;
    const struct json_value *value;
    if (!text.at)
        return NULL;
    if (json_parse(text.at, text.len, NULL, &wire->arena, &value, &err) != AS_OK)
        fail_msg("%s: saved text is not JSON: %s", wire->name, err.message);
    if (value->type == JSON_STRING)
        return value;
    value = value->first;
    for (; index > 0 && value; index--)
        value = value->next;
    return value;
}

static int check_saved(struct wire_case *wire, struct record_text text, const struct json_value *want, int64_t index)
{
    const struct json_value *got = saved_text(wire, text, index);
    if (!got || got->len == 0)
        return !json_is_null(want) && want->len > 0;
    return json_is_null(want) || got->len != want->len || memcmp(got->text, want->text, want->len) != 0;
}

static int check_contents(struct wire_case *wire, const struct json_value *want)
{
    int64_t index = 0;
    if (json_get(wire->expect, "requests_made"))
        return HOLDS;
    for (const struct json_value *item = want->first; item; item = item->next)
        if (check_saved(wire, wire->harness.record.content, item, index++) == DIFFERS)
            return DIFFERS;
    return HOLDS;
}

static int check_outcome(const struct request_record *record, const struct json_value *want)
{
    const char *wanted = text_of(want, "?");
    bool is_ok = record->outcome == OUTCOME_OK;
    if (strcmp(wanted, "suspect") == 0)
        return !is_ok || record->flags == 0;
    return is_ok != (strcmp(wanted, "ok") == 0);
}

static int check_digest(struct wire_case *wire, const struct json_value *want)
{
    char digest[DIGEST_TEXT_BYTES];
    const struct json_value *got = saved_text(wire, wire->harness.record.content, 0);
    return !got || digest_bytes(got->text, got->len, digest) != AS_OK || check_text(digest, want);
}

/* Durations are exact here: the clock is the case's. */
static int check_ms(int64_t got_ns, const struct json_value *want, enum cutting cutting)
{
    double wanted = 0;
    json_double(want, &wanted);
    return cutting == CUT_AS_GIVEN && (double)got_ns / 1e6 != wanted;
}

static int64_t first_output_ns(const struct request_record *record)
{
    int64_t first = INT64_MAX;
    const int64_t times[] = {record->first_content_ns, record->first_reasoning_ns, record->first_tool_ns};
    for (size_t i = 0; i < ARRAY_COUNT(times); i++)
        first = times[i] >= 0 && times[i] < first ? times[i] : first;
    return first;
}

static int check_message(const struct request_record *record, const struct json_value *want)
{
    const struct record_text *message = &record->error_message;
    return !message->at || !memmem(message->at, message->len, want->text, want->len);
}

static int check_time(struct wire_case *wire, const char *fact, const struct json_value *want, enum cutting cutting)
{
    const struct request_record *record = &wire->harness.record;
    if (strcmp(fact, "ttft_defined") == 0)
        return wire->harness.is_stream ? check_bool(record->ttft_ns >= 0, want) : record->ttft_ns >= 0;
    if (strcmp(fact, "tpot_defined") == 0)
        return wire->harness.is_stream ? check_bool(record->tpot_spec_ns >= 0, want) : HOLDS;
    if (strcmp(fact, "ttft_equals_total") == 0)
        return record->ttft_spec_ns != record->response_time_ns;
    if (strcmp(fact, "ttft_min_ms") == 0)
        return check_ms(wire->harness.is_stream ? record->ttft_ns : record->response_time_ns, want, cutting);
    if (strcmp(fact, "first_output_min_ms") == 0)
        return check_ms(first_output_ns(record), want, cutting);
    if (strcmp(fact, "last_content_min_ms") == 0)
        return check_ms(record->last_content_ns, want, cutting);
    return HOLDS;
}

static int check_fact(struct wire_case *wire, const struct json_value *want, enum cutting cutting)
{
    const struct request_record *record = &wire->harness.record;
    const char *fact = want->key;
    const struct {
        const char *name;
        int64_t got;
    } counts[] = {
        {"prompt_tokens", record->prompt_tokens},
        {"completion_tokens", record->completion_tokens},
        {"total_tokens", record->total_tokens},
        {"completion_words", record->completion_words},
        {"events", record->events},
        {"content_chunks", record->content_chunks},
        {"http_status", record->http_status},
    };
    for (size_t i = 0; i < ARRAY_COUNT(counts); i++)
        if (strcmp(fact, counts[i].name) == 0)
            return check_int(counts[i].got, want);
    if (strcmp(fact, "outcome") == 0)
        return check_outcome(record, want);
    if (strcmp(fact, "error_class") == 0)
        return check_text(error_type_name(record->error_type), want);
    if (strcmp(fact, "finish_reason") == 0)
        return check_text(record->finish_reason, want);
    if (strcmp(fact, "done_seen") == 0)
        return check_bool(record->done_seen, want);
    if (strcmp(fact, "oom_detected") == 0)
        return check_bool(record->oom, want);
    if (strcmp(fact, "content") == 0)
        return check_saved(wire, record->content, want, 0);
    if (strcmp(fact, "reasoning") == 0)
        return check_saved(wire, record->reasoning, want, 0);
    if (strcmp(fact, "tool_arguments") == 0)
        return check_saved(wire, record->tool_arguments, want, 0);
    if (strcmp(fact, "contents") == 0)
        return check_contents(wire, want);
    if (strcmp(fact, "content_sha256") == 0)
        return check_digest(wire, want);
    if (strcmp(fact, "error_message_contains") == 0)
        return check_message(record, want);
    return check_time(wire, fact, want, cutting);
}

/* Checks `expect` with `overlay` (may be NULL) laid over it; the first fact that differs, or NULL. */
static const char *check_reading(struct wire_case *wire, const struct json_value *overlay, enum cutting cutting)
{
    const struct json_value *changed = overlay ? json_get(overlay, "outcome") : NULL;
    bool is_other = changed && strcmp(text_of(changed, ""), text_of(json_get(wire->expect, "outcome"), "")) != 0;
    for (const struct json_value *fact = overlay ? overlay->first : NULL; fact; fact = fact->next)
        if (check_fact(wire, fact, cutting) == DIFFERS)
            return fact->key;
    for (const struct json_value *fact = wire->expect->first; fact && !is_other; fact = fact->next)
        if (!(overlay && json_get(overlay, fact->key)) && check_fact(wire, fact, cutting) == DIFFERS)
            return fact->key;
    return NULL;
}

static const char *judge(struct wire_case *wire, enum cutting cutting)
{
    const struct json_value *overlays = json_get(wire->expect, "any_of");
    const char *wrong = NULL;
    if (!overlays)
        return check_reading(wire, NULL, cutting);
    for (const struct json_value *overlay = overlays->first; overlay; overlay = overlay->next) {
        const char *differs = check_reading(wire, overlay, cutting);
        if (!differs)
            return NULL;
        wrong = wrong ? wrong : differs;
    }
    return wrong;
}

/* ---- runs ---- */

static struct llm *make_llm(const struct wire_case *wire)
{
    static const char prompt[] = "{\"prompt\":\"Say something.\"}\n";
    struct as_error err;
    struct prompts prompts;
    struct llm *llm;
    struct llm_config config = {
        .api = strcmp(text_of(json_path(wire->root, "request.endpoint"), ""), "completions") == 0 ? LLM_COMPLETION
                                                                                                  : LLM_CHAT,
        .streaming = wire->streaming,
        .model = "bench-model-1",
        .choices = (uint32_t)int_of(json_path(wire->root, "request.n"), 1),
        .save_content = true,
    };
    assert_int_equal(prompts_parse(prompt, sizeof prompt - 1, NULL, &prompts, &err), AS_OK);
    if (llm_new(&config, &prompts, &llm, &err) != AS_OK)
        fail_msg("%s", err.message);
    prompts_done(&prompts);
    return llm;
}

static void run_case(const char *stem, enum cutting cutting)
{
    static const char *const cuttings[] = {"as given", "whole", "byte by byte"};
    struct wire_case wire;
    case_open(&wire, stem);
    struct llm *llm = make_llm(&wire);
    harness_open(&wire.harness, llm_modality(), llm);
    harness_request(&wire.harness, 0);
    feed(&wire, cutting);
    harness_finish(&wire.harness, case_end(&wire));
    const char *differs = judge(&wire, cutting);
    const struct request_record *record = &wire.harness.record;
    if (differs)
        fail_msg("%s (%s): %s; outcome %s, %s, \"%.*s\", flags %x, %lld events, content %.*s", wire.name,
                 cuttings[cutting], differs, outcome_name(record->outcome), error_type_name(record->error_type),
                 (int)record->error_message.len, record->error_message.at ? record->error_message.at : "",
                 record->flags, (long long)record->events, record->content.len < 200 ? (int)record->content.len : 200,
                 record->content.at ? record->content.at : "-");
    harness_close(&wire.harness);
    llm_free(llm);
    case_close(&wire);
}

static bool is_llm(const char *stem)
{
    struct wire_case wire;
    case_open(&wire, stem);
    bool answer = strcmp(text_of(json_get(wire.root, "kind"), ""), "llm") == 0;
    case_close(&wire);
    return answer;
}

static void test_all_cases(void **state)
{
    (void)state;
    DIR *dir = opendir(CASES);
    size_t cases = 0;
    if (!dir)
        skip();
    for (struct dirent *entry; (entry = readdir(dir));) {
        char stem[NAME_MAX + 1];
        size_t len = strlen(entry->d_name);
        if (len < 5 || strcmp(entry->d_name + len - 5, ".json") != 0)
            continue;
        snprintf(stem, sizeof stem, "%.*s", (int)len - 5, entry->d_name);
        if (!is_llm(stem))
            continue;
        for (int cutting = CUT_AS_GIVEN; cutting <= CUT_BYTES; cutting++)
            run_case(stem, (enum cutting)cutting);
        cases++;
    }
    closedir(dir);
    assert_true(cases > 90);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_all_cases)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
