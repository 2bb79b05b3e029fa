/* SPDX-License-Identifier: Apache-2.0 */
#include "modality/vlm.h"
#include "support/media/drawn.h"

#include <math.h>

/* Three lines: one image, two, ten; then one whose image is none. */
static struct image_prompts prompts;
static struct vlm_config config;
static char *urls[2];

#define BAD "data:image/png;base64,aGVsbG8="

static uint32_t of_place(const void *context, int64_t place, uint32_t *ret_images)
{
    return image_prompts_of(context, place, ret_images);
}

static void make_prompts(const char *lines)
{
    struct as_error err;
    struct images_state state;
    if (image_prompts_parse(lines, strlen(lines), &(struct image_prompts_options){0}, &prompts, &err) != AS_OK)
        fail_msg("%s", err.message);
    const struct images_plan plan = {&prompts, of_place, (int64_t)prompts.prompts.count};
    assert_int_equal(images_prepare(prompts.images, &plan, NULL, &state, NULL), AS_OK);
}

static int setup(void **state)
{
    (void)state;
    struct strbuf lines AS_AUTO_STRBUF;
    strbuf_init(&lines, 0);
    urls[0] = drawn_url(8, 6, IMAGE_PNG, 1);
    urls[1] = drawn_url(9, 7, IMAGE_PNG, 2);
    strbuf_addf(&lines, "{\"prompt\":\"One \\\"kite\\\"\",\"image_url\":\"%s\",\"id\":\"a\"}\n", urls[0]);
    strbuf_addf(&lines, "{\"prompt\":\"Two\",\"image_urls\":[\"%s\",\"%s\"]}\n", urls[0], urls[1]);
    strbuf_addf(&lines, "{\"prompt\":\"Ten\",\"image_urls\":[\"%s\"", urls[1]);
    for (int i = 1; i < 10; i++)
        strbuf_addf(&lines, ",\"%s\"", urls[i % 2]);
    strbuf_adds(&lines, "]}\n{\"prompt\":\"None\",\"image_urls\":[\"" BAD "\"]}\n");
    make_prompts(strbuf_text(&lines));
    config = (struct vlm_config){
        .llm = {.model = "m",
                .temperature = NAN,
                .min_tokens = -1,
                .max_tokens = 5,
                .system_prompt = "",
                .run_id = "r",
                .run_seed = 1},
        .prompts = &prompts,
        .shard_count = 1,
    };
    return 0;
}

static int teardown(void **state)
{
    (void)state;
    image_prompts_done(&prompts);
    free(urls[0]);
    free(urls[1]);
    return 0;
}

struct sending {
    struct vlm *vlm;
    void *answer;
    struct payload payload;
    struct as_error err;
    as_status status;
};

static void send_one(struct sending *sending, int64_t seq)
{
    *sending = (struct sending){.err = {.message = ""}};
    assert_int_equal(vlm_new(&config, &sending->vlm, &sending->err), AS_OK);
    sending->answer = calloc(1, vlm_modality()->answer_bytes);
    assert_non_null(sending->answer);
    sending->status = vlm_modality()->build(sending->vlm, sending->answer, seq, &sending->payload, &sending->err);
}

static void sending_done(struct sending *sending)
{
    vlm_modality()->answer_done(sending->vlm, sending->answer);
    free(sending->answer);
    vlm_free(sending->vlm);
}

static void expect_text(const struct sending *sending, const char *wanted)
{
    struct strbuf text AS_AUTO_STRBUF;
    strbuf_init(&text, 0);
    for (uint32_t i = 0; i < sending->payload.part_count; i++)
        strbuf_add(&text, sending->payload.parts[i].iov_base, sending->payload.parts[i].iov_len);
    assert_string_equal(strbuf_text(&text), wanted);
    assert_true(json_cursor_validate(text.data, text.len, NULL));
}

static void add_image(struct strbuf *out, const char *url, const char *detail)
{
    strbuf_addf(out, ",{\"type\":\"image_url\",\"image_url\":{\"url\":\"%s\"", url);
    if (detail)
        strbuf_addf(out, ",\"detail\":\"%s\"", detail);
    strbuf_adds(out, "}}");
}

static void images_follow_the_text_by_reference(void **state)
{
    (void)state;
    struct sending sending;
    struct strbuf wanted AS_AUTO_STRBUF;
    strbuf_init(&wanted, 0);
    config.detail = "low";
    send_one(&sending, 1);
    assert_int_equal(sending.status, AS_OK);
    strbuf_adds(&wanted,
                "{\"model\":\"m\",\"messages\":[{\"role\":\"user\",\"content\":[{\"type\":\"text\",\"text\":\"Two\"}");
    add_image(&wanted, urls[0], "low");
    add_image(&wanted, urls[1], "low");
    strbuf_adds(&wanted, "]}],\"max_tokens\":5}");
    expect_text(&sending, strbuf_text(&wanted));
    assert_int_equal(sending.payload.part_count, 5);
    assert_ptr_equal(sending.payload.parts[1].iov_base, images_get(prompts.images, 0)->text);
    assert_ptr_equal(sending.payload.parts[3].iov_base, images_get(prompts.images, 1)->text);
    assert_string_equal(sending.payload.path, "/chat/completions");
    sending_done(&sending);
}

static void a_nonce_stands_before_the_text(void **state)
{
    (void)state;
    struct sending sending;
    struct strbuf wanted AS_AUTO_STRBUF;
    strbuf_init(&wanted, 0);
    config.llm.unique_prompts = true;
    send_one(&sending, 4);
    assert_int_equal(sending.status, AS_OK);
    strbuf_adds(&wanted, "{\"model\":\"m\",\"messages\":[{\"role\":\"user\",\"content\":[{\"type\":\"text\",\"text\":"
                         "\"[r/1/4] One \\\"kite\\\"\"}");
    add_image(&wanted, urls[0], NULL);
    strbuf_adds(&wanted, "]}],\"max_tokens\":5}");
    expect_text(&sending, strbuf_text(&wanted));
    sending_done(&sending);
}

