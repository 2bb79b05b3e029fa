/* SPDX-License-Identifier: Apache-2.0 */
#include "modality/imagegen.h"
#include "support/check.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

static struct imagegen_settings settings;
static struct imagegen_prompts prompts;

static void load(const char *lines)
{
    struct as_error err;
    if (imagegen_prompts_parse(lines, strlen(lines), &(struct prompts_options){0}, &prompts, &err) != AS_OK)
        fail_msg("%s", err.message);
}

static int setup(void **state)
{
    (void)state;
    settings = (struct imagegen_settings){.model = "m", .size = "64x64", .count = 1, .guidance_scale = NAN};
    load("{\"prompt\":\"A \\\"kite\\\"\",\"id\":\"k\"}\n"
         "{\"prompt\":\"Sea\",\"size\":\"32x16\",\"negative_prompt\":\"fog\",\"seed\":-7,\"n\":3}\n");
    return 0;
}

static int teardown(void **state)
{
    (void)state;
    imagegen_prompts_done(&prompts);
    return 0;
}

static struct imagegen *make(void)
{
    struct imagegen *imagegen;
    struct as_error err;
    if (imagegen_new(&settings, &prompts, &imagegen, &err) != AS_OK)
        fail_msg("%s", err.message);
    return imagegen;
}

static void expect_body(int64_t seq, const char *expected)
{
    struct strbuf body AS_AUTO_STRBUF;
    struct imagegen *imagegen = make();
    strbuf_init(&body, 0);
    assert_int_equal(imagegen_body(imagegen, seq, &body), AS_OK);
    assert_string_equal(strbuf_text(&body), expected);
    assert_true(json_cursor_validate(body.data, body.len, NULL));
    imagegen_free(imagegen);
}

#define KITE                                                                                                           \
    "{\"model\":\"m\",\"prompt\":\"A \\\"kite\\\"\",\"n\":1,\"size\":\"64x64\",\"response_format\":\"b64_json\""
#define SEA                                                                                                            \
    "{\"model\":\"m\",\"prompt\":\"Sea\",\"n\":3,\"size\":\"32x16\",\"response_format\":\"b64_json\",\"negative_"      \
    "prompt\":\"fog\""

static void the_plainest_body(void **state)
{
    (void)state;
    expect_body(0, KITE "}");
    expect_body(2, KITE "}");
}

static void a_line_goes_before_the_settings(void **state)
{
    (void)state;
    settings.negative_prompt = "blur";
    expect_body(0, KITE ",\"negative_prompt\":\"blur\"}");
    expect_body(1, SEA ",\"seed\":-7}");
}

static void optional_settings(void **state)
{
    (void)state;
    settings.steps = 28;
    settings.guidance_scale = 3.5;
    settings.format = IMAGEGEN_URL;
    settings.size = NULL;
    expect_body(
        0,
        "{\"model\":\"m\",\"prompt\":\"A \\\"kite\\\"\",\"n\":1,\"response_format\":\"url\",\"num_inference_steps\":28,"
        "\"guidance_scale\":3.5}");
}

static void seeds_by_mode(void **state)
{
    (void)state;
    settings.has_seed = true;
    settings.seed = 100;
    expect_body(0, KITE ",\"seed\":100}");
    expect_body(4, KITE ",\"seed\":104}");
    expect_body(1, SEA ",\"seed\":-7}");
    expect_body(3, SEA ",\"seed\":-7}");
    settings.seed_mode = IMAGEGEN_SEED_FIXED;
    expect_body(4, KITE ",\"seed\":100}");
    settings.seed_mode = IMAGEGEN_SEED_PROMPT;
    expect_body(0, KITE ",\"seed\":100}");
    expect_body(4, KITE ",\"seed\":100}");
}

