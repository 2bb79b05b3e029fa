/* SPDX-License-Identifier: Apache-2.0 */
#include "modality/imagegen_judge.h"
#include "modality/imagegen_post.h"
#include "support/media/drawn.h"

#include <math.h>
#include <stdatomic.h>

/* Nothing is saved: the folder has tests of its own. */
static struct imagegen *imagegen;
static struct imagegen_prompts prompts;
static struct imagegen_scratch scratch;
static struct imagegen_judging judging;
static struct imagegen_judge judge;
static struct arena arena;
static const struct json_value *block;
static char *png;

static void make(uint32_t count, enum imagegen_format format)
{
    const struct imagegen_settings settings = {.model = "m", .count = count, .format = format, .guidance_scale = NAN};
    imagegen_free(imagegen);
    assert_int_equal(imagegen_new(&settings, &prompts, &imagegen, NULL), AS_OK);
    judge = (struct imagegen_judge){.imagegen = imagegen, .shown = ""};
}

static int setup(void **state)
{
    (void)state;
    assert_int_equal(imagegen_prompts_one("p", &prompts, NULL), AS_OK);
    imagegen_scratch_init(&scratch);
    arena_init(&arena, 0, 0);
    make(1, IMAGEGEN_B64);
    char *url = drawn_url(5, 4, IMAGE_PNG, 3);
    png = strdup(strchr(url, ',') + 1);
    free(url);
    return png ? 0 : -1;
}

static int teardown(void **state)
{
    (void)state;
    imagegen_judging_done(&judging);
    imagegen_scratch_done(&scratch);
    imagegen_free(imagegen);
    imagegen = NULL;
    imagegen_prompts_done(&prompts);
    arena_done(&arena);
    free(png);
    return 0;
}

/* Judges an answer that the engine found as given. */
static void judge_as(const char *answer, enum outcome outcome, enum error_type type, int32_t status)
{
    struct request_record record;
    imagegen_judging_done(&judging);
    record_init(&record);
    record.seq = 0;
    record.outcome = (uint8_t)outcome;
    record.error_type = (uint8_t)type;
    record.http_status = status;
    record.attempt_count = 1;
    record.attempts[0] = (struct record_attempt){.http_status = status, .error_type = (uint8_t)type};
    record.content = answer ? (struct record_text){strdup(answer), strlen(answer)} : (struct record_text){NULL, 0};
    imagegen_judging_take(&judging, &record);
    imagegen_judge(&judge, &scratch, &judging);
    arena_reset(&arena);
    assert_non_null(judging.record.modality_json.at);
    assert_int_equal(
        json_parse(judging.record.modality_json.at, judging.record.modality_json.len, NULL, &arena, &block, NULL),
        AS_OK);
    assert_null(judging.record.content.at);
}

static void judge_ok(const char *answer)
{
    judge_as(answer, OUTCOME_OK, ERROR_TYPE_NONE, 200);
}

static int64_t number(const char *name)
{
    int64_t value;
    assert_true(json_int64(json_get(block, name), &value));
    return value;
}

static void expect_failure(enum error_type type, const char *sentence)
{
    assert_int_equal(judging.record.outcome, OUTCOME_FAILED);
    assert_int_equal(judging.record.error_type, type);
    assert_int_equal(judging.record.attempts[0].error_type, type);
    assert_non_null(judging.record.error_message.at);
    if (!strstr(judging.message.text, sentence))
        fail_msg("wanted \"%s\", got \"%s\"", sentence, judging.message.text);
}

static char *answer_of(const char *before, const char *base64, const char *after)
{
    return arena_printf(&arena, "%s%s%s", before, base64, after);
}

static void one_image(void **state)
{
    (void)state;
    judge_ok(
        answer_of("{\"created\":1,\"data\":[{\"revised_prompt\":\"x\",\"b64_json\":\"", png, "\"}],\"size\":null}\n"));
    assert_int_equal(judging.record.outcome, OUTCOME_OK);
    assert_int_equal(judging.record.flags, 0);
    assert_int_equal(number("images_requested"), 1);
    assert_int_equal(number("images_returned"), 1);
    assert_int_equal(number("response_bytes"), judging.answer_len);
    const struct json_value *artifact = json_get(block, "artifacts")->first;
    const char *text;
    int64_t width;
    assert_true(json_int64(json_get(artifact, "width"), &width));
    assert_int_equal(width, 5);
    assert_true(json_string(json_get(artifact, "mime"), &text));
    assert_string_equal(text, "image/png");
    assert_true(json_is_null(json_get(artifact, "path")));
    assert_true(json_string(json_path(block, "request.model"), &text));
    assert_string_equal(text, "m");
}

