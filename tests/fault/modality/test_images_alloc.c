/* SPDX-License-Identifier: Apache-2.0 */
/* Every allocation fails once: images and answers with images are not made, or are told as failed; nothing is leaked.
 */
#include "modality/imagegen_judge.h"
#include "modality/vlm.h"
#include "support/faults.h"
#include "support/media/drawn.h"

#include <math.h>

static char *url, *lines;

static int setup(void **state)
{
    (void)state;
    url = drawn_url(6, 5, IMAGE_PNG, 1);
    return asprintf(&lines,
                    "{\"prompt\":\"a\",\"image_url\":\"%s\"}\n{\"prompt\":\"b\",\"image_urls\":[\"%s\",\"x.png\"]}\n",
                    url, url) > 0
               ? 0
               : -1;
}

static int teardown(void **state)
{
    (void)state;
    free(url);
    free(lines);
    return 0;
}

static as_status use_prompts(void *context)
{
    (void)context;
    struct image_prompts prompts;
    struct as_error err;
    const struct image_prompts_options options = {.images = {.threads = 1}};
    as_status status = image_prompts_parse(lines, strlen(lines), &options, &prompts, &err);
    if (status != AS_OK)
        return status;
    const struct vlm_config config = {
        .llm = {.model = "m", .temperature = NAN, .min_tokens = -1}, .prompts = &prompts, .shard_count = 1};
    struct vlm *vlm = NULL;
    status = vlm_new(&config, &vlm, &err);
    vlm_free(vlm);
    image_prompts_done(&prompts);
    return status;
}

static void prompts_with_images(void **state)
{
    (void)state;
    assert_true(fault_each(FAULT_ALLOC, AS_E_NOMEM, use_prompts, NULL) >= 10);
}

/* What the picture libraries allocate does not come through here; ours does. */
static as_status use_payload(void *context)
{
    struct image_payload payload;
    as_status status = image_payload_make(url, context, &payload);
    if (status != AS_OK)
        return status;
    status = payload.text ? AS_OK : AS_E_INVALID;
    image_payload_done(&payload);
    return status;
}

static void payloads(void **state)
{
    (void)state;
    struct images_options plain = {0}, small = {.max_dimension = 3, .quality = 90};
    assert_true(fault_each(FAULT_ALLOC, AS_E_NOMEM, use_payload, &plain) >= 2);
    assert_true(fault_each(FAULT_ALLOC, AS_E_NOMEM, use_payload, &small) >= 4);
}

static as_status use_imagegen(void *context)
{
    (void)context;
    struct imagegen_prompts prompts;
    struct imagegen *imagegen = NULL;
    const struct imagegen_settings settings = {
        .model = "m", .count = 1, .guidance_scale = NAN, .extra_body = "{\"a\":[1]}"};
    as_status status = imagegen_prompts_one("p", &prompts, NULL);
    if (status != AS_OK)
        return status;
    status = imagegen_new(&settings, &prompts, &imagegen, NULL);
    imagegen_free(imagegen);
    imagegen_prompts_done(&prompts);
    return status;
}

static void bodies(void **state)
{
    (void)state;
    assert_true(fault_each(FAULT_ALLOC, AS_E_NOMEM, use_imagegen, NULL) >= 5);
}

/* A judged answer is a success with its image, or says why not; a block that could not be written is left out. */
static void answers(void **state)
{
    (void)state;
    struct imagegen_prompts prompts;
    struct imagegen *imagegen;
    const struct imagegen_settings settings = {.model = "m", .count = 1, .guidance_scale = NAN};
    assert_int_equal(imagegen_prompts_one("p", &prompts, NULL), AS_OK);
    assert_int_equal(imagegen_new(&settings, &prompts, &imagegen, NULL), AS_OK);
    const struct imagegen_judge judge = {.imagegen = imagegen, .shown = ""};
    size_t nth = 1, calls = 1;
    for (; calls >= nth; nth++) {
        struct imagegen_judging judging = {0};
        struct imagegen_scratch scratch;
        struct request_record record;
        char *answer = NULL;
        fault_blocks_watch();
        assert_true(asprintf(&answer, "{\"data\":[{\"b64_json\":\"%s\"}]}", strchr(url, ',') + 1) > 0);
        char *ours = malloc(strlen(answer) + 1);
        assert_non_null(ours);
        memcpy(ours, answer, strlen(answer) + 1);
        record_init(&record);
        record.seq = 0;
        record.content = (struct record_text){ours, strlen(ours)};
        imagegen_scratch_init(&scratch);
        imagegen_judging_take(&judging, &record);
        fault_arm(FAULT_ALLOC, nth);
        imagegen_judge(&judge, &scratch, &judging);
        calls = fault_calls(FAULT_ALLOC);
        fault_disarm();
        assert_true(judging.record.outcome == OUTCOME_OK || judging.record.error_message.at != NULL);
        if (calls < nth)
            assert_true(judging.record.outcome == OUTCOME_OK && judging.record.modality_json.at != NULL);
        imagegen_judging_done(&judging);
        imagegen_scratch_done(&scratch);
        assert_int_equal(fault_blocks_left(), 0);
        free(answer);
    }
    assert_true(nth > 4);
    imagegen_free(imagegen);
    imagegen_prompts_done(&prompts);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(prompts_with_images),
        cmocka_unit_test(payloads),
        cmocka_unit_test(bodies),
        cmocka_unit_test(answers),
    };
    return cmocka_run_group_tests(tests, setup, teardown);
}