/* The seed is in the middle when members follow it. */
static void the_extra_body_replaces_and_adds(void **state)
{
    (void)state;
    settings.has_seed = true;
    settings.seed = 1;
    settings.extra_body = "{\"quality\":\"high\",\"size\":\"8x8\",\"n\":2,\"response_format\":\"url\"}";
    expect_body(
        2, "{\"model\":\"m\",\"prompt\":\"A \\\"kite\\\"\",\"seed\":3,\"quality\":\"high\",\"size\":\"8x8\",\"n\":2,"
           "\"response_format\":\"url\"}");
    struct imagegen *imagegen = make();
    assert_int_equal(imagegen_wish_of(imagegen, 0).count, 2);
    assert_true(imagegen_wish_of(imagegen, 0).by_url);
    imagegen_free(imagegen);
}

static void what_is_asked_for_is_known(void **state)
{
    (void)state;
    struct imagegen *imagegen = make();
    assert_int_equal(imagegen_wish_of(imagegen, 0).count, 1);
    assert_int_equal(imagegen_wish_of(imagegen, 1).count, 3);
    assert_false(imagegen_wish_of(imagegen, 1).by_url);
    imagegen_free(imagegen);
}

static void refuse(const char *sentence)
{
    struct imagegen *imagegen;
    struct as_error err;
    assert_int_equal(imagegen_new(&settings, &prompts, &imagegen, &err), AS_E_USAGE);
    if (!strstr(err.message, sentence))
        fail_msg("wanted \"%s\", got \"%s\"", sentence, err.message);
}

static void extra_bodies_that_cannot_be(void **state)
{
    (void)state;
    settings.extra_body = "{\"prompt\":\"x\"}";
    refuse("may not hold \"prompt\"");
    settings.extra_body = "{\"n\":0}";
    refuse("no whole number from 1");
    settings.extra_body = "[1]";
    refuse("give an object");
    settings.extra_body = "{";
    refuse("--extra-body");
    settings.extra_body = NULL;
    settings.model = NULL;
    refuse("--model");
}

static void lines_that_cannot_be(void **state)
{
    (void)state;
    static const struct {
        const char *line, *reason;
    } cases[] = {
        {"{\"prompt\":\"p\",\"size\":\"big\"}", "\"size\" is \"big\""},
        {"{\"prompt\":\"p\",\"size\":\"0x5\"}", "\"size\" is \"0x5\""},
        {"{\"prompt\":\"p\",\"size\":5}", "\"size\" is a JSON number"},
        {"{\"prompt\":\"p\",\"n\":0}", "\"n\" must be a whole number"},
        {"{\"prompt\":\"p\",\"n\":1.5}", "\"n\" must be a whole number"},
        {"{\"prompt\":\"p\",\"seed\":\"x\"}", "\"seed\" must be a whole number"},
        {"{\"prompt\":\"p\",\"negative_prompt\":[]}", "\"negative_prompt\" is a JSON array"},
    };
    for (size_t i = 0; i < ARRAY_COUNT(cases); i++) {
        struct imagegen_prompts bad;
        struct as_error err;
        assert_int_equal(
            imagegen_prompts_parse(cases[i].line, strlen(cases[i].line), &(struct prompts_options){0}, &bad, &err),
            AS_E_INVALID);
        if (!strstr(err.message, cases[i].reason))
            fail_msg("%s: %s", cases[i].line, err.message);
    }
}

static void sizes(void **state)
{
    (void)state;
    static const char *const sound[] = {"auto", "1x1", "1024x768", "99999x1"};
    static const char *const unsound[] = {"",         "x",    "1x",  "x1",   "01x1", "1x01",
                                          "100000x1", "1x1 ", "1X1", "-1x1", "1x1x1"};
    for (size_t i = 0; i < ARRAY_COUNT(sound); i++)
        assert_true(imagegen_size_is_sound(sound[i]));
    for (size_t i = 0; i < ARRAY_COUNT(unsound); i++)
        assert_false(imagegen_size_is_sound(unsound[i]));
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, setup, teardown)

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(the_plainest_body),
        TEST(a_line_goes_before_the_settings),
        TEST(optional_settings),
        TEST(seeds_by_mode),
        TEST(the_extra_body_replaces_and_adds),
        TEST(what_is_asked_for_is_known),
        TEST(extra_bodies_that_cannot_be),
        TEST(lines_that_cannot_be),
        TEST(sizes),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