static void base64_is_read_as_servers_write_it(void **state)
{
    (void)state;
    struct strbuf odd AS_AUTO_STRBUF;
    strbuf_init(&odd, 0);
    strbuf_adds(&odd, "{\"data\":[{\"b64_json\":\"data:image/png;base64,");
    for (size_t i = 0; png[i]; i++) {
        if (i % 20 == 0)
            strbuf_adds(&odd, "\\n");
        if (png[i] == '/')
            strbuf_addc(&odd, '\\');
        strbuf_addc(&odd, png[i]);
    }
    strbuf_adds(&odd, "\"}]}");
    judge_ok(strbuf_text(&odd));
    assert_int_equal(judging.record.outcome, OUTCOME_OK);
    assert_int_equal(json_get(block, "artifacts")->len, 1);
}

static void other_counts_are_flagged(void **state)
{
    (void)state;
    make(2, IMAGEGEN_B64);
    judge_ok(answer_of("{\"data\":[{\"b64_json\":\"", png, "\"}]}"));
    assert_int_equal(judging.record.outcome, OUTCOME_OK);
    assert_int_equal(judging.record.flags, RECORD_FLAG_COUNT_MISMATCH);
    assert_int_equal(number("images_requested"), 2);
    assert_int_equal(number("images_returned"), 1);
}

static void urls_are_counted(void **state)
{
    (void)state;
    static const char answer[] = "{\"data\":[{\"url\":\"http://h/a.png\"}]}";
    judge_ok(answer);
    assert_int_equal(judging.record.outcome, OUTCOME_OK);
    assert_int_equal(judging.record.flags, RECORD_FLAG_FORMAT_MISMATCH);
    assert_int_equal(number("images_by_url"), 1);
    make(1, IMAGEGEN_URL);
    judge_ok(answer);
    assert_int_equal(judging.record.flags, 0);
}

static void wrong_shapes(void **state)
{
    (void)state;
    static const struct {
        const char *answer, *sentence;
    } cases[] = {
        {"", "empty"},
        {"<html>", "no JSON object"},
        {"[]", "no JSON object"},
        {"{\"data\":[]", "no JSON object"},
        {"{\"data\":[]} x", "no JSON object"},
        {"{}", "no list \"data\""},
        {"{\"data\":null}", "no list \"data\""},
        {"{\"data\":{}}", "no list \"data\""},
        {"{\"data\":[]}", "empty list"},
        {"{\"data\":[{}]}", "neither b64_json nor url"},
        {"{\"data\":[null]}", "neither b64_json nor url"},
        {"{\"data\":[{\"b64_json\":null,\"url\":null}]}", "neither b64_json nor url"},
        {"{\"error\":{\"message\":\"prompt required\"}}", "prompt required"},
        {"{\"error\":\"prompt required\",\"data\":[]}", "prompt required"},
    };
    for (size_t i = 0; i < ARRAY_COUNT(cases); i++) {
        judge_ok(cases[i].answer);
        expect_failure(ERROR_TYPE_IMG_SCHEMA, cases[i].sentence);
    }
    judge_ok(NULL);
    expect_failure(ERROR_TYPE_IMG_SCHEMA, "empty");
}

static void images_that_do_not_decode(void **state)
{
    (void)state;
    static const struct {
        const char *base64, *sentence;
    } cases[] = {{"a*bc", "base64"}, {"", "b64_json is empty"}, {"aGVsbG8=", "not an image"}};
    for (size_t i = 0; i < ARRAY_COUNT(cases); i++) {
        judge_ok(answer_of("{\"data\":[{\"b64_json\":\"", cases[i].base64, "\"}]}"));
        expect_failure(ERROR_TYPE_IMG_DECODE, cases[i].sentence);
        assert_int_equal(json_get(block, "artifacts")->len, 0);
        assert_int_equal(json_get(block, "item_errors")->len, 1);
    }
    struct strbuf answer AS_AUTO_STRBUF;
    strbuf_init(&answer, 0);
    strbuf_addf(&answer, "{\"data\":[{\"b64_json\":\"%.40s\"}]}", png);
    judge_ok(strbuf_text(&answer));
    expect_failure(ERROR_TYPE_IMG_DECODE, "broken PNG");
}

static void good_images_beside_a_bad_one_are_kept(void **state)
{
    (void)state;
    struct strbuf answer AS_AUTO_STRBUF;
    strbuf_init(&answer, 0);
    make(3, IMAGEGEN_B64);
    strbuf_addf(&answer, "{\"data\":[{\"b64_json\":\"%s\"},{\"b64_json\":\"?\"},{\"b64_json\":\"%s\"}]}", png, png);
    judge_ok(strbuf_text(&answer));
    expect_failure(ERROR_TYPE_IMG_DECODE, "image 1: ");
    assert_int_equal(number("images_returned"), 3);
    const struct json_value *artifacts = json_get(block, "artifacts");
    int64_t index;
    assert_int_equal(artifacts->len, 2);
    assert_true(json_int64(json_get(artifacts->first->next, "index"), &index));
    assert_int_equal(index, 2);
}

