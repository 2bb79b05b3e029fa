/* SPDX-License-Identifier: Apache-2.0 */
#include "support/media/drawn.h"

#include "workload/images.h"

#include <pthread.h>

#define IMAGES 40

/* Request i needs images i and i + 1 of IMAGES. */
static uint32_t pairs(const void *context, int64_t place, uint32_t *ret_images)
{
    (void)context;
    ret_images[0] = (uint32_t)(place % IMAGES);
    ret_images[1] = (uint32_t)((place + 1) % IMAGES);
    return 2;
}

static char *urls[IMAGES];

static int setup(void **state)
{
    (void)state;
    for (uint32_t i = 0; i < IMAGES; i++)
        urls[i] = drawn_url(24, 24, IMAGE_PNG, (uint8_t)i);
    return 0;
}

static int teardown(void **state)
{
    (void)state;
    for (uint32_t i = 0; i < IMAGES; i++)
        free(urls[i]);
    return 0;
}

static struct images *make(size_t cache_bytes, uint32_t threads)
{
    struct images *images;
    const struct images_options options = {.cache_bytes = cache_bytes, .threads = threads};
    uint32_t number;
    assert_int_equal(images_new(&options, &images), AS_OK);
    for (uint32_t i = 0; i < IMAGES; i++) {
        assert_int_equal(images_add(images, urls[i], &number), AS_OK);
        assert_int_equal(number, i);
    }
    return images;
}

static void equal_references_are_one_image(void **state)
{
    (void)state;
    struct images *images = make(0, 1);
    uint32_t number;
    for (uint32_t i = 0; i < IMAGES; i++) {
        assert_int_equal(images_add(images, urls[IMAGES - 1 - i], &number), AS_OK);
        assert_int_equal(number, IMAGES - 1 - i);
    }
    assert_int_equal(images_count(images), IMAGES);
    assert_string_equal(images_shown(images, 3), "data:image/png");
    assert_int_equal(images_add(images, "http://user:word@host/a.png", &number), AS_OK);
    assert_string_equal(images_shown(images, number), "http://***@host/a.png");
    images_free(images);
}

static void all_are_made_once(void **state)
{
    (void)state;
    struct images *images = make(0, 4);
    struct images_state prepared;
    const struct images_plan plan = {.of = pairs, .cycle = 10};
    int64_t waited_ns;
    assert_int_equal(images_prepare(images, &plan, NULL, &prepared, NULL), AS_OK);
    assert_true(prepared.is_resident);
    assert_int_equal(prepared.wanted, 11);
    assert_int_equal(prepared.done, 11);
    assert_int_equal(prepared.bad, 0);
    assert_null(images_get(images, 11));
    for (uint32_t i = 0; i < 11; i++)
        assert_string_equal(images_get(images, i)->text, urls[i]);
    assert_int_equal(images_take(images, 0, &waited_ns), AS_OK);
    assert_int_equal(waited_ns, 0);
    images_give_back(images, 0);
    images_free(images);
}

static void a_bad_one_is_told_and_does_not_stop_the_others(void **state)
{
    (void)state;
    struct images *images = make(0, 2);
    struct images_state prepared;
    uint32_t number;
    assert_int_equal(images_add(images, "data:image/png;base64,aGVsbG8=", &number), AS_OK);
    const struct images_plan plan = {.of = pairs, .cycle = IMAGES};
    assert_int_equal(images_prepare(images, &plan, NULL, &prepared, NULL), AS_OK);
    assert_int_equal(prepared.wanted, IMAGES);
    assert_int_equal(prepared.bad, 0);
    images_free(images);
    assert_int_equal(images_new(&(struct images_options){.threads = 2}, &images), AS_OK);
    assert_int_equal(images_add(images, "data:image/png;base64,aGVsbG8=", &number), AS_OK);
    assert_int_equal(images_add(images, urls[0], &number), AS_OK);
    const struct images_plan two = {.of = pairs, .cycle = 1};
    assert_int_equal(images_prepare(images, &two, NULL, &prepared, NULL), AS_OK);
    assert_int_equal(prepared.done, 2);
    assert_int_equal(prepared.bad, 1);
    assert_non_null(strstr(prepared.first_bad, "data:image/png: not an image"));
    assert_null(images_get(images, 0)->text);
    assert_string_equal(images_get(images, 1)->text, urls[0]);
    images_free(images);
}

