/* SPDX-License-Identifier: Apache-2.0 */
#include "sim/images.h"

#include "sim/ask.h"
#include "support/media/drawn.h"

static void ask(const char *body, struct sim_ask *ret)
{
    struct as_error err;
    if (sim_images_read(body, strlen(body), ret, &err) != AS_OK)
        fail_msg("%s: %s", body, err.message);
}

static void what_is_asked_for(void **state)
{
    (void)state;
    struct sim_ask found;
    ask("{\"prompt\":\"p\"}", &found);
    assert_true(found.is_images);
    assert_int_equal(found.images_asked.count, 1);
    assert_int_equal(found.images_asked.width, 1024);
    assert_false(found.images_asked.by_url || found.images_asked.has_seed);
    ask("{\"prompt\":\"p\",\"n\":3,\"size\":\"64x32\",\"response_format\":\"url\",\"seed\":-5,\"unknown\":[{}]}",
        &found);
    assert_int_equal(found.images_asked.count, 3);
    assert_int_equal(found.images_asked.width, 64);
    assert_int_equal(found.images_asked.height, 32);
    assert_true(found.images_asked.by_url && found.images_asked.has_seed);
    ask("{\"prompt\":\"p\",\"size\":\"auto\",\"n\":null,\"negative_prompt\":null,\"seed\":null}", &found);
    assert_int_equal(found.images_asked.height, 1024);
}

static void what_is_refused(void **state)
{
    (void)state;
    static const struct {
        const char *body, *sentence;
    } cases[] = {
        {"", "not JSON"},
        {"[]", "no JSON object"},
        {"{}", "prompt is missing"},
        {"{\"prompt\":\"\"}", "prompt is missing"},
        {"{\"prompt\":5}", "prompt is no string"},
        {"{\"prompt\":\"p\",\"n\":0}", "n must be"},
        {"{\"prompt\":\"p\",\"n\":17}", "n must be"},
        {"{\"prompt\":\"p\",\"n\":1.5}", "n must be"},
        {"{\"prompt\":\"p\",\"size\":\"5\"}", "size must be"},
        {"{\"prompt\":\"p\",\"size\":\"5x\"}", "size must be"},
        {"{\"prompt\":\"p\",\"size\":\"0x5\"}", "size must be"},
        {"{\"prompt\":\"p\",\"size\":\"5x4097\"}", "size must be"},
        {"{\"prompt\":\"p\",\"size\":\"5x5 \"}", "size must be"},
        {"{\"prompt\":\"p\",\"response_format\":\"png\"}", "response_format must be"},
        {"{\"prompt\":\"p\",\"seed\":\"1\"}", "seed must be"},
        {"{\"prompt\":\"p\",\"num_inference_steps\":0}", "num_inference_steps must be"},
    };
    for (size_t i = 0; i < ARRAY_COUNT(cases); i++) {
        struct sim_ask found;
        struct as_error err;
        assert_int_equal(sim_images_read(cases[i].body, strlen(cases[i].body), &found, &err), AS_E_INVALID);
        if (!strstr(err.message, cases[i].sentence))
            fail_msg("%s: %s", cases[i].body, err.message);
    }
}

static void pictures_differ_by_key_and_repeat(void **state)
{
    (void)state;
    static const enum image_format formats[] = {IMAGE_PNG, IMAGE_JPEG, IMAGE_WEBP};
    for (size_t i = 0; i < ARRAY_COUNT(formats); i++) {
        struct strbuf a AS_AUTO_STRBUF, b AS_AUTO_STRBUF, c AS_AUTO_STRBUF;
        struct image_info info;
        strbuf_init(&a, 0);
        strbuf_init(&b, 0);
        strbuf_init(&c, 0);
        assert_int_equal(sim_images_draw(33, 21, 1, formats[i], &a), AS_OK);
        assert_int_equal(sim_images_draw(33, 21, 1, formats[i], &b), AS_OK);
        assert_int_equal(sim_images_draw(33, 21, 2, formats[i], &c), AS_OK);
        assert_int_equal(a.len, b.len);
        assert_memory_equal(a.data, b.data, a.len);
        assert_true(a.len != c.len || memcmp(a.data, c.data, a.len) != 0);
        assert_int_equal(image_verify(a.data, a.len, 0, &info, NULL), AS_OK);
        assert_int_equal(info.format, formats[i]);
        assert_int_equal(info.width, 33);
        assert_int_equal(info.height, 21);
    }
}