static void the_engines_errors_get_the_specs_names(void **state)
{
    (void)state;
    static const struct {
        enum error_type engine, spec;
    } cases[] = {
        {ERROR_TYPE_RATE_LIMIT, ERROR_TYPE_IMG_HTTP},       {ERROR_TYPE_AUTH, ERROR_TYPE_IMG_HTTP},
        {ERROR_TYPE_BAD_REQUEST, ERROR_TYPE_IMG_HTTP},      {ERROR_TYPE_SERVER_ERROR, ERROR_TYPE_IMG_HTTP},
        {ERROR_TYPE_HTTP_OTHER, ERROR_TYPE_IMG_HTTP},       {ERROR_TYPE_REDIRECT, ERROR_TYPE_IMG_HTTP},
        {ERROR_TYPE_CONNECTION, ERROR_TYPE_IMG_CONNECTION}, {ERROR_TYPE_BODY, ERROR_TYPE_IMG_CONNECTION},
        {ERROR_TYPE_DECODE, ERROR_TYPE_IMG_SCHEMA},         {ERROR_TYPE_IMG_REQUEST, ERROR_TYPE_IMG_REQUEST},
        {ERROR_TYPE_TIMEOUT, ERROR_TYPE_TIMEOUT},
    };
    for (size_t i = 0; i < ARRAY_COUNT(cases); i++) {
        judge_as(NULL, OUTCOME_FAILED, cases[i].engine, 500);
        assert_int_equal(judging.record.error_type, cases[i].spec);
        assert_int_equal(judging.record.attempts[0].error_type, cases[i].spec);
        assert_int_equal(number("images_returned"), 0);
    }
    judge_as(NULL, OUTCOME_REFUSED, ERROR_TYPE_BAD_REQUEST, -1);
    assert_int_equal(judging.record.error_type, ERROR_TYPE_IMG_REQUEST);
}

static void usage_is_taken_where_there_is_one(void **state)
{
    (void)state;
    judge_ok(answer_of("{\"usage\":{\"input_tokens\":9,\"output_tokens\":1056,\"total_tokens\":1065,\"x\":{}},\"data\":"
                       "[{\"b64_json\":\"",
                       png, "\"}]}"));
    assert_int_equal(judging.record.prompt_tokens, 9);
    assert_int_equal(judging.record.completion_tokens, 1056);
    assert_int_equal(judging.record.total_tokens, 1065);
}

/* ---- the queue ---- */

struct kept {
    _Atomic int64_t records, bad_rings;
};

static void keep(void *context, uint32_t ring, const struct request_record *record)
{
    struct kept *kept = context;
    atomic_fetch_add(&kept->records, record->outcome == OUTCOME_OK && record->modality_json.at != NULL);
    atomic_fetch_add(&kept->bad_rings, ring < 3 || ring > 4);
}

/* Every record comes out, whatever the room. */
static void all_records_come_out(void **state)
{
    (void)state;
    struct kept kept = {0};
    struct imagegen_post *post;
    const struct imagegen_post_options options = {
        .imagegen = imagegen, .next = {&kept, NULL, keep}, .first_ring = 3, .workers = 2, .memory_bytes = 1};
    assert_int_equal(imagegen_post_open(&options, &post, NULL), AS_OK);
    struct record_sink sink = imagegen_post_sink(post);
    for (int64_t i = 0; i < 50; i++) {
        struct request_record record;
        char *answer = answer_of("{\"data\":[{\"b64_json\":\"", png, "\"}]}");
        record_init(&record);
        record.seq = i;
        record.content = (struct record_text){strdup(answer), strlen(answer)};
        sink.put(sink.context, 0, &record);
    }
    (void)imagegen_post_close(post);
    assert_int_equal(kept.records, 50);
    assert_int_equal(kept.bad_rings, 0);
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, setup, teardown)

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(one_image),
        TEST(base64_is_read_as_servers_write_it),
        TEST(other_counts_are_flagged),
        TEST(urls_are_counted),
        TEST(wrong_shapes),
        TEST(images_that_do_not_decode),
        TEST(good_images_beside_a_bad_one_are_kept),
        TEST(the_engines_errors_get_the_specs_names),
        TEST(usage_is_taken_where_there_is_one),
        TEST(all_records_come_out),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