/* Room for about five of forty: each request still finds its images, whatever else is going on. */
static void more_than_the_cache_holds(void **state)
{
    (void)state;
    struct images *images = make(5 * strlen(urls[0]), 3);
    struct images_state prepared;
    const struct images_plan plan = {.of = pairs, .cycle = IMAGES};
    int64_t waited_ns;
    assert_int_equal(images_prepare(images, &plan, NULL, &prepared, NULL), AS_OK);
    assert_false(prepared.is_resident);
    assert_true(prepared.done >= 5 && prepared.done < IMAGES);
    for (int64_t place = 0; place < 3 * IMAGES; place++) {
        assert_int_equal(images_take(images, place, &waited_ns), AS_OK);
        assert_string_equal(images_get(images, (uint32_t)(place % IMAGES))->text, urls[place % IMAGES]);
        assert_string_equal(images_get(images, (uint32_t)((place + 1) % IMAGES))->text, urls[(place + 1) % IMAGES]);
        if (place >= 2) /* three requests in flight */
            images_give_back(images, place - 2);
    }
    images_give_back(images, 3 * IMAGES - 2);
    images_give_back(images, 3 * IMAGES - 1);
    images_free(images);
}

/* All requests in flight at once, in a cache for one image: they are served beyond it. */
static void requests_in_flight_are_served_beyond_the_limit(void **state)
{
    (void)state;
    struct images *images = make(1, 1);
    struct images_state prepared;
    const struct images_plan plan = {.of = pairs, .cycle = IMAGES};
    int64_t waited_ns;
    assert_int_equal(images_prepare(images, &plan, NULL, &prepared, NULL), AS_OK);
    for (int64_t place = 0; place < IMAGES; place++)
        assert_int_equal(images_take(images, place, &waited_ns), AS_OK);
    for (uint32_t i = 0; i < IMAGES; i++)
        assert_string_equal(images_get(images, i)->text, urls[i]);
    for (int64_t place = 0; place < IMAGES; place++)
        images_give_back(images, place);
    images_free(images);
}

struct taker {
    struct images *images;
    int64_t first;
};

static void *take_many(void *argument)
{
    struct taker *taker = argument;
    int64_t waited_ns;
    for (int64_t place = taker->first; place < 10 * IMAGES; place += 2) {
        if (images_take(taker->images, place, &waited_ns) != AS_OK)
            return taker;
        if (strcmp(images_get(taker->images, (uint32_t)(place % IMAGES))->text, urls[place % IMAGES]) != 0)
            return taker;
        images_give_back(taker->images, place);
    }
    return NULL;
}

static void several_threads_take(void **state)
{
    (void)state;
    struct images *images = make(8 * strlen(urls[0]), 2);
    struct images_state prepared;
    const struct images_plan plan = {.of = pairs, .cycle = IMAGES};
    assert_int_equal(images_prepare(images, &plan, NULL, &prepared, NULL), AS_OK);
    struct taker takers[2] = {{images, 0}, {images, 1}};
    pthread_t threads[2];
    for (size_t i = 0; i < 2; i++)
        assert_int_equal(pthread_create(&threads[i], NULL, take_many, &takers[i]), 0);
    for (size_t i = 0; i < 2; i++) {
        void *failed;
        pthread_join(threads[i], &failed);
        assert_null(failed);
    }
    images_free(images);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(equal_references_are_one_image),
        cmocka_unit_test(all_are_made_once),
        cmocka_unit_test(a_bad_one_is_told_and_does_not_stop_the_others),
        cmocka_unit_test(more_than_the_cache_holds),
        cmocka_unit_test(requests_in_flight_are_served_beyond_the_limit),
        cmocka_unit_test(several_threads_take),
    };
    return cmocka_run_group_tests(tests, setup, teardown);
}