static void look(const char *url, enum sim_image_check check, const char *sentence)
{
    char why[SIM_IMAGE_ERROR_MAX];
    const struct json_raw raw = {url, strlen(url), false};
    sim_image_look(&raw, check, why);
    if (!*sentence ? why[0] != '\0' : !strstr(why, sentence))
        fail_msg("%.40s: wanted \"%s\", got \"%s\"", url, sentence, why);
}

static void images_that_are_sent_are_looked_at(void **state)
{
    (void)state;
    struct strbuf bytes AS_AUTO_STRBUF;
    strbuf_init(&bytes, 0);
    draw(40, 40, IMAGE_PNG, 1, &bytes);
    char *whole = data_url("image/png", bytes.data, bytes.len), *cut = data_url("image/png", bytes.data, bytes.len / 2);
    look(whole, SIM_IMAGES_WHOLE, "");
    look(cut, SIM_IMAGES_WHOLE, "broken PNG");
    look(cut, SIM_IMAGES_HEADER, "");
    look("data:image/png;base64,aGVsbG8=", SIM_IMAGES_HEADER, "not an image");
    look("data:image/png;base64,aGVsbG8=", SIM_IMAGES_UNCHECKED, "");
    look("data:image/png,x", SIM_IMAGES_WHOLE, "not base64");
    look("data:", SIM_IMAGES_WHOLE, "not base64");
    look("http://h/a.png", SIM_IMAGES_WHOLE, "");
    look("file:///a.png", SIM_IMAGES_UNCHECKED, "neither a data: nor an http URL");
    free(whole);
    free(cut);
}

static void a_chat_counts_its_images(void **state)
{
    (void)state;
    static const char fine[] = "{\"messages\":[{\"role\":\"user\",\"content\":[{\"type\":\"text\",\"text\":\"a b\"},"
                               "{\"type\":\"image_url\",\"image_url\":{\"url\":\"http://h/a.png\",\"detail\":\"low\"}},"
                               "{\"type\":\"image_url\",\"image_url\":{\"url\":\"https://h/b.png\"}}]}]}";
    static const char bare[] = "{\"messages\":[{\"content\":[{\"image_url\":\"http://h/a.png\"}]}]}";
    static const char fake[] =
        "{\"messages\":[{\"content\":[{\"image_url\":{\"url\":\"data:image/png;base64,AAAA\"}}]}]}";
    struct sim_ask found;
    struct as_error err;
    assert_int_equal(sim_ask_read_chat(fine, strlen(fine), SIM_IMAGES_WHOLE, &found, &err), AS_OK);
    assert_int_equal(found.images, 2);
    assert_int_equal(found.prompt_words, 2);
    assert_int_equal(sim_ask_read_chat(bare, strlen(bare), SIM_IMAGES_WHOLE, &found, &err), AS_E_INVALID);
    assert_non_null(strstr(err.message, "no object with a url"));
    assert_int_equal(sim_ask_read_chat(fake, strlen(fake), SIM_IMAGES_WHOLE, &found, &err), AS_E_INVALID);
    assert_non_null(strstr(err.message, "image 1: not an image"));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(what_is_asked_for),
        cmocka_unit_test(what_is_refused),
        cmocka_unit_test(pictures_differ_by_key_and_repeat),
        cmocka_unit_test(images_that_are_sent_are_looked_at),
        cmocka_unit_test(a_chat_counts_its_images),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