static void many_images_are_joined(void **state)
{
    (void)state;
    struct sending sending;
    struct strbuf wanted AS_AUTO_STRBUF;
    strbuf_init(&wanted, 0);
    config.llm.unique_prompts = true;
    send_one(&sending, 2);
    assert_int_equal(sending.status, AS_OK);
    strbuf_adds(
        &wanted,
        "{\"model\":\"m\",\"messages\":[{\"role\":\"user\",\"content\":[{\"type\":\"text\",\"text\":\"[r/1/2] Ten\"}");
    add_image(&wanted, urls[1], NULL);
    for (int i = 1; i < 10; i++)
        add_image(&wanted, urls[i % 2], NULL);
    strbuf_adds(&wanted, "]}],\"max_tokens\":5}");
    expect_text(&sending, strbuf_text(&wanted));
    assert_true(sending.payload.part_count <= 3);
    sending_done(&sending);
}

static void a_batch_is_filled_from_the_next_lines(void **state)
{
    (void)state;
    uint32_t numbers[IMAGES_A_REQUEST_MAX];
    prompts.batch = 4;
    assert_int_equal(image_prompts_of(&prompts, 0, numbers), 4);
    assert_string_equal(images_shown(prompts.images, numbers[0]), "data:image/png");
    assert_int_equal(numbers[0], 0);
    assert_int_equal(numbers[1], 0);
    assert_int_equal(numbers[2], 1);
    assert_int_equal(numbers[3], 1);
    prompts.batch = 1;
    assert_int_equal(image_prompts_of(&prompts, 2, numbers), 1);
    assert_int_equal(numbers[0], 1);
}

static void an_image_that_is_none_refuses_the_request(void **state)
{
    (void)state;
    struct sending sending;
    send_one(&sending, 3);
    assert_int_equal(sending.status, AS_E_INVALID);
    assert_string_equal(
        sending.err.message,
        "the image data:image/png cannot be sent: not an image: the bytes are neither PNG, JPEG, WebP nor GIF");
    sending_done(&sending);
}

static void the_record_tells_of_the_images(void **state)
{
    (void)state;
    struct sending sending;
    struct request_record record;
    struct arena arena;
    const struct json_value *block;
    int64_t number;
    const char *text;
    arena_init(&arena, 0, 0);
    send_one(&sending, 1);
    record_init(&record);
    struct http_response_head head = {.status = 0};
    struct answer_close close = {.reason = ""};
    struct sse_reader sse;
    sse_reader_init(&sse, 0);
    vlm_modality()->begin(sending.vlm, sending.answer, &head, false);
    vlm_modality()->end(sending.vlm, sending.answer, &close, &sse, &record);
    assert_int_equal(json_parse(record.modality_json.at, record.modality_json.len, NULL, &arena, &block, NULL), AS_OK);
    assert_true(json_int64(json_get(block, "image_count"), &number));
    assert_int_equal(number, 2);
    assert_true(json_int64(json_get(block, "payload_bytes"), &number));
    assert_int_equal(number, strlen(urls[0]) + strlen(urls[1]));
    const struct json_value *second = json_get(block, "images")->first->next;
    assert_true(json_int64(json_get(second, "width"), &number));
    assert_int_equal(number, 9);
    assert_true(json_string(json_get(second, "mime"), &text));
    assert_string_equal(text, "image/png");
    assert_true(json_string(json_get(second, "sha256"), &text));
    assert_int_equal(strlen(text), 64);
    sse_reader_done(&sse);
    sending_done(&sending);
    arena_done(&arena);
}

static void lines_without_a_sound_reference_are_bad(void **state)
{
    (void)state;
    static const struct {
        const char *line, *reason;
    } cases[] = {
        {"{\"prompt\":\"p\"}", "\"image_urls\" is missing"},
        {"{\"prompt\":\"p\",\"image_urls\":null}", "\"image_urls\" is missing"},
        {"{\"prompt\":\"p\",\"image_urls\":[]}", "holds 0 images"},
        {"{\"prompt\":\"p\",\"image_urls\":\"a.png\"}", "must be an array"},
        {"{\"prompt\":\"p\",\"image_urls\":[1]}", "named by a string"},
        {"{\"prompt\":\"p\",\"image_urls\":[\"\"]}", "empty reference"},
        {"{\"prompt\":\"p\",\"image_urls\":[\"a.png\"],\"image_url\":\"b.png\"}", "both there"},
        {"{\"image_urls\":[\"a.png\"]}", "\"prompt\" is missing"},
    };
    for (size_t i = 0; i < ARRAY_COUNT(cases); i++) {
        struct image_prompts bad;
        struct as_error err;
        assert_int_equal(
            image_prompts_parse(cases[i].line, strlen(cases[i].line), &(struct image_prompts_options){0}, &bad, &err),
            AS_E_INVALID);
        if (!strstr(err.message, cases[i].reason))
            fail_msg("%s: %s", cases[i].line, err.message);
    }
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, setup, teardown)

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(images_follow_the_text_by_reference),
        TEST(a_nonce_stands_before_the_text),
        TEST(many_images_are_joined),
        TEST(a_batch_is_filled_from_the_next_lines),
        TEST(an_image_that_is_none_refuses_the_request),
        TEST(the_record_tells_of_the_images),
        TEST(lines_without_a_sound_reference_are_bad),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
