/* SPDX-License-Identifier: Apache-2.0 */
#include "accuracy/edit_distance.h"
#include "base/rng.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#define SIDE_MAX 400

/* The textbook table, with the path taken back from the end: match or substitution, then deletion, then insertion. */
static struct edit_counts by_table(const uint32_t *r, size_t n, const uint32_t *h, size_t m)
{
    static int table[SIDE_MAX + 1][SIDE_MAX + 1];
    for (size_t i = 0; i <= n; i++) {
        for (size_t j = 0; j <= m; j++) {
            if (i == 0 || j == 0) {
                table[i][j] = (int)(i + j);
                continue;
            }
            int best = table[i - 1][j - 1] + (r[i - 1] != h[j - 1]);
            best = table[i - 1][j] + 1 < best ? table[i - 1][j] + 1 : best;
            table[i][j] = table[i][j - 1] + 1 < best ? table[i][j - 1] + 1 : best;
        }
    }
    struct edit_counts counts = {.reference = (int64_t)n, .hypothesis = (int64_t)m};
    size_t i = n, j = m;
    while (i > 0 || j > 0) {
        if (i > 0 && j > 0 && table[i][j] == table[i - 1][j - 1] + (r[i - 1] != h[j - 1])) {
            counts.hits += r[i - 1] == h[j - 1];
            counts.substitutions += r[i - 1] != h[j - 1];
            i--, j--;
        } else if (i > 0 && table[i][j] == table[i - 1][j] + 1) {
            counts.deletions++;
            i--;
        } else {
            counts.insertions++;
            j--;
        }
    }
    return counts;
}

static void assert_same(const struct edit_counts *a, const struct edit_counts *b)
{
    assert_int_equal(a->reference, b->reference);
    assert_int_equal(a->hypothesis, b->hypothesis);
    assert_int_equal(a->hits, b->hits);
    assert_int_equal(a->substitutions, b->substitutions);
    assert_int_equal(a->deletions, b->deletions);
    assert_int_equal(a->insertions, b->insertions);
}

static void test_known(void **state)
{
    (void)state;
    static const uint32_t kitten[] = {'k', 'i', 't', 't', 'e', 'n'};
    static const uint32_t sitting[] = {'s', 'i', 't', 't', 'i', 'n', 'g'};
    struct edit_counts counts;
    assert_int_equal(edit_distance(kitten, 6, sitting, 7, &counts), AS_OK);
    assert_int_equal(counts.substitutions, 2);
    assert_int_equal(counts.insertions, 1);
    assert_int_equal(counts.deletions, 0);
    assert_int_equal(counts.hits, 4);
}

static void test_empty(void **state)
{
    (void)state;
    static const uint32_t three[] = {1, 2, 3};
    struct edit_counts counts;
    assert_int_equal(edit_distance(three, 0, three, 0, &counts), AS_OK);
    assert_int_equal(counts.hits + counts.substitutions + counts.insertions + counts.deletions, 0);
    assert_int_equal(edit_distance(three, 0, three, 3, &counts), AS_OK);
    assert_int_equal(counts.insertions, 3);
    assert_int_equal(edit_distance(three, 3, three, 0, &counts), AS_OK);
    assert_int_equal(counts.deletions, 3);
}

static void test_limit(void **state)
{
    (void)state;
    static const uint32_t one[] = {1};
    struct edit_counts counts = {.hits = 77};
    assert_int_equal(edit_distance(one, EDIT_SYMBOLS_MAX + 1, one, 1, &counts), AS_E_LIMIT);
    assert_int_equal(counts.hits, 77);
}

/* A hypothesis made from the reference by random edits, or unrelated to it. */
static size_t mutate(struct rng *rng, const uint32_t *r, size_t n, uint32_t *h, uint32_t alphabet)
{
    uint64_t rate = rng_below(rng, 10) + 1;
    size_t m = 0;
    for (size_t i = 0; i < n && m + 2 < SIDE_MAX; i++) {
        uint64_t dice = rng_below(rng, 20);
        if (dice >= rate)
            h[m++] = r[i];
        else if (dice % 3 == 0)
            h[m++] = (uint32_t)rng_below(rng, alphabet + 2);
        else if (dice % 3 == 1)
            h[m++] = r[i], h[m++] = (uint32_t)rng_below(rng, alphabet);
    }
    return m;
}

static void test_ten_thousand_pairs(void **state)
{
    (void)state;
    struct rng rng;
    rng_init(&rng, 42, 7);
    static uint32_t r[SIDE_MAX], h[SIDE_MAX];
    for (int pair = 0; pair < 10000; pair++) {
        uint64_t limit = pair % 50 == 0 ? SIDE_MAX - 2 : pair % 5 == 0 ? 140 : 30;
        size_t n = (size_t)rng_below(&rng, limit);
        uint32_t alphabet = (uint32_t)rng_below(&rng, pair % 2 ? 4 : 60) + 1;
        for (size_t i = 0; i < n; i++)
            r[i] = (uint32_t)rng_below(&rng, alphabet);
        size_t m = mutate(&rng, r, n, h, alphabet);
        struct edit_counts got, want = by_table(r, n, h, m);
        assert_int_equal(edit_distance(r, n, h, m, &got), AS_OK);
        assert_same(&got, &want);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_known),
        cmocka_unit_test(test_empty),
        cmocka_unit_test(test_limit),
        cmocka_unit_test(test_ten_thousand_pairs),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
