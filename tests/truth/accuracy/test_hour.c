/* SPDX-License-Identifier: Apache-2.0 */
/* An hour of speech, 10,000 words, is compared in under 0.5 s by word and under 3 s by character (CPU time of one
 * thread). */
#include "accuracy/transcript.h"
#include "base/clock.h"
#include "base/rng.h"
#include "support/check.h"

#include <stdlib.h>
#include <sys/resource.h>

#define WORDS      10000
#define CHARACTERS 50000

static uint32_t reference[CHARACTERS], hypothesis[CHARACTERS];

/* One in ten symbols is another, missing or one too many. */
static size_t distort(size_t count, uint32_t alphabet)
{
    struct rng rng;
    size_t to = 0;
    rng_init(&rng, count, alphabet);
    for (size_t i = 0; i < count; i++) {
        reference[i] = (uint32_t)rng_below(&rng, alphabet);
        uint64_t fate = rng_below(&rng, 30);
        if (fate != 0 && to < count)
            hypothesis[to++] = fate == 1 ? alphabet : reference[i];
        if (fate == 2 && to < count)
            hypothesis[to++] = alphabet;
    }
    return to;
}

static void expect_within(size_t count, uint32_t alphabet, double limit_s)
{
    struct edit_counts counts;
    size_t other = distort(count, alphabet);
    int64_t begun_ns = cpu_thread_ns();
    assert_int_equal(edit_distance(reference, count, hypothesis, other, &counts), AS_OK);
    double took_s = (double)(cpu_thread_ns() - begun_ns) / 1e9;
    assert_int_equal(counts.hits + counts.substitutions + counts.deletions, count);
    assert_true(counts.substitutions + counts.deletions + counts.insertions < (int64_t)count / 5);
    print_message("%zu x %zu: %.3f s\n", count, other, took_s);
    assert_true(took_s < limit_s);
}

static void test_words(void **state)
{
    (void)state;
    expect_within(WORDS, 3000, 0.5);
}

static void test_characters(void **state)
{
    (void)state;
    expect_within(CHARACTERS, 30, 3);
}

/* Nothing in common but by chance: no shorter way than through the whole table. */
static void test_unrelated(void **state)
{
    (void)state;
    struct edit_counts counts;
    struct rng rng;
    rng_init(&rng, 7, 7);
    for (size_t i = 0; i < CHARACTERS; i++) {
        reference[i] = (uint32_t)rng_below(&rng, 30);
        hypothesis[i] = (uint32_t)rng_below(&rng, 30);
    }
    int64_t begun_ns = cpu_thread_ns();
    assert_int_equal(edit_distance(reference, CHARACTERS, hypothesis, CHARACTERS, &counts), AS_OK);
    double took_s = (double)(cpu_thread_ns() - begun_ns) / 1e9;
    print_message("unrelated: %.3f s\n", took_s);
    assert_true(counts.substitutions + counts.deletions + counts.insertions > CHARACTERS / 2);
    assert_true(took_s < 3);
}

static void test_memory(void **state)
{
    (void)state;
    struct rusage usage;
    assert_int_equal(getrusage(RUSAGE_SELF, &usage), 0);
    print_message("%ld KiB resident at most\n", usage.ru_maxrss);
    assert_true(usage.ru_maxrss < 64 * 1024);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_words), cmocka_unit_test(test_characters),
                                       cmocka_unit_test(test_unrelated), cmocka_unit_test(test_memory)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
